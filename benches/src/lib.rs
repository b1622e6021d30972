//! Micro-benchmarks, in `benches/`: `cargo bench -p scumble-benches`.

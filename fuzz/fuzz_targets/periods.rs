//! Arbitrary bytes as the state between periods of a horizon.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    scumble_fuzz::periods(data);
});

#[cfg(not(fuzzing))]
fn main() -> std::io::Result<()> {
    scumble_fuzz::run_files(scumble_fuzz::periods)
}

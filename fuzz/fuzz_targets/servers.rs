//! Arbitrary bytes as a file of two servers.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    scumble_fuzz::servers(data);
});

#[cfg(not(fuzzing))]
fn main() -> std::io::Result<()> {
    scumble_fuzz::run_files(scumble_fuzz::servers)
}

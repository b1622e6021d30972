//! Memory bandwidth.

use crate::Contestant;

/// Number of copies per round.
const TIMES: usize = 10;

/// Creates a contestant that copies memory. A copy moves `bytes` bytes, half of them read and half written.
/// Its time is divided by `values`.
pub(crate) fn moved(name: &str, bytes: usize, values: usize) -> Contestant {
    // Non-zero contents make the system allocate the memory before the timing.
    let (from, mut to) = (vec![1u8; bytes / 2], vec![2u8; bytes / 2]);
    Contestant::timed(name, TIMES * values, move || {
        for _ in 0..TIMES {
            to.copy_from_slice(std::hint::black_box(&from));
            std::hint::black_box(&mut to);
        }
        Ok(())
    })
}

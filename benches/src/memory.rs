//! How fast bytes move.

use crate::Contestant;

/// How often they are moved a round.
const TIMES: usize = 10;

/// A plain copy that moves so many bytes, half of them read and half written, for `values` values.
pub(crate) fn moved(name: &str, bytes: usize, values: usize) -> Contestant {
    // No zeros: memory that was never written is not there yet.
    let (from, mut to) = (vec![1u8; bytes / 2], vec![2u8; bytes / 2]);
    Contestant::timed(name, TIMES * values, move || {
        for _ in 0..TIMES {
            to.copy_from_slice(std::hint::black_box(&from));
            std::hint::black_box(&mut to);
        }
        Ok(())
    })
}

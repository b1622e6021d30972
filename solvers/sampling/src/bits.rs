//! A uniform number in [0, 1), whose binary digits are drawn only as far as a decision needs them.

use num_bigint::BigUint;
use rand_core::RngCore;

/// The uniform number U = 0.d₁d₂d₃… in binary, whose first digits are known.
pub(crate) struct Bits {
    /// The known digits d₁d₂…, as an integer.
    pub(crate) known: BigUint,
    /// The number of known digits.
    pub(crate) count: u64,
}

impl Bits {
    pub(crate) fn new(known: u64, count: u64) -> Self {
        Self { known: known.into(), count }
    }

    /// Draws 64 more digits.
    pub(crate) fn extend<R: RngCore + ?Sized>(&mut self, rng: &mut R) {
        self.known = (&self.known << 64u32) + rng.next_u64();
        self.count += 64;
    }
}

//! A uniform number of [0, 1) of which as many binary digits are drawn as a decision asks for.

use num_bigint::BigUint;
use rand_core::RngCore;

/// U = 0.d₁d₂d₃…, of which the first digits are known.
pub(crate) struct Bits {
    /// d₁d₂…, as an integer.
    pub(crate) known: BigUint,
    /// How many.
    pub(crate) count: u64,
}

impl Bits {
    pub(crate) fn new(known: u64, count: u64) -> Self {
        Self { known: known.into(), count }
    }

    /// Draws 64 more.
    pub(crate) fn extend<R: RngCore + ?Sized>(&mut self, rng: &mut R) {
        self.known = (&self.known << 64u32) + rng.next_u64();
        self.count += 64;
    }
}

//! Randomness with its provenance: the operating system, a ticket (a stored secret), or a seed. Each block of
//! records draws from its own counter-based stream.

use crate::{Error, Result};
use rand_chacha::ChaCha20Rng;
use rand_core::{OsRng, RngCore, SeedableRng};

/// Generator from which a block of records draws its noise.
pub type Stream = ChaCha20Rng;

/// Source of a [`Randomness`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// Entropy of the operating system. Claims hold.
    OperatingSystem,
    /// Secret from the operating system that is stored in a ticket, so that the release can be repeated.
    /// Claims hold while nobody else reads the ticket.
    Ticket,
    /// Number that somebody may know or guess, for experiments. It voids every claim about the released
    /// records.
    Seed(u64),
}

/// Secret ChaCha20 key, from which every release derives a fresh key.
pub struct Randomness {
    keys: ChaCha20Rng,
    provenance: Provenance,
}

impl Randomness {
    /// Randomness from the operating system.
    ///
    /// # Errors
    /// [`Error::Entropy`] if the operating system has no entropy.
    pub fn from_os() -> Result<Self> {
        let keys = ChaCha20Rng::from_rng(OsRng)
            .map_err(|problem| Error::Entropy { problem: problem.to_string() })?;
        Ok(Self { keys, provenance: Provenance::OperatingSystem })
    }

    /// Randomness that is the same every time. A release made from it has no claim about its records.
    pub fn seeded(seed: u64) -> Self {
        Self { keys: ChaCha20Rng::seed_from_u64(seed), provenance: Provenance::Seed(seed) }
    }

    /// Randomness from `seed`, which voids every claim about the released records, or from the operating
    /// system if there is no seed.
    ///
    /// # Errors
    /// Same errors as [`from_os`](Self::from_os).
    pub fn from_seed_or_os(seed: Option<u64>) -> Result<Self> {
        seed.map_or_else(Self::from_os, |seed| Ok(Self::seeded(seed)))
    }

    /// Provenance of the randomness.
    pub fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// Streams of the next release. They never overlap with the streams of another release.
    pub fn streams(&mut self) -> Streams {
        let mut key = [0; 32];
        self.keys.fill_bytes(&mut key);
        Streams { key }
    }
}

/// Prints the provenance without the key.
impl std::fmt::Debug for Randomness {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Randomness").field("provenance", &self.provenance).finish_non_exhaustive()
    }
}

/// Streams of one release, one per block of records. Any number of threads therefore gives the same output.
pub struct Streams {
    key: [u8; 32],
}

impl Streams {
    /// Stream of block `block`.
    pub fn stream(&self, block: u64) -> Stream {
        let mut stream = ChaCha20Rng::from_seed(self.key);
        stream.set_stream(block);
        stream
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(streams: &Streams, block: u64) -> u64 {
        streams.stream(block).next_u64()
    }

    #[test]
    fn a_seed_repeats_and_another_does_not() {
        let draw = |seed| first(&Randomness::seeded(seed).streams(), 0);
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn no_two_blocks_and_no_two_releases_share_noise() {
        let mut randomness = Randomness::seeded(1);
        let (one, two) = (randomness.streams(), randomness.streams());
        let draws = [first(&one, 0), first(&one, 1), first(&two, 0), first(&two, 1)];
        for (i, a) in draws.iter().enumerate() {
            assert!(draws[i + 1..].iter().all(|b| a != b), "{draws:?}");
        }
    }

    #[test]
    fn the_operating_system_never_repeats() {
        let draw = || first(&Randomness::from_os().unwrap().streams(), 0);
        assert_ne!(draw(), draw());
    }

    #[test]
    fn debug_output_does_not_show_the_key() {
        let shown = format!("{:?}", Randomness::seeded(5));
        assert_eq!(shown, "Randomness { provenance: Seed(5), .. }");
    }
}

//! What the author of a mechanism names: `use scumble::prelude::*;`. All else is in the modules with the crates' names.

pub use scumble_core::{
    Accumulator, Brief, Budget, CentralDp, CuratorMechanism, DescribedNoise, Descriptor, Domain, Error,
    Example, Guarantee, LocalMechanism, Neighbours, NoParameters, Output, RecordDomain, Release, Releases,
    Result, Stream, ValuesIn, collected,
};
pub use scumble_noise::{AdditiveNoise, SumNoise, register};

//! Names that the author of a mechanism needs: `use scumble::prelude::*;`. All other names are in the modules
//! named after the crates.

pub use scumble_core::{
    Accumulator, Brief, Budget, CentralDp, CuratorMechanism, DescribedNoise, Descriptor, Domain, Error,
    Example, Guarantee, LocalMechanism, Neighbours, NoParameters, Output, RecordDomain, Release, Releases,
    Result, Stream, ValuesIn, collected,
};
pub use scumble_noise::{AdditiveNoise, SumNoise, register};

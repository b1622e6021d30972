//! The vocabulary of scumble: tables, schemas, domains, guarantees, mechanisms, plugins, and their composition.
//!
//! A mechanism is *designed* once, from what is public, and *released* through any number of times:
//!
//! ```text
//! Schema ─▶ RecordDomain ─▶ Brief ─▶ Plugin::design ─▶ Mechanism ─▶ release(Table) ─▶ Release
//! ```
//!
//! # Mechanisms compose
//!
//! Features by the Laplace mechanism, labels by randomised response; what the two promise together is derived, not
//! stated, and the composition is a mechanism again:
//!
//! ```
//! use ndarray::array;
//! use scumble_classic::{Laplace, RandomizedResponse};
//! use scumble_registry::{Budget, Composed, Mechanism, Randomness, Schema, Table, Target, Unit};
//!
//! let schema = Schema::from_toml(
//!     r#"
//!     column = [
//!         { name = "height", kind = "real", lower = 40.0, upper = 220.0, unit = "cm" },
//!         { name = "weight", kind = "real", lower = 2.0, upper = 250.0, unit = "kg" },
//!         { name = "smokes", kind = "category", levels = ["no", "yes"] },
//!     ]
//!     "#,
//!     "people.toml",
//! )?;
//! let people = schema.domain(Some("smokes"))?;
//!
//! // Two thirds of ε = 3 for the features, the rest for the label.
//! let (features, label) = Budget::pure(3.0)?.split(2.0 / 3.0)?;
//! let mechanism = Composed::features_with_labels(
//!     Box::new(Laplace::new(people.without_target(), features.epsilon())?),
//!     Box::new(RandomizedResponse::new(people.without_features(), label.epsilon())?),
//! )?;
//! assert!(mechanism.guarantee().local_dp(Unit::Record).unwrap().epsilon <= 3.0);
//!
//! let columns = people.columns().to_vec();
//! let table = Table::new(columns, array![[0.7, 0.3], [0.8, 0.4]], Target::Class(array![0, 1]))?;
//! let release = mechanism.release(&table, &mut Randomness::from_os()?)?;
//! println!("{}", release.guarantee);
//! assert_eq!(release.table.len(), 2);
//! # Ok::<(), scumble_registry::Error>(())
//! ```

mod blank_lines;
mod brief;
mod budget;
mod card;
pub mod compose;
mod composed;
pub mod conformance;
pub mod csv;
mod curve;
mod decoder;
mod design;
mod domain;
mod draft;
mod encoder;
mod encrypted;
mod error;
mod gaussian_noise;
mod guarantee;
mod key;
mod laplace_noise;
mod lattice;
mod law;
mod ledger;
pub mod local;
mod mechanism;
mod new_file;
pub mod number;
mod perturbation;
mod plugin;
mod polytope;
mod randomness;
mod reader;
mod record;
mod rows;
mod schema;
mod sealed;
mod side_by_side;
pub mod size;
pub mod stream;
mod table;
mod text;

pub use brief::{Brief, DifferentiableTask, Task, Volunteers};
pub use budget::{Budget, check_delta, sum_up};
pub use card::AS_STATED;
pub use composed::Composed;
pub use curve::Curve;
pub use decoder::Decoder;
pub use design::{Design, Origin, Records};
pub use domain::{Domain, Factor};
pub use draft::draft;
pub use encoder::{Clipped, Clips, Encoder, OutOfBounds};
pub use error::{Error, Result, nearest_name};
pub use gaussian_noise::GaussianNoise;
pub use guarantee::{
    ASSUMED, AmbiguitySet, CentralDp, Claim, CramerRao, Guarantee, LocalDp, Neighbours, Notion,
    PacResistance, PerfectSecrecy, ShapedBy, Unit, in_clear,
};
pub use key::{Key, Secret, SecretKey};
pub use laplace_noise::LaplaceNoise;
pub use lattice::Lattice;
pub use law::{Law, Moments, Noise};
pub use ledger::{Account, Charge, Ledger};
pub use mechanism::{LocalMechanism, Mechanism, Release};
pub use new_file::{Existing, NewFile, Readable, is_beside, is_same_file};
pub use perturbation::{AdditiveNoise, Distance, Perturbation};
pub use plugin::{Example, NoParameters, Pace, Plugin, Registry, Side, parse_parameters};
pub use randomness::{Provenance, Randomness, Stream, Streams};
pub use reader::{Loaded, Reader, read_matrix};
pub use record::{Layout, RecordDomain, TargetDomain, TargetLayout};
pub use rows::{Cell, RawRows, ReadRows, WriteRows, open_to_read};
pub use schema::{Column, Kind, Missing, Schema};
pub use side_by_side::Part;
pub use table::{Table, Target};
pub use text::{is_unseen, read_text, shown};

#[doc(hidden)]
pub use plugin::type_made;
#[doc(hidden)]
pub use {inventory, schemars};

/// The README's examples run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

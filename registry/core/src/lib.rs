//! Core vocabulary of scumble: tables, domains, budgets, guarantees, mechanisms, plugins, and their
//! composition.
//!
//! A [`Plugin`] *designs* a mechanism once from a [`Brief`]: the domain of the records, the purpose and the
//! privacy budget. A brief may also have the data of *volunteers*, people whose records may shape the design.
//! The mechanism then makes any number of *releases*, each for one table of records:
//!
//! ```text
//! Schema ─▶ RecordDomain ─▶ Brief ─▶ Plugin::design ─▶ Mechanism ─▶ release(Table) ─▶ Release
//! ```
//!
//! # Mechanisms compose
//!
//! The example combines the Laplace mechanism for features with randomised response for labels. The guarantee
//! of the composition follows from the guarantees of its two parts. The composition is itself a mechanism:
//!
//! ```
//! use ndarray::array;
//! use scumble_classic::{Laplace, RandomizedResponse};
//! use scumble_core::{Budget, Composed, LocalMechanism, Randomness, Table, Target, Unit};
//! use scumble_records::Schema;
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
//!     Laplace::new(people.without_target(), features.epsilon())?,
//!     RandomizedResponse::new(people.without_features(), label.epsilon())?,
//! )?;
//! assert!(mechanism.guarantee().local_dp(Unit::Record).unwrap().epsilon <= 3.0);
//!
//! let columns = people.columns().to_vec();
//! let table = Table::new(columns, array![[0.7, 0.3], [0.8, 0.4]], Target::Class(array![0, 1]))?;
//! let release = mechanism.release(&table, &mut Randomness::from_os()?)?;
//! println!("{}", release.guarantee);
//! assert_eq!(release.table.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod brief;
mod budget;
mod card;
pub mod compose;
mod composed;
mod descriptor;
mod design;
mod distribution;
mod domain;
mod error;
mod estimate;
mod guarantee;
pub mod levels;
pub mod local;
mod mechanism;
pub mod number;
mod perturbation;
mod plugin;
mod polytope;
mod portion;
mod profile;
mod randomness;
mod record;
mod registry;
mod shuffled;
pub mod size;
mod table;
pub mod text;
mod trade_off;

pub use brief::{Brief, DifferentiableTask, Task, Volunteers};
pub use budget::{Budget, check_delta, check_epsilon, sum_up};
pub use card::AS_STATED;
pub use composed::{Composed, composed};
pub use descriptor::{Descriptor, Output, Pace};
pub use design::{Design, Origin};
pub use distribution::{Moments, Noise, NoiseDistribution};
pub use domain::{Domain, Factor, check_finite, check_width, largest};
pub use error::{Error, Result};
pub use estimate::{Estimate, check_confidence};
pub use guarantee::{
    ASSUMED, AmbiguitySet, CentralDp, Claim, CramerRao, Guarantee, Holder, LocalDp, MetricDp,
    MutualInformation, NUMBER_OF_RECORDS, Neighbours, Notion, PacResistance, PerfectSecrecy, Prior, ShapedBy,
    ShuffledDp, Unit, in_clear,
};
pub use mechanism::{
    Accumulator, Alike, Collection, Collector, CuratorMechanism, Designed, Draw, Drawing, Evidence,
    FunctionAxis, Halved, Halving, Horizon, Key, LocalMechanism, MixtureParts, Mixtures, ModelFunction,
    Outcome, PeriodTables, Release, ReleasedModel, Releases, Rows, Secret, SecretKey, SharedCounts,
    SharedTable, Side, Statistics, ValuesIn, accumulate, collected, in_blocks, release_local,
};
pub use perturbation::{DescribedNoise, Distance, Perturbation};
pub use plugin::{Example, NoParameters, Plugin, parse_parameters, split_parameters};
pub use polytope::signed_sums;
pub use portion::{Portion, Protect};
pub use profile::PrivacyProfile;
pub use randomness::{Provenance, Randomness, Stream, Streams};
pub use record::{Layout, RecordDomain, TargetDomain, TargetLayout};
pub use registry::Registry;
pub use scumble_interrupt as interrupt;
pub use table::{PARTS, Places, Table, Target, first_duplicate, shares};
pub use text::{is_unseen, nearest_name, shown};

#[doc(hidden)]
pub use plugin::{built, learned};
#[doc(hidden)]
pub use {inventory, schemars};

//! Releases data under a stated privacy guarantee, so that models can still be learned from it.
//!
//! This crate is the facade: it re-exports the other crates, links the built-in mechanisms, and defines the
//! `scumble` command.
//!
//! | module | contents |
//! |---|---|
//! | [`prelude`] | names that the author of a mechanism needs |
//! | [`core`] | the vocabulary: tables, domains, budgets, guarantees, mechanisms, plugins, composition |
//! | [`noise`] | exact noise on lattices, mechanisms that add it, and noise keyed by a record's id |
//! | [`records`] | schemas, files of records as text, encoders and decoders, streams |
//! | [`custody`] | saved designs, keys, tickets (secrets that repeat a release), and the budget ledger |
//! | [`servers`] | counts that two servers add up from shares of people's records |
//! | [`parquet`] | opening of CSV and Parquet files of records, and writing of Parquet |
//! | [`classic`] | baselines: identity, Laplace, Gaussian, randomised response, |
//! | | direct, piecewise, Duchi, hybrid |
//! | [`fisher_svm`] | noise of least Fisher information, and noise that preserves a support vector machine |
//! | [`task_aware`] | records encoded into the few numbers that a task needs, and noise on these numbers |
//! | [`vlm`] | records encoded into a few latents, by an autoencoder trained for the noise on them |
//! | [`dauntless`] | records mixed and transformed at random, with this transformation's exact guarantee |
//! | [`linear`] | logistic and ridge regression, optionally noise-aware |
//! | [`svm`] | support vector machines: linear ones at any size, kernels on small data |
//! | [`neural`] | dense networks: gradients, per-example norms, training |
//! | [`classifier`] | a network as a classifier, optionally aware of flipped labels |
//! | [`private`] | networks trained under central differential privacy, with exact noise |
//! | [`kkt`] | convex programmes solved by their KKT conditions |
//! | [`schrodinger`] | ground states: the density of least Fisher information in an interval |
//! | [`sampling`] | exact integer samplers |
//! | [`accounting`] | privacy accounting: composition, privacy profiles, and the noise that meets a budget |
//! | [`datasets`] | public data sets by name, as encoded tables with public bounds; a user's file |
//! | [`compare`] | comparisons of mechanisms by their cost in accuracy |
//! | [`page`] | a comparison as one HTML page |
//! | [`suite`] | public tasks on which mechanisms are compared, in one table |
//! | `reproduce` | reproduced results of papers; with the feature `reproduce` |
//! | [`command`] | the command line |
//!
//! ```
//! use scumble::core::{Brief, Budget, Randomness, Registry};
//! use scumble::datasets::DataSet;
//!
//! let wine = DataSet::wine()?;
//! let brief = Brief::new(wine.domain.clone(), Budget::pure(8.0)?);
//! let design = Registry::installed()?.get("direct")?.design(&Default::default(), &brief)?;
//! let release = design.mechanism().release(&*wine.table.whole()?, &mut Randomness::from_os()?)?;
//! println!("{}", release.guarantee);
//! # assert_eq!(release.table.len(), 1599);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod built_in;
pub mod command;
pub mod prelude;

pub use scumble_accounting as accounting;
#[cfg(feature = "evaluation")]
pub use scumble_adversary as adversary;
pub use scumble_classic as classic;
#[cfg(feature = "evaluation")]
pub use scumble_classifier as classifier;
#[cfg(feature = "evaluation")]
pub use scumble_comparison as compare;
#[cfg(feature = "evaluation")]
pub use scumble_comparison::validation;
pub use scumble_core as core;
pub use scumble_custody as custody;
#[cfg(feature = "evaluation")]
pub use scumble_datasets as datasets;
pub use scumble_dauntless as dauntless;
pub use scumble_fisher_svm as fisher_svm;
pub use scumble_kkt as kkt;
pub use scumble_linear as linear;
pub use scumble_marginals as marginals;
pub use scumble_neural as neural;
pub use scumble_noise as noise;
pub use scumble_oracles as oracles;
pub use scumble_pac as pac;
#[cfg(feature = "evaluation")]
pub use scumble_page as page;
#[cfg(feature = "evaluation")]
pub use scumble_page::suite;
#[cfg(feature = "reproduce")]
pub use scumble_papers as reproduce;
pub use scumble_parquet as parquet;
pub use scumble_private as private;
pub use scumble_private_models as private_models;
pub use scumble_records as records;
pub use scumble_reports as reports;
pub use scumble_sampling as sampling;
pub use scumble_schrodinger as schrodinger;
pub use scumble_servers as servers;
#[cfg(feature = "evaluation")]
pub use scumble_svm as svm;
pub use scumble_tables as tables;
pub use scumble_task_aware as task_aware;
pub use scumble_vlm as vlm;

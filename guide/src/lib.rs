//! The guide: an mdBook in `chapters/`, with a reference page for every registered mechanism. Its blocks of
//! Rust are tests of this crate. `cargo run -p scumble-guide` builds the site.
//!
//! A test of the `scumble` command runs the commands of the chapters.

// A fence may name the file of its block (`toml,file=wines.toml`), for the test that runs the commands.
#![allow(rustdoc::invalid_codeblock_attributes)]

pub mod reference;
pub mod site;

// The examples of the README are tests of this crate too. The crate `scumble` cannot test them, because the
// README is not part of its package.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/start.md")]
mod start {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/concepts.md")]
mod concepts {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/choosing.md")]
mod choosing {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/schemas.md")]
mod schemas {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/releasing.md")]
mod releasing {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/collecting.md")]
mod collecting {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/released-files.md")]
mod released_files {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/python.md")]
mod python {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/accounting.md")]
mod accounting {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/auditing.md")]
mod auditing {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/comparing.md")]
mod comparing {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/case-survey.md")]
mod case_survey {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/case-hospital.md")]
mod case_hospital {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/case-volunteers.md")]
mod case_volunteers {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/case-visits.md")]
mod case_visits {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/case-report.md")]
mod case_report {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/case-panel.md")]
mod case_panel {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/mechanism.md")]
mod mechanism {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/reproducing.md")]
mod reproducing {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/performance.md")]
mod performance {}

#[cfg(doctest)]
#[doc = include_str!("../chapters/limits.md")]
mod limits {}

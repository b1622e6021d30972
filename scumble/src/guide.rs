//! The guide, in chapters: concepts, choosing, releasing, checking, and worked cases. It is an mdBook (`guide/`), whose
//! blocks of Rust are tests.

// A fence may name the file that its block is (`toml,file=wines.toml`), for the test that runs the chapters' commands.
#![allow(rustdoc::invalid_codeblock_attributes)]

#[doc = include_str!("../../guide/src/start.md")]
pub mod start {}

#[doc = include_str!("../../guide/src/concepts.md")]
pub mod concepts {}

#[doc = include_str!("../../guide/src/choosing.md")]
pub mod choosing {}

#[doc = include_str!("../../guide/src/schemas.md")]
pub mod schemas {}

#[doc = include_str!("../../guide/src/releasing.md")]
pub mod releasing {}

#[doc = include_str!("../../guide/src/collecting.md")]
pub mod collecting {}

#[doc = include_str!("../../guide/src/python.md")]
pub mod python {}

#[doc = include_str!("../../guide/src/accounting.md")]
pub mod accounting {}

#[doc = include_str!("../../guide/src/auditing.md")]
pub mod auditing {}

#[doc = include_str!("../../guide/src/comparing.md")]
pub mod comparing {}

#[doc = include_str!("../../guide/src/case-survey.md")]
pub mod case_survey {}

#[doc = include_str!("../../guide/src/case-hospital.md")]
pub mod case_hospital {}

#[doc = include_str!("../../guide/src/case-volunteers.md")]
pub mod case_volunteers {}

#[doc = include_str!("../../guide/src/mechanism.md")]
pub mod mechanism {}

#[doc = include_str!("../../guide/src/reproducing.md")]
pub mod reproducing {}

#[doc = include_str!("../../guide/src/performance.md")]
pub mod performance {}

#[doc = include_str!("../../guide/src/limits.md")]
pub mod limits {}

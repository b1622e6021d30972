//! Tests of models in place of data: releases, claims, and audits that detect wrong claims.

mod gathered;
mod models;
mod moments;
mod variant;

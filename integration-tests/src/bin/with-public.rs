//! `scumble` with a mixing mechanism that brings its own public records, and releases more samples than its
//! budget allows.

use ndarray::{Array1, Array2};
use scumble::core::{
    Brief, Descriptor, Error, Example, NoParameters, Output, Result, Table, Target, TargetDomain, Volunteers,
    register,
};
use scumble::dauntless::{DAUNTLESS_MIX, Dauntless};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Creates artificial records along the diagonal of the domain, enough for any release.
fn public(brief: &Brief) -> Result<Table> {
    const RECORDS: usize = 1000;
    let domain = &brief.domain;
    let [one, other] = domain.features().l2_farthest();
    let records = Array2::from_shape_fn((RECORDS, one.len()), |(row, column)| {
        let share = ((row + 1) as f64 * (column + 2) as f64).sqrt().fract();
        one[column] + share * (other[column] - one[column])
    });
    let target = match domain.target() {
        TargetDomain::Class { .. } => Target::Class(Array1::zeros(RECORDS)),
        _ => Target::None,
    };
    Table::new(domain.columns().to_vec(), records, target)
}

fn learn(_parameters: NoParameters, brief: &Brief) -> Result<Value> {
    let brief = Brief { volunteers: Volunteers::Public(public(brief)?), ..brief.clone() };
    Ok(DAUNTLESS_MIX.design(&json!({"error": 1e-6, "bits": 1}), &brief)?.state().clone())
}

fn build(state: Value) -> Result<Dauntless> {
    let mixing = (DAUNTLESS_MIX.build)(&state)?;
    mixing.downcast_ref::<Dauntless>().cloned().ok_or_else(|| Error::shape("it is another mechanism"))
}

register! {
    /// The plugin `publicly-mixed`.
    pub const PUBLICLY_MIXED = {
        name: "publicly-mixed",
        summary: "records that are mixed with public ones that nobody has",
        paper: "none",
        descriptor: Descriptor::new(Output::SecretView),
        parameters: NoParameters,
        learn: learn,
        curator: build,
        example: Example::numbers,
    };
}

fn main() -> ExitCode {
    scumble::command::main()
}

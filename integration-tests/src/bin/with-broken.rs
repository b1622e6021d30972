//! `scumble` with a mechanism whose noise is too small by a factor of √2.

use scumble::classic::Laplace;
use scumble::core::{
    Brief, Descriptor, Example, LocalMechanism, NoParameters, Output, RecordDomain, Result, register,
};
use scumble_testing::{Fault, Faulty};
use std::process::ExitCode;
use std::sync::Arc;

fn build((domain, epsilon): (RecordDomain, f64)) -> Result<Faulty> {
    let at =
        |epsilon| -> Result<Arc<dyn LocalMechanism>> { Ok(Arc::new(Laplace::new(domain.clone(), epsilon)?)) };
    Ok(Faulty::new(&at(epsilon)?, Fault::By(at(epsilon * 2f64.sqrt())?)))
}

register! {
    /// The plugin `broken`.
    pub const BROKEN = {
        name: "broken",
        summary: "Laplace noise of the variance (Δ₁/ε)²",
        paper: "none",
        descriptor: Descriptor::new(Output::Records),
        parameters: NoParameters,
        learn: |NoParameters {}, brief: &Brief| Ok((brief.domain.clone(), brief.budget.epsilon())),
        local: build,
        example: Example::numbers,
    };
}

fn main() -> ExitCode {
    scumble::command::main()
}

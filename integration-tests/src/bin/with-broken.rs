//! `scumble` with a mechanism whose noise is short by √2.

use scumble::classic::Laplace;
use scumble::registry::{Brief, Example, NoParameters, Result, register};
use scumble_testing::{Fault, Faulty};
use std::process::ExitCode;

fn design(_parameters: NoParameters, brief: &Brief) -> Result<Faulty> {
    let at = |epsilon| Laplace::new(brief.domain.clone(), epsilon);
    let epsilon = brief.budget.epsilon();
    Ok(Faulty::of(&at(epsilon)?, Fault::By(Box::new(at(epsilon * 2f64.sqrt())?))))
}

register! {
    /// The plugin `broken`.
    pub const BROKEN = {
        name: "broken",
        summary: "Laplace noise of the variance (Δ₁/ε)²",
        paper: "none",
        pace: Quick,
        parameters: NoParameters,
        local: design,
        example: Example::numbers,
    };
}

fn main() -> ExitCode {
    scumble::command::main()
}

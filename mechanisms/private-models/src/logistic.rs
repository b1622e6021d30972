//! Plugin that releases a logistic regression.

use crate::gradient_model::{Family, GradientModel, LOGISTIC, Parameters, State};
use scumble_core::{Brief, Descriptor, Example, Output, Result, register};

fn design(parameters: Parameters, brief: &Brief) -> Result<State> {
    GradientModel::design(Family::Logistic, parameters, brief)
}

register! {
    /// The plugin `private-logistic`.
    pub const PRIVATE_LOGISTIC = {
        name: LOGISTIC,
        summary: "a logistic regression in place of the records, by descent on noisy sums of clipped \
                  gradients",
        paper: "Bassily, Smith and Thakurta, Private empirical risk minimization (2014); Abadi and others, \
                Deep learning with differential privacy (2016), with every record in every step",
        descriptor: Descriptor::new(Output::Model),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| design(parameters, brief),
        curator: GradientModel::try_from,
        example: Example::mixed,
    };
}

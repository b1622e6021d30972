//! A convolutional encoder and decoder in place of dense ones, for the digits of Figures 1 and 4 of Learning
//! to Noise.

use super::SEEDED;
use super::collection::{Collection, Plan};
use super::figures::DIGITS;
use super::pair::Pair;
use super::sharing::Model;
use crate::report::Evidence;
use crate::{Picture, Result, RunOptions};
use serde_json::{Value, json};

/// Number of trials.
const TRIALS: usize = 10;

/// Parameters of the convolutional model that differ from those of the dense one.
fn with_convolutions(model: &Model) -> Model {
    let mut parameters = model.parameters.clone();
    parameters["convolution"] = json!({"height": 28, "width": 28});
    Model { parameters, private: Value::Null }
}

pub(super) fn run(options: &RunOptions, _: &'static str) -> Result<Evidence> {
    let data = (DIGITS.data)(options)?;
    let plan = (DIGITS.plan)(options);
    let trials = if options.quick { plan.trials } else { TRIALS };
    let plan = Plan { central: vec![f64::INFINITY], shows_images: false, trials, ..plan };
    let convolutional = Plan { model: with_convolutions(&plan.model), ..plan.clone() };
    let collected = |plan| Collection::run(options, DIGITS.name, &data, plan);
    let pair = Pair {
        of: DIGITS.name,
        names: ["dense", "convolutional (ours)"],
        collections: [collected(plan)?, collected(convolutional)?],
    };
    Ok(Evidence {
        trials,
        findings: pair
            .findings("gain by convolutions (ours)", "dense networks only; other networks may gain")
            .into(),
        grids: vec![pair.grid()],
        notes: vec![
            "Data, labels, latents, epochs and classifiers are those of Figure 1 at central ε = ∞. The \
             encoder has two convolutions (16 filters of 4 × 4 pixels and 32 of 5 × 5, both with stride 2) \
             and a hidden layer of 128 units, the decoder the same layers in reverse order."
                .into(),
            SEEDED.into(),
        ],
        picture: Picture {
            title: "Dense and convolutional models of digits".into(),
            panels: vec![pair.panel()],
        },
    })
}

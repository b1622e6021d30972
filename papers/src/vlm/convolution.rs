//! A convolutional encoder and decoder in place of dense ones, for the digits of Figures 1 and 4 of Learning
//! to Noise.

use super::SEEDED;
use super::collection::{Collection, Plan};
use super::figures::DIGITS;
use super::pair::Pair;
use super::sharing::Model;
use crate::report::Evidence;
use crate::{Picture, Result, RunOptions};
use serde_json::json;

/// Number of trials without a guarantee for volunteers.
const TRIALS: usize = 10;

/// Values of the central ε, with the names of their data.
const CENTRAL: [(f64, &str); 3] = [
    (f64::INFINITY, "digits, central ε = ∞"),
    (5.0, "digits, central ε = 5"),
    (1.0, "digits, central ε = 1"),
];

/// The model with convolutions. With a guarantee for volunteers, its layer of 200 units has 64.
fn with_convolutions(model: &Model) -> Model {
    let Model { mut parameters, mut private } = model.clone();
    for parameters in [&mut parameters, &mut private] {
        parameters["convolution"] = json!({"height": 28, "width": 28});
    }
    private["hidden"] = json!([64]);
    Model { parameters, private }
}

pub(super) fn run(options: &RunOptions, _: &'static str) -> Result<Evidence> {
    let data = (DIGITS.data)(options)?;
    let collected = |plan| Collection::run(options, DIGITS.name, &data, plan);
    let pair = |(central, of): (f64, &'static str)| -> Result<Pair> {
        let plan = (DIGITS.plan)(options);
        let trials = if options.quick || central.is_finite() { plan.trials } else { TRIALS };
        let plan = Plan { central: vec![central], shows_images: false, trials, ..plan };
        let convolutional = Plan { model: with_convolutions(&plan.model), ..plan.clone() };
        let names = ["dense", "convolutional (ours)"];
        Ok(Pair { of, names, collections: [collected(plan)?, collected(convolutional)?] })
    };
    // The quick variant has too few volunteers for a guarantee.
    let central = if options.quick { &CENTRAL[..1] } else { &CENTRAL };
    let pairs = central.iter().map(|central| pair(*central)).collect::<Result<Vec<_>>>()?;
    let findings =
        pairs.iter().flat_map(|pair| pair.findings("gain by convolutions (ours)", "dense networks only"));
    Ok(Evidence {
        trials: if options.quick { options.trainings() } else { TRIALS },
        findings: findings.collect(),
        grids: pairs.iter().map(Pair::grid).collect(),
        notes: vec![
            format!(
                "Data, labels, latents, epochs and classifiers are those of Figure 1. The encoder has two \
                 convolutions (16 filters of 4 × 4 pixels and 32 of 5 × 5, both with stride 2) and a hidden \
                 layer of 128 units, or of 64 with a central ε. The decoder has the same layers in reverse \
                 order. With a central ε there are {} trials.",
                options.trainings()
            ),
            SEEDED.into(),
        ],
        picture: Picture {
            title: "Dense and convolutional models of digits".into(),
            panels: pairs.iter().map(Pair::panel).collect(),
        },
    })
}

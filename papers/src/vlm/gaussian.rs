//! Gaussian latents in place of Laplace latents, at the same ε and δ, for the data collection of Figures 1, 4
//! and 7 of Learning to Noise.

use super::SEEDED;
use super::collection::{Collection, Plan, Subject};
use super::figures::{DIGITS, LOANS};
use super::pair::Pair;
use super::sharing::{LOCAL_DELTA, Model};
use crate::report::Evidence;
use crate::{Picture, Result, RunOptions};

use serde_json::{Value, json};

/// Data sets, and ε in training. With it, the Gaussian noise in training has about the standard deviation of
/// the Laplace noise in the training of Figure 1.
static SUBJECTS: [(&Subject, f64); 2] = [(&DIGITS, 76.0), (&LOANS, 50.0)];

pub(super) fn run(options: &RunOptions, _: &'static str) -> Result<Evidence> {
    let found = SUBJECTS.iter().map(|(subject, epsilon)| measured(options, subject, *epsilon));
    let found = found.collect::<Result<Vec<_>>>()?;
    Ok(Evidence {
        trials: options.trainings(),
        findings: found
            .iter()
            .flat_map(|pair| pair.findings("gain by Gaussian latents (ours)", "Laplace latents"))
            .collect(),
        grids: found.iter().map(Pair::grid).collect(),
        notes: vec![
            format!(
                "Both noises satisfy (ε, {LOCAL_DELTA:e}). Models, people, labels and classifiers are those \
                 of Figure 1 at central ε = ∞. Gaussian latents have the ℓ₂ bound 3 in place of the ℓ₁ bound \
                 5, a normal prior, and noise of the same standard deviation in training."
            ),
            SEEDED.into(),
        ],
        picture: Picture {
            title: "Gaussian and Laplace latents at the same ε and δ".into(),
            panels: found.iter().map(Pair::panel).collect(),
        },
    })
}

/// Model of the same network with Gaussian latents.
fn with_gaussian_latents(model: &Model, pretraining_epsilon: f64) -> Model {
    let mut parameters = model.parameters.clone();
    if let Some(parameters) = parameters.as_object_mut() {
        parameters.remove("l1_bound");
        parameters.insert("noise".into(), json!("gaussian"));
        parameters.insert("l2_bound".into(), json!(3.0));
        parameters.insert("pretraining_epsilon".into(), json!(pretraining_epsilon));
    }
    Model { parameters, private: Value::Null }
}

fn measured(options: &RunOptions, subject: &'static Subject, pretraining_epsilon: f64) -> Result<Pair> {
    let data = (subject.data)(options)?;
    let plan = Plan { central: vec![f64::INFINITY], shows_images: false, ..(subject.plan)(options) };
    let gaussian = Plan { model: with_gaussian_latents(&plan.model, pretraining_epsilon), ..plan.clone() };
    let collected = |plan| Collection::run(options, subject.name, &data, plan);
    Ok(Pair {
        of: subject.name,
        names: ["Laplace", "Gaussian (ours)"],
        collections: [collected(plan)?, collected(gaussian)?],
    })
}

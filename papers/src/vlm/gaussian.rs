//! Gaussian latents in place of Laplace latents, at the same ε and δ, in every figure of Learning to Noise.

use super::collection::{Collection, Plan, Subject};
use super::figures::{DIGITS, LOANS};
use super::novel::NINES;
use super::pair::{self, Pair};
use super::sharing::{LOCAL_DELTA, Model};
use super::{SEEDED, joining, percent, shown};
use crate::report::Evidence;
use crate::{Grid, Picture, Result, RunOptions};
use serde_json::{Value, json};

/// Data sets, and ε in training. With it, the Gaussian noise in training has about the standard deviation of
/// the Laplace noise in the training of Figure 1.
static SUBJECTS: [(&Subject, f64); 3] = [(&DIGITS, 76.0), (&LOANS, 50.0), (&NINES, 76.0)];

/// ε in training for the loans of Figure 3, by the same rule.
const JOINED: f64 = 50.0;

pub(super) fn run(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let found = SUBJECTS.iter().map(|(subject, epsilon)| measured(options, subject, *epsilon));
    let found = found.collect::<Result<Vec<_>>>()?;
    let joined = joining::latents_of_two(options, &format!("{name}-joined"), |model| {
        with_gaussian_latents(model, JOINED)
    })?;
    let gains = joined.iter().filter(|(local, _)| local.is_finite()).map(|(local, [laplace, gaussian])| {
        (*local, laplace.iter().zip(gaussian).map(|(one, other)| 100.0 * (other - one)).collect())
    });
    let gain = pair::gain("vlm/figure-3", "joined records", WHAT, PAPERS, &gains.collect::<Vec<_>>());
    Ok(Evidence {
        trials: options.trainings(),
        findings: found.iter().flat_map(|pair| pair.findings(WHAT, PAPERS)).chain([gain]).collect(),
        grids: found.iter().map(Pair::grid).chain([grid_of_joined(&joined)]).collect(),
        notes: vec![
            format!(
                "Both noises satisfy (ε, {LOCAL_DELTA:e}). Models, people, labels and classifiers are those \
                 of Figures 1 to 3 at central ε = ∞. Gaussian latents have the ℓ₂ bound 3 in place of the \
                 ℓ₁ bound 5, a normal prior, and noise of the same standard deviation in training."
            ),
            SEEDED.into(),
        ],
        picture: Picture {
            title: "Gaussian and Laplace latents at the same ε and δ".into(),
            panels: found.iter().map(Pair::panel).collect(),
        },
    })
}

const WHAT: &str = "gain by Gaussian latents (ours)";
const PAPERS: &str = "Laplace latents";

/// Table of the accuracies with joined latents.
fn grid_of_joined(joined: &[(f64, [Vec<f64>; 2])]) -> Grid {
    let rows = joined.iter().map(|(local, both)| {
        std::iter::once(shown(*local)).chain(both.iter().map(|accuracies| percent(accuracies))).collect()
    });
    let header = ["local ε", "Laplace, joined", "Gaussian (ours), joined"];
    Grid::new("vlm/figure-3: accuracy, %, ± a standard deviation", header, rows)
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

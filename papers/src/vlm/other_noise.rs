//! Gaussian latents, and latents by PrivUnit, in place of Laplace latents in every figure of Learning to
//! Noise.

use super::collection::{Collection, Plan, Subject};
use super::figures::{DIGITS, LOANS};
use super::novel::NINES;
use super::pair::{self, Pair};
use super::sharing::{LOCAL_DELTA, Model};
use super::{SEEDED, joining, percent, shown};
use crate::report::Evidence;
use crate::{Grid, Picture, Result, RunOptions};
use serde_json::{Value, json};

/// Noise on latents in place of Laplace noise.
struct Noise {
    name: &'static str,
    /// Name of the curve.
    ours: &'static str,
    /// The parameter `noise` of `vlm`.
    parameter: &'static str,
    /// ε in training, for the digits and nines, for the loans, and for the loans of Figure 3. With it, noise
    /// in training has about the standard deviation of the Laplace noise in the training of Figure 1.
    in_training: [f64; 3],
    /// The claim of a release, in words.
    claim: fn() -> String,
}

static GAUSSIAN: Noise = Noise {
    name: "Gaussian",
    ours: "Gaussian (ours)",
    parameter: "gaussian",
    in_training: [76.0, 50.0, 50.0],
    claim: || format!("Both noises satisfy (ε, {LOCAL_DELTA:e})"),
};

static PRIV_UNIT: Noise = Noise {
    name: "PrivUnit",
    ours: "PrivUnit (ours)",
    parameter: "priv-unit",
    in_training: [9.6, 7.4, 6.7],
    claim: || "Both satisfy ε".into(),
};

pub(super) fn gaussian(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    GAUSSIAN.compared(options, name)
}

pub(super) fn priv_unit(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    PRIV_UNIT.compared(options, name)
}

impl Noise {
    fn compared(&'static self, options: &RunOptions, name: &'static str) -> Result<Evidence> {
        let [images, loans, joining_loans] = self.in_training;
        let found = [(&DIGITS, images), (&LOANS, loans), (&NINES, images)];
        let found = found.map(|(subject, epsilon)| self.measured(options, subject, epsilon));
        let found = found.into_iter().collect::<Result<Vec<_>>>()?;
        let joined = joining::latents_of_two(options, &format!("{name}-joined"), |model| {
            self.in_place_of_laplace(model, joining_loans)
        })?;
        let gains = joined.iter().filter(|(local, _)| local.is_finite()).map(|(local, [laplace, other])| {
            (*local, laplace.iter().zip(other).map(|(one, other)| 100.0 * (other - one)).collect())
        });
        let what = format!("gain by {} latents (ours)", self.name);
        let gain = pair::gain("vlm/figure-3", "joined records", &what, PAPERS, &gains.collect::<Vec<_>>());
        Ok(Evidence {
            trials: options.trainings(),
            findings: found.iter().flat_map(|pair| pair.findings(&what, PAPERS)).chain([gain]).collect(),
            grids: found.iter().map(Pair::grid).chain([self.grid_of_joined(&joined)]).collect(),
            notes: vec![
                format!(
                    "{}. Models, people, labels and classifiers are those of Figures 1 to 3 at central ε = \
                     ∞. {} latents have the ℓ₂ bound 3 in place of the ℓ₁ bound 5, a normal prior, and noise \
                     of the same standard deviation in training. The row of ε = ∞ shows a gain without \
                     noise.",
                    (self.claim)(),
                    self.name
                ),
                SEEDED.into(),
            ],
            picture: Picture {
                title: format!("{} and Laplace latents at the same budget", self.name),
                panels: found.iter().map(Pair::panel).collect(),
            },
        })
    }

    /// Table of the accuracies with joined latents.
    fn grid_of_joined(&self, joined: &[(f64, [Vec<f64>; 2])]) -> Grid {
        let rows = joined.iter().map(|(local, both)| {
            std::iter::once(shown(*local)).chain(both.iter().map(|accuracies| percent(accuracies))).collect()
        });
        let header = ["local ε", "Laplace, joined", &format!("{}, joined", self.ours)];
        Grid::new("vlm/figure-3: accuracy, %, ± a standard deviation", header, rows)
    }

    /// Model of the same network with this noise on latents.
    fn in_place_of_laplace(&self, model: &Model, pretraining_epsilon: f64) -> Model {
        let mut parameters = model.parameters.clone();
        if let Some(parameters) = parameters.as_object_mut() {
            parameters.remove("l1_bound");
            parameters.insert("noise".into(), json!(self.parameter));
            parameters.insert("l2_bound".into(), json!(3.0));
            parameters.insert("pretraining_epsilon".into(), json!(pretraining_epsilon));
        }
        Model { parameters, private: Value::Null }
    }

    fn measured(&self, options: &RunOptions, subject: &'static Subject, in_training: f64) -> Result<Pair> {
        let data = (subject.data)(options)?;
        let plan = Plan { central: vec![f64::INFINITY], shows_images: false, ..(subject.plan)(options) };
        let other = Plan { model: self.in_place_of_laplace(&plan.model, in_training), ..plan.clone() };
        let collected = |plan| Collection::run(options, subject.name, &data, plan);
        Ok(Pair {
            of: subject.name,
            names: ["Laplace", self.ours],
            collections: [collected(plan)?, collected(other)?],
        })
    }
}

const PAPERS: &str = "Laplace latents";

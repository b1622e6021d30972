//! Gaussian latents in place of Laplace latents, at the same ε and δ, for the data collection of Figures 1, 4
//! and 7 of Learning to Noise.

use super::collection::{Collection, Level, Plan, Subject, TestRecords};
use super::figures::{DIGITS, LOANS};
use super::sharing::{LOCAL_DELTA, Model};
use super::{SEEDED, curve, panel, percent, shown};
use crate::gains::{self, Axis};
use crate::report::Evidence;
use crate::{Finding, Grid, Picture, Result, RunOptions, rules};

use serde_json::{Value, json};

const BY_EPSILON: Axis = Axis { symbol: "ε = ", before: true };

/// Data sets, and ε in training. With it, the Gaussian noise in training has about the standard deviation of
/// the Laplace noise in the training of Figure 1.
static SUBJECTS: [(&Subject, f64); 2] = [(&DIGITS, 76.0), (&LOANS, 50.0)];

/// Accuracies of a data set with each noise, for the same people and trials.
struct Found {
    subject: &'static Subject,
    laplace: Collection,
    gaussian: Collection,
}

pub(super) fn run(options: &RunOptions, _: &'static str) -> Result<Evidence> {
    let found = SUBJECTS.iter().map(|(subject, epsilon)| Found::measure(options, subject, *epsilon));
    let found = found.collect::<Result<Vec<_>>>()?;
    Ok(Evidence {
        trials: options.trainings(),
        findings: found.iter().flat_map(Found::findings).collect(),
        grids: found.iter().map(Found::grid).collect(),
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
            panels: found.iter().map(Found::panel).collect(),
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

impl Found {
    fn measure(options: &RunOptions, subject: &'static Subject, pretraining_epsilon: f64) -> Result<Self> {
        let data = (subject.data)(options)?;
        let plan = Plan { central: vec![f64::INFINITY], shows_images: false, ..(subject.plan)(options) };
        let gaussian =
            Plan { model: with_gaussian_latents(&plan.model, pretraining_epsilon), ..plan.clone() };
        let collected = |plan| Collection::run(options, subject.name, &data, plan);
        Ok(Self { subject, laplace: collected(plan)?, gaussian: collected(gaussian)? })
    }

    fn accuracies(&self, collection: &Collection, at: usize, tested: TestRecords) -> Vec<f64> {
        collection.accuracies(0, at, Level::Latent, tested)
    }

    /// Findings on the gain in accuracy by Gaussian latents, in points, at each finite ε.
    fn findings(&self) -> Vec<Finding> {
        let finding = |tested: TestRecords| {
            let local = self.laplace.plan.local.iter().enumerate().filter(|(_, local)| local.is_finite());
            let gains = local.map(|(at, local)| {
                let [gaussian, laplace] =
                    [&self.gaussian, &self.laplace].map(|of| self.accuracies(of, at, tested));
                let gains = gaussian.iter().zip(&laplace).map(|(ours, other)| 100.0 * (ours - other));
                (*local, gains.collect::<Vec<_>>())
            });
            gains::gain_finding(
                &rules::GAINS,
                format!("{}, records {}: gain by Gaussian latents (ours)", self.subject.name, tested.name()),
                "Laplace latents",
                ("points of accuracy", BY_EPSILON),
                &gains.collect::<Vec<_>>(),
            )
        };
        [TestRecords::Clean, TestRecords::Private].map(finding).to_vec()
    }

    fn grid(&self) -> Grid {
        let rows = self.laplace.plan.local.iter().enumerate().map(|(at, local)| {
            let cell = |of, tested| percent(&self.accuracies(of, at, tested));
            let (laplace, gaussian) = (&self.laplace, &self.gaussian);
            vec![
                shown(*local),
                cell(laplace, TestRecords::Clean),
                cell(gaussian, TestRecords::Clean),
                cell(laplace, TestRecords::Private),
                cell(gaussian, TestRecords::Private),
            ]
        });
        let header = [
            "local ε",
            "Laplace, in the clear",
            "Gaussian, in the clear",
            "Laplace, as released",
            "Gaussian, as released",
        ];
        Grid::new(format!("{}: accuracy, %, ± a standard deviation", self.subject.name), header, rows)
    }

    fn panel(&self) -> crate::Panel {
        let local = &self.laplace.plan.local;
        let clean = |of: &Collection, at: usize| self.accuracies(of, at, TestRecords::Clean);
        panel(
            self.subject.name,
            "accuracy, %, ± a standard deviation",
            vec![
                curve("Laplace latents".into(), 0, local, |at| clean(&self.laplace, at)),
                curve("Gaussian latents (ours)".into(), 1, local, |at| clean(&self.gaussian, at)),
            ],
        )
    }
}

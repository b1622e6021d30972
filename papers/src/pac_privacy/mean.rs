//! The mean image of half of the digits, compared with the mean of all digits under differential privacy.

use super::study::{NATS, bound, mu_of_the_same};
use crate::gains::curve;
use crate::report::{Evidence, four};
use crate::rules;
use crate::trials::Mean;
use crate::{Finding, Grid, Panel, Picture, Result, RunOptions, Scale};
use ndarray::{Array1, Axis};
use rand::Rng;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use scumble_core::{Stream, Table};
use scumble_datasets::source;
use scumble_pac::{HidingNoise, halves};

const SETS: usize = 128;
const TRIALS: usize = 10;
/// Number of digits in the quick variant.
const FEW: usize = 2_000;
/// Smallest of [`NATS`], the budgets in nats.
const LEAST: f64 = 0.015_625;

/// Errors ‖released mean − mean of all images‖, one for each trial.
struct Errors {
    /// Number of images.
    n: usize,
    /// Errors of the mean of a half without noise.
    sampling: Vec<f64>,
    /// Errors of the mean of a half with the noise of the paper's Theorem 3, which differs from pixel to
    /// pixel; one list for each of [`NATS`].
    pac: Vec<Vec<f64>>,
    /// Errors of the mean of all images with Gaussian noise; one list for each of [`NATS`].
    dp: Vec<Vec<f64>>,
    /// Rate at which an attack correctly decides whether a white image is among all images. The attack uses a
    /// pixel that is black in every other image.
    detected: Vec<f64>,
}

/// Results of a trial.
struct TrialErrors {
    sampling: f64,
    /// Errors ‖released mean − mean of all images‖ at each of [`NATS`]: of the mean of a half, and of the
    /// mean of all images under differential privacy.
    errors: Vec<[f64; 2]>,
    detected: f64,
}

/// All images, and their mean.
struct Images {
    table: Table,
    mean: Array1<f64>,
}

impl Images {
    fn load(options: &RunOptions) -> Result<Self> {
        let data = source("mnist")?.load(options.folder)?;
        let training = data.train_records.unwrap_or(data.table.len());
        let rows: Vec<usize> = (0..if options.quick { FEW.min(training) } else { training }).collect();
        let table = data.table.select(&rows)?;
        let mean = table.records().mean_axis(Axis(0)).unwrap_or_default();
        Ok(Self { table, mean })
    }

    /// Mean of each of the halves `sets`, which come in pairs.
    fn half_means(&self, sets: &[Vec<usize>]) -> Vec<Vec<f64>> {
        let (n, d) = self.table.records().dim();
        // The mean of all images and the mean of a half determine the mean of the other half.
        let pair = |rows: &Vec<usize>| {
            let mut sum = Array1::<f64>::zeros(d);
            rows.iter().for_each(|&row| sum += &self.table.records().row(row));
            let mean = sum / rows.len() as f64;
            let other = (&self.mean * n as f64 - &mean * (n / 2) as f64) / (n - n / 2) as f64;
            [mean.to_vec(), other.to_vec()]
        };
        sets.iter().step_by(2).flat_map(pair).collect()
    }

    /// Means of the halves `sets` with a white image. `candidates` are the means without it.
    fn with_white(&self, candidates: &[Vec<f64>], sets: &[Vec<usize>]) -> Vec<Vec<f64>> {
        // Difference between a white image and the first image, which it replaces. It changes the means of
        // the halves that contain the first image.
        let white = 1.0 - &self.table.records().row(0);
        let with_white = |(candidate, rows): (&Vec<f64>, &Vec<usize>)| -> Vec<f64> {
            let share = if rows.binary_search(&0).is_ok() { 1.0 / rows.len() as f64 } else { 0.0 };
            candidate.iter().zip(&white).map(|(mean, more)| mean + share * more).collect()
        };
        candidates.iter().zip(sets).map(with_white).collect()
    }

    /// Returns true if a pixel that is black in all images is not black in `released`.
    fn shows_white(&self, released: &[f64]) -> bool {
        let mut black = released.iter().zip(&self.mean).filter(|(_, mean)| **mean == 0.0);
        black.any(|(released, _)| *released != 0.0)
    }

    /// Releases the mean of all images with Gaussian noise, for the bound of `nats` on guesses.
    fn released(&self, nats: f64, stream: &mut Stream) -> Result<Vec<f64>> {
        let (n, d) = self.table.records().dim();
        // Two means of n images of d pixels in [0, 1] that differ in one image are at most √d/n apart.
        let sigma = (d as f64).sqrt() / n as f64 / mu_of_the_same(nats)?;
        let noisy = |mean: &f64| mean + sigma * stream.sample::<f64, _>(StandardNormal);
        Ok(self.mean.iter().map(noisy).collect())
    }

    fn distance(&self, values: &[f64]) -> f64 {
        values.iter().zip(&self.mean).map(|(value, mean)| (value - mean).powi(2)).sum::<f64>().sqrt()
    }

    fn run_trial(&self, mut stream: Stream) -> Result<TrialErrors> {
        let sets: Vec<Vec<usize>> = halves(self.table.len(), SETS, &mut stream).collect();
        let candidates = self.half_means(&sets);
        let place = stream.gen_range(0..SETS);
        let taken = &candidates[place];
        let mut is_detected = |candidates: &[Vec<f64>], is_there: bool| -> Result<f64> {
            let noise = HidingNoise::calibrated(candidates, LEAST)?;
            let released = noise.added(&candidates[place], &mut stream);
            Ok(f64::from(u8::from(self.shows_white(&released) == is_there)))
        };
        let with_white = self.with_white(&candidates, &sets);
        let detected = (is_detected(&candidates, false)? + is_detected(&with_white, true)?) / 2.0;
        let mut errors = vec![];
        for nats in NATS {
            let noise = HidingNoise::calibrated(&candidates, nats)?;
            let pac = self.distance(&noise.added(taken, &mut stream));
            errors.push([pac, self.distance(&self.released(nats, &mut stream)?)]);
        }
        Ok(TrialErrors { sampling: self.distance(taken), errors, detected })
    }
}

pub(super) fn mean(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let errors = Errors::measured(options, name)?;
    Ok(Evidence {
        trials: errors.sampling.len(),
        findings: vec![ratio_finding(&errors), white_image_finding(&errors)],
        grids: vec![errors.grid()?],
        notes: notes(),
        picture: errors.picture(),
    })
}

impl Errors {
    fn measured(options: &RunOptions, name: &str) -> Result<Self> {
        let images = Images::load(options)?;
        let trials = options.trials().min(TRIALS);
        let run_trial = |trial: usize| -> Result<TrialErrors> {
            let errors = images.run_trial(options.randomness(name, &[trial as u64]).streams().stream(0))?;
            (options.on_step)();
            Ok(errors)
        };
        (options.on_start)(trials as u64);
        let all = (0..trials).into_par_iter().map(run_trial).collect::<Result<Vec<_>>>()?;
        let errors_of = |which: usize| -> Vec<Vec<f64>> {
            (0..NATS.len()).map(|at| all.iter().map(|trial| trial.errors[at][which]).collect()).collect()
        };
        Ok(Self {
            n: images.table.len(),
            sampling: all.iter().map(|trial| trial.sampling).collect(),
            pac: errors_of(0),
            dp: errors_of(1),
            detected: all.iter().map(|trial| trial.detected).collect(),
        })
    }

    /// The paper's error divided by ours, at the budget `at` of [`NATS`].
    fn ratio(&self, at: usize) -> Mean {
        let pairs = self.pac[at].iter().zip(&self.dp[at]);
        Mean::from_values(&pairs.map(|(pac, dp)| pac / dp).collect::<Vec<_>>())
    }

    fn grid(&self) -> Result<Grid> {
        let header = [
            "nats",
            "membership, at most",
            "μ of the same bound",
            "half, PAC privacy",
            "all, Gaussian mechanism (ours)",
        ];
        let rows = (0..NATS.len()).map(|at| self.row(at)).collect::<Result<Vec<_>>>()?;
        Ok(Grid::new("‖released − mean of all‖₂, 784 pixels in [0, 1], ± a standard error", header, rows))
    }

    fn row(&self, at: usize) -> Result<Vec<String>> {
        let shown = |values: &[f64]| {
            let Mean { value, error } = Mean::from_values(values);
            format!("{} ± {}", four(value), four(error))
        };
        Ok(vec![
            NATS[at].to_string(),
            format!("{:.1} %", 100.0 * bound(NATS[at])?),
            four(mu_of_the_same(NATS[at])?),
            shown(&self.pac[at]),
            shown(&self.dp[at]),
        ])
    }

    fn picture(&self) -> Picture {
        let by_nats = |errors: &[Vec<f64>]| NATS.into_iter().zip(errors.to_vec());
        let sampling = vec![self.sampling.clone(); NATS.len()];
        let layers = vec![
            curve("half of them, by the theorem's noise", 0, by_nats(&self.pac)),
            curve("all of them, Gaussian mechanism (ours)", 1, by_nats(&self.dp)),
            curve("half of them, without noise", 2, by_nats(&sampling)),
        ];
        Picture {
            title: "The mean image at the same bound on guesses of membership".into(),
            panels: vec![Panel {
                title: "handwritten digits".into(),
                across: Scale::logarithmic("mutual information, nats"),
                up: Scale::logarithmic("error, ℓ₂"),
                layers,
            }],
        }
    }
}

fn ratio_finding(errors: &Errors) -> Finding {
    let at = NATS.iter().position(|nats| *nats == 0.25).unwrap_or(0);
    let quarter = errors.ratio(at);
    let least = (0..NATS.len()).map(|at| errors.ratio(at).value).fold(f64::INFINITY, f64::min);
    let n = errors.n;
    Finding {
        what: "mean of all images under differential privacy (ours) instead of the mean of half of them: \
               the paper's error divided by ours, at ¼ nat"
            .into(),
        paper: "the same bound on guesses of membership".into(),
        ours: format!(
            "{} ± {}; at least {} at each of {} bounds",
            four(quarter.value),
            four(quarter.error),
            four(least),
            NATS.len()
        ),
        value: Some(quarter.value),
        decision: rules::LESS_ERROR.on(least),
        why: format!(
            "noise must hide the difference between halves of {n} images, but one image moves the mean \
             by at most √784/{n}; without noise, the mean of a half has an error of {}",
            four(Mean::from_values(&errors.sampling).value)
        ),
    }
}

/// Finding that the noise does not hide which records are in the population, from which the halves are drawn.
fn white_image_finding(errors: &Errors) -> Finding {
    let n = errors.n;
    let detected = 100.0 * Mean::from_values(&errors.detected).value;
    Finding {
        what: format!("one image unlike all others: whether a white image is among the {n}"),
        paper: "the claim concerns which half was taken, not who is in the population".into(),
        ours: format!("decided correctly for {detected:.0} % of releases, at {LEAST} nats"),
        value: Some(detected),
        decision: rules::NO_CLAIM.on(detected),
        why:
            "a pixel that is black in all other images is released without noise, unless the white image is \
             among them (errata P2)"
                .into(),
    }
}

fn notes() -> Vec<String> {
    vec![
        "The published code compares the mean of CIFAR-10 with Laplace noise of scale c/(nε) on each of \
         3,072 numbers. Its records are clipped to ‖x‖₂ ≤ c, with the c that is best for the data. This \
         release is not differentially private: the ℓ₁ sensitivity is up to √3,072 times as large, and c \
         depends on the data. This run has MNIST's training images, whose pixels have public bounds, and \
         the Gaussian mechanism for two means that differ in one image. Its μ gives the same bound on a \
         guess between the two means, Φ(μ/2) (Dong, Roth and Su 2022). For a bound of s, μ is 2Φ⁻¹(s), \
         and 8 if nothing bounds the guess."
            .into(),
        "Both bounds concern a guess: whether a record is in the half, or which of two values it has. \
         The claims differ. The claim of PAC privacy is an average over halves; that of differential \
         privacy holds for every data set and every record."
            .into(),
    ]
}

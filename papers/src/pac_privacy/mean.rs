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

pub(super) fn mean(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let data = source("mnist")?.load(options.folder)?;
    let training = data.train_records.unwrap_or(data.table.len());
    let rows: Vec<usize> = (0..if options.quick { FEW.min(training) } else { training }).collect();
    let table = data.table.select(&rows)?;
    let (n, d) = table.records().dim();
    let mean_of_all = table.records().mean_axis(Axis(0)).unwrap_or_default();
    let trials = options.trials().min(TRIALS);
    // The mean of all images and the mean of a half determine the mean of the other half.
    let half_mean = |rows: &[usize]| -> Array1<f64> {
        let mut sum = Array1::zeros(d);
        rows.iter().for_each(|&row| sum += &table.records().row(row));
        sum / rows.len() as f64
    };
    let run_trial = |trial: usize| -> Result<TrialErrors> {
        let mut stream = options.randomness(name, &[trial as u64]).streams().stream(0);
        let sets: Vec<Vec<usize>> = halves(n, SETS, &mut stream).collect();
        let first: Vec<Array1<f64>> = sets.iter().step_by(2).map(|rows| half_mean(rows)).collect();
        let candidates: Vec<Vec<f64>> = first
            .iter()
            .flat_map(|mean| {
                [
                    mean.to_vec(),
                    ((&mean_of_all * n as f64 - mean * (n / 2) as f64) / (n - n / 2) as f64).to_vec(),
                ]
            })
            .collect();
        let distance = |values: &[f64]| {
            values.iter().zip(&mean_of_all).map(|(value, mean)| (value - mean).powi(2)).sum::<f64>().sqrt()
        };
        let place = stream.gen_range(0..SETS);
        let taken = &candidates[place];
        // Difference between a white image and the first image, which it replaces. It changes the means of
        // the halves that contain the first image.
        let white = 1.0 - &table.records().row(0);
        let with_white = |(candidate, rows): (&Vec<f64>, &Vec<usize>)| -> Vec<f64> {
            let share = if rows.binary_search(&0).is_ok() { 1.0 / rows.len() as f64 } else { 0.0 };
            candidate.iter().zip(&white).map(|(mean, more)| mean + share * more).collect()
        };
        let with: Vec<Vec<f64>> = candidates.iter().zip(&sets).map(with_white).collect();
        let mut is_detected = |candidates: &[Vec<f64>], is_there: bool| -> Result<f64> {
            let noise = HidingNoise::calibrated(candidates, LEAST)?;
            let released = noise.added(&candidates[place], &mut stream);
            let mut black = released.iter().zip(&mean_of_all).filter(|(_, mean)| **mean == 0.0);
            Ok(f64::from(u8::from(black.any(|(released, _)| *released != 0.0) == is_there)))
        };
        let detected = (is_detected(&candidates, false)? + is_detected(&with, true)?) / 2.0;
        let mut errors = vec![];
        for nats in NATS {
            let noise = HidingNoise::calibrated(&candidates, nats)?;
            let pac = distance(&noise.added(taken, &mut stream));
            // Two means of n images of d pixels in [0, 1] that differ in one image are at most √d/n apart.
            let sigma = (d as f64).sqrt() / n as f64 / mu_of_the_same(nats)?;
            let released: Vec<f64> = mean_of_all
                .iter()
                .map(|mean| mean + sigma * stream.sample::<f64, _>(StandardNormal))
                .collect();
            errors.push([pac, distance(&released)]);
        }
        (options.on_step)();
        Ok(TrialErrors { sampling: distance(taken), errors, detected })
    };
    (options.on_start)(trials as u64);
    let all = (0..trials).into_par_iter().map(run_trial).collect::<Result<Vec<_>>>()?;
    let errors_of = |which: usize| -> Vec<Vec<f64>> {
        (0..NATS.len()).map(|at| all.iter().map(|trial| trial.errors[at][which]).collect()).collect()
    };
    let errors = Errors {
        sampling: all.iter().map(|trial| trial.sampling).collect(),
        pac: errors_of(0),
        dp: errors_of(1),
        detected: all.iter().map(|trial| trial.detected).collect(),
    };
    report(&errors, n)
}

/// Finding that the noise does not hide which records are in the population, from which the halves are drawn.
fn white_image_finding(errors: &Errors, n: usize) -> Finding {
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

fn report(errors: &Errors, n: usize) -> Result<Evidence> {
    let sampling = Mean::from_values(&errors.sampling);
    let at = NATS.iter().position(|nats| *nats == 0.25).unwrap_or(0);
    let ratio = |at: usize| {
        let pairs = errors.pac[at].iter().zip(&errors.dp[at]);
        Mean::from_values(&pairs.map(|(pac, dp)| pac / dp).collect::<Vec<_>>())
    };
    let (quarter, least) =
        (ratio(at), NATS.iter().enumerate().map(|(at, _)| ratio(at).value).fold(f64::INFINITY, f64::min));
    let shown = |values: &[f64]| {
        let Mean { value, error } = Mean::from_values(values);
        format!("{} ± {}", four(value), four(error))
    };
    let row = |(at, nats): (usize, &f64)| -> Result<Vec<String>> {
        Ok(vec![
            nats.to_string(),
            format!("{:.1} %", 100.0 * bound(*nats)?),
            four(mu_of_the_same(*nats)?),
            shown(&errors.pac[at]),
            shown(&errors.dp[at]),
        ])
    };
    let curves = [
        curve(
            "half of them, by the theorem's noise",
            0,
            NATS.iter().zip(&errors.pac).map(|(x, y)| (*x, y.clone())),
        ),
        curve(
            "all of them, Gaussian mechanism (ours)",
            1,
            NATS.iter().zip(&errors.dp).map(|(x, y)| (*x, y.clone())),
        ),
        curve("half of them, without noise", 2, NATS.iter().map(|x| (*x, errors.sampling.clone()))),
    ];
    Ok(Evidence {
        trials: errors.sampling.len(),
        findings: vec![Finding {
            what: "mean of all images under differential privacy (ours) instead of the mean of half of them: \
                the paper's error divided by ours, at ¼ nat".into(),
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
                four(sampling.value)
            ),
        }, white_image_finding(errors, n)],
        grids: vec![Grid {
            title: "‖released − mean of all‖₂, 784 pixels in [0, 1], ± a standard error".into(),
            header: [
                "nats",
                "membership, at most",
                "μ of the same bound",
                "half, PAC privacy",
                "all, Gaussian mechanism (ours)",
            ]
            .map(str::to_owned)
            .to_vec(),
            rows: NATS.iter().enumerate().map(row).collect::<Result<_>>()?,
        }],
        notes: vec![
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
        ],
        picture: Picture {
            title: "The mean image at the same bound on guesses of membership".into(),
            panels: vec![Panel {
                title: "handwritten digits".into(),
                across: Scale::logarithmic("mutual information, nats"),
                up: Scale::logarithmic("error, ℓ₂"),
                layers: curves.into_iter().collect(),
            }],
        },
    })
}

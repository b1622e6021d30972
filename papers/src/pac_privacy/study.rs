//! Study of a statistic that is computed from a random half of the records. It is released with the noise of
//! the paper's Theorem 3 and with the noise of the published code.

use super::irises::Irises;
use crate::gains::{Axis, curve, gain_finding};
use crate::report::{Evidence, four};
use crate::rules;
use crate::trials::Mean;
use crate::{Finding, Grid, Layer, Marks, Panel, Picture, Result, RunOptions, Scale};
use rand::Rng;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use scumble_accounting::{gaussian, mutual_information::posterior_success};
use scumble_adversary::{HalfInference, infer_half};
use scumble_core::{Brief, Budget, Halved, Stream, Target};
use scumble_pac::{HidingNoise, halves};
use serde_json::json;

/// Budgets of the figures in the published code, in nats.
pub(super) const NATS: [f64; 9] = [4.0, 2.0, 1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015_625];

/// Budget at which the published code prints its noise, in nats.
const PRINTED: f64 = 0.5;

/// Budget at which a guess of membership is correct in at most about three cases of four, in nats.
const MEANINGFUL: f64 = 0.125;

const TRIALS: usize = 20;

/// Amount of work in a trial.
struct Sizes {
    /// Number of halves from which the released half is drawn.
    sets: usize,
    /// Number of releases of the statistic whose accuracy is measured.
    scored: usize,
    /// Number of releases that are attacked.
    attacked: usize,
}

impl Sizes {
    fn from_options(options: &RunOptions) -> Self {
        match options.quick {
            true => Self { sets: 64, scored: 20, attacked: 5_000 },
            false => Self { sets: 256, scored: 50, attacked: 20_000 },
        }
    }
}

/// False-alarm rate of all lower bounds of an attack together. Only the first trial is attacked.
const FALSE_ALARM: f64 = 1e-3;

/// Noise, with its standard deviation σ on each value. λ is the variance of a value over the halves, and Σ
/// sums over all values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noise {
    /// Noise of the paper's Theorem 3 without the theorem's decomposition of the covariance: σ² =
    /// √λ·Σ√λ/(2·nats) for a value of variance λ over the halves, with Σ over all values. At 0.25 nats or
    /// more, all noise is reduced by a common factor if the bound of Kolchinsky and Tracey (2017) on the
    /// mutual information allows it. This bound and the bound of Theorem 3 are computed from values rounded
    /// to the lattice of the noise.
    Theorem,
    /// Least noise with an equal standard deviation σ on all values, by the bound of the paper's Theorem 3:
    /// σ² = Σλ/(2·nats). λ is the variance of a value over the halves, and Σ sums over all values.
    Equal,
    /// Noise of the published code: σ = √λ·Σ√λ/(2·nats) for a value of variance λ over the halves, with Σ
    /// over all values.
    Code,
}

/// Variance λ of each value over the `candidates`, which are the statistic's values for each half.
fn variances(candidates: &[Vec<f64>]) -> Vec<f64> {
    let m = candidates.len() as f64;
    (0..candidates[0].len())
        .map(|at| {
            let mean = candidates.iter().map(|values| values[at]).sum::<f64>() / m;
            candidates.iter().map(|values| (values[at] - mean).powi(2)).sum::<f64>() / m
        })
        .collect()
}

/// Ratio of the summed variances of equal noise to those of the noise of the paper's Theorem 3, at the same
/// nats. It is k·Σλ/(Σ√λ)² for k values, with λ the variance of a value over the `candidates`.
fn equal_noise_ratio(candidates: &[Vec<f64>]) -> f64 {
    let variances = variances(candidates);
    variances.len() as f64 * variances.iter().sum::<f64>() / squared_roots(candidates)
}

/// Summed variances of the noise of the paper's Theorem 3, times twice the nats: (Σ√λ)², with λ the variance
/// of a value over the `candidates`.
fn squared_roots(candidates: &[Vec<f64>]) -> f64 {
    variances(candidates).iter().map(|variance| variance.sqrt()).sum::<f64>().powi(2)
}

impl Noise {
    fn scales(self, candidates: &[Vec<f64>], nats: f64) -> Result<Vec<f64>> {
        let variances = variances(candidates);
        let roots: f64 = variances.iter().map(|variance| variance.sqrt()).sum();
        Ok(match self {
            Self::Theorem => HidingNoise::calibrated(candidates, nats)?.scales(),
            Self::Equal => {
                vec![(variances.iter().sum::<f64>() / (2.0 * nats)).sqrt(); variances.len()]
            }
            Self::Code => variances.iter().map(|variance| variance.sqrt() * roots / (2.0 * nats)).collect(),
        })
    }
}

/// Function from rows of the training records to the values of a statistic.
pub(super) type Values<'i> = Box<dyn Fn(&[usize]) -> Result<Vec<f64>> + 'i>;

/// Function from irises to the [`Values`] of a statistic on them.
type Statistics = Box<dyn for<'i> Fn(&'i Irises) -> Result<Values<'i>> + Sync>;

/// Function that gives the share of test records that released values classify correctly.
type Right = Box<dyn Fn(&Irises, &[f64]) -> f64 + Sync>;

/// A statistic, with a measure of how good its releases are.
pub(super) struct Statistic {
    /// Name of the statistic in the legend of the figure and in the table of results.
    pub name: String,
    /// Computes the statistic's values from some of the training records.
    pub compute: Statistics,
    /// Computes the share of test records that released values of the statistic classify correctly.
    pub right: Right,
    /// Noise that the published code prints for this statistic at [`PRINTED`] nats, summed over all values;
    /// `None` if it prints none.
    pub printed: Option<f64>,
    /// Reason for a difference from `printed`, in words; may be empty.
    pub why: &'static str,
}

/// Results of the trials of a statistic.
pub(super) struct Found {
    pub name: String,
    printed: Option<f64>,
    why: &'static str,
    values: usize,
    /// (Σ√λ)² of each trial, with λ the variance of a value over the halves, and Σ over all values.
    pub squared_roots: Vec<f64>,
    /// Ratio of the summed variances of equal noise to those of the noise of the paper's Theorem 3, for each
    /// trial.
    equal_noise_ratio: Vec<f64>,
    /// Accuracy without noise, for each trial.
    pub clean: Vec<f64>,
    /// Share of test records classified correctly, for each of [`NATS`], each noise and each trial.
    pub right: Vec<[Vec<f64>; 3]>,
    /// Attacks of the first trial at [`PRINTED`] nats: on the noise of the paper's Theorem 3, and on the
    /// noise of the published code.
    attacks: [HalfInference; 2],
}

const NOISES: [Noise; 3] = [Noise::Theorem, Noise::Equal, Noise::Code];

/// A split of the irises, and the values of a statistic for each half of the training records.
struct Trial<'s> {
    statistic: &'s Statistic,
    irises: Irises,
    sets: Vec<Vec<usize>>,
    candidates: Vec<Vec<f64>>,
    stream: Stream,
}

struct TrialScores {
    values: usize,
    squared_roots: f64,
    equal_noise_ratio: f64,
    clean: f64,
    right: Vec<[f64; 3]>,
    attacks: Option<[HalfInference; 2]>,
}

impl<'s> Trial<'s> {
    fn new(options: &RunOptions, name: &str, statistic: &'s Statistic, trial: u64) -> Result<Self> {
        let irises = Irises::load(options, options.randomness(name, &[trial]))?;
        let mut stream = options.randomness(name, &[trial, 1]).streams().stream(0);
        let m = Sizes::from_options(options).sets;
        let sets: Vec<Vec<usize>> = halves(irises.training.nrows(), m, &mut stream).collect();
        let values_of = (statistic.compute)(&irises)?;
        let candidates = sets.iter().map(|rows| values_of(rows)).collect::<Result<Vec<Vec<f64>>>>()?;
        drop(values_of);
        Ok(Self { statistic, irises, sets, candidates, stream })
    }

    /// Draws the index of a half, and adds normal noise with the standard deviations `scales` to the values
    /// of this half. It serves a study of noise sizes, and gives its result no guarantee.
    fn draw(&mut self, scales: &[f64]) -> (usize, Vec<f64>) {
        let taken = self.stream.gen_range(0..self.candidates.len());
        let pairs = self.candidates[taken].iter().zip(scales);
        let noisy = pairs.map(|(value, scale)| value + scale * self.stream.sample::<f64, _>(StandardNormal));
        (taken, noisy.collect())
    }

    fn right(&self, values: &[f64]) -> f64 {
        (self.statistic.right)(&self.irises, values)
    }

    /// Share of test records classified correctly without noise.
    fn clean(&self) -> f64 {
        let right = self.candidates.iter().map(|values| self.right(values)).sum::<f64>();
        right / self.candidates.len() as f64
    }

    /// Share of test records that `scored` releases classify correctly, for each of [`NATS`] and each noise.
    fn noisy(&mut self, scored: usize) -> Result<Vec<[f64; 3]>> {
        let mut right = vec![[0.0; 3]; NATS.len()];
        for (nats, shares) in NATS.iter().zip(&mut right) {
            for (noise, share) in NOISES.iter().zip(shares) {
                let scales = noise.scales(&self.candidates, *nats)?;
                for _ in 0..scored {
                    let (_, released) = self.draw(&scales);
                    *share += self.right(&released) / scored as f64;
                }
            }
        }
        Ok(right)
    }

    /// Attacks `attacked` releases at [`PRINTED`] nats.
    fn attack(&mut self, noise: Noise, attacked: usize) -> Result<HalfInference> {
        let scales = noise.scales(&self.candidates, PRINTED)?;
        let draws = (0..attacked).map(|_| self.draw(&scales)).collect();
        let halved = Halved { sets: self.sets.clone(), values: self.candidates.clone(), scales, draws };
        Ok(infer_half(&halved, self.irises.training.nrows(), FALSE_ALARM))
    }
}

fn trial_scores(
    options: &RunOptions,
    name: &str,
    statistic: &Statistic,
    number: usize,
) -> Result<TrialScores> {
    let Sizes { scored, attacked, .. } = Sizes::from_options(options);
    let mut trial = Trial::new(options, name, statistic, number as u64)?;
    let right = trial.noisy(scored)?;
    let attacks = (number == 0).then(|| -> Result<[HalfInference; 2]> {
        Ok([trial.attack(Noise::Theorem, attacked)?, trial.attack(Noise::Code, attacked)?])
    });
    (options.on_step)();
    Ok(TrialScores {
        values: trial.candidates[0].len(),
        squared_roots: squared_roots(&trial.candidates),
        equal_noise_ratio: equal_noise_ratio(&trial.candidates),
        clean: trial.clean(),
        right,
        attacks: attacks.transpose()?,
    })
}

/// Runs the trials of `statistic`.
pub(super) fn found(options: &RunOptions, name: &str, statistic: &Statistic) -> Result<Found> {
    let run_trial = |trial: usize| trial_scores(options, name, statistic, trial);
    let trials = options.trials().min(TRIALS);
    let all = (0..trials).into_par_iter().map(run_trial).collect::<Result<Vec<TrialScores>>>()?;
    let budget_shares = |at: usize| {
        [0, 1, 2].map(|noise| all.iter().map(|trial| trial.right[at][noise]).collect::<Vec<f64>>())
    };
    Ok(Found {
        name: statistic.name.clone(),
        printed: statistic.printed,
        why: statistic.why,
        values: all[0].values,
        squared_roots: all.iter().map(|trial| trial.squared_roots).collect(),
        equal_noise_ratio: all.iter().map(|trial| trial.equal_noise_ratio).collect(),
        clean: all.iter().map(|trial| trial.clean).collect(),
        right: (0..NATS.len()).map(budget_shares).collect(),
        attacks: all.into_iter().find_map(|trial| trial.attacks).unwrap_or_default(),
    })
}

impl Found {
    /// Names of the statistic under each noise.
    fn names(&self) -> [String; 3] {
        ["theorem", "equal", "published code"].map(|noise| format!("{}, {noise}", self.name))
    }

    /// Curves of the accuracy under each noise. The first has the look `look`.
    fn curves(&self, look: usize) -> impl Iterator<Item = Layer> {
        let named = self.names().into_iter().enumerate();
        named.map(move |(noise, name)| {
            accuracy_curve(&name, look + noise, self.right.iter().map(|shares| &shares[noise]))
        })
    }

    /// Loss of accuracy in percentage points by one of the [`NOISES`], at the budget `at` of [`NATS`].
    fn loss(&self, at: usize, noise: usize) -> Mean {
        let pairs = self.clean.iter().zip(&self.right[at][noise]);
        Mean::from_values(&pairs.map(|(clean, noisy)| 100.0 * (clean - noisy)).collect::<Vec<_>>())
    }
}

/// Curve of the accuracy in per cent by nats. `shares` holds the accuracies of the trials for each of
/// [`NATS`].
fn accuracy_curve<'v>(name: &str, look: usize, shares: impl Iterator<Item = &'v Vec<f64>>) -> Layer {
    let percent = |values: &Vec<f64>| values.iter().map(|value| 100.0 * value).collect::<Vec<f64>>();
    curve(name, look, NATS.into_iter().zip(shares.map(percent)))
}

/// Upper bound on the success of a guess of membership at a leakage of `nats`.
pub(super) fn bound(nats: f64) -> Result<f64> {
    Ok(posterior_success(nats, 0.5)?)
}

/// μ of Gaussian differential privacy at which a guess between two neighbours has the same upper bound on its
/// success as a guess of membership at a leakage of `nats`.
///
/// For a prior of one half, the bound under μ is Φ(μ/2), with Φ the standard normal distribution function
/// (Dong, Roth and Su 2022, Section 2.2). The result is at most 8, which gives no meaningful protection. It
/// is 8 if `nats` do not bound the guess.
pub(super) fn mu_of_the_same(nats: f64) -> Result<f64> {
    const LARGE: f64 = 8.0;
    Ok((2.0 * gaussian::quantile(bound(nats)?)).min(LARGE))
}

/// Compares the noise that the published code prints with ours.
fn printed_noise_finding(found: &Found, printed: f64) -> Finding {
    let sum = Mean::from_values(&found.squared_roots);
    Finding {
        what: format!("{}: the noise at ½ nat, summed over {} values", found.name, found.values),
        paper: format!("{} (printed in the published code)", four(printed)),
        ours: format!("{} ± {}, as (Σ√λ)², the theorem's sum of variances", four(sum.value), four(sum.error)),
        value: Some(sum.value),
        decision: rules::SUM_AS_PRINTED.on((printed / sum.value).ln()),
        why: found.why.into(),
    }
}

/// Finding on the leakage of `statistics` under one of the noises, where ½ nat is claimed. `which` is the
/// index of the noise in `attacks`.
fn leakage_finding(statistics: &[&Found], which: usize, (noise, why): (&str, &str)) -> Result<Finding> {
    let entries = statistics.iter().map(|found| {
        let attack = &found.attacks[which];
        format!(
            "{}: at least {} nats; the accuracy of a guess is {:.1} % for membership, and {:.1} % for the \
             half",
            found.name,
            four(attack.nats),
            100.0 * attack.member.share,
            100.0 * attack.set.share
        )
    });
    let most = statistics.iter().map(|found| found.attacks[which].nats).fold(0.0, f64::max);
    Ok(Finding {
        what: format!("leakage at ½ nat, with the noise {noise}"),
        paper: format!(
            "at most ½ nat, and an accuracy of at most {:.1} % for a guess of membership",
            100.0 * bound(PRINTED)?
        ),
        ours: entries.collect::<Vec<_>>().join("; "),
        value: Some(most),
        decision: rules::LEAKS_AS_STATED.on(most),
        why: why.into(),
    })
}

/// Findings on the leakage of `statistics` under the noise of the theorem and of the published code. The
/// released half is one of `sets`.
fn leakage_findings(statistics: &[&Found], sets: usize) -> Result<[Finding; 2]> {
    let attacked = format!(
        "an attack on the first trial, by an adversary that knows all records and all {sets} halves; the \
         lower bound is wrong with a probability of one in 1,000"
    );
    let why = "the code uses the variance as a standard deviation (errata P1)";
    Ok([
        leakage_finding(statistics, 0, ("of the theorem", &attacked))?,
        leakage_finding(statistics, 1, ("of the published code", why))?,
    ])
}

/// Gain of the first list of `pairs_at` over the second in each trial, at each budget, in percentage points.
fn gains(pairs_at: impl Fn(usize) -> (Vec<f64>, Vec<f64>)) -> Vec<(f64, Vec<f64>)> {
    let at = |(at, nats): (usize, &f64)| {
        let (first, second) = pairs_at(at);
        (*nats, first.iter().zip(&second).map(|(first, second)| 100.0 * (first - second)).collect())
    };
    NATS.iter().enumerate().map(at).collect()
}

const BY_NATS: Axis = Axis { symbol: "nats", before: false };

/// Finding on the `claim` that the statistic `stable` needs less noise than `other`.
fn stability_finding(stable: &Found, other: &Found, claim: &str) -> Finding {
    gain_finding(
        &rules::CLAIMED_GAIN,
        format!("{} against {}: gain in accuracy", stable.name, other.name),
        claim,
        ("points", BY_NATS),
        &gains(|at| (stable.right[at][0].clone(), other.right[at][0].clone())),
    )
}

fn equal_noise_finding(found: &Found) -> Finding {
    let mut finding = gain_finding(
        &rules::CLAIMED_GAIN,
        format!(
            "{}: gain in accuracy by noise that differs from value to value, against equal noise",
            found.name
        ),
        "noise that differs has substantive benefits",
        ("points", BY_NATS),
        &gains(|at| (found.right[at][0].clone(), found.right[at][1].clone())),
    );
    let more = Mean::from_values(&found.equal_noise_ratio);
    finding.why += &format!(
        "; the variances of equal noise sum to {} ± {} times the sum for the theorem's noise",
        four(more.value),
        four(more.error)
    );
    finding
}

/// Finding on the loss of accuracy at [`MEANINGFUL`] nats.
fn loss_finding(found: &Found) -> Result<Finding> {
    let at = NATS.iter().position(|nats| *nats == MEANINGFUL).unwrap_or(0);
    let (loss, by_code) = (found.loss(at, 0), found.loss(at, 2));
    Ok(Finding {
        what: format!("{}: loss of accuracy at {MEANINGFUL} nats", found.name),
        paper: "meaningful guarantees with small losses of accuracy".into(),
        ours: format!(
            "{} ± {} points of {:.1} %",
            four(loss.value),
            four(loss.error),
            100.0 * Mean::from_values(&found.clean).value
        ),
        value: Some(loss.value),
        decision: rules::SMALL_LOSS.on(loss.value),
        why: format!(
            "at this bound, a guess of membership has an accuracy of at most {:.1} %; with the noise of the \
             published code, the loss is {} ± {} points",
            100.0 * bound(MEANINGFUL)?,
            four(by_code.value),
            four(by_code.error)
        ),
    })
}

/// Share of test records that a logistic regression of all training records under differential privacy
/// classifies correctly, for each trial. The regression's μ is [`mu_of_the_same`] at `nats`.
fn by_dp(options: &RunOptions, name: &str, trials: usize, nats: f64) -> Result<Vec<f64>> {
    /// δ of the budget. Its choice is free: a μ determines ε at any δ, and ε and δ determine this μ.
    const DELTA: f64 = 1e-4;
    let epsilon = gaussian::epsilon(mu_of_the_same(nats)?, DELTA)?;
    let run_trial = |trial: usize| -> Result<f64> {
        let irises = Irises::load(options, options.randomness(name, &[trial as u64]))?;
        let brief = Brief {
            people: Some(irises.table.len()),
            ..Brief::new(irises.domain.clone(), Budget::new(epsilon, DELTA)?)
        };
        let design = options.registry.get("private-logistic")?.design(&json!({}), &brief)?;
        let mut right = 0.0;
        for draw in 0..5 {
            let mut randomness = options.randomness(name, &[trial as u64, nats.to_bits(), draw]);
            let release = design.mechanism().release(&irises.table, &mut randomness)?;
            let predicted = release.key.model().map(|model| model.predict(&irises.held_out)).transpose()?;
            if let Some(Target::Class(predicted)) = predicted {
                right += irises.share_right(predicted.into_iter()) / 5.0;
            }
        }
        Ok(right)
    };
    (0..trials).into_par_iter().map(run_trial).collect()
}

/// Measured accuracies of the statistics and of our model.
struct Study {
    statistics: Vec<Found>,
    /// Accuracies [`by_dp`] at each of [`NATS`].
    ours: Vec<Vec<f64>>,
}

impl Study {
    /// Judges the paper's claims. `claim` is the one on the first statistic, and `sets` is the number of
    /// halves.
    fn findings(&self, claim: &str, sets: usize) -> Result<Vec<Finding>> {
        let stable = &self.statistics[0];
        let printed: Vec<&Found> = self.statistics.iter().filter(|found| found.printed.is_some()).collect();
        let noises = printed.iter().filter_map(|found| Some(printed_noise_finding(found, found.printed?)));
        let mut findings: Vec<Finding> = noises.collect();
        findings.extend(leakage_findings(&printed, sets)?);
        findings.extend(self.statistics.get(1).map(|other| stability_finding(stable, other, claim)));
        findings.extend(printed.iter().map(|found| equal_noise_finding(found)));
        findings.push(loss_finding(stable)?);
        findings.push(self.gain_by_dp_finding());
        Ok(findings)
    }

    fn gain_by_dp_finding(&self) -> Finding {
        let stable = &self.statistics[0];
        gain_finding(
            &rules::GAINS,
            "private-logistic (ours) on all records instead: gain in accuracy".into(),
            &format!("{}, at the same bound on guesses of membership", stable.name),
            ("points", BY_NATS),
            &gains(|at| (self.ours[at].clone(), stable.right[at][0].clone())),
        )
    }

    fn grid(&self) -> Result<Grid> {
        let header = ["nats".to_owned(), "membership, at most".into()]
            .into_iter()
            .chain(self.statistics.iter().flat_map(Found::names))
            .chain(["private-logistic (ours)".into()]);
        let rows = (0..NATS.len()).map(|at| self.row(at)).collect::<Result<Vec<_>>>()?;
        Ok(Grid::new("accuracy on 50 test records, %, ± a standard error over splits", header, rows))
    }

    fn row(&self, at: usize) -> Result<Vec<String>> {
        let shown = |values: &Vec<f64>| {
            let Mean { value, error } = Mean::from_values(values);
            format!("{:.1} ± {:.1}", 100.0 * value, 100.0 * error)
        };
        let first = [NATS[at].to_string(), format!("{:.1} %", 100.0 * bound(NATS[at])?)];
        let shares = self.statistics.iter().flat_map(|found| &found.right[at]).chain([&self.ours[at]]);
        Ok(first.into_iter().chain(shares.map(shown)).collect())
    }

    fn picture(&self, title: &str) -> Picture {
        let stable = &self.statistics[0];
        let statistics = self.statistics.iter().enumerate();
        let mut layers: Vec<Layer> = statistics.flat_map(|(place, found)| found.curves(3 * place)).collect();
        layers.push(accuracy_curve("private-logistic (ours)", layers.len(), self.ours.iter()));
        layers.push(Layer {
            name: format!("{}, without noise", stable.name),
            look: layers.len(),
            marks: Marks::Level(100.0 * Mean::from_values(&stable.clean).value),
        });
        Picture {
            title: title.into(),
            panels: vec![Panel {
                title: "irises".into(),
                across: Scale::logarithmic("mutual information, nats"),
                up: Scale::linear("accuracy, %"),
                layers,
            }],
        }
    }
}

/// Report on `statistics`. If there are two, the paper claims that the first one varies less over the halves
/// than the second, and needs less noise.
pub(super) fn evidence(
    options: &RunOptions,
    name: &str,
    statistics: Vec<Found>,
    (claim, title, notes): (&str, &str, Vec<String>),
) -> Result<Evidence> {
    let trials = statistics[0].clean.len();
    let ours = NATS.iter().map(|nats| by_dp(options, name, trials, *nats)).collect::<Result<_>>()?;
    let study = Study { statistics, ours };
    Ok(Evidence {
        trials,
        findings: study.findings(claim, Sizes::from_options(options).sets)?,
        grids: vec![study.grid()?],
        notes,
        picture: study.picture(title),
    })
}

/// Notes common to the results on cluster centres and on support vector machines.
pub(super) fn note(options: &RunOptions, values: &str) -> Vec<String> {
    vec![
        format!(
            "This run follows the paper's abstract and the published code. The code holds noise that it had \
             computed for irises: {values}. Irises are split at random into 100 records, from which halves \
             are taken, and 50 test records (the code drops one). Numbers are scaled by the minimum and the \
             maximum of all 150, as in the code; these are not public bounds. The prior is uniform on {} \
             halves in pairs; the code draws subsets anew until variances change by less than 10⁻⁶.",
            Sizes::from_options(options).sets
        ),
        "The μ of private-logistic gives the same bound on a guess between two neighbouring tables, Φ(μ/2) \
         (Dong, Roth and Su 2022). For a bound of s, μ is 2Φ⁻¹(s), and 8 if nothing bounds the guess. It \
         learns from all 100 records, whose numbers have public bounds."
            .into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A guess with a prior of one half is correct with a probability of at most ½ + δ(0)/2.
    #[test]
    fn gaussian_noise_bounds_a_guess_of_membership_as_nats_do() {
        for nats in NATS.into_iter().filter(|nats| *nats < 0.69) {
            let most = 0.5 + gaussian::delta(mu_of_the_same(nats).unwrap(), 0.0) / 2.0;
            assert!((most - bound(nats).unwrap()).abs() < 1e-9, "{nats}: {most}");
        }
        // From ln 2 nats upwards the bound is vacuous.
        assert_eq!((bound(1.0).unwrap(), mu_of_the_same(1.0).unwrap()), (1.0, 8.0));
    }
}

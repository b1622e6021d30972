//! Comparison of Gaussian noise and Laplace noise with the same Cramér–Rao bound, at several values of the
//! noise parameter λ. The Gaussian noise has variance 1/√λ.

use super::data::Data;
use super::{design, least_error};
use crate::report::four;
use crate::rules;
use crate::trials::Mean;
use crate::{CurvePoint, Finding, Grid, Layer, Marks, Panel, Result, RunOptions, Scale};
use scumble_core::{Designed, Table};

use rayon::prelude::*;
use serde_json::{Value, json};

/// Plugin that adds noise, and its parameters as a function of the noise parameter λ.
struct Noise {
    plugin: &'static str,
    parameters: fn(f64) -> Value,
}

/// The noise of Theorem 2.4 of Farokhi, and Laplace noise with the same Fisher information √λ about each
/// feature (errata F9).
const NOISES: [Noise; 2] = [
    Noise { plugin: "fisher-gaussian", parameters: |lambda| json!({ "lambda": lambda }) },
    Noise {
        plugin: "laplace",
        parameters: |lambda| json!({ "information": lambda.sqrt(), "protect": "features" }),
    },
];

/// Scores of models learned from releases with each noise of [`NOISES`], at one value of the noise parameter
/// λ.
pub(super) struct AtLambda {
    pub lambda: f64,
    /// Lower bound on the expected squared error E‖x − x̂‖² of an adversary's guess x̂ of a record x, from
    /// the guarantee of each noise.
    pub bounds: [f64; 2],
    /// Scores of the trials: for Gaussian noise, then for Laplace noise.
    pub scores: [Vec<f64>; 2],
}

/// Direction in which scores are better.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Better {
    More,
    Less,
}

/// Presentation of a score.
pub(super) struct Measure {
    /// Name in words.
    pub name: &'static str,
    /// Factor from a score to the unit of `name`: 100 for shares in per cent.
    pub scale: f64,
    pub better: Better,
    /// Score of the model learned without noise.
    pub clean: f64,
}

/// Releases `data` with each noise of [`NOISES`] at every noise parameter λ of `lambdas`, and scores each
/// release with `score`. `options` gives the number of trials.
pub(super) fn sweep(
    options: &RunOptions,
    name: &str,
    data: &Data,
    lambdas: &[f64],
    score: impl Fn(&Table) -> Result<f64> + Sync,
) -> Result<Vec<AtLambda>> {
    let trials = options.trials();
    let mut sweep = vec![];
    let mut mechanisms: Vec<Designed> = vec![];
    for &lambda in lambdas {
        let mut bounds = [0.0; 2];
        for (Noise { plugin, parameters }, bound) in NOISES.iter().zip(&mut bounds) {
            let mechanism = design(options, plugin, &parameters(lambda), &data.domain)?;
            *bound = least_error(plugin, &mechanism.guarantee())?;
            mechanisms.push(mechanism);
        }
        sweep.push(AtLambda { lambda, bounds, scores: Default::default() });
    }
    let jobs: Vec<(usize, usize)> =
        (0..mechanisms.len()).flat_map(|at| (0..trials).map(move |trial| (at, trial))).collect();
    (options.on_start)(jobs.len() as u64);
    let scores: Vec<f64> = jobs
        .par_iter()
        .map(|&(at, trial)| {
            let mut randomness = options.randomness(name, &[at as u64, trial as u64]);
            let score = score(&mechanisms[at].release(&data.table, &mut randomness)?.table);
            (options.on_step)();
            score
        })
        .collect::<Result<_>>()?;
    for (at, scores) in scores.chunks(trials).enumerate() {
        sweep[at / 2].scores[at % 2] = scores.to_vec();
    }
    Ok(sweep)
}

impl AtLambda {
    fn means(&self) -> [Mean; 2] {
        [Mean::from_values(&self.scores[0]), Mean::from_values(&self.scores[1])]
    }

    /// Gain of Gaussian noise over Laplace noise, paired by trial.
    fn gain(&self, better: Better) -> Mean {
        let [gaussian, laplace] = &self.scores;
        match better {
            Better::More => Mean::from_differences(gaussian, laplace),
            Better::Less => Mean::from_differences(laplace, gaussian),
        }
    }
}

/// Findings on the three claims of a figure that compares Gaussian and Laplace noise.
pub(super) fn findings(sweep: &[AtLambda], measure: &Measure) -> Vec<Finding> {
    vec![equal_bounds(sweep), gaussian_is_better(sweep, measure), nears_the_clean_one(sweep, measure)]
}

fn equal_bounds(sweep: &[AtLambda]) -> Finding {
    let off = sweep.iter().map(|at| (at.bounds[1] / at.bounds[0] - 1.0).abs()).fold(0.0, f64::max);
    Finding {
        what: "both noises give the same bound on the adversary's error".into(),
        paper: "the same privacy guarantee".into(),
        ours: format!("equal up to a relative difference of {off:.0e} at every λ"),
        value: Some(off),
        decision: rules::SAME_NUMBER.on(off),
        why: String::new(),
    }
}

fn gaussian_is_better(sweep: &[AtLambda], measure: &Measure) -> Finding {
    let gains: Vec<(f64, f64)> =
        sweep.iter().map(|at| (at.lambda, at.gain(measure.better).in_errors())).collect();
    let better = gains.iter().filter(|(_, gain)| *gain > 3.0).count();
    let worse: Vec<String> =
        gains.iter().filter(|(_, gain)| *gain < -3.0).map(|(lambda, _)| format!("{lambda:e}")).collect();
    let (lambda, least) =
        gains.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((f64::NAN, f64::NAN));
    let all = gains.len();
    Finding {
        what: format!("{}: Gaussian noise against Laplace noise", measure.name),
        paper: "Gaussian always better".into(),
        ours: format!(
            "better by over three standard errors at {better} of {all} λ, worse by over three at {}; the \
             least gain is {least:+.1} standard errors, at λ = {lambda:e}",
            worse.len()
        ),
        value: Some(least),
        decision: rules::ALWAYS_BETTER.on_condition(worse.is_empty() && better > 0),
        why: match worse.is_empty() {
            true if better < all => "the others are within three standard errors".into(),
            true => String::new(),
            false => format!("worse at λ = {}", worse.join(", ")),
        },
    }
}

/// Finding that the score approaches the score without noise.
fn nears_the_clean_one(sweep: &[AtLambda], measure: &Measure) -> Finding {
    let Measure { name, scale, clean, .. } = *measure;
    let mean = |at: &AtLambda| at.means()[0];
    let ends = sweep.first().map(mean).zip(sweep.last().map(mean));
    let (first, last) = ends.unwrap_or((Mean::from_values(&[]), Mean::from_values(&[])));
    let (off, way) = ((last.value - clean).abs(), (first.value - clean).abs());
    let lambda = |at: Option<&AtLambda>| at.map_or(String::new(), |at| format!("{:e}", at.lambda));
    Finding {
        what: format!("{name} approaches the value without noise as λ grows"),
        paper: "it does".into(),
        ours: format!(
            "{} at λ = {}, {} at λ = {}, and {} without noise",
            four(scale * first.value),
            lambda(sweep.first()),
            four(scale * last.value),
            lambda(sweep.last()),
            four(scale * clean)
        ),
        value: Some(scale * last.value),
        decision: rules::NEARS_CLEAN.on(off / (3.0 * last.error).max(0.01 * way)),
        why: String::new(),
    }
}

/// Grid of the scores at every noise parameter λ.
pub(super) fn grid(sweep: &[AtLambda], measure: &Measure) -> Grid {
    let Measure { scale, better, .. } = *measure;
    let shown = |mean: Mean| format!("{} ± {}", four(scale * mean.value), four(scale * mean.error));
    let rows = sweep.iter().map(|at| {
        let [gaussian, laplace] = at.means();
        let gain = at.gain(better);
        vec![
            format!("{:e}", at.lambda),
            four(at.bounds[0]),
            shown(gaussian),
            shown(laplace),
            shown(gain),
            format!("{:+.1}", gain.in_errors()),
        ]
    });
    let header = ["λ", "E‖x − x̂‖² ≥", "Gaussian", "Laplace", "Gaussian better by", "in standard errors"];
    Grid::new(format!("{}, ± a standard error", measure.name), header, rows)
}

/// Panel of the scores with each noise, and of the score without noise, against the noise parameter λ.
pub(super) fn panel(sweep: &[AtLambda], measure: &Measure, title: &str) -> Panel {
    let curve = |noise: usize| {
        let points = sweep.iter().map(|at| {
            let mean = at.means()[noise];
            CurvePoint { x: at.lambda, y: measure.scale * mean.value, error: measure.scale * mean.error }
        });
        Marks::Curve(points.collect())
    };
    Panel {
        title: title.into(),
        across: Scale::logarithmic("λ (larger means less noise)"),
        up: Scale::linear(measure.name),
        layers: vec![
            Layer {
                name: "without noise".into(),
                look: 0,
                marks: Marks::Level(measure.scale * measure.clean),
            },
            Layer { name: "Laplace noise of the same bound".into(), look: 4, marks: curve(1) },
            Layer { name: "Gaussian noise".into(), look: 1, marks: curve(0) },
        ],
    }
}

/// Panel of the lower bound on an adversary's squared error against the noise parameter λ.
pub(super) fn panel_of_bounds(sweep: &[AtLambda]) -> Panel {
    let points = sweep.iter().map(|at| CurvePoint { x: at.lambda, y: at.bounds[0], error: 0.0 });
    Panel {
        title: "Lower bound on an adversary's squared error".into(),
        across: Scale::logarithmic("λ (larger means less noise)"),
        up: Scale::logarithmic("min E‖x − x̂‖², in squared units of the records"),
        layers: vec![Layer { name: "both noises".into(), look: 1, marks: Marks::Curve(points.collect()) }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Agreement;

    fn at(lambda: f64, gaussian: [f64; 3], laplace: [f64; 3]) -> AtLambda {
        AtLambda { lambda, bounds: [4.0, 4.0], scores: [gaussian.to_vec(), laplace.to_vec()] }
    }

    fn measure(better: Better) -> Measure {
        Measure { name: "success", scale: 100.0, better, clean: 0.9 }
    }

    #[test]
    fn a_noise_that_is_worse_by_over_three_errors_is_told() {
        let tie = at(1e-4, [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]);
        let ahead = at(1.0, [0.90, 0.91, 0.89], [0.80, 0.82, 0.78]);
        let sweep = [tie, ahead];
        assert_eq!(
            gaussian_is_better(&sweep, &measure(Better::More)).decision.verdict,
            Agreement::Reproduced
        );
        let finding = gaussian_is_better(&sweep, &measure(Better::Less));
        assert_eq!((finding.decision.verdict, &*finding.why), (Agreement::Differs, "worse at λ = 1e0"));
        assert_eq!(
            gaussian_is_better(&sweep[..1], &measure(Better::More)).decision.verdict,
            Agreement::Differs
        );
    }

    #[test]
    fn a_score_far_from_the_clean_one_does_not_near_it() {
        let low = || at(1e-4, [0.5, 0.51, 0.49], [0.5; 3]);
        let verdict = |high: f64| {
            let sweep = [low(), at(1.0, [high; 3], [0.5; 3])];
            nears_the_clean_one(&sweep, &measure(Better::More)).decision.verdict
        };
        assert_eq!((verdict(0.8999), verdict(0.89)), (Agreement::Reproduced, Agreement::Differs));
        assert_eq!(
            equal_bounds(&[AtLambda { bounds: [4.0, 4.1], ..low() }]).decision.verdict,
            Agreement::Differs
        );
    }
}

//! Propositions 2.3 and 2.11 of Farokhi: movement of a learned model under noise on its data.
//!
//! Let q be the number of records, and V the covariance of the noise on a record. A model learned from noisy
//! records stays within a distance ε of the model learned from the original records. The probability is at
//! least 1 − q·c²·Tr(V)/ε² for support vector machines, and at least 1 − q²·c²·Tr(V)/ε² for other models. So
//! the model moves by at most the order of √(q·Tr V) or q·√(Tr V). The constants c are unknown, so only the
//! growth of the movement can be measured. The growth is measured where noise is small, as the propositions
//! require. The noise of each value is Gaussian with variance 1/√λ.

use super::data::{self, Data, Labelled};
use super::fitness::regression;
use super::success::TOLERANCE;
use super::{design, machine};
use crate::report::{Evidence, four};
use crate::rules;
use crate::trials::{Mean, median};
use crate::{CurvePoint, Finding, Grid, Layer, Marks, Panel, Picture, Result, RunOptions, Scale};
use scumble_core::{Table, number::short};
use scumble_kkt::Machine;

use ndarray::Array2;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde_json::json;

/// A model to train on records, and the numbers q of records and the noise parameters λ at which to measure
/// its movement.
struct Study<'a> {
    /// Name of the parameters that move.
    what: &'a str,
    data: &'a Data,
    /// Learns the parameters from a table with these signs.
    learn: fn(&Table, &[f64]) -> Result<Vec<f64>>,
    /// Number of the random draws. Studies with one number reuse each other's noise.
    place: u64,
    proposition: &'a str,
    /// Power of q in the bound on the movement. The bound grows as q to this power times √(Tr V), with V the
    /// covariance of the noise on a record.
    power_of_q: f64,
    /// Numbers of records q, in ascending order.
    sizes: &'a [usize],
    lambdas: &'a [f64],
    /// Least noise parameter λ at which noise counts as small.
    small: f64,
}

/// Movement of the model learned from q records, under the noise of one λ.
struct Movement {
    records: usize,
    lambda: f64,
    /// Trace of the covariance V of the noise on a record, in squared units of the records.
    trace: f64,
    /// ‖φ̄ − φ‖₂ of each trial, between the parameters φ̄ learned from noisy records and φ learned from the
    /// original ones.
    distances: Vec<f64>,
}

pub(super) fn run(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let tumours = data::tumours(options)?.data;
    let loans = data::loans(options)?;
    let studies = studies(options.quick, &tumours, &loans);
    let steps: usize = studies.iter().map(|study| study.sizes.len() * study.lambdas.len()).sum();
    (options.on_start)((steps * options.trials()) as u64);
    let moved: Vec<Vec<Movement>> =
        studies.iter().map(|study| study.run(options, name)).collect::<Result<_>>()?;
    let measured = || studies.iter().zip(&moved);
    let mut notes = vec![about_fits(&tumours, &loans)];
    notes.extend(measured().map(|(study, moved)| study.by_records(moved)));
    notes.extend(measured().filter_map(|(study, moved)| study.through_more_noise(moved)));
    Ok(Evidence {
        trials: options.trials(),
        findings: measured().map(|(study, moved)| study.finding(moved)).collect(),
        grids: measured().map(|(study, moved)| study.grid(moved)).collect(),
        notes,
        picture: Picture {
            title: "Movement of learned models (Propositions 2.3 and 2.11)".into(),
            panels: measured().map(|(study, moved)| study.panel(moved)).collect(),
        },
    })
}

fn studies<'a>(quick: bool, tumours: &'a Data, loans: &'a Data) -> [Study<'a>; 3] {
    let machine_study = Study {
        what: "(α, β) of a machine on WDBC",
        data: tumours,
        learn: |table, signs| Ok(parameters(&learned(table, signs)?, table.records(), &[])),
        place: 0,
        proposition: "Proposition 2.3: no faster than √(q·Tr V)",
        power_of_q: 0.5,
        sizes: if quick { &[142, 284, 569] } else { &[71, 142, 284, 569] },
        lambdas: if quick { &[1e8, 1e12] } else { &[1e2, 1e4, 1e6, 1e8, 1e10] },
        small: 1e6,
    };
    // This study reuses the noise of the first study. It trains each machine again, which is cheap.
    let with_slacks = Study {
        what: "(α, β, ξ) of the same machine",
        learn: |table, signs| Ok(parameters(&learned(table, signs)?, table.records(), signs)),
        ..machine_study
    };
    let regression_study = Study {
        what: "φ of a ridge regression on Lending Club",
        data: loans,
        learn: |table, _| Ok(regression(table)?.to_vec()),
        place: 1,
        proposition: "Proposition 2.11: no faster than q·√(Tr V)",
        power_of_q: 1.0,
        sizes: if quick { &[500, 1_000, 2_000] } else { &[1_250, 5_000, 20_000, 42_535] },
        lambdas: if quick { &[1e16, 1e20] } else { &[1e10, 1e13, 1e16, 1e18, 1e20] },
        small: 1e16,
    };
    [machine_study, with_slacks, regression_study]
}

fn learned(table: &Table, signs: &[f64]) -> Result<Machine> {
    machine(table.records(), signs, TOLERANCE)
}

/// Note on how the exponents are fitted, and to which records.
fn about_fits(tumours: &Data, loans: &Data) -> String {
    format!(
        "Exponents are least-squares fits of ln ‖φ̄ − φ‖₂ to ln q and ln Tr V at small noise, ± a standard \
         error over trials. The first q records are those of one shuffle: of {} tumours, as measured, and of \
         {} loans, scaled to [0, 1]. The last column is a lower bound on c: the median over √2 times the \
         bound's growth. The propositions state that a data set has a constant c. More records are another \
         data set, so growth with q tests neither proposition.",
        tumours.table.len(),
        loans.table.len()
    )
}

/// Parameters of equation (7) of Farokhi: the weights α, the bias β and, if `signs` is not empty, the least
/// slack ξ of each record.
fn parameters(machine: &Machine, records: &Array2<f64>, signs: &[f64]) -> Vec<f64> {
    let weights = ndarray::ArrayView1::from(&machine.weights);
    let scores = records.dot(&weights) + machine.bias;
    let slacks = scores.iter().zip(signs).map(|(score, sign)| (1.0 - sign * score).max(0.0));
    machine.weights.iter().copied().chain([machine.bias]).chain(slacks).collect()
}

fn distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

impl Study<'_> {
    /// Measures the movement at every number q of records and every noise parameter λ, on the first q records
    /// of one shuffle.
    fn run(&self, options: &RunOptions, name: &str) -> Result<Vec<Movement>> {
        let Data { table, domain } = self.data;
        let mut rows: Vec<usize> = (0..table.len()).collect();
        rows.shuffle(&mut options.randomness(name, &[self.place]).streams().stream(0));
        let mut moved = vec![];
        for &records in self.sizes {
            // The released records keep the signs of the original records.
            let some = Labelled::new(self.data.select(&rows[..records.min(rows.len())])?);
            let before = (self.learn)(&some.data.table, &some.signs)?;
            for &lambda in self.lambdas {
                let mechanism = design(options, "fisher-gaussian", &json!({ "lambda": lambda }), domain)?;
                let trials = (0..options.trials() as u64).into_par_iter().map(|trial| -> Result<f64> {
                    let draw = [self.place, records as u64, lambda.to_bits(), trial];
                    let released =
                        mechanism.release(&some.data.table, &mut options.randomness(name, &draw))?;
                    let after = (self.learn)(&released.table, &some.signs);
                    (options.on_step)();
                    Ok(distance(&before, &after?))
                });
                moved.push(Movement {
                    records,
                    lambda,
                    trace: table.columns().len() as f64 / lambda.sqrt(),
                    distances: trials.collect::<Result<_>>()?,
                });
            }
        }
        Ok(moved)
    }

    /// Bound on the movement for the number q of records and the noise covariance V of `movement`, without
    /// the constant c.
    fn growth(&self, movement: &Movement) -> f64 {
        (movement.records as f64).powf(self.power_of_q) * movement.trace.sqrt()
    }

    /// Fitted powers of the number q of records and of the noise trace Tr V in the movement, where noise is
    /// small.
    fn exponents(&self, moved: &[Movement]) -> [Mean; 2] {
        exponents(&moved.iter().filter(|at| at.lambda >= self.small).collect::<Vec<_>>())
    }

    fn finding(&self, moved: &[Movement]) -> Finding {
        let [_, found] = self.exponents(moved);
        Finding {
            what: format!("movement of {} by Tr V", self.what),
            paper: self.proposition.into(),
            ours: format!(
                "power {:.2} ± {:.2} of Tr V; the bound grows with power {}",
                found.value,
                found.error,
                rules::OF_NOISE
            ),
            value: Some(found.value),
            decision: rules::MOVES_NO_FASTER.on(found.value - 3.0 * found.error),
            why: match found.value - rules::OF_NOISE {
                off if off + 3.0 * found.error < -rules::SLACK => "slower than the bound".into(),
                off if off - 3.0 * found.error <= rules::SLACK => "as fast as the bound".into(),
                _ => "faster than the bound: the noise is not small".into(),
            },
        }
    }

    /// Note on the growth of the movement with the number q of records. A larger number of records is another
    /// data set, whose bound may have another constant c.
    fn by_records(&self, moved: &[Movement]) -> String {
        let [found, _] = self.exponents(moved);
        format!(
            "The movement of {} grows with power {:.2} ± {:.2} of the number of records q; the bound grows \
             with power {}.",
            self.what, found.value, found.error, self.power_of_q
        )
    }

    /// Note on noise that is not small, which the propositions do not cover.
    fn through_more_noise(&self, moved: &[Movement]) -> Option<String> {
        let noisier: Vec<&Movement> = moved.iter().filter(|at| at.lambda < self.small).collect();
        let [_, noise_power] = exponents(&noisier);
        let (what, small) = (self.what, self.small);
        (noisier.len() > self.sizes.len()).then(|| {
            format!(
                "Under more noise, with λ below {small:e}, the movement of {what} grows with power {:.2} of \
                 Tr V.",
                noise_power.value
            )
        })
    }

    fn grid(&self, moved: &[Movement]) -> Grid {
        let rows = moved.iter().map(|at| {
            let (middle, mean) = (median(&at.distances), Mean::from_values(&at.distances));
            vec![
                at.records.to_string(),
                format!("{:e}", at.lambda),
                four(at.trace),
                four(middle),
                format!("{} ± {}", four(mean.value), four(mean.error)),
                four(middle / (2f64.sqrt() * self.growth(at))),
            ]
        });
        let header = ["q", "λ", "Tr V", "median ‖φ̄ − φ‖₂", "mean ± standard error", "c ≥"];
        Grid::new(format!("Movement of {}", self.what), header, rows)
    }

    /// Panel with one curve for each number q of records.
    fn panel(&self, moved: &[Movement]) -> Panel {
        let curve = |records: usize| {
            let own = moved.iter().filter(|at| at.records == records);
            let points = own.map(|at| CurvePoint { x: at.trace, y: median(&at.distances), error: 0.0 });
            let mut points: Vec<CurvePoint> = points.collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            Marks::Curve(points)
        };
        let layers = (0..).zip(self.sizes);
        let layers = layers.map(|(look, &records)| Layer {
            name: format!("q = {}", short(records as f64)),
            look,
            marks: curve(records),
        });
        Panel {
            title: format!("Movement of {}", self.what),
            across: Scale::logarithmic("Tr V, in squared units of the records"),
            up: Scale::logarithmic("median ‖φ̄ − φ‖₂"),
            layers: layers.collect(),
        }
    }
}

/// Means over trials of a and b in the least-squares fit ln ‖φ̄ − φ‖₂ = a·ln q + b·ln Tr V + c. Here ‖φ̄ −
/// φ‖₂ is the movement, q the number of records, and V the covariance of the noise on a record. The
/// measurements include every pair of q and Tr V, so each coefficient can be fitted separately.
fn exponents(moved: &[&Movement]) -> [Mean; 2] {
    let centred = |quantity: &dyn Fn(&Movement) -> f64| {
        let values: Vec<f64> = moved.iter().map(|at| quantity(at).ln()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.into_iter().map(|value| value - mean).collect::<Vec<f64>>()
    };
    let along = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let log_distances: Vec<Vec<f64>> = (0..moved.first().map_or(0, |at| at.distances.len()))
        .map(|trial| centred(&|at| at.distances[trial]))
        .collect();
    [centred(&|at| at.records as f64), centred(&|at| at.trace)].map(|by| {
        let fits = log_distances.iter().map(|distances| along(&by, distances) / along(&by, &by));
        Mean::from_values(&fits.collect::<Vec<_>>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_found_again() {
        let sizes = [10usize, 100, 1000];
        let moved: Vec<Movement> = sizes
            .iter()
            .flat_map(|&records| {
                [1e-4, 1e-2, 1.0].map(|trace: f64| {
                    let middle = 3.0 * (records as f64).powf(-0.25) * trace.powf(0.5);
                    Movement {
                        records,
                        lambda: 1.0,
                        trace,
                        distances: vec![middle / 2.0, middle, 5.0 * middle],
                    }
                })
            })
            .collect();
        let [record_power, noise_power] = exponents(&moved.iter().collect::<Vec<_>>());
        assert!((record_power.value + 0.25).abs() < 1e-12 && (noise_power.value - 0.5).abs() < 1e-12);
        assert!(record_power.error < 1e-12 && noise_power.error < 1e-12, "all trials agree");
    }

    #[test]
    fn slacks_are_a_part_of_what_moves() {
        let machine = Machine {
            weights: vec![2.0],
            bias: -1.0,
            multipliers: vec![],
            objective: 0.0,
            duality_gap: 0.0,
            iterations: 0,
        };
        let learned = parameters(&machine, &ndarray::array![[1.5], [0.5]], &[1.0, -1.0]);
        assert_eq!(learned, [2.0, -1.0, 0.0, 1.0]);
        assert_eq!(distance(&learned, &[2.0, -1.0, 3.0, 5.0]), 5.0);
    }
}

//! Section 3.2.1 of Farokhi: correlated noise on breast tumours that leaves the machine unchanged.

use super::data::{self, Labelled};
use super::{RHO, THETA, design, least_error_of_correlated, sharp_machine};
use crate::report::{Evidence, four};
use crate::rules;
use crate::{CurvePoint, Finding, Grid, Layer, Marks, Panel, Picture, Result, RunOptions, Scale};
use scumble_core::Table;
use scumble_kkt::Machine;

use serde_json::json;

/// Variance m of the noise in the paper's example.
const VARIANCE: f64 = 100.0;

/// Lower bound on the squared error that the paper prints, divided by the noise variance m.
const PRINTED: f64 = 28.4;

/// Machines learned from the tumours before and after a release with correlated noise.
struct Found {
    columns: Vec<String>,
    before: Machine,
    after: Machine,
    /// Root mean square over the records of the distance by which the release moves a record.
    moved: f64,
}

pub(super) fn run(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let found = Found::measure(options, name)?;
    Ok(Evidence {
        trials: 1,
        findings: vec![found.least_error(), found.same_machine()],
        grids: vec![found.coefficients()],
        notes: found.notes(),
        picture: found.picture(),
    })
}

/// Releases `labelled` with correlated noise of this `variance`, and learns a machine from the release.
pub(super) fn after_release(
    options: &RunOptions,
    name: &str,
    labelled: &Labelled,
    variance: f64,
) -> Result<(Table, Machine)> {
    let Labelled { data, signs } = labelled;
    let machine = json!({ "model": "support-vector-machine", "theta": THETA, "rho": RHO });
    let parameters = json!({ "keeps": [machine], "variance": variance });
    let mechanism = design(options, "fisher-correlated", &parameters, &data.domain)?;
    let released = mechanism.release(&data.table, &mut options.randomness(name, &[]))?.table;
    let learned = sharp_machine(released.records(), signs)?;
    Ok((released, learned))
}

impl Found {
    fn measure(options: &RunOptions, name: &str) -> Result<Self> {
        (options.on_start)(2);
        let tumours = data::tumours(options)?;
        let table = &tumours.data.table;
        let before = sharp_machine(table.records(), &tumours.signs)?;
        (options.on_step)();
        let (released, after) = after_release(options, name, &tumours, VARIANCE)?;
        (options.on_step)();
        let noise = released.records() - table.records();
        let moved = (noise.iter().map(|x| x * x).sum::<f64>() / noise.nrows() as f64).sqrt();
        Ok(Self { columns: table.columns().to_vec(), before, after, moved })
    }

    /// Lower bound on the squared error, divided by the noise variance m.
    fn bound(&self) -> f64 {
        least_error_of_correlated(1.0, self.columns.len(), &self.before.multipliers)
    }

    fn least_error(&self) -> Finding {
        let bound = self.bound();
        Finding {
            what: "min E‖x − x̂‖², per m".into(),
            paper: format!("≥ {PRINTED}"),
            ours: format!("≥ {bound:.4}"),
            value: Some(bound),
            decision: rules::IN_PRINTED_DIGITS.on(bound - PRINTED),
            why: String::new(),
        }
    }

    fn same_machine(&self) -> Finding {
        let (change, largest) =
            (largest_change(&self.before, &self.after), largest_coefficient(&self.before));
        Finding {
            what: format!(
                "the classifier at m = {VARIANCE}, where E‖x − x̂‖² ≥ {}",
                four(VARIANCE * self.bound())
            ),
            paper: "remains exactly the same".into(),
            ours: format!(
                "no coefficient (α and β) changes by more than {change:.1e}, which is {:.1e} of the largest, \
                 {}",
                change / largest,
                four(largest)
            ),
            value: Some(change / largest),
            decision: rules::SAME_MACHINE.on(change / largest),
            why: "columns reach 4,254, and floating-point numbers determine the machine no better than this \
                tolerance"
                .into(),
        }
    }

    fn coefficients(&self) -> Grid {
        let row = |name: &str, a: f64, b: f64| {
            vec![name.to_owned(), format!("{a:.8}"), format!("{b:.8}"), format!("{:.1e}", (a - b).abs())]
        };
        let weights = self.columns.iter().zip(self.before.weights.iter().zip(&self.after.weights));
        let mut rows: Vec<_> = weights.map(|(name, (a, b))| row(name, *a, *b)).collect();
        rows.push(row("β", self.before.bias, self.after.bias));
        let header = ["coefficient", "original data", "noisy data", "change"];
        Grid::new(format!("The machine before and after noise of m = {VARIANCE}"), header, rows)
    }

    fn notes(&self) -> Vec<String> {
        vec![
            format!(
                "Records are unscaled, malignant is +1, θ = 1 and ρ = 0.01. Of the 569 records, {} are \
                 support vectors. A record moves by {} on average (root mean square over its 30 numbers).",
                sorted_shares(&self.before).len(),
                four(self.moved)
            ),
            "The bound is for an adversary that knows no record. An adversary that knows all other records \
             can compute a support vector exactly."
                .into(),
        ]
    }

    fn picture(&self) -> Picture {
        let points = (1..).zip(sorted_shares(&self.before)).map(|(place, share)| CurvePoint {
            x: f64::from(place),
            y: (self.columns.len() as f64 - 1.0) * (1.0 - share),
            error: 0.0,
        });
        Picture {
            title: "Correlated noise on WDBC: the guarantee of each support vector".into(),
            panels: vec![Panel {
                title: "(p − 1)(1 − bᵢ²/bᵀb), the least squared error per m".into(),
                across: Scale::linear("support vectors, by their share of the machine"),
                up: Scale::linear("min E‖xᵢ − x̂ᵢ‖² / m"),
                layers: vec![
                    Layer { name: "the paper's 28.4".into(), look: 1, marks: Marks::Level(PRINTED) },
                    Layer { name: "ours".into(), look: 0, marks: Marks::Curve(points.collect()) },
                ],
            }],
        }
    }
}

/// Largest absolute change of a coefficient, including the bias β.
pub(super) fn largest_change(before: &Machine, after: &Machine) -> f64 {
    let weight_changes = before.weights.iter().zip(&after.weights).map(|(a, b)| (a - b).abs());
    weight_changes.fold((before.bias - after.bias).abs(), f64::max)
}

fn largest_coefficient(machine: &Machine) -> f64 {
    machine.weights.iter().fold(machine.bias.abs(), |most, weight| most.max(weight.abs()))
}

/// Shares bᵢ²/bᵀb of the support vectors, in descending order, with b the multipliers of `machine`.
fn sorted_shares(machine: &Machine) -> Vec<f64> {
    let squares = || machine.multipliers.iter().map(|omega| omega * omega);
    let total: f64 = squares().sum();
    let mut shares: Vec<f64> = squares().map(|square| square / total).filter(|share| *share > 1e-9).collect();
    shares.sort_by(|a, b| b.total_cmp(a));
    shares
}

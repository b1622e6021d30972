//! Figure 7 of Farokhi: loss, on the original loans, of a ridge regression that is trained on noisy loans.

use super::curated;
use super::data::{self, Data};
use super::sweep::{Better, Measure, findings, grid, panel, sweep};
use crate::report::Evidence;
use crate::{Picture, Result, RunOptions};
use scumble_core::{Table, Target};
use scumble_linear::RidgeParams;

use linfa::DatasetBase;
use linfa::prelude::{Fit, ParamGuard};
use ndarray::Array1;

/// σ of Section 3.2.3 of Farokhi, the weight of the ridge penalty.
const SIGMA: f64 = 1e-5;

/// Stride over the loans in the quick variant: it uses one of this many loans.
const QUICK_STRIDE: usize = 10;

pub(super) fn figure_7(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let exponents: Vec<i32> = if options.quick { vec![-6, -2, 2, 8] } else { (-6..=8).step_by(2).collect() };
    let lambdas: Vec<f64> = exponents.iter().map(|exponent| 10f64.powi(*exponent)).collect();
    let loans = data::loans(options)?;
    let rows: Vec<usize> =
        (0..loans.table.len()).step_by(if options.quick { QUICK_STRIDE } else { 1 }).collect();
    let loans = loans.select(&rows)?;
    let clean = loss(&regression(&loans.table)?, &loans);
    let learned =
        sweep(options, name, &loans, &lambdas, |released| Ok(loss(&regression(released)?, &loans)))?;
    let measure = Measure { name: "fitness ℓ (less is better)", scale: 1.0, better: Better::Less, clean };
    let ours = curated::curator_finding(options, name, &loans, &learned, &measure, |released| {
        Ok(loss(&regression(released)?, &loans))
    })?;
    let mut notes = vec![
        "ℓ = σ‖φ‖² + Σ(y − φᵀx)²/q of the original loans, as printed. y is in per cent a year, σ = 1e-5, and \
         there is no intercept.".to_owned(),
        "The data are 42,535 loans of 2007 to 2011 instead of the paper's 890,000. They have 22 columns, \
         including the grade, as in the paper. A category is the index of its level. All columns are scaled \
         to [0, 1] by public bounds. In their own units, noise that hides a grade does not hide an income. \
         The paper does not state its scaling."
            .to_owned(),
    ];
    if options.quick {
        notes.push(format!("The quick variant takes one loan in {QUICK_STRIDE}: {} of 42,535.", rows.len()));
    }
    Ok(Evidence {
        trials: options.trials(),
        findings: findings(&learned, &measure).into_iter().chain(ours).collect(),
        grids: vec![grid(&learned, &measure)],
        notes,
        picture: Picture {
            title: "Fitness on the original loans, by λ (Lending Club, Figure 7)".into(),
            panels: vec![panel(&learned, &measure, "Fitness of regressions trained on noisy records")],
        },
    })
}

/// Weights φ of the ridge regression, one for each column. They minimise ℓ, the mean squared residual plus
/// σ‖φ‖² with σ = [`SIGMA`]. [`RidgeParams`] minimises half of ℓ, with σ as its penalty.
pub(super) fn regression(table: &Table) -> Result<Array1<f64>> {
    let params = RidgeParams::default().l2_penalty(SIGMA).through_origin().check()?;
    let dataset = DatasetBase::new(table.records().clone(), rates(table));
    Ok(params.fit(&dataset)?.weights().clone())
}

fn rates(table: &Table) -> Array1<f64> {
    match table.target() {
        Target::Real(rates) => rates.clone(),
        _ => Array1::zeros(table.len()),
    }
}

/// Loss ℓ of the weights `phi` on the records of `data`: the mean squared residual plus σ‖φ‖² with σ =
/// [`SIGMA`].
fn loss(phi: &Array1<f64>, data: &Data) -> f64 {
    let residuals = data.table.records().dot(phi) - rates(&data.table);
    SIGMA * phi.dot(phi) + residuals.dot(&residuals) / residuals.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use scumble_core::{Domain, RecordDomain, TargetDomain};

    #[test]
    fn no_other_regression_fits_better() {
        let columns = vec!["a".to_owned(), "b".to_owned()];
        let records = array![[0.1, 0.9], [0.5, 0.4], [1.0, 0.0], [0.3, 0.3]];
        let table = Table::new(columns.clone(), records, Target::Real(array![6.0, 9.0, 14.0, 7.5])).unwrap();
        let target = TargetDomain::Real { lower: 5.0, upper: 25.0 };
        let domain = RecordDomain::new(columns, Domain::unit_box(2), target).unwrap();
        let data = Data { table, domain };
        let phi = regression(&data.table).unwrap();
        let least = loss(&phi, &data);
        for step in [array![1e-3, 0.0], array![-1e-3, 0.0], array![0.0, 1e-3], array![0.0, -1e-3]] {
            assert!(loss(&(&phi + &step), &data) > least);
        }
    }
}

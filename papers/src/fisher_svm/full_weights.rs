//! Theorem 2.6 of Farokhi with a full weight matrix Π: the objective of the best noise in a box, and of the
//! best independent noise.

use crate::report::Evidence;
use crate::rules;
use crate::{CurvePoint, Finding, Grid, Layer, Marks, Panel, Picture, Result, RunOptions, Scale};
use ndarray::{Array2, Axis, s};
use rayon::prelude::*;
use scumble_core::Error;
use scumble_datasets::source;
use scumble_linalg::solve;
use scumble_schrodinger::{BoxGroundState, Error as Unsolved, GroundState};

/// Data sets, whose correlation matrices are Π.
const SOURCES: [&str; 3] = ["wdbc", "wine", "diabetes"];

/// Numbers of columns, from the first column on.
const COLUMNS: [usize; 4] = [2, 3, 4, 5];

/// Values of λ, which weights the noise's second moments against its Fisher information. At the largest, the
/// noise is hardly bounded.
const LAMBDAS: [f64; 3] = [1.0, 100.0, 10_000.0];

/// Bounds of the noise of every column.
const BOUNDS: (f64, f64) = (-1.0, 1.0);

/// Relative error of an objective.
const TOLERANCE: f64 = 1e-3;

/// A ground state of some columns of a data set.
struct Found {
    of: &'static str,
    columns: usize,
    lambda: f64,
    /// Share of the objective of independent noise that the best noise saves, in percent. `None` if the best
    /// noise was not found.
    saved: Option<f64>,
}

/// Correlation matrix of the first `columns` columns of a data set.
fn correlations(options: &RunOptions, of: &str, columns: usize) -> Result<Array2<f64>> {
    let table = source(of)?.load(options.folder)?.table;
    let records = table.whole()?.records().slice(s![.., ..columns]).to_owned();
    let centred = &records - &records.mean_axis(Axis(0)).unwrap_or_default();
    let covariance = centred.t().dot(&centred);
    let scale = covariance.diag().mapv(f64::sqrt);
    Ok(Array2::from_shape_fn((columns, columns), |(i, j)| covariance[[i, j]] / scale[i] / scale[j]))
}

/// Share of the objective of independent noise that the best noise for `weights` saves, in percent. `None` if
/// the solver does not converge.
fn saved(weights: &Array2<f64>, lambda: f64) -> Result<Option<f64>> {
    let inverse = solve(weights, &Array2::eye(weights.nrows()))
        .ok_or_else(|| Error::shape("the correlation matrix is not positive definite"))?;
    let mut independent = 0.0;
    for entry in inverse.diag() {
        independent += GroundState::new(lambda, entry.recip(), BOUNDS.0, BOUNDS.1)?.mu();
    }
    match BoxGroundState::new(lambda, weights.view(), &vec![BOUNDS; weights.nrows()], TOLERANCE) {
        Ok(state) => Ok(Some(100.0 * (1.0 - state.mu() / independent))),
        Err(Unsolved::NotConverged { .. }) => Ok(None),
        Err(problem) => Err(problem.into()),
    }
}

pub(super) fn run(options: &RunOptions, _: &'static str) -> Result<Evidence> {
    let columns = if options.quick { &COLUMNS[..2] } else { &COLUMNS[..] };
    let cases = SOURCES.iter().flat_map(|of| columns.iter().map(move |columns| (*of, *columns)));
    let cases: Vec<_> = cases.flat_map(|(of, columns)| LAMBDAS.map(|lambda| (of, columns, lambda))).collect();
    (options.on_start)(cases.len() as u64);
    let found = cases.into_par_iter().map(|(of, columns, lambda)| {
        let saved = saved(&correlations(options, of, columns)?, lambda)?;
        (options.on_step)();
        Ok(Found { of, columns, lambda, saved })
    });
    let found = found.collect::<Result<Vec<Found>>>()?;
    Ok(Evidence {
        trials: 1,
        findings: SOURCES.iter().map(|of| finding(of, &found)).collect(),
        grids: vec![Grid::new(
            "Objective of independent noise that the best noise saves, in percent",
            ["data".to_owned(), "columns".to_owned()]
                .into_iter()
                .chain(LAMBDAS.map(|lambda| format!("λ = {lambda}"))),
            found.chunks(LAMBDAS.len()).map(|row| {
                let saved = row.iter().map(|found| found.saved);
                let saved = saved.map(|saved| saved.map_or("-".into(), |saved| format!("{saved:.1}")));
                [row[0].of.to_owned(), row[0].columns.to_string()].into_iter().chain(saved).collect()
            }),
        )],
        notes: vec![
            "Π is the correlation matrix of the first columns, and the noise of each column lies between −1 \
             and 1. Independent noise has the weights 1/(Π⁻¹)ᵢᵢ, as `fisher-bounded` uses them: no other \
             independent noise has a smaller objective."
                .into(),
            format!(
                "The best noise is expanded in up to a million products of one polynomial for each column. A \
                 dash means that its objective did not converge to {TOLERANCE} with these: the number of \
                 products is the number of polynomials to the power of the number of columns."
            ),
        ],
        picture: picture(&found),
    })
}

fn finding(of: &str, found: &[Found]) -> Finding {
    let own = || found.iter().filter(|found| found.of == of);
    let most = own().filter_map(|found| found.saved).fold(0.0, f64::max);
    let unsolved = own().filter(|found| found.saved.is_none()).map(|found| found.columns).min();
    Finding {
        what: format!("{of}: what the best noise for a full Π saves, against the best independent noise"),
        paper: "the best noise for any Π, as the solution of an equation; examples with one weight alone"
            .into(),
        ours: format!("at most {most:.1} % of the objective"),
        value: Some(most),
        decision: rules::FULL_NOISE_SAVES.on(most),
        why: unsolved.map_or(String::new(), |columns| {
            format!("from {columns} columns on, the equation was not solved at every λ")
        }),
    }
}

fn picture(found: &[Found]) -> Picture {
    let panel = |lambda: f64| {
        let layers = SOURCES.iter().enumerate().map(|(look, of)| {
            let own = found.iter().filter(|found| found.of == *of && found.lambda == lambda);
            let points = own.filter_map(|found| {
                found.saved.map(|y| CurvePoint { x: found.columns as f64, y, error: 0.0 })
            });
            Layer { name: (*of).into(), look, marks: Marks::Curve(points.collect()) }
        });
        Panel {
            title: format!("λ = {lambda}"),
            across: Scale::linear("columns"),
            up: Scale::linear("objective saved, %"),
            layers: layers.collect(),
        }
    };
    Picture {
        title: "The best noise for a full Π, against the best independent noise".into(),
        panels: LAMBDAS.map(panel).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unbounded noise is normal with covariance (Π⁻¹/λ)^{1/2}. Its objective is proportional to
    /// Tr(Π^{−1/2}), and that of independent noise to Σ √((Π⁻¹)ᵢᵢ).
    #[test]
    fn distant_bounds_save_what_normal_noise_saves() {
        let rho = 0.6_f64;
        let weights = ndarray::array![[1.0, rho], [rho, 1.0]];
        let full = (1.0 + rho).powf(-0.5) + (1.0 - rho).powf(-0.5);
        let independent = 2.0 * (1.0 / (1.0 - rho * rho)).sqrt();
        let expected = 100.0 * (1.0 - full / independent);
        let found = saved(&weights, 1e6).unwrap().unwrap();
        assert!((found - expected).abs() < 0.1, "{found} for {expected}");
        assert!(saved(&Array2::eye(2), 1.0).unwrap().unwrap().abs() < 0.1);
    }
}

//! The guarantee of noise on the features, and what a bound on unbiased reconstruction does not say.

use scumble_core::{CramerRao, Error, Factor, Guarantee, Notion, RecordDomain, Result};
use std::f64::consts::TAU;

/// The features of a point of the flat domain, d of its values.
///
/// # Errors
/// [`Error::Shape`] for a point of another width.
pub(crate) fn features_of<'p>(domain: &RecordDomain, point: &'p mut [f64]) -> Result<&'p mut [f64]> {
    let (found, width) = (point.len(), domain.flat().dim());
    match point.get_mut(..domain.features().dim()) {
        Some(features) if found == width => Ok(features),
        _ => Err(Error::shape(format!("a point has {found} values where the range has {width}"))),
    }
}

/// The guarantee of noise on the features alone: these claims with their theorems, but for bounds of nothing, and the label in the clear.
pub(crate) fn of_features(domain: &RecordDomain, mut notions: Vec<(Notion, String)>) -> Guarantee {
    notions.retain(|(notion, _)| !matches!(notion, Notion::CramerRao(bound) if bound.error() == 0.0));
    let without_bias: Vec<String> = notions
        .iter()
        .filter_map(|(notion, _)| match notion {
            Notion::CramerRao(bound) => Some(without_bias(domain, bound)),
            _ => None,
        })
        .collect();
    let mut guarantee = Guarantee::of_features(domain, notions);
    guarantee.assumes.extend(without_bias);
    guarantee
}

/// What a Cramér–Rao bound over the features of `domain` does not say: a guess with a bias may do better, and where the domain's centre is never so far
/// off, the bound says nothing (ERRATA.md, F13).
pub(crate) fn without_bias(domain: &RecordDomain, bound: &CramerRao) -> String {
    let farthest = domain.features().squared_radius();
    let vacuous = if bound.error() > farthest { ", less than is claimed: the bound is vacuous" } else { "" };
    let of_any = match of_any_guess(domain, bound) {
        0.0 => String::new(),
        error => format!(
            "; every guess, with a bias or without, misses some record of the domain by a squared error of {error:.4} or more on average (van Trees 1968)"
        ),
    };
    format!(
        "the guess has no bias; the centre of the domain, which has one, is never further off than a squared error of \
         {farthest:.4}{vacuous} (ERRATA.md, F13){of_any}"
    )
}

/// By how large a squared error every guess misses some record on average, whatever its bias: Σ 1/(Iᵢᵢ + (2π/wᵢ)²) over the numbers, each within a width of wᵢ.
///
/// No guess errs less at its worst record than on average over a prior, and of a prior on each number by itself the error is at least 1/(Iᵢᵢ + P), with P the prior's own Fisher
/// information (van Trees 1968; Gill and Levit 1995); the least that a prior on an interval has is (2π/w)², that of cos². What is claimed of lattice noise is an information
/// about neighbours on the lattice, for which the same holds but for a share of (step/w)², below the digits that are shown.
fn of_any_guess(domain: &RecordDomain, bound: &CramerRao) -> f64 {
    let widths = domain.features().factors().flat_map(|(at, factor)| match factor {
        Factor::Interval { lower, upper } => vec![upper - lower],
        _ => vec![0.0; at.len()],
    });
    let informations =
        domain.columns().iter().map(|name| bound.information.get(name).copied().unwrap_or(f64::INFINITY));
    widths.zip(informations).map(|(width, information)| 1.0 / (information + (TAU / width).powi(2))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::{Domain, TargetDomain};

    fn of_widths(widths: &[f64], information: f64) -> f64 {
        let intervals = widths.iter().map(|width| Domain::interval(0.0, *width).unwrap());
        let names: Vec<String> = (0..widths.len()).map(|at| at.to_string()).collect();
        let domain =
            RecordDomain::new(names.clone(), Domain::product(intervals).unwrap(), TargetDomain::None)
                .unwrap();
        let information = names.into_iter().map(|name| (name, information)).collect();
        of_any_guess(&domain, &CramerRao { information, joint: None })
    }

    #[test]
    fn a_bias_gains_nothing_where_the_domain_is_wide_and_all_where_it_is_narrow() {
        // The unbiased bound is 1/I = 4. Without any release a prior cos² on a width of one has a variance of 1/12 − 1/(2π²) = 0.0327; the bound is 0.0253.
        for (widths, information, wanted) in
            [(&[1e6][..], 0.25, 4.0), (&[1e6, 1e6], 0.25, 8.0), (&[1.0], 0.0, 1.0 / TAU.powi(2))]
        {
            let found = of_widths(widths, information);
            assert!(
                (found / wanted - 1.0).abs() < 1e-9,
                "{widths:?}, {information}: {found}, and not {wanted}"
            );
        }
        assert_eq!(of_widths(&[0.0], 0.25), 0.0);
        assert_eq!(of_widths(&[1.0], f64::INFINITY), 0.0);
    }

    /// The best of all guesses, the mean of what may have been, on average over the prior of least information: never below the bound, and near it.
    #[test]
    fn the_best_guess_of_a_prior_is_no_better() {
        for deviation in [0.05, 0.2, 1.0] {
            let density = |x: f64| (std::f64::consts::PI * (x - 0.5)).cos().powi(2);
            let grid: Vec<f64> = (0..400).map(|at| (f64::from(at) + 0.5) / 400.0).collect();
            let like = |y: f64, x: f64| (-0.5 * ((y - x) / deviation).powi(2)).exp();
            let (mut error, mut weight) = (0.0, 0.0);
            for at in 0..2000 {
                let y = -5.0 * deviation + f64::from(at) / 2000.0 * (1.0 + 10.0 * deviation);
                let [mut mass, mut first, mut second] = [0.0; 3];
                for x in &grid {
                    let both = density(*x) * like(y, *x);
                    mass += both;
                    first += both * x;
                    second += both * x * x;
                }
                error += second - first * first / mass.max(f64::MIN_POSITIVE);
                weight += mass;
            }
            let (reached, bound) = (error / weight, of_widths(&[1.0], 1.0 / (deviation * deviation)));
            assert!(reached > bound && reached < 1.5 * bound, "σ = {deviation}: {reached} beside {bound}");
        }
    }
}

//! Matrix Π, which weights the errors of a reconstructed record by column.

use ndarray::{Array1, Array2};
use schemars::JsonSchema;
use scumble_core::{Domain, Error, Factor, Result, nearest_name};
use scumble_linalg::Eigen;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Positive definite matrix Π of Farokhi, Proposition 2.2: the error e of a reconstructed record has the
/// weighted size ‖Π^{1/2}e‖².
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Weights {
    /// A diagonal Π: its entries, the weights ϑ > 0, for some encoded columns, by name. All other columns
    /// have the weight 1.
    Columns(BTreeMap<String, f64>),
    /// The whole matrix Π: d rows of d values, in the order of the encoded columns.
    Matrix(Vec<Vec<f64>>),
}

/// Checked weight matrix Π, in the form that the noise needs.
#[derive(Debug, Clone)]
pub(crate) enum Weighting {
    /// The diagonal ϑ of a diagonal Π (d values).
    Diagonal(Vec<f64>),
    /// Π with nonzero entries off its diagonal.
    Full(Box<Powers>),
}

/// Powers of the weight matrix Π (d × d each).
#[derive(Debug, Clone)]
pub(crate) struct Powers {
    pub(crate) half: Array2<f64>,
    pub(crate) minus_half: Array2<f64>,
    pub(crate) quarter: Array2<f64>,
    pub(crate) minus_quarter: Array2<f64>,
    /// The largest eigenvalue of Π^{1/4}.
    stretch: f64,
}

/// Value of a maximum: either exact, or an upper bound on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bound {
    pub(crate) value: f64,
    pub(crate) is_exact: bool,
}

/// Largest number of columns for which a maximum over a box is computed exactly, by enumerating all corners.
/// For more columns an upper bound is used.
const MOST_COLUMNS: usize = 20;

impl Weighting {
    /// Checks the `weights` of records with `columns`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a column is unknown, if a weight ϑ is not finite and above zero, or if a
    /// matrix is not d × d, symmetric and positive definite.
    pub(crate) fn new(plugin: &str, weights: Option<&Weights>, columns: &[String]) -> Result<Self> {
        let refuse = |problem: String| Err(Error::parameter(plugin, problem));
        match weights {
            None => Ok(Self::Diagonal(vec![1.0; columns.len()])),
            Some(Weights::Columns(given)) => {
                if let Some(name) = given.keys().find(|name| !columns.contains(name)) {
                    let nearest = nearest_name(name, columns.iter().map(String::as_str));
                    let nearest = nearest.map(|name| format!("; did you mean {name:?}?")).unwrap_or_default();
                    return refuse(format!("weights: there is no encoded column {name:?}{nearest}"));
                }
                if let Some((name, weight)) = given.iter().find(|(_, w)| !(**w > 0.0 && w.is_finite())) {
                    return refuse(format!(
                        "the weight of {name:?} must be finite and above zero, and {weight} is not"
                    ));
                }
                Ok(Self::Diagonal(
                    columns.iter().map(|name| given.get(name).copied().unwrap_or(1.0)).collect(),
                ))
            }
            Some(Weights::Matrix(rows)) => {
                let d = columns.len();
                if rows.len() != d || rows.iter().any(|row| row.len() != d) {
                    return refuse(format!(
                        "weights must be {d} rows of {d} values, one for each encoded column"
                    ));
                }
                let matrix = Array2::from_shape_fn((d, d), |(i, j)| rows[i][j]);
                if let Some((i, j)) = asymmetric(&matrix) {
                    return refuse(format!(
                        "weights must be finite and symmetric, and at row {i} and column {j}, counted from \
                         1, they are not"
                    ));
                }
                if matrix.indexed_iter().all(|((i, j), value)| i == j || *value == 0.0) {
                    let named = columns.iter().cloned().zip(matrix.diag().iter().copied()).collect();
                    return Self::new(plugin, Some(&Weights::Columns(named)), columns);
                }
                match Powers::from_matrix(&matrix) {
                    Ok(powers) => Ok(Self::Full(Box::new(powers))),
                    Err(eigenvalue) => refuse(format!(
                        "weights must be positive definite, and one eigenvalue is {eigenvalue}"
                    )),
                }
            }
        }
    }

    /// Weight ϑᵢ = 1/(Π⁻¹)ᵢᵢ of each column (d values): the diagonal of a diagonal Π.
    ///
    /// Noise that is independent in every column has a diagonal Fisher information I. Let V be its second
    /// moments. Its objective Tr(Π⁻¹I) + λ·Tr(V) is then the sum of the objectives Iᵢᵢ/ϑᵢ + λ·Vᵢᵢ of all
    /// columns. For any Π, the best independent noise is therefore that of the diagonal matrix of these
    /// weights.
    pub(crate) fn independent(&self) -> Vec<f64> {
        match self {
            Self::Diagonal(weights) => weights.clone(),
            Self::Full(powers) => {
                let inverse = powers.minus_half.outer_iter().map(|row| row.dot(&row));
                inverse.map(f64::recip).collect()
            }
        }
    }

    /// The diagonal of Π^{1/2} (d values).
    pub(crate) fn half_diagonal(&self) -> Vec<f64> {
        match self {
            Self::Diagonal(weights) => weights.iter().map(|weight| weight.sqrt()).collect(),
            Self::Full(powers) => powers.half.diag().to_vec(),
        }
    }

    /// Tr(Π^{1/2}).
    pub(crate) fn half_trace(&self) -> f64 {
        self.half_diagonal().iter().sum()
    }

    /// max ‖Π^{1/4}(x − x′)‖₂ over two points x, x′ of `domain`.
    pub(crate) fn spread(&self, domain: &Domain) -> Bound {
        match self {
            Self::Diagonal(weights) => {
                let halves: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
                let factor_square = |(at, factor): (Range<usize>, &Factor)| {
                    let mut halves = halves[at].to_vec();
                    halves.sort_by(|a, b| b.total_cmp(a));
                    match factor {
                        Factor::OneHot { .. } => halves.iter().take(2).sum(),
                        _ => halves.first().map_or(0.0, |half| half * factor.l2_diameter().powi(2)),
                    }
                };
                Bound { value: domain.factors().map(factor_square).sum::<f64>().sqrt(), is_exact: true }
            }
            Self::Full(powers) => {
                // A box is symmetric about its centre, so the diameter of its image is twice the radius.
                let Bound { value, is_exact } = powers.radius(&half_widths(domain).unwrap_or_default());
                Bound { value: 2.0 * value, is_exact }
            }
        }
    }

    /// ‖Π^{1/4}‖_{∞,2} = max ‖Π^{1/4}x‖₂ over ‖x‖_∞ ≤ 1, the maximum over 2^d sign vectors.
    pub(crate) fn infinity_to_two(&self) -> Bound {
        match self {
            Self::Diagonal(_) => Bound { value: self.half_trace().sqrt(), is_exact: true },
            Self::Full(powers) => powers.radius(&vec![1.0; powers.quarter.ncols()]),
        }
    }
}

/// Row and column, counted from 1, of the first entry that is not finite or breaks symmetry; `None` if there
/// is no such entry.
fn asymmetric(matrix: &Array2<f64>) -> Option<(usize, usize)> {
    let size = matrix.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    let fails = |((i, j), value): &((usize, usize), &f64)| {
        !value.is_finite() || (**value - matrix[[*j, *i]]).abs() > 1e-12 * size
    };
    matrix.indexed_iter().find(fails).map(|((i, j), _)| (i + 1, j + 1))
}

impl Powers {
    /// Computes the powers of Π = `matrix`.
    ///
    /// # Errors
    /// The least eigenvalue, if it is not above zero by more than rounding errors; NaN if no eigenvalues are
    /// found.
    fn from_matrix(matrix: &Array2<f64>) -> std::result::Result<Self, f64> {
        let symmetric = (matrix + &matrix.t()) / 2.0;
        let eigen = Eigen::new(&symmetric).ok_or(f64::NAN)?;
        let values = eigen.values();
        let (least, largest) =
            values.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), value| (a.min(*value), b.max(*value)));
        if least.is_nan() || least <= 1e-13 * largest {
            return Err(least);
        }
        let power = |exponent: f64| eigen.map(|value| value.powf(exponent));
        Ok(Self {
            half: power(0.5),
            minus_half: power(-0.5),
            quarter: power(0.25),
            minus_quarter: power(-0.25),
            stretch: largest.powf(0.25),
        })
    }

    /// max ‖Π^{1/4}v‖₂ over the points v of a box around zero with half widths `halves` (d values).
    pub(crate) fn radius(&self, halves: &[f64]) -> Bound {
        let images: Vec<Array1<f64>> =
            halves.iter().zip(self.quarter.columns()).map(|(half, column)| &column * *half).collect();
        let squared = |image: &Array1<f64>| image.dot(image);
        if images.len() <= MOST_COLUMNS {
            let value = largest_norm(&images, &Array1::zeros(self.quarter.nrows()));
            return Bound { value, is_exact: true };
        }
        // Two upper bounds: the sum of the norms of `images`, and the largest eigenvalue of Π^{1/4} times the
        // norm of `halves`. The smaller bound is used.
        let together: f64 = images.iter().map(|image| squared(image).sqrt()).sum();
        let stretched = self.stretch * halves.iter().map(|half| half * half).sum::<f64>().sqrt();
        Bound { value: together.min(stretched), is_exact: false }
    }
}

/// Returns the largest ℓ₂ norm of `so_far` plus the sum of all `images`, each with sign + or −, over all
/// choices of signs.
fn largest_norm(images: &[Array1<f64>], so_far: &Array1<f64>) -> f64 {
    match images.split_first() {
        None => so_far.dot(so_far).sqrt(),
        Some((first, rest)) => {
            largest_norm(rest, &(so_far + first)).max(largest_norm(rest, &(so_far - first)))
        }
    }
}

/// Returns half the width of the domain of each coordinate; `None` if a coordinate is not a number between
/// bounds.
pub(crate) fn half_widths(domain: &Domain) -> Option<Vec<f64>> {
    let half_width = |(_, factor): (Range<usize>, &Factor)| match *factor {
        Factor::Interval { lower, upper } => Some((upper - lower) / 2.0),
        _ => None,
    };
    domain.factors().map(half_width).collect()
}

/// Returns, for each coordinate, whether it is a number and not the indicator of a category's level. An
/// indicator has no neighbouring values, so no Cramér–Rao bound holds against an adversary that knows that
/// the coordinate is an indicator.
pub(crate) fn are_numbers(domain: &Domain) -> Vec<bool> {
    let number_flags =
        |(at, factor): (Range<usize>, &Factor)| vec![!matches!(factor, Factor::OneHot { .. }); at.len()];
    domain.factors().flat_map(number_flags).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use scumble_testing::numbers;

    fn full(rows: &[&[f64]]) -> Weighting {
        let rows = rows.iter().map(|row| row.to_vec()).collect();
        Weighting::new("p", Some(&Weights::Matrix(rows)), numbers(2).columns()).unwrap()
    }

    #[test]
    fn powers_are_powers() {
        let Weighting::Full(powers) = full(&[&[4.0, 1.0], &[1.0, 2.0]]) else {
            panic!("it has entries beside its diagonal")
        };
        let four: Array2<f64> = powers.quarter.dot(&powers.quarter).dot(&powers.half);
        for (at, expected) in [([0, 0], 4.0), ([0, 1], 1.0), ([1, 1], 2.0)] {
            assert!((four[at] - expected).abs() < 1e-12, "{four}");
        }
        let one = powers.half.dot(&powers.minus_quarter).dot(&powers.minus_quarter);
        assert!((one - Array2::<f64>::eye(2)).iter().all(|x| x.abs() < 1e-12));
    }

    #[test]
    fn a_diagonal_matrix_is_one_of_columns() {
        let given = Weights::Matrix(vec![vec![4.0, 0.0], vec![0.0, 9.0]]);
        match Weighting::new("p", Some(&given), numbers(2).columns()).unwrap() {
            Weighting::Diagonal(weights) => assert_eq!(weights, [4.0, 9.0]),
            Weighting::Full(_) => panic!("it is diagonal"),
        }
    }

    #[test]
    fn what_is_no_positive_definite_matrix_is_refused_in_words() {
        let matrix = |rows: Vec<Vec<f64>>| Weights::Matrix(rows);
        let named = |name: &str, weight: f64| Weights::Columns(BTreeMap::from([(name.to_owned(), weight)]));
        for (weights, word) in [
            (matrix(vec![vec![1.0, 2.0], vec![2.0, 1.0]]), "positive definite"),
            (matrix(vec![vec![1.0, 1.0], vec![1.0, 1.0]]), "positive definite"),
            (matrix(vec![vec![1.0, 0.5], vec![0.4, 1.0]]), "symmetric"),
            (matrix(vec![vec![1.0, f64::NAN], vec![f64::NAN, 1.0]]), "finite"),
            (matrix(vec![vec![-1.0, 0.0], vec![0.0, 1.0]]), "above zero"),
            (matrix(vec![vec![1.0]]), "2 rows of 2"),
            (named("x1", 0.0), "above zero"),
            (named("x1", f64::INFINITY), "finite"),
            (named("x11", 1.0), "did you mean \"x1\""),
        ] {
            let refused = Weighting::new("p", Some(&weights), numbers(2).columns()).unwrap_err().to_string();
            assert!(refused.contains(word), "{weights:?}: {refused}");
        }
    }

    #[test]
    fn the_norm_is_the_largest_over_sign_vectors() {
        // Π = I gives √d, and the paper's (∞,2)-norm of a diagonal Π is √(Σ√ϑ).
        let unit = Weighting::new("p", None, numbers(2).columns()).unwrap();
        assert_eq!(unit.infinity_to_two(), Bound { value: 2f64.sqrt(), is_exact: true });
        // A full Π, from the closed form ‖Π^{1/4}(1, 1)‖² = 1ᵀΠ^{1/2}1.
        let Weighting::Full(powers) = full(&[&[2.0, 1.0], &[1.0, 2.0]]) else { panic!("it is full") };
        let by_hand = powers.half.sum().sqrt();
        let bound = Weighting::Full(powers).infinity_to_two();
        assert!(bound.is_exact && (bound.value - by_hand).abs() < 1e-12, "{bound:?} and {by_hand}");
    }

    #[test]
    fn the_norm_of_many_columns_is_bounded_and_says_so() {
        let d = 40;
        let rows = (0..d).map(|i| (0..d).map(|j| if i == j { 2.0 } else { 1.0 / d as f64 }).collect());
        let given = Weights::Matrix(rows.collect());
        let weighting = Weighting::new("p", Some(&given), numbers(d).columns()).unwrap();
        let bound = weighting.infinity_to_two();
        assert!(!bound.is_exact);
        let Weighting::Full(powers) = weighting else { panic!("it is full") };
        let longest = powers.half.sum().sqrt();
        assert!(
            bound.value > longest * (1.0 - 1e-12) && bound.value < 1.5 * longest,
            "{bound:?} for {longest}"
        );
    }

    proptest! {
        /// The spread bounds the distance of any two records. For a box, two records attain it.
        #[test]
        fn the_spread_bounds_every_pair(
            a in 0.2..4.0_f64, b in 0.2..4.0_f64, tilt in -0.9..0.9_f64,
            one in prop::collection::vec(-3.0..3.0_f64, 5), two in prop::collection::vec(-3.0..3.0_f64, 5),
        ) {
            let domain = Domain::product([
                Domain::interval(-1.0, 2.0).unwrap(),
                Domain::interval(0.0, 0.5).unwrap(),
                Domain::unit_box(3),
            ])
            .unwrap();
            let mut rows = vec![vec![0.0; 5]; 5];
            (0..5).for_each(|at| rows[at][at] = if at % 2 == 0 { a } else { b });
            rows[0][1] = tilt * (a * b).sqrt();
            rows[1][0] = rows[0][1];
            let weighting = Weighting::new("p", Some(&Weights::Matrix(rows)), numbers(5).columns()).unwrap();
            let (mut one, mut two) = (one, two);
            domain.project(&mut one).unwrap();
            domain.project(&mut two).unwrap();
            let difference: Array1<f64> = one.iter().zip(&two).map(|(x, y)| x - y).collect();
            let length = match &weighting {
                Weighting::Full(powers) => powers.quarter.dot(&difference).mapv(|x| x * x).sum().sqrt(),
                Weighting::Diagonal(weights) =>
                    difference.iter().zip(weights).map(|(x, w)| x * x * w.sqrt()).sum::<f64>().sqrt(),
            };
            prop_assert!(length <= weighting.spread(&domain).value * (1.0 + 1e-12));
        }
    }
}

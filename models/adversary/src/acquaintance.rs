//! Reconstruction attack by an adversary that knows some records of a release and their released rows, and
//! learns from them to reconstruct the other records.
//!
//! The attack is the same for every mechanism and guarantee, so that results are comparable.

use crate::{Error, Result};
use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};
use linfa::traits::{Fit, Predict};
use linfa::{Dataset, ParamGuard};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, concatenate};
use rand::RngCore;
use rand::seq::SliceRandom;
use scumble_classifier::{ClassifierParams, VectorModel};
use scumble_core::{Randomness, Table, Target};
use scumble_linalg::Eigen;

/// Largest number of records to learn from, and largest number of records to reconstruct. The time and the
/// memory of the attack grow with these numbers.
const MOST_RECORDS: usize = 4_000;
/// Smallest number of known records, and smallest number of unknown records. The adversary learns and
/// validates on the known records, and the attack is measured on the unknown ones.
const FEWEST_RECORDS: usize = 8;
/// Ratio of all known records to the records that validate the learned map. The adversary learns the map from
/// all other known records.
const JUDGED: usize = 4;
/// Candidate ridge penalties for each coordinate, in units of the variance of a released coordinate.
const PENALTIES: [f64; 12] = [1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, f64::INFINITY];
/// Smallest assumed variance of an estimation error in one coordinate, divided by the variance of the
/// coordinate.
const LEAST_VARIANCE: f64 = 1e-9;

/// Units of each of the network's two hidden layers, and number of training epochs.
const NETWORK: ([usize; 2], usize) = ([64, 64], 60);

/// Adversary that knows some of the records of a release, and its effort.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Acquaintance {
    /// Share of the records that the adversary knows together with their released rows, in (0, 1).
    pub known_share: f64,
    /// Also trains a network, and uses it for the coordinates where it is better than ridge regression. This
    /// takes seconds instead of milliseconds.
    pub network: bool,
    /// Random seed of the choice of known records and of the network's initial weights.
    pub seed: u64,
}

/// Results of an [`acquaintance`] attack on the records that the adversary does not know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learned {
    /// Reconstruction R² of the features: 1 − Σ‖x̂ − x‖²/Σ‖x − x̄‖², summed over the unknown records. x
    /// denotes the features of a record, and x̂ their reconstruction. x̄ is the mean of the known records,
    /// the best estimate without the release.
    ///
    /// The value is 1 if every record is reconstructed exactly. It is about 0, or slightly less, if nothing
    /// was learned.
    pub recovered: f64,
    /// Distinguishing advantage 2·Pr\[right\] − 1 of an adversary that decides which of two records (features
    /// and target) became a given released row. Pr\[right\] is its rate of right decisions.
    pub advantage: f64,
}

/// Measures how well an adversary that knows some of the records of `table`, with their rows of `released`,
/// reconstructs the others.
///
/// The adversary estimates all coordinates of a record by ridge regression on all coordinates of the released
/// row. It chooses the ridge penalty of each coordinate on known records that it did not learn from. A
/// network replaces the regression for the coordinates where it has the smaller squared error on these
/// validation records. To decide which of two records became a row, the adversary computes two likelihoods of
/// each record: given its estimate from the row, and given the mean of the known records. It decides for the
/// record with the larger ratio of the first to the second.
///
/// The result is `None` if the numbers of rows of `table` and `released` differ, or if fewer than eight
/// records are known or unknown. It is also `None` if a value is not finite, or too large to be squared.
///
/// ```
/// use scumble_adversary::{Acquaintance, acquaintance};
/// use ndarray::Array2;
/// use scumble_core::{Table, Target};
///
/// let records = Array2::from_shape_fn((100, 2), |(row, column)| ((row * (3 + column)) % 17) as f64);
/// let table = Table::new(vec!["a".into(), "b".into()], records, Target::None)?;
/// // What is released in the clear is reconstructed.
/// let adversary = Acquaintance { known_share: 0.5, network: false, seed: 1 };
/// let learned = acquaintance(&table, &table, adversary)?.unwrap();
/// assert!(learned.recovered > 0.999_999 && learned.advantage > 0.9);
/// # Ok::<(), scumble_adversary::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] if `known_share` lies outside (0, 1), or if the training of the network fails.
pub fn acquaintance(table: &Table, released: &Table, adversary: Acquaintance) -> Result<Option<Learned>> {
    let Acquaintance { known_share, seed, .. } = adversary;
    if !(known_share > 0.0 && known_share < 1.0) {
        return Err(Error::shape(format!(
            "known_share must lie between 0 and 1, and {known_share} does not"
        )));
    }
    if table.len() != released.len() {
        return Ok(None);
    }
    let mut rng = Randomness::seeded(seed).streams().stream(0);
    let mut rows: Vec<usize> = (0..table.len()).collect();
    rows.shuffle(&mut rng);
    let (known, unknown) = rows.split_at((known_share * rows.len() as f64).round() as usize);
    let (known, unknown) =
        (&known[..known.len().min(MOST_RECORDS)], &unknown[..unknown.len().min(MOST_RECORDS)]);
    if known.len() < FEWEST_RECORDS || unknown.len() < FEWEST_RECORDS {
        return Ok(None);
    }
    if !(table.is_finite() && released.is_finite()) {
        return Ok(None);
    }
    let Some(reader) = Reader::learn(&coordinates(released, known), &coordinates(table, known), adversary)?
    else {
        return Ok(None);
    };
    let (guesses, truth) = (reader.guess(coordinates(released, unknown)), coordinates(table, unknown));
    let features = table.columns().len();
    let squares = |centre: ArrayView2<f64>| {
        let errors = &truth - &centre;
        errors
            .iter()
            .enumerate()
            .filter(|(at, _)| at % truth.ncols() < features)
            .map(|(_, e)| e * e)
            .sum::<f64>()
    };
    let unread = squares(reader.outputs.mean.view().insert_axis(Axis(0)));
    let recovered = if unread > 0.0 { 1.0 - squares(guesses.view()) / unread } else { f64::NAN };
    let [with_guess, with_mean] = &reader.errors;
    let mean = reader.outputs.mean.view();
    let before: Vec<f64> = truth.outer_iter().map(|row| reader.surprise(with_mean, row, mean)).collect();
    // Each record is compared with a random other record.
    let right = (0..truth.nrows()).map(|row| {
        let other = (row + 1 + (rng.next_u64() % (truth.nrows() as u64 - 1)) as usize) % truth.nrows();
        let surprise = |candidate: usize| {
            reader.surprise(with_guess, truth.row(candidate), guesses.row(row)) - before[candidate]
        };
        match surprise(row).total_cmp(&surprise(other)) {
            std::cmp::Ordering::Less => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Greater => 0.0,
        }
    });
    let right = right.sum::<f64>() / truth.nrows() as f64;
    Ok(Some(Learned { recovered, advantage: 2.0 * right - 1.0 }))
}

/// All m values of the k records at `rows` (k × m): their features, and their target as numbers.
fn coordinates(table: &Table, rows: &[usize]) -> Array2<f64> {
    let target = match table.target() {
        Target::None => Array2::zeros((rows.len(), 0)),
        Target::Class(classes) => {
            let levels = classes.iter().max().map_or(0, |class| class + 1);
            Array2::from_shape_fn((rows.len(), levels), |(at, class)| {
                f64::from(u8::from(classes[rows[at]] == class))
            })
        }
        Target::Real(values) => values.select(Axis(0), rows).insert_axis(Axis(1)),
        Target::Vector(values) => values.select(Axis(0), rows),
    };
    let records = table.records().select(Axis(0), rows);
    // `records` and `target` have the same number of rows.
    concatenate(Axis(1), &[records.view(), target.view()]).unwrap_or(target)
}

/// Mean and standard deviation of each coordinate over some rows. The deviation of a constant coordinate
/// counts as 1.
#[derive(Debug)]
struct Place {
    mean: Array1<f64>,
    width: Array1<f64>,
}

impl Place {
    fn from_values(values: &Array2<f64>) -> Self {
        let width = values.std_axis(Axis(0), 0.0).mapv(|width| if width > 0.0 { width } else { 1.0 });
        Self { mean: values.mean_axis(Axis(0)).unwrap_or_default(), width }
    }

    fn standardised(&self, values: Array2<f64>) -> Array2<f64> {
        (values - &self.mean) / &self.width
    }
}

/// Learned map from released rows to records, and the distribution of its errors.
struct Reader {
    inputs: Place,
    outputs: Place,
    /// Ridge regression weights (m′ × m) from m′ standardised released coordinates to m standardised
    /// coordinates of a record.
    weights: Array2<f64>,
    /// Neural network for the same map, if one was trained, and the indices of the coordinates where its
    /// squared validation error is smaller than the regression's.
    network: Option<(VectorModel, Vec<usize>)>,
    /// Factored covariances of the errors of two estimates of a record: the learned estimate, and the mean of
    /// the known records.
    errors: [Llt<f64>; 2],
}

impl Reader {
    /// Learns the map from released rows `seen` to their records `made_of`. Returns `None` if the values are
    /// too large to be squared.
    fn learn(seen: &Array2<f64>, made_of: &Array2<f64>, adversary: Acquaintance) -> Result<Option<Self>> {
        let judges = (seen.nrows() / JUDGED).max(1);
        let parts = |values: &Array2<f64>| {
            let (judged, lesson) = values.view().split_at(Axis(0), judges);
            (judged.to_owned(), lesson.to_owned())
        };
        let ((judged_seen, seen), (judged_made_of, made_of)) = (parts(seen), parts(made_of));
        let (inputs, outputs) = (Place::from_values(&seen), Place::from_values(&made_of));
        let (seen, made_of) = (inputs.standardised(seen), outputs.standardised(made_of));
        let (judged_seen, truth) = (inputs.standardised(judged_seen), outputs.standardised(judged_made_of));
        let Some((basis, variances)) = principal(&seen) else {
            return Ok(None);
        };
        let records = seen.nrows() as f64;
        let slopes = seen.dot(&basis).t().dot(&made_of) / records;
        let judged = judged_seen.dot(&basis);
        // Weights of the principal directions of the released rows, for a ridge penalty.
        let shrunk =
            |penalty: f64| &slopes / &variances.mapv(|variance| variance + penalty).insert_axis(Axis(1));
        let mut best = (Array1::from_elem(truth.ncols(), f64::INFINITY), Array2::zeros(slopes.dim()));
        for penalty in PENALTIES {
            let candidate = shrunk(penalty);
            let errors = (&truth - &judged.dot(&candidate)).mapv(|error| error * error).sum_axis(Axis(0));
            for (at, &error) in errors.iter().enumerate().filter(|(_, error)| error.is_finite()) {
                if error < best.0[at] {
                    best.0[at] = error;
                    best.1.column_mut(at).assign(&candidate.column(at));
                }
            }
        }
        let weights = basis.dot(&best.1);
        let network = match adversary.network {
            true => {
                let network = trained(seen, made_of, adversary.seed)?;
                let errors = (&truth - &network.predict(&judged_seen)).mapv(|error| error * error);
                let errors = errors.sum_axis(Axis(0));
                let better = (0..errors.len()).filter(|&at| errors[at] < best.0[at]).collect();
                Some((network, better))
            }
            false => None,
        };
        let errors = &truth - &read(&weights, network.as_ref(), &judged_seen);
        Ok(factored(&errors).zip(factored(&truth)).map(|(after, before)| Self {
            inputs,
            outputs,
            weights,
            network,
            errors: [after, before],
        }))
    }

    /// Estimated records (n × m, for n records of m values) for n released rows `seen` of m′ values (n × m′).
    fn guess(&self, seen: Array2<f64>) -> Array2<f64> {
        let guesses = read(&self.weights, self.network.as_ref(), &self.inputs.standardised(seen));
        guesses * &self.outputs.width + &self.outputs.mean
    }

    /// Twice the negative log-likelihood of `candidate` given the estimate `centre`, up to a constant: the
    /// squared length of their difference, relative to the covariance `errors`.
    fn surprise(&self, errors: &Llt<f64>, candidate: ArrayView1<f64>, centre: ArrayView1<f64>) -> f64 {
        let off =
            Mat::from_fn(candidate.len(), 1, |at, _| (candidate[at] - centre[at]) / self.outputs.width[at]);
        let solved = errors.solve(&off);
        (0..candidate.len()).map(|at| off[(at, 0)] * solved[(at, 0)]).sum()
    }
}

/// Estimated standardised records (n × m, for n records of m values) for n standardised released rows `seen`
/// of m′ values (n × m′). The regression with `weights` estimates all coordinates. If `network` is given, the
/// neural network replaces the estimates of the coordinates at the given indices.
fn read(
    weights: &Array2<f64>,
    network: Option<&(VectorModel, Vec<usize>)>,
    seen: &Array2<f64>,
) -> Array2<f64> {
    let mut guesses = seen.dot(weights);
    if let Some((network, columns)) = network {
        let by_network = network.predict(seen);
        columns.iter().for_each(|&at| guesses.column_mut(at).assign(&by_network.column(at)));
    }
    guesses
}

/// Trains a network that estimates the records `made_of` from their released rows `seen`.
///
/// # Errors
/// [`Error::Shape`] with the cause of a failed training.
fn trained(seen: Array2<f64>, made_of: Array2<f64>, seed: u64) -> Result<VectorModel> {
    let (hidden, epochs) = NETWORK;
    let params = ClassifierParams::default().hidden(hidden.to_vec()).epochs(epochs).annealed(true).seed(seed);
    let fitted = params.check().and_then(|params| params.fit(&Dataset::new(seen, made_of)));
    fitted.map_err(|problem| Error::shape(problem.to_string()))
}

/// Principal directions of n standardised rows of m values (n × m), and the variances along these directions.
fn principal(values: &Array2<f64>) -> Option<(Array2<f64>, Array1<f64>)> {
    const NOTHING: f64 = 1e-12;
    let (rows, columns) = values.dim();
    let is_wide = columns > rows;
    let squares = if is_wide { values.dot(&values.t()) } else { values.t().dot(values) } / rows as f64;
    let eigen = Eigen::new(&squares)?;
    let (vectors, variances) = (eigen.vectors(), eigen.values());
    let largest = variances.iter().copied().fold(0.0, f64::max);
    let kept: Vec<usize> =
        (0..variances.len()).filter(|&at| variances[at] > NOTHING * largest.max(f64::MIN_POSITIVE)).collect();
    let (chosen, variances) = (vectors.select(Axis(1), &kept), variances.select(Axis(0), &kept));
    // Right singular vectors of a wide matrix follow from left ones.
    let basis = if is_wide {
        values.t().dot(&chosen) / &variances.mapv(|variance| (variance * rows as f64).sqrt())
    } else {
        chosen
    };
    Some((basis, variances))
}

/// Factored covariance around zero of n errors of m coordinates (n × m). Its off-diagonal entries are
/// multiplied by n/(n + m).
fn factored(errors: &Array2<f64>) -> Option<Llt<f64>> {
    let (rows, width) = errors.dim();
    let together = rows as f64 / (rows + width) as f64;
    let covariance = errors.t().dot(errors) / rows as f64;
    let shrunk = Mat::from_fn(width, width, |i, j| match i == j {
        true => covariance[[i, j]].max(LEAST_VARIANCE),
        false => together * covariance[[i, j]],
    });
    shrunk.llt(Side::Lower).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use std::f64::consts::PI;

    /// Approximately standard normal number: a sum of twelve. At these sizes its squares and tails are
    /// indistinguishable from normal ones.
    fn normal(rng: &mut impl Rng) -> f64 {
        (0..12).map(|_| rng.gen_range(-0.5..0.5)).sum()
    }

    fn table(records: Array2<f64>, target: Target) -> Table {
        let columns = (0..records.ncols()).map(|at| format!("x{at}")).collect();
        Table::new(columns, records, target).unwrap()
    }

    fn with(network: bool) -> Acquaintance {
        Acquaintance { known_share: 0.5, network, seed: 3 }
    }

    /// Gaussian records of variance v in two independent columns, under Gaussian noise of variance s.
    ///
    /// The best possible R² is v/(v + s), and no map exceeds it. With the likelihood, the accuracy is E
    /// Φ(‖x − x′‖/2√s). For two columns this is an advantage of √(v/(v + 2s)). For 4,000 records the results
    /// are off by 0.05 and 0.065, five standard errors, with probability 10⁻⁶.
    #[test]
    fn optimal_recovery_of_gaussian_records_under_gaussian_noise() {
        let mut rng = Randomness::seeded(5).streams().stream(9);
        for (variance, network) in [(0.25_f64, false), (1.0, false), (1.0, true), (16.0, false)] {
            let records = Array2::from_shape_simple_fn((8_000, 2), || normal(&mut rng));
            let noise = Array2::from_shape_simple_fn((8_000, 2), || variance.sqrt() * normal(&mut rng));
            // An invertible map after the noise changes nothing.
            let released =
                (&records + &noise).dot(&ndarray::array![[3.0, 1.0, 0.5], [-1.0, 2.0, 0.25]]) + 7.0;
            let learned =
                acquaintance(&table(records, Target::None), &table(released, Target::None), with(network));
            let Learned { recovered, advantage } = learned.unwrap().unwrap();
            let expected = [1.0 / (1.0 + variance), (1.0 / (1.0 + 2.0 * variance)).sqrt()];
            assert!((recovered - expected[0]).abs() < 0.05, "{recovered} where {} is right", expected[0]);
            assert!((advantage - expected[1]).abs() < 0.065, "{advantage} where {} is right", expected[1]);
        }
    }

    /// A release that is independent of the records: R² and advantage are those of chance, within five
    /// standard errors of 1/√2000.
    #[test]
    fn a_release_independent_of_the_records_reveals_nothing() {
        let mut rng = Randomness::seeded(6).streams().stream(9);
        let records = Array2::from_shape_simple_fn((4_000, 30), || normal(&mut rng));
        let released = Array2::from_shape_simple_fn((4_000, 10), || normal(&mut rng));
        let learned =
            acquaintance(&table(records, Target::None), &table(released, Target::None), with(false));
        let Learned { recovered, advantage } = learned.unwrap().unwrap();
        assert!(recovered.abs() < 0.02 && advantage.abs() < 0.112, "{recovered}, {advantage}");
    }

    /// For x in [−1, 1] the circle (cos πx, sin πx) determines x, except which end an end point is. A line
    /// explains the share (E x·sin πx)²/(E x²·E sin² πx) = 6/π² = 0.608 of the squares.
    #[test]
    fn what_no_line_reads_a_network_does() {
        let mut rng = Randomness::seeded(10).streams().stream(9);
        let records = Array2::from_shape_simple_fn((4_000, 1), || rng.gen_range(-1.0..1.0));
        let circle = |at: usize, x: f64| if at == 0 { (x * PI).cos() } else { (x * PI).sin() };
        let released = Array2::from_shape_fn((4_000, 2), |(row, at)| circle(at, records[[row, 0]]));
        let [line, network] = [false, true].map(|network| {
            let unlabelled = |values: &Array2<f64>| table(values.clone(), Target::None);
            acquaintance(&unlabelled(&records), &unlabelled(&released), with(network))
                .unwrap()
                .unwrap()
                .recovered
        });
        assert!((line - 6.0 / (PI * PI)).abs() < 0.03, "{line}");
        assert!(network > 0.95, "{network}");
    }

    /// More released coordinates than known records, as in a release that contains an identity matrix.
    #[test]
    fn wide_releases_are_read_too() {
        let mut rng = Randomness::seeded(7).streams().stream(9);
        let records = Array2::from_shape_simple_fn((200, 2), || normal(&mut rng));
        let mixed = Array2::from_shape_simple_fn((2, 300), || normal(&mut rng));
        let learn = |released: Array2<f64>| {
            acquaintance(&table(records.clone(), Target::None), &table(released, Target::None), with(false))
                .unwrap()
                .unwrap()
        };
        assert!(learn(records.dot(&mixed)).recovered > 0.999);
        assert!(learn(Array2::eye(200)).recovered.abs() < 0.1);
    }

    /// A label in the clear distinguishes only records with different labels. Such pairs are half of all
    /// pairs. On the other pairs, the adversary is right half of the time.
    #[test]
    fn a_label_alone_tells_apart_those_that_differ_in_it() {
        let mut rng = Randomness::seeded(8).streams().stream(9);
        let classes: Array1<usize> = (0..8_000).map(|_| rng.gen_range(0..2)).collect();
        let [records, noise] = [0, 1].map(|_| Array2::from_shape_simple_fn((8_000, 2), || normal(&mut rng)));
        let labelled = |records| table(records, Target::Class(classes.clone()));
        let Learned { recovered, advantage } =
            acquaintance(&labelled(records), &labelled(noise), with(false)).unwrap().unwrap();
        assert!(recovered.abs() < 0.02, "{recovered}");
        assert!((advantage - 0.5).abs() < 0.07, "{advantage}");
    }

    #[test]
    fn what_cannot_be_measured_is_none_and_no_panic() {
        let records = Array2::from_shape_fn((40, 2), |(row, column)| (row * column) as f64);
        let known = table(records.clone(), Target::None);
        let shorter = known.select(&[0, 1, 2]).unwrap();
        assert_eq!(acquaintance(&known, &shorter, with(false)).unwrap(), None);
        assert_eq!(acquaintance(&shorter, &shorter, with(false)).unwrap(), None);
        let huge = table(records.mapv(|value| value * 1e300), Target::None);
        let nan = table(records * f64::NAN, Target::None);
        for odd in [&huge, &nan] {
            for network in [false, true] {
                let _ = acquaintance(&known, odd, with(network));
                let _ = acquaintance(odd, &known, with(network));
            }
        }
        for share in [0.0, 1.0, f64::NAN, -1.0] {
            assert!(
                acquaintance(&known, &known, Acquaintance { known_share: share, ..with(false) }).is_err()
            );
        }
    }
}

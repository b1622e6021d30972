//! An acquaintance: an adversary that knows some of the records of a release, and what each became in it, and from these learns to reconstruct
//! the others. It is the same for every mechanism, whatever its guarantee, so that results are comparable.

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

/// It learns from no more records than this, and reconstructs no more: the work is that of a matrix so large.
const MOST_RECORDS: usize = 4_000;
/// The fewest by which anything is learned, judged and measured.
const FEWEST_RECORDS: usize = 8;
/// The share of the known records by which it judges what it learned from the rest.
const JUDGED: usize = 4;
/// Penalties among which it chooses for each coordinate, in units of a released coordinate's variance.
const PENALTIES: [f64; 12] = [1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, f64::INFINITY];
/// What is left of a coordinate's variance where all of it seems to be known.
const LEAST_VARIANCE: f64 = 1e-9;

/// Units of each of the network's two hidden layers, and how often it sees each record.
const NETWORK: ([usize; 2], usize) = ([64, 64], 60);

/// An adversary that knows some of the records of a release, and how hard it tries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Acquaintance {
    /// The share of the records that it knows, with the rows that they became, in (0, 1).
    pub known_share: f64,
    /// Whether it trains a network beside its ridge regression, for the coordinates where that is better: seconds, and not milliseconds.
    pub network: bool,
    /// The random seed: which records it knows, and where its network begins.
    pub seed: u64,
}

/// What an acquaintance learns of records that it does not know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learned {
    /// The reconstruction R² of the features: 1 − Σ‖x̂ − x‖²/Σ‖x − x̄‖², where x̄ is the guess without the
    /// release. 1 where all of every record is reconstructed; about 0, or a little less, where nothing was learned.
    pub recovered: f64,
    /// The distinguishing advantage: of which of two records, features and target, a released one was made, 2·Pr\[right\] − 1.
    pub advantage: f64,
}

/// How much an adversary learns of the other rows of `released` that knows some of the n records of `table` with the rows that they became.
///
/// It guesses the others by ridge regression of all coordinates of a record on all of the released one, with a penalty for each that it
/// chooses by records that it did not learn from, or by a network, where that did better on these; and distinguishes two records by how likely
/// its errors are. None where rows of the release
/// are no rows of the table, or fewer than eight records are known or unknown.
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
/// [`Error::Shape`] for a share that is not within (0, 1), and for what stops a network.
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
    // Each beside another: the next in a random order.
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

/// All that a table says of the records at these rows, k × m: their features, and their target as numbers.
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
    // Both have as many rows.
    concatenate(Axis(1), &[records.view(), target.view()]).unwrap_or(target)
}

/// Where values lie: the mean of each coordinate, and its standard deviation, or 1 where it has none.
#[derive(Debug)]
struct Place {
    mean: Array1<f64>,
    width: Array1<f64>,
}

impl Place {
    fn of(values: &Array2<f64>) -> Self {
        let width = values.std_axis(Axis(0), 0.0).mapv(|width| if width > 0.0 { width } else { 1.0 });
        Self { mean: values.mean_axis(Axis(0)).unwrap_or_default(), width }
    }

    fn standardised(&self, values: Array2<f64>) -> Array2<f64> {
        (values - &self.mean) / &self.width
    }
}

/// What it learned: the way back, and its errors.
struct Reader {
    inputs: Place,
    outputs: Place,
    /// From standardised released coordinates to standardised ones of records.
    weights: Array2<f64>,
    /// The same by a network, for the coordinates that it reads better.
    network: Option<(VectorModel, Vec<usize>)>,
    /// Of the errors of its guesses, and of the mean as a guess, each with its covariance factored.
    errors: [Llt<f64>; 2],
}

impl Reader {
    /// None where the values are too large for squares.
    fn learn(seen: &Array2<f64>, made_of: &Array2<f64>, adversary: Acquaintance) -> Result<Option<Self>> {
        let judges = (seen.nrows() / JUDGED).max(1);
        let parts = |values: &Array2<f64>| {
            let (judged, lesson) = values.view().split_at(Axis(0), judges);
            (judged.to_owned(), lesson.to_owned())
        };
        let ((judged_seen, seen), (judged_made_of, made_of)) = (parts(seen), parts(made_of));
        let (inputs, outputs) = (Place::of(&seen), Place::of(&made_of));
        let (seen, made_of) = (inputs.standardised(seen), outputs.standardised(made_of));
        let (judged_seen, truth) = (inputs.standardised(judged_seen), outputs.standardised(judged_made_of));
        let Some((basis, variances)) = principal(&seen) else {
            return Ok(None);
        };
        let records = seen.nrows() as f64;
        let slopes = seen.dot(&basis).t().dot(&made_of) / records;
        let judged = judged_seen.dot(&basis);
        // What a penalty leaves of each direction.
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

    /// The reconstruction (n × m) of records that were released so (n × m′).
    fn guess(&self, seen: Array2<f64>) -> Array2<f64> {
        let guesses = read(&self.weights, self.network.as_ref(), &self.inputs.standardised(seen));
        guesses * &self.outputs.width + &self.outputs.mean
    }

    /// Twice the negative log-likelihood of `candidate` where `centre` is the guess, up to a constant: the
    /// squared length of their difference, in units of `errors`.
    fn surprise(&self, errors: &Llt<f64>, candidate: ArrayView1<f64>, centre: ArrayView1<f64>) -> f64 {
        let off =
            Mat::from_fn(candidate.len(), 1, |at, _| (candidate[at] - centre[at]) / self.outputs.width[at]);
        let solved = errors.solve(&off);
        (0..candidate.len()).map(|at| off[(at, 0)] * solved[(at, 0)]).sum()
    }
}

/// What is made of standardised released coordinates (n × m′): standardised ones of records (n × m), some of them by a network.
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

/// # Errors
/// [`Error::Shape`] with what stops the training.
fn trained(seen: Array2<f64>, made_of: Array2<f64>, seed: u64) -> Result<VectorModel> {
    let (hidden, epochs) = NETWORK;
    let params = ClassifierParams::default().hidden(hidden.to_vec()).epochs(epochs).annealed(true).seed(seed);
    let fitted = params.check().and_then(|params| params.fit(&Dataset::new(seen, made_of)));
    fitted.map_err(|problem| Error::shape(problem.to_string()))
}

/// Directions in which standardised values (n × m) vary, and how much they do.
fn principal(values: &Array2<f64>) -> Option<(Array2<f64>, Array1<f64>)> {
    const NOTHING: f64 = 1e-12;
    let (rows, columns) = values.dim();
    let is_wide = columns > rows;
    let squares = if is_wide { values.dot(&values.t()) } else { values.t().dot(values) } / rows as f64;
    let eigen = Eigen::of(&squares)?;
    let (vectors, variances) = (eigen.vectors(), eigen.values());
    let largest = variances.iter().copied().fold(0.0, f64::max);
    let kept: Vec<usize> =
        (0..variances.len()).filter(|&at| variances[at] > NOTHING * largest.max(f64::MIN_POSITIVE)).collect();
    let (chosen, variances) = (vectors.select(Axis(1), &kept), variances.select(Axis(0), &kept));
    // Of a wide matrix, right singular vectors follow from left ones.
    let basis = if is_wide {
        values.t().dot(&chosen) / &variances.mapv(|variance| (variance * rows as f64).sqrt())
    } else {
        chosen
    };
    Some((basis, variances))
}

/// The covariance of errors (n × m) around zero, factored; the fewer there are for their width, the less is made of how they go together.
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

    /// Roughly standard normal: a sum of twelve, which squares and tails at these sizes do not tell from it.
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

    /// Of records of variance v in two independent columns under noise of variance s it can recover v/(v + s), and no map does better; and
    /// with the likelihood it is right in E Φ(‖x − x′‖/2√s) of the cases, which for two columns is an advantage of √(v/(v + 2s)). Of 4,000
    /// records these are off by 0.05 and 0.065, five standard errors, once in a million times.
    #[test]
    fn of_gaussian_records_under_gaussian_noise_it_learns_what_can_be_learned() {
        let mut rng = Randomness::seeded(5).streams().stream(9);
        for (variance, network) in [(0.25_f64, false), (1.0, false), (1.0, true), (16.0, false)] {
            let records = Array2::from_shape_simple_fn((8_000, 2), || normal(&mut rng));
            let noise = Array2::from_shape_simple_fn((8_000, 2), || variance.sqrt() * normal(&mut rng));
            // Whatever invertible map comes after changes nothing.
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

    /// A release that says nothing: what it recovers and distinguishes is chance, here by five standard errors of 1/√2000.
    #[test]
    fn of_what_says_nothing_it_learns_nothing() {
        let mut rng = Randomness::seeded(6).streams().stream(9);
        let records = Array2::from_shape_simple_fn((4_000, 30), || normal(&mut rng));
        let released = Array2::from_shape_simple_fn((4_000, 10), || normal(&mut rng));
        let learned =
            acquaintance(&table(records, Target::None), &table(released, Target::None), with(false));
        let Learned { recovered, advantage } = learned.unwrap().unwrap();
        assert!(recovered.abs() < 0.02 && advantage.abs() < 0.112, "{recovered}, {advantage}");
    }

    /// Of x between −1 and 1 the circle (cos πx, sin πx) tells all but which end an end is; of its squares a line explains
    /// (E x·sin πx)²/(E x²·E sin² πx) = 6/π², which is 0.608.
    #[test]
    fn what_no_line_reads_a_network_does() {
        let mut rng = Randomness::seeded(10).streams().stream(9);
        let records = Array2::from_shape_simple_fn((4_000, 1), || rng.gen_range(-1.0..1.0));
        let circle = |at: usize, x: f64| if at == 0 { (x * PI).cos() } else { (x * PI).sin() };
        let released = Array2::from_shape_fn((4_000, 2), |(row, at)| circle(at, records[[row, 0]]));
        let [line, network] = [false, true].map(|network| {
            let of = |values: &Array2<f64>| table(values.clone(), Target::None);
            acquaintance(&of(&records), &of(&released), with(network)).unwrap().unwrap().recovered
        });
        assert!((line - 6.0 / (PI * PI)).abs() < 0.03, "{line}");
        assert!(network > 0.95, "{network}");
    }

    /// More released coordinates than records that it knows, as where the identity takes the records' place.
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

    /// A label in the clear distinguishes two records with other labels, and nothing else: half of the pairs, of which one in two is
    /// told by chance.
    #[test]
    fn a_label_alone_tells_apart_those_that_differ_in_it() {
        let mut rng = Randomness::seeded(8).streams().stream(9);
        let classes: Array1<usize> = (0..8_000).map(|_| rng.gen_range(0..2)).collect();
        let [records, noise] = [0, 1].map(|_| Array2::from_shape_simple_fn((8_000, 2), || normal(&mut rng)));
        let of = |records| table(records, Target::Class(classes.clone()));
        let Learned { recovered, advantage } =
            acquaintance(&of(records), &of(noise), with(false)).unwrap().unwrap();
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

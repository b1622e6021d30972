//! Tests of internals: distances between the sums of neighbouring samples, as integers, compared with the
//! claimed bound.
//!
//! Faulty variants must break the bound: sums that are not clipped, or that clip a batch instead of each
//! example.

use crate::PrivateTraining;
use crate::noise::Streams;
use crate::sensitivity::{Lattice, Sensitivity};
use crate::training::Descent;
use ndarray::Array2;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_neural::{Activation, Architecture, Initialisation, Network, Pass, Real, Result, Windows};

/// Two networks in a chain, and records with the gradients of their outputs.
#[derive(Debug, Clone)]
struct Case<T> {
    networks: [Network<T>; 2],
    /// Records, n × inputs.
    records: Array2<T>,
    /// Gradients with respect to the outputs, n × outputs.
    gradients: Array2<T>,
    clipping_norm: f64,
    /// Index of the record that the neighbour lacks.
    lacking: usize,
}

/// Draws a number of a record. Of `oddness` draws on average, one has a random exponent, one is a special
/// float such as zero or infinity, and one is large. All other draws are in [−1, 1).
fn number<T: Real>(rng: &mut ChaCha20Rng, oddness: u32) -> T {
    let sane = rng.gen_range(-1.0..1.0);
    T::nearest(match rng.gen_range(0..oddness) {
        0 => sane * 10f64.powi(rng.gen_range(-45..39)),
        1 => [0.0, -0.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE][rng.gen_range(0..6)],
        2 => sane * 1e3,
        _ => sane,
    })
}

impl<T: Real> Case<T> {
    /// Draws a case. About one record in eight is odd: its numbers are drawn by [`number`] with `oddness`.
    fn new(widths: [usize; 4], records: usize, oddness: u32, clipping_norm: f64, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let [inputs, hidden, code, outputs] = widths;
        let first = match inputs.isqrt() {
            // An image of at least 2 × 2 pixels has one column more than the windows of its convolution.
            side if side > 1 && side * side == inputs => {
                let windows = Windows { height: side, width: side, channels: 1, side: side - 1, stride: 1 };
                Architecture::new(inputs).convolution(windows, hidden, Activation::Tanh)
            }
            _ => Architecture::new(inputs).layer(hidden, Activation::Relu),
        };
        let first = first.layer(code, Activation::Identity);
        let second = Architecture::new(code).layer(outputs, Activation::Tanh);
        let network = |made, seed| Network::new(made, Initialisation::Uniform, seed).unwrap();
        // One record in eight is odd; otherwise all would be.
        let mut drawn = |columns| {
            let mut drawn = Array2::zeros((records, columns));
            for mut row in drawn.outer_iter_mut() {
                let oddness = if rng.gen_range(0..8) == 0 { oddness } else { u32::MAX };
                row.iter_mut().for_each(|value| *value = number(&mut rng, oddness));
            }
            drawn
        };
        let (records, gradients) = (drawn(inputs), drawn(outputs));
        let lacking = rng.gen_range(0..records.nrows());
        Self {
            networks: [network(first, seed), network(second, seed + 1)],
            records,
            gradients,
            clipping_norm,
            lacking,
        }
    }

    fn parameters(&self) -> usize {
        self.networks.iter().map(|network| network.parameters().len()).sum()
    }

    /// Training in which every step expects all records.
    fn training(&self) -> PrivateTraining {
        PrivateTraining {
            expected_batch: self.records.nrows(),
            clipping_norm: self.clipping_norm,
            ..PrivateTraining::default()
        }
    }

    fn per_example(
        &self,
        [first, second]: &[Network<T>; 2],
        rows: &[usize],
        [one, two]: &mut [Pass<T>; 2],
    ) -> Result<f64> {
        let code = first.forward_rows(self.records.view(), rows, one)?;
        second.forward(code, two)?;
        second.backward(self.gradients.select(ndarray::Axis(0), rows).view(), two)?;
        first.backward(second.input_gradient(two)?, one)?;
        Ok(0.0)
    }

    /// Sum of the clipped gradients of `rows`.
    fn clipped_sum(&self, rows: &[usize]) -> Vec<T> {
        let streams = Streams::new([0; 32]);
        let per_example = |networks: &_, rows: &_, passes: &mut _| self.per_example(networks, rows, passes);
        let mut descent =
            Descent::new(self.training(), self.networks.clone(), self.records.nrows(), streams, per_example)
                .unwrap();
        descent.sum(rows).unwrap();
        descent.gradient
    }

    /// Faulty variant: sum without clipping.
    fn sum(&self, rows: &[usize]) -> Vec<T> {
        let mut passes = [Pass::default(), Pass::default()];
        let mut gradient = vec![T::zero(); self.parameters()];
        if !rows.is_empty() {
            self.per_example(&self.networks, rows, &mut passes).unwrap();
            let (first, second) = gradient.split_at_mut(self.networks[0].parameters().len());
            self.networks[0].gradient(&passes[0], first).unwrap();
            self.networks[1].gradient(&passes[1], second).unwrap();
        }
        gradient
    }

    /// Faulty variant: clips the sum to the number of examples times the clipping norm.
    fn sum_clipped_as_a_whole(&self, rows: &[usize]) -> Vec<T> {
        let sum = self.sum(rows);
        let norm = sum.iter().map(|&g| g.into() * g.into()).sum::<f64>().sqrt();
        let share = T::nearest((rows.len() as f64 * self.clipping_norm / norm).min(1.0));
        sum.into_iter().map(|g| g * share).collect()
    }

    fn all(&self) -> Vec<usize> {
        (0..self.records.nrows()).collect()
    }

    fn all_but_one(&self) -> Vec<usize> {
        (0..self.records.nrows()).filter(|&row| row != self.lacking).collect()
    }

    /// Rounds `sum` to integers on the lattice.
    fn on_lattice(&self, sum: &[T]) -> Vec<f64> {
        let step = Lattice::for_training(&self.training()).step;
        sum.iter().map(|&g| (Into::<f64>::into(g) / step).round_ties_even()).collect()
    }

    /// Distance between the sums of the two neighbours, as a share of the claimed bound.
    fn share_of_claim(&self, sum: impl Fn(&[usize]) -> Vec<T>) -> f64 {
        let [with, without] = [self.all(), self.all_but_one()].map(|rows| self.on_lattice(&sum(&rows)));
        let distance = with.iter().zip(without).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt();
        distance / self.claimed()
    }

    /// Claimed bound on the distance between the sums of neighbours, in lattice steps.
    fn claimed(&self) -> f64 {
        let training = self.training();
        let bound = Sensitivity::for_training::<T>(&training, self.records.nrows(), self.parameters());
        bound.sum_distance / Lattice::for_training(&training).step + bound.rounding_distance
    }
}

/// Checks the properties of every case: the distance between the sums of the two neighbours is within the
/// claimed bound, and the sum is finite. The clipped gradient of the record that one neighbour lacks is not
/// longer than the claimed bound.
fn holds<T: Real>(case: &Case<T>) -> std::result::Result<(), TestCaseError> {
    let share = case.share_of_claim(|rows| case.clipped_sum(rows));
    prop_assert!(share <= 1.0, "neighbours are {share} of the bound apart");
    let alone = case.on_lattice(&case.clipped_sum(&[case.lacking]));
    let norm = alone.iter().map(|k| k * k).sum::<f64>().sqrt();
    prop_assert!(norm <= case.claimed(), "{norm} is more than {}", case.claimed());
    prop_assert!(
        case.clipped_sum(&case.all()).iter().all(|g| g.is_finite()),
        "a number of the sum is not finite"
    );
    Ok(())
}

/// Widths of networks. In half of the cases, the records are images.
fn widths() -> impl Strategy<Value = [usize; 4]> {
    let inputs = prop_oneof![1..40_usize, (2..7_usize).prop_map(|side| side * side)];
    (inputs, 1..30_usize, 1..9_usize, 1..30_usize).prop_map(|(a, b, c, d)| [a, b, c, d])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// The numbers of records are below, around and above 96 and 192: a pass takes 96 rows at most.
    #[test]
    fn neighbouring_sums_are_no_further_apart_than_claimed(
        widths in widths(),
        records in prop_oneof![1..40_usize, 90..100_usize, 180..230_usize],
        oddness in prop_oneof![Just(3_u32), Just(30), Just(u32::MAX)],
        log_norm in -9..9_i32,
        seed in any::<u32>(),
    ) {
        let norm = 2f64.powi(log_norm) * 1.3;
        holds(&Case::<f32>::new(widths, records, oddness, norm, seed.into()))?;
        holds(&Case::<f64>::new(widths, records, oddness, norm, seed.into()))?;
    }
}

/// A case in which the output gradients of all records are multiplied by 20, and those of the record that the
/// neighbour lacks by a further −10,000.
fn opposed() -> Case<f32> {
    let mut case = Case::new([10, 8, 3, 12], 30, u32::MAX, 0.5, 5);
    case.gradients *= 20.0;
    let lacking = case.lacking;
    case.gradients.row_mut(lacking).mapv_inplace(|g| -1e4 * g);
    case
}

#[test]
fn a_record_that_is_clipped_reaches_the_bound_and_not_more() {
    let case = opposed();
    let share = case.share_of_claim(|rows| case.clipped_sum(rows));
    assert!((0.99..=1.0).contains(&share), "{share} of the bound");
}

/// The sum over the windows of a record may nearly cancel, and its norm is then rounded more.
#[test]
fn clipping_drops_no_record_of_a_convolution() {
    let case = Case::<f32>::new([36, 20, 8, 12], 200, u32::MAX, 1e-3, 3);
    for row in case.all() {
        let norm = case.clipped_sum(&[row]).iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        assert!((0.99e-3..=1.0e-3).contains(&norm), "record {row} has a gradient of norm {norm}");
    }
}

#[test]
fn a_sum_that_is_not_clipped_breaks_the_bound() {
    let case = opposed();
    let share = case.share_of_claim(|rows| case.sum(rows));
    assert!(share > 100.0, "{share} of the bound");
}

#[test]
fn a_sum_that_is_clipped_as_a_whole_breaks_the_bound() {
    let case = opposed();
    let share = case.share_of_claim(|rows| case.sum_clipped_as_a_whole(rows));
    assert!(share > 10.0, "{share} of the bound");
}

/// Clipped gradients of all records are summed in single precision. The sum differs from their sum in double
/// precision by more than zero, and by at most the claimed error.
#[test]
fn the_error_of_a_sum_is_what_is_claimed() {
    let case = Case::<f32>::new([40, 30, 8, 30], 200, u32::MAX, 1e-3, 9);
    let mut exact = vec![0.0; case.parameters()];
    for row in case.all() {
        for (sum, g) in exact.iter_mut().zip(case.clipped_sum(&[row])) {
            *sum += f64::from(g);
        }
    }
    let sum = case.clipped_sum(&case.all());
    let error = exact.iter().zip(sum).map(|(exact, g)| (exact - f64::from(g)).powi(2)).sum::<f64>().sqrt();
    let claimed = Sensitivity::for_training::<f32>(&case.training(), 200, case.parameters()).sum_distance
        - case.clipping_norm;
    assert!(error > 0.0 && error <= claimed / 2.0, "{error:e} for {claimed:e}");
}

//! Alignment of the rows of a pass, so that each row's result is independent of the other rows.
//!
//! A record's gradient must not depend on the records in the same pass, to the last bit. Otherwise an added
//! record would change all other gradients, and clipping would not bound the change.
//!
//! A matrix product gives the same result for the same row if it always sums in the same order. Its inner
//! loops (kernels), however, take other code paths for other shapes, such as a single row or tiny matrices.
//! The number of rows of every pass is therefore a multiple of a fixed number, which [`alignment`] determines
//! before a training. For each candidate number, [`alignment`] sends rows through a network in all multiples
//! of this number up to [`MOST_ROWS`], and in other positions. The results of each row must stay the same. If
//! no smaller number suffices, every pass has [`MOST_ROWS`] rows. The remaining assumption is that the code
//! path does not depend on the rows' values.

use crate::{Error, Result};
use ndarray::{Array2, ArrayView2, Axis};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use scumble_neural::{Network, Pass, Real};

/// Maximum number of rows of a pass.
pub(crate) const MOST_ROWS: usize = 96;

/// Candidate alignments, each a multiple of the one before it.
const ALIGNMENTS: [usize; 3] = [16, 48, MOST_ROWS];

/// Number of positions by which the test rotates the rows. A kernel (inner loop of a matrix product)
/// processes a group of rows at once, and the size of this group is no multiple of this number.
const MOVED: usize = 5;

/// Sets `padded` to `rows`, padded to a multiple of `alignment` by repeating the last row.
pub(crate) fn pad(rows: &[usize], alignment: usize, padded: &mut Vec<usize>) {
    padded.clear();
    padded.extend_from_slice(rows);
    if let Some(&last) = rows.last() {
        padded.resize(rows.len().next_multiple_of(alignment), last);
    }
}

/// Returns the smallest of [`ALIGNMENTS`] at which a row's results are independent of the other rows.
///
/// The results are a row's output, its gradient with respect to the input, and the norm of its gradient with
/// respect to the parameters. They must depend neither on the number of rows (a multiple of the alignment)
/// nor on the row's position.
///
/// # Errors
/// [`Error::RowsAreUnlike`] if no alignment works.
pub(crate) fn alignment<T: Real>(network: &Network<T>) -> Result<usize> {
    let [inputs, outputs] = [network.architecture().inputs, network.architecture().outputs()];
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut drawn = |columns| {
        let mut number = || T::nearest(f64::from(rng.next_u32() as i32) / 2f64.powi(31));
        Array2::from_shape_simple_fn((MOST_ROWS, columns), &mut number)
    };
    let (records, gradient) = (drawn(inputs), drawn(outputs));
    let mut pass = Pass::default();
    let all = Through::new(network, records.view(), gradient.view(), &mut pass)?;
    let mut is_alike = |order: &[usize]| -> Result<bool> {
        let ordered = |array: &Array2<T>| array.select(Axis(0), order);
        let some = Through::new(network, ordered(&records).view(), ordered(&gradient).view(), &mut pass)?;
        Ok(order.iter().enumerate().all(|(at, &row)| all.is_alike(row, &some, at)))
    };
    for alignment in ALIGNMENTS {
        let mut alike = true;
        for rows in (alignment..=MOST_ROWS).step_by(alignment) {
            // Tests the last rows in reverse order, and the first rows rotated. Each row then has another
            // position than in the full pass, and another position within the group of rows that a kernel
            // processes at once.
            let turned: Vec<usize> = (MOST_ROWS - rows..MOST_ROWS).rev().collect();
            let moved: Vec<usize> = (0..rows).map(|at| (at + MOVED) % rows).collect();
            alike = alike && is_alike(&turned)? && is_alike(&moved)?;
        }
        if alike {
            return Ok(alignment);
        }
    }
    Err(Error::RowsAreUnlike)
}

/// Results of rows after a forward and a backward pass through a network.
struct Through<T> {
    output: Array2<T>,
    input_gradient: Array2<T>,
    squares: Vec<f64>,
}

impl<T: Real> Through<T> {
    fn new(
        network: &Network<T>,
        records: ArrayView2<T>,
        gradient: ArrayView2<T>,
        pass: &mut Pass<T>,
    ) -> Result<Self> {
        let output = network.forward(records, pass)?.to_owned();
        network.backward(gradient, pass)?;
        let mut squares = vec![0.0; records.nrows()];
        network.add_squared_norms(pass, &mut squares)?;
        let input_gradient = network.input_gradient(pass)?.to_owned();
        Ok(Self { output, input_gradient, squares })
    }

    /// Returns whether the results of row `at` equal those of row `other_row` of `other`.
    fn is_alike(&self, at: usize, other: &Self, other_row: usize) -> bool {
        self.output.row(at) == other.output.row(other_row)
            && self.input_gradient.row(at) == other.input_gradient.row(other_row)
            && self.squares[at].to_bits() == other.squares[other_row].to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_neural::{Activation, Architecture, Initialisation, Windows};

    /// The autoencoder of the benchmark, and shapes with special code paths: one output, one input, tiny,
    /// odd.
    const WIDTHS: [&[usize]; 12] = [
        &[12, 12],
        &[16, 16, 16],
        &[13, 19],
        &[7, 12, 7],
        &[9, 17, 3, 20],
        &[784, 400, 150, 50, 8, 50, 150, 400, 784],
        &[3, 2],
        &[5, 1],
        &[30, 8, 1],
        &[1, 1, 7],
        &[17, 33, 65, 10],
        &[1000, 700, 13],
    ];

    fn network<T: Real>(widths: &[usize]) -> Network<T> {
        let start = Architecture::new(widths[0]);
        let layers = widths[1..].iter().fold(start, |made, &width| made.layer(width, Activation::Tanh));
        Network::new(layers, Initialisation::Uniform, 3).unwrap()
    }

    /// A convolution, a dense layer and a transposed convolution.
    fn convolutional<T: Real>() -> Network<T> {
        let windows = Windows { height: 12, width: 12, channels: 1, side: 4, stride: 2 };
        let there = Architecture::new(144).convolution(windows, 6, Activation::Relu);
        let back = there.layer(6 * windows.count(), Activation::Relu).transposed(windows, Activation::Tanh);
        Network::new(back, Initialisation::Uniform, 3).unwrap()
    }

    #[test]
    fn rows_are_alike_in_aligned_numbers_and_in_every_place() {
        let found = [alignment(&convolutional::<f32>()), alignment(&convolutional::<f64>())];
        assert!(found.iter().all(Result::is_ok), "{found:?}");
        for widths in WIDTHS {
            let found = [alignment(&network::<f32>(widths)), alignment(&network::<f64>(widths))];
            assert!(found.iter().all(Result::is_ok), "{widths:?}: {found:?}");
        }
    }

    #[test]
    fn padding_repeats_the_last_row() {
        let mut padded = vec![];
        for (rows, expected) in [(0, 0), (1, 16), (16, 16), (17, 32), (MOST_ROWS, MOST_ROWS)] {
            let rows: Vec<usize> = (100..100 + rows).collect();
            pad(&rows, 16, &mut padded);
            assert_eq!(padded.len(), expected);
            assert_eq!(padded[..rows.len()], rows);
            assert!(padded[rows.len()..].iter().all(|row| Some(row) == rows.last()));
        }
    }
}

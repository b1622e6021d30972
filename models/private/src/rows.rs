//! Rows that go through a network together, and what each makes of that.
//!
//! A record's own gradient must not depend on the records beside it, to the last bit: else one record more would change all the others'
//! gradients, and no clipping bounds that. Products of matrices have the same number for the same row as long as they sum in one order,
//! but kernels may take other ways for other shapes: for a single row, for tiny matrices, for the last rows. So rows go through
//! in numbers that are a multiple of [`ALIGNED`], up to [`MOST_ROWS`], and before a training [`check_alike`] sends rows through its
//! networks in all of these numbers and in other places, and sees that nothing but their order changes. What is left to assume is
//! that the ways taken do not depend on the rows' values, as in no product of matrices they do.

use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use scumble_neural::{Network, Pass, Real};

/// The rows of a pass are a multiple of this.
pub(crate) const ALIGNED: usize = 16;

/// The rows of a pass at most.
pub(crate) const MOST_ROWS: usize = 128;

/// Sets `padded` to the `rows` and as many more as make a multiple of [`ALIGNED`]: the last one over again.
pub(crate) fn pad(rows: &[usize], padded: &mut Vec<usize>) {
    padded.clear();
    padded.extend_from_slice(rows);
    if let Some(&last) = rows.last() {
        padded.resize(rows.len().next_multiple_of(ALIGNED), last);
    }
}

/// # Errors
/// [`Error::RowsAreUnlike`] where a row's output, its gradient with respect to the input, or the norm of that with respect to the
/// parameters depends on how many rows there are, or on its place.
pub(crate) fn check_alike<T: Real>(network: &Network<T>) -> Result<()> {
    let [inputs, outputs] = [network.architecture().inputs, network.architecture().outputs()];
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut drawn = |columns| {
        Array2::from_shape_simple_fn((MOST_ROWS, columns), || {
            T::nearest(f64::from(rng.next_u32() as i32) / 2f64.powi(31))
        })
    };
    let (records, gradient) = (drawn(inputs), drawn(outputs));
    let mut pass = Pass::default();
    let all = Through::new(network, records.view(), gradient.view(), &mut pass)?;
    for rows in (ALIGNED..=MOST_ROWS).step_by(ALIGNED) {
        // The last rows, turned round: each stands elsewhere than where it stood among all.
        let turned = |array: &Array2<T>| array.slice(ndarray::s![MOST_ROWS - rows..;-1, ..]).to_owned();
        let some = Through::new(network, turned(&records).view(), turned(&gradient).view(), &mut pass)?;
        for at in 0..rows {
            if !all.is_alike(MOST_ROWS - 1 - at, &some, at) {
                return Err(Error::RowsAreUnlike);
            }
        }
    }
    Ok(())
}

/// What came of rows on their way through a network and back.
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

    /// Whether the row at one place is bit by bit the `other`'s at another.
    fn is_alike(&self, at: usize, other: &Self, there: usize) -> bool {
        self.output.row(at) == other.output.row(there)
            && self.input_gradient.row(at) == other.input_gradient.row(there)
            && self.squares[at].to_bits() == other.squares[there].to_bits()
    }
}

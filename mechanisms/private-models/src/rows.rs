//! Random records with given first and second moments.

use crate::encoding::Encoding;
use ndarray::{Array1, Array2, ArrayView1, Axis, s};
use rand::Rng;
use rand_distr::StandardNormal;
use scumble_core::levels::draw;
use scumble_core::{Layout, RecordDomain, Result, Stream, Table, Target, TargetLayout};
use scumble_linalg::Eigen;

/// Distribution of random rows. Rows are normal about the mean of their class, with the same covariance in
/// all classes. If the target is not a class, all rows belong to one class.
pub struct Population {
    layout: Layout,
    encoding: Encoding,
    /// Fraction of the rows and mean of each class. The mean has q values, one for each coordinate of a row.
    classes: Vec<(f64, Array1<f64>)>,
    /// Square root of the covariance of a row about the mean of its class (q × q, for q coordinates of a
    /// row).
    colour: Array2<f64>,
}

impl Population {
    /// Creates a population in which the products zzᵀ of the encoded vectors z (see [`Encoding`]) have the
    /// means `moments` (upper triangle). If no population has exactly these means, the population has similar
    /// means.
    ///
    /// Impossible class fractions and means are replaced by possible ones: for example, negative fractions
    /// become zero. Eigenvalues of the covariance below `floor`, the size of the noise in the eigenvalues,
    /// are raised to `floor`. Returns `None` if `moments` are not finite or do not fit records of `domain`.
    pub fn from_moments(
        domain: &RecordDomain,
        encoding: &Encoding,
        moments: &Array2<f64>,
        floor: f64,
    ) -> Option<Self> {
        let layout = domain.layout();
        if encoding.width() != 1 + layout.width() || moments.dim() != (encoding.width(), encoding.width()) {
            return None;
        }
        let width = match layout.target {
            TargetLayout::Class { .. } => layout.columns.len(),
            _ => layout.width(),
        };
        let moments = completed(encoding, moments);
        let drawn = 1..1 + width;
        let (labels, total) = match layout.target {
            TargetLayout::Class { levels } => (1 + width..1 + width + levels, 1.0),
            _ => (0..1, moments[[0, 0]]),
        };
        let shares = draw::shares(labels.clone().map(|label| moments[[0, label]] / total));
        let class = |(label, share): (usize, f64)| {
            let mean = moments.slice(s![label, drawn.clone()]).mapv(|sum| sum / share.max(floor.min(1.0)));
            (share, within(encoding, mean))
        };
        let classes: Vec<_> = labels.zip(shares).map(class).collect();
        let mut covariance = moments.slice(s![drawn.clone(), drawn]).to_owned();
        for (share, mean) in &classes {
            let column = mean.view().insert_axis(Axis(1));
            covariance.scaled_add(-share, &column.dot(&column.t()));
        }
        let colour = Eigen::new(&covariance)?.map(|value| root(value.max(floor)));
        Some(Self { layout, encoding: encoding.clone(), classes, colour })
    }

    /// Draws `count` rows. If there are enough rows to invert their covariance, the rows have exactly the
    /// population's class means, and its covariance about these means.
    ///
    /// # Errors
    /// Same errors as [`Table::new`]. No values of the moments cause an error.
    pub fn rows(&self, count: usize, stream: &mut Stream) -> Result<Table> {
        let shares: Vec<f64> = self.classes.iter().map(|(share, _)| *share).collect();
        let classes = draw::levels(&shares, count, stream);
        let mut rows =
            Array2::from_shape_simple_fn((count, self.colour.nrows()), || stream.sample(StandardNormal));
        center(&mut rows, &classes, shares.len());
        let mut rows = rows.dot(&self.coloured(&rows));
        for (mut row, class) in rows.outer_iter_mut().zip(&classes) {
            row += &self.classes[*class].1;
        }
        self.table(rows, classes)
    }

    /// Returns the matrix that gives the rows `drawn` the population's covariance C. It is the product
    /// S^−½C^½, where S is the covariance of `drawn`.
    ///
    /// If there are too few rows to invert S, the matrix is C^½.
    fn coloured(&self, drawn: &Array2<f64>) -> Array2<f64> {
        /// Lower limit for an eigenvalue of S, the covariance of the rows `drawn`. If an eigenvalue is below
        /// it, the rows do not span all directions.
        const DEPENDENT: f64 = 1e-9;
        let covariance = drawn.t().dot(drawn) / drawn.nrows() as f64;
        match Eigen::new(&covariance).filter(|eigen| eigen.least() > DEPENDENT) {
            Some(eigen) => eigen.map(|value| 1.0 / root(value)).dot(&self.colour),
            None => self.colour.clone(),
        }
    }

    /// Returns the rows as a table in the units of the encoded record.
    fn table(&self, mut rows: Array2<f64>, classes: Vec<usize>) -> Result<Table> {
        for (at, mut column) in rows.axis_iter_mut(Axis(1)).enumerate() {
            if let Some((middle, half)) = self.encoding.scale(at) {
                column.mapv_inplace(|u| middle + half * u);
            }
        }
        let features = self.layout.columns.len();
        let target = match self.layout.target {
            TargetLayout::None => Target::None,
            TargetLayout::Class { .. } => Target::Class(classes.into()),
            _ => Target::Real(rows.column(features).to_owned()),
        };
        Table::new(self.layout.columns.clone(), rows.slice_move(s![.., ..features]), target)
    }
}

fn root(value: f64) -> f64 {
    value.max(0.0).sqrt()
}

/// Returns both triangles of a matrix of moments, with the known products of levels. A level equals its own
/// square, and two levels of a group are never both 1.
fn completed(encoding: &Encoding, upper: &Array2<f64>) -> Array2<f64> {
    let mut all = Array2::from_shape_fn(upper.dim(), |(i, j)| upper[[i.min(j), i.max(j)]]);
    for group in encoding.groups() {
        let behind = group.start + 1..group.end + 1;
        all.slice_mut(s![behind.clone(), behind.clone()]).fill(0.0);
        behind.for_each(|level| all[[level, level]] = all[[0, level]].max(0.0));
    }
    all
}

/// Moves a mean of encoded records to values that a mean can have. Numbers are clamped to [−1, 1]. In each
/// one-hot group, negative fractions become zero, and all are then scaled to the sum 1.
fn within(encoding: &Encoding, mut mean: Array1<f64>) -> Array1<f64> {
    mean.mapv_inplace(|u| u.clamp(-1.0, 1.0));
    let width = mean.len();
    for group in encoding.groups().iter().filter(|group| group.end <= width) {
        let shares = draw::shares(mean.slice(s![group.clone()]).iter().copied());
        mean.slice_mut(s![group.clone()]).assign(&ArrayView1::from(&shares));
    }
    mean
}

/// Subtracts from each row the mean of its class.
fn center(rows: &mut Array2<f64>, labels: &[usize], classes: usize) {
    let mut sums = Array2::<f64>::zeros((classes, rows.ncols()));
    let mut counts = vec![0.0; classes];
    for (row, class) in rows.outer_iter().zip(labels) {
        counts[*class] += 1.0;
        let mut sum = sums.row_mut(*class);
        sum += &row;
    }
    for (mut row, class) in rows.outer_iter_mut().zip(labels) {
        row.scaled_add(-1.0 / counts[*class], &sums.row(*class));
    }
}

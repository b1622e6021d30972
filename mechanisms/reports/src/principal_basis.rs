//! Coordinates of records along the volunteers' principal directions, relative to the volunteers' mean.

use crate::partition::Partition;
use ndarray::{Array1, ArrayView1, ArrayView2, Axis};
use scumble_core::{Error, RecordDomain, Result};
use serde::{Deserialize, Serialize};

/// Upper limit for the diameter of the domain and for the clipping norm. The inverse is the lower limit for
/// the clipping norm and for the standard deviation along a direction. Within these limits all results are
/// finite.
const LARGEST: f64 = 1e70;

/// Lower limit for the standard deviation along a direction, relative to the largest standard deviation and
/// to the largest coordinate of the volunteers' mean. Smaller deviations are rounding errors.
const LEAST: f64 = 1e-6;

/// Coordinates along some principal directions, relative to the volunteers' mean.
///
/// A coordinate is the distance of a record from the mean along a direction, divided by the square root of
/// the standard deviation along this direction. A report is a vector of bounded length with equal noise in
/// all coordinates. For such vectors, this scale gives the smallest error of the mean in the units of the
/// records.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Taught", into = "Taught")]
pub(crate) struct PrincipalBasis {
    taught: Taught,
    /// Standard deviation of records along each of the k directions.
    deviations: Array1<f64>,
    /// Divisor of each of the k coordinates: the standard deviation to the power of 1.5. One factor of the
    /// standard deviation compensates for the length of the spread's row, which is the standard deviation.
    widths: Array1<f64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Taught {
    /// Partition with all volunteers in one code.
    volunteers: Partition,
    /// Number of directions in use.
    dimensions: usize,
    /// Largest length of the vector of coordinates; a longer vector is shortened to it.
    clipping_norm: f64,
}

impl From<Taught> for PrincipalBasis {
    fn from(taught: Taught) -> Self {
        let deviations = deviations(taught.spread());
        Self { widths: deviations.mapv(|deviation| deviation.powf(1.5)), deviations, taught }
    }
}

impl From<PrincipalBasis> for Taught {
    fn from(basis: PrincipalBasis) -> Self {
        basis.taught
    }
}

impl Taught {
    /// Returns the directions in use, limited to the existing ones.
    fn spread(&self) -> ArrayView2<'_, f64> {
        let all = self.volunteers.spread();
        let used = self.dimensions.min(all.nrows());
        all.slice_move(ndarray::s![..used, ..])
    }
}

impl PrincipalBasis {
    /// Learns all directions in which `records` (n × d) of volunteers vary, without clipping.
    pub(crate) fn learn(plugin: &str, records: ArrayView2<f64>) -> Result<Self> {
        if records.ncols() == 0 {
            return Err(Error::not_applicable(plugin, "there is no column to report"));
        }
        let volunteers = Partition::learn(plugin, records, 1, 0)?;
        let size = volunteers.center(0).iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let deviations = deviations(volunteers.spread());
        let least = LEAST * deviations.first().copied().unwrap_or(0.0).max(size);
        let dimensions = deviations.iter().take_while(|deviation| **deviation > least).count();
        if dimensions == 0 {
            return Err(Error::not_applicable(plugin, "all volunteers' records are equal"));
        }
        Ok(Taught { volunteers, dimensions, clipping_norm: LARGEST }.into())
    }

    /// Keeps the first `dimensions` directions, and clips at the length that a share `clipped` < 1 of
    /// `records` (n × d) exceeds.
    pub(crate) fn along(self, dimensions: usize, clipped: f64, records: ArrayView2<f64>) -> Self {
        let basis = Self::from(Taught { dimensions, ..self.taught });
        let mut lengths: Vec<f64> = records.outer_iter().map(|record| length(&basis.whole(record))).collect();
        lengths.sort_by(f64::total_cmp);
        let last = lengths.len().saturating_sub(1);
        let kept = ((1.0 - clipped) * last as f64) as usize;
        // If most records are equal, the length at this rank is zero. Then the smallest positive length is
        // used.
        let clipping_norm = lengths.split_off(kept).into_iter().find(|length| *length > 0.0);
        Taught { clipping_norm: clipping_norm.unwrap_or(1.0), ..basis.taught }.into()
    }

    /// Checks that the basis fits records of this domain.
    pub(crate) fn check(&self, domain: &RecordDomain) -> Result<()> {
        let Taught { volunteers, dimensions, clipping_norm } = &self.taught;
        volunteers.check(domain)?;
        let fits = (1..=volunteers.spread().nrows()).contains(dimensions)
            && volunteers.codes() == 1
            && self.deviations.iter().all(|deviation| *deviation > 1.0 / LARGEST)
            && (1.0 / LARGEST..=LARGEST).contains(clipping_norm);
        let farthest = domain.features().l2_diameter();
        if farthest.is_nan() || farthest > LARGEST {
            return Err(Error::shape(format!("the numbers exceed {LARGEST:e}: declare narrower bounds")));
        }
        if fits { Ok(()) } else { Err(Error::shape("the directions do not fit the records")) }
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.taught.dimensions
    }

    pub(crate) fn clipping_norm(&self) -> f64 {
        self.taught.clipping_norm
    }

    /// Variance of the coordinate of records along each direction. It has the same value as the standard
    /// deviation along the direction in the units of the records.
    pub(crate) fn variances(&self) -> &Array1<f64> {
        &self.deviations
    }

    fn whole(&self, record: ArrayView1<f64>) -> Array1<f64> {
        self.taught.spread().dot(&(&record - &self.taught.volunteers.center(0))) / &self.widths
    }

    /// Returns the coordinates (k) of a record (d), clipped to the clipping norm.
    pub(crate) fn coordinates(&self, record: &[f64]) -> Array1<f64> {
        let whole = self.whole(ArrayView1::from(record));
        let share = (self.taught.clipping_norm / length(&whole)).min(1.0);
        whole * share
    }

    /// Returns the record (d) at these coordinates (k).
    pub(crate) fn record(&self, coordinates: &Array1<f64>) -> Vec<f64> {
        let back = coordinates / &self.deviations.mapv(f64::sqrt);
        (back.dot(&self.taught.spread()) + self.taught.volunteers.center(0)).to_vec()
    }

    /// Value that marks the label in a report; zero without labels. For a record at the clipping norm, it
    /// equals the root mean square of all values in the block of the label.
    pub(crate) fn share_weight(&self, labels: usize) -> f64 {
        if labels > 1 { 1.0 / (self.taught.dimensions as f64 + 1.0).sqrt() } else { 0.0 }
    }

    /// Factor by which a coordinate is multiplied in a report. It limits the length of the reported vector to
    /// 1.
    pub(crate) fn sum_weight(&self, labels: usize) -> f64 {
        (1.0 - self.share_weight(labels).powi(2)).sqrt() / self.taught.clipping_norm
    }

    /// Returns the distribution of records within one group of people. `between` (k) is the variance of the
    /// groups' means along each direction.
    ///
    /// The volunteers' variances include `between`, which is therefore subtracted from them.
    pub(crate) fn within(&self, between: &Array1<f64>) -> Partition {
        let times = (1.0 - between / &self.deviations).mapv(|rest| rest.max(0.0).sqrt());
        self.taught.volunteers.with_spread(&times.to_vec())
    }
}

/// Standard deviation along each direction, the length of the rows of `spread`.
fn deviations(spread: ArrayView2<f64>) -> Array1<f64> {
    spread.map_axis(Axis(1), |direction| direction.dot(&direction).sqrt())
}

fn length(coordinates: &Array1<f64>) -> f64 {
    coordinates.dot(coordinates).sqrt()
}

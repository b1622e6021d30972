//! Coordinates of records along the volunteers' principal directions, relative to the volunteers' mean.

use crate::partition::Partition;
use ndarray::{Array1, ArrayView1, ArrayView2, Axis};
use scumble_core::{Error, RecordDomain, Result};
use serde::{Deserialize, Serialize};

/// Upper limit for the ℓ₂ diameter of the domain of records, and for the norm at which coordinates are
/// clipped. Its inverse is the lower limit for this norm and for the standard deviation along a direction.
/// Within these limits all results are finite in floating point.
const LARGEST: f64 = 1e70;

/// Lower limit for the standard deviation along a direction, relative to the largest standard deviation and
/// to the largest coordinate of the volunteers' mean. Smaller deviations are rounding errors.
const LEAST: f64 = 1e-6;

/// Map from a record to its coordinates along some principal directions of volunteers' records, relative to
/// their mean.
///
/// A coordinate is the distance of a record from the mean along a direction, divided by the square root of
/// the standard deviation along this direction. The coordinates are reported as a vector of bounded length
/// with equal noise in all coordinates. For such reports, this scale gives the smallest error of the
/// estimated mean record.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Taught", into = "Taught")]
pub(crate) struct PrincipalBasis {
    taught: Taught,
    /// Standard deviation of records along each of the k directions.
    deviations: Array1<f64>,
    /// Divisor of each of the k coordinates: the standard deviation along the direction, to the power of 1.5.
    /// The dividend is the inner product of a record's deviation from the mean and a direction vector whose
    /// length is the standard deviation.
    widths: Array1<f64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Taught {
    /// The volunteers' mean and principal directions, as a [`Partition`] of all records into a single cell.
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
    /// Returns the first `dimensions` principal directions, or all if there are fewer. The length of each is
    /// the standard deviation along it.
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

    /// Returns the basis with only the first `dimensions` directions. Its clipping norm is the length of
    /// coordinates that a fraction `clipped` < 1 of the n `records` (n × d) exceeds.
    pub(crate) fn along(self, dimensions: usize, clipped: f64, records: ArrayView2<f64>) -> Self {
        let basis = Self::from(Taught { dimensions, ..self.taught });
        let mut lengths: Vec<f64> = records.outer_iter().map(|record| length(&basis.whole(record))).collect();
        lengths.sort_by(f64::total_cmp);
        let last = lengths.len().saturating_sub(1);
        let kept = ((1.0 - clipped) * last as f64) as usize;
        // If most records are equal, the length at rank `kept` is zero. Then the smallest positive length is
        // used.
        let clipping_norm = lengths.split_off(kept).into_iter().find(|length| *length > 0.0);
        Taught { clipping_norm: clipping_norm.unwrap_or(1.0), ..basis.taught }.into()
    }

    /// Checks that the basis has the width of records of `domain`, and that its numbers are within their
    /// limits.
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

    /// Variance of the volunteers' coordinate along each direction. Coordinates are scaled such that it
    /// equals the standard deviation of the unscaled records along the direction.
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

    /// Value of the coordinate that marks the label in a person's vector, before noise; zero without labels.
    /// The vector has one block of values per label, and only the block of the person's label is not zero.
    /// For a record at the clipping norm, the value equals the root mean square of this block.
    pub(crate) fn share_weight(&self, labels: usize) -> f64 {
        if labels > 1 { 1.0 / (self.taught.dimensions as f64 + 1.0).sqrt() } else { 0.0 }
    }

    /// Factor by which each coordinate of a record is multiplied in a person's vector, before noise. It
    /// limits the length of the vector, with the value that marks the label, to 1.
    pub(crate) fn sum_weight(&self, labels: usize) -> f64 {
        (1.0 - self.share_weight(labels).powi(2)).sqrt() / self.taught.clipping_norm
    }

    /// Returns the distribution of records within one group of people (one label). `between` (k) is the
    /// variance of the groups' means along each of the k directions.
    ///
    /// The volunteers' variances are over all groups and include `between`, so `between` is subtracted from
    /// them.
    pub(crate) fn within(&self, between: &Array1<f64>) -> Partition {
        let times = (1.0 - between / &self.deviations).mapv(|rest| rest.max(0.0).sqrt());
        self.taught.volunteers.with_spread(&times.to_vec())
    }
}

/// Returns the standard deviation along each direction, which is the length of each row of `spread`.
fn deviations(spread: ArrayView2<f64>) -> Array1<f64> {
    spread.map_axis(Axis(1), |direction| direction.dot(&direction).sqrt())
}

fn length(coordinates: &Array1<f64>) -> f64 {
    coordinates.dot(coordinates).sqrt()
}

//! Coordinates of records along the volunteers' principal directions, relative to the volunteers' mean.

use crate::partition::Partition;
use ndarray::{Array1, ArrayView1, ArrayView2, Axis};
use scumble_core::{Error, RecordDomain, Result};
use serde::{Deserialize, Serialize};

/// Upper limit for numbers. Its inverse is the lower limit for deviations along a direction. Within these
/// limits all results are finite.
const LARGEST: f64 = 1e70;

/// Lower limit for the deviation along a direction, relative to the largest deviation and to the size of
/// records. Smaller deviations are rounding errors.
const LEAST: f64 = 1e-6;

/// Coordinates along some principal directions, relative to the volunteers' mean.
///
/// A coordinate is the distance of a record from the mean along a direction, divided by the square root of
/// the standard deviation along it. For vectors of bounded length with equal noise in all coordinates, this
/// scale gives the smallest error of the mean in the records' own units.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Taught", into = "Taught")]
pub(crate) struct PrincipalBasis {
    taught: Taught,
    /// Standard deviation of records along each direction (k).
    deviations: Array1<f64>,
    /// Divisor of each coordinate (k). It accounts for rows of the spread, which are unit vectors times the
    /// deviation.
    widths: Array1<f64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Taught {
    /// Partition with all volunteers in one code.
    volunteers: Partition,
    /// Number of directions in use.
    dimensions: usize,
    /// Length at which coordinates are clipped.
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
        // If most records are equal, the length at this rank is zero; take the first positive one.
        let clipping_norm = lengths.split_off(kept).into_iter().find(|length| *length > 0.0);
        Taught { clipping_norm: clipping_norm.unwrap_or(1.0), ..basis.taught }.into()
    }

    /// Checks that the coordinates fit records of this domain.
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

    /// Variance of records along each direction, in squared coordinates. It equals the standard deviation in
    /// the records' own units.
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

    /// Weight of a label in a report. It equals the average weight of a coordinate of a record at the
    /// clipping norm.
    pub(crate) fn share_weight(&self, labels: usize) -> f64 {
        if labels > 1 { 1.0 / (self.taught.dimensions as f64 + 1.0).sqrt() } else { 0.0 }
    }

    /// Factor of a coordinate in a report. It limits the length of each report to 1.
    pub(crate) fn sum_weight(&self, labels: usize) -> f64 {
        (1.0 - self.share_weight(labels).powi(2)).sqrt() / self.taught.clipping_norm
    }

    /// Returns the distribution of records within one group, for groups whose means have the variances
    /// `between` (k).
    ///
    /// The variances `between` are part of the volunteers' own variances.
    pub(crate) fn within(&self, between: &Array1<f64>) -> Partition {
        let times = (1.0 - between / &self.deviations).mapv(|rest| rest.max(0.0).sqrt());
        self.taught.volunteers.with_spread(&times.to_vec())
    }
}

/// Standard deviation along each direction.
fn deviations(spread: ArrayView2<f64>) -> Array1<f64> {
    spread.map_axis(Axis(1), |direction| direction.dot(&direction).sqrt())
}

fn length(coordinates: &Array1<f64>) -> f64 {
    coordinates.dot(coordinates).sqrt()
}

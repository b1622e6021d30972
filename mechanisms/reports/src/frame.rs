//! Where records lie, seen from the volunteers' mean along their principal directions.

use crate::partition::Partition;
use ndarray::{Array1, ArrayView1, ArrayView2, Axis};
use scumble_core::{Error, RecordDomain, Result};
use serde::{Deserialize, Serialize};

/// Numbers are less than this, and deviations along a direction more than its inverse: what is computed of them is a finite number then.
const LARGEST: f64 = 1e70;

/// The least deviation along a direction, over the largest along any and over the size of records: less is rounding.
const LEAST: f64 = 1e-6;

/// A coordinate for each of some principal directions: how far a record lies from the volunteers' mean along it, over the square root of the standard deviation there. Of all scales these
/// make the mean least wrong, in the records' own units, by noise that is equal in all coordinates of vectors of bounded length.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Taught", into = "Taught")]
pub(crate) struct Frame {
    taught: Taught,
    /// The standard deviation of records along each direction (k).
    deviations: Array1<f64>,
    /// What a coordinate is divided by (k): what spreads is a unit vector times the deviation.
    widths: Array1<f64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Taught {
    /// Of all volunteers as one.
    volunteers: Partition,
    /// How many directions there are.
    dimensions: usize,
    /// The length at which coordinates are clipped.
    clipping_norm: f64,
}

impl From<Taught> for Frame {
    fn from(taught: Taught) -> Self {
        let deviations = deviations(taught.spread());
        Self { widths: deviations.mapv(|deviation| deviation.powf(1.5)), deviations, taught }
    }
}

impl From<Frame> for Taught {
    fn from(frame: Frame) -> Self {
        frame.taught
    }
}

impl Taught {
    /// The directions that are used, as many as there are at most.
    fn spread(&self) -> ArrayView2<'_, f64> {
        let all = self.volunteers.spread();
        let used = self.dimensions.min(all.nrows());
        all.slice_move(ndarray::s![..used, ..])
    }
}

impl Frame {
    /// All directions that `records` (n × d) of volunteers have, and nothing clipped.
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
            return Err(Error::not_applicable(plugin, "volunteers' records differ in nothing"));
        }
        Ok(Taught { volunteers, dimensions, clipping_norm: LARGEST }.into())
    }

    /// The first `dimensions` directions alone, clipped where a share `clipped`, below 1, of `records` (n × d) are longer.
    pub(crate) fn along(self, dimensions: usize, clipped: f64, records: ArrayView2<f64>) -> Self {
        let frame = Self::from(Taught { dimensions, ..self.taught });
        let mut lengths: Vec<f64> = records.outer_iter().map(|record| length(&frame.whole(record))).collect();
        lengths.sort_by(f64::total_cmp);
        let last = lengths.len().saturating_sub(1);
        let kept = ((1.0 - clipped) * last as f64) as usize;
        // Most of those who are alike, but for a few, have a length of zero.
        let clipping_norm = lengths.split_off(kept).into_iter().find(|length| *length > 0.0);
        Taught { clipping_norm: clipping_norm.unwrap_or(1.0), ..frame.taught }.into()
    }

    /// That it is one of records of this domain.
    pub(crate) fn check(&self, domain: &RecordDomain) -> Result<()> {
        let Taught { volunteers, dimensions, clipping_norm } = &self.taught;
        volunteers.check(domain)?;
        let fits = (1..=volunteers.spread().nrows()).contains(dimensions)
            && volunteers.codes() == 1
            && self.deviations.iter().all(|deviation| *deviation > 1.0 / LARGEST)
            && (1.0 / LARGEST..=LARGEST).contains(clipping_norm);
        let farthest = domain.features().l2_diameter();
        if farthest.is_nan() || farthest > LARGEST {
            return Err(Error::shape(format!("numbers reach beyond {LARGEST:e}: declare narrower bounds")));
        }
        if fits { Ok(()) } else { Err(Error::shape("the directions are not those of such records")) }
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.taught.dimensions
    }

    pub(crate) fn clipping_norm(&self) -> f64 {
        self.taught.clipping_norm
    }

    /// The variance of records along each direction, in squares of coordinates: the standard deviation in the records' own units.
    pub(crate) fn variances(&self) -> &Array1<f64> {
        &self.deviations
    }

    fn whole(&self, record: ArrayView1<f64>) -> Array1<f64> {
        self.taught.spread().dot(&(&record - &self.taught.volunteers.center(0))) / &self.widths
    }

    /// The coordinates (k) of a record (d), of no greater length than the clipping norm.
    pub(crate) fn coordinates(&self, record: &[f64]) -> Array1<f64> {
        let whole = self.whole(ArrayView1::from(record));
        let share = (self.taught.clipping_norm / length(&whole)).min(1.0);
        whole * share
    }

    /// The record (d) at these coordinates (k).
    pub(crate) fn record(&self, coordinates: &Array1<f64>) -> Vec<f64> {
        let back = coordinates / &self.deviations.mapv(f64::sqrt);
        (back.dot(&self.taught.spread()) + self.taught.volunteers.center(0)).to_vec()
    }

    /// What a label weighs in a report: as much as each coordinate of a record of the clipping norm does, on average.
    pub(crate) fn share_weight(&self, labels: usize) -> f64 {
        if labels > 1 { 1.0 / (self.taught.dimensions as f64 + 1.0).sqrt() } else { 0.0 }
    }

    /// What a coordinate is multiplied by in a report, so that no report is longer than 1.
    pub(crate) fn sum_weight(&self, labels: usize) -> f64 {
        (1.0 - self.share_weight(labels).powi(2)).sqrt() / self.taught.clipping_norm
    }

    /// What records of one group are like, where the means of groups have these variances (k), which are part of the volunteers' own.
    pub(crate) fn within(&self, between: &Array1<f64>) -> Partition {
        let times = (1.0 - between / &self.deviations).mapv(|rest| rest.max(0.0).sqrt());
        self.taught.volunteers.with_spread(&times.to_vec())
    }
}

/// The standard deviation along each direction.
fn deviations(spread: ArrayView2<f64>) -> Array1<f64> {
    spread.map_axis(Axis(1), |direction| direction.dot(&direction).sqrt())
}

fn length(coordinates: &Array1<f64>) -> f64 {
    coordinates.dot(coordinates).sqrt()
}

//! Scales of features for networks. A *lens* maps features to these scales before the encoder, and back after
//! the decoder.

use ndarray::{Array2, ArrayView2};
use scumble_core::{Domain, Error, Factor, Result};
use serde::{Deserialize, Serialize};

/// Scale on which an encoder sees a feature, with the inverse for a decoder's output.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "scale", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Scale {
    /// Maps x to (x − center)/width, and back.
    Standard {
        /// Value that is mapped to 0.
        center: f64,
        /// Distance from the centre to the value that is mapped to 1.
        width: f64,
    },
    /// Maps x to ln(s/(1 − s)), and back, with s = margin + (1 − 2·margin)·share and share = (x −
    /// lower)/(upper − lower). The margin keeps s away from 0 and 1 (*Learning to Noise*, E.1, for pixels).
    Logit {
        /// Lower end of the interval, share 0.
        lower: f64,
        /// Upper end of the interval, share 1.
        upper: f64,
        /// Margin, between 0 and ½.
        margin: f64,
    },
    /// Maps x to its share (x − lower)/(upper − lower) of an interval. The decoder's output is the logit of a
    /// share.
    Share {
        /// Lower end of the interval, share 0.
        lower: f64,
        /// Upper end of the interval, share 1.
        upper: f64,
    },
    /// Keeps the indicator of one level of a category unchanged. The decoder's output is the logit of this
    /// level.
    Level,
}

impl Scale {
    fn write(self, x: f64) -> f64 {
        match self {
            Self::Standard { center, width } => (x - center) / width,
            Self::Logit { lower, upper, margin } => {
                let share = margin + (1.0 - 2.0 * margin) * (x - lower) / (upper - lower);
                (share / (1.0 - share)).ln()
            }
            Self::Share { lower, upper } => (x - lower) / (upper - lower),
            Self::Level => x,
        }
    }

    /// Maps a decoder's output back to a value of the feature. For a level the result is still a logit.
    fn read(self, y: f64) -> f64 {
        match self {
            Self::Standard { center, width } => center + width * y,
            Self::Logit { lower, upper, margin } => {
                lower + (upper - lower) * (logistic(y) - margin) / (1.0 - 2.0 * margin)
            }
            Self::Share { lower, upper } => lower + (upper - lower) * logistic(y),
            Self::Level => y,
        }
    }

    fn is_one(self) -> bool {
        let interval =
            |lower: f64, upper: f64| lower.is_finite() && (upper - lower).is_normal() && lower < upper;
        match self {
            Self::Standard { center, width } => center.is_finite() && width.is_normal() && width > 0.0,
            Self::Logit { lower, upper, margin } => interval(lower, upper) && margin > 0.0 && margin < 0.5,
            Self::Share { lower, upper } => interval(lower, upper),
            Self::Level => true,
        }
    }
}

fn logistic(y: f64) -> f64 {
    1.0 / (1.0 + (-y).exp())
}

/// Scales of d features for networks. An empty lens leaves features unchanged.
///
/// ```
/// use ndarray::array;
/// use scumble_task_aware::{Lens, Scale};
/// use scumble_core::Domain;
///
/// let people = Domain::product([Domain::interval(0.0, 100.0)?, Domain::one_hot(2)?])?;
/// let age = Scale::Share { lower: 0.0, upper: 100.0 };
/// let lens = Lens::new(vec![age, Scale::Level, Scale::Level], &people)?;
/// assert_eq!(lens.write(array![[25.0, 1.0, 0.0]].view()), array![[0.25, 1.0, 0.0]]);
/// assert_eq!(lens.read(array![[0.0, 3.0, 3.0]], &people), array![[50.0, 0.5, 0.5]]);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lens {
    scales: Vec<Scale>,
}

impl Lens {
    /// Creates a lens that leaves features unchanged.
    pub fn plain() -> Self {
        Self::default()
    }

    /// Creates a lens with one scale for each feature of `domain` (d).
    ///
    /// # Errors
    /// Same errors as [`check`](Self::check).
    pub fn new(scales: Vec<Scale>, domain: &Domain) -> Result<Self> {
        let lens = Self { scales };
        lens.check(domain)?;
        Ok(lens)
    }

    /// Returns the scales (d); empty if features are unchanged.
    pub fn scales(&self) -> &[Scale] {
        &self.scales
    }

    /// Checks that the lens has no scales, or one valid scale for each feature of `domain`. [`Scale::Level`]
    /// must apply to all levels of a category together, and to nothing else.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of scales is neither 0 nor d, if a scale has invalid numbers, or if
    /// [`Scale::Level`] applies to a part of a category or to a number.
    pub fn check(&self, domain: &Domain) -> Result<()> {
        if self.scales.is_empty() {
            return Ok(());
        }
        if self.scales.len() != domain.dim() {
            let (scales, d) = (self.scales.len(), domain.dim());
            return Err(Error::shape(format!("there are {scales} scales for {d} features")));
        }
        if let Some(at) = self.scales.iter().position(|scale| !scale.is_one()) {
            let scale = &self.scales[at];
            return Err(Error::shape(format!("feature {} cannot have the scale {scale:?}", at + 1)));
        }
        for (at, factor) in domain.factors() {
            let scales = &self.scales[at.clone()];
            let levels = scales.iter().filter(|scale| **scale == Scale::Level).count();
            let fits = levels == 0 || (levels == scales.len() && matches!(factor, Factor::OneHot { .. }));
            if !fits {
                let place = at.start + 1;
                return Err(Error::shape(format!(
                    "the levels from feature {place} on are not the levels of one category"
                )));
            }
        }
        Ok(())
    }

    /// Maps features (n × d) to the networks' scales (n × d).
    pub fn write(&self, features: ArrayView2<f64>) -> Array2<f64> {
        let mut written = features.to_owned();
        for (mut column, scale) in written.columns_mut().into_iter().zip(&self.scales) {
            column.mapv_inplace(|x| scale.write(x));
        }
        written
    }

    /// Maps a decoder's output (n × d) to features of `domain` (n × d). Numbers are clamped to the bounds of
    /// their interval. The logits of a category's levels become probabilities.
    pub fn read(&self, mut output: Array2<f64>, domain: &Domain) -> Array2<f64> {
        for (mut column, scale) in output.columns_mut().into_iter().zip(&self.scales) {
            column.mapv_inplace(|y| scale.read(y));
        }
        for (at, factor) in domain.factors().filter(|(at, _)| at.end <= self.scales.len()) {
            match (factor, self.scales[at.start]) {
                (_, Scale::Level) => {
                    for mut row in output.rows_mut() {
                        let mut group = row.slice_mut(ndarray::s![at.clone()]);
                        let most = group.fold(f64::NEG_INFINITY, |a, b| a.max(*b));
                        group.mapv_inplace(|logit| (logit - most).exp());
                        let sum = group.sum();
                        group.mapv_inplace(|weight| weight / sum);
                    }
                }
                (Factor::Interval { lower, upper }, _) => {
                    output.column_mut(at.start).mapv_inplace(|x| x.clamp(*lower, *upper));
                }
                _ => {}
            }
        }
        output
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn domain() -> Domain {
        Domain::product([
            Domain::interval(-1.0, 3.0).unwrap(),
            Domain::interval(0.0, 255.0).unwrap(),
            Domain::interval(0.0, 1.0).unwrap(),
            Domain::one_hot(3).unwrap(),
        ])
        .unwrap()
    }

    fn lens() -> Lens {
        let scales = vec![
            Scale::Standard { center: 1.0, width: 2.0 },
            Scale::Logit { lower: 0.0, upper: 255.0, margin: 0.01 },
            Scale::Share { lower: 0.0, upper: 1.0 },
            Scale::Level,
            Scale::Level,
            Scale::Level,
        ];
        Lens::new(scales, &domain()).unwrap()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let record = array![[-0.5, 200.0, 0.25, 0.0, 1.0, 0.0]];
        let written = lens().write(record.view());
        assert!(
            (written[[0, 1]] - (0.01_f64 + 0.98 * 200.0 / 255.0).ln()
                + (0.99 - 0.98 * 200.0 / 255.0_f64).ln())
            .abs()
                < 1e-12
        );
        let mut output = written;
        output[[0, 2]] = (0.25_f64 / 0.75).ln();
        output[[0, 4]] = 1000.0; // almost certain
        let read = lens().read(output, &domain());
        assert!((&read - &record).iter().all(|x| x.abs() < 1e-12), "{read}");
    }

    #[test]
    fn whatever_a_decoder_says_is_read_within_the_bounds() {
        let read = lens().read(array![[1e300, -1e300, f64::MAX, -1e308, 1e308, 0.0]], &domain());
        assert_eq!(read, array![[3.0, 0.0, 1.0, 0.0, 1.0, 0.0]]);
    }

    #[test]
    fn scales_that_do_not_fit_are_refused() {
        let categories = Domain::one_hot(2).unwrap();
        let interval = Domain::interval(0.0, 1.0).unwrap();
        let some = Scale::Standard { center: 0.0, width: 1.0 };
        assert!(Lens::new(vec![some, Scale::Level], &categories).is_err(), "half a category");
        assert!(Lens::new(vec![Scale::Level], &interval).is_err(), "a level of an interval");
        assert!(Lens::new(vec![some; 3], &categories).is_err(), "one too many");
        for none in [
            Scale::Standard { center: 0.0, width: 0.0 },
            Scale::Logit { lower: 0.0, upper: 1.0, margin: 0.0 },
            Scale::Share { lower: 1.0, upper: 1.0 },
        ] {
            assert!(Lens::new(vec![none], &interval).is_err(), "{none:?}");
        }
    }
}

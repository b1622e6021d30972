//! Estimates about the population from released records: means, variances, frequencies and histograms, with
//! confidence intervals.

use scumble_core::{
    Error, Estimate, LocalMechanism, Moments, Noise, NoiseDistribution, Result, Table, Target,
    check_confidence, local,
};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Variable whose distribution is estimated: a column of the released table, or its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variable<'a> {
    /// The column with this name. In a histogram, this is instead the `name` of a group of columns
    /// `name=level`.
    Column(&'a str),
    /// The target.
    Target,
}

impl<'a> From<&'a str> for Variable<'a> {
    fn from(name: &'a str) -> Self {
        Self::Column(name)
    }
}

/// Estimator for the population from which the people of a release were sampled at random.
///
/// Estimates are in units of the encoded record, in which a schema scales each numeric column to [0, 1] by
/// its bounds. The distribution of the noise is public, so the estimator can remove the effect of the noise.
/// Means are unbiased, variances exclude the variance of the noise, and frequencies are corrected for
/// randomised response. Intervals use the central limit theorem, with Student's t for n − 1 degrees of
/// freedom. They need a number of records n of some hundreds or more.
///
/// The input is the result of [`release`](scumble_core::LocalMechanism::release), or a file that
/// `ShippedDesign::read_released` of `scumble-custody` reads. If a one-hot group has additive noise, a file
/// contains only the level with the largest value, and the estimator refuses such a group. It also refuses a
/// column that the mechanism changes in another way than by noise ([`keeps_values`](local::keeps_values)).
/// For example, a mechanism's decoder may fill in a column from a pattern in other people's records.
///
/// ```
/// use ndarray::Array2;
/// use scumble_classic::{Estimator, SampledNumbers};
/// use scumble_core::{Domain, LocalMechanism, Randomness, RecordDomain, Table, Target, TargetDomain};
///
/// let columns = vec!["height".to_owned()];
/// let people = RecordDomain::new(columns.clone(), Domain::unit_box(1), TargetDomain::None)?;
/// let heights = Array2::from_shape_fn((10_000, 1), |(row, _)| (row % 100) as f64 / 99.0);
/// let table = Table::new(columns, heights, Target::None)?;
/// let mechanism = SampledNumbers::piecewise(people, 1.0)?;
/// let release = mechanism.release(&table, &mut Randomness::seeded(1))?;
/// let mean = Estimator::new(&mechanism, &release.table, &release.noise, 0.99)?.mean("height")?;
/// assert!((mean.value - 0.5).abs() < 0.1 && mean.lower < 0.5 && 0.5 < mean.upper);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Estimator<'a> {
    table: &'a Table,
    noise: &'a Noise,
    /// One flag for each column, then for each coordinate of the target. It is true if the mechanism changes
    /// the column or coordinate only by noise.
    keeps: Vec<bool>,
    confidence: f64,
}

/// Distribution of one released coordinate given its true value.
#[derive(Debug, Clone, Copy)]
enum Coordinate {
    /// An unbiased value with this second moment, given the true value.
    Moments(Moments),
    /// One level of a group under randomised response. The released value is 1 with probability `p` if the
    /// true value is 1, and with probability `q` if it is 0.
    Flip { p: f64, q: f64 },
}

impl<'a> Estimator<'a> {
    /// Creates an estimator for `table`, which `mechanism` released with the noise distribution `noise`.
    ///
    /// The confidence interval of each estimate covers the true value with the probability `confidence`.
    ///
    /// # Errors
    /// [`Error::Budget`] unless 0 < `confidence` < 1. [`Error::Shape`] if `mechanism` releases other columns
    /// than `table` has, if `noise` describes another number of columns, or if there are fewer than two
    /// records. Also any error that `mechanism` returns for a record of its domain.
    pub fn new(
        mechanism: &dyn LocalMechanism,
        table: &'a Table,
        noise: &'a Noise,
        confidence: f64,
    ) -> Result<Self> {
        check_confidence(confidence)?;
        if mechanism.layout().columns != table.columns() {
            return Err(Error::shape(
                "the columns of the table differ from the columns that the mechanism \
                                     releases",
            ));
        }
        let described: usize = noise.features.iter().map(NoiseDistribution::width).sum();
        if described != table.columns().len() {
            let columns = table.columns().len();
            return Err(Error::shape(format!(
                "the noise describes {described} columns, and the table has \
                                             {columns}"
            )));
        }
        if table.len() < 2 {
            return Err(Error::shape("an estimate needs two records or more"));
        }
        Ok(Self { table, noise, keeps: local::keeps_values(mechanism)?, confidence })
    }

    /// Estimates the mean of a numeric variable. For a column `name=level`, the mean is the frequency of the
    /// level.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no such column, or if the target is not a number. [`Error::Shape`] also
    /// if the mechanism changes the variable in another way than by noise, or if the noise allows no
    /// estimate.
    pub fn mean<'n>(&self, variable: impl Into<Variable<'n>>) -> Result<Estimate> {
        let (values, distribution) = self.number(variable.into())?;
        Ok(self.mean_of(&values, distribution, self.confidence))
    }

    /// Estimates the variance of a numeric variable.
    ///
    /// Let u be the true value and w the released value, both relative to the centre of the variable's
    /// values. Then E\[w² | u\] = a + b·u² for known constants a and b. The mean square of u is (E\[w²\] −
    /// a)/b. The interval uses the influence function w²/b − 2·E\[w\]·w.
    ///
    /// # Errors
    /// Same errors as [`mean`](Self::mean). [`Error::Shape`] if the variable is a level under randomised
    /// response, or if its released values are one-bit answers, which contain no information about squares.
    pub fn variance<'n>(&self, variable: impl Into<Variable<'n>>) -> Result<Estimate> {
        let (values, distribution) = self.number(variable.into())?;
        let Coordinate::Moments(Moments { center, constant, slope }) = distribution else {
            return Err(Error::shape("a level has a frequency but no separate variance"));
        };
        if slope == 0.0 {
            return Err(Error::shape("one-bit answers contain no information about a variance"));
        }
        let n = values.len() as f64;
        let from_center: Vec<f64> = values.iter().map(|value| value - center).collect();
        let (mean, mean_error) = mean_and_error(&from_center);
        let mean_square = from_center.iter().map(|w| w * w).sum::<f64>() / n;
        // On average, the square of the estimated mean exceeds the square of the true mean by the variance of
        // the estimate.
        let value = (mean_square - constant) / slope - (mean * mean - mean_error * mean_error);
        let influence: Vec<f64> = from_center.iter().map(|w| w * w / slope - 2.0 * mean * w).collect();
        Ok(self.interval(value, mean_and_error(&influence).1, self.confidence))
    }

    /// Estimates the frequency of one level, such as `colour=red`.
    ///
    /// # Errors
    /// Same errors as [`mean`](Self::mean).
    pub fn frequency(&self, level: &str) -> Result<Estimate> {
        self.mean(level)
    }

    /// Estimates the frequencies of all levels of a group of columns `name=level`, or of the target's
    /// classes.
    ///
    /// All intervals together cover the true frequencies with the confidence of the estimator (Bonferroni).
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no such group, or if the target is not a class. Also [`Error::Shape`] if
    /// the mechanism changes a level in another way than by noise, or if the noise allows no estimate.
    pub fn histogram<'n>(&self, variable: impl Into<Variable<'n>>) -> Result<Vec<Estimate>> {
        let levels = match variable.into() {
            Variable::Column(name) => {
                let prefix = format!("{name}=");
                let levels = (0..self.table.columns().len())
                    .filter(|&at| self.table.columns()[at].starts_with(&prefix));
                levels.map(|at| Ok((self.column(at), self.distribution(at)?))).collect::<Result<Vec<_>>>()?
            }
            Variable::Target => self.classes()?,
        };
        if levels.is_empty() {
            return Err(Error::shape("a histogram needs a group of levels, and no group has this name"));
        }
        let each = 1.0 - (1.0 - self.confidence) / levels.len() as f64;
        Ok(levels
            .into_iter()
            .map(|(values, distribution)| self.mean_of(&values, distribution, each))
            .collect())
    }

    /// Returns the released values of a numeric variable, and the distribution of a released value given the
    /// true value.
    fn number(&self, variable: Variable) -> Result<(Vec<f64>, Coordinate)> {
        match (variable, self.table.target()) {
            (Variable::Column(name), _) => {
                let place = self.table.columns().iter().position(|column| column == name);
                let place = place.ok_or_else(|| Error::shape(format!("there is no column {name:?}")))?;
                Ok((self.column(place), self.distribution(place)?))
            }
            (Variable::Target, Target::Real(values)) => {
                Ok((values.to_vec(), self.distribution_of_target(0)?))
            }
            (Variable::Target, _) => Err(Error::shape("the target is not a number")),
        }
    }

    /// Returns the released indicators of each class of the target, and the distribution of an indicator
    /// given the true one.
    fn classes(&self) -> Result<Vec<(Vec<f64>, Coordinate)>> {
        let Target::Class(classes) = self.table.target() else {
            return Err(Error::shape("the target is not a class"));
        };
        let level = |level: usize| {
            let values = classes.iter().map(|&class| f64::from(u8::from(class == level))).collect();
            Ok((values, self.distribution_of_target(level)?))
        };
        (0..self.noise.target.width()).map(level).collect()
    }

    fn column(&self, place: usize) -> Vec<f64> {
        self.table.records().column(place).to_vec()
    }

    /// Checks that noise is the only change that the mechanism makes to coordinate `place`. The coordinates
    /// of the target follow those of the columns.
    ///
    /// # Errors
    /// [`Error::Shape`] for a coordinate that the mechanism changes in another way than by noise.
    fn check_kept(&self, place: usize) -> Result<()> {
        if self.keeps.get(place) == Some(&true) {
            return Ok(());
        }
        Err(Error::shape(
            "the mechanism alters values beyond adding noise, so the mean of the released values does not \
             estimate the people's mean",
        ))
    }

    fn distribution_of_target(&self, place: usize) -> Result<Coordinate> {
        self.check_kept(self.table.columns().len() + place)?;
        coordinate(&self.noise.target, place)
    }

    fn distribution(&self, place: usize) -> Result<Coordinate> {
        self.check_kept(place)?;
        let mut before = 0;
        for distribution in &self.noise.features {
            if place < before + distribution.width() {
                return coordinate(distribution, place - before);
            }
            before += distribution.width();
        }
        Err(Error::shape(format!("the noise describes only {before} columns")))
    }

    fn mean_of(&self, values: &[f64], distribution: Coordinate, confidence: f64) -> Estimate {
        let (mean, error) = mean_and_error(values);
        match distribution {
            Coordinate::Moments(_) => self.interval(mean, error, confidence),
            Coordinate::Flip { p, q } => self.interval((mean - q) / (p - q), error / (p - q), confidence),
        }
    }

    fn interval(&self, value: f64, standard_error: f64, confidence: f64) -> Estimate {
        let degrees = (self.table.len() - 1) as f64;
        let quantile = match StudentsT::new(0.0, 1.0, degrees) {
            Ok(distribution) => distribution.inverse_cdf(0.5 + confidence / 2.0),
            Err(_) => f64::INFINITY, // unreachable: `new` checks for two records or more
        };
        Estimate::about(value, standard_error, quantile)
    }
}

/// Returns the distribution of coordinate `at` within the block of coordinates that `distribution` describes.
///
/// # Errors
/// [`Error::Shape`] if the distribution is unknown, if it describes too few coordinates, or if the released
/// values do not depend on the true values.
fn coordinate(distribution: &NoiseDistribution, at: usize) -> Result<Coordinate> {
    let about_zero = |variance| Coordinate::Moments(Moments { center: 0.0, constant: variance, slope: 1.0 });
    let missing = || Error::shape("the noise describes fewer coordinates than the table has");
    match distribution {
        NoiseDistribution::Exact { .. }
        | NoiseDistribution::Additive { .. }
        | NoiseDistribution::Correlated { .. } => {
            let variance = distribution.added_variance().unwrap_or_default();
            Ok(about_zero(*variance.get(at).ok_or_else(missing)?))
        }
        NoiseDistribution::Unbiased { moments, .. } => {
            Ok(Coordinate::Moments(*moments.get(at).ok_or_else(missing)?))
        }
        NoiseDistribution::Flip { levels, keep } => {
            let (p, q) = (*keep, (1.0 - keep) / levels.saturating_sub(1).max(1) as f64);
            if p > q {
                return Ok(Coordinate::Flip { p, q });
            }
            Err(Error::shape(
                "the answers do not depend on the true values, so nothing can be estimated from \
                              them",
            ))
        }
        _ => Err(Error::shape(
            "the noise distribution is unknown, for example because numbers were rounded or a group became \
             its largest level",
        )),
    }
}

/// Returns the mean of n values, and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (square / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, Laplace, RandomizedResponse, SampledNumbers};
    use ndarray::{Array1, Array2};
    use scumble_core::{Designed, Domain, Randomness, RecordDomain, Release, TargetDomain};
    use scumble_sampling::uniform_below;
    use std::num::NonZeroU64;

    const SEED: u64 = 21;
    const PEOPLE: usize = 1000;
    const TRIALS: u64 = 2000;

    fn domain(features: Domain, columns: &[&str], target: TargetDomain) -> RecordDomain {
        RecordDomain::new(columns.iter().map(|&name| name.to_owned()).collect(), features, target).unwrap()
    }

    /// People with a size uniform on [0, 1]. Seven in ten are of the first of three classes, two in ten of
    /// the second.
    fn people(trial: u64) -> Table {
        let mut stream = Randomness::seeded(SEED).streams().stream(trial);
        let mut below = |bound: u64| uniform_below(&mut stream, NonZeroU64::new(bound).unwrap());
        let sizes = Array2::from_shape_fn((PEOPLE, 1), |_| below(1 << 30) as f64 / (1u64 << 30) as f64);
        let classes = Array1::from_shape_fn(PEOPLE, |_| match below(10) {
            0..7 => 0,
            7..9 => 1,
            _ => 2,
        });
        Table::new(vec!["size".into()], sizes, Target::Class(classes)).unwrap()
    }

    /// Checks the share of intervals of 90 % confidence that cover `truth`.
    ///
    /// With 2,000 trials the share deviates from 90 % by more than 3.3 points in one case in 10⁶. A standard
    /// error that is 15 % too small covers 84 %.
    #[track_caller]
    fn covers(mechanism: &Designed, truth: f64, estimate: impl Fn(&Estimator) -> Result<Estimate>) {
        let mut covered = 0;
        for trial in 0..TRIALS {
            let clean = people(trial).part(mechanism.domain()).unwrap();
            let release = mechanism.release(&clean, &mut Randomness::seeded(trial)).unwrap();
            let estimate = estimate(&estimator(mechanism, &release, 0.9)).unwrap();
            covered += u32::from(estimate.lower <= truth && truth <= estimate.upper);
        }
        let share = f64::from(covered) / TRIALS as f64;
        assert!(
            (0.867..0.933).contains(&share),
            "seed {SEED}: {:.1} % of the intervals cover",
            100.0 * share
        );
    }

    fn sizes() -> RecordDomain {
        domain(Domain::unit_box(1), &["size"], TargetDomain::None)
    }

    #[test]
    fn intervals_cover_the_mean_as_often_as_they_say() {
        for mechanism in [
            Designed::local(Identity::new(sizes())),
            Designed::local(Laplace::new(sizes(), 0.5).unwrap()),
            Designed::local(SampledNumbers::piecewise(sizes(), 0.5).unwrap()),
            Designed::local(SampledNumbers::duchi(sizes(), 2.0).unwrap()),
        ] {
            covers(&mechanism, 0.5, |estimator| estimator.mean("size"));
        }
    }

    #[test]
    fn intervals_cover_the_variance_as_often_as_they_say() {
        for mechanism in [
            Designed::local(Identity::new(sizes())),
            Designed::local(Laplace::new(sizes(), 4.0).unwrap()),
            Designed::local(SampledNumbers::piecewise(sizes(), 2.0).unwrap()),
        ] {
            covers(&mechanism, 1.0 / 12.0, |estimator| estimator.variance("size"));
        }
    }

    fn classes() -> RecordDomain {
        let levels = ["a", "b", "c"].map(str::to_owned).to_vec();
        domain(Domain::empty(), &[], TargetDomain::Class { levels })
    }

    #[test]
    fn intervals_cover_frequencies_as_often_as_they_say() {
        let answers = RandomizedResponse::new(classes(), 1.0).unwrap();
        // Three intervals with a joint confidence of 90 % cover 96.7 % each. The test takes only the first,
        // with its own 90 %.
        covers(&Designed::local(answers.clone()), 0.7, |estimator| {
            let wider = estimator.histogram(Variable::Target)?[0];
            Ok(estimator.interval(wider.value, wider.standard_error, 0.9))
        });
    }

    fn estimator<'a>(mechanism: &Designed, release: &'a Release, confidence: f64) -> Estimator<'a> {
        let Designed::Local(local) = mechanism else { panic!("the mechanism is not local") };
        Estimator::new(&**local, &release.table, &release.noise, confidence).unwrap()
    }

    fn released(mechanism: &Designed) -> Release {
        let clean = people(0).part(mechanism.domain()).unwrap();
        mechanism.release(&clean, &mut Randomness::seeded(SEED)).unwrap()
    }

    #[test]
    fn without_noise_the_estimates_are_those_of_the_sample() {
        let mechanism = Designed::local(Identity::new(sizes()));
        let release = released(&mechanism);
        let estimator = estimator(&mechanism, &release, 0.9);
        let column = release.table.records().column(0);
        assert!((estimator.mean("size").unwrap().value - column.mean().unwrap()).abs() < 1e-12);
        assert!((estimator.variance("size").unwrap().value - column.var(1.0)).abs() < 1e-12);
    }

    #[test]
    fn a_histogram_adds_up_to_one_and_all_its_intervals_are_wider() {
        let answers = RandomizedResponse::new(classes(), 1.0).unwrap();
        let release = released(&Designed::local(answers.clone()));
        let estimator = Estimator::new(&answers, &release.table, &release.noise, 0.9).unwrap();
        let histogram = estimator.histogram(Variable::Target).unwrap();
        assert_eq!(histogram.len(), 3);
        assert!((histogram.iter().map(|bar| bar.value).sum::<f64>() - 1.0).abs() < 1e-12);
        let alone = estimator.interval(histogram[0].value, histogram[0].standard_error, 0.9);
        assert!(histogram[0].lower < alone.lower && histogram[0].upper > alone.upper);
    }

    #[test]
    fn a_unit_is_an_offset_and_a_scale() {
        let encoded = Estimate { value: 0.5, standard_error: 0.1, lower: 0.3, upper: 0.7 };
        let shown = encoded.in_unit(10.0, 20.0);
        assert_eq!(shown, Estimate { value: 20.0, standard_error: 2.0, lower: 16.0, upper: 24.0 });
    }

    #[test]
    fn answers_that_say_nothing_are_refused() {
        let answers = RandomizedResponse::new(classes(), 1e-17).unwrap();
        let release = released(&Designed::local(answers.clone()));
        let estimator = Estimator::new(&answers, &release.table, &release.noise, 0.9).unwrap();
        assert!(estimator.histogram(Variable::Target).is_err());
        let unknown = Noise { features: vec![], target: NoiseDistribution::Unknown { width: 3 } };
        assert!(
            Estimator::new(&answers, &release.table, &unknown, 0.9)
                .unwrap()
                .histogram(Variable::Target)
                .is_err()
        );
    }

    #[test]
    fn what_cannot_be_estimated_is_refused() {
        let identity = Identity::new(sizes());
        let release = released(&Designed::local(identity.clone()));
        let estimator = Estimator::new(&identity, &release.table, &release.noise, 0.9).unwrap();
        assert!(estimator.mean("sise").is_err() && estimator.mean(Variable::Target).is_err());
        assert!(estimator.histogram("size").is_err() && estimator.histogram(Variable::Target).is_err());
        assert!(Estimator::new(&identity, &release.table, &release.noise, 1.0).is_err());
        let duchi = SampledNumbers::duchi(sizes(), 1.0).unwrap();
        let bits = released(&Designed::local(duchi.clone()));
        assert!(Estimator::new(&duchi, &bits.table, &bits.noise, 0.9).unwrap().variance("size").is_err());
        let other = Noise { features: vec![], target: NoiseDistribution::Exact { width: 0 } };
        assert!(Estimator::new(&identity, &release.table, &other, 0.9).is_err());
        let lonely = release.table.select(&[0]).unwrap();
        assert!(Estimator::new(&identity, &lonely, &release.noise, 0.9).is_err());
    }
}

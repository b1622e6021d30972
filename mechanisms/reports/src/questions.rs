//! Sets of questions. Each person answers one of the questions, and the report contains the question and its
//! randomised answer. A *point* is the vector of a person's true answers to all questions.

use crate::answered::Answers;
use ndarray::Array2;
use rayon::prelude::*;
use scumble_core::{
    Domain, Error, Estimate, Layout, Noise, NoiseDistribution, Result, Stream, Table, TargetLayout, Unit,
    check_confidence, check_width, interrupt, largest,
};
use scumble_oracles::{Counts, Kind, Oracle};
use scumble_sampling::uniform_below;
use statrs::distribution::{ContinuousCDF, Normal};
use std::num::NonZeroU64;

/// Number of people that designs assume if the user states none.
pub(crate) const PEOPLE: usize = 10_000;

/// Column of a report with the index of the question. `ANSWER` names the column or columns with the answer.
const QUESTION: &str = "reported question";
const ANSWER: &str = "reported answer";

/// Number of reports that one thread counts at a time.
pub(crate) const BLOCK: usize = 4096;

/// Set of questions. Each person answers one question, which is drawn uniformly at random and independently
/// of the record. The only answer spends all of the person's ε.
///
/// A question asks about two attributes together: its own attribute, and the label, which is the same for all
/// questions. A *point* encodes a person's true answers: one group of coordinates for each question's own
/// attribute, and one group for the label. In each group, the coordinate of the person's level is 1 and the
/// others are 0.
#[derive(Debug, Clone)]
pub(crate) struct Questions {
    /// Number of levels of each question's own attribute.
    own: Vec<usize>,
    /// Start of each question's group in a point, followed by the start of the label's group.
    starts: Vec<usize>,
    /// Number of levels of the label; 1 if there is no label.
    labels: usize,
    oracles: Vec<Oracle>,
    range: Domain,
}

impl Questions {
    /// Creates one question for each element of `own`, the number of levels of the question's own attribute.
    /// Each question also asks for the label, which has `labels` levels.
    ///
    /// Answers use the kind `oracle` of frequency oracle; `None` chooses the kind with the least total
    /// variance for each question.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if no oracle exists for the number of levels of a question or for this ε.
    pub(crate) fn new(
        plugin: &str,
        own: Vec<usize>,
        labels: usize,
        oracle: Option<Kind>,
        epsilon: f64,
    ) -> Result<Self> {
        let oracles = own.iter().map(|own| {
            let levels = (own * labels) as u64;
            let chosen = match oracle {
                Some(kind) => Oracle::new(kind, levels, epsilon),
                None => Oracle::best(levels, epsilon),
            };
            chosen.map_err(|problem| Error::not_applicable(plugin, problem.to_string()))
        });
        let oracles: Vec<Oracle> = oracles.collect::<Result<_>>()?;
        let mut starts = vec![0];
        for levels in &own {
            starts.push(starts[starts.len() - 1] + levels);
        }
        let groups = own.iter().copied().chain((labels > 1).then_some(labels));
        let filled = own.iter().sum::<usize>() + if labels > 1 { labels } else { 0 };
        let questions = Self { own: own.clone(), starts, labels, oracles, range: Domain::empty() };
        // A report may have more values than its point. Coordinates that are always zero make room for them.
        let room = (filled..questions.width()).map(|_| Domain::interval(0.0, 0.0));
        let range = Domain::product(groups.map(Domain::one_hot).chain(room).collect::<Result<Vec<_>>>()?)?;
        Ok(Self { range, ..questions })
    }

    pub(crate) fn oracles(&self) -> &[Oracle] {
        &self.oracles
    }

    /// Number of levels of randomised response that has, through a shuffler, the privacy of reports at this ε
    /// (`scumble_accounting::shuffle`). `None` if an answer may support more than half of the levels.
    pub(crate) fn shuffled_levels(&self, epsilon: f64) -> Option<f64> {
        let (mut above, mut below) = (0.0, 0.0);
        for oracle in &self.oracles {
            let levels = oracle.shuffled_levels()?;
            // γⱼ = sum of the common part, and a share of 1/levels of it, with e^ε₀ in both denominators.
            let odds = 1.0 + (levels - 1.0) * (-epsilon).exp();
            above += levels / odds;
            below += 1.0 / odds;
        }
        (below > 0.0).then(|| (above / below).max(2.0))
    }

    /// Names of the oracles in use.
    pub(crate) fn kinds(&self) -> String {
        let mut kinds: Vec<String> = self.oracles.iter().map(|oracle| oracle.kind().to_string()).collect();
        kinds.sort();
        kinds.dedup();
        kinds.join(" or ")
    }

    /// Upper bound on the number of bits that identify a report among all possible reports.
    pub(crate) fn bits(&self) -> u64 {
        let questions = (self.oracles.len() as u64).next_power_of_two().ilog2();
        u64::from(questions) + self.oracles.iter().map(Oracle::bits).max().unwrap_or(0)
    }

    /// Domain of the points.
    pub(crate) fn range(&self) -> &Domain {
        &self.range
    }

    /// Returns one pair of points that differ in every attribute of every question; no pair unless `unit` is
    /// [`Unit::Record`].
    pub(crate) fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        if unit == Unit::Record { vec![self.range.l2_farthest()] } else { vec![] }
    }

    /// Returns the point of a person with the levels `own` of the questions' own attributes and the level
    /// `label` of the label.
    pub(crate) fn point(&self, own: impl Iterator<Item = usize>, label: usize) -> Vec<f64> {
        let mut point = vec![0.0; self.range.dim()];
        for (start, level) in self.starts.iter().zip(own) {
            point[start + level] = 1.0;
        }
        if self.labels > 1 {
            point[self.starts[self.own.len()] + label] = 1.0;
        }
        point
    }

    /// Returns the true answer of a point to a question: the number i·L + j. Here i is the level of the
    /// question's own attribute, j the level of the label, and L the number of levels of the label.
    fn level(&self, point: &[f64], question: usize) -> u64 {
        let group = |start: usize, levels: usize| largest(&point[start..start + levels]);
        let own = group(self.starts[question], self.own[question]);
        let label = if self.labels > 1 { group(self.starts[self.own.len()], self.labels) } else { 0 };
        (own * self.labels + label) as u64
    }

    /// Number of values in a report: one for the question if there are several questions, and the number of
    /// words (48-bit integers) in the longest answer.
    pub(crate) fn width(&self) -> usize {
        self.before() + self.oracles.iter().map(Oracle::words).max().unwrap_or(0)
    }

    /// Number of values before the answer in a report: 1 for the question, or 0 if there is only one
    /// question.
    fn before(&self) -> usize {
        usize::from(self.oracles.len() > 1)
    }

    /// Returns the column name of the word with index `at` (counted from 0) in an answer of `words` words.
    fn answer_column(at: usize, words: usize) -> String {
        if words == 1 { ANSWER.to_owned() } else { format!("{ANSWER} {}", at + 1) }
    }

    /// Columns of reports.
    pub(crate) fn layout(&self) -> Layout {
        let words = self.width() - self.before();
        let answers = (0..words).map(|at| Self::answer_column(at, words));
        let question = (self.before() > 0).then(|| QUESTION.to_owned());
        let columns = question.into_iter().chain(answers).collect();
        Layout { columns, target: TargetLayout::None }
    }

    /// Declares the noise of all values of a report as unknown. A report has no separate label.
    pub(crate) fn noise(&self) -> Noise {
        Noise {
            features: vec![NoiseDistribution::Unknown { width: self.width() }],
            target: NoiseDistribution::Exact { width: 0 },
        }
    }

    /// Replaces a person's point by a random report, in place. Values after the report become zero.
    ///
    /// # Errors
    /// [`Error::Shape`] for a point of another width.
    pub(crate) fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        check_width(self.range.dim(), point.len())?;
        let question = match NonZeroU64::new(self.oracles.len() as u64) {
            Some(count) if count.get() > 1 => uniform_below(stream, count) as usize,
            _ => 0,
        };
        let oracle = &self.oracles[question];
        let mut answer = vec![0; oracle.words()];
        oracle.answer(stream, self.level(point, question), &mut answer);
        point.fill(0.0);
        let (before, words) = point.split_at_mut(self.before());
        before.fill(question as f64);
        // A word is less than 2⁴⁸, so a float represents it exactly.
        words.iter_mut().zip(answer).for_each(|(value, word)| *value = word as f64);
        Ok(())
    }

    /// Returns the report at the start of a perturbed point.
    ///
    /// # Errors
    /// Same errors as [`perturb`](Self::perturb).
    pub(crate) fn decode(&self, mut point: Vec<f64>) -> Result<Vec<f64>> {
        check_width(self.range.dim(), point.len())?;
        point.truncate(self.width());
        Ok(point)
    }

    /// Parses a report into its question and its answer.
    pub(crate) fn read(&self, report: &[f64]) -> std::result::Result<(usize, Vec<u64>), String> {
        let (before, words) = report.split_at_checked(self.before()).ok_or("it is empty")?;
        let question =
            before.first().map_or(Ok(0), |question| whole(*question, || QUESTION.to_owned()))? as usize;
        let oracle = self.oracles.get(question).ok_or_else(|| {
            format!(
                "question {question}, counted from 0, does not exist: there are {} questions",
                self.oracles.len()
            )
        })?;
        let mut answer = Vec::with_capacity(words.len());
        for (at, word) in words.iter().enumerate() {
            answer.push(whole(*word, || Self::answer_column(at, words.len()))?);
        }
        if answer.split_off(oracle.words().min(answer.len())).iter().any(|word| *word != 0) {
            return Err("its answer is too long".into());
        }
        oracle.check(&answer).map_err(|problem| problem.to_string())?;
        Ok((question, answer))
    }

    /// Logarithm of the probability that `point` becomes the report `released`, up to a constant.
    pub(crate) fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        if point.len() != self.range.dim() {
            return None;
        }
        let (question, answer) = self.read(released.get(..self.width())?).ok()?;
        Some(self.oracles[question].log_likelihood(&answer, self.level(point, question)))
    }

    /// Parses all reports in blocks, and returns one state per block. The state of a block begins as the
    /// result of `start`, and `read` adds each report of the block to it. `earlier` reports came before.
    ///
    /// # Errors
    /// [`Error::Shape`] for a table of another layout, and for an invalid report; the message names the row.
    fn read_all<T: Send>(
        &self,
        (reports, earlier): (&Table, usize),
        read: impl Fn(&mut T, usize, &[u64]) -> Result<()> + Sync,
        start: impl Fn() -> T + Sync,
    ) -> Result<Vec<T>> {
        self.layout().check(reports)?;
        let records = reports.records();
        let blocks = (0..reports.len().div_ceil(BLOCK)).into_par_iter().map(|block| {
            interrupt::check()?;
            let mut state = start();
            for row in block * BLOCK..((block + 1) * BLOCK).min(reports.len()) {
                let (question, answer) = self
                    .read(&records.row(row).to_vec())
                    .map_err(|problem| Error::shape(format!("report {}: {problem}", earlier + row + 1)))?;
                read(&mut state, question, &answer)?;
            }
            Ok(state)
        });
        blocks.collect()
    }

    /// Estimates without bias, for each question, the fraction of the population that has each pair of a
    /// level and a label (levels × labels).
    ///
    /// All intervals of one question simultaneously cover the true fractions with the probability
    /// `confidence` (Bonferroni). The intervals use the central limit theorem, so they need some hundreds of
    /// answers or more.
    ///
    /// # Errors
    /// Same errors as [`sum`](Answers::sum); [`Error::Budget`] unless 0 < `confidence` < 1.
    pub(crate) fn joint(&self, reports: &Table, confidence: f64) -> Result<Vec<Array2<Estimate>>> {
        check_confidence(confidence)?;
        let counted = self.sum(reports)?;
        let questions = self.oracles.iter().zip(&counted).zip(&self.own);
        Ok(questions
            .map(|((oracle, counts), &own)| {
                let each = (1.0 - confidence) / (own * self.labels) as f64;
                let quantile = Normal::standard().inverse_cdf(1.0 - each / 2.0);
                let frequencies = counts.frequencies(oracle);
                Array2::from_shape_fn((own, self.labels), |(level, label)| {
                    let frequency = frequencies[level * self.labels + label];
                    let error = oracle.sampling_error(frequency, counts.answers() as f64);
                    Estimate::about(frequency, error, quantile)
                })
            })
            .collect())
    }

    /// Returns, for each of n reports, its support for each level of every attribute and of the label (n ×
    /// total number of levels).
    ///
    /// An answer supports a set of pairs: a level of the question's own attribute, and a level of the label.
    /// The support for a level is the fraction of these pairs that contain the level. The support for all
    /// levels of the attributes of other questions is zero.
    ///
    /// # Errors
    /// Same errors as [`sum`](Answers::sum).
    pub(crate) fn adversary_view(&self, reports: &Table) -> Result<Table> {
        let label_start = self.starts[self.own.len()];
        let all = label_start + self.labels;
        let add = |values: &mut Vec<f64>, question: usize, answer: &[u64]| {
            let oracle = &self.oracles[question];
            let supported =
                (0..oracle.levels() as usize).filter(|&level| oracle.supports(answer, level as u64));
            let supported: Vec<usize> = supported.collect();
            let first = values.len();
            values.resize(first + all, 0.0);
            for level in &supported {
                let share = 1.0 / supported.len() as f64;
                values[first + self.starts[question] + level / self.labels] += share;
                values[first + label_start + level % self.labels] += share;
            }
            Ok(())
        };
        let values = self.read_all((reports, 0), add, Vec::new)?.concat();
        let columns = (1..=all).map(|level| format!("level {level}")).collect();
        Layout { columns, target: TargetLayout::None }.table_of(values)
    }
}

impl Answers for Questions {
    /// The counts of the answers to each question.
    type Sum = Vec<Counts>;

    fn none(&self) -> Vec<Counts> {
        self.oracles.iter().map(Counts::new).collect()
    }

    /// # Errors
    /// [`Error::Shape`] for invalid reports; the message names the row.
    fn add(&self, sum: &mut Vec<Counts>, reports: &Table) -> Result<()> {
        let earlier = sum.iter().map(Counts::answers).sum::<u64>() as usize;
        let add = |counts: &mut Vec<Counts>, question: usize, answer: &[u64]| {
            let added = counts[question].add(&self.oracles[question], answer);
            added.map_err(|problem| Error::shape(problem.to_string()))
        };
        for block in self.read_all((reports, earlier), add, || self.none())? {
            *sum = std::mem::take(sum).into_iter().zip(&block).map(|(sum, more)| sum.merge(more)).collect();
        }
        Ok(())
    }
}

/// Parses a value of a report as a whole number; `column` names its column in an error.
pub(crate) fn whole(value: f64, column: impl FnOnce() -> String) -> std::result::Result<u64, String> {
    scumble_oracles::whole(value).map_err(|problem| format!("column {:?}: {problem}", column()))
}

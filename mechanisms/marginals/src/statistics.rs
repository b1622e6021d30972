//! Curator that releases noisy tables of chosen columns, and no rows: counts, and means of numbers. It may
//! release them period after period.

use crate::bins;
use crate::columns::Columns;
use crate::counts::{Clique, TablePlan};
use crate::curator::{Common, most_records};
use crate::noisy_marginals::place;
use ndarray::Array2;
use rayon::prelude::*;
use schemars::JsonSchema;
use scumble_accounting::gaussian;
use scumble_core::levels::{CountedLevel, CountedTable, Grid};
use scumble_core::{
    Accumulator, Brief, Budget, CentralDp, CuratorMechanism, Descriptor, Error, Evidence, Example, Guarantee,
    Horizon, Key, Layout, Neighbours, Noise, Outcome, Output, PARTS, PeriodTables, PrivacyProfile,
    Randomness, RecordDomain, Release, Releases, Result, Statistics, Stream, Table, Target, TargetLayout,
    accumulate, check_width, interrupt, local, register, size,
};
use scumble_noise::RunningNoise;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const NAME: &str = "tables";

/// Share of the budget μ² that is reserved, because noise on a lattice spends slightly more than continuous
/// noise.
const FOR_ROUNDINGS: f64 = 1e-5;

/// Curator of noisy tables. A person adds 1 to each table: to the cell of their levels, or for a mean in
/// shares to both bounds of their number and to the middle.
#[derive(Debug, Clone)]
pub(crate) struct TableCurator {
    state: State,
    columns: Columns,
    /// Noise of each table; `None` at ε = ∞.
    noise: Option<Vec<RunningNoise>>,
}

/// Saved state of the mechanism.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    domain: RecordDomain,
    budget: Budget,
    neighbours: Neighbours,
    /// Grid of each feature, and of the target. The equal bins of a category are its levels.
    bins: Vec<Grid>,
    questions: Vec<Question>,
    /// Periods for which the guarantee holds together; `None` for a single release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    horizon: Option<Horizon>,
}

/// Table to measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    /// Number whose mean is measured, by its index among the columns. Its bounds are the first levels of the
    /// table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mean_of: Option<usize>,
    /// Columns that are counted together, by their indices in ascending order.
    columns: Clique,
    /// Share of the budget μ².
    share: f64,
}

impl Question {
    /// Number of cells, for columns with these numbers of levels.
    fn cells(&self, levels: &[usize]) -> usize {
        let ends = if self.mean_of.is_some() { 3 } else { 1 };
        self.columns.iter().map(|&at| levels[at]).product::<usize>() * ends
    }

    /// Columns of the table, with the number whose mean is measured.
    fn all_columns(&self) -> Clique {
        self.mean_of.into_iter().chain(self.columns.iter().copied()).collect()
    }
}

/// Exact counts of all tables, in units of 1/[`RunningNoise::PARTS`].
type Counts = Vec<Vec<u64>>;

/// State between two periods: exact counts and answers of all periods so far, period by period and table by
/// table.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Earlier {
    counts: Vec<Counts>,
    answers: Vec<Vec<Vec<f64>>>,
}

impl TryFrom<State> for TableCurator {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let columns = bins::check(NAME, &state.domain, &state.bins)?;
        let refuse = |problem: &str| Err(Error::parameter(NAME, problem));
        let is_number =
            |at: usize| columns.attributes().get(at).is_some_and(|column| column.bounds().is_some());
        let is_whole = |question: &Question| {
            let sorted = question.columns.is_sorted_by(|one, other| one < other);
            let known = question.columns.iter().all(|at| *at < columns.len());
            let is_asked = !question.columns.is_empty() || question.mean_of.is_some();
            let is_free = question.mean_of.is_none_or(|at| is_number(at) && !question.columns.contains(&at));
            sorted && known && is_asked && is_free && question.share > 0.0
        };
        if state.questions.is_empty() || !state.questions.iter().all(is_whole) {
            return refuse("each table needs one column or more, without duplicates, and a positive weight");
        }
        if state.questions.iter().map(|question| question.share).sum::<f64>() > 1.0 + 1e-9 {
            return refuse("the shares of the tables must have a sum of at most 1");
        }
        if state.horizon.is_some() && state.neighbours == Neighbours::ReplaceOne {
            return refuse("with a horizon, neighbours must be \"add-or-remove-one\"");
        }
        let levels = columns.levels();
        let cliques = state.questions.iter().map(|question| question.columns.clone()).collect();
        TablePlan { cliques, pairs: None }.check(NAME, &levels)?;
        let cells: usize = state.questions.iter().map(|question| question.cells(&levels)).sum();
        let periods = state.horizon.map_or(1, |horizon| horizon.periods);
        size::check_held(NAME, "the number of counts in all periods", &[cells, periods], 32)?;
        let mut made = Self { state, columns, noise: None };
        made.noise = made.calibrated()?;
        Ok(made)
    }
}

impl TableCurator {
    /// Noise of each table, within the budget.
    fn calibrated(&self) -> Result<Option<Vec<RunningNoise>>> {
        let State { domain, budget, neighbours, questions, horizon, .. } = &self.state;
        let (epsilon, delta) = (budget.epsilon(), budget.delta());
        if epsilon == f64::INFINITY {
            return Ok(None);
        }
        let refused = Error::Budget { name: "delta", range: "above zero for Gaussian noise", value: delta };
        let mu = gaussian::mu(epsilon, delta).ok().filter(|mu| *mu > 0.0).ok_or(refused)?;
        let scale = |share: f64| {
            let people: f64 = if *neighbours == Neighbours::ReplaceOne { 2.0 } else { 1.0 };
            (people / (share * mu * mu * (1.0 - FOR_ROUNDINGS))).sqrt()
        };
        let horizon = horizon.unwrap_or(Horizon::ONE);
        let noise = questions.iter().map(|question| RunningNoise::new(horizon, scale(question.share)));
        let noise = noise.collect::<Result<Vec<_>>>()?;
        match spent(&noise, *neighbours, domain).is_some_and(|spent| spent.delta(epsilon) <= delta) {
            true => Ok(Some(noise)),
            false => {
                Err(Error::Budget { name: "epsilon", range: "large enough for all tables", value: epsilon })
            }
        }
    }

    /// Counts of zero records.
    fn zeros(&self) -> Counts {
        let levels = self.columns.levels();
        self.state.questions.iter().map(|question| vec![0; question.cells(&levels)]).collect()
    }

    /// Adds a record, with its `share` in the weight of its person, to `counts`.
    fn count(&self, record: &[f64], share: u16, counts: &mut Counts) -> Result<()> {
        let record = self.state.domain.projected(record)?;
        let attributes = self.columns.attributes();
        let levels: Vec<usize> = attributes.iter().map(|attribute| attribute.level(&record)).collect();
        let (share, whole) = (u64::from(share), RunningNoise::PARTS / u64::from(PARTS));
        for (question, counts) in self.state.questions.iter().zip(counts) {
            let cell = |first: usize| {
                question.columns.iter().fold(first, |cell, &at| cell * attributes[at].levels() + levels[at])
            };
            let ends = question.mean_of.and_then(|at| Some((&attributes[at], attributes[at].bounds()?)));
            match ends {
                None => counts[cell(0)] += share * whole,
                Some((number, (lower, upper))) => {
                    let place =
                        (record[number.coordinates().start] - lower) / (upper - lower).max(f64::MIN_POSITIVE);
                    // Rounded before they are multiplied, equal records of a person add what one would add.
                    let [upper, middle] = moments(place.clamp(0.0, 1.0), whole);
                    let weights = [whole - upper - middle, middle, upper];
                    for (end, weight) in weights.into_iter().enumerate() {
                        counts[cell(end)] += share * weight;
                    }
                }
            }
        }
        Ok(())
    }

    /// Noisy answers of the last period of `history`, table by table.
    fn answers(&self, history: &[Counts], stream: &mut Stream) -> Vec<Vec<f64>> {
        let exact = |counts: &Vec<u64>| {
            counts.iter().map(|parts| *parts as f64 / RunningNoise::PARTS as f64).collect()
        };
        let answer = |(at, noise): (usize, &RunningNoise)| {
            let history: Vec<&[u64]> = history.iter().map(|counts| &counts[at][..]).collect();
            noise.answer(&history, stream)
        };
        match &self.noise {
            Some(noise) => noise.iter().enumerate().map(answer).collect(),
            None => history.last().into_iter().flatten().map(exact).collect(),
        }
    }

    /// Tables from the `answers` of all periods so far: totals, and the last period alone.
    fn tables(&self, answers: &[Vec<Vec<f64>>]) -> [Vec<CountedTable>; 2] {
        let periods = answers.len();
        [true, false].map(|is_total| {
            let table = |(at, question): (usize, &Question)| {
                let own: Vec<&[f64]> = answers.iter().map(|answers| &answers[at][..]).collect();
                let noise = self.noise.as_ref().map(|noise| &noise[at]);
                let (counts, deviation) = match (noise, is_total) {
                    (Some(noise), true) => (noise.total(&own), noise.deviation_of_total(periods)),
                    (Some(noise), false) => (noise.alone(&own), noise.deviation_alone(periods)),
                    (None, true) => {
                        let sum = |cell: usize| own.iter().map(|answer| answer[cell]).sum();
                        ((0..own[0].len()).map(sum).collect(), 0.0)
                    }
                    (None, false) => (own[periods - 1].to_vec(), 0.0),
                };
                let (columns, share) = (question.all_columns(), question.share);
                let levels = self.levels(question);
                CountedTable { levels, columns, counts, deviation, share, repeats_groups: false }
            };
            self.state.questions.iter().enumerate().map(table).collect()
        })
    }

    fn levels(&self, question: &Question) -> Vec<Vec<CountedLevel>> {
        let attributes = self.columns.attributes();
        let bounds = question.mean_of.and_then(|at| attributes[at].bounds());
        let ends = bounds.map(|(lower, upper)| {
            [lower, lower + (upper - lower) / 2.0, upper].map(CountedLevel::End).to_vec()
        });
        let each = question.columns.iter().map(|&at| {
            let attribute = &attributes[at];
            (0..attribute.levels()).map(|level| attribute.counted(&[level])).collect()
        });
        ends.into_iter().chain(each).collect()
    }

    /// Counts of `table` in each of the periods in which a person may have records, and zeros after them: the
    /// sequence that discloses most of a person.
    fn sequence(&self, table: &Table) -> Result<Vec<Counts>> {
        let mut gathered = Gathered { curator: self, counts: self.zeros() };
        accumulate(&self.state.domain.layout(), table, &mut gathered)?;
        let Horizon { periods, periods_per_person, .. } = self.state.horizon.unwrap_or(Horizon::ONE);
        let counts = |period: usize| {
            if period < periods_per_person { gathered.counts.clone() } else { self.zeros() }
        };
        Ok((0..periods).map(counts).collect())
    }
}

impl CuratorMechanism for TableCurator {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let State { budget, neighbours, horizon, .. } = &self.state;
        if budget.epsilon() == f64::INFINITY {
            let discloses = vec!["the exact counts of the records".to_owned()];
            return Guarantee { discloses, ..Guarantee::default() };
        }
        let claim = |epsilon, neighbours| CentralDp::new(epsilon, budget.delta(), neighbours);
        let profile = self.noise.as_deref().and_then(|noise| spent(noise, *neighbours, &self.state.domain));
        let own = claim(budget.epsilon(), *neighbours);
        let own = profile.map_or(own.clone(), |profile| own.along(profile));
        let noise = self.noise.iter().filter(|_| *neighbours == Neighbours::AddOrRemoveOne);
        let replaced = noise.filter_map(|noise| spent(noise, Neighbours::ReplaceOne, &self.state.domain));
        let replaced =
            replaced.map(|spent| claim(spent.epsilon(budget.delta()), Neighbours::ReplaceOne).along(spent));
        let over_time = match horizon {
            Some(Horizon { is_correlated: true, .. }) => {
                "; the answers of all periods are one Gaussian mechanism with the ℓ₂ sensitivity of the \
                 square root of the prefix sum (Henzinger, Upadhyay and Upadhyay 2023; Kalinin and Lampert \
                 2024)"
            }
            Some(_) => "; the noise of each period is independent",
            None => "",
        };
        let theorem = format!(
            "a person adds 1 to each table, and the tables' μ² add up (Dong, Roth and Su 2022, Corollary \
             3.3){over_time}; discrete Gaussian noise (Canonne, Kamath and Steinke 2020), δ(ε) by Balle and \
             Wang 2018, Theorem 8, plus what the lattice adds"
        );
        let claims = [own].into_iter().chain(replaced).map(|claim| (claim, theorem.clone()));
        let mut guarantee = Guarantee::for_curator(*neighbours, claims);
        if let Some(Horizon { periods, periods_per_person, .. }) = horizon {
            guarantee.assumes.push(format!(
                "the claim is for all {periods} periods together, and each person has records in at most \
                 {periods_per_person} of them"
            ));
        }
        guarantee
    }

    fn releases(&self) -> Releases {
        Releases::Tables
    }

    fn horizon(&self) -> Option<Horizon> {
        self.state.horizon
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        Box::new(Gathered { curator: self, counts: self.zeros() })
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence { statistics: Some(self), ..Evidence::default() }
    }
}

/// Privacy profile of all tables together; `None` without a table.
fn spent(noise: &[RunningNoise], neighbours: Neighbours, domain: &RecordDomain) -> Option<PrivacyProfile> {
    let profiles = noise.iter().map(|noise| noise.profile(neighbours, most_records(domain)));
    profiles.reduce(|all, one| all.with(&one))
}

/// Statistics through which an audit attacks a release: the answers of all periods.
impl Statistics for TableCurator {
    fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>> {
        let (sequence, mut stream) = (self.sequence(table)?, randomness.streams().stream(0));
        let answers =
            (1..=sequence.len()).flat_map(|periods| self.answers(&sequence[..periods], &mut stream));
        Ok(answers.flatten().collect())
    }

    fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64> {
        let sequence = self.sequence(table)?;
        let cells: usize = sequence.iter().flatten().map(Vec::len).sum();
        check_width(cells, drawn.len())?;
        let Some(noise) = &self.noise else { return Ok(0.0) };
        let (mut left, mut likelihood) = (drawn, 0.0);
        for periods in 1..=sequence.len() {
            for (at, noise) in noise.iter().enumerate() {
                let history: Vec<&[u64]> = sequence[..periods].iter().map(|counts| &counts[at][..]).collect();
                let (answer, rest) = left.split_at(history[0].len());
                likelihood += noise.log_likelihood(&history, answer);
                left = rest;
            }
        }
        Ok(likelihood)
    }
}

/// Accumulator that keeps counts of the records, and nothing else about them.
struct Gathered<'c> {
    curator: &'c TableCurator,
    counts: Counts,
}

impl Gathered<'_> {
    fn count(&mut self, records: &[f64], share: impl Fn(usize) -> u16 + Sync) -> Result<()> {
        let (curator, width) = (self.curator, self.curator.state.domain.flat().dim().max(1));
        if !records.len().is_multiple_of(width) {
            let problem = format!("{} values are not a whole number of records of {width}", records.len());
            return Err(Error::shape(problem));
        }
        let blocks = records.par_chunks(local::BLOCK * width).enumerate();
        let counted = blocks.try_fold(
            || curator.zeros(),
            |mut counts, (block, records)| {
                interrupt::check()?;
                for (row, record) in records.chunks_exact(width).enumerate() {
                    curator.count(record, share(block * local::BLOCK + row), &mut counts)?;
                }
                Ok::<Counts, Error>(counts)
            },
        );
        let all = counted.try_reduce(
            || curator.zeros(),
            |mut one, other| {
                add(&mut one, &other);
                Ok(one)
            },
        )?;
        add(&mut self.counts, &all);
        Ok(())
    }
}

/// The weights x² and 2x(1 − x) of a place x in [0, 1], in units of 1/`whole`. With (1 − x)², they have the
/// sum 1; the mean of x and that of x² follow from their means.
fn moments(place: f64, whole: u64) -> [u64; 2] {
    let of = |weight: f64| (weight * whole as f64).round() as u64;
    let upper = of(place * place).min(whole);
    [upper, of(2.0 * place * (1.0 - place)).min(whole - upper)]
}

fn add(sums: &mut Counts, counts: &Counts) {
    let cells = sums.iter_mut().flatten().zip(counts.iter().flatten());
    cells.for_each(|(sum, count)| *sum += count);
}

impl Accumulator for Gathered<'_> {
    fn add(&mut self, records: &[f64]) -> Result<()> {
        self.count(records, |_| PARTS)
    }

    fn add_shares(&mut self, records: &[f64], shares: &[u16]) -> Result<()> {
        check_width(records.len() / self.curator.state.domain.flat().dim().max(1), shares.len())?;
        self.count(records, |row| shares[row])
    }

    fn release_period(
        self: Box<Self>,
        earlier: Option<&Value>,
        randomness: &mut Randomness,
    ) -> Result<PeriodTables> {
        let Self { curator, counts } = *self;
        let Some(horizon) = curator.state.horizon else {
            return Err(Error::not_applicable(NAME, "the design has no horizon of several periods"));
        };
        let mut earlier: Earlier = earlier.map_or(Ok(Earlier::default()), Error::read_state)?;
        let shape = |counts: &Counts| counts.iter().map(Vec::len).collect::<Vec<_>>();
        let own = shape(&counts);
        let fits = earlier.counts.iter().all(|counts| shape(counts) == own)
            && earlier.answers.iter().all(|answers| answers.iter().map(Vec::len).eq(own.iter().copied()))
            && earlier.counts.len() == earlier.answers.len();
        if !fits {
            return Err(Error::state("the periods before have other tables than this design"));
        }
        if earlier.counts.len() >= horizon.periods {
            return Err(Error::state(format!("all {} periods of the horizon are released", horizon.periods)));
        }
        earlier.counts.push(counts);
        let answers = curator.answers(&earlier.counts, &mut randomness.streams().stream(0));
        earlier.answers.push(answers);
        let [totals, alone] = curator.tables(&earlier.answers);
        let guarantee = curator.guarantee().under(randomness.provenance());
        let state = serde_json::to_value(earlier).map_err(Error::state)?;
        Ok(PeriodTables { guarantee, totals, alone, state })
    }

    fn release(self: Box<Self>, randomness: &mut Randomness) -> Result<Outcome> {
        let Self { curator, counts } = *self;
        if curator.state.horizon.is_some() {
            return Err(Error::not_applicable(
                NAME,
                "the design has a horizon: release one period at a time",
            ));
        }
        let answers = curator.answers(&[counts], &mut randomness.streams().stream(0));
        let [tables, _] = curator.tables(&[answers]);
        let counts: Vec<f64> = tables.iter().flat_map(|table| table.counts.iter().copied()).collect();
        let rows = Array2::from_shape_vec((counts.len(), 1), counts);
        let rows = rows.map_err(|problem| Error::shape(problem.to_string()))?;
        let rows = Table::new(vec!["count".into()], rows, Target::None)?;
        let layout = Layout { columns: rows.columns().to_vec(), target: TargetLayout::None };
        let guarantee = curator.guarantee().under(randomness.provenance());
        let release = Release::new(Key::None, guarantee, Noise::unknown(&layout), rows);
        Ok(Outcome::Tables(Release { noisy_tables: tables, ..release }))
    }
}

/// Columns of a table, with the weight of the table in the budget.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Asked {
    /// Names of the columns, for a table of weight 1.
    Columns(Vec<String>),
    /// Names of the columns, and the weight.
    Weighted(Weighted),
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Weighted {
    /// Names of the columns.
    columns: Vec<String>,
    /// Weight: the table spends this part of the sum of all weights.
    weight: f64,
}

/// Parameters of the mechanism.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    #[serde(flatten)]
    common: Common,
    /// Tables of counts: one list of column names per table ("target" for the target), or an object with
    /// `columns` and `weight`. The default, without means, is one table for each column.
    counts: Option<Vec<Asked>>,
    /// Means: one list per mean, first the number, then columns whose levels are groups; or an object with
    /// `columns` and `weight`.
    means: Option<Vec<Asked>>,
    /// Number of periods that have one guarantee together. Each period is released by itself, with totals of
    /// all periods so far.
    horizon: Option<usize>,
    /// Largest number of periods in which a person has records, 1 by default.
    periods_per_person: Option<usize>,
    /// Noise over time: "correlated" (the default) is small on totals, "independent" on single periods.
    noise: Option<NoiseOverTime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum NoiseOverTime {
    Correlated,
    Independent,
}

fn learn(parameters: Parameters, brief: &Brief) -> Result<State> {
    let Parameters { mut common, counts, means, horizon, periods_per_person, noise } = parameters;
    brief.budget.check_for_gaussian(NAME)?;
    let domain = brief.domain.clone();
    let place = |name: &String| place(NAME, &domain, name);
    let (counts, means) = match (counts, means) {
        (None, None) => (None, vec![]),
        (counts, means) => (Some(counts.unwrap_or_default()), means.unwrap_or_default()),
    };
    let split = |asked: &Asked| match asked {
        Asked::Columns(columns) => (columns.clone(), 1.0),
        Asked::Weighted(Weighted { columns, weight }) => (columns.clone(), *weight),
    };
    let sorted = |names: &[String]| {
        let mut clique = names.iter().map(place).collect::<Result<Clique>>()?;
        clique.sort_unstable();
        Ok::<Clique, Error>(clique)
    };
    let mut questions = vec![];
    match &counts {
        None => {
            let columns = domain.flat().factors().count();
            questions.extend((0..columns).map(|at| Question {
                mean_of: None,
                columns: vec![at],
                share: 1.0,
            }));
        }
        Some(counts) => {
            for (names, share) in counts.iter().map(split) {
                questions.push(Question { mean_of: None, columns: sorted(&names)?, share });
            }
        }
    }
    for (names, share) in means.iter().map(split) {
        let Some((number, groups)) = names.split_first() else {
            return Err(Error::parameter(NAME, "means: each needs the name of a number first"));
        };
        questions.push(Question { mean_of: Some(place(number)?), columns: sorted(groups)?, share });
    }
    let all: f64 = questions.iter().map(|question| question.share).sum();
    for question in &questions {
        let fits = question.share > 0.0 && all.is_finite();
        Error::check(NAME, "weight", question.share, "above zero and finite", fits)?;
    }
    questions.iter_mut().for_each(|question| question.share /= all);
    let horizon = match (horizon, periods_per_person, noise) {
        (None, None, None) => None,
        (None, ..) => {
            let problem = "periods_per_person and noise are for designs with a horizon";
            return Err(Error::parameter(NAME, problem));
        }
        (Some(periods), per_person, noise) => {
            common.neighbours = common.neighbours.or(Some(Neighbours::AddOrRemoveOne));
            Some(Horizon {
                periods,
                periods_per_person: per_person.unwrap_or(1),
                is_correlated: noise != Some(NoiseOverTime::Independent),
            })
        }
    };
    let share = 1.0 / questions.len().max(1) as f64;
    let (bins, neighbours) = common.equal_bins(NAME, brief, share)?;
    Ok(State { domain, budget: brief.budget, neighbours, bins, questions, horizon })
}

fn example() -> Result<Example> {
    let parameters = serde_json::json!({
        "bins": 3,
        "counts": [["colour"], { "columns": ["size", "target"], "weight": 2 }],
        "means": [["weight", "target"]],
    });
    Ok(Example { parameters, ..Example::mixed()? })
}

register! {
    /// Noisy tables of chosen columns, and no rows.
    ///
    /// Each table of counts is a histogram of the levels of its columns together. The mean of a number is
    /// measured by a table of three cells, its bounds and the middle. With x = (number − lower)/(upper −
    /// lower), a person adds x², 2x(1 − x) and (1 − x)² to them, so that they give the mean and the variance
    /// of the number. The budget μ² is divided by stated weights. With a horizon of T periods, the tables are
    /// released period after period under one guarantee, with correlated noise that is small on running
    /// totals (`guide/equations/tables.md`).
    ///
    /// ```
    /// use scumble_core::Randomness;
    /// use scumble_marginals::TABLES;
    /// use serde_json::json;
    ///
    /// let example = (TABLES.example)()?;
    /// let design = TABLES.design(&json!({ "counts": [["colour"]], "means": [["size"]] }), &example.brief)?;
    /// let release = design.mechanism().release(&example.table, &mut Randomness::from_os()?)?;
    /// assert_eq!(release.noisy_tables[0].counts.len(), 3); // three colours
    /// assert_eq!(release.noisy_tables[1].counts.len(), 3); // the bounds of a size, and the middle
    /// # Ok::<(), scumble_core::Error>(())
    /// ```
    pub const TABLES = {
        name: NAME,
        summary: "noisy tables of chosen columns, counts and means, and no rows; also period after period",
        paper: "Canonne, Kamath and Steinke, The discrete Gaussian (2020); Henzinger, Upadhyay and Upadhyay, \
                Almost tight error bounds on differentially private continual counting (2023)",
        descriptor: Descriptor::new(Output::Tables).reading_people(),
        parameters: Parameters,
        learn: learn,
        curator: TableCurator::try_from,
        example: example,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_adversary::{Effort, Verdict, audit};
    use scumble_core::Designed;
    use serde_json::json;

    /// The curator at ε = 1 and δ = 0.01 with these parameters, and the example's records.
    fn designed(parameters: &Value) -> (TableCurator, Table) {
        let example = Example::mixed().unwrap();
        let brief = example.brief.with_budget(Budget::new(1.0, 0.01).unwrap());
        let state = learn(serde_json::from_value(parameters.clone()).unwrap(), &brief).unwrap();
        (state.try_into().unwrap(), example.table)
    }

    fn is_broken(curator: impl Into<Designed>, table: &Table) -> bool {
        let effort = Effort { samples: 300_000, pairs: 1, ..Effort::quick() };
        let findings = audit("tables", &curator.into(), Some(table), effort).unwrap();
        findings.iter().any(|finding| finding.verdict == Verdict::Broken)
    }

    /// A curator that releases each period twice, with fresh noise.
    #[derive(Debug)]
    struct Twice(TableCurator);

    impl CuratorMechanism for Twice {
        fn domain(&self) -> &RecordDomain {
            self.0.domain()
        }

        fn guarantee(&self) -> Guarantee {
            self.0.guarantee()
        }

        fn start(&self) -> Box<dyn Accumulator + '_> {
            self.0.start()
        }

        fn releases(&self) -> Releases {
            self.0.releases()
        }

        fn evidence(&self) -> Evidence<'_> {
            Evidence { statistics: Some(self), ..Evidence::default() }
        }
    }

    impl Statistics for Twice {
        fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>> {
            Ok([self.0.draw(table, randomness)?, self.0.draw(table, randomness)?].concat())
        }

        fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64> {
            let (one, other) = drawn.split_at(drawn.len() / 2);
            Ok(self.0.log_likelihood(table, one)? + self.0.log_likelihood(table, other)?)
        }
    }

    /// Noise of each table for the horizon of `curator`, of the scale `scale` in a single release.
    fn noise(curator: &TableCurator, scale: impl Fn(f64) -> f64) -> Option<Vec<RunningNoise>> {
        let horizon = curator.state.horizon.unwrap_or(Horizon::ONE);
        let noise = curator
            .state
            .questions
            .iter()
            .map(|question| RunningNoise::new(horizon, scale(question.share)).unwrap());
        Some(noise.collect())
    }

    /// The audit sees the answers of all periods together. An honest curator spends nearly all that it
    /// claims.
    #[test]
    fn a_person_in_more_periods_and_a_period_with_fresh_noise_are_caught() {
        let parameters = |most: usize, noise: &str| {
            let tables = json!({"bins": 3, "counts": [["colour"]], "means": [["size"]]});
            let time = json!({"horizon": 12, "periods_per_person": most, "noise": noise});
            let fields = [tables, time].into_iter().flat_map(|value| value.as_object().cloned().unwrap());
            Value::Object(fields.collect())
        };
        for (most, over_time) in [(1, "correlated"), (1, "independent"), (3, "correlated")] {
            let (honest, table) = designed(&parameters(most, over_time));
            assert!(!is_broken(Designed::curator(honest.clone()), &table), "{most} {over_time}");
            let (mut recurring, _) = designed(&parameters(12, over_time));
            recurring.noise = honest.noise.clone();
            recurring.state.horizon =
                Some(Horizon { periods_per_person: 12, ..honest.state.horizon.unwrap() });
            assert!(is_broken(Designed::curator(recurring), &table), "{most} {over_time}: recurring people");
            let twice = Designed::curator(Twice(honest.clone()));
            assert!(is_broken(twice, &table), "{most} {over_time}: fresh noise");
        }
    }

    #[test]
    fn noise_that_forgets_the_weights_or_the_horizon_is_caught() {
        let tables = json!({"counts": [["colour"], ["target"], ["colour", "target"], ["size"]], "bins": 2});
        let (honest, table) = designed(&tables);
        let mu = gaussian::mu(1.0, 0.01).unwrap();
        let right =
            TableCurator { noise: noise(&honest, |share| (2.0 / share).sqrt() / mu), ..honest.clone() };
        assert!(!is_broken(Designed::curator(right), &table));
        let wrong = TableCurator { noise: noise(&honest, |_| 2f64.sqrt() / mu), ..honest };
        assert!(is_broken(Designed::curator(wrong), &table), "each table spends the whole budget");
        let (honest, table) = designed(&json!({"counts": [["colour"]], "horizon": 100}));
        let single = RunningNoise::new(honest.state.horizon.unwrap(), 1.0).unwrap().scale();
        let wrong = TableCurator { noise: noise(&honest, |_| 1.0 / mu / single), ..honest };
        assert!(is_broken(Designed::curator(wrong), &table), "the noise of a single release in each period");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let example = Example::mixed().unwrap();
        for (parameters, expected) in [
            (json!({"counts": [["shape"]]}), "there is no column \"shape\""),
            (json!({"counts": [["size", "size"]]}), "without duplicates"),
            (json!({"means": [["colour"]]}), "each table needs one column or more"),
            (json!({"counts": [{"columns": ["size"], "weight": 0.0}]}), "weight"),
            (json!({"counts": []}), "each table needs one column or more"),
            (json!({"periods_per_person": 2}), "are for designs with a horizon"),
            (json!({"horizon": 3, "periods_per_person": 4}), "a person in 1 to all of them"),
            (json!({"horizon": 3, "neighbours": "replace-one"}), "add-or-remove-one"),
            (json!({"horizon": 1_000_000}), "1 to 10000 periods"),
        ] {
            let refused = TABLES.design(&parameters, &example.brief).unwrap_err().to_string();
            assert!(refused.contains(expected), "{parameters}: {refused}");
        }
    }

    #[test]
    fn a_state_of_other_tables_or_of_the_last_period_is_refused() {
        let (curator, table) = designed(&json!({"counts": [["colour"]], "horizon": 2}));
        let release = |curator: &TableCurator, earlier: Option<&Value>| {
            let mut accumulator = curator.start();
            accumulate(&curator.state.domain.layout(), &table, &mut *accumulator)?;
            accumulator.release_period(earlier, &mut Randomness::seeded(1))
        };
        let first = release(&curator, None).unwrap();
        let second = release(&curator, Some(&first.state)).unwrap();
        let late = release(&curator, Some(&second.state)).unwrap_err().to_string();
        assert!(late.contains("all 2 periods"), "{late}");
        let (other, _) = designed(&json!({"counts": [["colour", "target"]], "horizon": 2}));
        let refused = release(&other, Some(&first.state)).unwrap_err().to_string();
        assert!(refused.contains("other tables"), "{refused}");
        assert!(curator.release(&table, &mut Randomness::seeded(1)).is_err(), "a period has a number");
    }
}

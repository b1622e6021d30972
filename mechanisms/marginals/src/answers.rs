//! The two questions about exact counts that a mechanism may ask: the noisy counts of a table, or the private
//! choice of one candidate, such as a table to measure.
//!
//! A mechanism is written once, against [`Answers`]. A release uses [`Drawn`], which answers from the
//! records. An audit uses [`Replayed`], which computes the likelihood of drawn answers for other records. The
//! budget is μ², where μ is the parameter of Gaussian differential privacy. A share of the budget is charged
//! before each answer, so no mechanism exceeds its budget, whatever it asks.

use crate::columns::Columns;
use crate::counts::{Clique, Counts};
use crate::forest::Forest;
use crate::residuals::Measured;
use crate::selection::Selection;
use rayon::prelude::*;
use scumble_accounting::gaussian;
use scumble_core::levels::CountedTable;
use scumble_core::{Budget, Error, Neighbours, PARTS, PrivacyProfile, Result, Stream, interrupt};
use scumble_noise::CountNoise;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Budget of a mechanism, and its neighbouring relation.
#[derive(Debug, Clone)]
pub(crate) struct Purse {
    budget: Budget,
    neighbours: Neighbours,
    /// Largest number of records of a person that count.
    records_per_person: u16,
    /// Number of parties that add noise to each table, each of them enough for the budget.
    servers: u16,
    /// Square of the Gaussian differential privacy parameter μ of all answers together; `None` for an
    /// infinite ε.
    squared_mu: Option<f64>,
    /// Samplers of the noise of earlier questions. The key is the bit pattern of the share of μ² that a
    /// question spends. Creating a sampler takes longer than drawing from it.
    made: Arc<Mutex<BTreeMap<u64, CountNoise>>>,
}

/// Share of the budget μ² that is reserved, because noise on a lattice spends slightly more than continuous
/// noise.
const FOR_ROUNDINGS: f64 = 1e-5;
/// Largest ε that one choice among candidates spends.
const MOST_OF_CHOICE: f64 = 60.0;
/// Share of the budget μ² smaller than every share that a mechanism asks for. [`Purse::new`] checks that
/// noise exists for it, and therefore for every larger share.
pub(crate) const LEAST_SHARE: f64 = 1e-6;

impl Purse {
    /// Creates the purse for a budget.
    ///
    /// # Errors
    /// [`Error::Budget`] if δ = 0 and ε is finite, or if ε is too small for any noise.
    pub(crate) fn new(budget: Budget, neighbours: Neighbours, records_per_person: u16) -> Result<Self> {
        let squared_mu = match (budget.epsilon(), budget.delta()) {
            (f64::INFINITY, _) => None,
            (_, 0.0) => {
                return Err(Error::Budget {
                    name: "delta",
                    range: "above zero for Gaussian noise",
                    value: 0.0,
                });
            }
            (epsilon, delta) => {
                let mu = gaussian::mu(epsilon, delta).unwrap_or(0.0);
                Some(mu * mu * (1.0 - FOR_ROUNDINGS))
            }
        };
        let (servers, made) = (1, Arc::default());
        let purse = Self { budget, neighbours, records_per_person, servers, squared_mu, made };
        purse.noise(LEAST_SHARE)?;
        Ok(purse)
    }

    /// Same purse, for tables to which `servers` parties add noise.
    pub(crate) fn of_servers(self, servers: u16) -> Self {
        Self { servers, ..self }
    }

    /// Returns the noise that one party adds to a table that spends `share`, a fraction of the budget; `None`
    /// for an infinite ε.
    ///
    /// # Errors
    /// [`Error::Budget`] if the standard deviation of the noise exceeds every possible count.
    pub(crate) fn noise(&self, share: f64) -> Result<Option<CountNoise>> {
        if self.squared_mu.is_none() {
            return Ok(None);
        }
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(noise) = made.get(&share.to_bits()) {
            return Ok(Some(noise.clone()));
        }
        let noise = CountNoise::with_scale(self.scale(share))?;
        made.insert(share.to_bits(), noise.clone());
        Ok(Some(noise))
    }

    /// Standard deviation, in counts, of all noise of a table that spends `share`, a fraction of the budget.
    pub(crate) fn deviation(&self, share: f64) -> f64 {
        self.scale(share) * f64::from(self.servers).sqrt()
    }

    /// Standard deviation, in counts, of all noise of a table to which each party adds `noise`.
    pub(crate) fn deviation_of(&self, noise: Option<&CountNoise>) -> f64 {
        noise.map_or(0.0, |noise| noise.scale() * f64::from(self.servers).sqrt())
    }

    /// Standard deviation, in counts, of the noise that one party adds to a table that spends `share`, a
    /// fraction of the budget.
    fn scale(&self, share: f64) -> f64 {
        self.squared_mu.map_or(0.0, |squared_mu| (self.differing() as f64 / (share * squared_mu)).sqrt())
    }

    /// Returns the range ε of the privacy loss (its largest value less its smallest) of a choice that spends
    /// at most `share`, a fraction of the budget.
    ///
    /// The result is at most [`MOST_OF_CHOICE`], because a larger ε would hardly improve a choice. It is
    /// infinite if the ε of the budget is infinite.
    fn epsilon_of_choice(&self, share: f64) -> f64 {
        self.squared_mu.map_or(f64::INFINITY, |squared_mu| {
            // Inverse of `PrivacyProfile::bounded_range`. Under μ-Gaussian differential privacy, Φ(μ/2) = (1
            // + δ(0))/2.
            let half = 0.5 * gaussian::delta((share * squared_mu).sqrt(), 0.0);
            (2.0 * ((0.5 + half) / (0.5 - half)).ln()).min(MOST_OF_CHOICE)
        })
    }

    /// Largest ℓ₁ distance of the tables of neighbouring data sets, and of its square in ℓ₂: 1 if neighbours
    /// add or remove one person, 2 if they replace one.
    fn differing(&self) -> u64 {
        match self.neighbours {
            Neighbours::AddOrRemoveOne => 1,
            Neighbours::ReplaceOne => 2,
        }
    }

    /// Returns the ε of replacing one record, at the δ of the budget, for answers that are calibrated to
    /// adding or removing one record.
    ///
    /// Replacing a record takes one record from a cell of each table and adds one to another cell. If the
    /// mechanism `chooses` tables by scores, the scores change by up to twice as much as by adding or
    /// removing one record.
    pub(crate) fn epsilon_of_replacement(&self, chooses: bool) -> f64 {
        let factor: f64 = if chooses { 4.0 } else { 2.0 };
        let mu = self.squared_mu.map_or(f64::INFINITY, |squared_mu| (factor * squared_mu).sqrt());
        gaussian::epsilon(mu * (1.0 + FOR_ROUNDINGS), self.budget.delta()).unwrap_or(f64::INFINITY)
    }
}

/// Source of answers to a mechanism's questions about exact counts.
pub(crate) trait Answers {
    /// Budget of the answers.
    fn purse(&self) -> &Purse;

    /// Returns the noisy table of the columns in `clique`, and spends `share`, a fraction of the budget.
    ///
    /// # Errors
    /// [`Error::Budget`] if the share exceeds the remaining budget.
    fn measure(&mut self, clique: &Clique, share: f64) -> Result<Measured>;

    /// Chooses a candidate by the exponential mechanism, and spends `share`, a fraction of the budget.
    /// Returns the candidate's index.
    ///
    /// `scores` returns the scores of all candidates. No score changes by more than [`UNIT`] if one record is
    /// added or removed.
    ///
    /// # Errors
    /// Same errors as [`measure`](Self::measure), and the errors of `scores`.
    fn select(&mut self, share: f64, scores: &Scores) -> Result<usize>;

    /// Chooses a spanning tree of the first `columns` columns.
    ///
    /// The pairs of the tree are chosen one after the other, among the pairs that close no cycle with the
    /// earlier pairs. Each choice spends `share`, a fraction of the budget. `score` returns the score of a
    /// pair, which changes by at most [`UNIT`] if one record is added or removed.
    ///
    /// # Errors
    /// Same errors as [`measure`](Self::measure).
    fn span(&mut self, share: f64, columns: usize, score: &ScoreOfPair) -> Result<Vec<(usize, usize)>>;

    /// Merges levels of columns for all later questions. `merged[i][j]` is the merged level of level j of
    /// column i.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the user interrupts the computation.
    fn merge(&mut self, merged: &[Vec<u32>]) -> Result<()>;
}

/// Function from exact counts to the scores of all candidates of a choice.
pub(crate) type Scores<'s> = dyn Fn(&Counts) -> Result<Vec<i64>> + 's;
/// Function from exact counts and a pair of columns to the score of the pair.
pub(crate) type ScoreOfPair<'s> = dyn Fn(&Counts, (usize, usize)) -> i64 + Sync + 's;

/// Returns all pairs of the first `columns` columns with their scores.
fn scored(counts: &Counts, columns: usize, score: &ScoreOfPair) -> Result<Vec<((usize, usize), i64)>> {
    let scored_row = |one: usize| {
        interrupt::check()?;
        let scored_pair = |other: usize| ((one, other), score(counts, (one, other)));
        Ok((one + 1..columns).map(scored_pair).collect())
    };
    let rows = (0..columns).into_par_iter().map(scored_row).collect::<Result<Vec<Vec<_>>>>()?;
    Ok(rows.concat())
}

/// Sensitivity of a score: its largest change if one record is added or removed.
pub(crate) const UNIT: u64 = 16;

/// Privacy profile of all answers so far together; `None` before the first answer.
#[derive(Debug, Clone, Default)]
struct Spent(Option<PrivacyProfile>);

impl Spent {
    /// Charges the `price` of an answer, its privacy profile, before the answer is given.
    ///
    /// # Errors
    /// [`Error::Budget`] if the price exceeds the remaining budget.
    fn pay(&mut self, purse: &Purse, price: PrivacyProfile) -> Result<()> {
        let all = self.0.map_or(price, |spent| spent.with(&price));
        if all.delta(purse.budget.epsilon()) > purse.budget.delta() {
            let range = "enough for all questions that the mechanism asks";
            return Err(Error::Budget { name: "epsilon", range, value: purse.budget.epsilon() });
        }
        self.0 = Some(all);
        Ok(())
    }
}

/// Computes the noise of a question, and charges the privacy profile of its answer to the budget.
struct Terms<'a> {
    purse: &'a Purse,
    spent: &'a mut Spent,
}

impl Terms<'_> {
    fn noise(self, share: f64) -> Result<Option<CountNoise>> {
        let noise = self.purse.noise(share)?;
        if let Some(noise) = &noise {
            let price = noise.profile(self.purse.neighbours, self.purse.records_per_person);
            self.spent.pay(self.purse, price)?;
        }
        Ok(noise)
    }

    fn selection(&mut self, share: f64) -> Result<Selection> {
        let epsilon = self.purse.epsilon_of_choice(share);
        if epsilon.is_finite() {
            self.spent.pay(self.purse, PrivacyProfile::bounded_range(epsilon))?;
        }
        // Replacing a record removes one and adds one, so it changes a score by up to twice as much as adding
        // or removing one record.
        let sensitivity = UNIT * self.purse.differing();
        Ok(Selection::new(epsilon, sensitivity))
    }

    /// Charges one choice for each pair of a tree of `columns` columns, and returns the mechanism for these
    /// choices. Each choice spends `share`, a fraction of the budget. Returns `None` if the tree has no pair.
    fn selections(mut self, share: f64, columns: usize) -> Result<Option<Selection>> {
        let mut selection = None;
        for _ in 1..columns {
            selection = Some(self.selection(share)?);
        }
        Ok(selection)
    }
}

fn count(parts: u64) -> f64 {
    parts as f64 / f64::from(PARTS)
}

/// Table with noise of this standard `deviation` on each count.
fn measured(clique: &Clique, counts: Vec<f64>, deviation: f64) -> Measured {
    let variance = if deviation == 0.0 { 1.0 } else { deviation.powi(2) }; // without noise all tables agree
    Measured { clique: clique.clone(), counts, variance }
}

/// Answers from records, with fresh noise.
pub(crate) struct Drawn {
    purse: Purse,
    spent: Spent,
    counts: Counts,
    pub(crate) stream: Stream,
    /// All answers, one after the other.
    pub(crate) transcript: Vec<f64>,
    /// All measured tables.
    pub(crate) tables: Vec<Asked>,
    /// Merged level of each level of each column, if levels were merged.
    merged: Arc<Vec<Vec<u32>>>,
}

/// A measured table.
pub(crate) struct Asked {
    clique: Clique,
    counts: Vec<f64>,
    /// Standard deviation of the noise of a count.
    deviation: f64,
    /// Fraction of the budget that the table spends.
    share: f64,
    /// Same as [`Drawn::merged`].
    merged: Arc<Vec<Vec<u32>>>,
}

impl Asked {
    /// Table of unmerged levels.
    pub(crate) fn new(clique: &Clique, counts: Vec<f64>, deviation: f64, share: f64) -> Self {
        Self { clique: clique.clone(), counts, deviation, share, merged: Arc::default() }
    }

    /// The table as an answer.
    pub(crate) fn measured(&self) -> Measured {
        measured(&self.clique, self.counts.clone(), self.deviation)
    }

    /// Returns the table with the values that its levels stand for.
    pub(crate) fn counted(self, columns: &Columns) -> CountedTable {
        let Self { clique, counts, deviation, share, merged } = self;
        let levels = clique.iter().map(|&at| {
            let attribute = &columns.attributes()[at];
            let of = |level: usize| merged.get(at).map_or(level, |merged| merged[level] as usize);
            let count = (0..attribute.levels()).map(of).max().map_or(0, |most| most + 1);
            let mut originals = vec![vec![]; count];
            (0..attribute.levels()).for_each(|level| originals[of(level)].push(level));
            originals.iter().map(|levels| attribute.counted(levels)).collect()
        });
        CountedTable {
            levels: levels.collect(),
            columns: clique,
            counts,
            deviation,
            share,
            repeats_groups: false,
        }
    }
}

impl Drawn {
    pub(crate) fn new(purse: Purse, counts: Counts, stream: Stream) -> Self {
        let (transcript, tables, merged) = (vec![], vec![], Arc::default());
        Self { purse, spent: Spent::default(), counts, stream, transcript, tables, merged }
    }
}

impl Answers for Drawn {
    fn purse(&self) -> &Purse {
        &self.purse
    }

    fn measure(&mut self, clique: &Clique, share: f64) -> Result<Measured> {
        let noise = Terms { purse: &self.purse, spent: &mut self.spent }.noise(share)?;
        let exact = self.counts.cells(clique);
        let mut counts: Vec<f64> = exact.iter().map(|parts| count(*parts)).collect();
        if let Some(noise) = &noise {
            counts = noise.add(exact, &mut self.stream);
            let zeros = vec![0; exact.len()];
            for _ in 1..self.purse.servers {
                let other = noise.add(&zeros, &mut self.stream);
                counts.iter_mut().zip(other).for_each(|(count, other)| *count += other);
            }
        }
        let deviation = self.purse.deviation_of(noise.as_ref());
        let (clique, merged) = (clique.clone(), self.merged.clone());
        let asked = Asked { clique, counts, deviation, share, merged };
        let measured = asked.measured();
        self.transcript.extend(&asked.counts);
        self.tables.push(asked);
        Ok(measured)
    }

    fn select(&mut self, share: f64, scores: &Scores) -> Result<usize> {
        let selection = Terms { purse: &self.purse, spent: &mut self.spent }.selection(share)?;
        let mut candidates = selection.candidates(scores(&self.counts)?.into_iter().enumerate());
        let chosen = candidates.choose(&mut self.stream, |_| false).unwrap_or_default();
        self.transcript.push(chosen as f64);
        Ok(chosen)
    }

    fn span(&mut self, share: f64, columns: usize, score: &ScoreOfPair) -> Result<Vec<(usize, usize)>> {
        let selections = Terms { purse: &self.purse, spent: &mut self.spent }.selections(share, columns)?;
        let Some(selection) = selections else { return Ok(vec![]) };
        let (mut forest, mut tree) = (Forest::new(columns), vec![]);
        // The score of a pair is the same in every choice, so the weights of the candidates are computed
        // once.
        let mut candidates = selection.candidates(scored(&self.counts, columns, score)?);
        while let Some(pair) = candidates.choose(&mut self.stream, |pair| forest.connects(pair)) {
            interrupt::check()?;
            forest.add(pair);
            tree.push(pair);
            if tree.len() + 1 == columns {
                break;
            }
        }
        self.transcript.extend(tree.iter().flat_map(|(one, other)| [*one as f64, *other as f64]));
        Ok(tree)
    }

    fn merge(&mut self, merged: &[Vec<u32>]) -> Result<()> {
        self.counts = self.counts.merged(merged)?;
        self.merged = Arc::new(merged.to_vec());
        Ok(())
    }
}

fn not_of_this() -> Error {
    Error::shape("the statistics do not belong to such a release")
}

/// Source that replays drawn answers, and computes their likelihood for other records.
pub(crate) struct Replayed<'a> {
    purse: Purse,
    spent: Spent,
    counts: Counts,
    transcript: &'a [f64],
    /// Logarithm of the probability of all answers so far, up to a constant.
    pub(crate) log_likelihood: f64,
}

impl<'a> Replayed<'a> {
    pub(crate) fn new(purse: Purse, counts: Counts, transcript: &'a [f64]) -> Self {
        Self { purse, spent: Spent::default(), counts, transcript, log_likelihood: 0.0 }
    }

    /// Takes the next `count` values of the transcript.
    ///
    /// # Errors
    /// [`Error::Shape`] if fewer values are left.
    fn next(&mut self, count: usize) -> Result<&'a [f64]> {
        let (first, rest) = self.transcript.split_at_checked(count).ok_or_else(not_of_this)?;
        self.transcript = rest;
        Ok(first)
    }
}

impl Answers for Replayed<'_> {
    fn purse(&self) -> &Purse {
        &self.purse
    }

    fn measure(&mut self, clique: &Clique, share: f64) -> Result<Measured> {
        let noise = Terms { purse: &self.purse, spent: &mut self.spent }.noise(share)?;
        let counts = self.next(self.counts.cells(clique).len())?;
        let exact = self.counts.cells(clique);
        self.log_likelihood += match &noise {
            Some(noise) => noise.log_likelihood(exact, counts),
            None if exact.iter().zip(counts).all(|(exact, drawn)| count(*exact) == *drawn) => 0.0,
            None => f64::NEG_INFINITY,
        };
        Ok(measured(clique, counts.to_vec(), self.purse.deviation_of(noise.as_ref())))
    }

    fn select(&mut self, share: f64, scores: &Scores) -> Result<usize> {
        let selection = Terms { purse: &self.purse, spent: &mut self.spent }.selection(share)?;
        let (chosen, scores) = (self.next(1)?[0] as usize, scores(&self.counts)?);
        let score = scores.get(chosen).ok_or_else(not_of_this)?;
        self.log_likelihood += selection.log_likelihood(&scores, *score);
        Ok(chosen)
    }

    fn span(&mut self, share: f64, columns: usize, score: &ScoreOfPair) -> Result<Vec<(usize, usize)>> {
        let selections = Terms { purse: &self.purse, spent: &mut self.spent }.selections(share, columns)?;
        let Some(selection) = selections else { return Ok(vec![]) };
        let (mut forest, mut tree) = (Forest::new(columns), vec![]);
        let mut left = scored(&self.counts, columns, score)?;
        for _ in 1..columns {
            left.retain(|(pair, _)| !forest.connects(*pair));
            let drawn = self.next(2)?;
            let pair = (drawn[0] as usize, drawn[1] as usize);
            let (_, chosen) =
                left.iter().find(|(candidate, _)| *candidate == pair).ok_or_else(not_of_this)?;
            let scores: Vec<i64> = left.iter().map(|(_, score)| *score).collect();
            self.log_likelihood += selection.log_likelihood(&scores, *chosen);
            forest.add(pair);
            tree.push(pair);
        }
        Ok(tree)
    }

    fn merge(&mut self, merged: &[Vec<u32>]) -> Result<()> {
        self.counts = self.counts.merged(merged)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn every_pair_is_scored_once_for_a_whole_tree() {
        for columns in [2, 9, 60] {
            let budget = Budget::new(1.0, 1e-6).unwrap();
            let purse = Purse::new(budget, Neighbours::AddOrRemoveOne, 1).unwrap();
            let stream = Randomness::seeded(1).streams().stream(0);
            let counts = Counts::new(vec![2; columns], Default::default());
            let scored = AtomicUsize::new(0);
            let score = |_: &Counts, (one, other): (usize, usize)| {
                scored.fetch_add(1, Relaxed);
                (one * other) as i64
            };
            let mut drawn = Drawn::new(purse, counts, stream);
            let tree = drawn.span(0.5 / columns as f64, columns, &score).unwrap();
            assert_eq!((tree.len(), scored.into_inner()), (columns - 1, columns * (columns - 1) / 2));
        }
    }
}

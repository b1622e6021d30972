//! Privacy amplification by shuffling: the central ε of many local reports in random order.
//!
//! n people answer by *one* randomiser of local ε₀, each with independent random numbers. A shuffler outputs
//! their reports in an order that reveals nothing. Two data sets are neighbours if they differ in one
//! person's value ([`Neighbours::ReplaceOne`](crate::Neighbours::ReplaceOne)). The shuffler's output is then
//! (ε, δ)-differentially private with an ε that falls as √(e^ε₀/n).
//!
//! # Proof of the upper bound
//!
//! The upper bound is the bound of the stronger clones (Feldman, McMillan and Talwar, *Stronger privacy
//! amplification by shuffling for Rényi and approximate differential privacy*, SODA 2023, Theorem 3.1).
//! Below, "the person" is the one whose value differs between the neighbours. Each other person is a *clone*
//! with probability 2/(e^ε₀ + 1). A clone's report is distributed like the person's report under one of both
//! values, chosen by a fair coin. The paper's errata withdraw its proof (of Lemma 3.5) except for a few
//! randomisers. If all people use one randomiser, the bound holds nevertheless, by the privacy blanket and
//! convex order:
//!
//! 1. Let R₀ and R₁ be the densities of the person's report under both values, and p = e^ε₀. The density of
//!    anybody's report is at least b = max(R₀, R₁)/p, for any value. Each report is drawn from b or from the
//!    rest of its density. Reveal to the adversary the people whose reports are from the rest, and these
//!    reports. For the reports from b, the likelihood ratio gives δ(ε) ≤ E\[(G₁ + … + Gₙ)₊\]/n, where G₁, …,
//!    Gₙ are independent copies of a variable G. At a report drawn from b, G = (R₀ − e^ε·R₁)/b. With the
//!    remaining probability, G = 0. This is Lemma 5.3 of Balle, Bell, Gascón and Nissim, *The privacy blanket
//!    of the shuffle model*, CRYPTO 2019.
//! 2. At each point, (R₀, R₁)/max(R₀, R₁) is (1, c) or (c, 1) with 1/p ≤ c ≤ 1. It is a mixture of (1, 1/p)
//!    or (1/p, 1) with (1, 1). For convex φ, E φ(G) does not fall if each point is split this way. R₀ and R₁
//!    have mass one, so the distribution of G is then a mixture of A and B, with weights t and 1 − t. Under
//!    A, G is p − e^ε or 1 − p·e^ε, each with probability 1/(p + 1), and otherwise 0. Under B, G is p − p·e^ε
//!    with probability 1/p, and otherwise 0.
//! 3. For ε > ε₀, δ is 0. For 0 ≤ ε ≤ ε₀, A and B both have the mean 1 − e^ε. For any x, E(G − x)₊ under A is
//!    at least its value under B. In the case p − p·e^ε < x < 0, it is −x·(1 − 1/p) under B. Under A it is at
//!    least −x·p/(p + 1), which is more, because p² − 1 < p². So E φ(G) is largest at t = 1. The same follows
//!    for sums of independent G, so δ(ε) is at most its value for A. ∎
//!
//! For binary randomised response, Step 1 gives exactly A, so the bound for this randomiser is the bound for
//! all.
//!
//! # Questions, and answers that support values
//!
//! A smaller bound holds for a randomiser that draws a question j with a public probability wⱼ, and an answer
//! y with the density cⱼ(y)·p if y *supports* the person's value, and else cⱼ(y). If y is drawn from cⱼ,
//! scaled to mass one, y must support each value with the same probability sⱼ ≤ ½. Randomised response with k
//! levels has one question and s = 1/k; subset selection of ω levels s = ω/k, Hadamard response s = ½, and
//! optimal unary encoding s = 1/(p + 1).
//!
//! 1. Step 1 holds with b = Σⱼ wⱼ·cⱼ. The mass of cⱼ is γⱼ = 1/(1 + (p − 1)·sⱼ), because cⱼ·p or cⱼ is a
//!    density. At an answer drawn from cⱼ, G is p − e^ε, 1 − p·e^ε, p − p·e^ε or 1 − e^ε: y supports the
//!    first value alone, the second alone, both or none.
//! 2. y supports both values at most as often as none, because sⱼ ≤ ½. Pair the mass of both with an equal
//!    mass of none. If instead y supported one value alone in each, the sum p − p·e^ε + 1 − e^ε would be the
//!    same, and E φ(G) not smaller for convex φ, since p − e^ε is not below either term. The same holds for
//!    a question to which the person's two values are equal. So G is p − e^ε and 1 − p·e^ε with probability
//!    a = Σⱼ wⱼ·sⱼ·γⱼ each, 0 with probability 1 − γ for γ = Σⱼ wⱼ·γⱼ, and otherwise 1 − e^ε.
//! 3. γ + (p − 1)·a = 1. With t = (p + 1)·a, G is distributed like A with probability t, and else its mean
//!    1 − e^ε. So all such randomisers with the same a have one bound, and it rises with a. It is that of
//!    randomised response with γ/a levels, which need not be a whole number: a = 1/(p + γ/a − 1). ∎
//!
//! The proof needs one randomiser, the same for all, chosen before the first report. It does not cover
//! reports that depend on earlier ones.
//!
//! # Proof of the lower bound
//!
//! The lower bound is P(S) − e^ε·Q(S) for an event S, with a given randomiser and data set. S depends only on
//! the number of reports of each level. The randomiser is randomised response. The largest result over three
//! data sets counts. With two levels, all other people have the person's value, or all have the alternative
//! value. With three levels, all other people have the third level. If [`Shuffle::with_levels`] was called,
//! its number of levels replaces two and three. [`Shuffle::with_support`] gives no lower bound.
//!
//! # Computation
//!
//! Given the number C of clones, the number of their reports of the first level is binomial, and the
//! likelihood ratio rises with this number. A threshold k on the number of reports gives
//! δ = P(p − e^ε)/(p + 1) − (e^ε − 1)·T. Here P = P(Bin(C, ½) = k − 1) and T = P(Bin(C, ½) ≥ k). More
//! clones never raise δ, because the shuffler could add clones itself. So the values of C are grouped into
//! intervals ("cells"), and each cell counts as its least value. A window holds most of the mass of C.
//! Values of C below the window count as zero clones, and values above it as the largest value in the window.
//! Masses have relative errors below 10⁻⁹. This error is added to upper bounds and subtracted from lower
//! bounds.

mod counts;

use crate::Result;
use crate::error::{check, check_epsilon};
use crate::loss::{Bounds, check_not_lost};
use crate::search::nearly_least;
use counts::{Count, Edge, Window};

/// A bound on the relative error of sums and masses in floats.
const ROUNDING: f64 = 1e-9;
/// A bound on the total of all masses that underflow.
const UNDERFLOW: f64 = 1e-305;
/// The largest mass that a sum may leave out, divided by δ.
const LEFT_OUT: f64 = 1e-7;
/// The relative accuracy of the least ε.
const ACCURACY: f64 = 1e-7;
/// The largest number of people.
const MOST_PEOPLE: u64 = 10_000_000_000;
/// The largest number of levels: floats represent all integers up to it.
const MOST_LEVELS: u64 = 1 << 53;
/// The number of cells (intervals of the number of clones), and the least width of a cell, divided by the
/// number of clones. Clones are people whose reports are distributed like the report of the person whose
/// value differs.
const CELLS: (u64, f64) = (1024, 5e-6);
/// The number and the relative least width of cells, as in [`CELLS`], for randomised response with more than
/// two levels, where each cell needs a separate sum.
const FEWER_CELLS: (u64, f64) = (512, 5e-5);
/// The largest local ε for which bounds are computed. For a larger ε, odds e^ε overflow, and trivial bounds
/// are returned.
const FLOATS: f64 = 700.0;

/// People whose reports are shuffled, and their randomiser.
///
/// ```
/// use scumble_accounting::shuffle::Shuffle;
///
/// // Ten thousand people, each at local ε = 1.
/// let epsilon = Shuffle::new(1.0, 10_000)?.epsilon(1e-6)?;
/// assert!(epsilon.lower > 0.037 && epsilon.upper < 0.044);
/// # Ok::<(), scumble_accounting::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shuffle {
    epsilon_local: f64,
    people: u64,
    levels: Option<Levels>,
}

/// Restriction of the randomiser.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Levels {
    /// Randomised response with this number of levels.
    Response(u64),
    /// Answers that support one of this number of levels, on average.
    Support(f64),
}

impl Shuffle {
    /// Describes at least `people` people who report by one randomiser, which satisfies local differential
    /// privacy with ε₀ = `epsilon_local` and δ = 0.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) unless ε₀ is finite and at least zero, and the number
    /// of people is from 1 to 10¹⁰. More people have no less privacy.
    pub fn new(epsilon_local: f64, people: u64) -> Result<Self> {
        let finite = epsilon_local >= 0.0 && epsilon_local.is_finite();
        check("the local epsilon", epsilon_local, "zero or more, and finite", finite)?;
        let few = (1..=MOST_PEOPLE).contains(&people);
        check("the number of people", people as f64, "1 to 10^10 (more people have no less privacy)", few)?;
        Ok(Self { epsilon_local, people, levels: None })
    }

    /// Restricts the randomiser to randomised response with `levels` levels.
    ///
    /// Randomised response reports the true level with probability e^ε₀/(e^ε₀ + k − 1) for k = `levels`, and
    /// every other level equally often. The bounds of [`epsilon`](Self::epsilon) and [`delta`](Self::delta)
    /// then apply to this randomiser.
    ///
    /// ```
    /// use scumble_accounting::shuffle::Shuffle;
    ///
    /// let any = Shuffle::new(2.0, 10_000)?;
    /// let (ten, any) = (any.with_levels(10)?.epsilon(1e-6)?, any.epsilon(1e-6)?);
    /// assert!(ten.lower <= ten.upper && ten.upper < any.upper);
    /// # Ok::<(), scumble_accounting::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) unless there are 2 to 2⁵³ levels.
    pub fn with_levels(self, levels: u64) -> Result<Self> {
        let countable = (2..=MOST_LEVELS).contains(&levels);
        check("the number of levels", levels as f64, "2 to 2^53", countable)?;
        Ok(Self { levels: Some(Levels::Response(levels)), ..self })
    }

    /// Restricts the randomiser to one that draws a question and an answer, as the section on answers that
    /// support values describes. `levels` is γ/a: the upper bounds are those of randomised response with this
    /// number of levels. There are no lower bounds above zero.
    ///
    /// With e^ε₀ = p and one question, γ/a is 1/s. With several, p − 1 + γ/a is the harmonic mean of the
    /// p − 1 + 1/sⱼ, with the weights wⱼ.
    ///
    /// ```
    /// use scumble_accounting::shuffle::Shuffle;
    ///
    /// let any = Shuffle::new(2.0, 10_000)?;
    /// let answers = any.with_support(4.5)?.epsilon(1e-6)?.upper;
    /// assert!(answers < any.with_levels(4)?.epsilon(1e-6)?.upper);
    /// assert!(answers > any.with_levels(5)?.epsilon(1e-6)?.upper);
    /// # Ok::<(), scumble_accounting::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) unless 2 ≤ `levels` ≤ 2⁵³.
    pub fn with_support(self, levels: f64) -> Result<Self> {
        let fits = (2.0..=MOST_LEVELS as f64).contains(&levels);
        check("the number of supported levels", levels, "2 to 2^53", fits)?;
        Ok(Self { levels: Some(Levels::Support(levels)), ..self })
    }

    /// The local ε, ε₀.
    pub fn epsilon_local(&self) -> f64 {
        self.epsilon_local
    }

    /// The number of people, n.
    pub fn people(&self) -> u64 {
        self.people
    }

    /// The number of levels of randomised response whose upper bound holds; 2 for any randomiser.
    fn blanket(&self) -> f64 {
        match self.levels {
            Some(Levels::Response(levels)) => levels as f64,
            Some(Levels::Support(levels)) => levels,
            None => 2.0,
        }
    }

    /// Bounds on the least ε for which the shuffler's output is (ε, δ)-differentially private, for replacing
    /// one record.
    ///
    /// The upper bound holds for every randomiser of local ε₀, and never exceeds ε₀. No proof can give an ε
    /// below the lower bound, because the reports of some randomiser on some data set satisfy no smaller ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) unless 10⁻³⁰⁰ ≤ δ < 1.
    pub fn epsilon(&self, delta: f64) -> Result<Bounds> {
        check_not_lost(delta)?;
        let most = self.epsilon_local;
        if most == 0.0 || most > FLOATS {
            return Ok(Bounds { lower: 0.0, upper: most });
        }
        let from = (1e-9 * most).max(f64::MIN_POSITIVE);
        let least = |holds: &dyn Fn(f64) -> bool| match holds(0.0) {
            true => 0.0,
            false => nearly_least(from, most, ACCURACY, holds).unwrap_or(most),
        };
        let lost = LEFT_OUT * delta;
        let above = |way: Self| {
            let cells = way.cells(lost);
            least(&|epsilon| way.above(epsilon, &cells, lost) <= delta)
        };
        let upper = self.ways().map(above).fold(f64::INFINITY, f64::min);
        let lower = match least(&|epsilon| self.below(epsilon, lost) <= delta) {
            found if found <= from => 0.0,
            found => found * (1.0 - 2.0 * ACCURACY),
        };
        Ok(Bounds { lower: lower.min(upper), upper })
    }

    /// Ways to the upper bound. The bound for any randomiser also holds for a restricted one, and is tighter
    /// where cells are coarse.
    fn ways(&self) -> impl Iterator<Item = Self> {
        [*self].into_iter().chain(self.levels.map(|_| Self { levels: None, ..*self }))
    }

    /// Returns whether the upper bound of [`epsilon`](Self::epsilon) at `delta` is at most `epsilon`, up to
    /// the last digits. It takes a small part of the time.
    ///
    /// # Errors
    /// Same errors as [`epsilon`](Self::epsilon) and [`delta`](Self::delta).
    pub fn satisfies(&self, epsilon: f64, delta: f64) -> Result<bool> {
        check_not_lost(delta)?;
        check_epsilon(epsilon)?;
        let lost = LEFT_OUT * delta;
        let holds = |way: Self| way.above(epsilon, &way.cells(lost), lost) <= delta;
        Ok(epsilon >= self.epsilon_local || self.epsilon_local <= FLOATS && self.ways().any(holds))
    }

    /// Bounds on the least δ for which the shuffler's output is (ε, δ)-differentially private, for replacing
    /// one record.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) unless ε ≥ 0 is finite.
    pub fn delta(&self, epsilon: f64) -> Result<Bounds> {
        check_epsilon(epsilon)?;
        if epsilon >= self.epsilon_local {
            return Ok(Bounds { lower: 0.0, upper: 0.0 });
        }
        if self.epsilon_local > FLOATS {
            return Ok(Bounds { lower: 0.0, upper: 1.0 });
        }
        const LOST: f64 = 1e-300;
        let upper = self.above(epsilon, &self.cells(LOST), LOST).min(1.0);
        Ok(Bounds { lower: self.below(epsilon, LOST).min(upper), upper })
    }

    /// An upper bound on δ(ε) of the shuffler's output. `cells` is the distribution of the number of clones,
    /// and `lost` the mass that a sum may leave out at either end.
    fn above(&self, epsilon: f64, cells: &[Cell], lost: f64) -> f64 {
        let clones = Clones::from_blanket(self.epsilon_local, self.blanket());
        let alone = clones.own.less(epsilon);
        let in_cells: f64 = cells
            .iter()
            .map(|cell| cell.weight * clones.excess(epsilon, cell.clones + 1, lost, Side::Above).min(alone))
            .sum();
        in_cells * (1.0 + ROUNDING) + UNDERFLOW
    }

    /// A lower bound on δ(ε) of the shuffler's output, from the data sets of the module's "Proof of the lower
    /// bound". `lost` is the mass that a sum may leave out at either end.
    fn below(&self, epsilon: f64, lost: f64) -> f64 {
        let (two, three, others) = match self.levels {
            Some(Levels::Response(levels)) => (levels as f64, levels as f64, self.people - 1),
            Some(Levels::Support(_)) => return 0.0,
            None => (2.0, 3.0, self.people - 1),
        };
        let own = Own::new(self.epsilon_local, two);
        let one_level_bounds = [own.true_level, own.other_level]
            .map(|share| own.excess_of_one_level(epsilon, Count::new(others, share, 1.0 - share)));
        let third_level_bound = if three < 3.0 {
            0.0
        } else {
            Clones::from_third_level(self.epsilon_local, three).excess(
                epsilon,
                self.people,
                lost,
                Side::Below,
            )
        };
        one_level_bounds.into_iter().fold(third_level_bound, f64::max) * (1.0 - ROUNDING)
    }

    /// The distribution of the number of clones, in cells. A clone is another person whose report is
    /// distributed like the report of the person whose value differs. `lost` is the largest mass of the
    /// counts below the first cell, and of the counts above the last cell; both masses are added as cells.
    fn cells(&self, lost: f64) -> Vec<Cell> {
        let (clone, rest) = Own::new(self.epsilon_local, self.blanket()).in_common();
        let count = Count::new(self.people - 1, clone, rest);
        let Window { from, to, below, above } = count.window(lost);
        let (cells, share) = if self.blanket() > 2.0 { FEWER_CELLS } else { CELLS };
        let width = ((to - from) / cells + 1).max((from as f64 * share) as u64);
        let mut cells: Vec<Cell> = (from..=to)
            .step_by(usize::try_from(width).unwrap_or(usize::MAX))
            .map(|least| Cell { clones: least, weight: count.between(least, to.min(least + width - 1)) })
            .collect();
        cells.extend((below > 0.0).then_some(Cell { clones: 0, weight: below }));
        cells.extend((above > 0.0).then_some(Cell { clones: to, weight: above }));
        cells
    }
}

/// An interval of the number of clones: its least number, and its probability. Clones are people whose
/// reports are distributed like the report of the person whose value differs.
#[derive(Debug, Clone, Copy)]
struct Cell {
    clones: u64,
    weight: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    Above,
    Below,
}

impl Side {
    /// `gained` − `lost`, plus a bound on the rounding error for an upper bound, or minus it for a lower
    /// bound.
    fn difference(self, gained: f64, lost: f64) -> f64 {
        let off = ROUNDING * (gained + lost);
        let difference = match self {
            Self::Above => gained - lost + off,
            Self::Below => gained - lost - off,
        };
        match self {
            // The difference is NaN if both terms overflow. The result is then the trivial bound of its side.
            _ if difference > 0.0 => difference,
            Self::Above if difference.is_nan() => f64::INFINITY,
            _ => 0.0,
        }
    }
}

/// The report, by randomised response, of the person whose value differs between the neighbours.
#[derive(Debug, Clone, Copy)]
struct Own {
    epsilon_local: f64,
    levels: f64,
    /// The probability of the true level, and of each other level.
    true_level: f64,
    other_level: f64,
}

impl Own {
    fn new(epsilon_local: f64, levels: f64) -> Self {
        let odds = (-epsilon_local).exp();
        let true_level = 1.0 / (1.0 + (levels - 1.0) * odds);
        Self { epsilon_local, levels, true_level, other_level: odds * true_level }
    }

    /// The mass common to the report distributions of all levels, and one minus this mass.
    fn in_common(&self) -> (f64, f64) {
        (self.levels * self.other_level, self.gap())
    }

    /// The probability of the true level minus the probability of another level.
    fn gap(&self) -> f64 {
        -(-self.epsilon_local).exp_m1() * self.true_level
    }

    /// The probability of the true level minus e^ε times the probability of another level.
    fn less(&self, epsilon: f64) -> f64 {
        -(epsilon - self.epsilon_local).exp_m1() * self.true_level
    }

    /// P(S) − e^ε·Q(S), where S is the event of k or more reports of the first level, for the k that
    /// maximises this difference.
    ///
    /// `others` is the distribution of the number of other people's reports of the first level. P and Q are
    /// the distributions of all reports under the two values of the person whose value differs. These values
    /// are the first level for P, and another level for Q.
    fn excess_of_one_level(&self, epsilon: f64, others: Count) -> f64 {
        let Some(k) = others.threshold(self, epsilon) else { return 0.0 };
        let edge = Edge::new(others, k);
        Side::Below.difference(self.less(epsilon) * edge.at, times(epsilon.exp_m1(), edge.beyond))
    }
}

impl Count {
    /// The least number of reports of the first level, including the person's own report, at which the
    /// likelihood ratio of the person's two values exceeds e^ε.
    ///
    /// The result is the number of all reports minus the largest number of reports of other levels at which
    /// this ratio still exceeds e^ε. The latter number keeps its digits where the odds e^ε₀ are large.
    fn threshold(&self, own: &Own, epsilon: f64) -> Option<u64> {
        let reports = self.trials() + 1;
        let (first, rest) = self.shares();
        let counted = own.less(epsilon) / first;
        let against = (epsilon.exp_m1() - epsilon.exp() * own.other_level + own.true_level) / rest;
        below(reports as f64 * counted / (counted + against)).and_then(|others| reports.checked_sub(others))
    }
}

/// The largest non-negative integer below x, if one exists.
fn below(x: f64) -> Option<u64> {
    (x > 0.0).then(|| (x.ceil() - 1.0) as u64)
}

/// x·y, where infinity times zero is zero.
fn times(x: f64, y: f64) -> f64 {
    if y == 0.0 { 0.0 } else { x * y }
}

/// Reports of three kinds, for the person whose value differs between the neighbours: the person's level
/// under P, the person's level under Q, and all other levels (the rest). P and Q are the distributions of the
/// reports under the person's two values. Other people report the first two kinds equally often.
#[derive(Debug, Clone, Copy)]
struct Clones {
    own: Own,
    /// The probability that the person reports one of the rest, under P and also under Q.
    rest: f64,
    /// The probability that another person's report is of the first two kinds, and one minus it.
    pair: (f64, f64),
}

impl Clones {
    /// Reports where every other person reports a uniform level. The uniform distribution is the mass common
    /// to the report distributions of all levels, scaled to a total of one.
    fn from_blanket(epsilon_local: f64, levels: f64) -> Self {
        let own = Own::new(epsilon_local, levels);
        let pair = 2.0 / own.levels;
        Self {
            own,
            rest: (own.levels - 2.0) * own.other_level,
            pair: (pair, (own.levels - 2.0) / own.levels),
        }
    }

    /// Reports where all other people have one level, different from both levels of the person.
    fn from_third_level(epsilon_local: f64, levels: f64) -> Self {
        let own = Own::new(epsilon_local, levels);
        let rest = (own.levels - 2.0) * own.other_level;
        Self { own, rest, pair: (2.0 * own.other_level, own.true_level + rest - own.other_level) }
    }

    /// The largest P(S) − e^ε·Q(S) over events S on `reports` reports, including the person's own. P and Q
    /// are the distributions of the reports under the person's two values.
    fn excess(&self, epsilon: f64, reports: u64, lost: f64, side: Side) -> f64 {
        if self.rest == 0.0 {
            let edge = self.threshold(epsilon, reports, 0).map(|k| Edge::new(fair(reports - 1), k));
            return edge.map_or(0.0, |edge| self.in_pair(epsilon, (1.0, 0.0), edge, side));
        }
        let others = Count::new(reports - 1, self.pair.0, self.pair.1);
        let Window { from, to, below, above } = others.window(lost);
        let outside = if side == Side::Above { (below + above) * self.own.less(epsilon) } else { 0.0 };
        // `with` and `without` are the probabilities of `in_pair` reports of the first two kinds, if the
        // person's own report is one of them, and if it is not.
        let (mut with, mut sum) = (others.mass(from), 0.0);
        let mut edge: Option<Edge> = None;
        for in_pair in from + 1..=to + 1 {
            let without = with * others.ratio(in_pair);
            if let Some(k) = self.threshold(epsilon, in_pair, reports - in_pair) {
                let next_edge = edge
                    .map_or_else(|| Edge::new(fair(in_pair - 1), k), |edge| edge.moved_to(in_pair - 1, k));
                sum += self.in_pair(epsilon, (with, without), next_edge, side);
                edge = Some(next_edge);
            }
            with = without;
        }
        sum + outside
    }

    /// The least number of reports of the person's level under P at which the likelihood ratio P/Q exceeds
    /// e^ε. P and Q are the distributions of the reports under the person's two values. Given are `in_pair`
    /// reports of the first two kinds, and `rest` other reports.
    ///
    /// The result is `in_pair` minus the largest number of reports of the person's level under Q at which
    /// this ratio still exceeds e^ε.
    fn threshold(&self, epsilon: f64, in_pair: u64, rest: u64) -> Option<u64> {
        let odds = (-epsilon).exp();
        let uncounted = match rest {
            0 => 0.0,
            rest => -(-epsilon).exp_m1() * rest as f64 * self.rest * self.pair.0 / (2.0 * self.pair.1),
        };
        let counted = in_pair as f64 * odds * self.own.less(epsilon) - uncounted;
        below(counted / (self.own.gap() * (1.0 + odds))).and_then(|others| in_pair.checked_sub(others))
    }

    /// P(S) − e^ε·Q(S), where P and Q are the distributions of the reports under the person's two values. S
    /// is the event of at least k reports of the person's level under P, where k is the threshold of `edge`.
    /// The person's report is of the first two kinds with weight `with`, and of the rest with weight
    /// `without`.
    fn in_pair(&self, epsilon: f64, (with, without): (f64, f64), edge: Edge, side: Side) -> f64 {
        let Own { true_level, other_level, .. } = self.own;
        let gained = with * self.own.less(epsilon) * edge.at;
        let both = with * (true_level + other_level) * edge.beyond
            + without * self.rest * (edge.beyond + edge.at / 2.0);
        side.difference(gained, times(epsilon.exp_m1(), both))
    }
}

fn fair(trials: u64) -> Count {
    Count::new(trials, 0.5, 0.5)
}

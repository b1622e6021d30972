//! Distances of a released table from its training records.
//!
//! Each column is divided into public bins, which the code calls cells: a number into 16 bins of equal width,
//! a category into its levels. The distances compare the shares of records in the bins of one column, in
//! pairs of bins of two columns, and under random conjunctions of conditions.

use super::Metric;
use super::prediction::mean;
use rand::Rng;
use rand::seq::index;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use scumble_core::levels::Attribute;
use scumble_core::{Domain, Factor, RecordDomain, Table};
use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};

/// Number of bins of equal width for a number.
const BINS: usize = 16;
/// Largest number of pairs of columns whose distances are computed.
const MOST_PAIRS: usize = 1_000;
/// Number of random queries. Each is a conjunction of conditions on two or three attributes.
const QUERIES: usize = 1_000;
/// Random seed of the pairs and queries, which are the same for all tables of a domain.
const SEED: u64 = 1;

/// Distances of `released` from `records` by each of the three metrics of released tables.
///
/// Without `released`, the result has the distances of the baseline, whose records are spread uniformly over
/// the bins. The distances are NaN if the release lacks the columns or the kind of target of `domain`.
pub(super) fn fidelity(
    domain: &RecordDomain,
    records: &Table,
    released: Option<&Table>,
) -> Vec<(Metric, f64)> {
    let attributes = attributes(domain.flat());
    let cells = |table: &Table| Cells::assign(domain, &attributes, table);
    let compared = cells(records).and_then(|truth| match released {
        None => Some(Compared { attributes: &attributes, truth, released: None }),
        Some(table) => Some(Compared { attributes: &attributes, truth, released: Some(cells(table)?) }),
    });
    let Some(compared) = compared else {
        return [Metric::OneWayDistance, Metric::TwoWayDistance, Metric::WorkloadError]
            .map(|metric| (metric, f64::NAN))
            .to_vec();
    };
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let alone: Vec<Vec<usize>> = (0..attributes.len()).map(|at| vec![at]).collect();
    vec![
        (Metric::OneWayDistance, compared.mean_distance(&alone)),
        (Metric::TwoWayDistance, compared.mean_distance(&pairs(attributes.len(), &mut rng))),
        (Metric::WorkloadError, compared.workload_error(&workload(&attributes, &mut rng))),
    ]
}

/// Attributes of a domain, which is a product of factors. An interval is a numeric attribute, and a one-hot
/// group is a category. Each coordinate of any other factor is a numeric attribute.
fn attributes(domain: &Domain) -> Vec<Attribute> {
    let center = domain.center();
    let factor_attributes = |(at, factor): (Range<usize>, &Factor)| match *factor {
        Factor::Interval { lower, upper } => vec![Attribute::number(at.start, lower, upper, BINS)],
        Factor::OneHot { .. } => vec![Attribute::category(at)],
        _ => {
            let reach = factor.l2_diameter() / 2.0;
            at.map(|at| Attribute::number(at, center[at] - reach, center[at] + reach, BINS)).collect()
        }
    };
    domain.factors().flat_map(factor_attributes).collect()
}

/// Bins of the records: for each attribute, a list with the bin of each record.
struct Cells {
    columns: Vec<Vec<u32>>,
    records: usize,
}

impl Cells {
    /// Assigns records to bins. Returns `None` if the table differs from `domain` in its columns or its kind
    /// of target.
    fn assign(domain: &RecordDomain, attributes: &[Attribute], table: &Table) -> Option<Self> {
        let layout = domain.layout();
        layout.check(table).ok()?;
        let mut columns = vec![Vec::with_capacity(table.len()); attributes.len()];
        for row in 0..table.len() {
            let flat = layout.flatten(table, row);
            columns
                .iter_mut()
                .zip(attributes)
                .for_each(|(cells, attribute)| cells.push(attribute.level(&flat) as u32));
        }
        Some(Self { columns, records: table.len() })
    }

    /// Code of each record: the bin of one attribute, or the pair of bins of two attributes, as one number.
    fn together(&self, attributes: &[usize]) -> impl Iterator<Item = u64> {
        let joint_cell =
            |row: usize| attributes.iter().fold(0, |cell, &at| cell << 32 | u64::from(self.columns[at][row]));
        (0..self.records).map(joint_cell)
    }

    /// Share of the records that meet all conditions of `query`.
    fn share(&self, query: &[Condition]) -> f64 {
        let meets = |row: &usize| query.iter().all(|(at, cells)| cells.contains(&self.columns[*at][*row]));
        (0..self.records).filter(meets).count() as f64 / self.records as f64
    }
}

/// Condition on one attribute: the attribute's index, and the bins that satisfy the condition.
type Condition = (usize, RangeInclusive<u32>);

/// Bins of the training records and of the released records. If `released` is `None`, the training records
/// are compared with records that are spread uniformly over the bins.
struct Compared<'a> {
    attributes: &'a [Attribute],
    truth: Cells,
    released: Option<Cells>,
}

impl Compared<'_> {
    /// Mean of [`distance`](Self::distance) over all `sets` of one or two attributes.
    fn mean_distance(&self, sets: &[Vec<usize>]) -> f64 {
        mean(sets.iter().map(|attributes| self.distance(attributes)))
    }

    /// Total variation distance between the training and the released records' distributions of one or two
    /// attributes. It is half the sum of |p − q| over all bins of one attribute, or pairs of bins of two.
    /// Here p and q are the shares of the training and of the released records in the bin or pair.
    fn distance(&self, attributes: &[usize]) -> f64 {
        let mut counts: HashMap<u64, [usize; 2]> = HashMap::new();
        for (side, table) in [(0, Some(&self.truth)), (1, self.released.as_ref())] {
            for cell in table.into_iter().flat_map(|table| table.together(attributes)) {
                counts.entry(cell).or_default()[side] += 1;
            }
        }
        let all: f64 = attributes.iter().map(|&at| self.attributes[at].levels() as f64).product();
        let share = |count: usize, table: &Cells| count as f64 / table.records as f64;
        let difference = |&[own, other]: &[usize; 2]| {
            let other = self.released.as_ref().map_or(1.0 / all, |table| share(other, table));
            (share(own, &self.truth) - other).abs()
        };
        let without_records = match self.released {
            None => (all - counts.len() as f64) / all,
            Some(_) => 0.0,
        };
        (counts.values().map(difference).sum::<f64>() + without_records) / 2.0
    }

    /// Mean absolute difference between the answers of the released and the training records to the queries
    /// in `workload`.
    fn workload_error(&self, workload: &[Vec<Condition>]) -> f64 {
        mean(workload.iter().map(|query| {
            let answer = self.released.as_ref().map_or_else(|| self.even(query), |table| table.share(query));
            (self.truth.share(query) - answer).abs()
        }))
    }

    /// Share of records that meet all conditions of `query`, for records that are spread uniformly over the
    /// bins.
    fn even(&self, query: &[Condition]) -> f64 {
        let share =
            |(at, cells): &Condition| cells.clone().count() as f64 / self.attributes[*at].levels() as f64;
        query.iter().map(share).product()
    }
}

/// Index pairs of `attributes` attributes: all of them, or 1,000 random ones if there are more than 1,000.
fn pairs(attributes: usize, rng: &mut ChaCha20Rng) -> Vec<Vec<usize>> {
    let all = attributes * attributes.saturating_sub(1) / 2;
    if all <= MOST_PAIRS {
        let with = |one: usize| (one + 1..attributes).map(move |other| vec![one, other]);
        return (0..attributes).flat_map(with).collect();
    }
    (0..MOST_PAIRS).map(|_| index::sample(rng, attributes, 2).into_vec()).collect()
}

/// Random queries. Each is a conjunction of conditions on two or three attributes. A condition is that a
/// number is in a range of bins, or that a category has one level. The result is empty for fewer than two
/// attributes.
fn workload(attributes: &[Attribute], rng: &mut ChaCha20Rng) -> Vec<Vec<Condition>> {
    if attributes.len() < 2 {
        return vec![];
    }
    let query = |_| {
        let ways = rng.gen_range(2..=3.min(attributes.len()));
        let chosen = index::sample(rng, attributes.len(), ways);
        let condition = |at: usize| {
            let mut cell = || rng.gen_range(0..attributes[at].levels() as u32);
            let one = cell();
            let other = if attributes[at].is_number() { cell() } else { one };
            let cells = one.min(other)..=one.max(other);
            (at, cells)
        };
        chosen.into_iter().map(condition).collect()
    };
    (0..QUERIES).map(query).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::{Array2, array};
    use scumble_core::{Target, TargetDomain};

    /// Domain of a number in [0, 1] and one of two classes.
    fn domain() -> RecordDomain {
        let target = TargetDomain::Class { levels: vec!["no".into(), "yes".into()] };
        RecordDomain::new(vec!["x".into()], Domain::unit_box(1), target).unwrap()
    }

    fn table(numbers: &[f64], classes: &[usize]) -> Table {
        let records = Array2::from_shape_fn((numbers.len(), 1), |(row, _)| numbers[row]);
        Table::new(vec!["x".into()], records, Target::Class(classes.iter().copied().collect())).unwrap()
    }

    fn scores(records: &Table, released: Option<&Table>) -> [f64; 3] {
        let scores: Vec<f64> =
            fidelity(&domain(), records, released).into_iter().map(|(_, score)| score).collect();
        scores.try_into().unwrap()
    }

    /// Three of four training records, and one of two released records, have a number in the first bin. One
    /// of the training records, and both released records, have the class "yes".
    #[test]
    fn distances_are_those_counted_by_hand() {
        let (records, released) =
            (table(&[0.0, 0.01, 0.05, 0.9], &[0, 0, 0, 1]), table(&[0.02, 7.0], &[1, 1]));
        let [one, two, _] = scores(&records, Some(&released));
        // The distance of the number is ½(¼ + ¼ + ½), from its first, next-to-last and last bins. The
        // distance of the class is ¾. A number above the upper bound is in the last bin.
        assert_abs_diff_eq!(one, (0.5 + 0.75) / 2.0, epsilon = 1e-12);
        // No pair of bins occurs in both tables.
        assert_abs_diff_eq!(two, 1.0, epsilon = 1e-12);
    }

    #[test]
    fn a_table_is_at_no_distance_from_itself_in_another_order() {
        let (records, turned) = (table(&[0.1, 0.5, 0.9], &[0, 1, 1]), table(&[0.9, 0.1, 0.5], &[1, 0, 1]));
        assert_eq!(scores(&records, Some(&turned)), [0.0; 3]);
    }

    /// One record is compared with uniformly spread records. Of the latter, 1/16 are in the bin of the
    /// record's number, and half have its class.
    #[test]
    fn what_is_spread_evenly_is_as_far_as_by_hand() {
        let [one, two, _] = scores(&table(&[0.3], &[0]), None);
        assert_abs_diff_eq!(one, (15.0 / 16.0 + 0.5) / 2.0, epsilon = 1e-12);
        assert_abs_diff_eq!(two, 31.0 / 32.0, epsilon = 1e-12);
        // One record in each pair of bins has the same distribution as uniformly spread records.
        let numbers: Vec<f64> = (0..32).map(|at| f64::from(at / 2) / 16.0 + 0.01).collect();
        let classes: Vec<usize> = (0..32).map(|at| at % 2).collect();
        let all = scores(&table(&numbers, &classes), None);
        all.iter().for_each(|score| assert_abs_diff_eq!(*score, 0.0, epsilon = 1e-12));
    }

    /// The two tables have one record each, in different bins. A query errs by one if exactly one of the two
    /// records meets its conditions, and by zero otherwise.
    #[test]
    fn a_query_is_answered_by_the_share_that_meets_all_its_conditions() {
        let domain = domain();
        let attributes = attributes(domain.flat());
        let cells = |table: &Table| Cells::assign(&domain, &attributes, table).unwrap();
        let records = cells(&table(&[0.0, 0.2, 0.4, 0.9], &[0, 1, 1, 1]));
        assert_eq!(records.share(&[(0, 0..=6), (1, 1..=1)]), 0.5);
        assert_eq!(records.share(&[(0, 0..=15), (1, 0..=0)]), 0.25);
        let queries = workload(&attributes, &mut ChaCha20Rng::seed_from_u64(SEED));
        assert_eq!(queries.len(), QUERIES);
        assert!(queries.iter().all(|query| query.len() == 2));
        let [.., error] = scores(&table(&[0.0], &[0]), Some(&table(&[1.0], &[1])));
        let asks = |cell: u32, class: u32| {
            let meets = |query: &&Vec<Condition>| {
                query.iter().all(|(at, cells)| cells.contains(if *at == 0 { &cell } else { &class }))
            };
            queries.iter().filter(meets).count() as f64 / QUERIES as f64
        };
        assert_abs_diff_eq!(error, asks(0, 0) + asks(15, 1), epsilon = 1e-12);
    }

    #[test]
    fn there_is_no_number_of_other_columns_nor_of_one_attribute_together() {
        let other = Table::new(vec!["y".into()], array![[0.5]], Target::Class(array![0])).unwrap();
        assert!(scores(&table(&[0.1], &[0]), Some(&other)).iter().all(|score| score.is_nan()));
        let alone = RecordDomain::new(vec!["x".into()], Domain::unit_box(1), TargetDomain::None).unwrap();
        let records = Table::new(vec!["x".into()], array![[0.5], [0.7]], Target::None).unwrap();
        let found = fidelity(&alone, &records, Some(&records));
        assert_eq!(found[0].1, 0.0);
        assert!(found[1..].iter().all(|(_, score)| score.is_nan()));
    }
}

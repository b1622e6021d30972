//! Division of records as in Appendix E.1 of Learning to Noise: for learning the mechanism, for release, for
//! validation and for tests.

use super::sharing::classes_of;
use crate::{Result, RunOptions};
use scumble_comparison::balance;
use scumble_core::{RecordDomain, Stream, Table, Target, TargetDomain};
use scumble_datasets::{lending_club, source};

use rand::seq::SliceRandom;

/// Records of a trial.
pub(super) struct People {
    pub domain: RecordDomain,
    /// Records from which the mechanism is learned.
    pub volunteers: Table,
    /// Records of the people who release them: nine tenths of the people who are not volunteers.
    pub sharing: Table,
    /// Records of the people who validate, the last tenth: they answer whether their records are classified
    /// correctly.
    pub validation: Table,
    /// Records that the classifiers are tested on.
    pub test: Table,
}

/// Maximum numbers of records.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub(super) struct Sizes {
    pub volunteers: usize,
    /// Number of people who share and who validate.
    pub others: usize,
    pub test: usize,
}

impl People {
    /// Selects volunteers, others and test records, up to `sizes`.
    fn new(
        domain: RecordDomain,
        table: &Table,
        [mut volunteers, mut others, mut test]: [Vec<usize>; 3],
        sizes: Sizes,
    ) -> Result<Self> {
        volunteers.truncate(sizes.volunteers);
        others.truncate(sizes.others);
        test.truncate(sizes.test);
        let (sharing, validation) = others.split_at(others.len() * 9 / 10);
        Ok(Self {
            domain,
            volunteers: table.select(&volunteers)?,
            sharing: table.select(sharing)?,
            validation: table.select(validation)?,
            test: table.select(&test)?,
        })
    }
}

/// A data set, with its division of records in a trial.
pub(super) struct Data {
    table: Table,
    domain: RecordDomain,
    train_records: usize,
    division: Division,
}

enum Division {
    /// Random division. Of the training records, `quarters` quarters are the volunteers', three in the paper.
    /// A quarter of the test records are tested on (Appendix E.1.1 of the paper).
    AtRandom { quarters: usize },
    /// Random division with equally many records of each class. Three quarters of the training records are
    /// the volunteers' (Appendix E.1.1 of the paper, Lending Club).
    Balanced,
    /// Division with equally many records of each class. The first three quarters of the training records are
    /// the volunteers'.
    InOrder,
    /// Division for recognising this class, which no volunteer has (Appendix E.1.2 of the paper). Volunteers
    /// have eight ninths of the records of all other classes. The people who share have the last ninth, and
    /// equally many records of this class.
    Novel(usize),
}

/// Class that no volunteer has.
const NOVEL: usize = 9;

impl Data {
    /// Handwritten digits, with the original split into training and test records.
    pub fn digits(options: &RunOptions) -> Result<Self> {
        let digits = source("mnist")?.load(options.folder)?;
        let train_records = digits.train_records.unwrap_or(digits.table.len());
        Ok(Self {
            table: digits.table.whole()?.into_owned(),
            domain: digits.domain,
            train_records,
            division: Division::AtRandom { quarters: 3 },
        })
    }

    /// Handwritten digits, with a quarter of the training records for volunteers and all others shared.
    pub fn digits_of_many(options: &RunOptions) -> Result<Self> {
        Ok(Self { division: Division::AtRandom { quarters: 1 }, ..Self::digits(options)? })
    }

    /// Handwritten digits, to recognise nines by a mechanism learned from volunteers who have no nine.
    pub fn nines(options: &RunOptions) -> Result<Self> {
        Ok(Self { division: Division::Novel(NOVEL), ..Self::digits(options)? })
    }

    /// Loans, with the oldest 85 % for training, and equally many paid and unpaid.
    pub fn loans(options: &RunOptions) -> Result<Self> {
        let loans = lending_club::loans(options.folder)?.data;
        let train_records = loans.table.len() * 85 / 100;
        let table = loans.table.whole()?.into_owned();
        Ok(Self { table, domain: loans.domain, train_records, division: Division::Balanced })
    }

    /// Loans as in [`loans`](Self::loans), with the oldest training loans for volunteers.
    pub fn loans_by_month(options: &RunOptions) -> Result<Self> {
        Ok(Self { division: Division::InOrder, ..Self::loans(options)? })
    }

    pub fn divided(&self, sizes: Sizes, stream: &mut Stream) -> Result<People> {
        let classes = classes_of(&self.table);
        let mut train: Vec<usize> = (0..self.train_records).collect();
        let mut test: Vec<usize> = (self.train_records..self.table.len()).collect();
        match self.division {
            Division::AtRandom { .. } => {}
            Division::Balanced | Division::InOrder => {
                balance(&mut train, &classes, stream);
                balance(&mut test, &classes, stream);
            }
            Division::Novel(class) => return self.without(class, train, test, sizes, stream),
        }
        train.shuffle(stream);
        test.shuffle(stream);
        let quarters = match self.division {
            Division::AtRandom { quarters } => quarters,
            _ => 3,
        };
        if matches!(self.division, Division::InOrder) {
            train.sort_unstable();
        }
        let mut others = train.split_off(train.len() * quarters / 4);
        if matches!(self.division, Division::InOrder) {
            train.shuffle(stream);
            others.shuffle(stream);
        }
        if matches!(self.division, Division::AtRandom { .. }) {
            // The paper reserves the remaining test records for the mechanism, which does not need them here.
            test.truncate(test.len().div_ceil(4));
        }
        People::new(self.domain.clone(), &self.table, [train, others, test], sizes)
    }

    /// Divides records into volunteers without the class `novel`, and others and test records. Half of the
    /// others and half of the test records are of the class `novel`.
    fn without(
        &self,
        novel: usize,
        mut train: Vec<usize>,
        mut test: Vec<usize>,
        sizes: Sizes,
        stream: &mut Stream,
    ) -> Result<People> {
        let is_novel = classes_of(&self.table).mapv(|class| usize::from(class == novel));
        train.shuffle(stream);
        let (mut others, mut volunteers): (Vec<usize>, Vec<usize>) =
            train.into_iter().partition(|row| is_novel[*row] == 1);
        let known = volunteers.split_off(volunteers.len() * 8 / 9);
        others.extend(known);
        balance(&mut others, &is_novel, stream);
        balance(&mut test, &is_novel, stream);
        others.shuffle(stream);
        test.shuffle(stream);
        let levels = vec!["another".into(), "novel".into()];
        let columns = self.domain.columns().to_vec();
        let domain =
            RecordDomain::new(columns, self.domain.features().clone(), TargetDomain::Class { levels })?;
        let table = self.table.clone().with_target(Target::Class(is_novel))?;
        People::new(domain, &table, [volunteers, others, test], sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, Array2};
    use scumble_core::{Domain, Randomness};
    use std::collections::BTreeSet;

    impl Data {
        /// Makes `n` records of six columns in the unit box, of `classes` classes in turn, each near a corner
        /// of its own. The first nine tenths are for training.
        pub(in crate::vlm) fn made_up(n: usize, classes: usize) -> Self {
            let columns: Vec<String> = (0..6).map(|column| format!("column {column}")).collect();
            let wave = |row: usize, column: usize| 0.15 * ((row * 37 + column * 101) as f64).sin();
            let records = Array2::from_shape_fn((n, 6), |(row, column)| {
                let corner = if (row % classes + column).is_multiple_of(classes) { 0.8 } else { 0.2 };
                corner + wave(row, column)
            });
            let levels = (0..classes).map(|class| class.to_string()).collect();
            let target = TargetDomain::Class { levels };
            let domain = RecordDomain::new(columns.clone(), Domain::unit_box(6), target).unwrap();
            let labels = Target::Class(Array1::from_shape_fn(n, |row| row % classes));
            let table = Table::new(columns, records, labels).unwrap();
            Self { table, domain, train_records: n * 9 / 10, division: Division::AtRandom { quarters: 3 } }
        }
    }

    const ALL: Sizes = Sizes { volunteers: usize::MAX, others: usize::MAX, test: usize::MAX };

    fn divided(division: Division, sizes: Sizes) -> People {
        let data = Data { division, ..Data::made_up(1000, 5) };
        data.divided(sizes, &mut Randomness::seeded(1).streams().stream(0)).unwrap()
    }

    fn tables(people: &People) -> [&Table; 4] {
        [&people.volunteers, &people.sharing, &people.validation, &people.test]
    }

    #[test]
    fn nobody_is_in_two_parts() {
        let people = divided(Division::AtRandom { quarters: 3 }, ALL);
        assert_eq!(tables(&people).map(Table::len), [675, 202, 23, 25]);
        let rows = tables(&people).into_iter().flat_map(|table| table.records().rows());
        let distinct: BTreeSet<Vec<u64>> =
            rows.map(|row| row.iter().map(|x| x.to_bits()).collect()).collect();
        assert_eq!(distinct.len(), 925);
        let few = divided(Division::AtRandom { quarters: 3 }, Sizes { volunteers: 10, others: 20, test: 5 });
        assert_eq!(tables(&few).map(Table::len), [10, 18, 2, 5]);
    }

    #[test]
    fn volunteers_have_none_of_a_novel_class_and_the_others_as_many_as_of_the_rest() {
        let people = divided(Division::Novel(3), ALL);
        let novel = |table: &Table| classes_of(table).iter().filter(|class| **class == 1).count();
        // Of 720 records of other classes, a ninth (80) is not the volunteers'. The novel class has 180.
        assert_eq!(tables(&people).map(Table::len), [640, 144, 16, 40]);
        assert_eq!(novel(&people.volunteers), 0);
        assert_eq!((novel(&people.sharing) + novel(&people.validation), novel(&people.test)), (80, 20));
    }

    #[test]
    fn volunteers_in_order_come_before_everyone_else() {
        let people = divided(Division::InOrder, ALL);
        let data = Data::made_up(1000, 5);
        let first = |record: ndarray::ArrayView1<f64>| {
            data.table.records().outer_iter().position(|other| other == record).unwrap()
        };
        let rows = |table: &Table| table.records().outer_iter().map(first).collect::<Vec<_>>();
        let last = rows(&people.volunteers).into_iter().max();
        let others = [rows(&people.sharing), rows(&people.validation)].concat();
        assert!(last < others.iter().copied().min(), "{last:?}");
        assert_eq!(people.volunteers.len(), 3 * others.len());
        assert!(!others.is_sorted(), "the last tenth validates, and must be a random part");
    }

    #[test]
    fn balanced_classes_are_equally_many() {
        let people = divided(Division::Balanced, ALL);
        let counts = (0..5).map(|class| {
            let members = |table: &Table| classes_of(table).iter().filter(|found| **found == class).count();
            members(&people.volunteers) + members(&people.sharing) + members(&people.validation)
        });
        assert!(counts.eq([180; 5]));
    }
}

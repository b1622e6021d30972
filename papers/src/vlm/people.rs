//! Who learns, who releases, who validates and who is tested on: records divided as in Appendix E.1.

use super::sharing::classes_of;
use crate::{Result, RunOptions};
use scumble_comparison::balance;
use scumble_core::{RecordDomain, Stream, Table, Target, TargetDomain};
use scumble_datasets::{lending_club, source};

use rand::seq::SliceRandom;

/// The records of a trial.
pub(super) struct People {
    pub domain: RecordDomain,
    /// Whose records the mechanism is learned from.
    pub volunteers: Table,
    /// Who release their records to be learned from: nine tenths of the others.
    pub sharing: Table,
    /// Who answer how well they are classified: the last tenth.
    pub validation: Table,
    /// On whom it is tested.
    pub test: Table,
}

/// How many there are at most.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub(super) struct Sizes {
    pub volunteers: usize,
    /// Those who share and those who validate.
    pub others: usize,
    pub test: usize,
}

impl People {
    /// Those who volunteer, the others, and those for tests, as far as there is room.
    fn of(
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

/// A data set, and how its records are divided in a trial.
pub(super) struct Data {
    table: Table,
    domain: RecordDomain,
    train_records: usize,
    division: Division,
}

enum Division {
    /// At random, so many quarters of those for training being volunteers, three in the paper; a quarter of those for tests is tested on (E.1.1).
    AtRandom { quarters: usize },
    /// At random, as many of each class, three quarters of those for training being volunteers (E.1.1, Lending Club).
    Balanced,
    /// Volunteers are eight ninths of all other classes, and those who share are the rest and all of this class, of which it is learned who
    /// they are (E.1.2).
    Novel(usize),
}

/// The class of which volunteers have none.
const NOVEL: usize = 9;

impl Data {
    /// Handwritten digits, as they were split by those who made them.
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

    /// The same, where a quarter of those for training volunteers and all others share.
    pub fn digits_of_many(options: &RunOptions) -> Result<Self> {
        Ok(Self { division: Division::AtRandom { quarters: 1 }, ..Self::digits(options)? })
    }

    /// The same, to learn which are nines where volunteers have none.
    pub fn nines(options: &RunOptions) -> Result<Self> {
        Ok(Self { division: Division::Novel(NOVEL), ..Self::digits(options)? })
    }

    /// Loans, the oldest 85 % for training, and as many that were paid as were not.
    pub fn loans(options: &RunOptions) -> Result<Self> {
        let loans = lending_club::loans(options.folder)?.data;
        let train_records = loans.table.len() * 85 / 100;
        let table = loans.table.whole()?.into_owned();
        Ok(Self { table, domain: loans.domain, train_records, division: Division::Balanced })
    }

    pub fn divided(&self, sizes: Sizes, stream: &mut Stream) -> Result<People> {
        let classes = classes_of(&self.table);
        let mut train: Vec<usize> = (0..self.train_records).collect();
        let mut test: Vec<usize> = (self.train_records..self.table.len()).collect();
        match self.division {
            Division::AtRandom { .. } => {}
            Division::Balanced => {
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
        let others = train.split_off(train.len() * quarters / 4);
        if matches!(self.division, Division::AtRandom { .. }) {
            // The rest is the mechanism's own, which has no use for it here.
            test.truncate(test.len().div_ceil(4));
        }
        People::of(self.domain.clone(), &self.table, [train, others, test], sizes)
    }

    /// Volunteers without the class, and others and test records of which half are of it.
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
        People::of(domain, &table, [volunteers, others, test], sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, Array2};
    use scumble_core::{Domain, Randomness};
    use std::collections::BTreeSet;

    impl Data {
        /// Records of six columns in the unit box, of so many classes by turns, each near a corner of its own; the first nine tenths for training.
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
        // 720 of other classes, of which a ninth, 80, is not the volunteers'; 180 of the novel one.
        assert_eq!(tables(&people).map(Table::len), [640, 144, 16, 40]);
        assert_eq!(novel(&people.volunteers), 0);
        assert_eq!((novel(&people.sharing) + novel(&people.validation), novel(&people.test)), (80, 20));
    }

    #[test]
    fn balanced_classes_are_equally_many() {
        let people = divided(Division::Balanced, ALL);
        let counts = (0..5).map(|class| {
            let of = |table: &Table| classes_of(table).iter().filter(|found| **found == class).count();
            of(&people.volunteers) + of(&people.sharing) + of(&people.validation)
        });
        assert!(counts.eq([180; 5]));
    }
}

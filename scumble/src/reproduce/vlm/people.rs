//! Who learns, who releases, who validates and who is tested on: records divided as in Appendix E.1.

use super::sharing::classes_of;
use crate::compare::balance;
use crate::datasets::{lending_club, source};
use crate::registry::{RecordDomain, Stream, Table, Target, TargetDomain};
use crate::reproduce::{Result, Setting};
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
    /// By lot (E.1.1).
    ByLot,
    /// By lot, and as many of each class (E.1.1, Lending Club).
    Balanced,
    /// Volunteers are eight ninths of all other classes, and those who share are the rest and all of this class, of which it is learned who
    /// they are (E.1.2).
    Novel(usize),
}

/// The class of which volunteers have none.
const NOVEL: usize = 9;

impl Data {
    /// Handwritten digits, as they were split by those who made them.
    pub fn digits(setting: &Setting) -> Result<Self> {
        let digits = source("mnist")?.load(setting.folder)?;
        let train_records = digits.train_records.unwrap_or(digits.table.len());
        Ok(Self { table: digits.table, domain: digits.domain, train_records, division: Division::ByLot })
    }

    /// The same, to learn which are nines where volunteers have none.
    pub fn nines(setting: &Setting) -> Result<Self> {
        Ok(Self { division: Division::Novel(NOVEL), ..Self::digits(setting)? })
    }

    /// Loans, the oldest 85 % for training, and as many that were paid as were not.
    pub fn loans(setting: &Setting) -> Result<Self> {
        let loans = lending_club::loans(setting.folder)?.data;
        let train_records = loans.table.len() * 85 / 100;
        Ok(Self { table: loans.table, domain: loans.domain, train_records, division: Division::Balanced })
    }

    pub fn divided(&self, sizes: Sizes, stream: &mut Stream) -> Result<People> {
        let classes = classes_of(&self.table);
        let mut train: Vec<usize> = (0..self.train_records).collect();
        let mut test: Vec<usize> = (self.train_records..self.table.len()).collect();
        match self.division {
            Division::ByLot => {}
            Division::Balanced => {
                balance(&mut train, &classes, stream);
                balance(&mut test, &classes, stream);
            }
            Division::Novel(class) => return self.without(class, train, test, sizes, stream),
        }
        train.shuffle(stream);
        test.shuffle(stream);
        let others = train.split_off(train.len() * 3 / 4);
        test.truncate(test.len().div_ceil(4));
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

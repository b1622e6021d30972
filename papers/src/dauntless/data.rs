//! Training and test records, and their restriction to some classes.

use crate::{Result, RunOptions};
use scumble_core::{RecordDomain, Stream, Table, Target, TargetDomain};
use scumble_datasets::source;

use rand::seq::SliceRandom;

/// Records split into training and test records.
pub(super) struct Data {
    pub domain: RecordDomain,
    pub train: Table,
    pub test: Table,
}

impl Data {
    /// Loads a data set with its publishers' split. Without such a split, the first four fifths are for
    /// training.
    pub fn load(options: &RunOptions, name: &str) -> Result<Self> {
        let data = source(name)?.load(options.folder)?;
        let train = data.train_records.unwrap_or(data.table.len() * 4 / 5);
        let [train, test] = [(0..train).collect::<Vec<_>>(), (train..data.table.len()).collect()]
            .map(|rows| data.table.select(&rows));
        Ok(Self { domain: data.domain, train: train?, test: test? })
    }

    /// Keeps the first `train` training records. The rest of them replace the test records.
    pub fn held_out(self, train: usize) -> Result<Self> {
        let rows: Vec<usize> = (0..self.train.len()).collect();
        let [train, test] = rows.split_at(train.min(rows.len())).into();
        Ok(Self { train: self.train.select(train)?, test: self.train.select(test)?, ..self })
    }

    /// Returns the first `train` training records and the first `test` test records of a shuffle.
    pub fn some(&self, [train, test]: [usize; 2], stream: &mut Stream) -> Result<Self> {
        let first = |table: &Table, most: usize, stream: &mut Stream| {
            let mut rows: Vec<usize> = (0..table.len()).collect();
            rows.shuffle(stream);
            rows.truncate(most);
            table.select(&rows)
        };
        Ok(Self {
            domain: self.domain.clone(),
            train: first(&self.train, train, stream)?,
            test: first(&self.test, test, stream)?,
        })
    }

    /// Restricts the data to the first `classes` classes. Training keeps `each` records of every class,
    /// sampled uniformly at random. The test records of these classes are all kept.
    pub fn with_classes(&self, classes: usize, each: usize, stream: &mut Stream) -> Result<Self> {
        let class_rows = |table: &Table, class: usize| -> Vec<usize> {
            classes_of(table)
                .iter()
                .enumerate()
                .filter(|(_, found)| **found == class)
                .map(|(row, _)| row)
                .collect()
        };
        let mut train = vec![];
        for class in 0..classes {
            let mut rows = class_rows(&self.train, class);
            rows.shuffle(stream);
            train.extend(rows.into_iter().take(each));
        }
        train.shuffle(stream);
        let test: Vec<usize> = (0..classes).flat_map(|class| class_rows(&self.test, class)).collect();
        let TargetDomain::Class { levels } = self.domain.target() else {
            return Ok(Self {
                domain: self.domain.clone(),
                train: self.train.clone(),
                test: self.test.clone(),
            });
        };
        let target = TargetDomain::Class { levels: levels.iter().take(classes).cloned().collect() };
        let domain =
            RecordDomain::new(self.domain.columns().to_vec(), self.domain.features().clone(), target)?;
        Ok(Self { domain, train: self.train.select(&train)?, test: self.test.select(&test)? })
    }

    /// Splits the training records at random into two tables. The first table holds the fraction `share` of
    /// these records, sampled uniformly at random.
    pub fn parted(&self, share: f64, stream: &mut Stream) -> Result<[Table; 2]> {
        let mut rows: Vec<usize> = (0..self.train.len()).collect();
        rows.shuffle(stream);
        let second = rows.split_off((share * rows.len() as f64) as usize);
        Ok([self.train.select(&rows)?, self.train.select(&second)?])
    }
}

/// Returns the classes of a table; empty if its target is not a class.
pub(super) fn classes_of(table: &Table) -> Vec<usize> {
    match table.target() {
        Target::Class(classes) => classes.to_vec(),
        _ => vec![],
    }
}

#[cfg(test)]
pub(super) mod made_up {
    use super::*;
    use ndarray::{Array1, Array2};
    use rand::Rng;
    use scumble_core::{Domain, Randomness};

    impl Data {
        /// Makes `n` records of `dim` numbers in [0, 1], spread around one corner per class with a fixed
        /// seed. One record in ten is for tests.
        pub fn made_up(n: usize, dim: usize, classes: usize) -> Self {
            let mut stream = Randomness::seeded(1).streams().stream(0);
            let columns: Vec<String> = (1..=dim).map(|column| format!("x{column}")).collect();
            let records = Array2::from_shape_fn((n, dim), |(row, column)| {
                let corner = if (row % classes + column).is_multiple_of(classes) { 0.7 } else { 0.3 };
                corner + stream.gen_range(-0.3..0.3)
            });
            let levels = (0..classes).map(|class| class.to_string()).collect();
            let domain =
                RecordDomain::new(columns.clone(), Domain::unit_box(dim), TargetDomain::Class { levels })
                    .unwrap();
            let labels = Target::Class(Array1::from_shape_fn(n, |row| row % classes));
            let table = Table::new(columns, records, labels).unwrap();
            let part = |rows: std::ops::Range<usize>| table.select(&rows.collect::<Vec<_>>()).unwrap();
            Self { domain, train: part(0..n * 9 / 10), test: part(n * 9 / 10..n) }
        }
    }

    #[test]
    fn parts_share_no_record_and_classes_are_as_many_as_were_asked_for() {
        let data = Data::made_up(200, 3, 4);
        let mut stream = Randomness::seeded(2).streams().stream(0);
        let [one, other] = data.parted(0.25, &mut stream).unwrap();
        assert_eq!((one.len(), other.len(), data.test.len()), (45, 135, 20));
        let bits = |table: &Table| -> Vec<Vec<u64>> {
            table.records().outer_iter().map(|row| row.iter().map(|x| x.to_bits()).collect()).collect()
        };
        assert!(bits(&one).iter().all(|row| !bits(&other).contains(row)));
        let few = data.with_classes(2, 10, &mut stream).unwrap();
        assert_eq!((few.train.len(), few.test.len()), (20, 10));
        assert!(classes_of(&few.train).iter().chain(&classes_of(&few.test)).all(|class| *class < 2));
    }
}

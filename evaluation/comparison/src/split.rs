//! Splits of the records into training records, which are released, and test records.

use super::data::misfit;
use super::{Comparison, Error, Result};
use ndarray::Array1;
use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use scumble_core::{Designed, Table, Target, Volunteers};
use scumble_datasets::{DataSet, PackedTable};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Index of the random stream that draws the volunteers. The stream of a trial has the trial's index, and no
/// trial has this index.
const OF_VOLUNTEERS: u64 = u64::MAX;

/// Split of the records in each trial.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Splitting {
    /// Source of the test records.
    pub kind: SplitKind,
    /// Largest number of training records. If there are more, each trial draws its own subset.
    pub most_train: Option<usize>,
    /// Largest number of test records. If there are more, each trial draws its own subset.
    pub most_test: Option<usize>,
    /// Share of the training records, in [0, 1), that are volunteers' records. Designs may learn from the
    /// volunteers' records.
    ///
    /// The volunteers' records are the same in all trials, and are neither released nor used for tests. In a
    /// data set's own split they are the first records. In a random split they are drawn with the seed.
    pub volunteers: f64,
    /// Withholds the volunteers' labels. Neither designs nor models then learn from the labels.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unlabelled: bool,
    /// True if the volunteers' records are public; else the volunteers agreed to what designs disclose.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub public: bool,
    /// Share in [0, 1) of the training records, without the volunteers', that is used for private validation
    /// and not released. The people with these records say by randomised response whether a model is right
    /// about them. Each trial draws these people anew.
    #[serde(skip_serializing_if = "is_zero")]
    pub validation: f64,
    /// Balances the classes of the training records: each class gets as many records as the rarest, drawn
    /// anew in each trial. The test records are unchanged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub balance: bool,
    /// Draws volunteers, training and test records such that each class has the same share as among all
    /// records, as near as whole records allow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stratified: bool,
}

/// Source of the test records.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum SplitKind {
    /// A share of the records, in (0, 1), drawn anew in each trial.
    Random {
        /// Share of the records for tests.
        test_share: f64,
    },
    /// The data set's own split. Only the noise differs between trials, unless records are limited, balanced
    /// or used for private validation.
    Own,
}

impl Splitting {
    /// Random split with the share `test_share` of all records for tests. Each class has nearly the same
    /// share of the training and of the test records.
    pub fn random(test_share: f64) -> Self {
        Self {
            kind: SplitKind::Random { test_share },
            most_train: None,
            most_test: None,
            volunteers: 0.0,
            unlabelled: false,
            public: false,
            validation: 0.0,
            balance: false,
            stratified: true,
        }
    }

    /// Checks the split against the data.
    ///
    /// # Errors
    /// [`Error::Data`] for a share or a limit out of range, for balanced classes of a numeric target, and if
    /// the data set lacks its own split.
    pub(super) fn check(&self, data: &DataSet) -> Result<()> {
        for (name, most) in [("most_train", self.most_train), ("most_test", self.most_test)] {
            if most == Some(0) {
                return Err(Error::Data(format!("{name} must be one or more, and 0 is not")));
            }
        }
        check_part("volunteers", self.volunteers)?;
        check_part("validation", self.validation)?;
        if self.balance && !matches!(data.table.target(), Target::Class(_)) {
            return Err(misfit(data, "balance"));
        }
        match (&self.kind, data.train_records) {
            (SplitKind::Random { test_share }, _) => check_share("test_share", *test_share),
            (SplitKind::Own, Some(train)) if (1..data.table.len()).contains(&train) => Ok(()),
            (SplitKind::Own, Some(train)) => Err(Error::Data(format!(
                "{}: its own split has {train} training records of {}, and each side needs one record or \
                 more",
                data.name,
                data.table.len()
            ))),
            (SplitKind::Own, None) => Err(Error::Data(format!(
                "{}: it has no split of its own; kind = \"random\" draws one",
                data.name
            ))),
        }
    }

    /// Numbers of training and test records of each trial, before classes are balanced.
    fn sizes(&self, data: &DataSet) -> (usize, usize) {
        let at_most = |most: Option<usize>, count: usize| most.map_or(count, |most| most.min(count));
        let (train, test) = self.kind.sizes(data);
        (at_most(self.most_train, train - self.volunteers(data)), at_most(self.most_test, test))
    }

    /// Number of released records in each trial, before classes are balanced.
    pub(super) fn released(&self, data: &DataSet) -> usize {
        let (train, _) = self.sizes(data);
        train - share_of(train, self.validation)
    }

    /// Number of volunteers: at least one if the share is positive, with at least one training record left.
    pub(super) fn volunteers(&self, data: &DataSet) -> usize {
        share_of(self.kind.sizes(data).0, self.volunteers)
    }

    /// Indices of the volunteers' rows, and of all other rows.
    fn parted(&self, data: &DataSet, seed: u64) -> (Vec<usize>, Vec<usize>) {
        let mut volunteers: Vec<usize> = (0..data.table.len()).collect();
        let count = self.volunteers(data);
        if count > 0 && matches!(self.kind, SplitKind::Random { .. }) {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            rng.set_stream(OF_VOLUNTEERS);
            self.draw(&mut volunteers, data, &mut rng);
        }
        let others = volunteers.split_off(count);
        (volunteers, others)
    }

    /// Shuffles the rows. If the split is stratified, the first n rows have, for every n, nearly the same
    /// share of each class as all rows.
    fn draw(&self, rows: &mut Vec<usize>, data: &DataSet, rng: &mut impl Rng) {
        rows.shuffle(rng);
        if let (true, Target::Class(classes)) = (self.stratified, data.table.target()) {
            interleave(rows, classes, 0.5);
        }
    }

    /// Records of the volunteers. The data must have passed [`check`](Self::check).
    pub(super) fn volunteered(&self, data: &DataSet, seed: u64) -> Result<Volunteers> {
        match self.parted(data, seed).0 {
            none if none.is_empty() => Ok(Volunteers::None),
            rows => {
                let table = data.table.select(&rows)?;
                let table = if self.unlabelled { table.with_target(Target::None)? } else { table };
                Ok(if self.public { Volunteers::Public(table) } else { Volunteers::Consented(table) })
            }
        }
    }
}

impl SplitKind {
    /// Numbers of training records, including the volunteers' records, and of test records. They are not
    /// limited by `most_train` and `most_test`.
    fn sizes(&self, data: &DataSet) -> (usize, usize) {
        let records = data.table.len();
        let train = match self {
            // At least one training record and one test record.
            Self::Random { test_share } => {
                records - ((records as f64 * test_share).round() as usize).clamp(1, records - 1)
            }
            Self::Own => data.train_records.unwrap_or(records),
        };
        (train, records - train)
    }
}

/// Checks that a share is in (0, 1).
///
/// # Errors
/// [`Error::Data`] for any other share.
pub(super) fn check_share(name: &str, share: f64) -> Result<()> {
    if share > 0.0 && share < 1.0 {
        return Ok(());
    }
    Err(Error::Data(format!("{name} must lie strictly between zero and one, and {share} does not")))
}

/// Checks that a share is in [0, 1).
///
/// # Errors
/// [`Error::Data`] for any other share.
pub(super) fn check_part(name: &str, share: f64) -> Result<()> {
    if (0.0..1.0).contains(&share) {
        return Ok(());
    }
    Err(Error::Data(format!("{name} must be zero or more and below one, and {share} is not")))
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

/// Row indices of one trial's training, validation and test records, and the trial's random seeds. All are
/// the same for every mechanism and budget.
pub(super) struct Split {
    train: Vec<usize>,
    pub(super) asked: Vec<usize>,
    pub(super) test: Vec<usize>,
    pub(super) noise_seed: u64,
    /// Seed of the answers in private validation.
    pub(super) answer_seed: u64,
}

impl Split {
    /// Draws the split of a trial. The data must have passed [`Splitting::check`].
    pub(super) fn draw(splitting: &Splitting, data: &DataSet, seed: u64, trial: usize) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        rng.set_stream(trial as u64);
        let (volunteers, mut train) = splitting.parted(data, seed);
        let (all_train, all_test) = splitting.kind.sizes(data);
        let all_train = all_train - volunteers.len();
        let (most_train, most_test) = splitting.sizes(data);
        let mut test = match splitting.kind {
            SplitKind::Random { .. } => {
                splitting.draw(&mut train, data, &mut rng);
                let rest = train.split_off(all_test);
                std::mem::replace(&mut train, rest)
            }
            SplitKind::Own => {
                let mut test = train.split_off(all_train);
                if most_train < all_train {
                    train.shuffle(&mut rng);
                }
                if most_test < all_test {
                    test.shuffle(&mut rng);
                }
                test
            }
        };
        train.truncate(most_train);
        test.truncate(most_test);
        let noise_seed = rng.next_u64();
        if let (SplitKind::Random { .. }, true) = (&splitting.kind, splitting.stratified) {
            // The order becomes random, independent of the classes.
            train.shuffle(&mut rng);
        }
        if let (true, Target::Class(classes)) = (splitting.balance, data.table.target()) {
            balance(&mut train, classes, &mut rng);
        }
        let (asked, answer_seed) = match splitting.validation {
            0.0 => (vec![], 0),
            share => (some_of(&mut train, share, &mut rng), rng.next_u64()),
        };
        Self { train, asked, test, noise_seed, answer_seed }
    }

    /// Selects `records` training records, or all if there are fewer. One record of each class comes first.
    /// After these, each class has approximately its share of all training records. A larger selection
    /// contains the smaller ones.
    pub(super) fn some_of_train(&self, records: usize, table: &PackedTable) -> Result<Table> {
        if records >= self.train.len() {
            return self.train(table);
        }
        let mut rows = self.train.clone();
        rows.shuffle(&mut ChaCha20Rng::seed_from_u64(self.noise_seed));
        if let Target::Class(classes) = table.target() {
            interleave(&mut rows, classes, 0.0);
        }
        rows.truncate(records);
        Ok(table.select(&rows)?)
    }

    /// Numbers of training and test records.
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.train.len(), self.test.len())
    }

    /// Training records from a table with the data's rows.
    pub(super) fn train(&self, table: &PackedTable) -> Result<Table> {
        Ok(table.select(&self.train)?)
    }

    /// Records of the people to train on that `mechanism` releases: one of each, or as many as it uses of
    /// people with several.
    pub(super) fn released(&self, data: &DataSet, mechanism: &Designed) -> Result<Table> {
        match (&data.people, mechanism.records_per_person()) {
            (Some(people), Some(2..)) => Ok(people.of(&self.train)?),
            _ => self.train(&data.table),
        }
    }

    /// Test records from a table with the data's rows.
    pub(super) fn test(&self, table: &PackedTable) -> Result<Table> {
        Ok(table.select(&self.test)?)
    }
}

/// Number of rows in a share of `rows` rows. It is at least one if the share is positive, and leaves at least
/// one row.
fn share_of(rows: usize, share: f64) -> usize {
    match share {
        0.0 => 0,
        share => ((rows as f64 * share).round() as usize).max(1).min(rows.saturating_sub(1)),
    }
}

/// Removes a share of the rows, sampled uniformly at random, and returns them in order. At least one row
/// remains.
fn some_of(rows: &mut Vec<usize>, share: f64, rng: &mut impl Rng) -> Vec<usize> {
    let count = share_of(rows.len(), share);
    let places: BTreeSet<usize> = rand::seq::index::sample(rng, rows.len(), count).into_iter().collect();
    let taken = places.iter().map(|&place| rows[place]).collect();
    let mut place = 0..;
    rows.retain(|_| !place.next().is_some_and(|place| places.contains(&place)));
    taken
}

/// Orders `rows` so that the first n rows have, for every n, nearly the same share of each class as all rows.
///
/// `classes` has the class of each row. In a class with N rows, the row with index i, counted from 0, is
/// placed at the fraction (i + `offset`)/N of all rows. Rows of one class keep their order.
pub(super) fn interleave(rows: &mut Vec<usize>, classes: &Array1<usize>, offset: f64) {
    let mut class_rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, &row) in rows.iter().enumerate() {
        class_rows.entry(classes.get(row).copied().unwrap_or(usize::MAX)).or_default().push(place);
    }
    let class_rows: Vec<Vec<usize>> = class_rows.into_values().collect();
    // Key of a class's next row: its target fraction, as bits that sort like the number; its index among the
    // rows; the class; and n, its index within the class.
    let next = |class: usize, n: usize| {
        let class_rows = &class_rows[class];
        let at = (n as f64 + offset) / class_rows.len() as f64;
        class_rows.get(n).map(|&place| Reverse((at.to_bits(), place, class, n)))
    };
    let mut heap: BinaryHeap<_> = (0..class_rows.len()).filter_map(|class| next(class, 0)).collect();
    let mut placed = Vec::with_capacity(rows.len());
    while let Some(Reverse((_, place, class, n))) = heap.pop() {
        placed.push(rows[place]);
        heap.extend(next(class, n + 1));
    }
    *rows = placed;
}

/// Keeps as many `rows` of each class as the rarest class has, sampled uniformly at random and in order.
///
/// `classes` has the class of each row. A row without an entry in `classes` is removed.
pub fn balance(rows: &mut Vec<usize>, classes: &Array1<usize>, rng: &mut impl Rng) {
    let mut class_rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &row in rows.iter() {
        if let Some(&class) = classes.get(row) {
            class_rows.entry(class).or_default().push(row);
        }
    }
    let rarest = class_rows.values().map(Vec::len).min().unwrap_or(0);
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    for rows in class_rows.values() {
        kept.extend(rows.choose_multiple(rng, rarest).copied());
    }
    rows.retain(|row| kept.contains(row));
}

impl Comparison {
    /// Indices of the volunteers' rows.
    pub(super) fn volunteers(&self) -> Vec<usize> {
        self.splitting.parted(&self.data, self.seed).0
    }

    /// Number of records that are test records in one trial or more.
    pub(super) fn tested(&self) -> usize {
        let mut is_tested = vec![false; self.data.table.len()];
        for trial in 0..self.trials {
            self.split(trial).test.into_iter().for_each(|row| is_tested[row] = true);
        }
        is_tested.into_iter().filter(|tested| *tested).count()
    }

    /// Split of a trial.
    pub(super) fn split(&self, trial: usize) -> Split {
        Split::draw(&self.splitting, &self.data, self.seed, trial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(most_train: Option<usize>, most_test: Option<usize>) -> Splitting {
        Splitting {
            kind: SplitKind::Own,
            most_train,
            most_test,
            volunteers: 0.0,
            unlabelled: false,
            public: false,
            validation: 0.0,
            balance: false,
            stratified: false,
        }
    }

    fn wine(train_records: Option<usize>) -> DataSet {
        DataSet { train_records, ..DataSet::wine().unwrap() }
    }

    #[test]
    fn a_random_split_has_every_record_on_one_side() {
        let data = wine(None);
        let split = Split::draw(&Splitting::random(0.2), &data, 1, 0);
        assert_eq!((split.train.len(), split.test.len()), (1279, 320));
        let mut rows = [split.train, split.test].concat();
        rows.sort_unstable();
        assert!(rows.into_iter().eq(0..1599));
    }

    /// No positive share in this test is a whole number of records.
    #[test]
    fn as_many_records_are_released_as_stated() {
        let data = wine(None);
        for validation in [0.0, 0.0001, 0.2, 0.3333, 0.5] {
            let splitting = Splitting { validation, volunteers: 0.1, ..Splitting::random(0.2) };
            let split = Split::draw(&splitting, &data, 1, 0);
            assert_eq!(split.train.len(), splitting.released(&data), "{validation}");
        }
    }

    /// Classes of 744 and 855 wines. Without stratification, the number of good wines among the 320 test
    /// records would be off by five or more in about half of the cases.
    #[test]
    fn classes_have_their_shares_on_both_sides_and_in_every_part() {
        let data = wine(None);
        let Target::Class(classes) = data.table.target() else { panic!("a class") };
        let good = |rows: &[usize]| rows.iter().filter(|&&row| classes[row] == 1).count() as f64;
        let share = 855.0 / 1599.0;
        for trial in 0..3 {
            let split = Split::draw(&Splitting::random(0.2), &data, 1, trial);
            assert!((good(&split.test) - 320.0 * share).abs() <= 1.0);
            assert!((good(&split.train) - 1279.0 * share).abs() <= 1.0);
            let limited = Splitting { most_train: Some(100), volunteers: 0.1, ..Splitting::random(0.2) };
            assert!((good(&Split::draw(&limited, &data, 1, trial).train) - 100.0 * share).abs() <= 1.0);
            let (volunteers, _) = limited.parted(&data, 1);
            assert!((good(&volunteers) - 128.0 * share).abs() <= 1.0);
            let [few, more] = [20, 640].map(|records| split.some_of_train(records, &data.table).unwrap());
            assert_eq!((few.len(), more.len()), (20, 640));
            assert_eq!(few, more.select(&(0..20).collect::<Vec<_>>()).unwrap());
            assert_eq!(split.some_of_train(9_999, &data.table).unwrap().len(), 1279);
        }
        // Three classes, one of them rare: each is among the first three rows.
        let classes = Array1::from_iter([vec![0; 60], vec![1; 38], vec![2; 2]].concat());
        let mut rows: Vec<usize> = (0..100).rev().collect();
        interleave(&mut rows, &classes, 0.0);
        let first: BTreeSet<usize> = rows[..3].iter().map(|&row| classes[row]).collect();
        assert_eq!(first.len(), 3);
    }

    #[test]
    fn limits_take_of_a_random_split_and_leave_its_noise() {
        let data = wine(None);
        let whole = Split::draw(&Splitting::random(0.2), &data, 1, 3);
        let limited = Splitting { most_train: Some(100), most_test: Some(9_999), ..Splitting::random(0.2) };
        let split = Split::draw(&limited, &data, 1, 3);
        assert!(split.train.len() == 100 && split.train.iter().all(|row| whole.train.contains(row)));
        assert_eq!(split.test, whole.test);
        assert_eq!(split.noise_seed, whole.noise_seed);
    }

    #[test]
    fn only_the_noise_differs_between_trials_on_a_split_of_ones_own() {
        let data = wine(Some(1000));
        let [one, two] = [0, 1].map(|trial| Split::draw(&own(None, None), &data, 1, trial));
        assert!(one.train.iter().copied().eq(0..1000) && one.test.iter().copied().eq(1000..1599));
        assert_eq!((&one.train, &one.test), (&two.train, &two.test));
        assert_ne!(one.noise_seed, two.noise_seed);
    }

    #[test]
    fn a_limit_draws_anew_in_each_trial_from_its_own_side() {
        let data = wine(Some(1000));
        let [one, two] = [0, 1].map(|trial| Split::draw(&own(Some(50), Some(20)), &data, 1, trial));
        assert_eq!((one.train.len(), one.test.len()), (50, 20));
        assert!(one.train.iter().all(|&row| row < 1000) && one.test.iter().all(|&row| row >= 1000));
        assert!(one.train != two.train && one.test != two.test);
    }

    #[test]
    fn balanced_classes_are_as_many_as_the_rarest_and_leave_tests_and_noise() {
        let data = wine(Some(1000));
        let Target::Class(classes) = data.table.target() else { panic!("a class") };
        let counts =
            |rows: &[usize]| [0, 1].map(|class| rows.iter().filter(|&&row| classes[row] == class).count());
        let [whole, balanced, again] = [(false, 0), (true, 0), (true, 1)]
            .map(|(balance, trial)| Split::draw(&Splitting { balance, ..own(None, None) }, &data, 1, trial));
        let [bad, good] = counts(&whole.train);
        assert_ne!(bad, good);
        assert_eq!(counts(&balanced.train), [bad.min(good); 2]);
        assert!(balanced.train.is_sorted() && balanced.train != again.train);
        assert_eq!((&balanced.test, balanced.noise_seed), (&whole.test, whole.noise_seed));
        let limited = Splitting { balance: true, ..own(Some(100), None) };
        let [bad, good] = counts(&Split::draw(&limited, &data, 1, 0).train);
        assert!(bad == good && bad + good <= 100, "{bad} and {good}");
    }

    #[test]
    fn volunteers_may_keep_their_labels() {
        let drawn = |unlabelled| {
            let splitting = Splitting { volunteers: 0.25, unlabelled, ..Splitting::random(0.2) };
            splitting.volunteered(&wine(None), 5).unwrap().table().unwrap().clone()
        };
        let (labelled, unlabelled) = (drawn(false), drawn(true));
        assert_eq!(labelled.records(), unlabelled.records());
        assert_eq!((labelled.target().kind(), unlabelled.target()), ("a class", &Target::None));
    }

    #[test]
    fn volunteers_are_the_same_in_all_trials_and_on_neither_side() {
        let drawn = |seed| (Splitting { volunteers: 0.25, ..Splitting::random(0.2) }, wine(None), seed);
        let own = (Splitting { volunteers: 0.25, ..own(None, None) }, wine(Some(1000)), 1);
        for ((splitting, data, seed), count) in [(drawn(1), 320), (own, 250)] {
            let (volunteers, _) = splitting.parted(&data, seed);
            assert_eq!(volunteers.len(), count);
            for trial in [0, 1] {
                let split = Split::draw(&splitting, &data, seed, trial);
                assert_eq!(split.sizes(), splitting.sizes(&data));
                let mut rows = [volunteers.clone(), split.train, split.test].concat();
                rows.sort_unstable();
                assert!(rows.into_iter().eq(0..1599));
            }
        }
        let parts = |seed| {
            let (splitting, data, seed) = drawn(seed);
            splitting.parted(&data, seed).0
        };
        assert!(parts(1) == parts(1) && parts(1) != parts(2));
    }

    #[test]
    fn the_volunteers_of_an_own_split_are_its_first_records() {
        let splitting = Splitting { volunteers: 0.1, ..own(None, Some(20)) };
        assert!(splitting.parted(&wine(Some(1000)), 5).0.into_iter().eq(0..100));
        let Volunteers::Consented(table) = splitting.volunteered(&wine(Some(1000)), 5).unwrap() else {
            panic!("they consented")
        };
        assert_eq!(table, wine(None).table.select(&(0..100).collect::<Vec<_>>()).unwrap());
        let none = own(None, None).volunteered(&wine(Some(1000)), 5).unwrap();
        assert!(matches!(none, Volunteers::None));
    }

    #[test]
    fn a_share_of_volunteers_is_one_record_or_more_and_leaves_one() {
        let count =
            |volunteers, train| Splitting { volunteers, ..own(None, None) }.volunteers(&wine(Some(train)));
        assert_eq!((count(1e-9, 1000), count(0.999_999, 1000), count(0.5, 1)), (1, 999, 0));
    }

    #[test]
    fn a_split_that_there_is_not_is_refused() {
        let refused = own(None, None).check(&wine(None)).unwrap_err().to_string();
        assert_eq!(refused, "wine quality: it has no split of its own; kind = \"random\" draws one");
        assert!(own(None, None).check(&wine(Some(1599))).is_err());
        assert!(own(Some(0), None).check(&wine(Some(1000))).is_err());
    }
}

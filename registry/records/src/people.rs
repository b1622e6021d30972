//! People with several records: which of their records count, and with which weight.

use crate::person::PersonColumn;
use rand::seq::index;
use scumble_noise::NoiseKey;
use std::collections::HashMap;

/// Records of a file that count: of each person, at most a given number, drawn at random without regard to
/// their values. The weight of a person is divided among the person's records in whole
/// parts of 1/[`PARTS`](scumble_core::PARTS).
#[derive(Debug)]
pub struct People {
    /// Parts of each row of the file; 0 for a row that does not count.
    shares: Vec<u16>,
    /// Digests of the ids of the people who count.
    ids: Vec<[u8; 16]>,
    rows: usize,
    most: u16,
}

/// Rows of a person: their number, and the index of the last one.
struct Person {
    rows: u32,
    last: u32,
}

/// Index that no row has.
const NONE: u32 = u32::MAX;

/// Rows of a file by their people, before some are chosen. The rows of one person form a list.
#[derive(Default)]
pub(crate) struct PersonRows {
    /// Index of the person's row before each row.
    before: Vec<u32>,
    people: HashMap<[u8; 16], Person>,
    rows: usize,
}

impl PersonRows {
    /// Adds the row with this number in the file, counted from 1, of the person with this digest of the id.
    /// Returns false if the number is too large.
    pub(crate) fn add(&mut self, number: usize, id: [u8; 16]) -> bool {
        let Some(row) = u32::try_from(number - 1).ok().filter(|row| *row != NONE) else { return false };
        self.before.resize(number, NONE);
        let person = self.people.entry(id).or_insert(Person { rows: 0, last: NONE });
        self.before[number - 1] = std::mem::replace(&mut person.last, row);
        person.rows += 1;
        self.rows += 1;
        true
    }

    /// Chooses rows of each person whom `is_admitted` admits.
    pub(crate) fn choose(
        self,
        column: &PersonColumn,
        key: &NoiseKey,
        is_admitted: impl Fn(&[u8; 16]) -> bool,
    ) -> People {
        let Self { before, mut people, rows } = self;
        let (most, mut shares) = (column.records_per_person, vec![0; before.len()]);
        people.retain(|id, _| is_admitted(id));
        for (id, person) in &people {
            let mut own = Vec::with_capacity(person.rows as usize);
            let mut row = person.last;
            while row != NONE {
                own.push(row);
                row = before[row as usize];
            }
            for (row, share) in chosen(id, own.len(), most, key) {
                shares[own[row] as usize] = share;
            }
        }
        People { shares, ids: people.into_keys().collect(), rows, most }
    }
}

impl People {
    /// Parts of the row with this number in the file, counted from 1; 0 if the row does not count.
    pub(crate) fn share(&self, number: usize) -> u16 {
        self.shares.get(number.wrapping_sub(1)).copied().unwrap_or(0)
    }

    /// Returns whether several records of a person may count.
    pub(crate) fn has_several(&self) -> bool {
        self.most > 1
    }

    /// Digests of the ids of the people who count.
    pub fn ids(&self) -> &[[u8; 16]] {
        &self.ids
    }

    /// Number of rows with an id, and of those that count. Both are for the owner of the records only.
    pub fn rows(&self) -> (usize, usize) {
        (self.rows, self.shares.iter().filter(|share| **share > 0).count())
    }
}

/// Chooses `most` of the `rows` rows of the person with this id, or all if there are fewer, in random order.
/// Returns the index of each among the person's rows, and its share.
pub(crate) fn chosen(id: &[u8; 16], rows: usize, most: u16, key: &NoiseKey) -> Vec<(usize, u16)> {
    let count = rows.min(most.into());
    let chosen = match rows {
        1 => vec![0],
        _ => index::sample(&mut key.stream(&hexadecimal(id), &[]), rows, count).into_vec(),
    };
    chosen.into_iter().zip(scumble_core::shares(count as u16)).collect()
}

fn hexadecimal(id: &[u8; 16]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

//! Choice of the records of people that count.

use crate::people::{People, PersonRows, chosen};
use crate::{Error, Loaded, PersonColumn, RawRows, Reader, Result};
use scumble_noise::{NoiseKey, id_digest};
use std::collections::HashMap;

impl People {
    /// Reads the ids of all rows of `reader`, and chooses `most` rows of each person, or all of a person with
    /// fewer. `key` and the id determine the choice, so that it does not depend on other people.
    ///
    /// People with other ids than those that `is_admitted` do not count; it receives the digest of an id. The
    /// memory is about 6 bytes for each row and 60 for each person. `on_progress` receives the number of
    /// bytes read. An error of `on_progress` stops the reading.
    ///
    /// # Errors
    /// [`Error::MissingColumn`] if the file lacks `column`; [`Error::Cell`] for a row without an id;
    /// [`Error::Unreadable`] for more than 2³² rows; same errors as [`Reader::next_rows`].
    pub fn choose(
        reader: Reader,
        column: &PersonColumn,
        key: &NoiseKey,
        is_admitted: impl Fn(&[u8; 16]) -> bool,
        mut on_progress: impl FnMut(u64) -> Result<()> + Send,
    ) -> Result<Self> {
        let mut reader = reader.with_ids(&column.name)?;
        let encoder = reader.encoder().clone();
        let digests = |_, rows: &RawRows| {
            let ids = rows.ids(&encoder)?;
            let numbered = ids.iter().enumerate().map(|(at, id)| (rows.row_number(at), id_digest(id)));
            Ok(numbered.collect::<Vec<_>>())
        };
        let mut rows = PersonRows::default();
        reader.in_blocks(digests, |digests, bytes| {
            for (number, id) in digests {
                if !rows.add(number, id) {
                    let problem = "the file has more than 2^32 rows".into();
                    return Err(Error::Unreadable { file: encoder.source().into(), problem });
                }
            }
            on_progress(bytes)
        })?;
        Ok(rows.choose(column, key, is_admitted))
    }
}

/// Rows of a person that count, with their shares in units of 1/[`PARTS`](scumble_core::PARTS).
pub type Chosen = Vec<(usize, u16)>;

impl Reader<'_> {
    /// Reads all remaining rows, and chooses records of each person as [`People::choose`] does. Returns the
    /// records of the file, and for each person, in the order of their first rows, the chosen records with
    /// their shares.
    ///
    /// # Errors
    /// Same errors as [`People::choose`] and [`Reader::read_all`].
    pub fn read_people(self, column: &PersonColumn, key: &NoiseKey) -> Result<(Loaded, Vec<Chosen>)> {
        let (loaded, ids) = self.read_all_with_column(&column.name)?;
        let (mut places, mut people) = (HashMap::<[u8; 16], usize>::new(), vec![]);
        for (row, id) in ids.iter().map(|id| id_digest(id)).enumerate() {
            let place = *places.entry(id).or_insert(people.len());
            people.resize_with(people.len().max(place + 1), || (id, vec![]));
            people[place].1.push(row);
        }
        let own = |(id, rows): ([u8; 16], Vec<usize>)| {
            let chosen = chosen(&id, rows.len(), column.records_per_person, key);
            chosen.into_iter().map(|(at, share)| (rows[at], share)).collect()
        };
        Ok((loaded, people.into_iter().map(own).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OutOfBounds, Schema, csv};
    use scumble_core::PARTS;
    use std::collections::BTreeMap;

    const VALUE: &str = "[[column]]\nname = \"x\"\nkind = \"real\"\nlower = 0\nupper = 1\n";

    /// Shares of the rows of people with these ids, of whom at most `most` rows count.
    fn shares(ids: &[&str], values: impl Fn(usize) -> f64, most: u16, key: u8) -> Result<Vec<u16>> {
        let rows: String =
            ids.iter().enumerate().map(|(row, id)| format!("{},{id}\n", values(row))).collect();
        let text = format!("x,person\n{rows}");
        let file = csv::Rows::new(text.as_bytes(), "visits.csv")?;
        let schema = Schema::from_toml(VALUE, "schema.toml")?;
        let reader = Reader::new(file, &schema, None, OutOfBounds::Clip)?;
        let column = PersonColumn { name: "person".into(), records_per_person: most };
        let people = People::choose(reader, &column, &NoiseKey::from_bytes([key; 32]), |_| true, |_| Ok(()))?;
        Ok((1..=ids.len()).map(|number| people.share(number)).collect())
    }

    #[test]
    fn each_person_has_all_parts_whatever_the_number_of_their_rows() {
        let ids: Vec<String> = (0..3000).map(|row: u32| format!("p{}", row.pow(2) % 89)).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        for most in [1, 2, 3, 7, 100, PARTS] {
            let mut people = BTreeMap::<&str, Vec<u16>>::new();
            for (id, share) in ids.iter().zip(shares(&ids, |_| 0.5, most, 1).unwrap()) {
                people.entry(id).or_default().push(share);
            }
            for shares in people.values() {
                assert_eq!(shares.iter().sum::<u16>(), PARTS);
                let counted: Vec<u16> = shares.iter().copied().filter(|share| *share > 0).collect();
                assert_eq!(counted.len(), shares.len().min(most.into()));
                assert!(counted.iter().all(|share| share.abs_diff(counted[0]) <= 1), "{counted:?}");
            }
        }
    }

    /// Privacy: the choice depends on the key and on the person's own rows, and on no value.
    #[test]
    fn rows_are_chosen_without_regard_to_values_and_to_other_people() {
        let ids = ["a", "b", "a", "a", "b", "a", "c", "b", "a"];
        let of = |person: &str, ids: &[&str], shares: &[u16]| {
            let own = ids.iter().zip(shares).filter(|(id, _)| **id == person);
            own.map(|(_, share)| *share).collect::<Vec<_>>()
        };
        let chosen = shares(&ids, |_| 0.0, 2, 7).unwrap();
        assert_eq!(chosen, shares(&ids, |row| row as f64 / 10.0, 2, 7).unwrap());
        let others = ["a", "d", "a", "a", "d", "a", "d", "d", "a", "d", "d"];
        let beside_others = shares(&others, |_| 1.0, 2, 7).unwrap();
        assert_eq!(of("a", &ids, &chosen), of("a", &others, &beside_others));
        assert_ne!(chosen, shares(&ids, |_| 0.0, 2, 8).unwrap(), "another key chooses other rows");
    }

    /// Each of five rows is chosen in 2/5 of 2,000 choices: five standard deviations are 5.5 %.
    #[test]
    fn each_row_is_as_likely_as_any_other() {
        let ids: Vec<String> = (0..10_000).map(|row| format!("p{}", row % 2000)).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let chosen = shares(&ids, |_| 0.5, 2, 3).unwrap();
        for visit in chosen.chunks(2000) {
            let share = visit.iter().filter(|share| **share > 0).count() as f64 / 2000.0;
            assert!((share - 0.4).abs() < 0.055, "{share}");
        }
    }

    #[test]
    fn a_row_without_an_id_is_refused() {
        let refused = shares(&["a", "", "b"], |_| 0.5, 2, 1).unwrap_err().to_string();
        assert!(refused.starts_with("visits.csv, row 2, column \"person\": \"\" is not an id"), "{refused}");
    }
}

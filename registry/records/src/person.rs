//! Columns of people's ids.

use serde::{Deserialize, Serialize};

/// Column whose cells are ids of people: rows with equal cells belong to one person. The column is read and
/// never released.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonColumn {
    /// Name of the column.
    pub name: String,
    /// Largest number of records of a person that count, 1 to [`PARTS`](scumble_core::PARTS).
    #[serde(default = "one")]
    pub records_per_person: u16,
}

fn one() -> u16 {
    1
}

/// Words for a person that may occur in the name of an id column.
const PEOPLE: [&str; 16] = [
    "person",
    "user",
    "customer",
    "client",
    "patient",
    "participant",
    "respondent",
    "subject",
    "employee",
    "student",
    "pupil",
    "citizen",
    "voter",
    "member",
    "donor",
    "account",
];
/// Suffixes that may follow a word for a person in the name of an id column.
const NUMBERS: [&str; 8] = ["id", "ids", "uid", "uuid", "guid", "key", "nr", "number"];
/// Names of id columns that contain no word for a person.
const PERSON_IDS: [&str; 6] = ["id", "uid", "uuid", "guid", "email", "ssn"];

/// Returns whether the name of a column suggests that it identifies people. Examples are `id`, `person`,
/// `Patient ID`, `user_id` and `customerNumber`.
pub fn identifies_people(column: &str) -> bool {
    let letters = column.chars().filter(|letter| letter.is_alphanumeric());
    let name: String = letters.flat_map(char::to_lowercase).collect();
    let is_numbered =
        |word: &str| name.strip_prefix(word).is_some_and(|rest| rest.is_empty() || NUMBERS.contains(&rest));
    PERSON_IDS.contains(&name.as_str()) || PEOPLE.into_iter().any(is_numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_tells_people_apart_is_known_by_its_name() {
        for name in [
            "id",
            "ID",
            "person",
            "Patient ID",
            "user_id",
            "userid",
            "customerNumber",
            "e-mail",
            "client key",
        ] {
            assert!(identifies_people(name), "{name:?}");
        }
        for name in
            ["", "age", "user_type", "region_id", "paid", "idea", "customer segment", "persons per household"]
        {
            assert!(!identifies_people(name), "{name:?}");
        }
    }
}

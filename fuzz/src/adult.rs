//! Adult's rows, which have neither header nor quotation marks.

use crate::{accepted, assert_in_domain, folder};
use scumble_datasets::source;
use std::fs;

const TEST: &str = "|1x3 Cross validator\n\
    17, Local-gov, 1, Masters, 14, Separated, Sales, Wife, White, Male, 0, 0, 40, Cuba, <=50K.\n";

/// Reads training records together with one test record.
pub fn adult(data: &[u8]) -> bool {
    let folder = folder();
    let adult = folder.path().join("adult");
    fs::create_dir(&adult).expect("there is room for a folder");
    fs::write(adult.join("adult.data"), data).expect("there is room for rows");
    fs::write(adult.join("adult.test"), TEST).expect("there is room for a row");
    let adult = source("adult").expect("there is such a data set");
    let Some(people) = accepted(adult.load(folder.path())) else {
        return false;
    };
    assert_eq!(people.train_records, Some(people.table.len() - 1));
    assert!(people.clipped.iter().all(|column| column.cells < people.table.len()));
    assert_in_domain(&people);
    true
}

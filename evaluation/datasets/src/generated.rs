//! Made-up records whose class follows from several columns together. They show the limits of mechanisms that
//! publish tables of few columns.

use crate::{DataSet, Result};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_records::{Schema, csv};

const RECORDS: usize = 4000;
/// Number of answers of a record, each yes or no with equal odds.
const ANSWERS: usize = 8;
/// Share of the records whose class is wrong.
const WRONG: f64 = 0.1;
const TARGET: &str = "class";

/// Records whose class says whether the first two answers are the same. Any two columns are independent.
pub(crate) fn xor(_: &std::path::Path) -> Result<DataSet> {
    generate("xor", include_str!("../schemas/xor.toml"), |answers| answers[0] == answers[1])
}

/// Records whose class follows from a tree of decisions, in which the answer to the first question decides
/// the next one.
pub(crate) fn tree(_: &std::path::Path) -> Result<DataSet> {
    generate("tree", include_str!("../schemas/tree.toml"), |answers| match (answers[0], answers[1]) {
        (true, true) => answers[2],
        (true, false) => !answers[3],
        (false, _) => answers[2] && answers[3],
    })
}

fn generate(name: &str, schema: &str, class: impl Fn([bool; ANSWERS]) -> bool) -> Result<DataSet> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let header: Vec<String> = (1..=ANSWERS).map(|number| format!("answer {number}")).collect();
    let mut text = format!("{},{TARGET}\n", header.join(","));
    for _ in 0..RECORDS {
        let answers: [bool; ANSWERS] = rng.r#gen();
        answers.iter().for_each(|answer| text += &format!("{answer},"));
        text += &format!("{}\n", class(answers) != rng.gen_bool(WRONG));
    }
    let schema = Schema::from_toml(schema, &format!("{name}.toml"))?;
    let loaded = csv::read(text.as_bytes(), name, &schema, Some(TARGET))?;
    Ok(DataSet::loaded(name, TARGET, &schema, loaded)?)
}

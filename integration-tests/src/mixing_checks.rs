//! What must be so of every curator that mixes and transforms, and what no attack on samples sees: what was mixed, what is counted, and what the
//! theorem allows. Each check gives what is wrong with the privacy, in sentences.

use ndarray::{Array2, ArrayView1};
use scumble::accounting::pac::{Setting, corollary_1};
use scumble::adversary::Inversion;
use scumble::core::{Designed, Error, Key, Notion, PacResistance, Randomness, Release, Result, Table};
use serde_json::Value;

/// How near a recovered record must lie to count as that record.
const NEAR: f64 = 1e-3;

/// What is wrong with the mixtures of a release of `table` by a mechanism without queries, whose guarantee is about mixtures in equal shares of a
/// private record with one of `public` (p × d), none of which is used twice; `known` are any records of the domain (m × d), m > d.
///
/// The owner's key is turned against the release: the way back is learned from what it makes of known records, and applied to what left.
///
/// # Errors
/// Where it does not release.
pub fn wrong_mixtures(
    mechanism: &Designed,
    table: &Table,
    public: &Table,
    known: &Table,
) -> Result<Vec<String>> {
    let release = mechanism.release(table, &mut Randomness::seeded(1))?;
    let learned = Inversion::linear(release.key.view(known)?.records().view(), known.records().view())?;
    let mixtures = learned.recover(release.table.records().view());
    let mut used = [vec![0; table.len()], vec![0; public.len()]];
    let mut wrong = vec![];
    for (sample, mixture) in mixtures.outer_iter().enumerate() {
        match halves(mixture, table.records(), public.records()) {
            Some((private, public)) => {
                used[0][private] += 1;
                used[1][public] += 1;
            }
            None => wrong.push(match nearest(mixture, table.records()) {
                Some(row) => format!("the private record {} leaves unmixed, as sample {}", row + 1, sample + 1),
                None => format!(
                    "sample {} is no mixture in equal shares of a private record and a public one, for which its budget is claimed",
                    sample + 1
                ),
            }),
        }
    }
    for (used, whose) in used.iter().zip(["private", "public"]) {
        let twice = used.iter().enumerate().filter(|(_, times)| **times > 1);
        wrong.extend(twice.map(|(row, times)| {
            format!("the {whose} record {} is in {times} samples, and the claim is for one each", row + 1)
        }));
    }
    Ok(wrong)
}

/// The records of which a mixture is half and half, if there are such.
fn halves(mixture: ArrayView1<f64>, private: &Array2<f64>, public: &Array2<f64>) -> Option<(usize, usize)> {
    private.outer_iter().enumerate().find_map(|(row, record)| {
        let rest = &mixture * 2.0 - record;
        nearest(rest.view(), public).map(|other| (row, other))
    })
}

/// The row that is this record.
fn nearest(record: ArrayView1<f64>, rows: &Array2<f64>) -> Option<usize> {
    rows.outer_iter().position(|row| (&row - &record).iter().all(|difference| difference.abs() < NEAR))
}

/// What is wrong with the budget that a release states, by the setting that the `state` of its design holds, and with what it counts.
///
/// The budget is that of [`corollary_1`] for half of each variance, the bits of a released row, and a δ that has room for the matrices that are drawn
/// again (ERRATA.md, D3 and D11).
pub fn wrong_budget(state: &Value, release: &Release) -> Vec<String> {
    let Some(pac) = resistance(release) else { return vec![] };
    let allowed = allowed(state).unwrap_or(f64::NAN);
    let (leave, asked) = (release.table.len(), state["queries"].as_u64().unwrap_or(0));
    let due = leave as f64 + asked as f64;
    let mut wrong = vec![];
    if pac.budget > allowed || allowed.is_nan() {
        wrong.push(format!("it claims a budget of {} samples, and Corollary 1 allows {allowed}", pac.budget));
    }
    if pac.spent < due {
        wrong.push(format!(
            "it counts {} samples, and {leave} leave and {asked} may be asked for: both tell of one transformation",
            pac.spent
        ));
    }
    wrong
}

/// How many samples the theorem allows of a design.
fn allowed(state: &Value) -> Option<f64> {
    let number = |path: &str| state.pointer(path)?.as_f64();
    let dim = state.pointer("/domain/columns")?.as_array()?.len() as f64;
    let x = number("/shape/most_condition")? / dim;
    let setting = Setting {
        error: number("/resistance/error")?,
        // Edelman's distribution of the condition of large random matrices.
        delta: number("/resistance/confidence_gap")? + 1.0 - (-2.0 / x - 2.0 / (x * x)).exp(),
        dim: dim as u64,
        beta: 1.0,
        public_variance: number("/resistance/public_variance")? / 4.0,
        private_variance: number("/resistance/private_variance")? / 4.0,
    };
    Some(corollary_1(&setting, number("/shape/bits")? * dim).ok()?.budget.floor())
}

/// What a release claims of resistance to recovery.
pub fn resistance(release: &Release) -> Option<PacResistance> {
    release.guarantee.claims.iter().find_map(|claim| match claim.notion {
        Notion::PacResistance(pac) => Some(pac),
        _ => None,
    })
}

/// What is wrong with a key of `mechanism` that answers so many `queries` and no more: different records, more than twice so many as there are columns, and one
/// beyond.
///
/// # Errors
/// Where the key does not answer what it should.
pub fn wrong_answers(
    mechanism: &Designed,
    key: &Key,
    queries: &Table,
    most: usize,
) -> scumble::custody::Result<Vec<String>> {
    let rows = |rows: std::ops::Range<usize>| queries.select(&rows.collect::<Vec<_>>());
    let refuses = |key: &Key, table: &Table| matches!(key.view(table), Err(Error::Spent { .. }));
    let asked = rows(0..most)?;
    let answers = key.view(&asked)?;
    let mut wrong = vec![];
    if !refuses(key, &rows(most..most + 1)?) {
        wrong.push("it answers more queries than are counted against its budget".to_owned());
    }
    let passphrase = "correct horse battery staple";
    if let Some(saved) = scumble::custody::key::save(key, passphrase)? {
        let loaded = scumble::custody::key::load(&saved, passphrase, mechanism, "the key")?;
        if !refuses(&loaded, &rows(most..most + 1)?) && wrong.is_empty() {
            wrong.push("it forgets what it has answered when it is saved and loaded".to_owned());
        }
    }
    // What all queries are mixed with is a constant, which does not hide a linear map.
    let half = most / 2;
    let (lessons, rest) = (ndarray::s![..half, ..], ndarray::s![half.., ..]);
    let learned = Inversion::linear(answers.records().slice(lessons), asked.records().slice(lessons))?;
    let recovered = learned.recover(answers.records().slice(rest));
    if Inversion::fraction_within(recovered.view(), asked.records().slice(rest), NEAR) > 0.5 {
        wrong.push(
            "its queries share the private record that should hide each of them, and are recovered"
                .to_owned(),
        );
    }
    Ok(wrong)
}

//! Privacy checks for every curator that mixes and transforms, which attacks on samples cannot make. The
//! checks cover the mixtures, the counted samples, and the budget that the theorem allows. Each check returns
//! the faults as sentences.

use ndarray::{Array2, ArrayView1};
use scumble::accounting::pac::{Setting, corollary_1};
use scumble::adversary::Inversion;
use scumble::core::{Designed, Error, Key, Notion, PacResistance, Randomness, Release, Result, Table};
use serde_json::Value;

/// Largest distance at which a recovered record counts as the original record.
const NEAR: f64 = 1e-3;

/// Returns the faults of the mixtures in a release of `table` by a mechanism without queries.
///
/// The guarantee of `mechanism` is about mixtures in equal shares of a private record and one of `public` (p
/// × d), each used at most once. `known` are any records of the domain (m × d), with m > d.
///
/// The check uses the owner's key against the release. It learns the inverse map from the key's views of
/// `known`, and applies it to the released rows.
///
/// # Errors
/// Returns the errors of the release, of the key, and of [`Inversion::linear`].
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
                Some(row) => format!(
                    "the private record {} leaves unmixed, as sample \
                    {}",
                    row + 1,
                    sample + 1
                ),
                None => format!(
                    "sample {} is no mixture in equal shares of a private record and a public one, for which \
                     its budget is claimed",
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

/// Returns the rows of the private and the public record whose mixture in equal shares is `mixture`, if any.
fn halves(mixture: ArrayView1<f64>, private: &Array2<f64>, public: &Array2<f64>) -> Option<(usize, usize)> {
    private.outer_iter().enumerate().find_map(|(row, record)| {
        let rest = &mixture * 2.0 - record;
        nearest(rest.view(), public).map(|other| (row, other))
    })
}

/// Returns the first row that equals `record` up to [`NEAR`] in every coordinate.
fn nearest(record: ArrayView1<f64>, rows: &Array2<f64>) -> Option<usize> {
    rows.outer_iter().position(|row| (&row - &record).iter().all(|difference| difference.abs() < NEAR))
}

/// Returns the faults of the budget and of the spent samples that `release` states, given the `state` of its
/// design.
///
/// The allowed budget follows from [`corollary_1`] for a quarter of each variance (mixtures in equal shares)
/// and the bits of a released row. Its δ includes the probability that a matrix is drawn again
/// (errata D3 and D11).
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
            "it counts {} samples, and {leave} leave and {asked} may be asked for: both tell of one \
             transformation",
            pac.spent
        ));
    }
    wrong
}

/// Number of samples that the theorem allows for the design with this `state`.
fn allowed(state: &Value) -> Option<f64> {
    let number = |path: &str| state.pointer(path)?.as_f64();
    let dim = state.pointer("/domain/columns")?.as_array()?.len() as f64;
    let x = number("/shape/most_condition")? / dim;
    let setting = Setting {
        error: number("/resistance/error")?,
        // Edelman's distribution of the condition number of large random matrices.
        delta: number("/resistance/confidence_gap")? + 1.0 - (-2.0 / x - 2.0 / (x * x)).exp(),
        dim: dim as u64,
        beta: 1.0,
        public_variance: number("/resistance/public_variance")? / 4.0,
        private_variance: number("/resistance/private_variance")? / 4.0,
    };
    Some(corollary_1(&setting, number("/shape/bits")? * dim).ok()?.budget.floor())
}

/// Returns the resistance to recovery that a release claims.
pub fn resistance(release: &Release) -> Option<PacResistance> {
    release.guarantee.claims.iter().find_map(|claim| match claim.notion {
        Notion::PacResistance(pac) => Some(pac),
        _ => None,
    })
}

/// Returns the faults of a `key` of `mechanism` that may answer `most` queries.
///
/// `queries` are different records: more than twice the number of columns, and at least one more than
/// `most`.
///
/// # Errors
/// Returns the errors of the key, of saving and loading it, and of [`Inversion::linear`].
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
    // All queries are mixed with a constant here, which does not hide a linear map.
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

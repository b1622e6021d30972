//! Warnings about designs whose claims are true but protect little or may surprise.

use crate::ShippedDesign;
use scumble_core::number::{Significant, short};
use scumble_core::{Claim, Guarantee, Notion, Unit};
use scumble_records::{Error, Reader, Schema, identifies_people, stream};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Largest ε without a warning. A larger ε protects little.
const LARGEST_EPSILON: f64 = 10.0;
/// Largest δ without a warning, as a fraction of 1/n, where n is the number of people.
const SHARE_OF_ONE_IN_PEOPLE: f64 = 0.1;
/// Number of people assumed for the check of δ if the number is unknown.
const FEWEST_PEOPLE: u64 = 100;
/// Upper bounds on the bytes and rows of a file that are searched for an id that occurs in several rows.
const SEARCHED_BYTES: u64 = 64 << 20;
const SEARCHED_ROWS: usize = 1 << 20;
/// Upper bound on the number of levels of a column that is assumed not to identify people.
const FEW_LEVELS: usize = 10;
/// Upper bound on the number of column names and levels that a warning lists.
const MOST_NAMED: usize = 3;

/// Warnings about a design for a release of `people` records (`None` if unknown). They concern ε, δ, texts
/// of the schema that spreadsheets run as formulas, and columns that no report asks about.
pub fn warnings(design: &ShippedDesign, people: Option<u64>) -> Vec<String> {
    let formulas = design.records().ok().and_then(|records| formulas(&records.schema));
    let guarantee = design.guarantee();
    let stated =
        [warning_of_epsilon(&guarantee), warning_of_delta(&guarantee, people), formulas, unasked(design)];
    stated.into_iter().flatten().collect()
}

/// Warning about columns that no report asks about, so that collected records have random values in them.
fn unasked(design: &ShippedDesign) -> Option<String> {
    let tables = design.local().ok()?.collector()?.counted_tables();
    let asked: BTreeSet<usize> = tables.iter().flatten().copied().collect();
    let all = design.counted_tables(&[(0..design.records().ok()?.schema.columns().len()).collect()]).ok()?;
    let names: Vec<String> = all
        .concat()
        .iter()
        .enumerate()
        .filter(|(at, _)| !asked.contains(at))
        .map(|(_, name)| format!("{name:?}"))
        .collect();
    (!tables.is_empty() && !names.is_empty()).then(|| {
        format!(
            "the reports ask about {} of {} columns (`--set columns=[…]` names them; the default is fewer \
             for fewer people); collected records have random values in {}",
            asked.len(),
            all.concat().len(),
            names.join(", ")
        )
    })
}

/// Claims of differential privacy for the people whose records are released.
fn claims(guarantee: &Guarantee) -> impl Iterator<Item = Dp> {
    guarantee.claims.iter().filter(|claim| claim.protects != Unit::Volunteer).filter_map(stated_dp)
}

/// Warning about the largest finite ε of a guarantee, if it exceeds 10.
fn warning_of_epsilon(guarantee: &Guarantee) -> Option<String> {
    let finite = claims(guarantee).map(|dp| dp.epsilon).filter(|epsilon| epsilon.is_finite());
    let epsilon = finite.fold(0.0, f64::max);
    let shown = Significant(epsilon);
    (epsilon > LARGEST_EPSILON).then(|| {
        format!(
            "ε = {shown} is above {LARGEST_EPSILON}: a release may be e^{shown} times as likely for one \
             record as for another, which protects little"
        )
    })
}

/// Warning about the largest δ of a guarantee for a release of `people` records, if it exceeds 0.1/`people`.
/// If `people` is `None`, the number of people is the number that a claim states. If no claim states one, the
/// limit is 0.001.
pub fn warning_of_delta(guarantee: &Guarantee, people: Option<u64>) -> Option<String> {
    let delta = claims(guarantee).map(|dp| dp.delta).fold(0.0, f64::max);
    let people = people.or_else(|| claims(guarantee).find_map(|dp| dp.people));
    let one_in_people = 1.0 / people.unwrap_or(FEWEST_PEOPLE).max(1) as f64;
    let advised = SHARE_OF_ONE_IN_PEOPLE * one_in_people;
    // One digit, rounded down, so that the advice itself gives no warning.
    let unit = 10f64.powf((advised * (1.0 + 1e-9)).log10().floor());
    let rounded = (advised / unit * (1.0 + 1e-9)).floor() * unit;
    let limit = match people {
        Some(people) => format!("1/people, {} for {people} people", in_two_digits(one_in_people)),
        None => format!("1/people, even for {FEWEST_PEOPLE} people"),
    };
    (delta > advised).then(|| {
        format!(
            "δ = {} is not well below {limit}: with probability δ a whole record may be released; a δ of \
             at most {rounded:.0e} is advised",
            short(delta)
        )
    })
}

fn in_two_digits(value: f64) -> String {
    format!("{value:.1e}").parse().map_or_else(|_| short(value), short)
}

/// ε and δ of a claim, and the number of people if the claim states it.
struct Dp {
    epsilon: f64,
    delta: f64,
    people: Option<u64>,
}

fn stated_dp(claim: &Claim) -> Option<Dp> {
    let dp = |epsilon, delta, people| Some(Dp { epsilon, delta, people });
    match &claim.notion {
        Notion::LocalDp(claimed) => dp(claimed.epsilon, claimed.delta, None),
        Notion::CentralDp(claimed) => dp(claimed.epsilon, claimed.delta, None),
        Notion::MetricDp(claimed) => dp(claimed.dp.epsilon, claimed.dp.delta, None),
        Notion::ShuffledDp(claimed) => dp(claimed.epsilon, claimed.delta, Some(claimed.people)),
        _ => None,
    }
}

/// Warning about names and levels of a schema that a spreadsheet runs as formulas when it opens a CSV
/// release. A release contains these texts unchanged. `None` if there are no such texts.
pub fn formulas(schema: &Schema) -> Option<String> {
    let mut found = vec![];
    for column in schema.columns() {
        if is_formula(&column.name) {
            found.push(format!("column {:?}", column.name));
        }
        let levels = column.kind.levels().into_iter().flatten().filter(|level| is_formula(level));
        found.extend(levels.map(|level| format!("column {:?}, level {level:?}", column.name)));
    }
    if found.is_empty() {
        return None;
    }
    let more = match found.len() {
        count if count > MOST_NAMED => format!("; and {} more", count - MOST_NAMED),
        _ => String::new(),
    };
    found.truncate(MOST_NAMED);
    Some(format!(
        "a spreadsheet that opens the release may run these texts as formulas: {}{more}",
        found.join("; ")
    ))
}

/// Warnings about columns of `header` whose names suggest ids of people, and whose values repeat among the
/// first rows. A claim holds for each row, and not for a person with several rows. `reader` opens the file at
/// its first row. The search ends at a row that cannot be read.
///
/// # Errors
/// Any error of `reader`.
pub fn warnings_of_repeats<'r, E: From<Error>>(
    schema: &Schema,
    header: &[String],
    reader: impl Fn() -> Result<Reader<'r>, E>,
) -> Result<Vec<String>, E> {
    let has_few_levels = |name: &str| {
        schema
            .column(name)
            .is_ok_and(|column| column.kind.levels().is_some_and(|levels| levels.len() <= FEW_LEVELS))
    };
    let mut warnings = vec![];
    let is_declared = |name: &str| schema.person().is_some_and(|person| person.name == name);
    let is_told = |name: &&String| identifies_people(name) && !has_few_levels(name) && !is_declared(name);
    for name in header.iter().filter(is_told) {
        let rows = AtomicUsize::new(0);
        let count = |_: &[_], records: &[_]| {
            rows.fetch_add(records.len(), Relaxed);
        };
        let go_on = |bytes| match bytes < SEARCHED_BYTES && rows.load(Relaxed) < SEARCHED_ROWS {
            true => Ok(()),
            false => Err(Error::Interrupted),
        };
        let searched = stream::check_ids(&mut reader()?.with_ids(name)?, count, go_on);
        if let Err(Error::RepeatedId { file, row, column, id }) = searched {
            warnings.push(format!(
                "{file}: column {column:?} repeats {id:?} in row {row}: if the column identifies people, one \
                 person has several rows, and the claims hold for each row, not for the person; `kind = \
                 \"id\"` in the schema protects the person"
            ));
        }
    }
    Ok(warnings)
}

/// Returns whether a spreadsheet treats this cell as a formula. Formulas begin with =, @, a tab or a carriage
/// return, or with + or `-` if the cell is not a number.
fn is_formula(cell: &str) -> bool {
    match cell.chars().next() {
        Some('=' | '@' | '\t' | '\r') => true,
        Some('+' | '-') if cell.len() > 1 => {
            let number: String = cell.chars().filter(|&c| !matches!(c, '%' | ' ')).collect();
            number.replace(',', ".").parse::<f64>().is_err()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::{CentralDp, LocalDp, Neighbours};

    fn warnings(notion: Notion, people: Option<u64>) -> Vec<String> {
        let claim = Claim { notion, protects: Unit::Record, theorem: "a theorem".into() };
        let guarantee = Guarantee { claims: vec![claim], ..Guarantee::default() };
        [warning_of_epsilon(&guarantee), warning_of_delta(&guarantee, people)].into_iter().flatten().collect()
    }

    #[test]
    fn a_delta_is_to_be_well_below_one_in_the_number_of_people() {
        let central = |delta, people| {
            warnings(Notion::CentralDp(CentralDp::new(1.0, delta, Neighbours::ReplaceOne)), people)
        };
        for (delta, people) in
            [(0.1, Some(100)), (0.0011, Some(100)), (1e-5, Some(1_000_000)), (0.002, None), (0.5, Some(0))]
        {
            let [warning] = &central(delta, people)[..] else { panic!("no warning of δ = {delta}") };
            assert!(warning.contains("1/people") && warning.contains(&short(delta)), "{warning}");
        }
        for (delta, people) in [(0.0, Some(1)), (0.001, Some(100)), (1e-6, Some(100_000)), (1e-3, None)] {
            assert!(central(delta, people).is_empty(), "δ = {delta}");
        }
        for people in [1, 7, 100, 569, 1279, 1500, 3300, 32_561, 999_999] {
            let [warning] = &central(0.5, Some(people))[..] else { panic!("no warning for {people} people") };
            let (_, advice) = warning.split_once("at most ").unwrap();
            let advised = advice.split_once(' ').unwrap().0.parse().unwrap();
            assert!(central(advised, Some(people)).is_empty(), "{warning}");
            assert!(advised > 0.04 / people as f64 && warning.len() < 200, "{warning}");
        }
    }

    #[test]
    fn an_epsilon_above_ten_protects_little() {
        let [warning] = &warnings(Notion::LocalDp(LocalDp::pure(20.0)), None)[..] else {
            panic!("no warning")
        };
        assert_eq!(
            warning,
            "ε = 20 is above 10: a release may be e^20 times as likely for one record as for another, which \
             protects little"
        );
        assert!(warnings(Notion::LocalDp(LocalDp::pure(10.0)), None).is_empty());
        // Without privacy there is no warning, because the card states it.
        assert!(warnings(Notion::LocalDp(LocalDp::pure(f64::INFINITY)), None).is_empty());
    }

    #[test]
    fn a_number_is_no_formula() {
        for cell in
            ["=1+1", "@SUM(1)", "+A1", "-A1+2", "=cmd|' /C calc'!A0", "\t=1", "\r1", "--1", "+49 30 a"]
        {
            assert!(is_formula(cell), "{cell:?}");
        }
        for cell in ["-5", "+1", "-1.5e3", "-1,5", "+5 %", "-", "+", "", "a=b", "1-2", "-inf"] {
            assert!(!is_formula(cell), "{cell:?}");
        }
    }

    #[test]
    fn formulas_are_named_by_column_and_level() {
        let schema = r#"
            column = [
                { name = "=size", kind = "real", lower = 0.0, upper = 1.0 },
                { name = "step", kind = "ordered", levels = ["-2", "-1", "+1"] },
                { name = "kind", kind = "category", levels = ["-", "@a", "+b", "=c", "d"] },
            ]"#;
        let schema = Schema::from_toml(schema, "schema.toml").unwrap();
        let warning = formulas(&schema).unwrap();
        assert!(
            warning.ends_with(
                r#"column "=size"; column "kind", level "@a"; column "kind", level "+b"; and 1 more"#
            ),
            "{warning}"
        );
        assert_eq!(formulas(&schema.columns_named(&["step"]).unwrap()), None);
    }
}

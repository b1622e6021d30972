//! Schemas drafted from the records of a file, for review by a person who knows what is public.

use crate::kind::{LARGEST_BOUND, parse_date};
use crate::number::{Quantity, SIGNS};
use crate::person::identifies_people;
use crate::sentinel::{Extremes, Sentinels};
use crate::tail::Sizes;
use crate::{Cell, Column, Encoder, Error, Held, Kind, Missing, ReadRows, Result, Schema, Zone};
use jiff::civil::Date;
use scumble_core::{first_duplicate, shown};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;

/// Upper bound on the number of levels of a category. A column with more distinct texts probably holds names,
/// dates or free text.
const MOST_LEVELS: usize = 50;

/// Upper bound on the bytes of a level. Longer texts count as free text.
const LONGEST_LEVEL: usize = 60;

/// Number of distinct texts from which a column counts as free text if most of them occur once.
const FREE_TEXTS: usize = 10;

/// Number of words from which a text that occurs once counts as free text.
const FREE_WORDS: usize = 4;

/// Upper bound on the bytes of a mark of a missing number.
const LONGEST_MARK: usize = 20;

/// Upper bound on the distinct non-numeric texts that count as marks of missing cells in a numeric column.
const MOST_STRAYS: usize = 3;

/// Count of distinct numbers in a column after which the search for a repeated number stops. A column without
/// a repeated number until then may hold record ids.
const MOST_NAMES: usize = 10_000;

/// Largest absolute value of a bound of an integer column. Floating point represents all whole numbers up to
/// it exactly.
const MOST_WHOLE: f64 = 9e15;

/// Reason to leave out a column with a single value.
const ONE_VALUE: &str = "it has one value";

/// Reason to leave out a column of instants whose days depend on an unknown zone.
const UNDECIDED: &str = "its times are instants without a known time zone, so their days cannot be decided";

/// Texts that mark a missing number.
pub(crate) const MISSING: [&str; 9] = ["", "?", "-", "NA", "N/A", "NaN", "nan", "NULL", "null"];

/// Text that a typed file returns for a cell whose bytes are not UTF-8 text, if its cells are only inspected.
pub const NO_TEXT: &str = "\u{fffd}";

/// Level that replaces empty cells.
const EMPTY: &str = "(empty)";

/// Drafts a schema of a file, as TOML with remarks for the reader.
///
/// - Numbers get bounds around the observed range, rounded outward, and a percent or currency sign as unit.
/// - Dates get as bounds the first day of the first observed year and the last day of the last observed year.
/// - A column of texts, or of numbers with two distinct values, gets the observed levels.
/// - A column is left out if it has one value, numbers the rows consecutively, holds free text, or cannot be
///   read. Its values do not appear in the draft.
/// - Texts are free text if more than 50 are distinct, if one is longer than 60 bytes, or if most occur once.
/// - A remark names repeated numbers far outside the others, which may mark missing cells.
/// - Another remark names the fields for a long tail, many zeros, or many missing cells.
///
/// The draft is taken from the records, so it discloses something about them. It is therefore marked as a
/// draft. A draft suffices to compare mechanisms, but no mechanism can be saved with it
/// ([`Schema::settled`]).
///
/// ```
/// use scumble_records::{Schema, csv, draft};
///
/// let wines = csv::Rows::new(&b"id,alcohol,quality\n1,9.41,bad\n2,14.3,good\n3,11,bad\n"[..], "wines.csv")?;
/// let text = draft(wines)?;
/// assert!(text.contains("\"id\" is left out: it counts the rows"));
/// let schema = Schema::from_toml(&text, "wines.toml")?;
/// assert_eq!(schema.columns()[0].kind.to_string().trim(), "from 9.4 to 14.4");
/// assert_eq!(schema.columns()[1].kind.to_string(), "one of bad, good");
/// assert!(schema.settled().is_err());
/// # Ok::<(), scumble_records::Error>(())
/// ```
///
/// # Errors
/// Any error of `rows`; [`Error::DuplicateColumn`] if the header contains a name twice;
/// [`Error::Empty`](scumble_core::Error::Empty) if there are no rows; [`Error::Schema`] if every column is
/// left out.
pub fn draft(mut rows: impl ReadRows) -> Result<String> {
    let (file, header) = (rows.source().to_owned(), rows.header().to_vec());
    let named = header.iter().filter(|name| !name.is_empty()).count();
    if named <= 1 && header.len() > named {
        return Err(Error::Unreadable {
            problem: format!(
                "its first row names {named} of {} columns, so it is no header; delete the lines above the \
                 header",
                header.len()
            ),
            file,
        });
    }
    if let Some(column) = first_duplicate(&header) {
        return Err(Error::DuplicateColumn { file, column: column.clone() });
    }
    let unsupported: Vec<Option<String>> = (0..header.len()).map(|place| rows.unsupported(place)).collect();
    let read: Vec<usize> = (0..header.len()).filter(|&place| unsupported[place].is_none()).collect();
    let encoder = Encoder::for_any_cells(&header, &read, &file)?;
    let mut seen: Vec<Seen> = header.iter().map(|_| Seen::default()).collect();
    while let Some(some) = rows.next_rows(&encoder, 256)? {
        for (cell, &place) in some.cells().zip(read.iter().cycle()) {
            seen[place].add(cell);
        }
    }
    if seen.iter().all(|seen| seen.cells == 0) {
        return Err(Error::empty(file));
    }
    let mut text = format!(
        "# Drafted from the records of {}. Bounds and levels taken from private records disclose\n\
         # information about them. A comparison may use them. Before a release, replace them by what is\n\
         # publicly known of each column, and delete the next line.\n\
         draft = true\n",
        shown(&file)
    );
    let (mut columns, mut ids) = (0, 0);
    for (place, (name, seen)) in header.iter().zip(&seen).enumerate() {
        if ids == 0 && seen.may_name_people(name) {
            ids += 1;
            let _ =
                write!(text, "\n# {ID}\n[[column]]\nname = {}\nkind = \"id\"\n", toml::Value::from(&**name));
            continue;
        }
        let column = match (&unsupported[place], rows.held(place)) {
            (Some(what), _) => Err(format!("it holds {what}, which are not supported")),
            (None, Some(Held::Time { zone: Zone::Unknown, .. })) => Err(UNDECIDED.to_owned()),
            (None, _) => seen.column(name),
        };
        // Writing to a string does not fail.
        let _ = match column {
            Ok((column, remarks)) => {
                columns += 1;
                let remarks: String = remarks.iter().map(|remark| format!("# {remark}\n")).collect();
                write!(text, "\n{remarks}[[column]]\n{}", to_toml(&column))
            }
            Err(reason) => write!(text, "\n# {name:?}{LEFT_OUT}{reason}.\n"),
        };
    }
    if columns == 0 {
        let problem = format!("no column holds numbers, or between 2 and {MOST_LEVELS} different texts");
        return Err(Error::Schema { file, problem });
    }
    Schema::from_toml(&text, &file)?;
    Ok(text)
}

/// Remark on a column of ids.
const ID: &str = "If equal cells belong to one person, one record of each person counts, or \
                  records_per_person of them; the column is not released. Otherwise, delete the column.";

/// Words between the name of a column that a draft leaves out and the reason.
const LEFT_OUT: &str = " is left out: ";

/// Words between the name of a column and its numbers that may mark missing cells.
const FAR_OUTSIDE: &str = " has repeated numbers far outside the others: ";

/// Remarks of a draft about single columns: the reason to leave a column out, or numbers that may mark
/// missing cells. Each begins with the name of the column.
pub fn remarks(draft: &str) -> impl Iterator<Item = &str> {
    let remarks = draft.lines().filter_map(|line| line.strip_prefix("# "));
    let is_remark = |remark: &&str| remark.contains(LEFT_OUT) || remark.contains(FAR_OUTSIDE);
    remarks.filter(|remark| remark.starts_with('"')).filter(is_remark)
}

/// Summary of a column's cells.
#[derive(Default)]
struct Seen {
    cells: usize,
    /// Count of cells that hold a number of absolute value at most [`LARGEST_BOUND`].
    numbers: usize,
    least: f64,
    most: f64,
    /// The number added last. `is_broken` is true if a number was not one more than the number before it.
    last: Option<f64>,
    is_broken: bool,
    is_whole: bool,
    /// Bits of the first [`MOST_NAMES`] distinct numbers. `has_repeats` is true if one of them occurred
    /// twice.
    first: HashSet<u64>,
    has_repeats: bool,
    /// Counts of distinct non-empty cells, as text. At most 51 are kept, one more than the largest number of
    /// levels.
    levels: BTreeMap<String, usize>,
    /// Distinct cells that mark a missing number.
    absent: BTreeSet<String>,
    /// Distinct cells that are neither numbers nor marks of a missing number.
    strays: BTreeSet<String>,
    has_empty: bool,
    dates: Dates,
    extremes: Extremes,
    sizes: Sizes,
    /// Distinct [`SIGNS`] in cells with a number, at most two.
    units: BTreeSet<String>,
}

/// Date formats that a draft recognises.
const DATE_FORMATS: [&str; 4] = ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y"];

/// First and last date for each format that parses all cells so far. `None` before the first cell.
#[derive(Default)]
struct Dates(Option<Vec<(&'static str, Date, Date)>>);

impl Dates {
    fn add(&mut self, text: &str) {
        match &mut self.0 {
            None => {
                let read = |format| parse_date(text, format).map(|date| (format, date, date));
                self.0 = Some(DATE_FORMATS.into_iter().filter_map(read).collect());
            }
            Some(formats) => formats.retain_mut(|(format, first, last)| {
                let Some(date) = parse_date(text, format) else { return false };
                (*first, *last) = (date.min(*first), date.max(*last));
                true
            }),
        }
    }

    /// Returns a date kind from the first day of the first year to the last day of the last year. If several
    /// date formats parse all cells, also returns a remark that the format is a guess.
    fn kind(&self) -> Option<(Kind, Option<String>)> {
        let formats = self.0.as_deref().unwrap_or_default();
        let (format, first, last) = formats.first().filter(|(_, first, last)| first < last)?;
        let (lower, upper) = (first.first_of_year(), last.last_of_year());
        let remark = (formats.len() > 1).then(|| {
            format!("Days and months may be exchanged: check whether format = {format:?} is right.")
        });
        Some((Kind::Date { lower, upper, format: (*format).into() }, remark))
    }
}

impl Seen {
    fn add(&mut self, cell: Cell) {
        self.cells += 1;
        let text = cell.text();
        if !MISSING.contains(&&*text) {
            self.dates.add(&text);
        }
        let is_read = |unit: &str, number: f64| {
            number.abs() <= LARGEST_BOUND && (unit.is_empty() || SIGNS.contains(&unit))
        };
        match Quantity::from_cell(cell).filter(|&Quantity { unit, number }| is_read(unit, number)) {
            Some(Quantity { number, unit }) => {
                self.add_number(number);
                self.extremes.add(number, &text);
                self.sizes.add(number);
                if !unit.is_empty() {
                    keep(&mut self.units, unit, 2);
                }
            }
            None if MISSING.contains(&&*text) => {
                self.has_empty |= text.is_empty();
                keep(&mut self.absent, &text, MISSING.len());
            }
            None => keep(&mut self.strays, &text, MOST_STRAYS + 1),
        }
        if !text.is_empty() {
            let level = if text.len() > LONGEST_LEVEL { TOO_LONG.into() } else { text.into_owned() };
            if self.levels.len() <= MOST_LEVELS || self.levels.contains_key(&level) {
                *self.levels.entry(level).or_insert(0) += 1;
            }
        }
    }

    fn add_number(&mut self, number: f64) {
        if self.numbers == 0 {
            (self.least, self.most, self.is_whole) = (number, number, true);
        }
        self.is_broken |= self.last.is_some_and(|last| number != last + 1.0);
        self.last = Some(number);
        self.numbers += 1;
        (self.least, self.most) = (self.least.min(number), self.most.max(number));
        self.is_whole &= number.fract() == 0.0;
        if self.first.len() < MOST_NAMES {
            self.has_repeats |= !self.first.insert(number.to_bits());
        }
    }

    fn is_of_few_levels(&self) -> bool {
        self.levels.len() <= MOST_LEVELS && !self.levels.contains_key(TOO_LONG)
    }

    /// Returns whether the cells that are no numbers may mark missing numbers: few short texts.
    fn are_strays_marks(&self) -> bool {
        self.strays.len() <= MOST_STRAYS && self.strays.iter().all(|text| text.len() <= LONGEST_MARK)
    }

    /// Returns whether texts that occur once fill most cells, or are most of many texts, or have many words.
    fn is_free_text(&self) -> bool {
        let single = || self.levels.iter().filter(|(_, count)| **count == 1);
        let (once, cells) = (single().count(), self.levels.values().sum::<usize>());
        2 * once > cells
            || (self.levels.len() >= FREE_TEXTS && 2 * once > self.levels.len())
            || single().any(|(text, _)| text.split_whitespace().count() >= FREE_WORDS)
    }

    /// Drafts the column `name`, with remarks for the reader.
    ///
    /// # Errors
    /// The reason to leave the column out.
    fn column(&self, name: &str) -> std::result::Result<(Column, Vec<String>), String> {
        let (kind, remark) = self.kind()?;
        let (missing, missing_cells) = self.missing(&kind);
        let column = Column { missing, missing_cells, ..Column::new(name, kind) };
        column.check_text()?;
        let shape = self.remark_on_sentinels(&column).or_else(|| self.remark_on_shape(&column));
        Ok((column, remark.into_iter().chain(shape).collect()))
    }

    /// Drafts the column's kind, with a remark for the reader if there is one.
    ///
    /// # Errors
    /// The reason to leave the column out.
    fn kind(&self) -> std::result::Result<(Kind, Option<String>), String> {
        let is_of_numbers = self.numbers > 0
            && (self.strays.is_empty() || (self.are_strays_marks() && !self.is_of_few_levels()));
        if self.levels.contains_key(NO_TEXT) {
            return Err("it holds bytes that are not UTF-8 text".into());
        }
        let levels = self.levels.len() + usize::from(self.has_empty && !is_of_numbers);
        match levels {
            0 => return Err("it is empty".into()),
            1 => return Err(ONE_VALUE.into()),
            _ => {}
        }
        if is_of_numbers && (self.levels.len() - self.absent_levels() != 2) {
            if self.numbers == self.cells && self.is_whole && !self.is_broken {
                return Err("it counts the rows".into());
            }
            if self.least == self.most {
                return Err(ONE_VALUE.into());
            }
            let (lower, upper) = bounds(self.least, self.most);
            if self.units.len() > 1 {
                return Err(format!(
                    "its numbers have several units, such as {}",
                    shown(&self.unit(" and "))
                ));
            }
            let unit = self.unit("");
            let kind = match self.is_whole && lower.abs().max(upper.abs()) <= MOST_WHOLE {
                true => Kind::Integer { lower: lower as i64, upper: upper as i64, unit },
                false => Kind::Real { lower, upper, unit },
            };
            return Ok((kind, self.remark()));
        }
        if let Some(dated) = self.dates.kind().filter(|_| self.numbers == 0) {
            return Ok(dated);
        }
        if self.levels.keys().map(|level| level.to_ascii_lowercase()).eq(["false", "true"]) && !self.has_empty
        {
            return Ok((Kind::Boolean {}, None));
        }
        if !self.is_of_few_levels() {
            return Err(format!(
                "it has more than {MOST_LEVELS} different texts, or long texts, like names, dates and free \
                 text"
            ));
        }
        if !self.strays.is_empty() && self.is_free_text() {
            return Err("most of its texts occur once, as names and free text do".into());
        }
        let mut levels: Vec<String> = self.levels.keys().cloned().collect();
        if self.has_empty {
            levels.push(EMPTY.into());
        }
        Ok((Kind::Category { levels }, None))
    }

    /// Returns whether the column may have the ids of people, by its name and by its many values.
    fn may_name_people(&self, name: &str) -> bool {
        let counts_rows = self.is_whole && !self.is_broken && self.numbers == self.cells;
        identifies_people(name) && !counts_rows && !self.is_of_few_levels()
    }

    /// Remark about whole numbers that may be ids or classes.
    fn remark(&self) -> Option<String> {
        if !self.is_whole {
            return None;
        }
        if !self.has_repeats && self.numbers > MOST_LEVELS {
            return Some(
                "No number occurs twice: if the numbers identify the records, delete the column.".into(),
            );
        }
        self.is_of_few_levels().then(|| {
            let mut levels: Vec<&String> = self.levels.keys().collect();
            let number = |level: &str| {
                Quantity::from_cell(Cell::Text(level)).map_or(f64::INFINITY, |level| level.number)
            };
            levels.sort_by(|one, other| number(one).total_cmp(&number(other)));
            format!(
                "Whole numbers with {} different values: if they name classes, use kind = \"category\" and \
                 levels = {levels:?}.",
                levels.len()
            )
        })
    }

    /// Remark about numbers that may mark missing cells.
    fn remark_on_sentinels(&self, column: &Column) -> Option<String> {
        if !matches!(column.kind, Kind::Real { .. } | Kind::Integer { .. }) {
            return None;
        }
        let Sentinels { texts, least, most } = self.extremes.sentinels()?;
        let (lower, upper) = bounds(least, most);
        let empty =
            if column.missing.is_some() && column.missing_cells.is_empty() { vec![""] } else { vec![] };
        let cells = column.missing_cells.iter().chain(&texts).map(String::as_str);
        let cells: Vec<&str> = empty.into_iter().chain(cells).collect();
        let missing = if self.is_whole { lower.midpoint(upper).floor() } else { lower.midpoint(upper) };
        Some(format!(
            "{:?}{FAR_OUTSIDE}{}. If they mark missing cells, use lower = {lower}, upper = {upper}, \
             missing = {missing} and missing_cells = {cells:?}.",
            column.name,
            texts.join(", "),
        ))
    }

    /// Remark about fields for long tails, zeros and missing cells.
    fn remark_on_shape(&self, column: &Column) -> Option<String> {
        let upper = match column.kind {
            Kind::Real { upper, .. } => upper,
            Kind::Integer { upper, .. } if !self.is_of_few_levels() => upper as f64,
            _ => return None,
        };
        let missing = if column.missing.is_some() { self.cells - self.numbers } else { 0 };
        let fields: Vec<String> = self
            .sizes
            .fields(upper, missing, self.cells)
            .into_iter()
            .map(|(field, reason)| format!("{field} ({reason})"))
            .collect();
        (!fields.is_empty()).then(|| format!("Consider {}.", fields.join(", ")))
    }

    /// Units in the cells, with `between` them.
    fn unit(&self, between: &str) -> String {
        self.units.iter().map(String::as_str).collect::<Vec<_>>().join(between)
    }

    /// Number of distinct non-empty cells that mark a missing number.
    fn absent_levels(&self) -> usize {
        self.absent.iter().filter(|text| !text.is_empty()).count()
    }

    /// Returns the replacement for missing cells and the texts that mark them. The list is empty if only an
    /// empty cell marks a missing value.
    fn missing(&self, kind: &Kind) -> (Option<Missing>, Vec<String>) {
        let (cells, middle): (Vec<String>, _) = match kind {
            Kind::Real { lower, upper, .. } => {
                (self.absent.union(&self.strays).cloned().collect(), Missing::Number((lower + upper) / 2.0))
            }
            Kind::Integer { lower, upper, .. } => {
                let middle = Missing::Number(lower.midpoint(*upper) as f64);
                (self.absent.union(&self.strays).cloned().collect(), middle)
            }
            Kind::Date { lower, format, .. } => {
                let first = Cell::Date { date: *lower, format };
                (self.absent.iter().cloned().collect(), Missing::Level(first.text().into_owned()))
            }
            Kind::Boolean {} | Kind::Ordered { .. } | Kind::Category { .. } => {
                return (self.has_empty.then(|| Missing::Level(EMPTY.into())), vec![]);
            }
        };
        // An empty cell is missing by default if no other text marks a missing cell.
        ((!cells.is_empty()).then_some(middle), if cells == [""] { vec![] } else { cells })
    }
}

/// Placeholder for all texts too long for a level. It equals no cell, because cells are read without
/// surrounding blanks.
const TOO_LONG: &str = "\n";

/// Adds a text unless the set already has `most` texts.
fn keep(texts: &mut BTreeSet<String>, text: &str, most: usize) {
    if texts.len() < most && !texts.contains(text) {
        texts.insert(text.to_owned());
    }
}

/// Bounds around `least` and `most`, rounded outward to multiples of a unit. The unit is between a fiftieth
/// and a fifth of `most` − `least`.
fn bounds(least: f64, most: f64) -> (f64, f64) {
    let exponent = (most - least).log10().floor() as i32 - 1;
    // Parsing decimal text avoids errors of binary fractions.
    let rounded = |units: f64| format!("{:.0}e{exponent}", 2.0 * units).parse().unwrap_or(f64::NAN);
    let unit = 2.0 * 10f64.powi(exponent);
    let (lower, upper): (f64, f64) = (rounded((least / unit).floor()), rounded((most / unit).ceil()));
    let fits = lower <= least && upper >= most && lower >= -LARGEST_BOUND && upper <= LARGEST_BOUND;
    if fits { (lower + 0.0, upper + 0.0) } else { (least, most) }
}

/// Serializes a column as in a schema file.
fn to_toml(column: &Column) -> String {
    toml::to_string(column).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OutOfBounds, RawRows, Reader, csv};
    use proptest::prelude::*;

    fn drafted(text: &str) -> Result<String> {
        draft(csv::Rows::new(text.as_bytes(), "data.csv")?)
    }

    fn rows(header: &str, cells: impl IntoIterator<Item = String>) -> String {
        cells.into_iter().fold(format!("{header}\n"), |text, row| text + &row + "\n")
    }

    /// Rows of one cell with the same text, as a dictionary of a column file gives it.
    struct OneText {
        header: Vec<String>,
        text: String,
        left: usize,
    }

    impl ReadRows for OneText {
        fn source(&self) -> &str {
            "p.parquet"
        }

        fn header(&self) -> &[String] {
            &self.header
        }

        fn next_rows(&mut self, encoder: &Encoder, most: usize) -> Result<Option<RawRows>> {
            let mut rows = RawRows::starting_at(1);
            for _ in 0..most.min(self.left) {
                rows.push(encoder, Cell::Text(&self.text))?;
            }
            assert!(rows.bytes() < 300_000, "{} bytes are held for {} rows", rows.bytes(), rows.len(encoder));
            self.left -= rows.len(encoder);
            Ok((!rows.is_empty()).then_some(rows))
        }

        fn bytes(&self) -> u64 {
            0
        }
    }

    #[test]
    fn a_long_text_that_a_file_holds_once_is_not_held_for_every_row() {
        let rows = OneText { header: vec!["c".into()], text: "å".repeat(500_000), left: 3000 };
        let refused = draft(rows).unwrap_err().to_string();
        assert!(refused.starts_with("p.parquet: no column holds numbers"), "{refused}");
    }

    #[test]
    fn a_draft_reads_the_file_it_was_made_of_and_nothing_is_clipped() {
        let text = rows(
            "id,age,smokes,city,income,rated,note,group,same,card",
            (0..300).map(|at| {
                let income = if at % 7 == 0 { "NA".into() } else { format!("{}", at as f64 * 13.7 - 50.0) };
                let city = ["Oslo", "Rome", "", "\"New, York\""][at % 4];
                let note = if at % 2 == 0 { format!("note {at}") } else { String::new() };
                let (age, rated) = (17 + at % 74, 3 + at % 6);
                let (smokes, group, card) = (at % 2, ["a", "b\"c"][at % 2], 1009 * at % 10_007);
                format!("{},{age},{smokes},{city},{income},{rated},{note},{group},x,{card}", at + 5)
            }),
        );
        let schema = drafted(&text).unwrap();
        for left_out in [
            "\"id\" is left out: it counts the rows",
            "\"note\" is left out: it has more than 50 different texts",
            "\"same\" is left out: it has one value",
            "# Whole numbers with 6 different values: if they name classes, use kind = \"category\" and \
             levels = [\"3\", \"4\"",
            "# No number occurs twice: if the numbers identify the records, delete the \
             column.\n[[column]]\nname = \"card\"",
        ] {
            assert!(schema.contains(left_out), "{left_out} in\n{schema}");
        }
        assert!(!schema.contains("note 2"), "no free text is shown");
        let schema = Schema::from_toml(&schema, "draft.toml").unwrap();
        let kinds: Vec<String> =
            schema.columns().iter().map(|column| format!("{} {}", column.name, column.kind)).collect();
        assert_eq!(
            kinds.iter().map(|kind| kind.trim()).collect::<Vec<_>>(),
            [
                "age from 16 to 90, whole",
                "smokes one of 0, 1",
                "city one of New, York, Oslo, Rome, (empty)",
                "income from -200 to 4200",
                "rated from 3 to 8, whole",
                "group one of a, b\"c",
                "card from 0 to 10000, whole",
            ]
        );
        assert_eq!(schema.columns()[3].missing, Some(Missing::Number(2000.0)));
        let file = csv::Rows::new(text.as_bytes(), "data.csv").unwrap();
        let loaded =
            Reader::new(file, &schema, Some("group"), OutOfBounds::Reject).unwrap().read_all().unwrap();
        assert_eq!((loaded.table.len(), loaded.clipped.len()), (300, 0));
    }

    /// A draft reads prices and shares as numbers and takes their units, and mixed currencies as nothing.
    #[test]
    fn signs_and_separators_belong_to_numbers() {
        let cells = (1..99).map(|at| 37 * at % 99).map(|at| {
            format!(
                "\"${at},000.00\",{at}.5 %,{at} 000,{}",
                if at % 2 == 0 { format!("€{at}") } else { format!("${at}") }
            )
        });
        let text = rows("price,share,people,mixed", cells);
        let draft = drafted(&text).unwrap();
        assert!(
            draft.contains("# \"mixed\" is left out: its numbers have several units, such as $ and €."),
            "{draft}"
        );
        let schema = Schema::from_toml(&draft, "draft.toml").unwrap();
        let kinds: Vec<String> = schema.columns().iter().map(|column| column.kind.to_string()).collect();
        assert_eq!(kinds, ["from 0 to 98000 $, whole", "from 0 to 100 %", "from 0 to 98000, whole"]);
        let file = csv::Rows::new(text.as_bytes(), "data.csv").unwrap();
        let loaded = Reader::new(file, &schema, None, OutOfBounds::Reject).unwrap().read_all().unwrap();
        assert_eq!(loaded.table.records().row(0).to_vec(), [37.0 / 98.0, 0.375, 37.0 / 98.0]);
    }

    #[test]
    fn sentinels_are_pointed_out_and_stay_within_the_bounds() {
        let cells = (0..300).map(|at| {
            let age = if at % 20 == 0 { "999".into() } else { (18 + at * 37 % 73).to_string() };
            let loan = match at % 50 {
                0 => "1000000".into(),
                1 => "NA".into(),
                _ => format!("{}.5", at * 31 % 300),
            };
            format!("{age},{loan}")
        });
        let text = rows("age,loan", cells);
        let draft = drafted(&text).unwrap();
        let found: Vec<&str> = remarks(&draft).collect();
        assert_eq!(
            found,
            [
                "\"age\" has repeated numbers far outside the others: 999. If they mark missing cells, \
                 use lower = 18, upper = 90, missing = 54 and missing_cells = [\"999\"].",
                "\"loan\" has repeated numbers far outside the others: 1000000. If they mark missing cells, \
                 use lower = 0, upper = 300, missing = 150 and missing_cells = [\"NA\", \"1000000\"].",
            ]
        );
        let schema = Schema::from_toml(&draft, "draft.toml").unwrap();
        assert_eq!(schema.columns()[0].kind.to_string(), "from 0 to 1000, whole");
        let advised = "[[column]]\nname = \"age\"\nkind = \"integer\"\nlower = 18\nupper = 90\nmissing = \
                       54\nmissing_cells = [\"999\"]\n";
        let schema = Schema::from_toml(advised, "schema.toml").unwrap();
        let file = csv::Rows::new(text.as_bytes(), "data.csv").unwrap();
        let loaded = Reader::new(file, &schema, None, OutOfBounds::Reject).unwrap().read_all().unwrap();
        assert_eq!(loaded.table.records()[[0, 0]], 0.5);
    }

    /// Comments, names and addresses are not copied into a draft, however few rows a file has.
    #[test]
    fn free_text_is_no_level() {
        let cells = (0..40).map(|at| {
            let comment =
                if at < 3 { "as before".into() } else { format!("felt {} after dose {at}", at * 7) };
            let note = match at {
                7 => "asked to be removed",
                0..20 => "ok",
                _ => "",
            };
            let answer = ["strongly agree", "neither agree nor disagree"][at % 2];
            let mail = format!("person{at}@example.org");
            let town = ["Oslo", "Rome", "Bern", "Lima"][at % 4];
            format!(
                "{comment},{note},{mail},{town},{answer},{}",
                ["long ".repeat(20), "short".into()][at % 2]
            )
        });
        let draft = drafted(&rows("comment,note,mail,town,answer,text", cells)).unwrap();
        let schema = Schema::from_toml(&draft, "draft.toml").unwrap();
        let names: Vec<&str> = schema.columns().iter().map(|column| &*column.name).collect();
        assert_eq!(names, ["town", "answer"]);
        for private in ["felt", "removed", "@", "long long"] {
            assert!(!draft.contains(private), "{private} in\n{draft}");
        }
        assert_eq!(remarks(&draft).count(), 4);
        // One comment among numbers is no mark of a missing number.
        let cells = (0..99)
            .map(|at| if at == 50 { "see the letter of his wife".into() } else { format!("{}", at * at) });
        assert!(drafted(&rows("x", cells)).is_err());
    }

    #[test]
    fn numbers_may_be_missing_in_words() {
        let text =
            rows("x", (0..99).map(|at| if at == 50 { "unknown".into() } else { format!("{}", at * at) }));
        let schema = Schema::from_toml(&drafted(&text).unwrap(), "draft.toml").unwrap();
        assert_eq!(schema.columns()[0].missing_cells, ["unknown"]);
    }

    #[test]
    fn what_cannot_be_drafted_is_refused_in_one_line() {
        let many = rows("name", (0..99).map(|at| format!("person {at}")));
        for (text, expected) in [
            ("", "data.csv holds no records"),
            ("a,b\n", "data.csv holds no records"),
            ("a,a\n1,2\n", "data.csv: the column \"a\" occurs twice"),
            ("a,b\n1\n", "data.csv, row 1: the row has 1 cells, and the header has 2"),
            ("a\n1\n1\n", "data.csv: no column holds numbers, or between 2 and 50 different texts"),
            (&many, "data.csv: no column holds numbers"),
        ] {
            let message = drafted(text).unwrap_err().to_string();
            assert!(message.starts_with(expected) && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn a_schema_that_is_a_draft_is_not_settled() {
        let schema = Schema::from_toml(&drafted("x\n1.5\n7\n8\n").unwrap(), "mine.toml").unwrap();
        assert_eq!(
            schema.clone().settled().unwrap_err().to_string(),
            "mine.toml: it is a draft, and bounds taken from the records give no guarantee; enter what is \
             publicly known of the columns, and delete `draft = true`"
        );
        assert!(schema.columns_named(&["x"]).unwrap().settled().is_err(), "a part of a draft is one too");
    }

    /// A cell as found in files.
    fn cell() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => (-5i32..50).prop_map(|number| number.to_string()),
            4 => (-1e6..1e6f64).prop_map(|number| number.to_string()),
            2 => "[a-c]",
            1 => prop_oneof![
                Just(""),
                Just("NA"),
                Just("?"),
                Just("nan"),
                Just("inf"),
                Just("1e300"),
                Just(" x "),
            ]
            .prop_map(str::to_owned),
            1 => "[ -+\\--~]{0,6}",
        ]
    }

    proptest! {
        #[test]
        fn whatever_a_file_holds_its_draft_reads_it(
            columns in prop::collection::vec(prop::collection::vec(cell(), 12), 1..5), same: bool,
        ) {
            // With `same`, all cells of a column repeat the first three.
            let cell = |column: &Vec<String>, row: usize| column[if same { row % 3 } else { row }].clone();
            let mut writer = ::csv::Writer::from_writer(vec![]);
            let header: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
            writer.write_record(&header).unwrap();
            (0..12)
                .for_each(|row| writer.write_record(columns.iter().map(|column| cell(column, row))).unwrap());
            let file = writer.into_inner().unwrap();
            let rows = || csv::Rows::new(&file[..], "data.csv").unwrap();
            match draft(rows()) {
                Ok(text) => {
                    let schema = Schema::from_toml(&text, "draft.toml").unwrap();
                    let loaded = Reader::new(rows(), &schema, None, OutOfBounds::Reject).unwrap().read_all();
                    let loaded = loaded.map_err(|error| TestCaseError::fail(format!("{error} by\n{text}")))?;
                    prop_assert_eq!(loaded.clipped.len(), 0);
                }
                Err(error) => prop_assert!(error.to_string().starts_with("data.csv"), "{error}"),
            }
        }

        #[test]
        fn bounds_are_around_the_numbers_and_not_far(
            a in prop_oneof![-1e3..1e3f64, -1e99..1e99f64, -1e-9..1e-9f64],
            width in prop_oneof![1e-3..1e3f64, 1e-300..1e90f64],
        ) {
            let (least, most) = (a, a + width);
            prop_assume!(least < most);
            let (lower, upper) = bounds(least, most);
            prop_assert!(lower <= least && most <= upper, "[{lower}, {upper}] around [{least}, {most}]");
            prop_assert!(upper - lower <= 1.5 * (most - least), "[{lower}, {upper}] around [{least}, \
                {most}]");
        }
    }

    #[test]
    fn a_title_above_the_header_is_no_header() {
        for (text, named, columns) in
            [("Report 2024,\nage,city\n30,Rome\n", 1, 2), (",,\na,b,c\n1,2,3\n", 0, 3)]
        {
            let refused = drafted(text).unwrap_err().to_string();
            let expected =
                format!("data.csv: its first row names {named} of {columns} columns, so it is no header");
            assert!(refused.starts_with(&expected), "{refused}");
        }
    }
}

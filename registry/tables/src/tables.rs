//! Files of noisy tables.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Name of the file format.
const FORMAT: &str = "scumble-tables-1";

/// Largest absolute value of a count, and of the deviation of its noise. [`FARTHEST`] is that of an end of a
/// range. With these bounds, no estimate overflows.
const LARGEST: f64 = 1e18;
const FARTHEST: f64 = 1e100;

/// Noisy tables of one release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "File", into = "File")]
pub struct NoisyTables {
    people: Option<u64>,
    tables: Vec<NoisyTable>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    /// Number of people, if it is public.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    people: Option<u64>,
    tables: Vec<NoisyTable>,
}

/// Noisy counts of people by the levels of a few columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoisyTable {
    /// Columns of the table.
    pub columns: Vec<TableColumn>,
    /// A count for each combination of levels, with independent noise; the level of the last column changes
    /// fastest.
    pub counts: Vec<f64>,
    /// Standard deviation of the noise of each count.
    pub deviation: f64,
    /// Fraction of the budget that the table spends alone: of μ², for μ-Gaussian differential privacy.
    pub share: f64,
    /// True if the sums over the [ends](Level::End) of the first column have the same noise as the counts of
    /// another table.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats_groups: bool,
}

/// Column of a table, with its levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableColumn {
    /// Name of the column.
    pub name: String,
    /// Unit of its numbers, empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Levels of the column. Each value of a record belongs to one of them.
    pub levels: Vec<Level>,
}

/// Level of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Level {
    /// Numbers between two ends. Of whole numbers, both ends belong to the level.
    Range {
        /// Lower end.
        from: f64,
        /// Upper end.
        to: f64,
    },
    /// A bound of the column, or the middle between both. A table has the two or all three as levels, in
    /// ascending order. A record with a number at the place x between the bounds, from 0 to 1, counts at two
    /// by 1 − x and x, and at three by (1 − x)², 2x(1 − x) and x². The counts at two have the mean of the
    /// numbers, and those at three also their variance.
    End {
        /// The bound, or the middle.
        end: f64,
    },
    /// Several ranges of numbers that are counted together, each with its two ends.
    Ranges(Vec<[f64; 2]>),
    /// One label, or several that are counted together.
    Labels(Vec<String>),
}

impl Level {
    /// The level in words: its labels, or its two ends.
    pub fn name(&self) -> String {
        match self {
            Self::Range { from, to } if from == to => from.to_string(),
            Self::Range { from, to } => format!("{from} to {to}"),
            Self::Ranges(ranges) => {
                let ranges = ranges.iter().map(|[from, to]| format!("{from} to {to}"));
                ranges.collect::<Vec<_>>().join(" or ")
            }
            Self::End { end } => format!("end {end}"),
            Self::Labels(labels) => labels.join(" or "),
        }
    }

    /// The least number of the level, the mean of numbers that are spread evenly in it, and the largest
    /// number.
    pub(crate) fn numbers(&self) -> Option<[f64; 3]> {
        let middle = |[from, to]: &[f64; 2]| from + (to - from) / 2.0;
        match self {
            Self::Range { from, to } => Some([*from, middle(&[*from, *to]), *to]),
            Self::Ranges(ranges) => {
                let least = ranges.iter().map(|range| range[0]).fold(f64::INFINITY, f64::min);
                let most = ranges.iter().map(|range| range[1]).fold(f64::NEG_INFINITY, f64::max);
                let width = |[from, to]: &[f64; 2]| to - from;
                let all: f64 = ranges.iter().map(width).sum();
                let weighted: f64 = ranges.iter().map(|range| width(range) * middle(range)).sum();
                let mean = || ranges.iter().map(middle).sum::<f64>() / ranges.len() as f64;
                Some([least, if all > 0.0 { weighted / all } else { mean() }, most])
            }
            Self::End { end } => Some([*end; 3]),
            Self::Labels(_) => None,
        }
    }

    /// Returns whether the level is a bound, between which a record is divided.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::End { .. })
    }

    fn is_whole(&self) -> bool {
        let is_range = |from: f64, to: f64| from.abs() <= FARTHEST && to.abs() <= FARTHEST && from <= to;
        match self {
            Self::Range { from, to } => is_range(*from, *to),
            Self::Ranges(ranges) => {
                !ranges.is_empty() && ranges.iter().all(|[from, to]| is_range(*from, *to))
            }
            Self::End { end } => end.abs() <= FARTHEST,
            Self::Labels(labels) => !labels.is_empty(),
        }
    }
}

impl NoisyTables {
    /// Creates the tables of a release. `people` is the number of people, if it is public.
    ///
    /// # Errors
    /// [`Error::Format`] if a table has no column, a column twice, another number of counts than combinations
    /// of levels, or a number that is not finite or out of range.
    pub fn new(people: Option<u64>, tables: Vec<NoisyTable>) -> Result<Self> {
        if tables.is_empty() {
            return Err(Error::Format { problem: "there is no table".into() });
        }
        for (at, table) in tables.iter().enumerate() {
            let problem = table.misfit().map(|problem| format!("table {}: {problem}", at + 1));
            problem.map_or(Ok(()), |problem| Err(Error::Format { problem }))?;
        }
        Ok(Self { people, tables })
    }

    /// Parses the JSON of a file.
    ///
    /// # Errors
    /// [`Error::Format`] if the text holds no noisy tables.
    pub fn from_json(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|problem| Error::Format { problem: problem.to_string() })
    }

    /// Number of people, if it is public.
    pub fn people(&self) -> Option<u64> {
        self.people
    }

    /// The tables.
    pub fn tables(&self) -> &[NoisyTable] {
        &self.tables
    }

    /// Names of the counted columns, in the order of their first tables.
    pub fn columns(&self) -> Vec<&str> {
        let mut names: Vec<&str> = vec![];
        for column in self.tables.iter().flat_map(|table| &table.columns) {
            if !names.contains(&column.name.as_str()) {
                names.push(&column.name);
            }
        }
        names
    }
}

impl NoisyTable {
    /// Number of levels of each column.
    pub(crate) fn shape(&self) -> Vec<usize> {
        self.columns.iter().map(|column| column.levels.len()).collect()
    }

    /// Place of a column in the table.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    fn misfit(&self) -> Option<String> {
        let cells = self.shape().iter().try_fold(1_usize, |all, levels| all.checked_mul(*levels));
        let is_twice = |(at, column): (usize, &TableColumn)| self.place(&column.name) != Some(at);
        let is_sound = |levels: &[Level]| match levels {
            [Level::End { end: lower }, Level::End { end: upper }] => lower < upper,
            [Level::End { end: lower }, Level::End { end: middle }, Level::End { end: upper }] => {
                lower < upper && (lower + (upper - lower) / 2.0 - middle).abs() <= 1e-9 * (upper - lower)
            }
            levels => !levels.iter().any(Level::is_end),
        };
        let wrong_level =
            |column: &&TableColumn| !column.levels.iter().all(Level::is_whole) || !is_sound(&column.levels);
        if self.columns.is_empty() || cells == Some(0) {
            Some("it has no column, or a column without levels".into())
        } else if let Some((_, column)) = self.columns.iter().enumerate().find(|at| is_twice(*at)) {
            Some(format!("the column {:?} occurs twice", column.name))
        } else if let Some(column) = self.columns.iter().find(wrong_level) {
            Some(format!("a level of {:?} has no label, or ends that are no numbers in order", column.name))
        } else if cells != Some(self.counts.len()) {
            let cells = cells.map_or("too many".into(), |cells| cells.to_string());
            Some(format!("it has {} counts, and its levels make {cells} cells", self.counts.len()))
        } else if let Some(count) = self.counts.iter().find(|count| !(-LARGEST..=LARGEST).contains(*count)) {
            Some(format!("the count {count} is not between -{LARGEST:e} and {LARGEST:e}"))
        } else if !(0.0..=LARGEST).contains(&self.deviation) {
            Some(format!("the deviation {} is not between 0 and {LARGEST:e}", self.deviation))
        } else {
            None
        }
    }
}

impl TryFrom<File> for NoisyTables {
    type Error = Error;

    fn try_from(File { format, people, tables }: File) -> Result<Self> {
        if format != FORMAT {
            return Err(Error::Format { problem: format!("its format is {format:?}, and not {FORMAT:?}") });
        }
        Self::new(people, tables)
    }
}

impl From<NoisyTables> for File {
    fn from(NoisyTables { people, tables }: NoisyTables) -> Self {
        Self { format: FORMAT.into(), people, tables }
    }
}

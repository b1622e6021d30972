//! Decoder from released records to rows of cells, in the schema's columns and units. A *flat* record lists
//! the coordinates of the features, then the coordinates of the target (the column to learn).

use crate::kind::Form;
use crate::scale::{Decoded as Number, Scale};
use crate::{Cell, Column, Encoder, Held, Input, Kind, RawRows, Schema, Stored};
use scumble_core::Places;
use scumble_core::check_width;
use scumble_core::{Layout, Noise, NoiseDistribution, Result, Table, TargetLayout, ValuesIn};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Decoder from flat released records to rows of cells.
///
/// A schema column whose coordinates were all released keeps its name and unit. These columns come first, in
/// the order of the schema. [`Values`] decides which numbers are rounded or clamped. A category becomes the
/// level whose coordinate is largest. All other released coordinates (latents) follow unchanged, under the
/// names that the mechanism gave them.
#[derive(Debug, Clone)]
pub struct Decoder {
    layout: Layout,
    header: Vec<String>,
    cells: Vec<Made>,
    values: Values,
    values_in: ValuesIn,
    /// Input column of each released column; `None` for a released column that has none. The list is empty if
    /// the input is unknown.
    sources: Vec<Option<Source>>,
    /// Digest of the release's design.
    design: Option<String>,
}

/// Metadata key of the design's digest in a Parquet file or an Arrow schema.
pub const DESIGN: &str = "scumble.design";

/// Number of equal parts of a range in [`Decoder::crowded`]: the usual number of bins.
const PARTS: usize = 20;

/// Share of the numbers in one part, above which a column is crowded.
const CROWDED: f64 = 0.9;

/// Input column of a released column.
#[derive(Debug, Clone)]
struct Source {
    /// Storage type of the input column; `None` for a text file.
    held: Option<Held>,
    /// Index of the column's first coordinate in an encoded record; `None` if the column is not released
    /// unchanged.
    unchanged: Option<usize>,
    /// True if the column's numbers have no noise.
    is_exact: bool,
    /// Index of the input column among the cells of a row in [`RawRows`].
    field: usize,
}

/// Form of released numbers in a file. All forms are post-processing, so the guarantee holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// Rounds integers, dates and ordered levels, and clamps them to their bounds. Real numbers stay
    /// unchanged, so that the distribution of their noise stays known to anyone who learns from them.
    #[default]
    Settled,
    /// Like [`Settled`](Values::Settled), and also clamps real numbers to their bounds.
    Clamped,
    /// Keeps every number as the mechanism drew it. A date is in days since 1970-01-01, and an ordered level
    /// is its rank from 0. Estimators need this form, because the noise of rounded or clamped numbers has an
    /// unknown distribution.
    Drawn,
    /// Keeps every feature as the mechanism released it: one column per coordinate of the encoded record. A
    /// number is scaled to [0, 1], and a category has a column per level. Models that a release preserves
    /// need this form if there are categories, because a level loses the noise of its coordinates.
    Encoded,
}

impl Values {
    /// Returns whether numbers are neither rounded nor clamped.
    fn are_as_drawn(self) -> bool {
        matches!(self, Self::Drawn | Self::Encoded)
    }
}

/// Source of one output cell: indices into a flat record.
#[derive(Debug, Clone)]
enum Made {
    /// `base` is the index of the cell from which the scaled number is the difference.
    Number {
        place: usize,
        scale: Scale,
        base: Option<usize>,
        kind: Kind,
        is_target: bool,
    },
    Level {
        places: Vec<usize>,
        kind: Kind,
    },
    /// `bins` is the number of bins from which the number was drawn, if it is that of a whole value.
    Latent {
        place: usize,
        bins: Option<usize>,
    },
}

impl Made {
    /// Coordinates from which the cell is made.
    fn places(&self) -> &[usize] {
        match self {
            Self::Number { place, .. } | Self::Latent { place, .. } => std::slice::from_ref(place),
            Self::Level { places, .. } => places,
        }
    }

    /// Returns whether the form `values` rounds or clamps the released numbers of a column of this `kind`.
    fn is_settled(kind: &Kind, values: Values) -> bool {
        match values {
            Values::Settled => !matches!(kind, Kind::Real { .. }),
            Values::Clamped => true,
            Values::Drawn | Values::Encoded => false,
        }
    }

    /// Returns whether the written number may differ from the released number: it was rounded or clamped, is
    /// a value apart, or keeps the order of two columns.
    fn is_number_settled(&self, values: Values) -> bool {
        match self {
            Self::Number { scale, base, kind, .. } => {
                scale.has_apart()
                    || Self::is_settled(kind, values)
                    || (base.is_some() && !values.are_as_drawn())
            }
            Self::Level { .. } | Self::Latent { .. } => false,
        }
    }

    /// Coordinates whose value in the written file may differ from the released value, because it was
    /// rounded, clamped or replaced by a level.
    fn places_of_others(&self, values: Values) -> &[usize] {
        match self {
            Self::Level { places, .. } => places,
            Self::Number { place, .. } if self.is_number_settled(values) => std::slice::from_ref(place),
            Self::Latent { place, bins: Some(_) } => std::slice::from_ref(place),
            Self::Number { .. } | Self::Latent { .. } => &[],
        }
    }
}

impl Schema {
    /// Builds the decoder from flat records of `layout` to cells in the schema's columns and units.
    pub fn decoder(&self, layout: &Layout, target: Option<&str>) -> Decoder {
        Decoder::new(self, layout, target)
    }
}

impl Decoder {
    pub(crate) fn new(schema: &Schema, layout: &Layout, target: Option<&str>) -> Self {
        let mut decoder = Self {
            layout: layout.clone(),
            header: vec![],
            cells: vec![],
            values: Values::default(),
            values_in: ValuesIn::default(),
            sources: vec![],
            design: None,
        };
        let places = Places::new(&layout.columns);
        let named: HashSet<String> = schema.columns().iter().flat_map(Column::coordinates).collect();
        let suffixes = suffixes(layout);
        let mut taken = HashSet::new();
        for column in schema.columns() {
            if Some(column.name.as_str()) == target {
                let first = layout.columns.len();
                let fits = match (column.kind.form(true), layout.target) {
                    (Form::Number { .. }, TargetLayout::Real) => true,
                    (Form::Levels(own), TargetLayout::Class { levels }) => own.len() == levels,
                    _ => false,
                };
                if fits {
                    let own: Vec<usize> = (first..layout.width()).collect();
                    taken.extend(own.iter().copied());
                    decoder.push_column(schema, column, target, "", own);
                }
                continue;
            }
            // A column that several mechanisms of a composition released occurs once per mechanism.
            let own = column.coordinates();
            let parts = own.first().and_then(|name| suffixes.get(name.as_str())).into_iter().flatten();
            for suffix in std::iter::once("").chain(parts.copied()) {
                let own = own.iter().map(|name| format!("{name}{suffix}"));
                let is_named = |name: &String| !suffix.is_empty() && named.contains(name);
                let own = own.map(|name| places.get(&name).filter(|_| !is_named(&name)));
                if let Some(own) = own.collect::<Option<Vec<usize>>>() {
                    taken.extend(own.iter().copied());
                    decoder.push_column(schema, column, target, suffix, own);
                }
            }
        }
        for place in (0..layout.width()).filter(|place| !taken.contains(place)) {
            decoder.header.push(match layout.columns.get(place) {
                Some(name) => name.clone(),
                None => format!("target {}", place - layout.columns.len() + 1),
            });
            decoder.cells.push(Made::Latent { place, bins: None });
        }
        decoder
    }

    /// Adds a released column. `suffix` distinguishes the columns that several mechanisms released.
    fn push_column(
        &mut self,
        schema: &Schema,
        column: &Column,
        target: Option<&str>,
        suffix: &str,
        places: Vec<usize>,
    ) {
        let (kind, is_target) = (column.kind.clone(), Some(column.name.as_str()) == target);
        let (scale, base) = schema.scale(column, target);
        let base_name = base.map(|base| format!("{}{suffix}", base.name));
        let base = base_name.as_ref().and_then(|base| self.header.iter().position(|name| name == base));
        let name = format!("{}{suffix}", column.name);
        self.header.push(match &base_name {
            // The released records lack the other column.
            Some(other) if base.is_none() => format!("{name} - {other}"),
            _ => name,
        });
        self.cells.push(match scale {
            Some(scale) if base_name.is_some() && base.is_none() => {
                let (lower, upper) = scale.bounds();
                Made::Number { place: places[0], scale, base, kind: Kind::real(lower, upper), is_target }
            }
            Some(scale) => Made::Number { place: places[0], scale, base, kind, is_target },
            None => Made::Level { places, kind },
        });
    }

    /// Sets the form of released numbers. Call it after [`with_values_in`](Self::with_values_in).
    pub fn with_values(self, values: Values) -> Self {
        match values {
            Values::Encoded => self.encoded(),
            _ => Self { values, ..self },
        }
    }

    /// Makes each coordinate of the features a column. The target comes last, as in the other forms.
    fn encoded(self) -> Self {
        let names = &self.layout.columns;
        let mut bins = vec![None; names.len()];
        let mut columns: Vec<(String, Made)> = vec![];
        for (name, made) in self.header.into_iter().zip(self.cells) {
            let place = made.places().first().copied().unwrap_or_default();
            match bins.get_mut(place) {
                Some(own) => *own = bins_of(self.values_in, &made),
                None => columns.push((name, made)),
            }
        }
        let features = names.iter().zip(bins).enumerate();
        let features = features.map(|(place, (name, bins))| (name.clone(), Made::Latent { place, bins }));
        let (header, cells) = features.chain(columns).unzip();
        Self { header, cells, values: Values::Encoded, ..self }
    }

    /// Sets the encoding of integers, dates and ranks in released records; [`ValuesIn`] lists the encodings.
    /// [`Releases::values_in`](scumble_core::Releases::values_in) returns the encoding of a release.
    pub fn with_values_in(self, values_in: ValuesIn) -> Self {
        Self { values_in, ..self }
    }

    /// Sets the digest of the design. Parquet files and Arrow tables carry it as metadata.
    pub fn with_design_digest(self, digest: String) -> Self {
        Self { design: Some(digest), ..self }
    }

    /// Columns of numbers with most of their released numbers in one of 20 equal parts of the scaled
    /// range. `records` are flat released records, one after the other. Columns with less than 20
    /// values, and columns with values apart, are not considered.
    pub fn crowded(&self, records: &[f64]) -> Vec<&str> {
        let width = self.layout.width().max(1);
        let is_crowded = |cell: &Made| {
            let Made::Number { place, scale, kind, .. } = cell else { return false };
            let (lower, upper) = scale.bounds();
            if scale.has_apart() || (!matches!(kind, Kind::Real { .. }) && upper - lower < PARTS as f64) {
                return false;
            }
            let mut counts = [0usize; PARTS];
            for record in records.chunks_exact(width) {
                let part = (record[*place] * PARTS as f64).clamp(0.0, (PARTS - 1) as f64);
                counts[part as usize] += 1;
            }
            let most = counts.iter().max().copied().unwrap_or(0);
            most as f64 > CROWDED * (records.len() / width) as f64
        };
        let names = self.header.iter().zip(&self.cells);
        names.filter(|(_, cell)| is_crowded(cell)).map(|(name, _)| name.as_str()).collect()
    }

    /// Metadata of a Parquet file or Arrow table: the design's digest under [`DESIGN`].
    pub fn metadata(&self) -> impl Iterator<Item = (String, String)> {
        self.design.iter().map(|digest| (DESIGN.to_owned(), digest.clone()))
    }

    /// Sets the input of the release. `unchanged` and `exact` have one flag per coordinate of a flat input
    /// record.
    ///
    /// - A column whose coordinates are all `unchanged` is written as in the input. If the input is a text
    ///   file, the column keeps its text. If the input is a typed file or table (Parquet, Arrow), the column
    ///   keeps its values and its storage type.
    /// - Other columns of levels, and of integers or dates that [`Values`] rounds, have the storage type of
    ///   the input column if this type holds every value of the column's kind.
    /// - A real number whose coordinate is `exact` has no noise, and is written as its original decimal.
    pub fn with_input(self, input: &Input, unchanged: &[bool], exact: &[bool]) -> Self {
        let fields = input.encoder.fields();
        let all = |flags: &[bool], leaves: Range<usize>| {
            flags.get(leaves).is_some_and(|flags| flags.iter().all(|is| *is))
        };
        let source = |name: &String, cell: &Made| {
            // A latent (a coordinate that belongs to no schema column) may have the name of a column.
            let is_latent = matches!(cell, Made::Latent { .. });
            let found = fields.clone().enumerate().find(|(_, (own, ..))| !is_latent && *own == name);
            let (field, (_, first, width)) = found?;
            let leaves = first..first + width;
            Some(Source {
                held: input.held.get(field).cloned().flatten(),
                unchanged: all(unchanged, leaves.clone()).then_some(first),
                is_exact: all(exact, leaves),
                field,
            })
        };
        let sources = self.header.iter().zip(&self.cells).map(|(name, cell)| source(name, cell)).collect();
        Self { sources, ..self }
    }

    fn source(&self, column: usize) -> Option<&Source> {
        self.sources.get(column)?.as_ref()
    }

    /// Storage type of each column in a typed file or table (Parquet, Arrow).
    pub fn types(&self) -> impl Iterator<Item = Held> {
        self.cells.iter().enumerate().map(|(column, cell)| {
            let (kind, is_target) = match cell {
                // A missing number is NaN, and a missing day an empty text.
                Made::Number { kind: Kind::Date { .. }, scale, .. } if scale.keeps_missing() => {
                    return Held::Text;
                }
                Made::Number { scale, .. } if scale.keeps_missing() => return Held::Double,
                Made::Number { kind, is_target, .. } => (kind, *is_target),
                Made::Level { kind, .. } => (kind, true),
                Made::Latent { .. } => return Held::Double,
            };
            let source = self.source(column);
            let is_unchanged = source.is_some_and(|source| source.unchanged.is_some());
            let held = source.and_then(|source| source.held.as_ref());
            Held::released(kind, held, Made::is_settled(kind, self.values), is_unchanged, is_target)
        })
    }

    /// Turns the flat record `settled` into the record that a reader of the written file would encode. Its
    /// numbers are rounded and clamped as in the file, and its categories become one-hot. `record` is scratch
    /// space of the same length.
    fn settle(&self, settled: &mut [f64], record: &mut [f64]) {
        record.copy_from_slice(settled);
        for (column, made) in self.cells.iter().enumerate() {
            match (made, self.cell(column, made, record)) {
                (Made::Number { place, scale, .. }, Cell::Null) => settled[*place] = scale.missing(),
                (Made::Number { place, scale, base, kind, .. }, cell) => {
                    let is_settled = made.is_number_settled(self.values);
                    if let Some(number) = number(kind, cell).filter(|_| is_settled) {
                        settled[*place] = scale.encode(number - self.base(*base, record));
                    }
                }
                (Made::Level { places, kind }, cell) => {
                    let level = kind.level(cell);
                    for (at, place) in places.iter().enumerate() {
                        settled[*place] = f64::from(level == Some(at));
                    }
                }
                (Made::Latent { place, .. }, cell) => {
                    if let Cell::Number(number) = cell {
                        settled[*place] = number;
                    }
                }
            }
        }
    }

    /// Returns the table that a reader of the written file would encode. It differs from `table` in numbers
    /// that were rounded or clamped, and in categories, which become one-hot.
    ///
    /// # Errors
    /// [`Error::Shape`](scumble_core::Error::Shape) if `table` does not have the layout of the released
    /// records.
    pub fn settled_table(&self, table: &Table) -> Result<Table> {
        self.layout.check(table)?;
        let mut flat = self.layout.flat(table, 0..table.len());
        let mut record = vec![0.0; self.layout.width()];
        flat.chunks_mut(record.len().max(1)).for_each(|settled| self.settle(settled, &mut record));
        self.layout.table_of(flat)
    }

    /// Layout of the flat records.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Noise distribution of the values read back from the file, if `noise` is the noise distribution of the
    /// released records. The distribution becomes unknown for a category with noise of mean zero, because
    /// the file contains only the level with the largest coordinate. It also becomes unknown for a number
    /// with noise of mean zero that was rounded or clamped.
    pub fn noise(&self, noise: &Noise) -> Noise {
        let changed = self.cells.iter().flat_map(|cell| cell.places_of_others(self.values));
        let changed: HashSet<usize> = changed.copied().collect();
        let mut first = 0;
        let mut read_back = |distribution: &NoiseDistribution| {
            let places = first..first + distribution.width();
            first = places.end;
            let places: Vec<usize> = places.collect();
            let runs = places.chunk_by(|one, other| changed.contains(one) == changed.contains(other));
            let runs = runs.map(|run| match distribution {
                NoiseDistribution::Additive { .. }
                | NoiseDistribution::Correlated { .. }
                | NoiseDistribution::Shared { .. }
                | NoiseDistribution::Unbiased { .. }
                    if changed.contains(&run[0]) =>
                {
                    NoiseDistribution::Unknown { width: run.len() }
                }
                distribution => distribution.part(run[0] - places[0]..run[run.len() - 1] + 1 - places[0]),
            });
            runs.collect::<Vec<NoiseDistribution>>()
        };
        let features = noise.features.iter().flat_map(&mut read_back).collect();
        let target = read_back(&noise.target).into_iter().next().unwrap_or_else(|| noise.target.clone());
        Noise { features, target }
    }

    /// Decodes a flat record into cells: numbers, and levels as text.
    ///
    /// # Errors
    /// [`Error::Shape`](scumble_core::Error::Shape) if `record` does not have the width of the released
    /// layout.
    pub fn decode(&self, record: &[f64]) -> Result<Vec<Cell<'_>>> {
        Ok(self.cells(record)?.collect())
    }

    /// Iterator over the cells that [`decode`](Self::decode) collects.
    pub(crate) fn cells<'a, 'r>(
        &'a self,
        record: &'r [f64],
    ) -> Result<impl Iterator<Item = Cell<'a>> + use<'a, 'r>> {
        check_width(self.layout.width(), record.len())?;
        Ok(self.cells.iter().enumerate().map(|(column, cell)| self.cell(column, cell, record)))
    }

    #[inline(always)]
    fn cell<'a>(&self, column: usize, cell: &'a Made, record: &[f64]) -> Cell<'a> {
        match cell {
            Made::Number { place, scale, base, kind, .. } => {
                let value = record[*place];
                let source = self.source(column);
                let is_unchanged = source.is_some_and(|source| source.unchanged.is_some());
                let is_exact = source.is_some_and(|source| source.is_exact) && base.is_none();
                if is_exact && matches!(kind, Kind::Real { .. }) {
                    return scale.decimal(value);
                }
                let is_settled = is_unchanged || Made::is_settled(kind, self.values);
                let before = self.base(*base, record);
                let decoded = match scale.decode(value) {
                    Number::Number(number) if base.is_some() && !self.values.are_as_drawn() => {
                        Number::Number(number.max(0.0))
                    }
                    decoded => decoded,
                };
                match (decoded, is_settled, bins_of(self.values_in, cell)) {
                    (Number::Missing, ..) => Cell::Null,
                    (Number::Number(number), false, _) => Cell::Number(before + number),
                    (_, true, Some(bins)) => kind.settled(scale.bounds().0 + (value * bins as f64).floor()),
                    (Number::Number(number), true, None) => kind.settled(before + number),
                }
            }
            Made::Level { places, kind } => {
                // The first of the largest coordinates wins.
                let value = |at: usize| record[places[at]];
                let largest =
                    (1..places.len()).fold(0, |best, at| if value(at) > value(best) { at } else { best });
                kind.levels().map_or(Cell::Null, |levels| Cell::Text(&levels[largest]))
            }
            Made::Latent { place, bins: None } => Cell::Number(record[*place]),
            // The whole value of the bin, encoded as in input records.
            Made::Latent { place, bins: Some(bins) } => {
                let most = bins.saturating_sub(1) as f64;
                Cell::Number((record[*place] * *bins as f64).floor().clamp(0.0, most) / most.max(1.0))
            }
        }
    }

    /// Coordinate and scale of a column of numbers that are written as they were drawn, on a linear scale.
    fn plain(&self, column: usize) -> Option<(usize, &Scale)> {
        match &self.cells[column] {
            Made::Number { place, scale, base: None, kind, .. } => {
                let is_own = self.source(column).is_some_and(|source| {
                    source.unchanged.is_some() || (source.is_exact && matches!(kind, Kind::Real { .. }))
                });
                let is_plain = !is_own && !Made::is_settled(kind, self.values) && scale.is_linear();
                is_plain.then_some((*place, scale))
            }
            _ => None,
        }
    }

    /// Number in the cell `base` of a record: zero without such a cell, and the lower bound if it is missing.
    fn base(&self, base: Option<usize>, record: &[f64]) -> f64 {
        match base.map(|at| (at, &self.cells[at])) {
            Some((at, cell @ Made::Number { scale, kind, .. })) => {
                number(kind, self.cell(at, cell, record)).unwrap_or(scale.bounds().0)
            }
            _ => 0.0,
        }
    }

    /// Converts the text of a day to a date, because a storage type for days has no text format.
    fn as_typed<'a>(&'a self, column: usize, cell: Cell<'a>) -> Cell<'a> {
        match (&self.cells[column], cell) {
            (Made::Number { kind: Kind::Date { .. }, .. }, Cell::Null) => Cell::Text(""),
            (Made::Number { .. }, Cell::Null) => Cell::Number(f64::NAN),
            (Made::Number { kind: Kind::Date { .. }, scale, .. }, _) if scale.keeps_missing() => cell,
            (Made::Number { kind: kind @ Kind::Date { .. }, .. }, Cell::Text(_)) => {
                kind.number(cell).map_or(cell, |day| kind.settled(day))
            }
            _ => cell,
        }
    }

    /// Refuses a record that differs from the input in a column that the mechanism states to be unchanged. If
    /// it differs, the raw cells of the column must not be released.
    fn check_unchanged(&self, column: usize, record: &[f64], before: &[f64]) -> Result<()> {
        let places = self.cells[column].places();
        match places.iter().zip(before).all(|(place, before)| record[*place] == *before) {
            true => Ok(()),
            false => Err(scumble_core::Error::shape(format!(
                "the mechanism states that column {:?} stays unchanged, and changed it",
                self.header[column]
            ))),
        }
    }

    /// Cell of an unchanged column: the input cell `raw`, or the decoded cell `made` if the input was
    /// missing, clipped, or a day of a typed file.
    fn unchanged_cell<'a>(
        &'a self,
        encoder: &Encoder,
        source: &Source,
        raw: Cell<'a>,
        made: Cell<'a>,
    ) -> Cell<'a> {
        // A day of a typed file (Parquet, Arrow) has no text format, so it gets the format of the schema.
        let is_stored_day = matches!(source.held, Some(Held::Day | Held::Time { .. }));
        match !is_stored_day && encoder.is_encoded_whole(source.field, raw) {
            true => raw,
            false => made,
        }
    }
}

/// Returns the number of bins from which the number of a cell was drawn, or `None` if it was not drawn from
/// bins.
fn bins_of(values_in: ValuesIn, made: &Made) -> Option<usize> {
    match made {
        Made::Number { scale, base: None, kind, is_target, .. }
            if values_in.is_in_bins(*is_target) && scale.is_linear() =>
        {
            kind.whole_values()
        }
        _ => None,
    }
}

/// Returns the number in a released cell: a rank for ordered levels, days for a date.
fn number(kind: &Kind, cell: Cell) -> Option<f64> {
    match cell {
        Cell::Number(number) => Some(number),
        cell => kind.number(cell).ok(),
    }
}

/// Flat released records, and their input rows before encoding, if these rows are known.
#[derive(Debug, Clone, Copy)]
pub struct Decoded<'d> {
    decoder: &'d Decoder,
    records: &'d [f64],
    input: Option<InputBlock<'d>>,
}

/// Input rows from which a block of records was released.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputBlock<'d> {
    pub(crate) encoder: &'d Encoder,
    pub(crate) rows: &'d RawRows,
    /// Concatenated flat records that encode `rows`.
    pub(crate) records: &'d [f64],
}

impl<'d> Decoded<'d> {
    /// Wraps `records`, the concatenated flat records that `decoder` decodes.
    pub fn new(decoder: &'d Decoder, records: &'d [f64]) -> Self {
        Self { decoder, records, input: None }
    }

    pub(crate) fn with_input(decoder: &'d Decoder, records: &'d [f64], input: InputBlock<'d>) -> Self {
        let has_unchanged = decoder.sources.iter().flatten().any(|source| source.unchanged.is_some());
        Self { decoder, records, input: has_unchanged.then_some(input) }
    }

    /// Number of values in the records.
    pub(crate) fn values(&self) -> usize {
        self.records.len()
    }

    /// Collects the records column by column. `new` creates an empty column of a storage type. `push` appends
    /// a value, or returns `None` if the column cannot hold the value.
    ///
    /// # Errors
    /// [`Error::Shape`](scumble_core::Error::Shape) for a cell that its column cannot hold; same errors as
    /// [`each`](Self::each).
    pub fn columns<C>(
        &self,
        new: impl Fn(&Held) -> C,
        push: impl Fn(&mut C, Stored) -> Option<()>,
    ) -> crate::Result<Vec<C>> {
        let types: Vec<Held> = self.decoder.types().collect();
        let mut columns: Vec<C> = types.iter().map(new).collect();
        let take = |columns: &mut Vec<C>, at: usize, cell: Cell| {
            let stored = types[at].store(self.decoder.as_typed(at, cell));
            let pushed = stored.and_then(|stored| push(&mut columns[at], stored));
            pushed.ok_or_else(|| {
                let (name, text) = (&self.decoder.header[at], cell.text());
                let problem =
                    format!("column {name:?} is stored as {:?}, which cannot hold {text:?}", types[at]);
                scumble_core::Error::shape(problem).into()
            })
        };
        self.each(&mut columns, take, |_| ())?;
        Ok(columns)
    }

    /// Passes each cell to `take`, row by row, with the index of its column. `end` is called after each row.
    /// Both receive `state`.
    ///
    /// # Errors
    /// [`Error::Shape`](scumble_core::Error::Shape) if a record does not have the width of the released
    /// layout, or if a column has changed that the mechanism states to be unchanged; any error of `take`.
    pub fn each<S>(
        &self,
        state: &mut S,
        mut take: impl FnMut(&mut S, usize, Cell) -> crate::Result<()>,
        mut end: impl FnMut(&mut S),
    ) -> crate::Result<()> {
        let decoder = self.decoder;
        let mut raw = self.input.map(|input| input.rows.cells());
        let mut own: Vec<Cell> = vec![];
        let plain: Vec<_> = (0..decoder.cells.len()).map(|column| decoder.plain(column)).collect();
        for (row, record) in self.records.chunks(decoder.layout.width().max(1)).enumerate() {
            if let (Some(input), Some(raw)) = (&self.input, &mut raw) {
                own.clear();
                own.extend(raw.by_ref().take(input.encoder.width()));
            }
            check_width(decoder.layout.width(), record.len())?;
            for (column, made) in decoder.cells.iter().enumerate() {
                if let Some((place, scale)) = plain[column] {
                    take(state, column, scale.plain_cell(record[place]))?;
                    continue;
                }
                let made = decoder.cell(column, made, record);
                let source = decoder.source(column);
                let unchanged = source.and_then(|source| Some((source, source.unchanged?)));
                let cell = match (unchanged, &self.input) {
                    (Some((source, first)), Some(input)) => {
                        let width = input.encoder.domain().flat().dim();
                        let before = &input.records[row * width..][first..];
                        decoder.check_unchanged(column, record, before)?;
                        let raw = own.get(source.field).copied().unwrap_or(Cell::Null);
                        decoder.unchanged_cell(input.encoder, source, raw, made)
                    }
                    _ => made,
                };
                take(state, column, cell)?;
            }
            end(state);
        }
        Ok(())
    }
}

/// Suffixes ` (part …)` of coordinate names, which number the mechanisms of a composition. They are grouped
/// by the name before the suffix.
fn suffixes(layout: &Layout) -> HashMap<&str, Vec<&str>> {
    let mut suffixes: HashMap<&str, Vec<&str>> = HashMap::new();
    for name in &layout.columns {
        for (at, _) in name.match_indices(" (part ") {
            suffixes.entry(&name[..at]).or_default().push(&name[at..]);
        }
    }
    suffixes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tests::schema;
    use crate::{Clips, OutOfBounds};
    use scumble_core::Target;

    fn cells(decoder: &Decoder, record: &[f64]) -> Vec<String> {
        decoder.decode(record).unwrap().into_iter().map(|cell| cell.text().into_owned()).collect()
    }

    #[test]
    fn what_was_encoded_decodes_to_what_it_was() {
        let header = ["size", "good", "colour"];
        let encoder = schema().encoder(&header, Some("good"), OutOfBounds::Clip, "data.csv").unwrap();
        let decoder = schema().decoder(&encoder.domain().layout(), Some("good"));
        assert_eq!(decoder.header(), header);
        for (row, class) in [(["12.5", "yes", "blue"], 1), (["20", "no", "red"], 0)] {
            let flat = encoder.encode(1, row, &mut Clips::default()).unwrap();
            assert_eq!(cells(&decoder, &flat), row);
            let table: Table = encoder.table(flat).unwrap();
            assert_eq!(table.columns(), ["size", "colour=red", "colour=green", "colour=blue"]);
            assert_eq!(*table.target(), Target::Class(ndarray::array![class]));
        }
        assert!(decoder.decode(&[0.0; 3]).is_err());
    }

    fn layout(columns: &[&str], target: TargetLayout) -> Layout {
        Layout { columns: columns.iter().map(|&name| name.to_owned()).collect(), target }
    }

    #[test]
    fn cells_written_as_they_were_drawn_are_those_of_the_general_way() {
        let released = layout(&["size", "colour=red", "colour=green", "colour=blue"], TargetLayout::None);
        let decoder = schema().decoder(&released, None);
        assert!(decoder.plain(0).is_some());
        for size in [0.0, -0.0, -1.0, 0.5, 1.0, 1.0 / 3.0, 1e-300, 1e300, -7.25] {
            let record = [size, 0.0, 1.0, 0.0];
            let mut each = vec![];
            let take = |each: &mut Vec<String>, _: usize, cell: Cell| {
                each.push(format!("{cell:?}"));
                Ok(())
            };
            Decoded::new(&decoder, &record).each(&mut each, take, |_| ()).unwrap();
            let general: Vec<String> =
                decoder.cells(&record).unwrap().map(|cell| format!("{cell:?}")).collect();
            assert_eq!(each, general, "{size}");
        }
        assert!(decoder.with_values(Values::Clamped).plain(0).is_none());
    }

    #[test]
    fn columns_are_found_by_name_and_stand_in_the_order_of_the_schema() {
        let released = layout(&["colour=red", "colour=green", "colour=blue", "size"], TargetLayout::None);
        let decoder = schema().decoder(&released, None);
        assert_eq!(decoder.header(), ["size", "colour"]);
        assert_eq!(cells(&decoder, &[0.1, 2.0, 0.3, 1.5]), ["25", "green"]);
    }

    #[test]
    fn latents_stand_after_the_columns_as_they_are() {
        let released = layout(&["z1", "size", "colour=red"], TargetLayout::Vector { width: 2 });
        let decoder = schema().decoder(&released, Some("good"));
        assert_eq!(decoder.header(), ["size", "z1", "colour=red", "target 1", "target 2"]);
        assert_eq!(cells(&decoder, &[-4.0, 0.5, 7.0, 1.0, 2.0]), ["15", "-4", "7", "1", "2"]);
    }

    /// A number that was drawn in the bin of a whole value is encoded as that value in an input record.
    #[test]
    fn encoded_columns_are_the_coordinates_and_the_target_comes_last() {
        let schema = Schema::from_toml(
            r#"
            column = [
                { name = "good", kind = "boolean" },
                { name = "steps", kind = "integer", lower = 1, upper = 5 },
                { name = "colour", kind = "category", levels = ["red", "blue"] },
            ]
            "#,
            "steps.toml",
        )
        .unwrap();
        let released = layout(&["steps", "colour=red", "colour=blue"], TargetLayout::Class { levels: 2 });
        let decoder = schema.decoder(&released, Some("good"));
        let record = [0.75, 1.5, -0.25, 0.0, 1.0];
        let encoded = decoder.clone().with_values(Values::Encoded);
        assert_eq!(encoded.header(), ["steps", "colour=red", "colour=blue", "good"]);
        assert_eq!(cells(&encoded, &record), ["0.75", "1.5", "-0.25", "true"]);
        let additive = NoiseDistribution::Additive { variance: vec![1.0; 3] };
        let flip = NoiseDistribution::Flip { levels: 2, keep: 0.7 };
        let noise = Noise { features: vec![additive], target: flip };
        assert_eq!(encoded.noise(&noise), noise);
        // 0.75 is in the fourth bin of five, which is that of 4, encoded as 3/4; 0.5 is in that of 3.
        let in_bins = decoder.with_values_in(ValuesIn::Bins).with_values(Values::Encoded);
        assert_eq!(cells(&in_bins, &record)[0], "0.75");
        assert_eq!(cells(&in_bins, &[0.59, 0.0, 1.0, 1.0, 0.0]), ["0.5", "0", "1", "false"]);
        assert_eq!(cells(&in_bins, &[1.0, 0.0, 1.0, 1.0, 0.0])[0], "1");
        let table = released.table_of(vec![0.59, 0.0, 1.0, 1.0, 0.0]).unwrap();
        assert_eq!(in_bins.settled_table(&table).unwrap().records()[(0, 0)], 0.5);
    }

    #[test]
    fn a_group_that_became_a_level_has_no_distribution_any_more_unless_it_was_flipped() {
        let columns = ["size", "colour=red", "colour=green", "colour=blue"];
        let decoder = schema().decoder(&layout(&columns, TargetLayout::Class { levels: 2 }), Some("good"));
        let flip = NoiseDistribution::Flip { levels: 2, keep: 0.7 };
        let additive = NoiseDistribution::Additive { variance: vec![1.0, 2.0, 2.0, 2.0] };
        let read_back = decoder.noise(&Noise { features: vec![additive], target: flip.clone() });
        let expected = vec![
            NoiseDistribution::Additive { variance: vec![1.0] },
            NoiseDistribution::Unknown { width: 3 },
        ];
        assert_eq!(read_back, Noise { features: expected, target: flip.clone() });
        let flipped =
            vec![NoiseDistribution::Exact { width: 1 }, NoiseDistribution::Flip { levels: 3, keep: 0.9 }];
        let noise = Noise { features: flipped, target: flip };
        assert_eq!(decoder.noise(&noise), noise);
    }

    #[test]
    fn a_column_whose_name_looks_like_a_part_is_itself() {
        let schema = Schema::from_toml(
            r#"
            column = [
                { name = "c", kind = "category", levels = ["a", "b"] },
                { name = "c=a (part 2)", kind = "real", lower = 0.0, upper = 10.0 },
            ]
            "#,
            "parts.toml",
        );
        let released = layout(&["c=a", "c=b", "c=a (part 2)", "c=b (part 2)"], TargetLayout::None);
        let decoder = schema.unwrap().decoder(&released, None);
        assert_eq!(decoder.header(), ["c", "c=a (part 2)", "c=b (part 2)"]);
        assert_eq!(cells(&decoder, &[0.0, 1.0, 0.5, 0.0]), ["b", "5", "0"]);
    }

    #[test]
    fn a_column_released_twice_is_written_twice_in_its_unit() {
        let released = layout(&["size", "size (part 2)"], TargetLayout::None);
        let decoder = schema().decoder(&released, None);
        assert_eq!(decoder.header(), ["size", "size (part 2)"]);
        assert_eq!(cells(&decoder, &[0.5, 1.0]), ["15", "20"]);
    }
}

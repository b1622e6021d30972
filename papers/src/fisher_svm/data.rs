//! Data sets of the paper, prepared as the paper describes, as far as it describes the preparation.

use crate::{Result, RunOptions};
use scumble_core::{Domain, Factor, RecordDomain, Table, Target, TargetDomain};
use scumble_datasets as datasets;
use scumble_datasets::{DataSet, source};

use ndarray::{Array2, Axis};

/// Records with their public domain.
#[derive(Clone)]
pub(super) struct Data {
    pub table: Table,
    pub domain: RecordDomain,
}

/// Records of two classes with their signs: 1 for the second class, −1 for the first.
pub(super) struct Labelled {
    pub data: Data,
    pub signs: Vec<f64>,
}

impl Labelled {
    pub fn new(data: Data) -> Self {
        let signs = match data.table.target() {
            Target::Class(classes) => classes.iter().map(|&class| 2.0 * class as f64 - 1.0).collect(),
            _ => vec![],
        };
        Self { data, signs }
    }

    /// Selects the records at `rows`.
    pub fn select(&self, rows: &[usize]) -> Result<Self> {
        Ok(Self::new(self.data.select(rows)?))
    }

    /// Clips the records to the public `bounds` of each column, which few values exceed, and makes these
    /// bounds their domain.
    pub fn within(&self, bounds: &[(f64, f64)]) -> Result<Data> {
        let Data { table, domain } = &self.data;
        let intervals = bounds.iter().map(|(lower, upper)| Domain::interval(*lower, *upper));
        let features = Domain::product(intervals.collect::<scumble_core::Result<Vec<_>>>()?)?;
        let mut records = table.records().clone();
        for (mut column, (lower, upper)) in records.columns_mut().into_iter().zip(bounds) {
            column.mapv_inplace(|value| value.clamp(*lower, *upper));
        }
        let domain = RecordDomain::new(domain.columns().to_vec(), features, domain.target().clone())?;
        let table = Table::new(table.columns().to_vec(), records, table.target().clone())?;
        Ok(Data { table, domain })
    }

    /// Share of these records (n records of d columns, in the clear) that `machine` classifies correctly.
    pub fn success(&self, machine: &scumble_kkt::Machine) -> f64 {
        let weights = ndarray::ArrayView1::from(&machine.weights);
        let scores = self.data.table.records().dot(&weights) + machine.bias;
        let hits = scores.iter().zip(&self.signs).filter(|(score, sign)| *score * *sign > 0.0).count();
        hits as f64 / self.signs.len() as f64
    }
}

impl Data {
    /// Selects the records at `rows`.
    pub fn select(&self, rows: &[usize]) -> Result<Self> {
        Ok(Self { table: self.table.select(rows)?, domain: self.domain.clone() })
    }
}

/// Upper bound on every measurement. An area of 5,000 pixels² is that of a nucleus 80 pixels wide, and all
/// other measurements are smaller numbers.
const LARGEST_MEASUREMENT: f64 = 5_000.0;

/// Loads WDBC unscaled, as measured: no other scaling gives the paper's lower bound of 28.4·m on the squared
/// error, with m the variance of the noise. The sign of malignant tumours is +1.
pub(super) fn tumours(options: &RunOptions) -> Result<Labelled> {
    let table = datasets::wdbc::measurements(options.folder)?;
    let features = Domain::product(vec![Domain::interval(0.0, LARGEST_MEASUREMENT)?; table.columns().len()])?;
    let levels = vec!["benign".into(), "malignant".into()];
    let domain = RecordDomain::new(table.columns().to_vec(), features, TargetDomain::Class { levels })?;
    let malignant_last = match table.target() {
        Target::Class(classes) => Target::Class(classes.mapv(|class| 1 - class)),
        other => other.clone(),
    };
    Ok(Labelled::new(Data { table: table.with_target(malignant_last)?, domain }))
}

/// Loads Adult: twelve columns, categories as integers, all scaled by public bounds. The sign of an income of
/// more than 50,000 dollars is +1.
pub(super) fn people(options: &RunOptions) -> Result<Labelled> {
    Ok(Labelled::new(with_integers(&source("adult")?.load(options.folder)?)?))
}

/// Public bounds of the interest rate in per cent a year: the rates that the data set scales to 0 and to 1.
const RATES: [f64; 2] = [5.0, 25.0];

/// Loads Lending Club: 22 columns, including the grade as in the paper. Categories are integers, and all
/// columns are scaled by public bounds. The target is the interest rate in per cent a year.
pub(super) fn loans(options: &RunOptions) -> Result<Data> {
    let data = with_integers(&source("lending-club-default")?.load(options.folder)?)?;
    let (rate, rest): (Vec<usize>, Vec<usize>) =
        (0..data.table.columns().len()).partition(|&at| data.table.columns()[at] == "int_rate");
    let [lower, upper] = RATES;
    let rates = data.table.records().select(Axis(1), &rate).mapv(|share| lower + (upper - lower) * share);
    let kept = data.domain.restrict(&rest)?;
    let domain = RecordDomain::new(
        kept.columns().to_vec(),
        kept.features().clone(),
        TargetDomain::Real { lower, upper },
    )?;
    let table = data.table.part(&kept)?.with_target(Target::Real(rates.into_iter().collect()))?;
    Ok(Data { table, domain })
}

/// Replaces the one-hot group of each category by one column: the index of the level, scaled to [0, 1].
fn with_integers(data: &DataSet) -> Result<Data> {
    let factors: Vec<_> = data.domain.features().factors().collect();
    let whole = data.table.whole()?;
    let records = whole.records();
    let value = |row: usize, at: usize| {
        let (places, factor) = &factors[at];
        match factor {
            Factor::OneHot { levels } => {
                let level = places.clone().position(|place| records[[row, place]] == 1.0).unwrap_or(0);
                level as f64 / (levels - 1) as f64
            }
            _ => records[[row, places.start]],
        }
    };
    let columns: Vec<String> = factors
        .iter()
        .map(|(places, factor)| {
            let first = &data.table.columns()[places.start];
            match factor {
                // "colour=red" belongs to the column "colour".
                Factor::OneHot { .. } => first.split('=').next().unwrap_or(first).to_owned(),
                _ => first.clone(),
            }
        })
        .collect();
    let integers =
        Array2::from_shape_fn((data.table.len(), factors.len()), |(row, column)| value(row, column));
    let features = Domain::unit_box(factors.len());
    Ok(Data {
        domain: RecordDomain::new(columns.clone(), features, data.domain.target().clone())?,
        table: Table::new(columns, integers, data.table.target().clone())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_records::{Schema, csv};

    #[test]
    fn a_category_becomes_the_place_of_its_level() {
        let schema = r#"
            column = [
                { name = "size", kind = "real", lower = 0.0, upper = 10.0 },
                { name = "colour", kind = "category", levels = ["red", "green", "blue"] },
                { name = "good", kind = "category", levels = ["no", "yes"] },
            ]"#;
        let schema = Schema::from_toml(schema, "schema.toml").unwrap();
        let file = "size,colour,good\n5,blue,no\n1,green,yes\n0,red,yes\n";
        let loaded = csv::read(file.as_bytes(), "file.csv", &schema, Some("good")).unwrap();
        let data = DataSet {
            name: "things".into(),
            target: "good".into(),
            table: loaded.table.into(),
            domain: loaded.domain,
            columns: None,
            target_width: 1.0,
            codes: None,
            learning: None,
            recognised: None,
            schema: None,
            is_public: false,
            is_drafted: false,
            clipped: vec![],
            dropped: 0,
            people: None,
            train_records: None,
        };
        let data = with_integers(&data).unwrap();
        assert_eq!(data.table.columns(), ["size", "colour"]);
        assert_eq!(data.table.records(), &ndarray::array![[0.5, 1.0], [0.1, 0.5], [0.0, 0.0]]);
        assert_eq!(Labelled::new(data).signs, [-1.0, 1.0, 1.0]);
    }
}

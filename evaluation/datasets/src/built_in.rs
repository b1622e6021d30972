//! The data sets that come with linfa: wines, irises, and people with diabetes.

use super::{DataSet, SchemaAt};
use ndarray::Array2;
use scumble_records::{Result, Schema, csv};

/// The public schema of the wines.
pub(crate) const WINE: &str = include_str!("../schemas/wine.toml");
/// The public schema of the irises.
pub(crate) const IRIS: &str = include_str!("../schemas/iris.toml");
/// The public schema of the patients with diabetes.
pub(crate) const DIABETES: &str = include_str!("../schemas/diabetes.toml");

/// Smallest quality of a good wine, in points out of ten.
const GOOD: usize = 6;
const SPECIES: [&str; 3] = ["setosa", "versicolor", "virginica"];

impl DataSet {
    /// The 1,599 red wines that come with linfa. The target is good (six points of ten or more) or bad.
    ///
    /// 240 wines repeat another row, so a split may put copies among both training and test records.
    ///
    /// # Errors
    /// An error only if the built-in data do not fit their schema.
    pub fn wine() -> Result<Self> {
        let wine = linfa_datasets::winequality();
        let quality =
            wine.targets.iter().map(|&points| if points >= GOOD { "good" } else { "bad" }.to_owned());
        let data = BuiltIn { source: "wine", name: "wine quality", target: "quality", schema: WINE };
        data.load(wine.feature_names(), &wine.records, quality)
    }
}

/// The 150 irises that come with linfa. The target is the species.
pub(crate) fn iris() -> Result<DataSet> {
    let iris = linfa_datasets::iris();
    let species = iris.targets.iter().map(|&species| SPECIES[species].to_owned());
    let data = BuiltIn { source: "iris", name: "iris", target: "species", schema: IRIS };
    data.load(iris.feature_names(), &iris.records, species)
}

/// The 441 patients that come with linfa. The original file has 442 patients, but linfa reads the first
/// patient as a header.
pub(crate) fn diabetes() -> Result<DataSet> {
    let patients = linfa_datasets::diabetes();
    let names = ["age", "sex", "bmi", "bp", "tc", "ldl", "hdl", "tch", "ltg", "glu"];
    let progression = patients.targets.iter().map(f64::to_string);
    let data = BuiltIn { source: "diabetes", name: "diabetes", target: "progression", schema: DIABETES };
    data.load(&names, &patients.records, progression)
}

struct BuiltIn {
    source: &'static str,
    name: &'static str,
    target: &'static str,
    schema: &'static str,
}

impl BuiltIn {
    /// Loads `records` (n records × d columns called `features`). `targets` has the target of each record.
    fn load(
        &self,
        features: &[impl AsRef<str>],
        records: &Array2<f64>,
        targets: impl Iterator<Item = String>,
    ) -> Result<DataSet> {
        let Self { source, name, target, schema } = *self;
        let mut text =
            format!("{},{target}\n", features.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(","));
        for (record, record_target) in records.outer_iter().zip(targets) {
            for value in record {
                text += &format!("{value},");
            }
            text += &format!("{record_target}\n");
        }
        let schema = Schema::from_toml(schema, &format!("{source}.toml"))?;
        let loaded = csv::read(text.as_bytes(), name, &schema, Some(target))?;
        let data = DataSet::loaded(name, target, &schema, loaded)?;
        Ok(DataSet { schema: Some(SchemaAt::Source(source)), is_public: true, ..data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Target;

    #[test]
    fn irises_are_as_many_of_each_species_and_none_is_clipped() {
        let data = iris().unwrap();
        let Target::Class(species) = data.table.target() else { panic!("a class") };
        let counts = [0, 1, 2].map(|label| species.iter().filter(|&&class| class == label).count());
        assert_eq!((counts, data.table.columns().len()), ([50; 3], 4));
        assert!(data.clipped.is_empty(), "{:?}", data.clipped);
    }

    /// linfa reads the first patient of the published file as a header.
    #[test]
    fn patients_have_ten_measurements_and_none_is_clipped() {
        let data = diabetes().unwrap();
        assert_eq!((data.table.len(), data.table.columns().len()), (441, 10));
        assert!(data.clipped.is_empty(), "{:?}", data.clipped);
        let Target::Real(progression) = data.table.target() else { panic!("numbers") };
        // The target 75, on a scale from 0 to 400.
        assert_eq!(progression[0], 75.0 / 400.0);
    }
}

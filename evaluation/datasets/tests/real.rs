//! The real data, from the folder `SCUMBLE_DATA` or from `../shared/data` beside the repository. A test
//! without its data prints a message and passes, or fails if `SCUMBLE_REQUIRE_DATA` is set.
//!
//! Facts come from other authors' descriptions of the data, not from these loaders.

use approx::assert_abs_diff_eq;
use ndarray::{Array2, Axis, s};
use scumble_core::{Target, TargetDomain};
use scumble_datasets::{DataSet, Error, Result, household, lending_club, source, wdbc};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    let default_folder = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("SCUMBLE_DATA").map_or_else(default_folder, PathBuf::from)
}

/// The loaded data, or `None` with a printed message if a file is missing.
fn if_present<T>(loaded: Result<T>) -> Option<T> {
    match loaded {
        Err(Error::Missing { file }) => {
            scumble_testing::missing(file.display());
            None
        }
        other => Some(other.unwrap()),
    }
}

fn load(name: &str) -> Option<DataSet> {
    if_present(source(name).unwrap().load(&folder()))
}

/// All records of a data set.
fn records(data: &DataSet) -> Array2<f64> {
    data.table.whole().unwrap().records().clone()
}

/// Number of records of `rows` in each class.
fn histogram(data: &DataSet, rows: std::ops::Range<usize>) -> Vec<usize> {
    match (data.table.target(), data.domain.target()) {
        (Target::Class(classes), TargetDomain::Class { levels }) => {
            let mut counts = vec![0; levels.len()];
            classes.slice(s![rows]).iter().for_each(|&class| counts[class] += 1);
            counts
        }
        other => panic!("no class: {other:?}"),
    }
}

/// Number of clipped cells, by column.
fn clipped(data: &DataSet) -> Vec<(&str, usize)> {
    data.clipped.iter().map(|column| (column.column.as_str(), column.cells)).collect()
}

fn column(data: &DataSet, name: &str) -> ndarray::Array1<f64> {
    let place = data.table.columns().iter().position(|column| column == name).unwrap();
    records(data).column(place).to_owned()
}

fn sum(data: &DataSet, name: &str) -> usize {
    column(data, name).sum() as usize
}

#[test]
fn wdbc_has_212_malignant_tumours_of_569() {
    let Some(data) = load("wdbc") else { return };
    assert_eq!(records(&data).dim(), (569, 30));
    assert_eq!(histogram(&data, 0..569), [212, 357]);
    // The first record: radius 17.99 of 40, worst fractal dimension 0.1189 of 0.25.
    assert_abs_diff_eq!(records(&data)[[0, 0]], 17.99 / 40.0, epsilon = 1e-15);
    assert_abs_diff_eq!(records(&data)[[0, 29]], 0.1189 / 0.25, epsilon = 1e-15);
    let cells: usize = clipped(&data).iter().map(|(_, cells)| cells).sum();
    assert_eq!(cells, 39, "{:?}", data.clipped);
}

#[test]
fn tumours_as_measured_lie_where_the_file_has_them() {
    let Some(table) = if_present(wdbc::measurements(&folder())) else { return };
    assert_eq!(table.records().dim(), (569, 30));
    // The extremes of mean radius, worst perimeter, worst area and worst concavity. The last one is outside
    // its bounds.
    for (place, smallest, largest) in
        [(0, 6.981, 28.11), (22, 50.41, 251.2), (23, 185.2, 4254.0), (26, 0.0, 1.252)]
    {
        let column = table.records().column(place);
        assert_abs_diff_eq!(column.fold(f64::INFINITY, |least, x| least.min(*x)), smallest, epsilon = 1e-12);
        assert_abs_diff_eq!(column.fold(0.0, |most, x| f64::max(most, *x)), largest, epsilon = 1e-12);
    }
    let Target::Class(classes) = table.target() else { panic!("a diagnosis is a class") };
    assert_eq!(classes.iter().filter(|class| **class == 0).count(), 212);
}

#[test]
fn adult_has_7841_high_earners_among_32561_for_training() {
    let Some(data) = load("adult") else { return };
    assert_eq!((records(&data).dim(), data.train_records), ((48_842, 91), Some(32_561)));
    assert_eq!(histogram(&data, 0..32_561), [24_720, 7_841]);
    assert_eq!(histogram(&data, 32_561..48_842), [12_435, 3_846]);
    assert_eq!(sum(&data, "workclass=?"), 1_836 + 963);
    assert_eq!(sum(&data, "occupation=?"), 1_843 + 966);
    assert_eq!(sum(&data, "native-country=?"), 583 + 274);
    let training = |name: &str| column(&data, name).slice(s![..32_561]).mean().unwrap();
    assert_abs_diff_eq!(17.0 + 73.0 * training("age"), 38.582, epsilon = 5e-4);
    assert_abs_diff_eq!(99_999.0 * training("capital-gain"), 1077.649, epsilon = 5e-4);
    assert_abs_diff_eq!(5_000.0 * training("capital-loss"), 87.304, epsilon = 5e-4);
    assert_abs_diff_eq!(1.0 + 98.0 * training("hours-per-week"), 40.437, epsilon = 5e-4);
    assert_eq!(clipped(&data), []);
}

#[test]
fn valuation_has_289_houses_of_414_for_training() {
    let Some(data) = load("valuation") else { return };
    assert_eq!((records(&data).dim(), data.train_records), ((414, 6), Some(289)));
    assert_abs_diff_eq!(50.0 * column(&data, "X2 house age").mean().unwrap(), 17.7126, epsilon = 5e-5);
    assert_abs_diff_eq!(
        121.45 + 0.2 * column(&data, "X6 longitude").mean().unwrap(),
        121.533,
        epsilon = 5e-4
    );
    let Target::Real(price) = data.table.target() else { panic!("a price is a number") };
    // The mean is 37.9802, and a price of 117.5 is clipped to 100.
    assert_abs_diff_eq!(100.0 * price.mean().unwrap(), 37.9802 - 17.5 / 414.0, epsilon = 5e-5);
    assert_eq!(
        clipped(&data),
        [("X3 distance to the nearest MRT station", 5), ("Y house price of unit area", 1)]
    );
}

#[test]
fn the_house_has_1417_days_and_nine_of_them_no_next() {
    let Some(power) = if_present(household::power(&folder())) else { return };
    assert_eq!(power.dim(), (1_417, 24));
    assert_abs_diff_eq!(power.mean().unwrap(), 1.091647, epsilon = 5e-7);
    assert_abs_diff_eq!(power.iter().copied().fold(f64::INFINITY, f64::min), 0.124, epsilon = 1e-12);
    let largest = power.iter().copied().fold(0.0, f64::max);
    assert_abs_diff_eq!(largest, 6.5605333, epsilon = 5e-8);
    // The mean of each hour, as a share of the range from the smallest to the largest value.
    let means = [
        0.0833, 0.0645, 0.0555, 0.0499, 0.0497, 0.0512, 0.1037, 0.2140, 0.2077, 0.1876, 0.1767, 0.1746,
        0.1684, 0.1585, 0.1489, 0.1347, 0.1283, 0.1447, 0.1869, 0.2501, 0.2758, 0.2723, 0.2003, 0.1208,
    ];
    for (found, expected) in power.mean_axis(Axis(0)).unwrap().iter().zip(means) {
        assert_abs_diff_eq!((found - 0.124) / (largest - 0.124), expected, epsilon = 5e-5);
    }

    // The missing days make eight gaps, and the last day has no next day.
    let data = load("household").unwrap();
    assert_eq!((records(&data).dim(), data.train_records), ((1_408, 24), Some(985)));
    let Target::Real(next) = data.table.target() else { panic!("power is a number") };
    assert_abs_diff_eq!(4.0 * next[0], power.row(1).mean().unwrap(), epsilon = 1e-12);
    assert_eq!(clipped(&data), []);
}

#[test]
fn lending_club_has_30042_loans_of_42535_before_july_2011() {
    let Some(data) = load("lending-club") else { return };
    assert_eq!((records(&data).dim(), data.train_records), ((42_535, 99), Some(30_042)));
    assert_eq!(sum(&data, "emp_length=n/a"), 1_112);
    assert_eq!([sum(&data, "home_ownership=OTHER"), sum(&data, "home_ownership=NONE")], [136, 8]);
    let Target::Real(rate) = data.table.target() else { panic!("a rate is a number") };
    // From 5.42 to 24.59 percent.
    assert_abs_diff_eq!(5.0 + 20.0 * rate.iter().copied().fold(1.0, f64::min), 5.42, epsilon = 1e-12);
    assert_abs_diff_eq!(5.0 + 20.0 * rate.iter().copied().fold(0.0, f64::max), 24.59, epsilon = 1e-12);
    assert_abs_diff_eq!(5.0 + 20.0 * rate.mean().unwrap(), 12.165_015_634, epsilon = 1e-9);
    // 26,926 and 38,884 are empty, 821 and 1,275 are 0, and 13 and 2 are at the bound or beyond. They were
    // counted independently of this crate.
    let never = |name: &str| column(&data, name).iter().filter(|&&x| x == 1.0).count();
    assert_eq!(["mths_since_last_delinq", "mths_since_last_record"].map(never), [27_760, 40_161]);
    // 1,233 of nearly 900,000 cells.
    assert_eq!(
        clipped(&data),
        [
            ("annual_inc", 685),
            ("delinq_2yrs", 3),
            ("credit history", 6),
            ("inq_last_6mths", 71),
            ("mths_since_last_delinq", 13),
            ("mths_since_last_record", 1),
            ("revol_bal", 427),
            ("revol_util", 27),
        ]
    );
}

#[test]
fn lending_club_default_has_6431_charged_off_loans_of_42535() {
    let Some(data) = load("lending-club-default") else { return };
    assert_eq!((records(&data).dim(), data.train_records), ((42_535, 110), Some(30_042)));
    assert_eq!(histogram(&data, 0..42_535), [34_116 + 1_988, 6_431]);
    let loans = lending_club::loans(&folder()).unwrap();
    assert_eq!(loans.data.table, data.table);
    assert!(loans.issued.is_sorted() && loans.issued.len() == 42_535);
    // 55 months, from June 2007 on.
    let mut months = loans.issued.clone();
    months.dedup();
    assert_eq!((months.len(), months[0].to_string()), (55, "2007-06-01".into()));
    assert_eq!(loans.joined().map(|places| places.len()), [71, 39]);
    let grades = ["A", "B", "C", "D", "E", "F", "G"].map(|grade| sum(&data, &format!("grade={grade}")));
    assert_eq!(grades, [10_183, 12_389, 8_740, 6_016, 3_394, 1_301, 512]);
}

#[test]
fn digits_have_their_known_histograms() {
    let Some(data) = load("mnist") else { return };
    assert_eq!((records(&data).dim(), data.train_records), ((70_000, 784), Some(60_000)));
    // A byte each, as in the files.
    assert_eq!(data.table.bytes(), 70_000 * 784);
    assert_eq!(
        histogram(&data, 0..60_000),
        [5_923, 6_742, 5_958, 6_131, 5_842, 5_421, 5_918, 6_265, 5_851, 5_949]
    );
    assert_eq!(
        histogram(&data, 60_000..70_000),
        [980, 1_135, 1_032, 1_010, 982, 892, 958, 1_028, 974, 1_009]
    );
    // The well-known mean of the training images, used to standardise them: 0.1307.
    assert_abs_diff_eq!(records(&data).slice(s![..60_000, ..]).mean().unwrap(), 0.1307, epsilon = 5e-5);
}

/// Numbers of records, encoded columns and records of the first class (for a numeric target, the sum) are
/// those of the packages that publish the tables.
#[test]
fn other_tables_have_their_known_records_and_classes() {
    for (name, records, first) in [
        ("credit-card", 1_319, 296),
        ("hmda", 2_380, 2_095),
        ("letters", 20_000, 789),
        ("pima", 768, 500),
        ("satellite", 6_435, 1_533),
        ("spam", 4_601, 2_788),
        ("votes", 435, 267),
    ] {
        let Some(data) = load(name) else { continue };
        assert_eq!((data.table.len(), histogram(&data, 0..records)[0]), (records, first), "{name}");
    }
    for (name, records, mean) in
        [("college", 4_739, 13.8078), ("doctor-visits", 5_190, 0.301734), ("wages", 28_155, 595.1126)]
    {
        let Some(data) = load(name) else { continue };
        let Target::Real(values) = data.table.target() else { panic!("{name}: a number") };
        let lower = match name {
            "college" => 12.0,
            "wages" => 50.0,
            _ => 0.0,
        };
        assert_eq!(data.table.len(), records, "{name}");
        assert_abs_diff_eq!(lower + data.target_width * values.mean().unwrap(), mean, epsilon = 5e-4);
    }
}

/// Bounds are public numbers, and clip at most a few cells of a table.
#[test]
fn bounds_of_other_tables_clip_few_cells() {
    let names = ["college", "credit-card", "doctor-visits", "hmda", "letters"];
    for name in names.into_iter().chain(["pima", "satellite", "spam", "votes", "wages"]) {
        let Some(data) = load(name) else { continue };
        let cells: usize = clipped(&data).iter().map(|(_, cells)| cells).sum();
        let columns = data.columns.as_ref().map_or(0, |schema| schema.columns().len());
        let share = cells as f64 / (data.table.len() * columns) as f64;
        assert!(share <= 0.005, "{name}: {share}: {:?}", data.clipped);
    }
}

#[test]
fn colour_images_have_their_known_means() {
    let Some(data) = load("cifar10") else { return };
    let train = data.train_records.unwrap();
    assert_eq!(data.table.columns().len(), 3_072);
    assert!(train % 10_000 == 0 && data.table.len() > train, "{train} of {}", data.table.len());
    assert!(histogram(&data, 0..train).iter().all(|&count| count.abs_diff(train / 10) < train / 100));
    // The published means of the 50,000 images are 125.3, 123.0 and 113.9 of 255, and the means of one batch
    // are close. The standard error of a mean over 10,000 images is at most 66.7 / 100, even if all pixels of
    // an image were equal.
    let records = records(&data);
    let training = records.slice(s![..train, ..]);
    for (colour, expected) in [125.306918, 122.950394, 113.865383].into_iter().enumerate() {
        let mean = training.slice(s![.., 1024 * colour..1024 * (colour + 1)]).mean().unwrap();
        assert_abs_diff_eq!(255.0 * mean, expected, epsilon = 3.0 * 0.667);
    }
}

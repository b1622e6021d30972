//! Files of every format with a few made-up rows. `tests/made-up/` has the layout of the data.

use approx::assert_abs_diff_eq;
use jiff::civil::date;
use ndarray::{Array2, array};
use scumble_core::{Domain, Target, TargetDomain};
use scumble_datasets::{DataSet, Error, Input, Source, household, lending_club, source, sources, wdbc};
use scumble_records::Clipped;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/made-up")
}

fn load(name: &str) -> DataSet {
    let data = source(name).and_then(|source| source.load(&folder())).unwrap();
    assert_eq!(data.name, name);
    // All records read are in the stated domain.
    let layout = data.domain.layout();
    assert_eq!(data.table.columns(), data.domain.columns());
    let table = data.table.whole().unwrap();
    for row in 0..table.len() {
        assert!(data.domain.flat().contains(&layout.flatten(&table, row)), "row {row} of {name}");
    }
    data
}

/// All records of a data set.
fn records(data: &DataSet) -> Array2<f64> {
    data.table.whole().unwrap().records().clone()
}

impl Cell<'_> {
    /// The value of the encoded column `column`.
    fn value(&self, column: &str) -> f64 {
        let place = self.data.table.columns().iter().position(|name| name == column);
        records(self.data)[[self.row, place.unwrap_or_else(|| panic!("no column {column}"))]]
    }

    /// The level of a category. Exactly one of its columns is 1, and the others are 0.
    fn level(&self, column: &str) -> &str {
        let prefix = format!("{column}=");
        let columns = self.data.table.columns().iter().filter(|name| name.starts_with(&prefix));
        let ones: Vec<&String> = columns.filter(|name| self.value(name) == 1.0).collect();
        assert_eq!(ones.len(), 1, "{column}: {ones:?}");
        &ones[0][prefix.len()..]
    }
}

struct Cell<'d> {
    data: &'d DataSet,
    row: usize,
}

fn row(data: &DataSet, row: usize) -> Cell<'_> {
    Cell { data, row }
}

fn clipped(column: &str, cells: usize, lower: f64, upper: f64) -> Clipped {
    Clipped { column: column.into(), cells, lower: lower.to_string(), upper: upper.to_string() }
}

fn classes(data: &DataSet) -> (Vec<usize>, Vec<String>) {
    match (data.table.target(), data.domain.target()) {
        (Target::Class(classes), TargetDomain::Class { levels }) => (classes.to_vec(), levels.clone()),
        other => panic!("no class: {other:?}"),
    }
}

fn numbers(data: &DataSet) -> Vec<f64> {
    match data.table.target() {
        Target::Real(values) => values.to_vec(),
        other => panic!("no number: {other:?}"),
    }
}

#[test]
fn tumours_are_scaled_by_definition_and_have_a_diagnosis() {
    let data = load("wdbc");
    assert_eq!(classes(&data), (vec![0, 1, 1], vec!["malignant".into(), "benign".into()]));
    assert_eq!((data.table.columns().len(), data.train_records), (30, None));
    assert!(records(&data).row(0).iter().all(|&x| (x - 0.5).abs() < 1e-12));
    assert!(records(&data).row(1).iter().all(|&x| (x - 1.0).abs() < 1e-12));
    assert_eq!(row(&data, 2).value("mean radius"), 1.0);
    assert_abs_diff_eq!(row(&data, 2).value("worst area"), 0.25, epsilon = 1e-12);
    assert_eq!(data.clipped, [clipped("mean radius", 1, 0.0, 40.0)]);
}

#[test]
fn tumours_as_measured_are_neither_scaled_nor_clipped() {
    let table = wdbc::measurements(&folder()).unwrap();
    assert_eq!(table.records().column(0).to_vec(), [20.0, 40.0, 41.5]);
    assert_eq!(table.records().column(23).to_vec(), [2500.0, 5000.0, 1250.0]);
    assert_eq!(table.target(), load("wdbc").table.target());
}

#[test]
fn people_come_with_their_categories_and_a_missing_one_is_a_level() {
    let data = load("adult");
    assert_eq!((data.table.len(), data.train_records), (5, Some(3)));
    assert_eq!(classes(&data), (vec![0, 1, 0, 0, 1], vec!["<=50K".into(), ">50K".into()]));
    // 5 numbers, and 9 + 7 + 15 + 6 + 5 + 2 + 42 levels.
    assert_eq!(data.table.columns().len(), 91);
    let first = row(&data, 0);
    assert_eq!(
        [first.value("age"), first.value("hours-per-week"), first.value("capital-gain")],
        [0.25, 0.5, 0.0]
    );
    assert_abs_diff_eq!(first.value("education-num"), 8.0 / 15.0, epsilon = 1e-12);
    assert_eq!([first.level("workclass"), first.level("native-country")], ["Private", "United-States"]);
    let second = row(&data, 1);
    assert_eq!(second.level("workclass"), "?");
    assert_eq!(second.level("occupation"), "?");
    assert_eq!(second.level("native-country"), "?");
    assert_eq!([second.value("age"), second.value("capital-gain"), second.value("capital-loss")], [1.0; 3]);
    assert_eq!(row(&data, 2).value("age"), 0.0);
    assert_eq!(row(&data, 3).level("native-country"), "Holand-Netherlands");
    assert_eq!(data.clipped, [clipped("age", 1, 17.0, 90.0), clipped("capital-loss", 1, 0.0, 5000.0)]);
}

#[test]
fn houses_keep_their_order_and_the_first_seven_in_ten_are_for_training() {
    let data = load("valuation");
    assert_eq!((data.table.len(), data.train_records), (4, Some(2)));
    let records = records(&data);
    for (column, expected) in [0.25, 0.5, 0.25, 0.25, 0.25, 0.5].into_iter().enumerate() {
        assert_abs_diff_eq!(records[[0, column]], expected, epsilon = 1e-12);
    }
    assert_eq!(numbers(&data), [0.4, 1.0, 0.075, 0.25]);
    assert_eq!(data.target_width, 100.0);
    assert_eq!(
        data.clipped,
        [
            clipped("X3 distance to the nearest MRT station", 1, 0.0, 5000.0),
            clipped("Y house price of unit area", 1, 0.0, 100.0)
        ]
    );
}

#[test]
fn a_day_without_a_next_calendar_day_is_left_out() {
    let data = load("household");
    // The file has the 1st, 2nd, 3rd, 5th and 6th. The records are the 1st, the 2nd and the 5th.
    assert_eq!((data.table.len(), data.train_records), (3, Some(2)));
    assert_eq!(data.table.columns()[23], "hour 23");
    assert_abs_diff_eq!(row(&data, 0).value("hour 0"), 0.1, epsilon = 1e-12);
    assert_abs_diff_eq!(row(&data, 1).value("hour 4"), 0.2, epsilon = 1e-12);
    assert_eq!(row(&data, 1).value("hour 5"), 1.0);
    assert_eq!(row(&data, 2).value("hour 5"), 0.0);
    // (23 × 1.8 + 10.8) / 24 = 2.175 kW, 2 kW, and 4.8 kW of 4.
    for (found, expected) in numbers(&data).into_iter().zip([0.54375, 0.5, 1.0]) {
        assert_abs_diff_eq!(found, expected, epsilon = 1e-12);
    }
    assert_eq!(data.clipped, [clipped("hour 5", 1, 0.0, 9.0), clipped("next day", 1, 0.0, 4.0)]);
}

#[test]
fn the_power_itself_comes_in_kilowatts_for_every_day() {
    let power = household::power(&folder()).unwrap();
    assert_eq!(power.dim(), (5, 24));
    assert_eq!([power[[0, 0]], power[[1, 4]], power[[1, 5]], power[[4, 23]]], [0.9, 1.8, 10.8, 4.8]);
}

#[test]
fn loans_are_sorted_by_time_and_what_is_missing_has_its_constant() {
    let data = load("lending-club");
    // In the file the loan of December 2011 comes first. The loans before July 2011 are for training.
    assert_eq!((data.table.len(), data.train_records), (3, Some(2)));
    assert_eq!(numbers(&data), [0.25, 0.0, 1.0]);
    // 15 numbers, and 2 + 12 + 5 + 14 + 51 levels.
    assert_eq!((data.table.columns().len(), data.target_width), (99, 20.0));
    let [oldest, middle, last] = [0, 1, 2].map(|at| row(&data, at));
    assert_eq!(oldest.value("loan_amnt"), 0.5);
    assert_eq!(oldest.value("credit history"), 0.5);
    assert_eq!(oldest.value("annual_inc"), 0.25);
    assert_eq!([oldest.value("mths_since_last_delinq"), oldest.value("mths_since_last_record")], [1.0, 1.0]);
    assert_eq!([oldest.value("revol_util"), oldest.value("pub_rec_bankruptcies")], [1.0, 0.0]);
    assert_eq!(
        [oldest.level("term"), oldest.level("emp_length"), oldest.level("addr_state")],
        ["36", "< 1 year", "AL"]
    );
    assert_eq!(middle.level("emp_length"), "n/a");
    assert_eq!([middle.value("mths_since_last_delinq"), middle.value("mths_since_last_record")], [1.0, 1.0]);
    for column in
        ["credit history", "delinq_2yrs", "inq_last_6mths", "open_acc", "pub_rec", "revol_util", "total_acc"]
    {
        assert_eq!(middle.value(column), 0.0, "{column}");
    }
    assert_eq!([last.value("mths_since_last_delinq"), last.value("mths_since_last_record")], [0.25, 0.5]);
    assert_eq!(last.value("credit history"), 0.25);
    assert_eq!([last.value("dti"), last.value("fico_range_low"), last.value("annual_inc")], [0.5; 3]);
    assert_eq!(
        data.clipped,
        [clipped("annual_inc", 1, 0.0, 200_000.0), clipped("revol_util", 1, 0.0, 100.0)]
    );
    // No column that is settled with the rate, or after it.
    let columns = data.table.columns();
    for late in ["grade", "installment", "funded_amnt", "loan_status", "verification_status", "int_rate"] {
        assert!(columns.iter().all(|column| !column.starts_with(late)), "{late}");
    }
}

#[test]
fn whether_a_loan_is_paid_back_is_learned_from_rate_and_grade_too() {
    let data = load("lending-club-default");
    assert_eq!(data.train_records, Some(2));
    assert_eq!(classes(&data), (vec![0, 1, 1], vec!["paid".into(), "charged off".into()]));
    // The rate, 7 grades and 3 levels of verification in addition.
    assert_eq!(data.table.columns().len(), 110);
    assert_eq!([row(&data, 0).value("int_rate"), row(&data, 2).value("int_rate")], [0.25, 1.0]);
    assert_eq!([row(&data, 0).level("grade"), row(&data, 2).level("grade")], ["B", "G"]);
    assert_eq!(row(&data, 1).level("verification_status"), "Source Verified");
}

#[test]
fn loans_come_with_their_months_and_the_columns_of_a_data_join() {
    let loans = lending_club::loans(&folder()).unwrap();
    assert_eq!(loans.issued, [date(2007, 12, 1), date(2011, 6, 1), date(2011, 12, 1)]);
    assert_eq!(classes(&loans.data), (vec![0, 1, 1], vec!["paid".into(), "charged off".into()]));
    let [joined, others] = loans.joined();
    // Three numbers, 51 states, 5 homes and 12 levels of employment.
    assert_eq!((joined.len(), others.len()), (3 + 51 + 5 + 12, 110 - 71));
    let columns = loans.data.table.columns();
    let names: Vec<&str> = joined.iter().map(|&place| &columns[place][..]).collect();
    for name in ["credit history", "open_acc", "pub_rec_bankruptcies", "addr_state=CA", "emp_length=n/a"] {
        assert!(names.contains(&name), "{name}");
    }
    assert!(others.iter().all(|place| !joined.contains(place)) && !names.contains(&"pub_rec"));
}

#[test]
fn a_file_is_ordered_by_its_dates_and_the_youngest_records_are_for_tests() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        file
    };
    let schema = write(
        "schema.toml",
        "column = [{ name = \"x\", kind = \"real\", lower = 0, upper = 10 }, { name = \"y\", kind = \
         \"real\", lower = 0, upper = 1 }]",
    );
    let input =
        write("data.csv", "when,x,y\nDec-2011,4,0\nApr-2010,1,0\nJan-2011,2,0\nApr-2010,3,0\nFeb-2009,0,0\n");
    let read = |share| DataSet::read_by_time(&Input::new(&input, &schema, "y"), "when", share);
    let data = read(0.4).unwrap();
    assert_eq!(records(&data).column(0), array![0.0, 0.1, 0.3, 0.2, 0.4]);
    assert_eq!(data.train_records, Some(3));
    for (share, train) in [(1e-6, 4), (0.999_999, 1)] {
        assert_eq!(read(share).unwrap().train_records, Some(train));
    }
    write("data.csv", "when,x,y\n2011-12-01,4,0\nlast year,1,0\n");
    let refused = read(0.4).unwrap_err().to_string();
    assert!(
        refused
            .ends_with("row 2, column \"when\": \"last year\" is not a date such as 2007-12-01 or Dec-2007"),
        "{refused}"
    );
}

#[test]
fn digits_come_row_by_row_as_shares_of_white() {
    let data = load("mnist");
    assert_eq!((data.table.len(), data.train_records), (5, Some(3)));
    assert_eq!(classes(&data).0, [5, 0, 9, 7, 2]);
    assert_eq!(classes(&data).1.len(), 10);
    assert_eq!(records(&data).row(0), array![0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
    assert_eq!(row(&data, 2).value("row 1, column 2"), 1.0 / 255.0);
    assert_eq!(row(&data, 4).value("row 0, column 1"), 170.0 / 255.0);
    assert_eq!(*data.domain.features(), Domain::unit_box(6));
    assert_eq!(data.clipped, []);
}

#[test]
fn colour_images_come_colour_by_colour() {
    let data = load("cifar10");
    assert_eq!((data.table.len(), data.train_records), (3, Some(2)));
    let (classes, levels) = classes(&data);
    assert_eq!(classes.iter().map(|&class| &levels[class][..]).collect::<Vec<_>>(), ["frog", "truck", "cat"]);
    let means = records(&data).to_shape((9, 1024)).unwrap().mean_axis(ndarray::Axis(1)).unwrap();
    for (found, expected) in means.iter().zip([1.0, 0.2, 0.0, 0.0, 0.0, 0.4, 0.0, 1.0, 0.0]) {
        assert_abs_diff_eq!(*found, expected, epsilon = 1e-12);
    }
    assert_eq!(*data.domain.features(), Domain::unit_box(3072));
}

/// A folder of the made-up data with one file replaced.
struct Changed(TempDir);

impl Changed {
    fn new(file: &str, bytes: impl AsRef<[u8]>) -> Self {
        let (folder, file) = (TempDir::new().unwrap(), Path::new(file));
        let unpacked = |path: &Path| path.to_str().unwrap().replace(".gz", "").replace(".xz", "");
        let name = file.parent().unwrap();
        fs::create_dir(folder.path().join(name)).unwrap();
        for entry in fs::read_dir(self::folder().join(name)).unwrap() {
            let other = name.join(entry.unwrap().file_name());
            if unpacked(&other) != unpacked(file) {
                fs::copy(self::folder().join(&other), folder.path().join(&other)).unwrap();
            }
        }
        fs::write(folder.path().join(file), bytes).unwrap();
        Self(folder)
    }

    /// The error message of the source, without the folder's name.
    fn message(&self, name: &str) -> String {
        let error = source(name).unwrap().load(self.0.path()).unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
        error.replace(&format!("{}/", self.0.path().display()), "")
    }
}

const ADULT: &str = "40, Private, 1, HS-grad, 9, Never-married, Sales, Unmarried, White, Female, 0, 0, 50, \
    United-States, <=50K\n";

#[test]
fn a_broken_cell_is_named_with_its_file_row_column_and_value() {
    let adult = |from: &str, to: &str| {
        let text = ADULT.to_string() + &ADULT.replace(from, to);
        Changed::new("adult/adult.data", text).message("adult")
    };
    assert_eq!(
        adult("40, P", "forty, P"),
        "adult/adult.data, row 2, column \"age\": \"forty\" is not a number; a number between 17 and 90 \
         years is needed"
    );
    assert_eq!(
        adult("White", "Whit"),
        "adult/adult.data, row 2, column \"race\": \"Whit\" is not a level of the column; the schema has \
         White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black"
    );
    assert_eq!(Changed::new("adult/adult.data", "\n").message("adult"), "adult/adult.data holds no records");
    assert_eq!(adult(", <=50K", ""), "adult/adult.data, row 2: the row has 14 cells, and the header has 15");
    let made_up = fs::read_to_string(folder().join("wdbc/wdbc.csv")).unwrap();
    let wdbc =
        |from: &str, to: &str| Changed::new("wdbc/wdbc.csv", made_up.replace(from, to)).message("wdbc");
    assert_eq!(
        wdbc("\n2.0,1.0,", "\n2.0,0.5,"),
        "wdbc/wdbc.csv, row 2, column \"Cancer\": \"0.5\" is not a level of the column; the schema has \
         malignant, benign"
    );
    assert!(
        wdbc("Feature 30", "Feature 31")
            .contains("there is no column \"Feature 30\"; did you mean \"Feature 3")
    );
    let made_up = fs::read_to_string(folder().join("valuation/valuation.csv")).unwrap();
    let valuation = Changed::new("valuation/valuation.csv", made_up.replace("25.05", "north"));
    let message = valuation.message("valuation");
    let expected = "valuation/valuation.csv, row 3, column \"X5 latitude\": \"north\" is not a number";
    assert!(message.starts_with(expected));
}

#[test]
fn a_broken_loan_is_named_by_its_row_in_the_file() {
    let header = "loan_amnt,term,int_rate,emp_length,home_ownership,annual_inc,issue_d,purpose,addr_state,\
                  dti,delinq_2yrs,earliest_cr_line,fico_range_low,inq_last_6mths,mths_since_last_delinq,\
                  mths_since_last_record,open_acc,pub_rec,revol_bal,revol_util,total_acc,\
                  pub_rec_bankruptcies\n";
    let good = "500,36,5,1 year,OWN,1,2011-06-01,car,CA,1,1,2001-06-01,600,1,1,1,1,1,1,1,1,1\n";
    let early = good.replace("2011-06-01", "2010-06-01");
    let loans = |from: &str, to: &str| {
        let text = [header, good, &early.replace(from, to)].concat();
        Changed::new("lending_club/loans_2007_2011.csv", text).message("lending-club")
    };
    let file = "lending_club/loans_2007_2011.csv";
    assert_eq!(
        loans("2001-06-01", "June"),
        format!(
            "{file}, row 2, column \"earliest_cr_line\": \"June\" is not a date such as \
             2007-12-01 or Dec-2007"
        )
    );
    assert_eq!(
        loans("2010-06-01", ""),
        format!("{file}, row 2, column \"issue_d\": \"\" is not a date such as 2007-12-01 or Dec-2007")
    );
    assert_eq!(
        loans("500,", ","),
        format!(
            "{file}, row 2, column \"loan_amnt\": \"\" is not a number; a number between 500 and 35000 USD \
             is needed"
        )
    );
    assert_eq!(loans(",CA", ""), format!("{file}, row 2: the row has 21 cells, and the header has 22"));
}

#[test]
fn hours_that_do_not_make_whole_days_are_refused() {
    const FILE: &str = "household/household_power_consumption_aggre_clean.csv";
    let day = |date: &str| (0..24).map(|hour| format!("{date} {hour:02}:00:00,1\n")).collect::<String>();
    let refused = |text: String| Changed::new(FILE, format!("datetime,Power\n{text}")).message("household");
    let [first, second] = [day("2007-01-01"), day("2007-01-02")];
    let next = "is not the next hour; days must be in ascending order, each with the hours 0 to 23";
    assert_eq!(
        refused(first.replace("2007-01-01 07:00:00,1\n", "")),
        format!("{FILE}, row 8, column \"datetime\": \"2007-01-01 08:00:00\" {next}")
    );
    assert_eq!(
        refused(second.clone() + &first),
        format!("{FILE}, row 25, column \"datetime\": \"2007-01-01 00:00:00\" {next}")
    );
    assert_eq!(
        refused(first.replace("05:00:00,1", "05:00:00,NaN")),
        format!("{FILE}, row 6, column \"Power\": \"NaN\" is not a finite number of kW")
    );
    assert_eq!(
        refused(first.replace("2007-01-01 05", "2007-13-01 05")),
        format!(
            "{FILE}, row 6, column \"datetime\": \"2007-13-01 05:00:00\" is not a time such as \
             2006-12-17 00:00:00"
        )
    );
    let cut: String = second.lines().take(3).map(|line| format!("{line}\n")).collect();
    assert_eq!(
        refused(first.clone() + &cut),
        format!("{FILE}: it ends after 2 days and 3 hours; complete days are needed")
    );
    assert_eq!(refused(first), format!("{FILE} holds no records"));
}

#[test]
fn images_and_labels_that_do_not_fit_are_refused() {
    let labels = |bytes: &[u8]| Changed::new("mnist/train-labels-idx1-ubyte", bytes).message("mnist");
    assert_eq!(
        labels(&[0, 0, 8, 1, 0, 0, 0, 2, 1, 1]),
        "mnist/train-labels-idx1-ubyte: its sizes are [2], but 3 images need [3]"
    );
    assert_eq!(
        labels(&[0, 0, 8, 1, 0, 0, 0, 3, 1, 10, 1]),
        "mnist/train-labels-idx1-ubyte: image 2 has class 10; the classes are 0 to 9"
    );
    let images = |bytes: &[u8]| Changed::new("mnist/t10k-images-idx3-ubyte", bytes).message("mnist");
    assert_eq!(
        images(&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 9, 9]),
        "t10k-images-idx3-ubyte: its images are 1 × 1, but the training images are 2 × 3"
    );
    assert_eq!(
        images(&[0, 0, 8, 1, 0, 0, 0, 2, 9, 9]),
        "mnist/t10k-images-idx3-ubyte: it has 1 dimensions; images need 3"
    );
    let batch = Changed::new("cifar10/data_batch_1.bin", [0; 100]).message("cifar10");
    assert!(batch.starts_with("cifar10/data_batch_1.bin: it has 100 bytes, not a positive multiple of 3073"));
}

#[test]
fn a_file_that_is_cut_or_no_archive_is_named() {
    let packed = fs::read(folder().join("adult/adult.data.gz")).unwrap();
    let message = Changed::new("adult/adult.data.gz", &packed[..packed.len() / 2]).message("adult");
    assert!(message.starts_with("adult/adult.data.gz: "), "{message}");
    let packed = fs::read(folder().join("cifar10/data_batch_1.bin.xz")).unwrap();
    for wrong in [&packed[..packed.len() / 2], b"no archive"] {
        let message = Changed::new("cifar10/data_batch_1.bin.xz", wrong).message("cifar10");
        assert!(message.starts_with("cifar10/data_batch_1.bin.xz: "), "{message}");
    }
    let message = Changed::new("adult/adult.data", b"\xff\xfe").message("adult");
    assert!(message.starts_with("adult/adult.data: it is not UTF-8 text"), "{message}");
}

#[test]
fn a_missing_file_is_named_with_where_to_say_where_it_is() {
    let empty = TempDir::new().unwrap();
    let built_in = |source: &&Source| ["diabetes", "iris", "tree", "wine", "xor"].contains(&source.name);
    for source in sources().iter().filter(|source| !built_in(source)) {
        let error = source.load(empty.path()).unwrap_err();
        assert!(matches!(error, Error::Missing { .. }), "{error}");
    }
    assert_eq!(
        source("valuation").unwrap().load(empty.path()).unwrap_err().to_string(),
        format!(
            "{}/valuation/valuation.csv: no such file, nor one with the ending .gz or .xz; set the \
             environment variable SCUMBLE_DATA to the folder of the data sets",
            empty.path().display()
        )
    );
    assert_eq!(source("wine").unwrap().load(empty.path()).unwrap().table.len(), 1599);
}

/// A table without a module of its own is read by its schema alone.
#[test]
fn a_table_of_the_folder_more_is_read_by_its_schema() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("more")).unwrap();
    let file = folder.path().join("more/votes.csv");
    let header: Vec<String> = (1..=16).map(|vote| format!("V{vote}")).collect();
    let header = format!("Class,{}\n", header.join(","));
    fs::write(&file, format!("{header}republican{}\ndemocrat{}\n", ",y".repeat(16), ",".repeat(16))).unwrap();
    let votes = source("votes").unwrap().load(folder.path()).unwrap();
    let Target::Class(parties) = votes.table.target() else { panic!("a class") };
    assert_eq!((votes.table.len(), parties.to_vec()), (2, vec![1, 0]));
    let level = |at: usize| row(&votes, at).level("V16").to_owned();
    assert_eq!((level(0), level(1)), ("y".into(), "none".into()));
    fs::write(&file, format!("{header}whig{}\n", ",y".repeat(16))).unwrap();
    let message = source("votes").unwrap().load(folder.path()).unwrap_err().to_string();
    assert!(message.contains("votes.csv, row 1, column \"Class\": \"whig\" is not a level"), "{message}");
}

/// Tables of one and two columns show nothing of the class of `xor`, and tables of three show all of it.
#[test]
fn the_class_of_generated_records_follows_from_several_columns() {
    for (name, columns, joint, alone) in [("xor", 2, 0.9, 0.53), ("tree", 4, 0.9, 0.75)] {
        let data = source(name).unwrap().load(Path::new("")).unwrap();
        assert!(data.is_public && data.table.len() == 4000);
        let (classes, records) = (classes(&data).0, records(&data));
        // Accuracy of the most frequent class for each combination of values in the first `columns` answers.
        let accuracy = |columns: &[usize]| {
            let mut counts = std::collections::BTreeMap::<Vec<u64>, [usize; 2]>::new();
            for (row, class) in records.outer_iter().zip(&classes) {
                let values = columns.iter().map(|&column| row[column].to_bits()).collect();
                counts.entry(values).or_default()[*class] += 1;
            }
            counts.values().map(|of| of[0].max(of[1])).sum::<usize>() as f64 / 4000.0
        };
        let places: Vec<usize> = (0..records.ncols()).collect();
        let width = records.ncols() / 8;
        let found = accuracy(&places[..columns * width]);
        assert_abs_diff_eq!(found, joint, epsilon = 0.02);
        for answer in 0..8 {
            assert!(accuracy(&places[answer * width..(answer + 1) * width]) < alone, "{name} {answer}");
        }
    }
}

#[test]
fn a_name_that_no_data_set_has_gets_the_nearest_and_all() {
    assert_eq!(
        source("adlt").unwrap_err().to_string(),
        "there is no data set \"adlt\" (did you mean \"adult\"?); there are adult, cifar10, college, \
         credit-card, diabetes, doctor-visits, hmda, household, iris, lending-club, lending-club-default, \
         letters, mnist, pima, satellite, spam, tree, valuation, votes, wages, wdbc, wine, xor"
    );
    let names: Vec<&str> = sources().iter().map(|source| source.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert!(sources().iter().all(|source| !source.about.contains('\n')));
}

#[test]
fn the_wines_are_as_they_were() {
    let wine = DataSet::wine().unwrap();
    assert_eq!((wine.name.as_str(), wine.target.as_str()), ("wine quality", "quality"));
    assert_eq!((wine.table.len(), wine.table.columns().len()), (1599, 11));
    let (classes, levels) = classes(&wine);
    // Cortez et al. 2009: 638 + 199 + 18 of 1,599 have six points or more.
    assert_eq!((classes.iter().sum::<usize>(), levels), (855, vec!["bad".to_string(), "good".to_string()]));
    assert_eq!((wine.target_width, wine.train_records), (1.0, None));
}

#[test]
fn a_users_file_is_read_by_its_schema() {
    let folder = TempDir::new().unwrap();
    let [schema, input] = ["schema.toml", "data.csv"].map(|name| folder.path().join(name));
    let toml = "[[column]]\nname = \"size\"\nkind = \"real\"\nlower = 0\nupper = 2\n\n[[column]]\nname = \
                \"price\"\nkind = \"real\"\nlower = 0\nupper = 10\n";
    fs::write(&schema, toml).unwrap();
    fs::write(&input, "size,price\n1,5\n3,7\n").unwrap();
    let data = DataSet::read(&Input::new(&input, &schema, "price")).unwrap();
    assert_eq!(records(&data), Array2::from_shape_vec((2, 1), vec![0.5, 1.0]).unwrap());
    // Only the name of the file, so that the result discloses no path of this machine.
    assert_eq!((data.target_width, data.train_records, &*data.name), (10.0, None, "data.csv"));
    assert_eq!(data.clipped, [clipped("size", 1, 0.0, 2.0)]);
}

/// A sample keeps 10 of 40 records, each in a quarter of 2,000 samples. χ² of the counts is below 90, except
/// for one run in about a hundred thousand. Seeds are fixed.
#[test]
fn a_sample_has_each_record_as_often_as_any_other() {
    let folder = TempDir::new().unwrap();
    let [input, schema] = ["data.csv", "schema.toml"].map(|name| folder.path().join(name));
    let rows: String = (0..40).map(|at| format!("{at},{}\n", at % 2)).collect();
    std::fs::write(&input, format!("x,y\n{rows}")).unwrap();
    let column = |name: &str, upper: f64| {
        format!("[[column]]\nname = \"{name}\"\nkind = \"real\"\nlower = 0.0\nupper = {upper:?}\n")
    };
    std::fs::write(&schema, column("x", 64.0) + &column("y", 1.0)).unwrap();
    let mut counts = [0.0; 40];
    for seed in 0..2000 {
        let (data, all) = DataSet::read_sample(&Input::new(&input, &schema, "y"), 10, seed).unwrap();
        assert_eq!((data.table.len(), all), (10, 40));
        let values: Vec<f64> = records(&data).column(0).iter().map(|value| value * 64.0).collect();
        let Target::Real(targets) = data.table.target() else { panic!("numbers") };
        for (value, target) in values.iter().zip(targets) {
            counts[*value as usize] += 1.0;
            assert_eq!(value % 2.0, *target, "a record was torn apart");
        }
    }
    // The counts of one sample add up to ten, so they vary a little less than counts of coins.
    let chi_square: f64 = counts.iter().map(|count: &f64| (count - 500.0).powi(2) / (500.0 * 0.75)).sum();
    assert!(chi_square < 90.0, "{chi_square}: {counts:?}");
    let (whole, _) = DataSet::read_sample(&Input::new(&input, &schema, "y"), 99, 1).unwrap();
    assert_eq!(whole.table, DataSet::read(&Input::new(&input, &schema, "y")).unwrap().table);
}

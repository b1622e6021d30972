//! `scumble compare --config`: experiments, and resuming them.

use crate::{Files, timeless};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Experiment with two variants of laplace and one of identity, on sixty rows in which the price is linear in
/// the size.
const EXPERIMENT: &str = r#"
epsilon = [1, 8.0]
trials = 3
seed = 7

[data]
input = "data.csv"
schema = "schema.toml"
target = "price"

[split]
kind = "random"
test_share = 0.25

[[mechanism]]
name = "identity"

[[mechanism]]
name = "laplace"
grid = { protect = ["label", "record"] }
"#;

fn with(experiment: &str) -> Files {
    let files = Files::new();
    files.good();
    files.write("exp.toml", experiment);
    files
}

impl Files {
    fn compared(&self, line: &str) -> Value {
        self.json(&format!("compare --json {line}"))
    }

    /// Returns the keys of all finished trials.
    fn keys(&self) -> Vec<String> {
        let lines = self.read("exp.cells.jsonl");
        let key =
            |line: &str| serde_json::from_str::<Value>(line).unwrap()["key"].as_str().unwrap().to_owned();
        lines.lines().map(key).collect()
    }
}

#[test]
fn an_experiment_is_the_command_that_says_the_same() {
    let files = with(EXPERIMENT);
    let by_file = files.compared("--config exp.toml");
    let options = "--epsilon 1,8 --trials 3 --seed 7 --test-share 0.25 --input data.csv --schema schema.toml \
        --target price";
    for (protect, first, last) in [("label", 0, 2), ("record", 2, 4)] {
        let line = format!("{options} --mechanism laplace --set laplace.protect={protect}");
        let by_options = timeless(files.compared(&line));
        let rows = &timeless(by_file.clone())["rows"];
        let alone = &by_options["rows"].as_array().unwrap()[..last - first];
        assert_eq!(&rows.as_array().unwrap()[first..last], alone);
    }
    let text = files.run("compare --full --config exp.toml");
    for expected in ["laplace, protect = label", "laplace, protect = record", "45 released records"] {
        assert!(text.contains(expected), "{expected:?} is missing:\n{text}");
    }
}

#[test]
fn options_take_the_place_of_what_the_file_says() {
    let files = with(EXPERIMENT);
    let outcome = files.compared("--config exp.toml --epsilon 2 --trials 2 --seed 9 --test-share 0.5");
    assert_eq!((outcome["seed"].as_u64(), outcome["test_records"].as_u64()), (Some(9), Some(30)));
    let rows = crate::all_rows(&outcome);
    assert_eq!(rows.len(), 3 * 3);
    assert!(rows.iter().all(|row| row["trials"] == 2 && (row["epsilon"] == 2.0 || row["epsilon"].is_null())));
    let outcome = files.compared("--config exp.toml --mechanism gaussian --delta 1e-3");
    assert!(outcome["rows"][0]["guarantee"]["summary"].as_str().unwrap().contains("1e-3"), "{outcome}");
    assert_eq!(outcome["rows"][0]["mechanism"], "gaussian");
    let colour = "--config exp.toml --input data.csv --schema schema.toml --target colour";
    let refused = files.refuses(&format!("compare {colour}"));
    assert!(
        refused.starts_with("laplace is left out: laplace noise cannot be added to a class label"),
        "{refused}"
    );
    let outcome = files.compared(&format!("{colour} --mechanism direct"));
    assert_eq!(outcome["rows"][0]["metric"], "accuracy");
}

#[test]
fn who_knows_more_of_the_records_recovers_more_of_the_others() {
    let metrics = "metrics = [\"rmse\", \"recovered\"]\n".to_owned() + EXPERIMENT;
    let recovered = |known: &str| {
        let files =
            with(&metrics.replace("[split]", &format!("[adversary]\nknown_share = {known}\n[split]")));
        let outcome = files.compared("--config exp.toml --mechanism laplace --epsilon 1000 --trials 20");
        let rows = outcome["rows"].as_array().unwrap();
        let is_adversary = |row: &&Value| row["model"] == "adversary";
        let row = rows.iter().find(is_adversary).unwrap();
        assert_eq!(row["model_parameters"]["known_share"].to_string(), known);
        row["mean"].as_f64().unwrap()
    };
    assert!(recovered("0.2") < recovered("0.8"));
}

/// A design of one latent for the size gives a model of the price all that it needs, and a design for the
/// colour does not.
#[test]
fn designs_know_the_task_of_an_experiment() {
    let experiment = EXPERIMENT.replace("[split]", "[split]\nvolunteers = 0.5\nunlabelled = true");
    let experiment = experiment.replace("seed = 7", "seed = 7\nprotect = \"features\"");
    let error = |column: &str| {
        let files = with(&(experiment.clone() + &format!("[[data.task_matrix]]\n{column:?} = 2\n")));
        let line = "--config exp.toml --epsilon 1000 --trials 12 --mechanism task-aware-linear \
                    --set task-aware-linear.latent_dim=1";
        let outcome = files.compared(line);
        let command = outcome["rows"][0]["design"].as_str().unwrap();
        assert!(command.contains(" --task-matrix task.csv --volunteers volunteers.csv "), "{command}");
        let text = files.run(&format!("compare {line}")).split_whitespace().collect::<Vec<_>>().join(" ");
        let meant = "(volunteers.csv stands for a file of your volunteers' records, and task.csv stands for \
                     a file of the matrix of your task.)";
        assert!(text.contains(meant), "{text}");
        let settings = outcome["settings"]["task_matrix"].to_string();
        assert_eq!(settings, if column == "size" { "[[2.0,0.0,0.0]]" } else { "[[0.0,2.0,0.0]]" });
        let mean = outcome["rows"][0]["mean"].as_f64().unwrap();
        // The same task as a file.
        files.write(
            "task.csv",
            format!("size,colour=red,colour=green\n{}\n", settings.trim_matches(['[', ']'])),
        );
        files.write("exp.toml", &experiment);
        let by_file = files.compared(&format!("{line} --task-matrix task.csv"));
        assert_eq!(by_file["rows"][0]["mean"].as_f64().unwrap(), mean);
        mean
    };
    let (size, colour) = (error("size"), error("colour=red"));
    assert!(size < 0.5 * colour, "{size} for the size, {colour} for the colour");
    let files = with(&(experiment + "[[data.task_matrix]]\nsizes = 2\n"));
    let refused = files.refuses("compare --config exp.toml");
    let expected =
        "exp.toml: [data] task_matrix, row 1: \"sizes\" is not an encoded column; did you mean \"size\"?";
    assert_eq!(refused, expected);
}

/// Splits sixty rows by date: one per month from January 2008, youngest first. Every seventh size is missing.
/// Green has a third of the rows.
#[test]
fn the_oldest_records_train_where_a_column_of_dates_splits_and_classes_are_balanced() {
    let experiment = r#"
epsilon = [inf]
trials = 2
[data]
input = "loans.csv"
schema = "loans.toml"
target = "colour"
[split]
kind = "time"
by = "issued"
test_share = 0.25
balance = true
[[mechanism]]
name = "identity"
[[model]]
name = "network"
set = { hidden = 4, epochs = 20, learning_rate = 0.05 }
"#;
    let files = with(experiment);
    let schema = files
        .read("schema.toml")
        .replace("upper = 10.0,", "upper = 10.0, missing = 5.0, missing_cells = [\"NA\"],");
    files.write("loans.toml", schema);
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let rows = (0..60).rev().map(|row| {
        let (size, colour) = if row % 3 == 0 { (9.0, "green") } else { (1.0, "red") };
        let size = if row % 7 == 0 { "NA".into() } else { format!("{size}") };
        format!("{size},{colour},1,{}-{}\n", months[row % 12], 2008 + row / 12)
    });
    files.write("loans.csv", format!("size,colour,price,issued\n{}", rows.collect::<String>()));
    let outcome = files.compared("--config exp.toml");
    // Of the 45 oldest rows, 15 are green.
    assert_eq!((outcome["train_records"].as_u64(), outcome["test_records"].as_u64()), (Some(30), Some(15)));
    assert_eq!(outcome["rows"], Value::Array(vec![]));
    assert!(outcome["without_dp"][0]["mean"].as_f64().unwrap() > 0.7, "{outcome}");

    let bad = files.read("loans.csv").replace("Mar-2011", "Mars 2011");
    files.write("loans.csv", bad);
    let refused = files.refuses("compare --config exp.toml");
    let expected = "row 22, column \"issued\": \"Mars 2011\" is not a date such as 2007-12-01 or Dec-2007";
    assert!(refused.contains(expected), "{refused}");
    files.write("loans.csv", files.read("loans.csv").replace("Mars 2011", "Mar-2011"));
    let numeric = experiment.split("[[model]]").next().unwrap().replace("\"colour\"", "\"price\"");
    files.write("exp.toml", numeric);
    let refused = files.refuses("compare --config exp.toml");
    assert!(
        refused.starts_with("exp.toml: [split]: ") && refused.contains("balance is for classes"),
        "{refused}"
    );
}

#[test]
fn every_model_and_metric_has_a_table_of_its_own() {
    let models = "metrics = [\"rmse\", \"r2\"]\n".to_owned()
        + EXPERIMENT
        + "[[model]]\nname = \"ridge\"\ngrid = { l2_penalty = [0.1, 1e9] }\n";
    let files = with(&models);
    let outcome = files.compared("--config exp.toml");
    let rows = crate::all_rows(&outcome);
    assert_eq!(rows.len(), 5 * 2 * 2);
    let kinds: BTreeSet<String> =
        rows.iter().map(|row| format!("{} {}", row["model_parameters"], row["metric"])).collect();
    assert_eq!(kinds.len(), 4);
    assert_eq!(outcome["baselines"].as_object().unwrap().len(), 2);
    assert_eq!(outcome["baselines"]["rmse"], outcome["baseline"]);
    let text = files.run("compare --full --config exp.toml");
    for expected in [
        "root mean squared error by ridge regression, l2_penalty = 0.1 (less is better)\n",
        "R² by ridge regression, l2_penalty = 1e9\n",
    ] {
        assert!(text.contains(expected), "{expected:?} is missing:\n{text}");
    }
    assert_eq!(text.matches("The mean baseline gets").count(), 4);
    // A very large penalty leaves only the mean, so the score equals the mean baseline.
    let is_heavy = |row: &&Value| row["model_parameters"]["l2_penalty"] == 1e9 && row["metric"] == "rmse";
    let heavy = outcome["without_dp"].as_array().unwrap().iter().find(is_heavy).unwrap();
    let [heavy, baseline] = [&heavy["mean"], &outcome["baseline"]].map(|value| value.as_f64().unwrap());
    assert!((heavy - baseline).abs() < 1e-3 * baseline, "{heavy} and {baseline}");
}

/// Number of lines after three trials: five cells by a model and an adversary, plus the model on 20, 40 and
/// all 45 records in the clear.
const LINES: usize = (5 * 2 + 3) * 3;

#[test]
fn a_second_run_computes_nothing_and_finds_the_same() {
    let files = with(EXPERIMENT);
    let first = files.compared("--config exp.toml");
    let lines = files.read("exp.cells.jsonl");
    assert_eq!(
        lines.lines().count(),
        LINES,
        "of a model and of an adversary, and of the model on records in the clear"
    );
    assert_eq!(files.compared("--config exp.toml"), first, "the times, too, are taken from the store");
    assert_eq!(files.read("exp.cells.jsonl"), lines);
    let elsewhere = files.compared("--config exp.toml --cells other.jsonl");
    assert_eq!(timeless(elsewhere), timeless(first));
    assert_eq!(files.read("other.jsonl").lines().count(), LINES);
    assert_eq!(files.read("exp.cells.jsonl"), lines);
}

#[test]
fn only_what_was_changed_is_computed_again() {
    let files = with(EXPERIMENT);
    files.compared("--config exp.toml");
    let mut lines = LINES;
    let mut after = |experiment: &str, more: usize, why: &str| {
        files.write("exp.toml", experiment);
        files.compared("--config exp.toml");
        lines += more;
        assert_eq!(files.keys().len(), lines, "{why}");
        assert_eq!(files.keys().into_iter().collect::<BTreeSet<_>>().len(), lines, "none stands twice");
    };
    after(&EXPERIMENT.replace("\"record\"", "\"features\""), 12, "one grid value, at two budgets");
    after(&EXPERIMENT.replace("8.0", "9.0"), 12, "one budget of two candidates");
    after(
        &EXPERIMENT.replace("trials = 3", "trials = 4"),
        13,
        "one trial of five cells, and of three sizes in the clear",
    );
    after(&("metrics = [\"mae\"]".to_owned() + EXPERIMENT), 0, "every line has every metric");
    let model = "[[model]]\nname = \"ridge\"\nset = { l2_penalty = 2 }";
    after(&(EXPERIMENT.to_owned() + model), 15 + 9, "another model");
    after(&EXPERIMENT.replace("seed = 7", "seed = 8"), LINES, "another seed");
    after(
        &EXPERIMENT.replace("0.25", "0.5"),
        LINES - 3,
        "another split, of which 20 or all 30 are in the clear",
    );
    after(
        &EXPERIMENT.replace("= 0.25", "= 0.25\nvolunteers = 0.3"),
        LINES,
        "volunteers, whom no mechanism learns from: 20 or all 31 others in the clear, and the volunteers \
         alone",
    );
    after(
        &EXPERIMENT.replace("= 0.25", "= 0.25\nvolunteers = 0.6"),
        LINES - 3,
        "more of them: all 18 others in the clear",
    );
    files.write("data.csv", files.read("data.csv").replace("\n1,red", "\n1.5,red"));
    after(EXPERIMENT, LINES, "other data");
}

#[test]
fn a_comparison_that_was_killed_goes_on() {
    let long = EXPERIMENT.replace("trials = 3", "trials = 200");
    let (killed, whole) = (with(&long), with(&long));
    let start = Instant::now();
    let mut command = killed.command("compare --config exp.toml");
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lines =
        || std::fs::read_to_string(killed.path("exp.cells.jsonl")).unwrap_or_default().lines().count();
    while lines() < 20 {
        assert!(start.elapsed() < Duration::from_secs(60), "no trial was stored");
        std::thread::sleep(Duration::from_millis(1));
    }
    process.kill().unwrap();
    process.wait().unwrap();
    let before = lines();
    assert!(before < 2600, "it was over before it was killed");
    let resumed = killed.compared("--config exp.toml");
    assert_eq!(timeless(resumed), timeless(whole.compared("--config exp.toml")));
    let keys = killed.keys();
    assert_eq!(keys.len(), 2600, "a line was computed twice");
    assert_eq!(keys.iter().collect::<BTreeSet<_>>(), whole.keys().iter().collect::<BTreeSet<_>>());
}

#[test]
fn a_torn_line_is_computed_again_and_a_bad_one_is_named() {
    let files = with(EXPERIMENT);
    let outcome = files.compared("--config exp.toml");
    let lines = files.read("exp.cells.jsonl");
    files.write("exp.cells.jsonl", &lines[..lines.len() - 30]);
    assert_eq!(timeless(files.compared("--config exp.toml")), timeless(outcome));
    assert_eq!(files.keys().len(), LINES);
    files.write("exp.cells.jsonl", lines.replacen("\"key\"", "\"kye\"", 1));
    let refused = files.refuses("compare --config exp.toml");
    assert!(refused.starts_with("exp.cells.jsonl: line 1: it is not a finished trial"), "{refused}");
}

#[test]
fn two_comparisons_at_once_do_not_share_a_store() {
    let files = with(EXPERIMENT);
    let store = std::fs::File::create(files.path("exp.cells.jsonl")).unwrap();
    store.lock().unwrap();
    let refused = files.refuses("compare --config exp.toml");
    assert_eq!(refused, "exp.cells.jsonl: another run is using it");
}

#[test]
fn what_is_wrong_with_an_experiment_is_one_line_and_writes_nothing() {
    let files = with(EXPERIMENT);
    for (from, to, expected) in [
        ("seed = 7", "sede = 7", "exp.toml: line 4: unknown field `sede`"),
        ("\"laplace\"", "\"lapace\"", "exp.toml: [[mechanism]] number 2: there is no mechanism \"lapace\""),
        ("\"record\"", "\"all\"", "exp.toml: the parameters of \"laplace\": unknown variant `all`"),
        ("[split]", "[adversary]\nknown_share = 1.0\n[split]", "exp.toml: [adversary]: known_share must"),
        ("[split]", "[adversary]\nknown = 0.5\n[split]", "unknown field `known`"),
        ("data.csv", "dat.csv", "dat.csv: No such file"),
        ("\"random\"\ntest_share = 0.25", "\"own\"", "it has no split of its own"),
    ] {
        files.write("exp.toml", EXPERIMENT.replace(from, to));
        let refused = files.refuses("compare --config exp.toml");
        assert!(refused.contains(expected), "{refused}");
    }
    assert!(files.refuses("compare --config none.toml").contains("none.toml: No such file"));
    files.write("exp.toml", EXPERIMENT);
    let overlap = files.refuses("compare --config exp.toml --cells data.csv");
    assert_eq!(overlap, "data.csv: this is an input file; refusing to overwrite it");
    assert_eq!(files.all(), ["data.csv", "exp.toml", "schema.toml"]);
}

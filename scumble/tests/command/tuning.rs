//! Parameters that `compare` tunes: on whose records, and without the test records.

use crate::Files;
use serde_json::{Value, json};

/// Writes three hundred rows, oldest first: green above 5 cm, and a price that is linear in the size. `shift`
/// is added to the size of the youngest rows.
fn with(experiment: &str, shift: f64) -> Files {
    let files = Files::new();
    let rows = (0..300).map(|row| {
        let size = (row * 37 % 100) as f64 / 10.0;
        let (size, month) = if row >= 240 { ((size + shift) % 10.0, 2) } else { (size, 1) };
        format!("{size},{},{},2020-0{month}\n", if row * 37 % 100 < 50 { "red" } else { "green" }, 9.0 * size)
    });
    files.write("data.csv", format!("size,colour,price,month\n{}", rows.collect::<String>()));
    files.write("exp.toml", format!("{DATA}{experiment}"));
    files
}

const DATA: &str = r#"
epsilon = [2, 8]
trials = 4

[data]
input = "data.csv"
schema = "schema.toml"
target = "colour"
"#;

/// Split in which the youngest fifth of the records is for tests, and 30 % of the others volunteer.
const BY_TIME: &str = "[split]\nkind = \"time\"\nby = \"month\"\nvolunteers = 0.3\n";

const TUNED_MODEL: &str =
    "[[model]]\nname = \"logistic\"\nset = { max_iterations = 50 }\ntune = { l2_penalty = [1e-3, 1e4] }\n";

impl Files {
    fn rows(&self) -> (Value, Vec<Value>) {
        let outcome = self.json("compare --json --config exp.toml");
        let rows = crate::all_rows(&outcome).into_iter();
        let model_rows = rows.filter(|row| row["model"] != "adversary").collect();
        (outcome, model_rows)
    }
}

#[test]
fn a_model_tuned_on_volunteers_scores_as_the_one_that_was_chosen() {
    let files = with(&format!("{BY_TIME}[[mechanism]]\nname = \"laplace\"\n{TUNED_MODEL}"), 0.0);
    let (outcome, tuned) = files.rows();
    assert_eq!(outcome["volunteers"], 72);
    let fixed = TUNED_MODEL.replace("tune", "grid");
    let (_, fixed) = with(&format!("{BY_TIME}[[mechanism]]\nname = \"laplace\"\n{fixed}"), 0.0).rows();
    assert_eq!((tuned.len(), fixed.len()), (2, 4));
    for row in &tuned {
        assert_eq!(row["model_parameters"], json!({"l2_penalty": [1e-3, 1e4], "max_iterations": 50.0}));
        let choice = &row["tuned"][0];
        assert_eq!(
            (&choice["what"], &choice["on"], &choice["people"]),
            (&"model".into(), &"volunteers".into(), &72.into())
        );
        let chosen = &choice["chosen"].as_array().unwrap()[..];
        let [chosen] = chosen else { panic!("one for all trials, and not {chosen:?}") };
        assert_eq!(chosen["trials"], 4);
        // The small penalty is right, because the size separates the classes without noise.
        assert_eq!(chosen["parameters"], json!({"l2_penalty": 1e-3}));
        let alike = fixed.iter().find(|other| {
            other["model_parameters"]["l2_penalty"] == 1e-3 && other["epsilon"] == row["epsilon"]
        });
        assert_eq!(row["mean"], alike.unwrap()["mean"], "at ε = {}", row["epsilon"]);
    }
    let text = files.run("compare --full --config exp.toml");
    let line = "logistic on laplace  ε = 2, 8  l2_penalty = 0.001, on 72 volunteers";
    assert!(
        text.contains("Tuned choices, and the records that they were tuned on:") && text.contains(line),
        "{text}"
    );
}

#[test]
fn a_mechanism_is_tuned_on_volunteers_at_each_budget() {
    let mechanism =
        "[[mechanism]]\nname = \"task-agnostic\"\ntune = { sensitivity = [\"empirical\", \"domain\"] }\n";
    let (_, rows) = with(&format!("{BY_TIME}{mechanism}"), 0.0).rows();
    let (_, fixed) = with(&format!("{BY_TIME}{}", mechanism.replace("tune", "grid")), 0.0).rows();
    assert_eq!((rows.len(), fixed.len()), (2, 4));
    for row in rows {
        assert_eq!(row["parameters"]["sensitivity"], json!(["empirical", "domain"]));
        assert_eq!(row["tuned"][0]["what"], "mechanism");
        assert_eq!(
            row["guarantee"]["shaped_by"], "consenting-volunteers",
            "people whose records chose have no guarantee"
        );
        let chosen = &row["tuned"][0]["chosen"][0]["parameters"]["sensitivity"];
        let alike = fixed.iter().find(|other| {
            &other["parameters"]["sensitivity"] == chosen && other["epsilon"] == row["epsilon"]
        });
        assert_eq!(row["mean"], alike.unwrap()["mean"], "at ε = {}", row["epsilon"]);
    }
}

#[test]
fn a_choice_on_volunteers_does_not_look_at_any_other_record() {
    let experiment = format!(
        "{BY_TIME}[[mechanism]]\nname = \"laplace\"\n{}",
        TUNED_MODEL.replace("[1e-3, 1e4]", "[1e-3, 1, 30, 1e3]")
    );
    let chosen = |shift: f64| {
        let (_, rows) = with(&experiment, shift).rows();
        let means: Vec<Value> = rows.iter().map(|row| row["mean"].clone()).collect();
        (rows.iter().map(|row| row["tuned"].clone()).collect::<Vec<_>>(), means)
    };
    let (unshifted, shifted) = (chosen(0.0), chosen(5.0));
    assert_eq!(unshifted.0, shifted.0);
    assert_ne!(unshifted.1, shifted.1, "the test records are others");
}

#[test]
fn private_validation_costs_who_is_asked_the_rows_own_epsilon_and_nothing_of_the_others() {
    // With balanced classes, a model with a large penalty would be as good. These classes are not balanced.
    let split = "[split]\nkind = \"random\"\ntest_share = 0.2\nvalidation = 0.25\nstratified = false\n";
    let mechanisms = "[[mechanism]]\nname = \"laplace\"\n[[mechanism]]\nname = \
        \"randomized-response\"\n[[mechanism]]\nname = \"identity\"\n";
    let files = with(&format!("{split}{mechanisms}{TUNED_MODEL}[[model]]\nname = \"logistic\"\n"), 0.0);
    let (outcome, rows) = files.rows();
    assert_eq!((&outcome["train_records"], &outcome["asked"]), (&180.into(), &60.into()));
    for row in &rows {
        let (guarantee, epsilon) = (&row["guarantee"], &row["epsilon"]);
        if row["mechanism"] != "identity" {
            assert_eq!(&guarantee["claims"][0]["epsilon"], epsilon, "{guarantee}");
        }
        let assumes = guarantee["assumes"].to_string();
        let is_tuned = row["tuned"].is_array();
        assert_eq!(is_tuned, row["model_parameters"]["l2_penalty"].is_array());
        assert_eq!(is_tuned, assumes.contains("the partition was fixed before anybody saw a record"));
        if row["mechanism"] == "identity" {
            let asked = guarantee["discloses"].to_string().contains("whether the model is right about each");
            assert_eq!(asked, is_tuned, "without a guarantee for records there is none for the answers");
        }
        if is_tuned {
            let choice = &row["tuned"][0];
            assert_eq!((&choice["on"], &choice["people"]), (&"private-validation".into(), &60.into()));
            let trials =
                choice["chosen"].as_array().unwrap().iter().map(|chosen| chosen["trials"].as_u64().unwrap());
            assert_eq!(trials.sum::<u64>(), 4);
        }
    }
    // Answers without noise choose the right penalty in each trial.
    let exact = rows.iter().find(|row| row["mechanism"] == "identity" && row["tuned"].is_array()).unwrap();
    assert_eq!(exact["tuned"][0]["chosen"], json!([{"parameters": {"l2_penalty": 1e-3}, "trials": 4}]));
    // Finished trials store the chosen parameters.
    let again = files.rows().1;
    let tuned = |rows: &[Value]| rows.iter().map(|row| row["tuned"].clone()).collect::<Vec<_>>();
    assert_eq!(tuned(&rows), tuned(&again));
    assert_eq!(files.read("exp.cells.jsonl").lines().count(), (2 * 2 + 1) * 3 * 4 + 5 * 2 * 4);
}

#[test]
fn what_nobody_pays_for_is_not_tuned() {
    let random = "[split]\nkind = \"random\"\n";
    let laplace = "[[mechanism]]\nname = \"laplace\"\n";
    for (experiment, expected) in [
        (
            format!("{random}{laplace}{TUNED_MODEL}"),
            "the model \"logistic\" is tuned on volunteers with labels or by private validation, and there \
             is neither",
        ),
        (
            format!("{random}validation = 0.2\n{laplace}tune = {{ protect = [\"label\", \"record\"] }}\n"),
            "the mechanism \"laplace\" is tuned on volunteers with labels, and there are none",
        ),
        (
            format!("{random}volunteers = 0.3\nunlabelled = true\n{laplace}{TUNED_MODEL}"),
            "the model \"logistic\" is tuned on volunteers with labels or by private validation, and there \
             is neither",
        ),
        (format!("{random}validation = 1\n{laplace}"), "exp.toml: [split]: validation must be zero or more"),
        (
            format!("{random}volunteers = 0.3\n{laplace}{}", TUNED_MODEL.replace("[1e-3, 1e4]", "[1, -1]")),
            "exp.toml: [[model]] number 1: l2_penalty",
        ),
        (
            format!("{random}volunteers = 0.3\n{laplace}{TUNED_MODEL}grid = {{ l2_penalty = [1] }}\n"),
            "exp.toml: [[model]] number 1: \"logistic\": l2_penalty is in grid and in tune",
        ),
        (
            format!("{random}volunteers = 0.3\n{laplace}tune = {{ protct = [\"label\"] }}\n"),
            "exp.toml: [[mechanism]] number 1: the mechanism \"laplace\" has no parameter \"protct\"",
        ),
        (
            format!("{random}volunteers = 0.02\n{laplace}{TUNED_MODEL}"),
            "laplace, tuned on volunteers: 5 volunteers of data.csv: it holds 5 records, and a comparison \
             needs 10",
        ),
    ] {
        let message = with(&experiment, 0.0).refuses("compare --config exp.toml");
        assert!(message.contains(expected), "{message}");
    }
    let files = with(
        &format!(
            "{random}volunteers = 0.3\n[[mechanism]]\nname = \"laplace\"\ntune = {{ protect = [\"label\", \
             \"record\"] }}\n"
        ),
        0.0,
    );
    files.write("exp.toml", files.read("exp.toml").replace("\"colour\"", "\"price\""));
    let message = files.refuses("compare --config exp.toml");
    assert!(
        message.contains("laplace: scores cannot choose between options with different guarantees"),
        "{message}"
    );
    let numbers = format!(
        "{random}validation = 0.2\n{laplace}[[model]]\nname = \"ridge\"\ntune = {{ l2_penalty = [1, 2] }}\n"
    );
    let files = with(&numbers, 0.0);
    files.write("exp.toml", files.read("exp.toml").replace("\"colour\"", "\"price\""));
    let message = files.refuses("compare --config exp.toml");
    assert!(message.contains("cannot be tuned by private validation, which needs classes"), "{message}");
}

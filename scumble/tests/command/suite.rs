//! `scumble suite`.

use crate::{Files, timeless};
use serde_json::Value;

#[test]
fn without_a_task_all_are_listed_and_a_wrong_name_gets_the_nearest() {
    let files = Files::new();
    let list = files.run("suite");
    assert!(list.contains(" iris  ") && list.contains("which of three species?"), "{list}");
    let tasks = files.json("suite --json");
    assert!(tasks.as_array().unwrap().iter().any(|task| task["name"] == "spam-volunteers"));
    let unknown = files.refuses("suite irs");
    assert!(unknown.starts_with("there is no task \"irs\" (did you mean \"iris\"?); there are"));
    assert!(files.refuses("suite iris --mechanism lapace").contains("\"lapace\""));
    assert!(files.refuses("suite iris --all").contains("cannot be used with"));
}

/// Removes the times from the scores.
fn without_times(suite: &Value) -> Value {
    let mut suite = suite.clone();
    suite["tasks"].as_array_mut().unwrap().iter_mut().for_each(|task| *task = timeless(task.take()));
    suite
}

/// Checks that stored trials equal computed trials for every mechanism.
#[test]
fn a_suite_goes_on_from_what_is_finished_and_says_what_could_not_be_run() {
    let files = Files::new();
    let run = |rest: &str| {
        let command = format!(
            "suite iris diabetes --quick --trials 3 --mechanism laplace --mechanism private-logistic \
             --mechanism noisy-marginals {rest}"
        );
        files.json(&format!("{command} --json"))
    };
    let first = run("--output results");
    let [table, page, cells] =
        ["suite.md", "suite.html", "iris.cells.jsonl"].map(|name| files.read(&format!("results/{name}")));
    assert!(table.starts_with("# The cost of privacy, task by task\n"), "{table}");
    assert!(
        table.contains("| iris | 150 × 4 | 120 | 3 | accuracy, logistic regression | 33.3 | – |"),
        "{table}"
    );
    assert!(
        table.contains("## The whole record, trusting a curator") && page.contains("<td data-of=\"ε = 8\"")
    );
    let again = run("--output results --force --jobs 1");
    assert!(without_times(&first) == without_times(&again), "what was found is not what was computed");
    assert_eq!(files.read("results/iris.cells.jsonl"), cells);
    assert!(again == serde_json::from_str::<Value>(&files.read("results/suite.json")).unwrap());
    let iris = &first["tasks"][1];
    assert_eq!((iris["task"].as_str(), iris["data"]["records"].as_u64()), (Some("iris"), Some(150)));
    assert_eq!(iris["data"]["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(iris["versions"]["mechanisms"]["laplace"].as_str(), Some("0.1.0"));
    let laplace = iris["rows"].as_array().unwrap().iter().find(|row| row["mechanism"] == "laplace").unwrap();
    assert_eq!(laplace["scores"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        laplace["guarantee"]["summary"].as_str(),
        Some("ε = 0.5 local differential privacy for the whole record")
    );
    // Every number of the tables is in the JSON, which a later run adds its rows to.
    let published = files.read("results/suite.json");
    let drawn = files.run("suite --published results/suite.json --output drawn");
    assert_eq!(drawn.split_once("```console").unwrap().0, table.split_once("```console").unwrap().0);
    let tables = |text: &str| text.split_once("## The tasks").unwrap().1.trim_end().to_owned();
    let (drawn, missing) = drawn.split_once("\n## Missing tasks and cells\n").unwrap();
    assert_eq!(tables(drawn), tables(&table));
    assert!(missing.contains("\n- wine: no published result\n") && !missing.contains("- iris"), "{missing}");
    let line = "suite iris --quick --trials 3 --mechanism direct --published results/suite.json";
    let more = files.json(&format!("{line} --output more --json"));
    let mechanisms = |suite: &Value| -> Vec<String> {
        let rows =
            suite["tasks"].as_array().unwrap().iter().find(|task| task["task"] == "iris").unwrap()["rows"]
                .as_array()
                .unwrap();
        let mut names: Vec<String> = rows.iter().map(|row| row["mechanism"].to_string()).collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(more["tasks"].as_array().unwrap().len(), 2);
    assert_eq!(mechanisms(&more).len(), mechanisms(&first).len() + 1);
    assert!(files.read("more/suite.md").contains("## The whole record, trusting nobody"));
    // Rows of other trials are not comparable, and a changed file is refused.
    let refused =
        files.refuses("suite iris --quick --trials 2 --mechanism direct --published results/suite.json");
    assert!(
        refused.ends_with("the results of the task \"iris\" cannot be compared: \"settings\" differs"),
        "{refused}"
    );
    files.write("changed.json", published.replacen("0.9", "0.8", 1));
    std::fs::create_dir(files.path("folder")).unwrap();
    files.write("folder/one.json", &published);
    assert!(files.run("suite --published folder").contains("| iris | 150 × 4 |"));
    let refused = files.refuses("suite --published changed.json");
    assert!(refused.starts_with("changed.json: the digest of the results does not match"), "{refused}");
    let refused = files.refuses("suite iris --quick --mechanism laplace --output results");
    assert_eq!(refused, "results/suite.md already exists; --force replaces it");
}

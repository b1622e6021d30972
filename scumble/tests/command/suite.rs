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
    assert!(table.contains("| iris | 150 × 4 | 120 | accuracy, logistic regression | 33.3 | – |"), "{table}");
    assert!(
        table.contains("## The whole record, trusting a curator") && page.contains("<td data-of=\"ε = 8\"")
    );
    let again = run("--output results --force --jobs 1");
    assert!(without_times(&first) == without_times(&again), "what was found is not what was computed");
    assert_eq!(files.read("results/iris.cells.jsonl"), cells);
    assert!(again == serde_json::from_str::<Value>(&files.read("results/suite.json")).unwrap());
    let iris = &first["tasks"][0];
    assert_eq!((iris["task"].as_str(), iris["data"]["records"].as_u64()), (Some("iris"), Some(150)));
    assert_eq!(iris["data"]["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(iris["versions"]["mechanisms"]["laplace"].as_str(), Some("0.1.0"));
    let laplace = iris["rows"].as_array().unwrap().iter().find(|row| row["mechanism"] == "laplace").unwrap();
    assert_eq!(laplace["scores"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        laplace["guarantee"].as_str(),
        Some("ε = 0.5 local differential privacy for the whole record")
    );
    let refused = files.refuses("suite iris --quick --mechanism laplace --output results");
    assert_eq!(refused, "results/suite.md already exists; --force replaces it");
}

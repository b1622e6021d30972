//! The plugin passes the conformance suite and an audit, and the comparison lists it beside the built-in
//! mechanisms.

use std::process::Command;

#[test]
fn the_plugin_conforms() {
    scumble_testing::conformance::check(&staircase_plugin::STAIRCASE).unwrap();
}

#[test]
fn no_attack_breaks_its_claim() {
    scumble::adversary::check(&staircase_plugin::STAIRCASE).unwrap();
}

#[test]
fn the_comparison_shows_it() {
    let arguments = ["compare", "--json", "--trials", "2", "--epsilon", "1"];
    let output = Command::new(env!("CARGO_BIN_EXE_staircase-plugin")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = outcome["rows"].as_array().unwrap().iter().filter(|row| row["metric"] == "accuracy");
    let mechanisms: Vec<&str> = rows.map(|row| row["mechanism"].as_str().unwrap()).collect();
    assert!(mechanisms.is_sorted() && mechanisms.contains(&"laplace"), "{mechanisms:?}");
    let place = mechanisms.iter().position(|name| *name == "staircase").unwrap();
    let staircase = &outcome["rows"][place];
    // It protects the features; the comparison completes it with randomised response for the label.
    assert_eq!(staircase["guarantee"]["claims"][0]["protects"], "record");
    assert_eq!(staircase["guarantee"]["epsilon"], 1.0);
}

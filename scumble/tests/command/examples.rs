//! The examples run and print the expected output. Cargo builds them with the tests.

use std::path::PathBuf;
use std::process::Command;

/// Returns the output of an example.
fn run(name: &str) -> String {
    // This test is target/<profile>/deps/<name>, and the examples are in a folder beside deps.
    let test = std::env::current_exe().unwrap();
    let built: PathBuf = test.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(built.exists(), "{} is not built: cargo build --examples", built.display());
    let output = Command::new(built).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_composition_is_designed_released_and_saved() {
    let printed = run("compose");
    for expected in [
        "by columns, which share a budget: 11 columns, (ε, δ) = (4, ",
        "features and label: 11 columns, ε = 4 local differential privacy for the whole record",
        "in sequence, the same columns twice: 22 columns, ε = 3 local differential privacy",
        "with a curator: 11 columns, ",
        "composed 0.1.0 of column-space 0.1.0, randomized-response 0.1.0, its key is secret",
        "refused: a composition does not apply: a part draws rows that correspond to no record",
    ] {
        assert!(printed.contains(expected), "{expected:?} is missing:\n{printed}");
    }
}

#[test]
fn a_model_learns_from_a_release() {
    let printed = run("train_on_release");
    let scores: Vec<f64> =
        printed.lines().map(|line| line.split_whitespace().rev().nth(2).unwrap().parse().unwrap()).collect();
    assert_eq!(scores.len(), 6);
    // With 320 test wines, three standard errors are eight points. The majority-class baseline is 53 %.
    assert!(scores[0] > 68.0 && scores[5] > 64.0, "{printed}");
}

#[test]
fn three_processes_collect_locally() {
    let printed = run("local_collection");
    for expected in [
        "the analyst ships a design",
        "ε = 2 local differential privacy for the whole record",
        "1599 clients sent a row each",
    ] {
        assert!(printed.contains(expected), "{expected:?} is missing:\n{printed}");
    }
    // Six standard errors of the noise: an alcohol of 10.42 ± 0.2, and 53.5 ± 4 % good wines.
    let value = |name: &str| -> f64 {
        let line = printed.lines().find(|line| line.starts_with(name)).unwrap();
        line[14..].split_whitespace().next().unwrap().parse().unwrap()
    };
    assert!((value("mean alcohol") - 10.42).abs() < 1.2, "{printed}");
    assert!((value("good wines") - 53.5).abs() < 17.0, "{printed}");
}

#[test]
fn a_plugin_is_written_checked_attacked_and_compared() {
    let printed = run("write_a_plugin");
    for expected in [
        "it conforms",
        "an audit did not refute its claim",
        "guarantee  ε = 8 local differential privacy for the features (not the label)",
        "central-laplace",
    ] {
        assert!(printed.contains(expected), "{expected:?} is missing:\n{printed}");
    }
}

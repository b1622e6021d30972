//! The example `examples/scikit-learn` reaches the accuracy of the comparison, if Python has scikit-learn.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const TRIALS: &str = "12";

/// Returns the Python in `SCUMBLE_PYTHON`, or `python3`.
pub(super) fn python() -> PathBuf {
    std::env::var_os("SCUMBLE_PYTHON").map_or_else(|| "python3".into(), PathBuf::from)
}

/// Returns true if Python has the required packages; otherwise reports them as missing.
pub(super) fn is_there() -> bool {
    let asked = Command::new(python()).args(["-c", "import pandas, sklearn"]).output();
    let is_there = asked.is_ok_and(|output| output.status.success());
    if !is_there {
        scumble_testing::missing(format_args!(
            "scikit-learn for {} (examples/scikit-learn/requirements.txt)",
            python().display()
        ));
    }
    is_there
}

/// Uses fixed seeds: of a thousand other seeds, about three would differ by more than three standard errors.
#[test]
fn a_model_of_a_released_file_does_on_viewed_records_what_the_comparison_says() {
    if !is_there() {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/scikit-learn/train.py");
    let mut command = Command::new(python());
    command.arg(script).args(["--scumble", env!("CARGO_BIN_EXE_scumble"), "--trials", TRIALS, "--seed", "1"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let value = |what: &str, key: &str| found[what][key].as_f64().unwrap();
    let error = value("compared", "error").hypot(value("viewed", "error"));
    assert!((value("viewed", "mean") - value("compared", "mean")).abs() < 3.0 * error, "{found:#}");
    assert!(
        value("viewed", "mean") > value("not viewed", "mean") + 0.1,
        "on clean records it is another: {found:#}"
    );
}

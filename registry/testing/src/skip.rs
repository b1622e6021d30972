//! Reports of skipped tests. The test harness captures `eprintln!` output of a test that passes, so a skipped
//! test looks like a test that ran and passed. The functions of this module write to the standard error of
//! the process, which the harness does not capture. With `SCUMBLE_REQUIRE_DATA=1` in the environment, a test
//! whose data are missing fails.

use std::fmt::Display;
use std::io::{Write, stderr};

/// Reports that a test, or a part of one, did not run because something optional is missing. `what` is a
/// sentence without a full stop.
pub fn skipped(what: impl Display) {
    // Write to the standard error of the process, past the harness, in one piece: other tests write too.
    let line = format!("skipped: {what}\n");
    stderr().write_all(line.as_bytes()).expect("standard error takes a line");
}

/// Reports that `what`, which a test needs, is missing: a file, a folder, a package.
///
/// # Panics
///
/// With `SCUMBLE_REQUIRE_DATA=1` in the environment.
#[track_caller]
pub fn missing(what: impl Display) {
    let sentence = format!("{what} is not there");
    if std::env::var_os("SCUMBLE_REQUIRE_DATA").is_some_and(|required| required == "1") {
        panic!(
            "{sentence}, and with SCUMBLE_REQUIRE_DATA=1 no test does without; SCUMBLE_DATA says where the \
             data lie"
        );
    }
    skipped(sentence);
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    #[test]
    #[ignore = "the tests below run it, as others would: by a harness that keeps what is printed"]
    fn without_its_data() {
        eprintln!("a line that is kept");
        super::missing("nowhere/data.csv");
    }

    #[test]
    #[ignore = "as above"]
    fn without_a_browser() {
        super::skipped("there is no browser");
    }

    fn ran(test: &str, required: Option<&str>) -> Output {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--ignored"]).env_remove("RUST_TEST_NOCAPTURE");
        match required {
            Some(value) => command.env("SCUMBLE_REQUIRE_DATA", value),
            None => command.env_remove("SCUMBLE_REQUIRE_DATA"),
        };
        command.output().unwrap()
    }

    #[test]
    fn what_is_missing_is_said_past_the_harness_and_the_test_passes() {
        for required in [None, Some(""), Some("0")] {
            let output = ran("skip::tests::without_its_data", required);
            assert!(output.status.success(), "{required:?}: {output:?}");
            assert_eq!(output.stderr, b"skipped: nowhere/data.csv is not there\n", "{required:?}");
        }
    }

    #[test]
    fn where_data_are_required_what_is_missing_is_a_failure_that_names_it() {
        let output = ran("skip::tests::without_its_data", Some("1"));
        assert!(!output.status.success(), "{output:?}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(
            stdout.contains("nowhere/data.csv is not there, and with SCUMBLE_REQUIRE_DATA=1"),
            "{stdout}"
        );
    }

    #[test]
    fn what_nobody_has_to_have_is_said_and_never_a_failure() {
        for required in [None, Some("1")] {
            let output = ran("skip::tests::without_a_browser", required);
            assert!(output.status.success(), "{required:?}: {output:?}");
            assert_eq!(output.stderr, b"skipped: there is no browser\n", "{required:?}");
        }
    }
}

//! Checks that the commands in the README and the guide print the documented output. The commands of a
//! document run in their order in one folder.
//!
//! A block of `console` holds commands behind `$ `, each with its output. A line of dots in the output
//! matches any lines. A fence of another language may name the file that holds its block:
//! `toml,file=wines.toml`. Blocks of `python` also run if their packages are installed; the tests of the
//! Python package run blocks of `py`. With `SCUMBLE_BLESS=1`, outputs without a line of dots are replaced by
//! the true ones, and pictures are rewritten.

use crate::scikit_learn::{is_there, python};
use crate::{Files, workspace};
use std::path::Path;

/// Commands and files of a document, in their order.
#[derive(Debug)]
enum Step {
    File {
        name: String,
        text: String,
    },
    Python {
        text: String,
    },
    /// Command, with its output lines in the document.
    Command {
        line: String,
        first: usize,
        shown: Vec<String>,
    },
}

fn steps(document: &str) -> Vec<Step> {
    let mut steps = vec![];
    let mut lines = document.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        let Some(fence) = line.strip_prefix("```") else { continue };
        let block: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| *line != "```").collect();
        if let Some((_, name)) = fence.split_once("file=") {
            let text = block.iter().map(|(_, line)| format!("{line}\n")).collect();
            steps.push(Step::File { name: name.into(), text });
        } else if fence == "python" {
            let text = block.iter().map(|(_, line)| format!("{line}\n")).collect();
            steps.push(Step::Python { text });
        } else if fence == "console" {
            for (at, line) in block {
                match (line.strip_prefix("$ "), steps.last_mut()) {
                    (Some(command), _) => {
                        steps.push(Step::Command { line: command.into(), first: at + 1, shown: vec![] });
                    }
                    (None, Some(Step::Command { shown, .. })) => shown.push(line.into()),
                    _ => panic!("line {}: output before the first command", at + 1),
                }
            }
        }
    }
    steps
}

/// Returns true if `printed` matches `shown`, in which a line of dots matches any lines.
fn is_as_shown(shown: &[String], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((dots, rest)) if dots == "..." => {
            (0..=printed.len()).any(|skip| is_as_shown(rest, &printed[skip..]))
        }
        Some((first, rest)) => printed
            .split_first()
            .is_some_and(|(line, lines)| first == line.trim_end() && is_as_shown(rest, lines)),
    }
}

/// Runs a document in `files`, and returns the differences between printed and documented output.
fn differences(document: &Path, files: &Files) -> Vec<String> {
    // Made-up records that several documents use.
    for file in std::fs::read_dir(document.with_file_name("data")).into_iter().flatten() {
        let file = file.unwrap();
        files.write(file.file_name().to_str().unwrap(), std::fs::read(file.path()).unwrap());
    }
    let text = std::fs::read_to_string(document).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut differences = vec![];
    // Outputs are replaced from last to first, because a longer output shifts the following lines.
    let mut blessed = vec![];
    for step in steps(&text) {
        match step {
            Step::File { name, text } => {
                files.write(&name, text);
            }
            Step::Python { text } if is_there() => {
                let folder = Path::new(env!("CARGO_BIN_EXE_scumble")).parent().unwrap();
                let path = std::env::var("PATH").unwrap_or_default();
                let mut command = std::process::Command::new(python());
                command.current_dir(files.path("")).env("PATH", format!("{}:{path}", folder.display()));
                let output = command.args(["-c", &text]).output().unwrap();
                if !output.status.success() {
                    differences.push(format!("{text}\nfails: {}", String::from_utf8_lossy(&output.stderr)));
                }
            }
            Step::Python { .. } => {}
            Step::Command { line, first, shown } => {
                // Running from the sources is the same command.
                let own = line.strip_prefix("scumble ").or(line.strip_prefix("cargo run --release -- "));
                let Some(words) = own.and_then(shlex::split) else {
                    panic!("{}: {line:?} is no command of ours", document.display());
                };
                let output = files.command("").args(words).output().unwrap();
                let (stdout, stderr) =
                    (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                if !output.status.success() {
                    differences.push(format!("{line}\nfails: {stderr}"));
                    continue;
                }
                let mut shown: Vec<String> = shown.iter().map(|line| line.trim_end().to_owned()).collect();
                while shown.pop_if(|line| line.is_empty()).is_some() {}
                let printed: Vec<&str> = stdout.trim_end().lines().collect();
                if !is_as_shown(&shown, &printed) {
                    differences.push(format!("{line}\nshows\n{}\nand prints\n{stdout}", shown.join("\n")));
                    let is_cut = shown.iter().any(|line| line == "...");
                    let printed: Vec<String> =
                        printed.iter().map(|line| line.trim_end().to_owned()).collect();
                    blessed.push((first, shown.len(), printed, is_cut));
                }
            }
        }
    }
    if std::env::var_os("SCUMBLE_BLESS").is_some() {
        for (first, count, printed, is_cut) in blessed.into_iter().rev() {
            if !is_cut {
                lines.splice(first..first + count, printed);
            }
        }
        std::fs::write(document, lines.join("\n") + "\n").unwrap();
    }
    differences
}

/// Returns the pictures of a document that differ from the pictures that its commands write.
fn other_pictures(document: &Path, files: &Files) -> Vec<String> {
    let text = std::fs::read_to_string(document).unwrap();
    let pictures = text.split("](pictures/").skip(1).filter_map(|rest| rest.split(')').next());
    let is_other = |name: &&str| {
        let (made, kept) = (files.read(name), document.with_file_name("pictures").join(name));
        if std::env::var_os("SCUMBLE_BLESS").is_some() {
            std::fs::write(&kept, &made).unwrap();
        }
        std::fs::read_to_string(&kept).unwrap_or_default() != made
    };
    pictures.filter(is_other).map(|name| format!("the picture {name} is not the one that is made")).collect()
}

#[track_caller]
fn check(document: &str, files: &Files) {
    let document = workspace().join(document);
    let mut differences = differences(&document, files);
    differences.extend(other_pictures(&document, files));
    let document = document.display();
    assert!(
        differences.is_empty(),
        "{document}: {} differences\n\n{}",
        differences.len(),
        differences.join("\n\n")
    );
}

/// Declares a test for each chapter; some chapters need data.
macro_rules! chapters {
    ($($name:ident $file:literal $(needs $needs:literal)?),+ $(,)?) => {
        $(
            #[test]
            fn $name() {
                $(
                    let data = scumble::datasets::folder().join($needs);
                    if !data.is_dir() {
                        return scumble_testing::missing(data.display());
                    }
                )?
                check(concat!("guide/chapters/", $file, ".md"), &Files::new());
            }
        )+

        #[test]
        fn every_chapter_has_a_test() {
            let tested = [$($file),+];
            for chapter in std::fs::read_dir(workspace().join("guide/chapters")).unwrap() {
                let path = chapter.unwrap().path();
                let name = path.file_stem().unwrap().to_str().unwrap();
                let is_text = path.extension().is_some_and(|extension| extension == "md");
                assert!(!is_text || name == "SUMMARY" || tested.contains(&name), "{name} has no test");
            }
        }
    };
}

chapters!(
    start "start",
    concepts "concepts",
    choosing "choosing",
    schemas "schemas",
    releasing "releasing",
    collecting "collecting",
    released_files "released-files",
    in_python "python",
    on_clusters "clusters",
    accounting "accounting",
    auditing "auditing",
    comparing "comparing",
    a_survey "case-survey" needs "adult",
    a_hospital "case-hospital" needs "wdbc",
    volunteers "case-volunteers" needs "adult",
    two_servers "case-servers" needs "wdbc",
    a_table_of_visits "case-visits",
    a_report "case-report",
    a_model_by_person "case-panel",
    mechanism "mechanism",
    reproducing "reproducing",
    performance "performance",
    limits "limits",
);

#[test]
fn the_readme() {
    check("README.md", &Files::new());
    assert!(std::fs::read_to_string(workspace().join("README.md")).unwrap().lines().count() <= 120);
}

#[test]
fn lines_are_compared_but_for_dots() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    for (text, printed, expected) in [
        ("a\nb", vec!["a", "b"], true),
        ("a\n...", vec!["a"], true),
        ("...\nb", vec!["a", "c", "b"], true),
        ("...\nb", vec!["a", "b", "c"], false),
        ("a", vec!["a", "b"], false),
    ] {
        assert_eq!(is_as_shown(&shown(text), &printed), expected, "{text:?} and {printed:?}");
    }
}

#[test]
fn the_table_of_mechanisms_is_that_of_the_registry() {
    let table = Files::new().run("list --markdown");
    assert!(
        include_str!("../../../mechanisms/README.md").contains(table.trim_end()),
        "mechanisms/README.md has another table than `scumble list --markdown` prints:\n{table}"
    );
}

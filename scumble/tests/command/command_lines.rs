//! Checks that the command accepts every command line in a document. It includes lines whose run is left to
//! the reader: compilation, runs of hours, and steps of a release.

use crate::workspace;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// Returns the repository's files whose paths satisfy `is_one`.
fn files(is_one: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let is_ours = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !name.starts_with('.') && !["target", "book"].contains(&&*name)
    };
    let entries = WalkDir::new(workspace()).into_iter().filter_entry(is_ours);
    entries.map(|entry| entry.unwrap().into_path()).filter(|path| is_one(path)).collect()
}

/// Returns the commands in shell blocks, without comments and split at `&&` and `|`.
fn command_lines(document: &str) -> Vec<String> {
    let (mut lines, mut fence) = (vec![], None);
    for line in document.lines().map(str::trim) {
        if let Some(language) = line.strip_prefix("```") {
            fence = if fence.is_none() { Some(language) } else { None };
            continue;
        }
        let line = match fence {
            Some("console") => line.strip_prefix("$ ").unwrap_or_default(),
            Some("sh" | "bash") => line,
            _ => continue,
        };
        let line = line.split(" # ").next().unwrap_or_default();
        lines
            .extend(line.split(" && ").flat_map(|part| part.split(" | ")).map(|part| part.trim().to_owned()));
    }
    lines
}

/// Returns the word after `option`.
fn after<'w>(words: &'w [String], option: &str) -> Option<&'w str> {
    let at = words.iter().position(|word| word == option)?;
    words.get(at + 1).map(String::as_str)
}

/// Returns the fault of a command line: an unknown option, or a package or file that the repository lacks.
fn fault(words: &[String], packages: &BTreeSet<String>) -> Option<String> {
    let own = match words.first().map(String::as_str)? {
        "scumble" => words.get(1..),
        "cargo" => {
            let package = after(words, "-p");
            if package.is_some_and(|package| !packages.contains(package)) {
                return Some(format!("no package of the workspace is named {}", package.unwrap_or_default()));
            }
            let files = ["--path", "--manifest-path"].iter().filter_map(|option| after(words, option));
            if let Some(lost) = files.into_iter().find(|file| !workspace().join(file).exists()) {
                return Some(format!("{lost} is not in the repository"));
            }
            // Only packages whose binary is scumble, possibly with an additional plugin, are parsed.
            let is_ours = package.is_none_or(|package| ["scumble", "staircase-plugin"].contains(&package));
            let at = words.iter().position(|word| word == "--");
            at.filter(|_| is_ours && words[1] == "run").and_then(|at| words.get(at + 1..))
        }
        _ => None,
    }?;
    let is_left_out = own.first().is_some_and(|name| name == "reproduce") && !cfg!(feature = "reproduce");
    if own.is_empty() || is_left_out || own == ["--version"] {
        return None;
    }
    // The parser stops at `--help`, so the words before it were accepted.
    let output = crate::command("").args(own).arg("--help").output().unwrap();
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn packages() -> BTreeSet<String> {
    let manifests = files(|path| path.file_name().is_some_and(|name| name == "Cargo.toml"));
    let name = |manifest: &PathBuf| {
        let manifest: toml::Table = toml::from_str(&std::fs::read_to_string(manifest).unwrap()).unwrap();
        Some(manifest.get("package")?.get("name")?.as_str()?.to_owned())
    };
    manifests.iter().filter_map(name).collect()
}

#[test]
fn every_command_line_of_every_document_is_taken() {
    let packages = packages();
    let (mut faults, mut count) = (vec![], 0);
    for document in files(|path| path.extension().is_some_and(|extension| extension == "md")) {
        for line in command_lines(&std::fs::read_to_string(&document).unwrap()) {
            let Some(words) = shlex::split(&line) else { continue };
            let before = words.iter().take_while(|word| word.contains('=') && !word.starts_with('-')).count();
            count += usize::from(words.get(before).is_some_and(|word| word == "scumble" || word == "cargo"));
            if let Some(fault) = fault(&words[before..], &packages) {
                faults.push(format!("{}: {line}\n    {fault}", document.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 100, "{count} commands");
}

#[test]
fn a_command_line_that_is_not_taken_is_found() {
    let packages = packages();
    for (line, is_fault) in [
        ("scumble design laplace --epsilon 2", false),
        ("scumble design laplace --epsilons 2", true),
        ("scumble designs", true),
        ("cargo run --release -- compare --fast", true),
        ("cargo run -p scumble-guides", true),
        ("cargo install --path scumbles", true),
        ("ls --anything", false),
    ] {
        let words = shlex::split(line).unwrap();
        assert_eq!(fault(&words, &packages).is_some(), is_fault, "{line}");
    }
}

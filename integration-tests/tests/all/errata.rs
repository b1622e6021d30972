//! Citations of `papers/errata`, the errors of the implemented papers. Every cited id must be an entry of one
//! of its files.

use crate::words::texts;
use crate::workspace;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// Fewer citations than this mean that the search is at fault.
const FEWEST: usize = 30;

/// The id at the beginning of `text`, as T1 or D17, and what follows it.
fn leading_id(text: &str) -> Option<(&str, &str)> {
    let digits = text.strip_prefix(|c: char| c.is_ascii_uppercase())?;
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (rest.len() < digits.len() && ends).then(|| text.split_at(text.len() - rest.len()))
}

/// Ids that a line cites: all ids after "errata" or "erratum", separated by commas or "and".
fn cited(line: &str) -> Vec<&str> {
    let lower = line.to_ascii_lowercase(); // as long as the line, byte by byte
    let mut found = vec![];
    for (at, _) in lower.match_indices("errat") {
        let Some(length) =
            ["errata", "erratum"].iter().find_map(|w| lower[at..].starts_with(w).then_some(w.len()))
        else {
            continue;
        };
        let mut rest = &line[at + length..];
        while let Some((id, behind)) = leading_id(after_separator(rest)) {
            found.push(id);
            rest = behind;
        }
    }
    found
}

/// `text` without the commas, spaces, quotes and the "and" that it begins with.
fn after_separator(text: &str) -> &str {
    let trimmed = text.trim_start_matches([' ', ',', ':', '`']);
    trimmed.strip_prefix("and ").unwrap_or(trimmed)
}

/// The folder of the errata, one file per paper.
fn folder() -> PathBuf {
    workspace().join("papers/errata")
}

/// The text of all errata.
fn errata() -> String {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    files.map(|file| fs::read_to_string(file).unwrap()).collect()
}

/// The ids of the headings `### T1 …`, in their order.
fn entries(errata: &str) -> Vec<&str> {
    let headings = errata.lines().filter_map(|line| line.strip_prefix("### "));
    let id_of = |heading| leading_id(heading).map(|(id, _)| id);
    headings.map(|heading| id_of(heading).unwrap_or_else(|| panic!("`### {heading}` has no id"))).collect()
}

#[test]
fn every_entry_has_an_id_of_its_own() {
    let errata = errata();
    let ids = entries(&errata);
    let mut seen = BTreeSet::new();
    let repeated: Vec<&str> = ids.into_iter().filter(|id| !seen.insert(*id)).collect();
    assert!(!seen.is_empty() && repeated.is_empty(), "in papers/errata more than once: {repeated:?}");
}

#[test]
fn every_cited_entry_exists() {
    let root = workspace();
    let errata = errata();
    let known: BTreeSet<&str> = entries(&errata).into_iter().collect();
    let (mut citations, mut wrong) = (0, vec![]);
    for path in texts(&root).into_iter().filter(|path| !path.starts_with(folder())) {
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes); // some texts are wrong on purpose
        let shown = path.strip_prefix(&root).unwrap_or(&path).display();
        for (at, line) in text.lines().enumerate() {
            let ids = cited(line);
            citations += ids.len();
            let unknown = ids.into_iter().filter(|id| !known.contains(id));
            wrong.extend(unknown.map(|id| format!("{shown}:{}: papers/errata has no entry {id}", at + 1)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(citations >= FEWEST, "only {citations} citations were found, where there are {FEWEST} or more");
}

#[test]
fn citations_are_found_in_each_of_their_forms() {
    // This file is searched too, and Z99 is no entry: so the words that cite are put in here.
    let citations = |form: &str| -> Vec<String> {
        let line = form.replace("list", "errata").replace("one", "Erratum");
        cited(&line).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(citations("/// (list Z99)."), ["Z99"]);
    assert_eq!(citations("as in one Z99: a slip"), ["Z99"]);
    assert_eq!(citations("[list T2](../papers/list/task-aware.md)"), ["T2"]);
    assert_eq!(citations("list T1 and Z99, by lists of D12"), ["T1", "Z99"]);
    assert_eq!(citations("list T2, Z99, or more"), ["T2", "Z99"]);
    for none in ["a list of Z99", "list Z99a", "list Z", "(Z99)", "T1 is in the list"] {
        assert_eq!(citations(none), [""; 0], "{none}");
    }
}

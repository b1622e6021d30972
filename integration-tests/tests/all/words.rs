//! Text for people uses the field's terms. Documents, comments, help, cards, errors and names contain no word
//! that has a better-known alternative.

use crate::workspace;
use regex::{Regex, RegexBuilder};
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// Words to avoid, as regular expressions between word boundaries, and their replacements.
const AVOIDED: [(&str, &str); 27] = [
    (r"(?:[a-z_]*_)?promis(e|es|ed|ing)(?:_[a-z_]*)?", "guarantee; claim, for one line of it"),
    ("she|her|hers|herself", "the adversary (it); the person, people (they)"),
    ("by lot|draws? lots", "sampled uniformly at random"),
    (
        "(stands?|stood) \
         (there|on|beside|behind|in|under|alone|apart|with|by|at|after|before|as|first|together|next|the)",
        "is, is listed, applies to, consists of",
    ),
    ("blind[_ ]?(ly|guess|guesses)", "majority-class baseline; mean baseline"),
    ("guessing", "majority-class baseline; mean baseline"),
    ("what is shown", "audited lower bound"),
    ("clean test", "held-out test records"),
    ("records learned from", "training records"),
    ("(?:[a-z_]*_)?entrants?(?:_[a-z_]*)?", "candidate"),
    ("(keeps?|keeping) house|the house|the door", "passes the conformance suite; facade"),
    ("(?:[a-z_]*_)?twins?(?:_[a-z_]*)?", "faulty variant; counterpart"),
    ("gives? away|given away|giving away", "discloses"),
    ("(one|a) record more( or less)?", "add/remove one record"),
    ("what (the )?noise costs", "privacy accounting"),
    ("rests? on|resting on", "is proven by, depends on; numerical solvers"),
    ("found again", "reproduced results"),
    ("who sees", "trust model; threat model"),
    ("variance recovered|reads? the others", "reconstruction R²"),
    ("unbiased error", "normalised MSE of the release"),
    ("as they are", "in the clear; unchanged"),
    ("telling (records|them|two)[a-z ]* apart", "distinguishing advantage"),
    ("privacy curves?|curve δ|along (the|its|a|one) curve", "privacy profile, δ(ε)"),
    ("laws?", "distribution"),
    ("forms? of (seconds|minutes)|(quick|whole) forms?", "quick variant; full variant"),
    ("all draws come from", "random seed"),
    ("in earnest", "at the release"),
];

/// Exceptions: a part of the file's path, and a part of the line that contains the word.
const RIGHT: [(&str, &str); 7] = [
    ("evaluation/datasets", "wine law"),
    ("evaluation/datasets", "tax law"),
    ("evaluation/datasets", "by law"),
    ("benches/src/growth", "law"),
    ("benches/src/page.rs", "growth law"),
    ("PERFORMANCE.md", "growth law"),
    ("scumble/tests/command/page.rs", "new Promise("), // JavaScript's
];

pub(crate) fn texts(folder: &Path) -> Vec<PathBuf> {
    let is_ours = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        !name.starts_with('.') && !["target", "book", "corpus", "artifacts"].contains(&&*name)
    };
    let entries = WalkDir::new(folder).into_iter().filter_entry(|entry| entry.depth() == 0 || is_ours(entry));
    let paths = entries.map(|entry| entry.unwrap().into_path());
    let is_text = |path: &PathBuf| {
        path.extension()
            .is_some_and(|end| ["rs", "md", "toml", "template", "py", "pyi"].iter().any(|text| end == *text))
    };
    paths.filter(is_text).collect()
}

/// Returns the lines of a text with an avoided word, and the replacement. Also finds a phrase that continues
/// on the next line.
fn avoided<'t>(path: &str, text: &'t str, words: &[(Regex, &str)]) -> Vec<(usize, &'t str, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = vec![];
    for (at, line) in lines.iter().enumerate() {
        let bare = |line: &&'t str| {
            line.trim_start().trim_start_matches('/').trim_start_matches('!').trim().to_owned()
        };
        let own = bare(line).trim_end_matches('\\').trim_end().to_owned();
        let next = lines.get(at + 1).map(bare).unwrap_or_default();
        let joined = format!("{own} {next}");
        for (word, instead) in words {
            let is_here = word.find(&joined).is_some_and(|phrase| phrase.start() < own.len());
            let is_right = RIGHT.iter().any(|(file, excerpt)| path.contains(file) && line.contains(excerpt));
            if is_here && !is_right {
                found.push((
                    at + 1,
                    *line,
                    format!("{:?}; write: {instead}", word.find(&joined).unwrap().as_str()),
                ));
            }
        }
    }
    found
}

fn words() -> Vec<(Regex, &'static str)> {
    let compiled = |(word, instead): &(&str, &'static str)| {
        let word = format!(r"\b(?:{word})\b");
        (RegexBuilder::new(&word).case_insensitive(true).build().unwrap(), *instead)
    };
    AVOIDED.iter().map(compiled).collect()
}

#[test]
fn no_text_has_a_word_that_is_avoided() {
    let (root, words) = (workspace(), words());
    let files = texts(&root);
    assert!(files.len() > 400, "{}", files.len());
    let mut found = vec![];
    for file in files.iter().filter(|file| !file.ends_with("integration-tests/tests/all/words.rs")) {
        let path = file.strip_prefix(&root).unwrap().display().to_string();
        let text = fs::read_to_string(file).unwrap();
        for (row, line, what) in avoided(&path, &text, &words) {
            found.push(format!("{path}:{row}: {what}\n    {}", line.trim()));
        }
    }
    assert!(found.is_empty(), "{} lines\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_word_is_found_whole_and_over_the_end_of_a_line() {
    let words = words();
    for (text, expected) in [
        ("the guarantee promises", 1),
        ("/// what noise\n    /// costs", 1),
        ("compromised, there, together, lawful", 0),
        ("what_is_promised()", 1),
        ("She\nher", 2),
    ] {
        assert_eq!(avoided("a.rs", text, &words).len(), expected, "{text:?}");
    }
}

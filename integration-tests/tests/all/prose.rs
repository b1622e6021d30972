//! Structure of the text that people read: first words of doc comments, phrases without a noun, and the
//! lengths of lines and sentences.

use crate::words::texts;
use crate::workspace;
use regex::Regex;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Longest line of a `.rs` file, in columns.
const RUST_COLUMNS: usize = 110;
/// Longest line of a `.md` file, in columns; tables, code and lines of one word may be longer.
const MARKDOWN_COLUMNS: usize = 120;
/// Most words of a sentence. A code span is one word, and the symbols of a formula are none.
const WORDS: usize = 30;

/// Pages that a command writes.
const GENERATED: [&str; 5] = ["BENCHMARK.md", "SUITE.md", "PERFORMANCE.md", "LIMITS.md", "REPRODUCTION.md"];

/// Number of remaining faults by rule and folder. A number may only shrink: the test fails if one is too
/// large.
const ALLOWED: [(Rule, &str, usize); 0] = [];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    /// The first word of a doc comment asks a question or needs the item's name.
    FirstWord,
    /// A phrase stands for a noun.
    Phrase,
    /// A line is too long.
    Line,
    /// A sentence is too long.
    Sentence,
}

/// One place that breaks a rule.
#[derive(Debug, PartialEq)]
struct Fault {
    rule: Rule,
    /// Counted from 1.
    row: usize,
    text: String,
}

/// A paragraph of prose with the row of its first line, counted from 1.
struct Paragraph {
    row: usize,
    is_doc: bool,
    text: String,
}

/// Patterns that are compiled once.
struct Rules {
    first_word: Regex,
    phrase: Regex,
    code_span: Regex,
    sentence_end: Regex,
    list_item: Regex,
}

impl Rules {
    fn new() -> Self {
        let compiled = |pattern: &str| Regex::new(pattern).unwrap();
        Self {
            first_word: compiled(r"^(What|How|Whether|Which|Of|Where|By|As|That|Those|When|So many)\b"),
            phrase: compiled(concat!(
                r"(?i)\b(so many [a-z`]|of which|as there\b[^a-z]*$|as there[.,;:)]|as those|is none|",
                r"is no number)",
            )),
            code_span: compiled(r"`[^`]*`|\[([^\]]*)\]\([^)]*\)|\$[^$]*\$"),
            sentence_end: compiled(r#"[.!?]["')*_]*(\s|$)|;\s"#),
            list_item: compiled(r"^\s*([-*+]|\d+\.)\s"),
        }
    }

    /// All faults of a file's text.
    fn faults(&self, path: &Path, text: &str) -> Vec<Fault> {
        let is_exempt =
            |line: &str| line.trim_start().starts_with(['|', '<', '!']) || !line.trim().contains(' ');
        let (paragraphs, mut found) = match path.extension().and_then(|end| end.to_str()) {
            Some("rs") => (self.comments(text), long_lines(text, RUST_COLUMNS, |_| false)),
            Some("py" | "pyi") => (self.docstrings(text), vec![]),
            _ => (self.paragraphs(text), long_lines(&without_code(text), MARKDOWN_COLUMNS, is_exempt)),
        };
        for Paragraph { row, is_doc, text } in paragraphs {
            if is_doc && self.first_word.is_match(&text) {
                found.push(Fault { rule: Rule::FirstWord, row, text: text.clone() });
            }
            for phrase in self.phrase.find_iter(&text) {
                found.push(Fault { rule: Rule::Phrase, row, text: phrase.as_str().to_owned() });
            }
            let words = self.code_span.replace_all(&text, "code");
            let sentences = self.sentence_end.split(&words);
            let long =
                sentences.filter(|sentence| sentence.split_whitespace().filter(is_word).count() > WORDS);
            found.extend(long.map(|sentence| Fault {
                rule: Rule::Sentence,
                row,
                text: sentence.trim().to_owned(),
            }));
        }
        found
    }

    /// Joins lines to paragraphs. `None` ends a paragraph. The flag of a line is true if the line begins a
    /// doc comment.
    fn joined<'t>(&self, lines: impl Iterator<Item = Option<(bool, &'t str)>>) -> Vec<Paragraph> {
        let mut found: Vec<Paragraph> = vec![];
        let mut is_open = false;
        for (row, line) in (1..).zip(lines) {
            let line = line.filter(|(_, body)| !body.is_empty() && !body.starts_with(['|', '#']));
            match (line, found.last_mut()) {
                (Some((_, body)), Some(last)) if is_open && !self.list_item.is_match(body) => {
                    last.text = format!("{} {body}", last.text);
                }
                (Some((is_doc, body)), _) => found.push(Paragraph { row, is_doc, text: body.to_owned() }),
                (None, _) => {}
            }
            is_open = line.is_some();
        }
        found
    }

    /// Paragraphs of the comments of Rust code, without code blocks.
    fn comments(&self, text: &str) -> Vec<Paragraph> {
        let (mut is_code, mut was_doc) = (false, false);
        self.joined(text.lines().map(|line| {
            let bare = line.trim_start();
            let doc = ["///", "//!"].iter().find_map(|mark| bare.strip_prefix(mark));
            let body = doc.or_else(|| bare.strip_prefix("//")).map(str::trim);
            let fence = body.is_some_and(|body| body.starts_with("```"));
            let starts_doc = doc.is_some() && !was_doc;
            was_doc = doc.is_some();
            is_code = body.is_some() && is_code != fence;
            body.filter(|_| !is_code && !fence).map(|body| (starts_doc, body))
        }))
    }

    /// Paragraphs of Markdown, without code, tables, headings and HTML.
    fn paragraphs(&self, text: &str) -> Vec<Paragraph> {
        let lines = without_code(text);
        self.joined(
            lines.lines().map(|line| Some((false, line.trim())).filter(|(_, body)| !body.starts_with('<'))),
        )
    }

    /// Paragraphs of the docstrings of Python code, without doctests. Text that begins with a line break is
    /// no docstring.
    fn docstrings(&self, text: &str) -> Vec<Paragraph> {
        let mut row = 1;
        let mut found = vec![];
        for (at, piece) in text.split("\"\"\"").enumerate() {
            if at % 2 == 1 && !piece.starts_with('\n') {
                let prose: Vec<&str> = piece
                    .lines()
                    .map(|line| if line.trim().starts_with(['>', '.']) { "" } else { line })
                    .collect();
                let paragraphs = self.paragraphs(&prose.join("\n")).into_iter().enumerate();
                found.extend(paragraphs.map(|(nth, paragraph)| Paragraph {
                    row: row + paragraph.row - 1,
                    is_doc: nth == 0,
                    ..paragraph
                }));
            }
            row += piece.matches('\n').count();
        }
        found
    }
}

/// Returns whether a piece of a sentence is a word: it contains two letters in a row.
fn is_word(piece: &&str) -> bool {
    let letters: Vec<bool> = piece.chars().map(char::is_alphabetic).collect();
    letters.len() > 1 && letters.windows(2).any(|pair| pair[0] && pair[1])
}

/// The text with the lines of fenced code and of display formulas emptied.
fn without_code(text: &str) -> String {
    let mut is_code = false;
    let kept = text.lines().map(|line| {
        let fence = ["```", "$$"].iter().any(|mark| line.trim_start().starts_with(mark));
        let closes_itself = fence && line.trim().len() > 4 && line.trim().ends_with("$$");
        is_code ^= fence && !closes_itself;
        if fence || is_code { "" } else { line }
    });
    kept.collect::<Vec<_>>().join("\n")
}

fn long_lines(text: &str, columns: usize, is_exempt: impl Fn(&str) -> bool) -> Vec<Fault> {
    let lines = (1..).zip(text.lines());
    let long = lines.filter(|(_, line)| line.chars().count() > columns && !is_exempt(line));
    long.map(|(row, line)| Fault { rule: Rule::Line, row, text: line.trim().to_owned() }).collect()
}

/// The part of a path that has an allowance of its own: its first two folders, or one at the top level.
fn folder(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    parts[..(parts.len() - 1).min(2)].join("/")
}

#[test]
fn every_text_keeps_the_rules_of_plain_english() {
    let (root, rules) = (workspace(), Rules::new());
    let mut found: BTreeMap<(Rule, String), Vec<String>> = BTreeMap::new();
    for file in texts(&root) {
        let path = file.strip_prefix(&root).unwrap().display().to_string();
        let is_read =
            ["rs", "md", "py", "pyi"].iter().any(|end| file.extension().is_some_and(|other| other == *end));
        if !is_read
            || GENERATED.iter().any(|page| path.ends_with(page))
            || path.ends_with("tests/all/prose.rs")
        {
            continue;
        }
        for Fault { rule, row, text } in rules.faults(&file, &fs::read_to_string(&file).unwrap()) {
            let text: String = text.chars().take(200).collect();
            found.entry((rule, folder(&path))).or_default().push(format!("{path}:{row}: {text}"));
        }
    }
    let mut problems = vec![];
    for (rule, folder, most) in ALLOWED {
        let count = found.get(&(rule, folder.to_owned())).map_or(0, Vec::len);
        if count < most {
            problems.push(format!(
                "{folder}: {count} faults of {rule:?} are left; lower its allowance of {most}"
            ));
        }
    }
    for ((rule, folder), faults) in &found {
        let allowance = ALLOWED.iter().find(|(other, place, _)| other == rule && place == folder);
        let most = allowance.map_or(0, |(_, _, most)| *most);
        if faults.len() > most {
            problems.push(format!(
                "{folder}: {} of {rule:?}, {most} allowed:\n  {}",
                faults.len(),
                faults.join("\n  ")
            ));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn each_rule_finds_its_faults_and_nothing_else() {
    let rules = Rules::new();
    let found = |name: &str, text: &str| -> Vec<(Rule, usize)> {
        rules.faults(Path::new(name), text).iter().map(|fault| (fault.rule, fault.row)).collect()
    };
    let long = "word ".repeat(WORDS + 1);
    let wide = format!("let x = \"{}\";", "a".repeat(RUST_COLUMNS));
    for (name, text, expected) in [
        ("a.rs", "/// What it does.\nfn f() {}".to_owned(), vec![(Rule::FirstWord, 1)]),
        ("a.rs", "/// Draws.\n///\n/// What follows is a detail.\nfn f() {}".to_owned(), vec![]),
        ("a.rs", "// What follows is not documented.".to_owned(), vec![]),
        ("a.rs", "/// Draws so\n/// many numbers.".to_owned(), vec![(Rule::Phrase, 1)]),
        ("a.rs", "/// ```\n/// // so many numbers\n/// ```".to_owned(), vec![]),
        ("a.rs", "/// Draws as there.".to_owned(), vec![(Rule::Phrase, 1)]),
        ("a.rs", "/// Fails, as there are two.".to_owned(), vec![]),
        ("a.rs", format!("fn f() {{}}\n{wide}"), vec![(Rule::Line, 2)]),
        ("a.rs", format!("// {}\n// {}", &long[..75], &long[75..]), vec![(Rule::Sentence, 1)]),
        ("a.rs", format!("// {}.\n// {}", &long[..74], &long[75..]), vec![]),
        (
            "a.py",
            "def f():\n    \"\"\"What it does.\n\n    As there.\"\"\"".to_owned(),
            vec![(Rule::FirstWord, 2), (Rule::Phrase, 4)],
        ),
        ("a.md", format!("- {}\n- {}", &long[..75], &long[75..]), vec![]),
        ("a.md", format!("```\n{wide} {long}\n```\n| {wide} |"), vec![]),
        ("a.md", format!("Text\n{wide}"), vec![(Rule::Line, 2)]),
    ] {
        assert_eq!(found(name, &text), expected, "{text:?}");
    }
}

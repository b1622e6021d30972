//! The guide's chapter on writing a mechanism: its excerpts match the source of this plugin and of the
//! templates, and its commands run.

use std::path::Path;
use std::process::{Command, Output};

const CHAPTER: &str = include_str!("../../../../guide/chapters/mechanism.md");
const SOURCES: [&str; 5] = [
    include_str!("../../src/lib.rs"),
    include_str!("../../src/main.rs"),
    include_str!("../../../../scumble/plugin-template/local.rs"),
    include_str!("../../../../scumble/plugin-template/curator.rs"),
    include_str!("../../../../scumble/plugin-template/test_local.rs"),
];

/// Returns the lines of all blocks with this fence, without indentation.
fn lines(opening: &str) -> Vec<&'static str> {
    let mut blocks = vec![];
    let mut inside = false;
    for line in CHAPTER.lines().map(str::trim) {
        match line.strip_prefix("```") {
            Some(fence) => inside = fence == opening && !inside,
            None if inside => blocks.push(line),
            None => {}
        }
    }
    blocks
}

#[test]
fn excerpts_are_in_the_source() {
    let sources = SOURCES.join("\n");
    let flat: String = sources.split_whitespace().collect();
    // Blocks without `ignore` are documentation tests of the guide.
    let code = lines("rust,ignore").into_iter().map(|line| line.split("//").next().unwrap().trim());
    let mut seen = 0;
    for line in code.filter(|line| line.len() > 1) {
        // `{ /* … */ }` replaces a body.
        let excerpt: String = line.split("/*").next().unwrap().split_whitespace().collect();
        assert!(
            flat.contains(excerpt.trim_end_matches('}')),
            "the chapter shows a line that is not in the source: {line}"
        );
        seen += 1;
    }
    assert!(seen > 40, "{seen} lines of Rust");
}

/// Returns the arguments of the lines that run the plugin's binary.
fn commands() -> Vec<Vec<&'static str>> {
    let prefix = "cargo run --release -p staircase-plugin -- ";
    let lines = lines("sh").into_iter().filter_map(|line| line.strip_prefix(prefix));
    lines.map(|line| line.split_whitespace().collect()).collect()
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_staircase-plugin"));
    let output = command.current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

#[test]
fn commands_design_release_compare_and_audit() {
    let folder = tempfile::tempdir().unwrap();
    for (language, file) in [("toml", "people.toml"), ("csv", "people.csv")] {
        let text = lines(&format!("{language},file={file}")).join("\n");
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    let commands = commands();
    assert_eq!(
        commands.iter().map(|command| command[0]).collect::<Vec<_>>(),
        ["design", "release", "compare", "audit"]
    );
    run(folder.path(), &commands[0]);
    let released = run(folder.path(), &commands[1]);
    let output = String::from_utf8(released.stdout).unwrap();
    assert!(
        output.contains("2 released records: ε = 2 local differential privacy for the whole record"),
        "{output}"
    );
    let csv = std::fs::read_to_string(folder.path().join("released.csv")).unwrap();
    assert!(csv.starts_with("height\n") && csv.lines().count() == 3, "{csv}");
    let compared = run(folder.path(), &[&commands[2][..], &["--trials", "2"]].concat());
    let table = String::from_utf8(compared.stdout).unwrap();
    assert!(table.lines().any(|line| line.trim_start().starts_with("staircase ")), "{table}");
    let attacked = String::from_utf8(run(folder.path(), &commands[3]).stdout).unwrap();
    assert!(attacked.contains("staircase") && attacked.contains("holds"), "{attacked}");
}

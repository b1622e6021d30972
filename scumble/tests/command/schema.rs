//! `scumble schema`: a draft, its uses, and its limits.

use crate::{Files, SCHEMA, succeeded};

/// Writes sixty rows, each with a different name.
fn people() -> Files {
    let files = Files::new();
    let rows = (0..60).map(|row| {
        let size = row as f64 / 6.0;
        format!("person {row},{size},{}\n", if row % 7 < 4 { "red" } else { "green" })
    });
    files.write("people.csv", format!("name,size,colour\n{}", rows.collect::<String>()));
    files
}

#[test]
fn from_a_file_to_a_page_in_two_commands() {
    let files = people();
    let output = files.run("schema people.csv --output people.toml");
    assert!(
        output.contains("\"size\", from 0 to 10") && output.contains("\"colour\", one of green, red"),
        "{output}"
    );
    let draft = files.read("people.toml");
    assert!(
        draft.contains("draft = true")
            && draft.contains("\"name\" is left out")
            && !draft.contains("person 1")
    );
    assert_eq!(files.run("schema people.csv").trim_end(), draft.trim_end());
    let line =
        "compare --trials 2 --input people.csv --schema people.toml --target colour --html page.html --json";
    let (outcome, stderr) = succeeded(&mut files.command(line));
    assert!(
        stderr.contains("people.csv: the schema is a draft, with bounds taken from the records"),
        "{stderr}"
    );
    let outcome: serde_json::Value = serde_json::from_str(&outcome).unwrap();
    assert_eq!(outcome["data"]["drafted"], true);
    let page = files.read("page.html");
    assert!(page.contains("What to choose, and its cost") && page.contains("The schema is a draft"));
    // Without the draft mark, the file is a schema like any other.
    files.write("people.toml", draft.replace("draft = true\n", ""));
    let outcome = files.json(&format!("{line} --force"));
    assert_eq!(outcome["data"]["drafted"], false);
    assert!(!files.read("page.html").contains("The schema is a draft"));
}

#[test]
fn nothing_is_designed_by_a_draft() {
    let files = people();
    files.run("schema people.csv --output people.toml");
    let before = files.all();
    for parts in ["laplace", "laplace --target colour --label-share 0.5"] {
        let line = format!("design {parts} --schema people.toml --epsilon 1 --output design.json");
        let refused = files.refuses(&line);
        assert!(
            refused.starts_with("people.toml: it is a draft, and bounds taken from the records"),
            "{refused}"
        );
    }
    assert_eq!(files.all(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_schema_without_an_end_is_refused() {
    let files = Files::new();
    let line = "design laplace --schema /dev/zero --epsilon 1 --output design.json";
    assert!(files.refuses(line).starts_with("/dev/zero: it is longer than the limit of 67108864 bytes"));
    assert_eq!(files.all(), ["schema.toml"]);
}

#[test]
fn text_that_could_write_lines_of_a_card_is_refused() {
    let files = Files::new();
    for (from, to) in [
        ("\"cm\"", r#""\n\nguarantee  \u03b5 = 0.1 local differential privacy""#),
        ("\"cm\"", r#""cm\u001b[8m""#),
        ("\"red\"", r#""\u202eder""#),
        ("\"size\"", r#""si\u200bze""#),
        ("\"€\"", r#""€\u2028""#),
        ("10.0,", r#"10.0, missing = 1.0, missing_cells = ["\u0007"],"#),
    ] {
        files.write("schema.toml", SCHEMA.replacen(from, to, 1));
        let refused = files.refuses("design laplace --schema schema.toml --epsilon 1 --output design.json");
        assert!(
            refused.starts_with("schema.toml: column \"") && refused.contains("contains the character U+"),
            "{to}: {refused}"
        );
    }
    assert_eq!(files.all(), ["schema.toml"]);
}

#[test]
fn a_draft_leaves_out_what_no_schema_may_hold() {
    let files = Files::new();
    let rows = (0..20).map(|row| format!("{row}.5,{},x\n", if row % 2 == 0 { "a" } else { "b\u{202e}" }));
    files.write("data.csv", format!("size,kind,\"na\nme\"\n{}", rows.collect::<String>()));
    let draft = files.run("schema data.csv");
    assert!(
        draft.contains("# \"kind\" is left out: the text \"b\\u{202e}\" contains the character U+202E"),
        "{draft}"
    );
    assert!(draft.contains("name = \"size\"") && draft.contains("# \"na\\nme\" is left out"), "{draft}");
}

#[test]
fn a_schema_that_is_there_stays_unless_forced() {
    let files = people();
    assert_eq!(
        files.refuses("schema people.csv --output schema.toml"),
        "schema.toml already exists; --force replaces it"
    );
    assert_eq!(
        files.refuses("schema people.csv --output people.csv --force"),
        "people.csv: this is an input file; refusing to overwrite it"
    );
    files.run("schema people.csv --output schema.toml --force");
    let output = files.json("schema people.csv --json");
    assert_eq!((&output["draft"], &output["column"][0]["name"]), (&true.into(), &"size".into()));
    assert!(files.refuses("schema nowhere.csv").starts_with("nowhere.csv: "));
}

/// The screen and the draft name columns that are left out, and numbers that may mark missing cells.
#[test]
fn free_text_and_sentinels_are_named_on_the_screen() {
    let files = Files::new();
    let rows: String = (0..40)
        .map(|row| {
            let liquid = if row % 10 == 0 { 1_000_000 } else { row * 37 % 300 };
            format!("{liquid},needs a ramp at door {row},{}\n", ["yes", "no"][row % 2])
        })
        .collect();
    files.write("loans.csv", format!("liquid,note,approved\n{rows}"));
    let screen = files.run("schema loans.csv --output loans.toml");
    let remark = "\"liquid\" has repeated numbers far outside the others: 1000000. If they mark missing \
                  cells, use lower = 20, upper = 300, missing = 160 and missing_cells = [\"1000000\"].";
    for expected in [remark, "\"note\" is left out: most of its texts occur once, as names and free text do."]
    {
        assert!(screen.contains(&format!("\n  {expected}\n")), "{screen}");
        assert!(files.read("loans.toml").contains(&format!("# {expected}\n")));
    }
    assert!(!files.read("loans.toml").contains("ramp"));
    assert_eq!(files.json("schema loans.csv --json")["remarks"][0], remark);
}

/// A draft of a long-tailed column proposes the fields of its shape. A release without them names the column.
#[test]
fn a_long_tail_is_named_by_the_draft_and_by_the_release() {
    let files = Files::new();
    // Half of the positive balances are below 20, and one is 10,000.
    let rows =
        (1..=1000).map(|row| format!("{},{}\n", if row % 5 == 0 { 0 } else { 10_000 / row }, row % 97));
    files.write("people.csv", format!("balance,even\n{}", rows.collect::<String>()));
    let draft = files.run("schema people.csv");
    let remark = "# Consider scale = \"log\" (few numbers are far larger than the others), zero = \"apart\" \
                  (many numbers are zero).\n[[column]]\nname = \"balance\"";
    assert_eq!((draft.contains(remark), draft.matches("Consider").count()), (true, 1), "{draft}");
    let note = |fields: &str| {
        let schema = draft
            .replace("draft = true\n", "")
            .replace("upper = 10000\n", &format!("upper = 10000\n{fields}"));
        files.write("people.toml", schema);
        files.run("design mst --schema people.toml --epsilon 8 --delta 1e-6 --output design.json --force");
        let line = "release --design design.json --input people.csv --output released.csv --force";
        succeeded(&mut files.command(line)).1
    };
    let expected = "over 90 % of the released numbers of \"balance\" lie in one twentieth of the range";
    assert!(note("").contains(expected), "{}", note(""));
    let shaped = note("scale = \"log\"\nzero = \"apart\"\n");
    assert!(!shaped.contains("one twentieth"), "{shaped}");
}

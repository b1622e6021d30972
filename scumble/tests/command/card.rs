//! `scumble release --card`: the card as a page for people, and the counted tables.

use crate::Files;
use serde_json::{Value, json};

/// Four columns, one of them with a hostile name.
const SCHEMA: &str = r#"
column = [
    { name = "age", kind = "integer", lower = 0, upper = 90, unit = "years" },
    { name = "<i>sex</i>", kind = "category", levels = ["f", "m"] },
    { name = "ward", kind = "category", levels = ["a", "b", "c"] },
    { name = "died", kind = "boolean" },
]
"#;

/// Creates a design for 400 people, of whom those above 60 died.
fn designed(line: &str) -> Files {
    let files = Files::new();
    files.write("schema.toml", SCHEMA);
    let row = |row: usize| {
        let (age, sex, ward) = (row * 7 % 91, ["f", "m"][row % 2], ["a", "b", "c"][row % 3]);
        format!("{age},{sex},{ward},{}\n", age > 60)
    };
    files.write("data.csv", format!("age,<i>sex</i>,ward,died\n{}", (0..400).map(row).collect::<String>()));
    files.run(&format!("design {line} --schema schema.toml --target died --output design.json"));
    files
}

const RELEASE: &str =
    "release --design design.json --input data.csv --output released.csv --card card.html --card card.json";

/// Releases with both cards, and checks that the page has all parts in their order. Returns the page and the
/// JSON.
fn cards(files: &Files, line: &str) -> (String, Value) {
    files.run(&format!("{RELEASE} {line}"));
    let page = files.read("card.html");
    let card: Value = serde_json::from_str(&files.read("card.json")).unwrap();
    let (mut rest, version) = (&page[..], format!("<dd>scumble {}</dd>", env!("CARGO_PKG_VERSION")));
    for part in [
        "<!DOCTYPE html>",
        "<h1>Release of data.csv as released.csv</h1>",
        "<dt>date</dt>",
        " UTC</dd>",
        "<dt>mechanism</dt>",
        "trusting ",
        "<dt class=\"first\">guarantee</dt>",
        "<dt>may learn</dt>",
        "<dt>assumes</dt>",
        "<dt>columns</dt>",
        "<strong>age</strong>: from 0 to 90 years, whole</li>",
        "<strong>&lt;i&gt;sex&lt;/i&gt;</strong>: one of f, m</li>",
        "<strong>died</strong>: true or false (the label)</li>",
        "<dt>counted tables</dt>",
        "<dt>records</dt>",
        "<dt>ledger</dt>",
        "<dt>design</dt>",
        "<dt>released file</dt>",
        "<dt>made by</dt>",
        &version,
        "<p>name</p><p>date</p><p>signature</p>",
        "</html>",
    ] {
        let at =
            rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing, or not in its place:\n{page}"));
        rest = &rest[at + part.len()..];
    }
    let digests = [&card["design"]["digest"], &card["file"]["sha256"]];
    assert!(digests.iter().all(|digest| page.contains(digest.as_str().unwrap())));
    for loads in ["<script", "<link", "<img", "<i>", "url(", "@import", "http:", "https:"] {
        assert!(!page.contains(loads), "{loads}");
    }
    (page, card)
}

#[test]
fn a_local_release_has_a_page_to_sign() {
    let files = designed("direct --epsilon 2");
    let (page, card) = cards(&files, "");
    assert!(page.contains(", which releases records, trusting nobody</dd>"), "{page}");
    assert!(page.contains("ε = 2 local differential privacy for the whole record</dd>"));
    assert!(page.contains("<dt>records</dt><dd>400 released</dd>"));
    assert!(
        page.contains("none: the mechanism counts no tables") && page.contains("none: no ledger was charged")
    );
    assert_eq!(card["counted_tables"], Value::Null);
    assert!(page.contains("<figure class=\"trade-off\">") && page.contains("false negatives"), "{page}");
    // A seed voids the claims.
    let (page, _) = cards(&files, "--seed 1 --force");
    assert!(
        page.contains("<dt class=\"first\">guarantee</dt><dd>nothing</dd>") && page.contains("seed"),
        "{page}"
    );
    assert!(!page.contains("trade-off\">"), "without a claim there is no curve");
}

#[test]
fn a_curators_release_states_its_tables_and_the_balance() {
    let marginals = r#"marginals=[["age","target"],["<i>sex</i>","ward"]]"#;
    let files = designed(&format!("noisy-marginals --epsilon 2 --delta 1e-6 --people 400 --set {marginals}"));
    files.run("ledger init --ledger ledger.json --dataset a&b --epsilon 3 --delta 1e-5");
    files.run("ledger init --ledger ledger.json --dataset other --epsilon 9");
    let (page, card) = cards(&files, "--ledger ledger.json --dataset a&b");
    assert_eq!(card["counted_tables"], json!([["age", "died"], ["<i>sex</i>", "ward"]]));
    assert!(
        page.contains(
            "age × died, &lt;i&gt;sex&lt;/i&gt; × ward. Other relations may be lost or reversed. \
             The rows hide the noise, so no interval can be computed from them."
        ),
        "{page}"
    );
    assert!(page.contains("which releases synthetic rows, trusting a curator</dd>"));
    assert!(
        page.contains("<p>a&amp;b, the whole record: ε = 1 left of 3, δ = 9e-6 left of 1e-5</p>"),
        "{page}"
    );
    assert!(page.contains("<dt>discloses</dt><dd>the number of records</dd>") && !page.contains("<p>other"));
}

#[test]
fn a_model_has_a_page_to_sign() {
    let files = designed("private-logistic --epsilon 2 --delta 1e-6 --people 400");
    let (page, card) = cards(&files, "");
    let family = card["model"]["family"].as_str().unwrap();
    let records =
        format!("<dt>records</dt><dd>none: a model of the family {family} predicts <q>died</q></dd>");
    assert!(page.contains(&records), "{page}");
    assert!(page.contains("which releases a model, trusting a curator</dd>"));
    assert!(card["model"]["functions"].is_null() && !page.contains("class=\"functions\""));
}

/// The functions of an additive model are described and drawn in the units of the columns.
#[test]
fn the_card_of_an_additive_model_draws_its_functions() {
    let files = designed("private-additive --epsilon 2 --delta 1e-6 --people 400");
    let (page, card) = cards(&files, "");
    let [function] = &card["model"]["functions"].as_array().unwrap()[..] else { panic!("{card}") };
    assert_eq!((&function["column"], &function["unit"]), (&json!("age"), &json!("years")));
    let ages: Vec<f64> = function["at"].as_array().unwrap().iter().map(|age| age.as_f64().unwrap()).collect();
    assert!(ages.is_sorted() && ages[0] == 0.0 && ages[ages.len() - 1] == 90.0, "{function}");
    let values = function["values"][0].as_array().unwrap();
    assert_eq!(values.len(), ages.len());
    // Those above 60 died.
    assert!(values[0].as_f64() < Some(0.0) && values[ages.len() - 1].as_f64() > Some(0.0), "{function}");
    assert!(page.contains("<figcaption>age, years</figcaption>"));
    assert_eq!(page.matches("<polyline").count(), 2, "the function, and the trade-off function of the claim");
}

/// Statistics of halves, whose ledger is in nats.
#[test]
fn a_page_states_a_balance_in_nats() {
    let files = designed("pac-statistics --epsilon 1 --people 400 --set nats=0.125");
    files.run("ledger init --ledger ledger.json --dataset halves --nats 0.5");
    let (page, card) = cards(&files, "--ledger ledger.json --dataset halves");
    assert!(page.contains("<p>halves: 0.375 nats left of 0.5</p>"), "{page}");
    let expected = json!([["age", "died"], ["<i>sex</i>", "died"], ["ward", "died"]]);
    assert_eq!(card["counted_tables"], expected);
}

#[test]
fn the_screen_names_the_tables_that_the_rows_keep() {
    let files = designed("noisy-marginals --epsilon 2 --delta 1e-6 --people 400");
    let line = "release --design design.json --input data.csv --output released.csv";
    let screen = files.run(line);
    let expected = "\nThe rows keep these tables: age × died, <i>sex</i> × died, ward × died; other \
                    relations may be lost or reversed.\nCompute no intervals from the rows, which hide the \
                    noise; `scumble estimate --tables` computes them from a file of --tables.\n";
    assert!(screen.ends_with(expected), "{screen}");
    let found = files.json(&format!("{line} --force --json"));
    assert_eq!(found["counted_tables"][2], json!(["ward", "died"]));
    // The age decides about death, so the tree has their pair.
    files.run(
        "design mst --schema schema.toml --target died --epsilon 8 --delta 1e-6 --people 400 --output \
         design.json --force",
    );
    let found = files.json(&format!("{line} --force --json"));
    let tree = found["counted_tables"].as_array().unwrap();
    assert!(tree.len() == 3 && tree.contains(&json!(["age", "died"])), "{tree:?}");
    // Rows with noisy moments are not drawn from tables.
    files.run(
        "design noisy-moments --schema schema.toml --target died --epsilon 8 --delta 1e-6 --people 400 \
         --output design.json --force",
    );
    let screen = files.run(&format!("{line} --force"));
    assert_eq!(screen.lines().count(), 1, "{screen}");
}

#[test]
fn a_long_list_of_tables_is_abridged_on_the_screen_alone() {
    let files = Files::new();
    let column = |at: usize| format!("{{ name = \"c{at}\", kind = \"boolean\" }},\n");
    files.write("schema.toml", format!("column = [\n{}]\n", (0..9).map(column).collect::<String>()));
    let header = (0..9).map(|at| format!("c{at}")).collect::<Vec<_>>().join(",");
    let row = ["true"; 9].join(",") + "\n";
    files.write("data.csv", format!("{header}\n{}", row.repeat(50)));
    files.run(
        "design noisy-marginals --schema schema.toml --target c8 --epsilon 2 --delta 1e-6 --people 50 \
         --output design.json",
    );
    let screen = files.run(RELEASE);
    assert!(
        screen.contains(": c0 × c8, c1 × c8, c2 × c8, c3 × c8, c4 × c8, … (8 in all); other"),
        "{screen}"
    );
    assert!(files.read("card.html").contains("c6 × c8, c7 × c8. Other relations"));
    let card: Value = serde_json::from_str(&files.read("card.json")).unwrap();
    assert_eq!(card["counted_tables"].as_array().unwrap().len(), 8);
}

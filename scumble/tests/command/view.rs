//! `scumble view`: clean records in the space of a release, and the hints that point to it.

use crate::Files;
use scumble::core::{Registry, local};
use scumble::custody::ShippedDesign;
use scumble::parquet;
use scumble::records::{OutOfBounds, csv, stream};
use serde_json::Value;

const VIEW: &str = "view --design design.json --input clean.csv --output view.csv";
const RELEASE: &str = "release --design design.json --input data.csv --output released.csv";

/// Creates a design that learned from sixty volunteers, and a file of other records.
fn learned() -> Files {
    let files = Files::new();
    files.good();
    files.run(
        "design task-aware-clipped --schema schema.toml --target colour --epsilon 4 --output design.json \
         --volunteers data.csv --volunteers-are consented",
    );
    let rows = (0..3000).map(|row| {
        let colour = if row % 3 == 0 { "red" } else { "green" };
        format!("{},{colour},{}\n", f64::from(row % 100) / 10.0, row % 97)
    });
    files.write("clean.csv", format!("size,colour,price\n{}", rows.collect::<String>()));
    files
}

#[test]
fn a_view_is_what_the_key_views_of_the_whole_table() {
    let files = learned();
    let notes = files.notes(VIEW);
    assert_eq!(
        notes,
        "view.csv is NOT private: no guarantee covers viewed records; only people who may see clean.csv may \
         see them\n"
    );
    let design = ShippedDesign::read(&files.path("design.json"), &Registry::installed().unwrap()).unwrap();
    let rows = parquet::open(&files.path("clean.csv"), &Default::default()).unwrap();
    let clean = design.reader(rows, OutOfBounds::Clip).unwrap().read_all().unwrap().table;
    let viewed = local::view(design.local().unwrap(), &clean).unwrap();
    let decoder = design.decoder_of(&stream::layout(&viewed, design.mechanism().domain())).unwrap();
    let mut expected = vec![];
    stream::write(&viewed, &decoder, csv::Writer::new(&mut expected, &decoder).unwrap()).unwrap();
    assert!(files.read("view.csv").as_bytes() == expected, "the command views something else");
    assert_ne!(files.read("view.csv"), files.read("clean.csv"));
    // The view as Parquet holds the same records.
    files.notes(&VIEW.replace("view.csv", "view.parquet"));
    files.run("design identity --schema schema.toml --epsilon 1 --output as-it-is.json");
    let as_it_is = |name: &str| {
        files.run(&format!("release --design as-it-is.json --input {name} --output same.csv --force"));
        files.read("same.csv")
    };
    assert!(as_it_is("view.csv") == as_it_is("view.parquet"));
}

#[test]
fn a_release_says_that_its_models_are_for_viewed_records_where_they_are() {
    let files = learned();
    let notes = files.notes(RELEASE);
    let line = "use a model of released.csv on viewed records, not on records in the clear: scumble view \
                --design design.json --input clean.csv --output view.csv\n";
    assert_eq!(notes, line);
    let printed = notes.split("scumble ").nth(1).unwrap().trim_end();
    assert_eq!(printed, VIEW);
    let described = files.run("describe --design design.json");
    assert!(
        described.contains("scumble release --design design.json") && described.contains(VIEW),
        "{described}"
    );
    let card = |files: &Files| -> Value {
        files.run(&format!("{RELEASE} --force --card card.json"));
        serde_json::from_str(&files.read("card.json")).unwrap()
    };
    assert_eq!(card(&files)["view"], format!("scumble {VIEW}"));
    // These mechanisms only add noise, so their models can be used on records in the clear.
    for mechanism in [
        "laplace",
        "gaussian --delta 1e-6",
        "direct",
        "fisher-gaussian --delta 1e-6",
        "fisher-bounded --delta 1e-6",
    ] {
        let line = "--schema schema.toml --target colour --epsilon 4 --output design.json --force";
        files.run(&format!("design {mechanism} {line}"));
        assert_eq!(files.notes(&format!("{RELEASE} --force")), "", "{mechanism}");
        assert!(!files.run("describe --design design.json").contains("scumble view"), "{mechanism}");
        assert_eq!(card(&files)["view"], Value::Null);
    }
    for (name, needs_view) in
        [("piecewise", false), ("task-aware-linear", true), ("vlm", true), ("column-space", true)]
    {
        let described = files.json(&format!("describe {name} --json"));
        assert_eq!(described["needs_view"], needs_view, "{name}");
        assert_eq!(files.run(&format!("describe {name}")).contains("scumble view"), needs_view, "{name}");
    }
}

#[test]
fn a_view_for_models_of_a_release_in_encoded_units_has_its_columns() {
    let files = learned();
    files.run(
        "design task-aware-clipped --schema schema.toml --target price --epsilon 4 --output design.json \
         --force --volunteers data.csv --volunteers-are consented",
    );
    let notes = files.notes(&format!("{RELEASE} --values encoded"));
    assert!(notes.contains("--output view.csv --values encoded"), "{notes}");
    files.run(&format!("{VIEW} --values encoded"));
    for file in ["released.csv", "view.csv"] {
        assert!(files.read(file).starts_with("size,colour=red,colour=green,price\n"), "{file}");
    }
}

#[test]
fn a_curators_release_is_viewed_by_its_key() {
    let files = Files::new();
    files.good();
    std::fs::create_dir(files.path("keys")).unwrap();
    files.write("passphrase", "long enough to be one\n");
    files.run(
        "design column-space --schema schema.toml --target colour --protect features --epsilon 1 \
        --output design.json",
    );
    let with_key = "--key keys/key.json --passphrase-file passphrase";
    let notes = files.notes(&format!("{RELEASE} {with_key}"));
    assert!(
        notes.contains("scumble view --design design.json --key keys/key.json --input clean.csv"),
        "{notes}"
    );
    // A card is public: it contains names of files, but no folders of this machine.
    let folder = files.folder.path().to_str().unwrap();
    files.write("keys/passphrase", "long enough to be one\n");
    files.run(&format!(
        "release --design {folder}/design.json --input data.csv --output other.csv --card card.json --key \
         {folder}/keys/other.json \
         --passphrase-file passphrase"
    ));
    let card = files.read("card.json");
    assert!(!card.contains(folder) && card.contains("--design design.json --key other.json"), "{card}");
    std::fs::remove_file(files.path("other.csv")).unwrap();
    // Without noise, the release equals the view of the same records.
    let line = format!("view --design design.json --input data.csv --output view.csv {with_key}");
    let key = files.read("keys/key.json");
    files.notes(&line);
    let numbers = |name: &str| -> Vec<f64> {
        let text = files.read(name);
        let cells =
            text.lines().skip(1).flat_map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        cells.filter_map(|cell| cell.parse().ok()).collect()
    };
    let (released, viewed) = (numbers("released.csv"), numbers("view.csv"));
    assert_eq!(released.len(), viewed.len());
    assert!(released.iter().zip(&viewed).all(|(a, b)| (a - b).abs() < 1e-9));
    assert_eq!(files.read("keys/key.json"), key, "a key that counts nothing stays");
    let other = line.replace("view.csv", "other.csv");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let set_mode = |mode| {
            std::fs::set_permissions(files.path("keys/key.json"), std::fs::Permissions::from_mode(mode))
        };
        set_mode(0o640).unwrap();
        assert_eq!(
            files.refuses(&other),
            "keys/key.json: this secret is open to other users of the machine (mode 640); run `chmod 600 \
             keys/key.json`"
        );
        set_mode(0o600).unwrap();
    }
    let without = other.replace(with_key, "");
    assert_eq!(
        files.refuses(&without),
        "the design is a curator's: give the secret key of its release (--key FILE)"
    );
    files.write("passphrase", "another that is long enough\n");
    assert!(files.refuses(&other).starts_with("keys/key.json: "));
    assert!(!files.exists("other.csv"));
}

#[test]
fn what_cannot_be_viewed_leaves_nothing_behind() {
    let files = learned();
    let before = files.all();
    files.write("bad.csv", "size,colour,price\n1,red,5\n1,pink,5\n");
    for (line, expected) in [
        (
            VIEW.replace("clean.csv", "bad.csv"),
            "bad.csv, row 2, column \"colour\": \"pink\" is not a level of the column",
        ),
        (VIEW.replace("clean.csv", "missing.csv"), "missing.csv: No such file"),
        (VIEW.replace("view.csv", "clean.csv"), "clean.csv: this is an input file; refusing to overwrite it"),
        (VIEW.replace("view.csv", "data.csv"), "data.csv already exists; --force replaces it"),
        (
            format!("{VIEW} --key key.json"),
            "--key: a local mechanism has no secret key; its key is the design",
        ),
    ] {
        let refused = files.refuses(&line);
        assert!(refused.starts_with(expected), "{refused}");
    }
    std::fs::remove_file(files.path("bad.csv")).unwrap();
    assert_eq!(files.all(), before);
    files.write("wide.csv", "size,colour,price\n99,red,5\n");
    let notes = files.notes(&VIEW.replace("clean.csv", "wide.csv"));
    assert!(notes.contains("wide.csv: clipped to the public bounds: 1 of \"size\" to [0, 10]"), "{notes}");
    let refused = files.refuses(&format!("{VIEW} --force --strict").replace("clean.csv", "wide.csv"));
    assert!(refused.contains("outside"));
}

#[test]
fn a_key_that_counts_its_answers_is_saved_with_what_it_counted() {
    let files = Files::new();
    files.good();
    std::fs::create_dir(files.path("keys")).unwrap();
    files.write("passphrase", "long enough to be one\n");
    files.run(
        "design dauntless-inference --schema schema.toml --set queries=5 --epsilon 1 --output design.json",
    );
    let with_key = "--key keys/key.json --passphrase-file passphrase";
    files.run(&format!("{RELEASE} {with_key}"));
    let data = files.read("data.csv");
    let rows = |from: usize, to: usize| {
        let rows: Vec<&str> = data.lines().skip(1 + from).take(to - from).collect();
        format!("size,colour,price\n{}\n", rows.join("\n"))
    };
    files.write("three.csv", rows(0, 3));
    files.write("others.csv", rows(3, 6));
    let line = |input: &str, output: &str| {
        format!("view --design design.json --input {input}.csv --output {output}.csv {with_key}")
    };
    files.run(&line("three", "one"));
    // The same records again do not count as new questions.
    files.run(&line("three", "two"));
    assert_eq!(files.read("one.csv"), files.read("two.csv"));
    let before = files.read("keys/key.json");
    assert_eq!(
        files.refuses(&line("others", "other")),
        "the release answers at most 5 records: 3 were answered, and 3 more are requested"
    );
    assert_eq!(files.read("keys/key.json"), before);
}

//! A release names its design, and no other design reads it.

use crate::Files;

/// Creates two designs that differ only in ε, and a release by the first in each format, with its card.
fn released(mechanism: &str) -> Files {
    let files = Files::new();
    files.good();
    for epsilon in [1, 4] {
        let more = if mechanism == "pair-response" { "--target colour --people 60" } else { "" };
        files.run(&format!(
            "design {mechanism} --schema schema.toml --epsilon {epsilon} {more} --output d{epsilon}.json \
             --quiet"
        ));
    }
    std::fs::create_dir(files.path("cards")).unwrap();
    for format in ["csv", "parquet"] {
        let name = format!("of-{format}");
        files.run(&format!(
            "release --design d1.json --input data.csv --output {name}.{format} --card cards/{name}.json \
             --quiet"
        ));
    }
    files
}

/// Returns the command that reads the release in `file` by the design of `epsilon`.
fn reading(mechanism: &str, epsilon: u32, file: &str) -> String {
    match mechanism {
        "pair-response" => {
            format!("collect --design d{epsilon}.json --reports {file} --output out.csv --force")
        }
        _ => format!("estimate --design d{epsilon}.json --input {file}"),
    }
}

const OTHER: &str = "another design";

#[test]
fn a_release_is_read_by_its_own_design_alone() {
    for mechanism in ["direct", "laplace", "pair-response"] {
        let files = released(mechanism);
        let line = |epsilon, file: &str, card: &str| format!("{}{card}", reading(mechanism, epsilon, file));
        // A Parquet file carries its design.
        assert!(!files.notes(&line(1, "of-parquet.parquet", "")).contains("cannot check"));
        let refused = files.refuses(&line(4, "of-parquet.parquet", ""));
        assert!(refused.contains(OTHER) && refused.contains("of-parquet.parquet"), "{refused}");

        // A CSV file carries no design: a warning says that the design was not checked.
        for epsilon in [1, 4] {
            let warned = files.notes(&line(epsilon, "of-csv.csv", ""));
            let design = format!("cannot check that d{epsilon}.json released this file");
            assert!(warned.contains(&design) && warned.contains("--card"), "{warned}");
        }
        // The card of the CSV file names the design.
        assert!(!files.notes(&line(1, "of-csv.csv", " --card cards/of-csv.json")).contains("warning"));
        let refused = files.refuses(&line(4, "of-csv.csv", " --card cards/of-csv.json"));
        assert!(refused.contains(OTHER) && refused.contains("cards/of-csv.json"), "{refused}");
        let refused = files.refuses(&line(1, "of-csv.csv", " --card cards/of-parquet.json"));
        assert!(refused.contains("the card of another file"), "{refused}");
        let refused = files.refuses(&line(1, "of-csv.csv", " --card d1.json"));
        assert!(refused.contains("not the card of a release"), "{refused}");

        // A card in the file's folder is found by the file's content.
        std::fs::copy(files.path("cards/of-csv.json"), files.path("unlikely name.json")).unwrap();
        assert!(!files.notes(&line(1, "of-csv.csv", "")).contains("cannot check"));
        let refused = files.refuses(&line(4, "of-csv.csv", ""));
        assert!(refused.contains(OTHER) && refused.contains("unlikely name.json"), "{refused}");
        let text = files.read("of-csv.csv");
        files.write("changed.csv", text.lines().skip(1).fold(text.clone(), |text, row| text + row + "\n"));
        assert!(files.notes(&line(4, "changed.csv", "")).contains("cannot check"));
        assert!(!files.exists("out.csv") || mechanism == "pair-response");
    }
}

#[test]
fn a_view_is_for_models_of_a_release_by_the_same_design() {
    let files = released("direct");
    let view = |epsilon: u32| {
        format!("view --design d{epsilon}.json --input data.csv --output viewed.csv --card cards/of-csv.json")
    };
    let refused = files.refuses(&view(4));
    assert!(refused.contains(OTHER) && !files.exists("viewed.csv"), "{refused}");
    files.run(&view(1));
    assert!(files.exists("viewed.csv"));
}

//! `scumble predict`: a released model names its classes, and predicts the same from its file as in memory.

use crate::{Files, number};
use scumble::core::{Key, Randomness, Registry, Table, Target};
use scumble::custody::ShippedDesign;
use scumble::records::{OutOfBounds, csv};
use serde_json::Value;

/// Writes 400 plants of three kinds (or two), separated by their size and their colour. Their height is
/// linear in their size.
fn plants(files: &Files) {
    files.write(
        "plants.toml",
        r#"column = [
            { name = "size", kind = "real", lower = 0.0, upper = 10.0, unit = "cm" },
            { name = "leaves", kind = "integer", lower = 0, upper = 40 },
            { name = "colour", kind = "category", levels = ["red", "green", "blue"] },
            { name = "kind", kind = "category", levels = ["moss", "fern, dry", "palm"] },
            { name = "edible", kind = "boolean" },
            { name = "height", kind = "real", lower = 50.0, upper = 250.0, unit = "mm" },
            { name = "found", kind = "date", lower = "2020-01-01", upper = "2021-12-31" },
        ]"#,
    );
    let row = |row: u32| {
        let size = f64::from(row * 37 % 100) / 10.0;
        let kind = if size < 3.0 {
            "moss"
        } else if size < 7.0 {
            "\"fern, dry\""
        } else {
            "palm"
        };
        let colour = ["red", "green", "blue"][row as usize % 3];
        let (edible, height) = (size > 5.0, 60.0 + 15.0 * size);
        format!(
            "n{row},{size},{},{colour},{kind},{edible},{height},2020-{:02}-01\n",
            row % 41,
            1 + row * 37 % 100 / 9
        )
    };
    let rows: String = (0..400).map(row).collect();
    files.write("plants.csv", format!("name,size,leaves,colour,kind,edible,height,found\n{rows}"));
}

/// Designs a mechanism, and releases by it with seed 4.
fn released(files: &Files, mechanism: &str, target: &str) {
    let columns = format!("size,leaves,colour,{target}");
    files.run(&format!(
        "design --mechanism {mechanism} --columns {columns} --schema plants.toml --target {target} --epsilon \
         8 --delta 1e-6 --people 400 --output design.json --force"
    ));
    for output in ["model.csv", "model.parquet"] {
        files.run(&format!(
            "release --design design.json --input plants.csv --output {output} --seed 4 \
             --card card.json --force"
        ));
    }
}

const PREDICT: &str =
    "predict --design design.json --model model.csv --input plants.csv --output predicted.csv --force";

/// Returns the design, the features of all plants, and the model in memory that seed 4 released.
fn in_memory(files: &Files) -> (ShippedDesign, Table, Key) {
    let design = ShippedDesign::read(&files.path("design.json"), &Registry::installed().unwrap()).unwrap();
    let rows = csv::Rows::open(&files.path("plants.csv")).unwrap();
    let clean = design.reader(rows, OutOfBounds::Clip).unwrap().read_all().unwrap().table;
    let release = design.mechanism().release(&clean, &mut Randomness::seeded(4)).unwrap();
    (design, clean, release.key)
}

/// Splits a line into cells; a comma within quotation marks belongs to its cell.
fn cells(line: &str) -> Vec<String> {
    let parts: Vec<&str> = line.split('"').collect();
    let masked: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(at, part)| if at % 2 == 1 { part.replace(',', "\0") } else { (*part).into() })
        .collect();
    masked.concat().split(',').map(|cell| cell.replace('\0', ",")).collect()
}

fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(cells).collect()
}

#[test]
fn predictions_of_a_class_are_those_of_the_model_in_memory_bit_for_bit() {
    let cases = [("kind", vec!["moss", "fern, dry", "palm"]), ("edible", vec!["false", "true"])];
    for (target, levels) in cases {
        for mechanism in ["private-logistic", "pac-statistics --set pac-statistics.statistic=linear-machine"]
        {
            let files = Files::new();
            plants(&files);
            released(&files, mechanism, target);
            let row_names: Vec<&str> = if levels.len() == 2 { vec!["true"] } else { levels.clone() };
            let model = files.read("model.csv");
            assert!(model.starts_with("class,intercept,coefficient of size,"), "{model}");
            assert_eq!(rows(&model).iter().map(|row| row[0].clone()).collect::<Vec<_>>(), row_names);
            let card: Value = serde_json::from_str(&files.read("card.json")).unwrap();
            assert_eq!(card["records"], Value::Null);
            assert_eq!(card["model"]["classes"], serde_json::json!(levels));
            assert_eq!(card["model"]["rows"], serde_json::json!(row_names));
            assert_eq!(card["model"]["positive_class"].as_str(), (levels.len() == 2).then_some("true"));

            files.run(&format!("{PREDICT} --probabilities"));
            let (_, clean, key) = in_memory(&files);
            let model = key.model().unwrap();
            let (Target::Class(classes), scores) =
                (model.predict(&clean).unwrap(), model.scores(&clean).unwrap())
            else {
                panic!("it predicts a class")
            };
            let predicted = rows(&files.read("predicted.csv"));
            assert_eq!(predicted.len(), 400);
            for (at, row) in predicted.iter().enumerate() {
                assert_eq!(row[0], levels[classes[at]], "seed 4, {mechanism}, row {at}");
                let shares: Vec<f64> = row[1..].iter().map(|cell| cell.parse().unwrap()).collect();
                assert_eq!(shares, scores.row(at).to_vec(), "seed 4, {mechanism}, row {at}");
            }
            // The data contain plants of each kind, and the model is better than chance, which is right for
            // about half of them.
            let truth = |row: &Vec<String>| if target == "kind" { row[4].clone() } else { row[5].clone() };
            let clear = rows(&files.read("plants.csv"));
            let right = clear.iter().zip(&predicted).filter(|(own, guess)| truth(own) == guess[0]).count();
            assert!(right > 280 || mechanism != "private-logistic", "{right} of 400 {target}");
            // The model in Parquet gives the same predictions.
            let csv = files.read("predicted.csv");
            files.run(&format!("{PREDICT} --probabilities").replace("model.csv", "model.parquet"));
            assert!(files.read("predicted.csv") == csv, "the model in Parquet is another one");
        }
    }
}

#[test]
fn predictions_of_a_number_are_in_its_own_unit() {
    let files = Files::new();
    plants(&files);
    for mechanism in ["private-ridge", "pac-statistics --set pac-statistics.statistic=ridge"] {
        released(&files, mechanism, "height");
        let model = files.read("model.csv");
        assert!(model.starts_with("target,unit,lower,upper,intercept,coefficient of size,"), "{model}");
        assert_eq!(rows(&model)[0][..4], ["height", "mm", "50", "250"]);
        files.run(PREDICT);
        let (_, clean, key) = in_memory(&files);
        let Target::Real(values) = key.model().unwrap().predict(&clean).unwrap() else { panic!("a number") };
        let (predicted, clear) = (rows(&files.read("predicted.csv")), rows(&files.read("plants.csv")));
        for (at, row) in predicted.iter().enumerate() {
            let number: f64 = row[0].parse().unwrap();
            assert_eq!(number, 50.0 + 200.0 * values[at], "seed 4, {mechanism}, row {at}");
        }
        let error = |row: (&Vec<String>, &Vec<String>)| {
            (row.0[6].parse::<f64>().unwrap() - row.1[0].parse::<f64>().unwrap()).abs()
        };
        let mean = clear.iter().zip(&predicted).map(error).sum::<f64>() / 400.0;
        assert!(mean < 30.0, "{mechanism}: off by {mean} mm, and the mean would be by 37.5");
        let why = files.refuses(&format!("{PREDICT} --probabilities"));
        assert!(why.contains("\"height\" is a number, and only classes have probabilities"), "{why}");
    }
    // The prediction of a date is a date.
    released(&files, "private-ridge", "found");
    files.run(PREDICT);
    assert!(files.read("predicted.csv").lines().skip(1).all(|day| day.starts_with("202") && day.len() == 10));
}

#[test]
fn the_features_are_enough_in_any_order_and_other_columns_are_ignored() {
    let files = Files::new();
    plants(&files);
    released(&files, "private-logistic", "kind");
    files.run(PREDICT);
    let expected = files.read("predicted.csv");
    let clear = rows(&files.read("plants.csv"));
    let few: String = clear.iter().map(|row| format!("{},,{},{}\n", row[3], row[2], row[1])).collect();
    files.write("few.csv", format!("colour,note,leaves,size\n{few}"));
    files.run(&PREDICT.replace("plants.csv", "few.csv"));
    assert!(files.read("predicted.csv") == expected);
    files.write("fewer.csv", "colour,leaves\nred,3\n");
    let why = files.refuses(&PREDICT.replace("plants.csv", "fewer.csv").replace("predicted.csv", "none.csv"));
    assert_eq!(why, "fewer.csv: there is no column \"size\"; there are \"colour\", \"leaves\"");
    assert!(!files.exists("none.csv"));
    let kept = files.refuses(PREDICT.trim_end_matches(" --force"));
    assert!(kept.contains("predicted.csv"), "{kept}");
    let report = files.json(&format!("{PREDICT} --json"));
    assert_eq!((number(&report["records"]), &report["target"]), (400.0, &Value::from("kind")));
}

#[test]
fn rows_and_columns_of_a_model_may_be_sorted() {
    let files = Files::new();
    plants(&files);
    released(&files, "private-logistic", "kind");
    files.run(PREDICT);
    let expected = files.read("predicted.csv");
    let model = files.read("model.csv");
    let mut lines: Vec<Vec<String>> = model.lines().map(cells).collect();
    lines[1..].reverse();
    let quoted = |line: &Vec<String>| {
        line.iter().rev().map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(",")
    };
    files.write("model.csv", lines.iter().map(|line| quoted(line) + "\n").collect::<String>());
    files.run(PREDICT);
    assert!(files.read("predicted.csv") == expected);
}

#[test]
fn a_model_of_another_design_or_shape_is_refused_in_a_line() {
    let files = Files::new();
    plants(&files);
    released(&files, "private-logistic", "kind");
    let model = files.read("model.csv");
    let line = PREDICT.replace("predicted.csv", "none.csv");
    let lines: Vec<&str> = model.lines().collect();
    let check = |text: String, expected: &str| {
        files.write("model.csv", text);
        let why = files.refuses(&line);
        assert!(why.contains(expected), "{why}");
        assert!(!files.exists("none.csv"));
    };
    check(lines[..3].join("\n"), "it has 2 rows, and its target has 3 classes");
    check([lines[0], lines[1], lines[1], lines[3]].join("\n"), "it has no row of the class \"fern, dry\"");
    check(model.replacen("moss", "grass", 1), "model.csv, row 1, column \"class\": \"grass\" is not a level");
    check(model.replacen("coefficient of size", "coefficient of sise", 1), "coefficient of size");
    check(model.replacen("design", "sign", 1), "there is no column \"design\"");
    check(lines[0].to_owned(), "model.csv");
    check(String::new(), "model.csv");
    files.write("model.csv", &model);
    files.run(
        "design private-logistic --schema plants.toml --target kind --epsilon 4 --delta 1e-6 \
         --people 400 --output design.json --force",
    );
    let why = files.refuses(&line);
    assert!(why.contains("row 1 belongs to the design") && why.contains("the given design"), "{why}");
    files.run("design direct --schema plants.toml --target kind --epsilon 4 --output design.json --force");
    let why = files.refuses(&line);
    assert_eq!(
        why,
        "model.csv: the model cannot be used: the design was made by direct, which releases no model"
    );
}

#[test]
fn a_composition_of_one_model_is_that_model() {
    let files = Files::new();
    plants(&files);
    let design = "--schema plants.toml --target edible --epsilon 4 --delta 1e-6 --people 400 \
                  --output design.json --force";
    files.run(&format!("design --mechanism private-logistic --columns edible,size,leaves {design}"));
    let output = files.run("release --design design.json --input plants.csv --output model.csv --seed 1");
    assert!(output.starts_with("model.csv holds a model, with coefficients"), "{output}");
    files.run(PREDICT);
    assert_eq!(files.read("predicted.csv").lines().count(), 401);
    // A model's coefficients cannot be joined with the rows of another part.
    let why = files.refuses(&format!(
        "design --mechanism private-logistic --columns edible,size --mechanism mst --columns leaves {design}"
    ));
    assert!(why.contains("a part releases a model's coefficients"), "{why}");
    // The design equals the one without other columns in the schema: no property of the mechanism is lost.
    let is_other = |line: &&str| {
        ["kind", "height", "found"].iter().any(|name| line.contains(&format!("name = \"{name}\"")))
    };
    let few: Vec<String> =
        files.read("plants.toml").lines().filter(|line| !is_other(line)).map(str::to_owned).collect();
    files.write("few.toml", few.join("\n"));
    for mechanism in ["mst", "noisy-moments", "pair-response", "direct"] {
        files.run(&format!("design --mechanism {mechanism} --columns leaves,colour,edible,size {design}"));
        let named = files.read("design.json");
        files.run(&format!("design {mechanism} {}", design.replace("plants.toml", "few.toml")));
        assert!(files.read("design.json") == named, "{mechanism} is another one where its columns are named");
    }
}

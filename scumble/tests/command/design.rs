//! `scumble design`: saved designs, their guarantees, and refusals.

use crate::{Files, SCHEMA, succeeded};
use serde_json::Value;

fn saved(files: &Files, name: &str) -> Value {
    serde_json::from_str(&files.read(name)).unwrap()
}

#[test]
fn a_design_is_an_envelope_with_all_that_a_client_needs() {
    let files = Files::new();
    let card =
        files.run("design direct --schema schema.toml --target colour --epsilon 3 --output design.json");
    assert!(card.contains("ε = 3 local differential privacy for the whole record"), "{card}");
    let design = saved(&files, "design.json");
    assert_eq!(design["format"], "scumble-design-3");
    assert_eq!((&design["plugin"], &design["target"]), (&"direct".into(), &"colour".into()));
    assert_eq!(design["schema"]["column"][0]["unit"], "cm");
    assert!(design["state"]["epsilon"] == 3.0 && design["plugin_version"].is_string());
    let described = files.run("describe --design design.json");
    assert!(
        described.starts_with("designed by direct ")
            && described.contains("takes       \"size\": from 0 to 10 cm")
            && described.contains("ε = 3"),
        "{described}"
    );
    assert_eq!(files.all(), ["design.json", "schema.toml"]);
}

/// Checks the central claim, which is derived from the design and two stored numbers. A release without a
/// shuffler does not make this claim.
#[test]
fn a_shuffler_adds_a_claim_to_the_card_of_a_local_design() {
    let files = Files::new();
    let line = "design direct --schema schema.toml --target colour --epsilon 2 --shuffled 32561 \
        --shuffled-delta 1e-6 --output design.json";
    let card = files.run(line);
    let claim = "(ε, δ) = (0.06072, 1e-6) central differential privacy (replace one record) through a \
                 trusted shuffler, which mixes the reports of at least 32561 people";
    assert!(card.contains(claim) && card.contains("ε = 2 local differential privacy"), "{card}");
    assert!(card.contains("random order before anyone else sees them"), "{card}");
    let design = saved(&files, "design.json");
    assert_eq!(design["shuffled"], serde_json::json!({ "people": 32_561, "delta": 1e-6 }));
    assert!(files.run("describe --design design.json").contains(claim));
    let touched = files.read("design.json").replace("32561", "92561");
    files.write("touched.json", &touched);
    assert!(files.refuses("describe --design touched.json").contains("touched.json"));

    let design = |options: &str| format!("design {options} --output other.json");
    for (options, expected) in [
        (
            "direct --schema schema.toml --target colour --epsilon 2 --shuffled 1 --shuffled-delta 1e-6",
            "--shuffled 1: a shuffler needs the reports of at least two people",
        ),
        (
            "direct --schema schema.toml --target colour --epsilon 2 --shuffled 100 --shuffled-delta 0.01",
            "below one over the number of people",
        ),
        (
            "direct --schema schema.toml --target colour --epsilon inf --shuffled 100 --shuffled-delta 1e-6",
            "this guarantee claims none",
        ),
        (
            "laplace --schema schema.toml --target colour --protect features --epsilon 2 --shuffled 100 \
             --shuffled-delta 1e-6",
            "this guarantee claims none",
        ),
        ("direct --schema schema.toml --target colour --epsilon 2 --shuffled 100", "--shuffled-delta"),
    ] {
        let refused = files.refuses(&design(options));
        assert!(refused.contains(expected), "{options}: {refused}");
    }
    assert!(!files.all().contains(&"other.json".to_owned()));
}

#[test]
fn a_design_that_is_there_stays_unless_forced() {
    let files = Files::new();
    files.write("design.json", "mine");
    let line = "design laplace --schema schema.toml --epsilon 1 --output design.json";
    assert_eq!(files.refuses(line), "design.json already exists; --force replaces it");
    assert_eq!(files.read("design.json"), "mine");
    files.run(&format!("{line} --force"));
    assert_eq!(saved(&files, "design.json")["plugin"], "laplace");
}

/// `-` is standard output where records are written, and is refused wherever else a file is named.
#[test]
fn a_dash_is_standard_output_or_refused() {
    let files = Files::new();
    files.write("data.csv", "size,price,colour\n1,2,red\n2,5,green\n3,1,red\n");
    files.run("design direct --schema schema.toml --epsilon 2 --output design.json");
    let compare = "compare --trials 2 --epsilon 2 --mechanism randomized-response";
    for line in [
        "design direct --schema schema.toml --epsilon 2 --output -",
        "schema data.csv --output -",
        "schema --data iris --output iris.toml --records -",
        "release --design design.json --input data.csv --output released.csv --card -",
        &format!("{compare} --csv -"),
        &format!("{compare} --html -"),
        &format!("{compare} --svg -"),
    ] {
        let refused = files.refuses(line);
        assert!(refused.starts_with("- stands for standard output"), "{line}: {refused}");
    }
    assert_eq!(files.all(), ["data.csv", "design.json", "schema.toml"]);
    assert!(files.run("release --design design.json --input data.csv --output -").contains("colour"));
}

/// Returns the ε of a saved part. A part that adds noise stores it in the portion.
fn epsilon(part: &Value) -> f64 {
    part["portion"]["epsilon"].as_f64().or(part["epsilon"].as_f64()).unwrap()
}

#[test]
fn features_and_label_share_the_budget() {
    let files = Files::new();
    let design = |line: &str| {
        let line =
            format!("design {line} --schema schema.toml --epsilon 4 --output design.json --force --json");
        let output = files.json(&line);
        let design = saved(&files, "design.json");
        let parts = |document: &Value| document["parts"].as_array().unwrap().clone();
        let epsilons: Vec<f64> = parts(&design["state"]).iter().map(epsilon).collect();
        let kinds: Vec<String> =
            parts(&design).iter().map(|part| part["plugin"].as_str().unwrap().into()).collect();
        assert_eq!(output["guarantee"]["claims"][0]["protects"], "record");
        (kinds.join("+"), epsilons, output["guarantee"]["epsilon"].as_f64().unwrap())
    };
    let both = "laplace+randomized-response".to_owned();
    // A label's share adds a mechanism for the label. Two mechanisms release features and label in this
    // order, unless --columns assigns them.
    assert_eq!(design("laplace --target colour --label-share 0.25"), (both.clone(), vec![3.0, 1.0], 4.0));
    let two = "--mechanism laplace --mechanism randomized-response";
    assert_eq!(design(&format!("{two} --target colour")), (both.clone(), vec![2.0, 2.0], 4.0));
    assert_eq!(
        design(&format!("{two} --columns size,price --columns colour --target colour --label-share 0.25")),
        (both.clone(), vec![3.0, 1.0], 4.0)
    );
    // Without a target, the budget is divided by the number of columns.
    assert_eq!(
        design("--mechanism laplace --mechanism laplace --columns size,colour --columns price"),
        ("laplace+laplace".into(), vec![4.0 * (2.0 / 3.0), 4.0 - 4.0 * (2.0 / 3.0)], 4.0)
    );
    assert_eq!(design("laplace --target price --label-share 0.5").0, "laplace+laplace");
    // A setting without a name applies to the named mechanism, not to the mechanism added for the label.
    design("laplace --target colour --label-share 0.5 --set protect=features");
}

#[test]
fn the_card_of_a_composition_shows_how_its_claim_came_about() {
    let files = Files::new();
    let card = files.run(
        "design --mechanism laplace --mechanism randomized-response --columns size,price --columns colour \
         --target colour --label-share 0.25 --schema schema.toml --epsilon 4 --output design.json",
    );
    for expected in [
        "ε = 4 local",
        "sequential composition",
        "ε = 3 by the Laplace mechanism",
        "ε = 1 by randomised response",
    ] {
        assert!(card.contains(expected), "{expected:?} is missing:\n{card}");
    }
    let described = files.run("describe --design design.json");
    assert!(described.contains("composed 0.1.0 of laplace 0.1.0, randomized-response 0.1.0"), "{described}");
}

#[test]
fn a_column_that_nobody_takes_is_named() {
    let files = Files::new();
    let line =
        "design --mechanism laplace --columns size --schema schema.toml --epsilon 1 --output design.json";
    assert_eq!(files.notes(line), "not released, because no mechanism takes them: colour, price\n");
    files.good();
    files.run("release --design design.json --input data.csv --output released.csv");
    assert!(files.read("released.csv").starts_with("size\n"));
    // An unreleased column may be missing or hold invalid values.
    files.write("data.csv", "size,price\n1,dear\n");
    files.run("release --design design.json --input data.csv --output released.csv --force");
}

#[test]
fn what_makes_no_composition_is_refused() {
    let files = Files::new();
    for (line, expected) in [
        (
            "--mechanism laplace --mechanism direct",
            "--columns is given 0 times for 2 --mechanism; give it once for each",
        ),
        (
            "--mechanism laplace --columns size --columns price",
            "--columns is given 2 times for 1 --mechanism; give it once for each",
        ),
        ("laplace --columns sice", "schema.toml: there is no column \"sice\"; did you mean \"size\"?"),
        ("laplace --columns size,size", "schema.toml: the column \"size\" occurs twice"),
        ("lapace", "there is no mechanism \"lapace\"; did you mean \"laplace\"?"),
        ("laplace --target color", "schema.toml: there is no column \"color\"; did you mean \"colour\"?"),
        (
            "laplace --columns size,colour --target colour --label-share 0.5",
            "laplace releases \"colour\" together with other columns, so the label has no \
             share of its own",
        ),
        (
            "--mechanism direct --mechanism direct --columns size,colour --columns price,colour --target \
             colour",
            "two parts take the target, and a table has only one target",
        ),
        (
            "laplace --set protct=record",
            "the mechanism \"laplace\" has no parameter \"protct\"; did you mean \"protect\"?",
        ),
        ("laplace --set direct.a=1", "--set \"direct.a=1\": the mechanism \"direct\" does not take part"),
        (
            "vlm --set volunteers.epoch=3",
            "the mechanism \"vlm\" has no parameter \"volunteers.epoch\"; did you mean \
             \"volunteers.epochs\"?",
        ),
        (
            "--mechanism laplace --columns size --mechanism direct --columns price --set protect=features",
            "--set \"protect=features\": with several mechanisms, NAME.KEY=VALUE is needed",
        ),
        ("laplace --set record", "--set \"record\": KEY=VALUE or NAME.KEY=VALUE is needed"),
        (
            "randomized-response",
            "randomized-response does not apply: it answers with levels, but the protected portion contains \
             numbers: the column \"size\"",
        ),
    ] {
        let line = format!("design {line} --schema schema.toml --epsilon 1 --output design.json");
        assert_eq!(files.refuses(&line), expected, "{line}");
    }
    let line = "design laplace --schema schema.toml --epsilon -1 --output design.json";
    assert_eq!(files.refuses(line), "epsilon must be above zero (\"inf\" for no privacy), and -1 is not");
    let line = "design laplace --schema schema.toml --epsilon 1 --output no/such/design.json";
    assert!(files.refuses(line).starts_with("no/such/design.json: "));
    files.write("schema.toml", SCHEMA.replace("10.0", "-10.0"));
    let line = "design laplace --schema schema.toml --epsilon 1 --output design.json";
    assert!(files.refuses(line).starts_with("schema.toml: column \"size\": the bounds"));
    assert_eq!(files.all(), ["schema.toml"]);
}

#[test]
fn only_the_word_inf_means_no_privacy() {
    let files = Files::new();
    let line = |epsilon: &str| {
        format!("design laplace --schema schema.toml --epsilon {epsilon} --output design.json")
    };
    for epsilon in ["1e400", "1e309", "infinity", "Inf"] {
        let refused = files.refuses(&line(epsilon));
        assert!(refused.contains("write inf for infinity"), "{epsilon}: {refused}");
    }
    let refused = files.refuses("compare --epsilon 1,1e400");
    assert!(refused.contains("write inf for infinity"), "{refused}");
    assert_eq!(files.all(), ["schema.toml"]);
    assert!(files.run(&line("inf")).contains("guarantee  nothing"));
}

#[test]
fn a_design_whose_names_are_not_what_they_seem_is_refused() {
    let files = Files::new();
    let design = |mechanism: &str| {
        files.run(&format!(
            "design {mechanism} --schema schema.toml --epsilon 2 --output design.json --force"
        ));
        saved(&files, "design.json")
    };
    let refused = |design: &str| {
        files.write("forged.json", design);
        files.refuses("describe --design forged.json")
    };
    let (laplace, identity) = (design("laplace"), design("identity"));
    let mut forged = laplace.clone();
    forged["state"] = identity["state"].clone();
    assert_eq!(
        refused(&forged.to_string()),
        "forged.json: the design cannot be loaded: unknown field `columns`, expected one of `portion`, \
         `delta`, `parameters`"
    );
    // A valid state under another plugin's name is a design of that plugin, with another digest.
    let mut renamed = laplace.clone();
    renamed["plugin"] = "gaussian".into();
    assert!(refused(&renamed.to_string()).contains("forged.json: the design cannot be loaded"));
    // Two parts of the design change places.
    let mut forged = design("--mechanism laplace --columns size --mechanism identity --columns price");
    forged["parts"].as_array_mut().unwrap().reverse();
    assert!(refused(&forged.to_string()).contains("the design cannot be loaded: unknown field"));
    forged["parts"].as_array_mut().unwrap().pop();
    assert!(refused(&forged.to_string()).contains("do not match the parts of its mechanism"));
    // One name has two values, and one text contains an invisible character.
    let text = laplace.to_string();
    let twice = text.replacen("\"plugin\":", "\"plugin\":\"identity\",\"plugin\":", 1);
    assert!(refused(&twice).contains("the name \"plugin\" appears twice in one object"));
    let unseen = refused(&text.replacen("\"cm\"", "\"cm\\u001b[8m\"", 1));
    assert!(unseen.contains("contains the character U+001B") && !unseen.contains('\u{1b}'), "{unseen}");
}

#[test]
fn private_volunteers_must_have_a_guarantee() {
    let files = Files::new();
    files.good();
    let line = |status: &str| {
        format!(
            "design laplace --schema schema.toml --epsilon 1 --output {status}.json --volunteers data.csv \
             --volunteers-are {status}"
        )
    };
    // One cell is clipped. A refusal does not report it.
    files.write("data.csv", files.read("data.csv") + "99,red,5\n");
    let refused = files.refuses(&line("private"));
    assert!(refused.starts_with("\"laplace\" had records of private volunteers"), "{refused}");
    assert!(!files.exists("private.json"));
    // No volunteer's record shaped these designs, and the command says so.
    for status in ["public", "consented"] {
        assert!(files.notes(&line(status)).contains("were not used"));
        assert!(files.exists(&format!("{status}.json")));
    }
    files.write("bad.csv", "size,colour,price\n1,red,dear\n");
    let refused =
        files.refuses(&line("public").replace("data.csv", "bad.csv").replace("public.json", "a.json"));
    assert!(refused.starts_with("bad.csv, row 1, column \"price\""), "{refused}");
    let line = "design laplace --schema schema.toml --epsilon 1 --output a.json --volunteers data.csv";
    assert!(files.refuses(line).contains("--volunteers-are"));
}

#[test]
fn volunteers_may_keep_their_labels() {
    let files = Files::new();
    files.good();
    let without = |line: &str| line.rsplit_once(',').unwrap().0.to_owned() + "\n";
    files.write("volunteers.csv", files.read("data.csv").lines().map(without).collect::<String>());
    let line = |mechanism: &str| {
        format!(
            "design {mechanism} --schema schema.toml --target price --epsilon 1 --volunteers volunteers.csv \
             --volunteers-are consented --output {mechanism}.json"
        )
    };
    files.run(&line("learned-codes"));
    files.run("release --design learned-codes.json --input data.csv --output reports.csv");
    files.run("collect --design learned-codes.json --reports reports.csv --output records.csv");
    assert!(files.read("records.csv").starts_with("size,colour,price\n"));
    let refused = files.refuses(&line("gradient-report"));
    assert!(
        refused.contains("it learns from volunteers' labels, and the volunteers have no labels"),
        "{refused}"
    );
    assert!(!files.exists("gradient-report.json"));
    // Any other missing column is an error that names it.
    files.write("volunteers.csv", "size,price\n1,20\n");
    let refused = files.refuses(&line("learned-codes"));
    assert!(refused.contains("volunteers.csv") && refused.contains("\"colour\""), "{refused}");
}

#[test]
fn public_records_that_a_design_holds_are_not_said_to_be_unused() {
    let files = Files::new();
    files.good();
    let line = "design dauntless-mix --schema schema.toml --target colour --epsilon 1 --output design.json \
                --volunteers data.csv --volunteers-are public";
    let (card, notes) = succeeded(&mut files.command(line));
    assert!(notes.is_empty(), "{notes}");
    assert!(card.contains("given the design, which public data shaped"), "{card}");
    assert!(card.contains("the design contains them in the clear"), "{card}");
}

/// Trains on sixty volunteers, with a δ below and above 1/60. A δ of 1/60 may publish one record.
#[test]
fn what_trainings_on_the_same_volunteers_cost_is_checked_together_and_their_assumption_is_said_once() {
    let files = Files::new();
    files.good();
    let line = |delta: f64| {
        format!(
            "design --mechanism vlm --columns size --mechanism vlm --columns price --schema schema.toml \
             --epsilon 4 --output design.json --volunteers data.csv --volunteers-are private --set \
             vlm.hidden=[4] --set vlm.latent_dim=1 --set \
             vlm.volunteers={{\"epsilon\":2,\"delta\":{delta},\"epochs\":2,\"expected_batch\":20}}"
        )
    };
    let refused = files.refuses(&line(0.01));
    assert!(refused.contains("must be below one over their number, 1/60, and 2e-2 is not"), "{refused}");
    assert!(!files.exists("design.json"));
    let card = files.run(&line(0.005));
    assert_eq!(
        card.matches("nothing but this design was learned from these volunteers").count(),
        1,
        "{card}"
    );
    assert!(card.contains("(replace one record) for each volunteer's record"), "{card}");
}

/// Checks that an object of parameters gives the same design as its parameters set one by one.
#[test]
fn parameters_in_an_object_are_set_one_by_one() {
    let files = Files::new();
    files.good();
    let design = |set: &str| {
        files.run(&format!(
            "design vlm --schema schema.toml --epsilon 4 --output design.json --force --volunteers data.csv \
             --volunteers-are public --set hidden=[4] --set latent_dim=1 {set}"
        ));
        files.read("design.json")
    };
    let whole = design(
        "--set volunteers={\"epsilon\":2,\"delta\":0.01,\"epochs\":2,\"expected_batch\":20,\"seed\":1}",
    );
    let one_by_one = design(
        "--set volunteers.epsilon=2 --set volunteers.delta=0.01 --set vlm.volunteers.epochs=2 --set \
         volunteers.expected_batch=20 --set vlm.volunteers.seed=1",
    );
    assert_eq!(whole, one_by_one);
}

#[test]
fn what_asks_for_more_than_can_be_held_is_refused_and_leaves_nothing() {
    let files = Files::new();
    for (settings, asks) in [
        ("dauntless-mix --set samples=4611686018427387904", "samples asks for"),
        ("dauntless-mix --set label_dim=1152921504606846976", "label_dim asks for"),
        ("dauntless-inference --set queries=4611686018427387904", "queries asks for"),
        (
            "multiplicative-dp --set records=300 --set dim=16777216",
            "dim, for this number of records, asks for 40265318400 bytes at once",
        ),
    ] {
        let line = format!(
            "design {settings} --schema schema.toml --target colour --epsilon 1 --delta 1e-6 --output \
             design.json"
        );
        let refused = files.refuses(&line);
        assert!(
            refused.contains(asks) && refused.ends_with("and at most 8589934592 are allowed"),
            "{refused}"
        );
    }
    assert_eq!(files.all(), ["schema.toml"]);
}

/// Options of a design that learns latents from the volunteers in `data.csv`.
const OF_VOLUNTEERS: &str = "--schema schema.toml --target price --epsilon 4 --output design.json \
                             --volunteers data.csv --volunteers-are consented";

#[test]
fn volunteers_shape_a_design_that_anybody_releases_by() {
    let files = Files::new();
    files.good();
    let card = files.run(&format!("design task-aware-clipped {OF_VOLUNTEERS}"));
    assert!(card.contains("ε = 4 local differential privacy for the whole record"), "{card}");
    // The design contains no volunteer's record.
    let design = files.read("design.json");
    assert!(!design.contains("9.833333"), "the last volunteer's size");
    files.write("other.csv", "size,colour,price\n10,green,100\n0,red,0\n");
    files.run("release --design design.json --input other.csv --output released.csv");
    assert_eq!(files.read("released.csv").lines().count(), 3);
    files.write(
        "design.json",
        design.replacen("\"epsilon\": 2", "\"epsilon\": 5", 1).replacen("\"epsilon\":2", "\"epsilon\":5", 1),
    );
    let changed = files.refuses("release --design design.json --input other.csv --output again.csv");
    assert!(changed.contains("design.json"), "{changed}");
    assert!(!files.exists("again.csv"));
}

#[test]
fn volunteers_of_whom_nothing_can_be_learned_leave_no_design() {
    let files = Files::new();
    files.good();
    let without =
        "design task-aware-linear --schema schema.toml --target price --epsilon 4 --output design.json";
    assert_eq!(
        files.refuses(without),
        "task-aware-linear does not apply: it learns from volunteers' records, and no volunteers are given"
    );
    for (mechanism, expected) in [
        ("task-aware-linear --set latent_dim=0", "latent_dim must lie between 1 and"),
        (
            "task-aware-gradient --set training={\"learning_rate\":1e300,\"epochs\":2,\"task_epochs\":2}",
            "the training of \"task-aware-gradient\" diverged to non-finite numbers in epoch",
        ),
        ("task-aware-gradient --set eta=-1", "eta must be finite and not negative, and -1 is not"),
        ("task-aware-bounded --set training={\"epochs\":0}", "epochs must be one or more, and 0 is not"),
    ] {
        let refused = files.refuses(&format!("design {mechanism} {OF_VOLUNTEERS}"));
        assert!(refused.contains(expected), "{refused}");
    }
    files.write("data.csv", "size,colour,price\n1,red,50\n");
    let one = files.refuses(&format!("design task-aware-linear {OF_VOLUNTEERS}"));
    assert!(one.contains("the task ignores every column, or the columns that it uses do not vary"), "{one}");
    files.write("data.csv", "size,colour,price\n");
    assert_eq!(
        files.refuses(&format!("design task-aware-linear {OF_VOLUNTEERS}")),
        "data.csv holds no records"
    );
    assert_eq!(files.all(), ["data.csv", "schema.toml"]);
}

#[test]
fn a_task_is_a_matrix_over_the_encoded_columns() {
    let files = Files::new();
    let line = "design laplace --schema schema.toml --epsilon 1 --output a.json --task-matrix task.csv";
    files.write("task.csv", "price,size,colour=red\n1,0,0\n");
    assert_eq!(
        files.refuses(line),
        "task.csv: there is no column \"colour=green\"; did you mean \"colour=red\"?"
    );
    files.write("task.csv", "price,size,colour=red,colour=green\n1,0,0,many\n");
    let expected = "task.csv, row 1, column \"colour=green\": \"many\" is not a number; a number is needed";
    assert_eq!(files.refuses(line), expected);
    files.write("task.csv", "price,size,colour=red,colour=green\n1,0,0,-2.5\n");
    files.run(line);
}

/// Two tasks with weights are one task with the rows of both, times the roots of the weights.
#[test]
fn several_tasks_are_added_with_their_weights() {
    let files = Files::new();
    files.good();
    let header = "size,price,colour=red,colour=green\n";
    for (file, rows) in
        [("one.csv", "1,0,0,0\n"), ("other.csv", "0,1,0,0\n"), ("both.csv", "2,0,0,0\n0,1,0,0\n")]
    {
        files.write(file, format!("{header}{rows}"));
    }
    let line = "--schema schema.toml --epsilon 2 --volunteers data.csv --volunteers-are public --output \
                design.json --force";
    let state = |mechanism: &str, tasks: &str| -> Value {
        files.run(&format!("design {mechanism} {line} {tasks}"));
        serde_json::from_str::<Value>(&files.read("design.json")).unwrap()["state"].clone()
    };
    let trained = "task-aware-gradient --set latent_dim=1 --set training.steps=20";
    for mechanism in ["task-aware-linear", trained] {
        let state = |tasks: &str| state(mechanism, tasks);
        let several = state("--task-matrix one.csv --task-weight 4 --task-matrix other.csv --task-weight 1");
        assert_eq!(several, state("--task-matrix both.csv"));
        assert_ne!(several, state("--task-matrix one.csv --task-matrix other.csv"));
    }
    let line = format!("design task-aware-linear {line}");
    let refused =
        files.refuses(&format!("{line} --task-matrix one.csv --task-matrix other.csv --task-weight 4"));
    assert_eq!(refused, "--task-weight is given 1 times for 2 --task-matrix; give it once for each");
    let refused = files.refuses(&format!("{line} --task-matrix one.csv --task-weight -1"));
    assert!(refused.contains("the weight of a task is -1"), "{refused}");
}

/// Returns the protected part and the ε of the first claim. Further claims may cover parts of a record with
/// less.
fn claims(files: &Files, line: &str) -> Vec<(String, Value)> {
    let line = format!("design {line} --schema schema.toml --epsilon 4 --output design.json --force --json");
    let output = files.json(&line);
    let claims = output["guarantee"]["claims"].as_array().unwrap();
    let first = claims.iter().take(1);
    first.map(|claim| (claim["protects"].as_str().unwrap().into(), claim["epsilon"].clone())).collect()
}

#[test]
fn all_of_a_record_is_protected_unless_less_is_asked_for() {
    let files = Files::new();
    let whole_budget = |part: &str| vec![(part.to_owned(), Value::from(4.0))];
    // Randomised response protects a category, and Laplace noise a number, if the mechanism leaves the label
    // in the clear.
    for line in [
        "laplace --target colour",
        "direct --target colour",
        "laplace --target price",
        "direct --target price",
    ] {
        assert_eq!(claims(&files, line), whole_budget("record"), "{line}");
    }
    let completed = claims(&files, "laplace --target price --set protect=features --protect record");
    assert_eq!(completed, whole_budget("record"));
    for (line, part) in [
        ("laplace --target colour --protect features", "features"),
        ("laplace --target colour --set protect=features", "features"),
        ("laplace --target price --protect label", "label"),
        ("laplace --target price --set protect=label", "label"),
        ("direct --target colour --protect features", "features"),
        ("direct --target price --protect label", "label"),
        ("randomized-response --target colour --protect label", "label"),
        ("--mechanism laplace --columns size,colour --target colour --protect features", "features"),
        ("--mechanism laplace --columns size,price --target colour", "record"),
    ] {
        assert_eq!(claims(&files, line), whole_budget(part), "{line}");
    }
    let line = |words: &str| format!("design {words} --schema schema.toml --epsilon 4 --output refused.json");
    for (words, expected) in [
        (
            "randomized-response --target colour",
            "randomized-response does not apply: it protects only the label, not the whole record; --protect \
             label accepts this",
        ),
        (
            "column-space --target colour",
            "column-space does not apply: it protects only the features, not the whole record; --protect \
             features accepts this",
        ),
        (
            "--mechanism laplace --columns size,colour --target colour",
            "the mechanisms protect only the features, not the record; --protect features accepts this",
        ),
        (
            "laplace --protect label",
            "laplace does not apply: no column is the target, so the records have no label to protect",
        ),
        (
            "laplace --target price --label-share 0.5 --protect label",
            "laplace does not apply: a share of ε for the label needs the whole record to be protected, not \
             the label alone",
        ),
    ] {
        assert_eq!(files.refuses(&line(words)), expected);
    }
    assert!(!files.exists("refused.json"));
    // A mechanism that trains declares the part for another mechanism by its example, and trains once.
    files.good();
    let training = "--set training={\"epochs\":5,\"steps\":2,\"task_epochs\":5} --volunteers data.csv \
        --volunteers-are consented";
    assert_eq!(
        claims(&files, &format!("task-aware-gradient --target price {training}")),
        whole_budget("record")
    );
    // A release in the clear has no claims, and its card says so.
    assert_eq!(claims(&files, "identity --target colour"), []);
}

#[test]
fn a_label_of_its_own_takes_nothing_of_delta() {
    let files = Files::new();
    let line = "design gaussian --schema schema.toml --target colour --epsilon 2 --delta 1e-6 --output \
        design.json --json";
    let output = files.json(line);
    let claim = &output["guarantee"]["claims"][0];
    assert_eq!((&claim["protects"], &claim["delta"]), (&"record".into(), &1e-6.into()));
    assert_eq!(saved(&files, "design.json")["state"]["parts"][0]["delta"], 1e-6);
}

#[test]
fn a_public_data_set_brings_its_own_schema() {
    let files = Files::new();
    files.run("design laplace --data wine --target quality --epsilon 4 --output design.json");
    files.run("schema --data wine --output wine.toml --records wine.csv");
    files.run("design laplace --schema wine.toml --target quality --epsilon 4 --output same.json");
    assert_eq!(files.read("design.json"), files.read("same.json"));
    assert_eq!(files.read("wine.csv").lines().count(), 1600);
    assert!(!files.read("wine.toml").contains("draft"));
    files.run("release --design design.json --input wine.csv --output released.csv --strict");
    let line = "design laplace --data whine --epsilon 4 --output other.json";
    assert!(files.refuses(line).starts_with("there is no data set \"whine\" (did you mean \"wine\"?)"));
    let line = "design laplace --data mnist --epsilon 4 --output other.json";
    assert_eq!(files.refuses(line), "mnist: the records are images, which have no schema");
    assert_eq!(
        files.refuses("schema --data wine --output wine.toml"),
        "wine.toml already exists; --force replaces it"
    );
}

/// Metric privacy is no differential privacy, and its card says how far it reaches.
#[test]
fn a_claim_within_a_distance_says_what_it_leaves_out() {
    let files = Files::new();
    let column = |name: &str| format!("[[column]]\nname = {name:?}\nkind = \"real\"\nlower = 0\nupper = 9\n");
    files.write("numbers.toml", ["size", "weight", "price"].map(column).concat());
    let line = "design multiplicative-dp --schema numbers.toml --target price --protect features --epsilon 1 \
                --delta 1e-6 --set records=400 --output design.json --force";
    let central = files.run(line);
    assert!(central.contains("central differential privacy"), "{central}");
    let metric = files.run(&format!("{line} --set within=0.05"));
    for words in [
        "metric privacy (replace one record, by a distance of at most 0.05 of 1.415)",
        "28.29 times as far apart",
        "This is not differential privacy",
    ] {
        assert!(metric.contains(words), "{words}: {metric}");
    }
    let refused = files.refuses(&format!("{line} --set within=0"));
    assert!(refused.contains("within must be above zero and below"), "{refused}");
    let levels = line.replace("numbers.toml", "schema.toml");
    let refused = files.refuses(&format!("{levels} --set within=0.05"));
    assert!(refused.contains("within needs columns of numbers"), "{refused}");
}

//! `scumble compare`.

use crate::{Files, SCHEMA, json, refusal, run, succeeded};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

impl Files {
    #[track_caller]
    fn refusal(&self, input: &str, target: &str) -> String {
        self.refuses(&format!("compare --input {input} --schema schema.toml --target {target}"))
    }

    /// Returns the error message for these rows.
    #[track_caller]
    fn refused(&self, rows: impl AsRef<[u8]>) -> String {
        self.write("bad.csv", [b"size,colour,price\n", rows.as_ref()].concat());
        self.refusal("bad.csv", "colour")
    }
}

#[test]
fn comparing_the_wines_gives_rows_with_these_keys() {
    let outcome = json("compare --json --trials 2 --volunteers 0 --epsilon 1,inf");
    let all = crate::all_rows(&outcome);
    let rows: Vec<&serde_json::Value> = all.iter().filter(|row| row["metric"] == "accuracy").collect();
    assert_eq!(
        (rows.len(), all.len()),
        (45, 3 * 45),
        "what has no ε once, identity and four curators, seventeen others at two budgets, six of them \
         shuffled at the finite one; and what an adversary learns of each"
    );
    let keys = [
        "against",
        "design",
        "dp",
        "epsilon",
        "guarantee",
        "mean",
        "mechanism",
        "metric",
        "model",
        "model_parameters",
        "parameters",
        "scores",
        "sd",
        "seconds",
        "trials",
        "trust",
        "worth",
    ];
    for row in &rows {
        let found: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(found, keys);
        let trust = match row["mechanism"].as_str().unwrap() {
            "private-additive" | "private-logistic" => "model",
            "mst" | "noisy-marginals" | "adaptive-marginals" | "noisy-moments" | "pac-statistics" => {
                "curator"
            }
            "column-space" | "fisher-correlated" | "singular-value-obfuscation" => "curator",
            "two-server-marginals" => "two-servers",
            _ => "nobody",
        };
        let is_shuffled = row["parameters"]["shuffled"] == true;
        assert_eq!(row["trust"], if is_shuffled { "shuffler" } else { trust }, "{row}");
        assert_eq!(row["scores"].as_array().unwrap().len(), 2);
        let worth = &row["worth"];
        let [records, lower, upper] = ["records", "lower", "upper"].map(|key| worth[key].as_f64().unwrap());
        assert!(0.0 <= lower && lower <= records && records <= upper && upper <= 1279.0, "{worth}");
        assert_eq!(row["trials"].as_u64(), Some(2));
        assert!(row["mean"].as_f64().unwrap() > 0.3);
    }
    // A reader who takes the best of all rows takes one with a finite ε.
    let has_epsilon =
        |row: &serde_json::Value| row["guarantee"]["epsilon"].is_number() || row["trust"] == "shuffler";
    for row in outcome["rows"].as_array().unwrap() {
        assert!(row["dp"] == true && row["epsilon"] == 1.0, "{row}");
        let claims = row["guarantee"]["claims"].as_array().unwrap();
        assert!(claims.iter().any(|claim| claim["epsilon"].is_number()), "{row}");
    }
    for row in outcome["without_dp"].as_array().unwrap() {
        assert!(row["dp"] == false && !has_epsilon(row), "{row}");
    }
    for row in all.iter().filter(|row| row["model"] == "adversary") {
        assert_eq!(row["model_parameters"]["known_share"], 0.5);
        let claims_all = row["guarantee"]["epsilon"].is_number();
        assert!(!claims_all || row["bound"].is_number() || row["metric"] == "recovered", "{row}");
    }
    let mechanism_rows =
        |mechanism: &str| rows.iter().filter(|row| row["mechanism"] == mechanism).collect::<Vec<_>>();
    for without in
        ["identity", "column-space", "fisher-correlated", "pac-statistics", "singular-value-obfuscation"]
    {
        assert_eq!(mechanism_rows(without).len(), 1);
        assert_eq!(mechanism_rows(without)[0]["epsilon"], serde_json::Value::Null);
        assert_eq!(mechanism_rows(without)[0]["guarantee"]["epsilon"], serde_json::Value::Null);
    }
    assert_eq!(mechanism_rows("laplace")[0]["epsilon"], 1.0);
    let clear = mechanism_rows("laplace").into_iter().find(|row| row["epsilon"] == "inf").unwrap();
    assert_eq!(clear["guarantee"]["epsilon"], serde_json::Value::Null);
    assert_eq!(mechanism_rows("laplace")[0]["parameters"]["label_share"], 0.5);
    let gaussian = mechanism_rows("gaussian")[0]["guarantee"]["summary"].as_str().unwrap();
    assert!(gaussian.starts_with("(ε, δ) = (1, 1e-6)"), "all of δ goes to whom it is of use: {gaussian}");
}

#[test]
fn the_wine_data_are_compared_on_one_screen_or_in_full() {
    let text = run("compare --full --trials 2 --epsilon 0.5,inf --set vlm.epochs=1");
    for expected in [
        "wine quality",
        "ε = 0.5",
        "ε = ∞",
        "identity",
        "±",
        "the whole record",
        "The majority-class baseline gets ",
        "What to choose",
        "adversary",
    ] {
        assert!(text.contains(expected), "{expected:?} is missing:\n{text}");
    }
    let bare = run("compare --trials 8 --metric accuracy --set vlm.epochs=1");
    for expected in [
        "wine quality: accuracy (%) of \"quality\" by logistic regression\n",
        "1151 records released; 128 volunteers without labels; 320 held-out test records; 8 trials; seed 1",
        "Without a mechanism: majority-class baseline 53.4; the clean records 7",
        "trusting a curator: model",
        " trusting nobody",
        "the whole record, trusting a shuffler, ε = 2 after mixing; each report has ε = ",
        "the whole record, trusting a curator: model, ε = 2:\n",
        "Label DP protects the label alone; all features leave in the clear.\n",
        "  scumble design private-logistic --data wine --target quality --epsilon 2 ",
        "Without differential privacy, not comparable: ",
        "Left out (reasons: --full): ",
    ] {
        assert!(bare.contains(expected), "{expected:?} is missing:\n{bare}");
    }
    // Each recommended mechanism has one line, and reports are followed by their collection.
    for name in ["pair-response", "private-logistic", "randomized-response"] {
        assert_eq!(bare.matches(&format!("\n{name}: ")).count(), 1, "{name}:\n{bare}");
    }
    assert!(
        bare.contains("\nTo draw records from the reports of ")
            && bare.contains("\n  scumble collect --design design.json "),
        "{bare}"
    );
    assert!(bare.lines().count() <= 58, "{} lines:\n{bare}", bare.lines().count());
    assert!(bare.lines().all(|line| line.chars().count() <= 100), "{bare}");
}

/// Checks that `--full` prints all that its help names: every score, guarantee and command of the JSON.
#[test]
fn the_full_output_has_every_score_guarantee_and_command() {
    let line = "compare --trials 2 --epsilon 1,8 --mechanism randomized-response --mechanism pair-response \
                --mechanism noisy-marginals --mechanism identity";
    let (text, outcome) = (run(&format!("{line} --full")), json(&format!("{line} --json")));
    let rows = crate::all_rows(&outcome);
    assert_eq!(rows.len(), 3 * (3 * 2 + 1));
    assert!(!text.contains("– ± –"), "{text}");
    for row in rows {
        if let (Some(mean), Some(sd)) = (row["mean"].as_f64(), row["sd"].as_f64()) {
            let score = format!("{:.1} ± {:.1}", 100.0 * mean, 100.0 * sd).replace("-0.0", "0.0");
            assert!(text.contains(&score), "{score} is missing:\n{text}");
        }
        if let Some(command) = row["design"].as_str() {
            assert!(text.contains(&format!("    {command}\n")), "{command} is missing:\n{text}");
        }
        if row["epsilon"].is_null() || row["epsilon"] == 1.0 {
            let guarantee = row["guarantee"]["summary"].as_str().unwrap();
            assert!(text.contains(guarantee), "{guarantee} is missing:\n{text}");
        }
    }
}

/// Checks that a numeric target has rows with label DP, unless a part of the record is requested.
#[test]
fn a_number_is_compared_with_label_dp_too() {
    let files = Files::new();
    files.good();
    let line = "compare --input data.csv --schema schema.toml --target price --trials 12 --epsilon 8";
    let screen = files.run(line);
    assert!(
        screen.contains("the label (label DP),") && !screen.contains("To protect the target"),
        "{screen}"
    );
    let labels = |more: &str| {
        let outcome = files.json(&format!("{line} --json {more}"));
        let rows = crate::all_rows(&outcome);
        let labels = rows.iter().filter(|row| row["parameters"]["protect"] == "label");
        let labels = labels.filter(|row| row["metric"] == "rmse");
        labels.map(|row| row["mechanism"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(labels(""), ["hybrid", "laplace"]);
    // A setting of the same parameter is no second candidate.
    assert_eq!(labels("--set laplace.protect=label"), ["laplace", "hybrid"]);
    assert!(labels("--protect record").is_empty() && labels("--mechanism laplace").is_empty());
}

#[test]
fn a_number_is_learned_by_ridge_regression_in_its_own_unit() {
    let files = Files::new();
    files.good();
    let line =
        "compare --json --trials 3 --epsilon 1,inf --input data.csv --schema schema.toml --target price";
    let outcome = files.json(line);
    let row = |mechanism: &str, epsilon: &str| {
        let mut rows = crate::all_rows(&outcome).into_iter();
        rows.find(|row| {
            row["mechanism"] == mechanism && (row["epsilon"] == epsilon || row["epsilon"].is_null())
        })
        .unwrap()
    };
    let clean = row("identity", "");
    assert_eq!((clean["model"].as_str(), clean["metric"].as_str()), (Some("ridge"), Some("rmse")));
    assert!(clean["mean"].as_f64().unwrap() < 1.0, "price is a line in size: {clean}");
    assert_eq!(row("laplace", "inf")["mean"], clean["mean"]);
    // The error of the mean baseline is the standard deviation of 8·U(0, 10), about 23.
    let baseline = outcome["baseline"].as_f64().unwrap();
    assert!((18.0..28.0).contains(&baseline), "{baseline}");
    let skipped = outcome["skipped"].as_array().unwrap();
    let names: Vec<&str> = skipped.iter().map(|row| row["mechanism"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "dauntless-inference",
            "dauntless-mix",
            "direction-report",
            "gradient-report",
            "learned-codes",
            "multiplicative-dp",
            "privacy-agnostic",
            "private-logistic",
            "randomized-response",
            "tables",
            "task-agnostic",
            "task-aware-clipped",
            "task-aware-gaussian",
            "task-aware-linear",
            "task-aware-priv-unit"
        ],
        "a colour is no number, a price no level and no class, nobody volunteers, no model learns from \
         tables, and nobody says how many records there are"
    );
}

/// Checks that every form of a result on a user's file carries the warning. Results on public data carry
/// none, and only they have a digest.
#[test]
fn scores_of_private_records_are_marked_as_such_in_every_form() {
    let files = Files::new();
    files.good();
    let line = "compare --input data.csv --schema schema.toml --target price --trials 1 --epsilon 1,inf \
                --mechanism laplace --mechanism identity";
    let marks = ["NOT private", "for the owner of the data"];
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let screen = flat(files.run(&format!("{line} --csv rows.csv --svg chart.svg --html page.html")));
    let full = flat(files.run(&format!("{line} --full")));
    for text in [screen, full] {
        let choice = "Choosing a mechanism by these scores spends privacy that no budget counts.";
        assert!(marks.iter().all(|mark| text.contains(mark)) && text.contains(choice), "{text}");
    }
    let (rows, chart) = (files.read("rows.csv"), files.read("chart.svg"));
    assert!(rows.lines().skip(1).all(|row| marks.iter().all(|mark| row.contains(mark))), "{rows}");
    assert!(marks.iter().all(|mark| chart.contains(mark)), "{chart}");
    assert!(files.read("page.html").contains("for their owner"));
    let outcome = files.json(&format!("{line} --json"));
    assert!(outcome["warning"].as_str().unwrap().starts_with(marks[0]));
    assert_eq!(
        (&outcome["data"]["public"], &outcome["data"]["sha256"]),
        (&false.into(), &serde_json::Value::Null)
    );
    let line = "compare --trials 1 --epsilon 1 --mechanism laplace --json --svg wine.svg --csv wine.csv";
    let outcome = files.json(line);
    assert_eq!((&outcome["data"]["public"], outcome.get("warning")), (&true.into(), None));
    assert_eq!(outcome["data"]["sha256"].as_str().map(str::len), Some(64));
    assert!(!files.read("wine.svg").contains(marks[0]) && !files.read("wine.csv").contains(marks[0]));
}

/// Checks that files for other people contain names of files, but no folders of this machine.
#[test]
fn no_page_names_a_folder_of_this_machine() {
    let files = Files::new();
    files.good();
    let folder = files.folder.path().to_str().unwrap();
    let line = format!(
        "compare --input {folder}/data.csv --schema schema.toml --target price --trials 1 --epsilon 1 \
         --mechanism laplace \
         --html={folder}/page.html --csv {folder}/rows.csv --svg {folder}/chart.svg --json"
    );
    let output = files.run(&line);
    for text in [output, files.read("page.html"), files.read("rows.csv"), files.read("chart.svg")] {
        assert!(!text.contains(folder), "{text}");
    }
    assert!(files.read("page.html").contains("learned from data.csv"));
}

#[test]
fn volunteers_shape_designs_and_are_on_neither_side() {
    let files = Files::new();
    files.good();
    let line = "compare --input data.csv --schema schema.toml --target price --trials 2 --epsilon 1000 \
                --volunteers 0.5 --mechanism laplace --mechanism task-aware-linear";
    let outcome = files.json(&format!("{line} --json"));
    // Of sixty records, twelve are for tests, and half of the others volunteer.
    let counts = ["volunteers", "train_records", "test_records"].map(|key| outcome[key].as_u64().unwrap());
    assert_eq!(counts, [24, 24, 12]);
    let rows = outcome["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 3);
    assert_eq!(rows[1]["mechanism"], "task-aware-linear");
    // The price is linear in the size, and the volunteers' prices show it.
    assert!(rows[1]["mean"].as_f64().unwrap() < 1.0, "{}", rows[1]);
    let text = files.run(&format!("{line} --html page.html --csv rows.csv"));
    let rows = files.read("rows.csv");
    let header: Vec<&str> = rows.lines().next().unwrap().split(',').collect();
    assert!(
        header.starts_with(&["mechanism", "parameters", "epsilon"])
            && header.ends_with(&["adds_lower", "adds_upper", "dp", "warning"])
    );
    assert_eq!(rows.lines().count(), 1 + 2 * 3);
    assert!(files.refuses(&format!("{line} --csv rows.csv")).contains("rows.csv"), "it stays");
    assert!(text.contains("24 records released; 24 volunteers; 12 held-out test records"), "{text}");
    assert!(text.replace('\n', " ").contains("; the volunteers alone "), "{text}");
    let page = files.read("page.html");
    assert!(
        page.contains("could learn from 24 volunteers") && page.contains("<dt>volunteers</dt><dd>24</dd>")
    );
    let unlabelled = line.replace("laplace", "learned-codes").replace("task-aware-linear", "identity");
    let text = files.run(&format!("{unlabelled} --unlabelled"));
    assert!(text.contains("24 volunteers without labels;"), "{text}");
    assert!(!text.contains("the volunteers alone"), "{text}");
    let refused =
        files.refuses(&format!("{} --unlabelled", unlabelled.replace("learned-codes", "gradient-report")));
    assert!(
        refused.contains("it learns from volunteers' labels, and the volunteers have no labels"),
        "{refused}"
    );
    let without = files.run(
        "compare --input data.csv --schema schema.toml --target price --trials 1 \
        --epsilon 1 --mechanism laplace",
    );
    assert!(!without.contains("volunteers"), "{without}");
}

#[test]
fn values_outside_the_bounds_are_clipped_and_counted_on_stderr() {
    let files = Files::new();
    let text = std::fs::read_to_string(files.good()).unwrap() + "99,red,50\n-1,green,50\n";
    files.write("wide.csv", text);
    let line = "compare --trials 2 --epsilon 1 --input wide.csv --schema schema.toml --target colour";
    let (stdout, stderr) = succeeded(&mut files.command(line));
    assert!(stderr.contains("2 of \"size\" to [0, 10]"), "{stderr}");
    assert!(!stdout.contains("of \"size\""), "a count of clipped cells is for the owner alone:\n{stdout}");
}

#[test]
fn bad_cells_are_named() {
    let files = Files::new();
    for (rows, expected) in [
        (
            "1,red,5\n2,green,dear\n",
            "bad.csv, row 2, column \"price\": \"dear\" is not a number; a number between 0 and 100 € is \
             needed",
        ),
        (
            "1,red,nan\n",
            "bad.csv, row 1, column \"price\": \"nan\" is not a finite number; a number between 0 and 100 € \
             is needed",
        ),
        (
            "inf,red,5\n",
            "bad.csv, row 1, column \"size\": \"inf\" is not a finite number; a number between 0 and 10 cm \
             is needed",
        ),
        (
            "1,pink,5\n",
            "bad.csv, row 1, column \"colour\": \"pink\" is not a level of the column; the schema has red, \
             green",
        ),
        (
            "1,,5\n",
            "bad.csv, row 1, column \"colour\": \"\" is not a level of the column; the schema has red, green",
        ),
        ("1,red\n", "bad.csv, row 1: the row has 2 cells, and the header has 3"),
        ("1,red,5,6\n", "bad.csv, row 1: the row has 4 cells, and the header has 3"),
        ("", "bad.csv holds no records"),
        ("1,red,5\n", "bad.csv: it holds 1 records, and a comparison needs 10 or more"),
    ] {
        assert_eq!(files.refused(rows), expected);
    }
    let one_class = files.refused("1,red,5\n".repeat(20));
    assert_eq!(
        one_class,
        "bad.csv: column \"colour\" is \"red\" in every row, and a classifier needs two classes"
    );
    assert!(files.refused(vec![b'"'; 5_000_000]).len() < 400);
}

#[test]
fn bad_files_and_columns_are_named() {
    let files = Files::new();
    files.good();
    assert!(files.refusal("missing.csv", "colour").contains("missing.csv: No such file"));
    let folder = files.folder.path().to_str().unwrap();
    assert!(files.refusal(folder, "colour").contains(folder));
    let misspelt = files.refusal("data.csv", "color");
    assert!(misspelt.ends_with("there is no column \"color\"; did you mean \"colour\"?"));
    files.write("headless.csv", "size,color,price\n1,red,5\n");
    let headless = files.refusal("headless.csv", "colour");
    assert!(headless.ends_with("there is no column \"colour\"; did you mean \"color\"?"));
    files.write("twice.csv", "size,size,colour,price\n1,1,red,5\n");
    assert!(files.refusal("twice.csv", "colour").ends_with("the column \"size\" occurs twice"));
    files.write("schema.toml", SCHEMA.replace("upper = 10.0", "upper = -1.0"));
    let bounds = "schema.toml: column \"size\": the bounds 0 and -1";
    assert!(files.refusal("data.csv", "colour").contains(bounds));
    files.write("schema.toml", "column = [\n{ name = ");
    assert!(files.refusal("data.csv", "colour").contains("schema.toml: line 2"));
}

#[test]
fn metrics_are_asked_for_by_name_and_the_default_of_models_comes_before_others() {
    let scored = |metrics: &str| {
        let outcome = json(&format!("compare --json --trials 1 --epsilon 1 --mechanism identity {metrics}"));
        let row = |row: &serde_json::Value| {
            let mean = row["mean"].as_f64().map_or("none".into(), |mean| format!("{mean:.0}"));
            let word = |key: &str| row[key].as_str().unwrap().to_owned();
            format!("{} by {}: {mean}", word("metric"), word("model"))
        };
        crate::all_rows(&outcome).iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(scored("--metric auc"), ["auc by logistic: 1"]);
    // A release in the clear has distance zero, and a local mechanism has no statistics.
    assert_eq!(
        scored("--metric workload-error --metric membership"),
        ["accuracy by logistic: 1", "membership by membership: none", "workload-error by table: 0"]
    );
}

#[test]
fn bad_arguments_are_named_with_the_nearest_name() {
    for (line, expected) in [
        ("describe lapace", "there is no mechanism \"lapace\"; did you mean \"laplace\"?"),
        ("compare --mechanism drect", "there is no mechanism \"drect\"; did you mean \"direct\"?"),
        (
            "compare --set laplace.protct=record",
            "the mechanism \"laplace\" has no parameter \"protct\"; did you mean \"protect\"?",
        ),
        (
            "compare --mechanism vlm --set vlm.volunteers.epoch=3",
            "the mechanism \"vlm\" has no parameter \"volunteers.epoch\"; did you mean \
             \"volunteers.epochs\"?",
        ),
        (
            "compare --set lapace.protect=record",
            "there is no mechanism \"lapace\"; did you mean \"laplace\"?",
        ),
        (
            "compare --set protect=record",
            "--set \"protect=record\": with several mechanisms, NAME.KEY=VALUE is needed",
        ),
        (
            "compare --set laplace.protect=everything",
            "the parameters of \"laplace\": unknown variant `everything`, expected one of `record`, \
             `features`, `label`",
        ),
        ("compare --epsilon 0", "epsilon must be above zero (\"inf\" for no privacy), and 0 is not"),
        ("compare --epsilon=-1", "epsilon must be above zero (\"inf\" for no privacy), and -1 is not"),
        ("compare --epsilon nan", "epsilon must be above zero (\"inf\" for no privacy), and NaN is not"),
        ("compare --epsilon tiny", "invalid value 'tiny' for '--epsilon <E,…>': invalid float literal"),
        ("compare --epsilon -1", "epsilon must be above zero (\"inf\" for no privacy), and -1 is not"),
        ("compare --epsilon 1,2,1", "epsilon 1 is listed twice"),
        ("compare --mechanism laplace --mechanism laplace", "the mechanism \"laplace\" is listed twice"),
        (
            "compare --mechanism randomized-response --set randomized-response.protect=features",
            "randomized-response is left out: it answers with levels, but the protected portion contains \
             numbers: the column \"fixed acidity\"",
        ),
        ("compare --trials 0", "a comparison needs between 1 and 100000 trials, not 0"),
        (
            "compare --trials 4000000000000000000",
            "a comparison needs between 1 and 100000 trials, not 4000000000000000000",
        ),
        ("compare --test-share 1", "test_share must lie strictly between zero and one, and 1 does not"),
        ("compare --volunteers 1", "volunteers must be zero or more and below one, and 1 is not"),
        ("compare --volunteers -0.1", "volunteers must be zero or more and below one, and -0.1 is not"),
        ("compare --volunteers nan", "volunteers must be zero or more and below one, and NaN is not"),
        (
            "compare --mechanism task-aware-linear",
            "task-aware-linear is left out: it learns from volunteers' records, and no volunteers are given; \
             --volunteers 0.2 makes a fifth of the training records volunteers' records",
        ),
        ("compare --delta 1", "delta must be zero or more and below one, and 1 is not"),
        (
            "compare --metric acuracy",
            "invalid value 'acuracy' for '--metric <NAME>': there is no metric \"acuracy\"; did you mean \
             \"accuracy\"?",
        ),
        ("compare --metric auc --metric auc", "the metric auc is listed twice"),
        ("comparre", "unrecognized subcommand 'comparre'; tip: a similar subcommand exists: 'compare'"),
    ] {
        assert_eq!(refusal(line), expected);
    }
    let tiny = refusal("compare --epsilon 1e-300");
    assert!(tiny.starts_with("direct at ε = 1e-300: epsilon must be finite, and large enough for"), "{tiny}");
}

#[test]
fn many_levels_cost_no_more_than_their_width() {
    // A flip matrix of 20,000 × 20,000 levels would take 3 GB.
    let files = Files::new();
    let levels: Vec<String> = (0..20_000).map(|level| format!("\"{level}\"")).collect();
    let schema = format!(
        "column = [{{ name = \"place\", kind = \"category\", levels = [{}] }},\n{{ name = \"y\", kind = \
         \"real\", lower = 0.0, upper = 1.0 }}]",
        levels.join(",")
    );
    files.write("wide.toml", schema);
    let rows: String = (0..12).map(|row| format!("{row},0.{row}\n")).collect();
    files.write("wide.csv", format!("place,y\n{rows}"));
    let line = "compare --json --trials 1 --epsilon 1 --mechanism direct";
    let outcome = files.json(&format!("{line} --input wide.csv --schema wide.toml --target y"));
    assert_eq!(outcome["rows"][0]["mechanism"], "direct");
}

/// Checks that an interrupt reports the store of the finished trials, which are not computed again.
#[cfg(unix)]
#[test]
fn an_interrupt_says_what_it_kept() {
    let files = Files::new();
    for (line, kept) in [
        ("--cells cells.jsonl", "finished trials are kept in cells.jsonl; run the same command to resume"),
        ("", "no trials are kept; give --cells FILE.jsonl to keep finished trials"),
    ] {
        let mut command = files.command(&format!("compare --mechanism laplace --trials 100000 {line}"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let start = Instant::now();
        let is_at_work = || files.exists("cells.jsonl") && files.read("cells.jsonl").lines().count() > 20;
        while !is_at_work() && start.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(5));
        }
        // Without a store no file shows the progress; handlers are set before data are read.
        std::thread::sleep(Duration::from_millis(200));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130));
        let stderr = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(stderr.lines().last(), Some(&*format!("interrupted: {kept}")), "{stderr}");
    }
    assert!(files.read("cells.jsonl").lines().count() > 20);
}

#[test]
fn a_sample_of_a_file_is_compared_and_said_to_be_one() {
    let files = Files::new();
    let rows: String = (0..300).map(|at| format!("{}.5,red,{at}\n", at % 10)).collect();
    files.write("long.csv", format!("size,colour,price\n{rows}"));
    let line = "compare --input long.csv --schema schema.toml --target price --sample 100 --mechanism \
                laplace --trials 2 --jobs 1 --json";
    let (outcome, stderr) = succeeded(&mut files.command(line));
    assert!(stderr.contains("long.csv: compared on 100 of its 300 records, drawn at random"), "{stderr}");
    let outcome: serde_json::Value = serde_json::from_str(&outcome).unwrap();
    assert_eq!(outcome["data"]["name"].as_str(), Some("long.csv, 100 of 300 records"));
    assert_eq!((outcome["train_records"].as_u64(), outcome["test_records"].as_u64()), (Some(80), Some(20)));
    // The message about left-out mechanisms says how to include them.
    let text =
        files.run("compare --input long.csv --schema schema.toml --target price --trials 1 --epsilon 1");
    assert!(text.contains("learn from volunteers' records: --volunteers 0.2 includes them"), "{text}");
    assert!(files.refuses("compare --sample 10").contains("--input"));
    assert!(files.refuses("compare --jobs 0").contains("--jobs"));
}

#[test]
fn a_table_says_which_budgets_it_leaves_out_and_what_few_trials_show() {
    let line = "compare --trials 2 --epsilon 0.5,1,2,4,8 --mechanism randomized-response --mechanism \
                adaptive-marginals --mechanism noisy-marginals";
    let shown = run(line);
    assert!(
        shown
            .contains("\nNo evidence (≤ G): at 1 % with 2 trials, no gain over the baseline; at most G. Try")
    );
    assert!(shown.contains("no evidence") && shown.contains('['), "{shown}");
    assert!(shown.contains("Not shown, for lack of width: ε = "), "{shown}");
}

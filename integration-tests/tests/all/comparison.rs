//! Properties of the comparison on the embedded wines.

use linfa::traits::{Fit, Predict};
use scumble::compare::{
    Candidate, Comparison, Experiment, Metric, Model, Outcome, Row, SplitKind, Splitting,
};
use scumble::core::{Brief, Budget, Pace, Randomness, Registry, ShapedBy, Target, Unit};
use scumble::datasets::DataSet;
use scumble::linear::LogisticParams;
use serde_json::{Value, json};

fn comparison(epsilons: &[f64]) -> Comparison {
    let candidates = Candidate::quick(&Registry::installed().unwrap());
    Comparison {
        epsilons: epsilons.to_vec(),
        delta: 0.0,
        trials: 5,
        seed: 3,
        ..Comparison::new(DataSet::wine().unwrap(), candidates)
    }
}

fn run(comparison: &Comparison) -> Outcome {
    comparison.run(|_| (), || ()).unwrap()
}

fn row<'a>(outcome: &'a Outcome, mechanism: &str, epsilon: f64) -> &'a Row {
    let mut rows = outcome.rows.iter();
    rows.find(|row| row.mechanism == mechanism && row.epsilon.is_none_or(|e| e == epsilon)).unwrap()
}

#[test]
fn identity_equals_training_without_any_mechanism() {
    let wine = DataSet::wine().unwrap();
    let table = wine.table.whole().unwrap().into_owned();
    let design = Registry::installed()
        .unwrap()
        .get("identity")
        .unwrap()
        .design(&Default::default(), &Brief::new(wine.domain.clone(), Budget::pure(1.0).unwrap()));
    let release = design.unwrap().mechanism().release(&table, &mut Randomness::seeded(1)).unwrap();
    assert_eq!(release.table, table, "identity changed a record");
    let predictions = |learned: scumble::core::Table| {
        let dataset: linfa::Dataset<f64, usize, ndarray::Ix1> = learned.try_into().unwrap();
        LogisticParams::default().fit(&dataset).unwrap().predict(table.records())
    };
    let (with, without) = (predictions(release.table), predictions(table.clone()));
    assert_eq!(with, without);
    let Target::Class(truth) = wine.table.target() else { panic!("wines have classes") };
    let accuracy = with.iter().zip(truth).filter(|(p, t)| p == t).count() as f64 / truth.len() as f64;
    assert!((0.70..0.80).contains(&accuracy), "logistic regression on the wines has accuracy {accuracy}");
}

#[test]
fn every_mechanism_scores_as_its_noise_free_view_when_epsilon_is_large() {
    let large = 2f64.powi(40);
    let outcome = run(&comparison(&[large, f64::INFINITY]));
    let without = row(&outcome, "identity", large).mean;
    for mechanism in ["direct", "laplace", "piecewise", "randomized-response"] {
        let (near, at) = (row(&outcome, mechanism, large).mean, row(&outcome, mechanism, f64::INFINITY).mean);
        assert!((near - at).abs() < 0.005, "{mechanism}: {near} at ε = 2^40 and {at} at ∞");
        assert!(
            (at - without).abs() < 1e-12,
            "{mechanism} at ε = ∞ has {at} where training without has {without}"
        );
    }
}

/// Checks the adversary's success under a guarantee for whole records.
///
/// It stays below the bound implied by the guarantee, up to five standard errors. It also reaches the
/// expected level: the adversary learns everything that is released in the clear.
#[test]
fn an_adversary_learns_what_leaves_and_no_more_than_is_allowed() {
    let outcome = run(&Comparison { trials: 20, ..comparison(&[0.5, 2.0, 8.0]) });
    let adversary_rows = || outcome.rows.iter().filter(|row| row.metric.is_of_adversary());
    assert_eq!(adversary_rows().count(), 2 * outcome.rows.len() / 3);
    for row in adversary_rows() {
        let Row { mechanism, metric, mean, sd, trials, bound, .. } = row;
        if let Some(bound) = bound {
            let error = sd / (*trials as f64).sqrt();
            assert!(*mean <= bound + 5.0 * error, "{mechanism}: {metric} is {mean} where {bound} is allowed");
        }
        assert_eq!(bound.is_some(), row.guarantee.epsilon().is_some(), "{mechanism}, {metric}");
    }
    let learned = |mechanism: &str, epsilon: f64, metric: Metric| {
        let mut rows = adversary_rows().filter(|row| row.mechanism == mechanism && row.metric == metric);
        rows.find(|row| row.epsilon.is_none_or(|e| e == epsilon)).unwrap().mean
    };
    // In the clear, or transformed by one map for all records.
    for open in ["identity", "randomized-response", "column-space", "singular-value-obfuscation"] {
        assert!(learned(open, 0.5, Metric::Recovered) > 0.99, "{open}");
        assert!(learned(open, 0.5, Metric::Advantage) > 0.99, "{open}");
    }
    for local in ["laplace", "duchi", "piecewise"] {
        let advantage = |epsilon| learned(local, epsilon, Metric::Advantage);
        assert!(advantage(0.5) < advantage(2.0) && advantage(2.0) < advantage(8.0), "{local}");
        assert!(advantage(8.0) > 0.3, "{local}: {}", advantage(8.0));
    }
}

/// Checks the error of Laplace noise: scale Δ₁/ε on each of d columns has a mean squared error of 2d(Δ₁/ε)²,
/// for any records.
#[test]
fn the_normalised_mse_of_a_release_is_that_of_the_noise_and_no_less_than_is_claimed() {
    let wine = DataSet::wine().unwrap();
    let variance = wine.table.whole().unwrap().records().var_axis(ndarray::Axis(0), 0.0).sum();
    let (width, dim) = (wine.domain.features().l1_diameter(), wine.domain.features().dim() as f64);
    let registry = Registry::installed().unwrap();
    let candidates = ["laplace", "fisher-gaussian"].map(|name| Candidate::new(*registry.get(name).unwrap()));
    let metrics = vec![Metric::Accuracy, Metric::UnbiasedError];
    let wines = Comparison::new(wine, candidates.to_vec());
    let outcome = run(&Comparison { metrics, trials: 20, epsilons: vec![2.0], ..wines });
    let unbiased_row = |name: &str| {
        let mut rows = outcome.rows.iter().filter(|row| row.metric == Metric::UnbiasedError);
        rows.find(|row| row.mechanism == name).unwrap()
    };
    // The label takes half of ε.
    let (found, expected) = (unbiased_row("laplace").mean, 2.0 * dim * width * width / variance);
    assert!((found / expected - 1.0).abs() < 0.03, "{found} where {expected} is right");
    assert_eq!(unbiased_row("laplace").bound, None);
    let (found, bound) =
        (unbiased_row("fisher-gaussian").mean, unbiased_row("fisher-gaussian").bound.unwrap());
    assert!(bound > 1.0 && found > 0.97 * bound, "{found} where {bound} is claimed");
}

#[test]
fn less_privacy_costs_less_accuracy() {
    let outcome = run(&comparison(&[0.5, 20.0, 4000.0]));
    for mechanism in ["direct", "laplace"] {
        let mean = |epsilon| row(&outcome, mechanism, epsilon).mean;
        assert!(mean(0.5) < 0.6 && mean(4000.0) > 0.72, "{mechanism}: {} and {}", mean(0.5), mean(4000.0));
        assert!(mean(20.0) < mean(4000.0), "{mechanism}: {} at 20", mean(20.0));
    }
}

#[test]
fn a_seed_gives_the_same_scores_on_one_thread_and_on_three() {
    let scores = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let outcome = pool.install(|| run(&comparison(&[1.0, 8.0])));
        // Compares bits: the adversary's score on drawn rows is NaN.
        let bits = |row: &Row| (row.mechanism.clone(), row.mean.to_bits(), row.sd.to_bits());
        outcome.rows.iter().map(bits).collect::<Vec<_>>()
    };
    assert_eq!(scores(1), scores(3));
}

#[test]
fn a_budget_is_never_exceeded_and_the_label_is_protected_with_the_features() {
    let outcome = run(&comparison(&[0.3, 1.0]));
    for mechanism in ["direct", "duchi", "hybrid", "laplace", "piecewise"] {
        for epsilon in [0.3, 1.0] {
            let guarantee = &row(&outcome, mechanism, epsilon).guarantee;
            let spent = guarantee.local_dp(Unit::Record).expect("the whole record is protected").epsilon;
            assert!(spent <= epsilon && spent > epsilon * (1.0 - 1e-12), "{mechanism}: {spent} of {epsilon}");
            assert!(guarantee.discloses.is_empty(), "{guarantee}");
        }
    }
    let labels = &row(&outcome, "randomized-response", 1.0).guarantee;
    assert!(labels.local_dp(Unit::Record).is_none() && labels.local_dp(Unit::Label).is_some());
    assert!(row(&outcome, "identity", 1.0).epsilon.is_none());
}

#[test]
fn on_a_split_of_its_own_only_noise_makes_trials_differ() {
    let own = |most_train| {
        let mut comparison = comparison(&[100.0]);
        comparison.data.train_records = Some(1000);
        comparison.splitting = Splitting {
            kind: SplitKind::Own,
            most_train,
            most_test: None,
            volunteers: 0.0,
            unlabelled: false,
            public: false,
            validation: 0.0,
            balance: false,
            stratified: false,
        };
        comparison.metrics = vec![Metric::Accuracy, Metric::BalancedAccuracy];
        run(&comparison)
    };
    let outcome = own(None);
    assert_eq!((outcome.train_records, outcome.test_records), (1000, 599));
    assert!(row(&outcome, "identity", 100.0).sd < 1e-15);
    let noisy = row(&outcome, "laplace", 100.0);
    assert!(noisy.sd > 1e-3, "{} ± {}", noisy.mean, noisy.sd);
    // The majority-class baseline has a balanced accuracy of one half.
    assert_eq!(outcome.baselines[&Metric::BalancedAccuracy], 0.5);
    let limited = own(Some(200));
    assert_eq!((limited.train_records, limited.test_records), (200, 599));
    assert!(row(&limited, "identity", 100.0).sd > 0.0, "the records are drawn anew");
}

/// Checks that each experiment file can be read and names existing mechanisms and data sets. (Models are
/// checked with the data.)
#[test]
fn the_experiments_of_the_repository_can_be_run() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/experiments");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end == "toml")).collect();
    assert!(files.len() >= 6, "{files:?}");
    let registry = Registry::installed().unwrap();
    for file in files {
        let experiment = Experiment::read(&file).unwrap();
        assert!(!experiment.candidates(&registry).unwrap().is_empty(), "{}", file.display());
        match experiment.data() {
            Ok(data) => drop(experiment.comparison(data, vec![]).unwrap()),
            Err(missing) => {
                assert!(missing.to_string().contains("SCUMBLE_DATA"), "{missing}");
                scumble_testing::missing(format_args!("what {} is about", file.display()));
            }
        }
    }
}

/// Runs the experiments with short trainings, because the full trainings take minutes.
#[test]
fn experiments_with_volunteers_have_a_row_of_every_mechanism() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/experiments");
    let registry = Registry::installed().unwrap();
    for (name, volunteers) in [("valuation", 87), ("wdbc", 91), ("household", 296)] {
        let experiment = Experiment::read(&folder.join(name).with_extension("toml")).unwrap();
        let Ok(data) = experiment.data() else {
            scumble_testing::missing(format_args!("the data set {name}"));
            continue;
        };
        let mut candidates = experiment.candidates(&registry).unwrap();
        for candidate in
            candidates.iter_mut().filter(|candidate| candidate.plugin.descriptor.pace == Pace::Slow)
        {
            candidate.parameters = json!({"training": {"epochs": 5, "steps": 2, "task_epochs": 5}});
        }
        let names: Vec<&str> = candidates.iter().map(|candidate| candidate.plugin.name).collect();
        let experiment = experiment.comparison(data, candidates.clone()).unwrap();
        let outcome = run(&Comparison { epsilons: vec![16.0], trials: 1, ..experiment });
        assert_eq!(outcome.volunteers, volunteers, "{name}");
        let skipped: Vec<&str> = outcome.skipped.iter().map(|skipped| &*skipped.mechanism).collect();
        assert!(skipped.is_empty(), "{name} leaves out {skipped:?}");
        assert!(names.contains(&"task-aware-gradient") && names.contains(&"task-aware-bounded"));
        for mechanism in names {
            let row = row(&outcome, mechanism, 16.0);
            assert!(row.mean.is_finite(), "{name}: {mechanism}");
            let learns = mechanism.starts_with("task-") || mechanism == "privacy-agnostic";
            let shaped_by = row.guarantee.shaped_by;
            assert_eq!(shaped_by == ShapedBy::ConsentingVolunteers, learns, "{name}: {mechanism}");
            if learns {
                let dp = row.guarantee.local_dp(Unit::Record).unwrap();
                assert!(
                    (dp.epsilon - 16.0).abs() < 1e-9,
                    "{name}: the label takes noise of its own, a number too"
                );
            }
        }
    }
}

/// Checks that designs learn the task from the volunteers' classes, although randomised response protects the
/// label itself.
///
/// The designs release two latents of the wines' eleven numbers, at a budget at which both are accurate.
#[test]
fn designs_learn_the_task_from_the_volunteers() {
    let registry = Registry::installed().unwrap();
    let candidates =
        ["task-agnostic", "task-aware-linear"].map(|name| Candidate::new(*registry.get(name).unwrap()));
    let mut with = Comparison { candidates: candidates.to_vec(), ..comparison(&[20.0]) };
    let without = with.run(|_| (), || ()).unwrap_err().to_string();
    assert!(without.contains("it learns from volunteers' records, and no volunteers are given"), "{without}");
    with.splitting.volunteers = 0.5;
    with.release_alone = true;
    let outcome = run(&with);
    assert_eq!((outcome.volunteers, outcome.train_records, outcome.test_records), (640, 639, 320));
    let [agnostic, aware] = ["task-agnostic", "task-aware-linear"].map(|name| row(&outcome, name, 20.0).mean);
    assert!(aware > agnostic + 0.05, "{aware} and {agnostic}");
}

/// Releases sixty records, more than the theorem allows. No claim remains: public records disclose the
/// classes' names.
#[test]
fn a_budget_that_is_exceeded_is_a_warning_in_the_table_the_json_and_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let rows = (0..75).map(|row| {
        let size = f64::from(row) / 7.5;
        format!("{size},{},{}\n", 10.0 - size, if size < 5.0 { "red" } else { "green" })
    });
    write("data.csv", &format!("size,weight,colour\n{}", rows.collect::<String>()));
    write(
        "schema.toml",
        "column = [\n\
         { name = \"size\", kind = \"real\", lower = 0.0, upper = 10.0 },\n\
         { name = \"weight\", kind = \"real\", lower = 0.0, upper = 10.0 },\n\
         { name = \"colour\", kind = \"category\", levels = [\"red\", \"green\"] },\n]\n",
    );
    write(
        "exp.toml",
        "trials = 1\nepsilon = [1]\n[data]\ninput = \"data.csv\"\nschema = \"schema.toml\"\ntarget = \
         \"colour\"\n[[mechanism]]\nname = \"publicly-mixed\"\n[[mechanism]]\nname = \
         \"laplace\"\n[[model]]\nname = \"network\"\nset = { epochs = 2 }\n",
    );
    let run = |line: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_with-public"));
        let output = command.current_dir(folder.path()).args(line.split_whitespace()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let exceeded = "60 samples are spent of a budget of ";
    assert!(run("compare --config exp.toml").contains("WARNING"));
    let text = run("compare --full --config exp.toml");
    let line = text.lines().find(|line| line.contains(exceeded)).unwrap_or_else(|| panic!("{text}"));
    assert!(
        line.trim_start().starts_with(
            "publicly-mixed  WARNING: resistance to recovery for the features (not the label): 60 samples"
        ),
        "{line}"
    );
    assert_eq!(text.matches("WARNING").count(), 1, "{text}");

    let outcome: Value =
        serde_json::from_str(&run("compare --config exp.toml --html page.html --json")).unwrap();
    let guarantee = |mechanism: &str| {
        let mut rows = ["rows", "without_dp"].iter().flat_map(|name| outcome[name].as_array().unwrap());
        rows.find(|row| row["mechanism"] == mechanism).unwrap()["guarantee"].clone()
    };
    let (mixed, laplace) = (guarantee("publicly-mixed"), guarantee("laplace"));
    let warnings = mixed["warnings"].as_array().unwrap();
    assert!(warnings.len() == 1 && warnings[0].as_str().unwrap().starts_with(exceeded), "{mixed}");
    assert_eq!(mixed["claims"][0]["warning"], warnings[0]);
    assert_eq!(laplace["warnings"], json!([]));

    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    // The warning is beside the scores of the model and of both adversaries, in the table and in the cards
    // for phones; and on the card.
    let marks = format!("<th scope=\"row\">publicly-mixed <strong class=\"warning\" title=\"{exceeded}");
    assert_eq!(page.matches(&marks).count(), 2 * 3, "beside its name");
    assert_eq!(page.matches(&format!("<dt class=\"warning\">WARNING</dt><dd>{exceeded}")).count(), 1);
    let summary = format!("WARNING: resistance to recovery for the features (not the label): {exceeded}");
    assert_eq!(page.matches(&summary).count(), 2, "over the card, and over that of its budget");
}

/// Checks that mixed records have no score of an adversary that knows the rows: a row made of several records
/// corresponds to no single record.
#[test]
fn no_adversary_that_knows_the_rows_is_measured_on_mixed_records() {
    let registry = Registry::installed().unwrap();
    let candidates = ["dauntless-mix", "identity"].map(|name| Candidate::new(*registry.get(name).unwrap()));
    let adversary_metrics = [Metric::Recovered, Metric::Advantage];
    let with = Comparison {
        candidates: candidates.to_vec(),
        models: vec![
            Model::new("network", &serde_json::Map::from_iter([("epochs".into(), json!(2))])).unwrap(),
        ],
        metrics: [&[Metric::Accuracy], &adversary_metrics[..]].concat(),
        ..comparison(&[1.0])
    };
    let outcome = run(&with);
    for row in &outcome.rows {
        let is_measured = row.mechanism == "identity" || !row.metric.is_of_adversary();
        assert_eq!(row.mean.is_finite(), is_measured, "{} of {}", row.metric, row.mechanism);
    }
    assert_eq!(outcome.rows.len(), 2 * 3);
}

/// Only mechanisms with evidence are named: the best of them, even if another mechanism has a higher mean.
/// The verdict at one budget does not depend on the other budgets.
#[test]
fn the_best_mechanism_with_evidence_is_named_whatever_else_was_tried() {
    let run = |epsilons: &[f64]| {
        let registry = Registry::installed().unwrap();
        let names = ["pair-response", "direct", "piecewise"];
        let candidates = names.map(|name| Candidate::new(*registry.get(name).unwrap())).to_vec();
        let comparison = Comparison {
            epsilons: epsilons.to_vec(),
            metrics: vec![Metric::Accuracy],
            trials: 10,
            ..Comparison::new(DataSet::wine().unwrap(), candidates)
        };
        comparison.run(|_| (), || ()).unwrap()
    };
    let named = |outcome: &Outcome, epsilon: f64| {
        let scores = &outcome.scores()[0];
        let choices = outcome.choices(scores);
        let choice = choices.iter().find(|choice| choice.epsilon == epsilon).unwrap();
        (choice.best.map(|(title, _)| title.to_owned()), choice.highest.0.to_owned())
    };
    let mut alone = run(&[8.0]);
    assert_eq!(named(&alone, 8.0).0.as_deref(), Some("pair-response"));
    assert_eq!(named(&run(&[0.01, 1.0, 8.0]), 8.0), named(&alone, 8.0));
    assert_eq!(named(&run(&[0.01]), 0.01).0, None);
    let other = alone.rows.iter_mut().find(|row| row.mechanism == "piecewise").unwrap();
    other.mean = 0.99;
    other.against.as_mut().unwrap().p_value = 0.02;
    assert_eq!(named(&alone, 8.0), (Some("pair-response".into()), "piecewise".into()));
}

//! `scumble reproduce`: quick variants. Tests without their data report this and pass.

use crate::{Files, data, is_there, refused, succeeded, workspace};
use serde_json::Value;
use std::process::Command;

impl Files {
    fn reproduce(&self, line: &str) -> Command {
        let mut command = self.command(&format!("reproduce {line}"));
        command.env("SCUMBLE_DATA", data());
        command
    }

    #[track_caller]
    fn reproduced(&self, line: &str) -> Value {
        serde_json::from_str(&succeeded(&mut self.reproduce(&format!("{line} --json"))).0).unwrap()
    }
}

/// Removes the time from a report, because it differs between runs.
fn timeless(mut report: Value) -> Value {
    report["seconds"] = Value::Null;
    report
}

#[track_caller]
fn assert_all_reproduced(report: &Value) {
    let findings = report["findings"].as_array().unwrap();
    // Our own method, in place of the paper's, is not a claim of the paper.
    let paper_findings: Vec<&Value> =
        findings.iter().filter(|finding| !finding["what"].as_str().unwrap().ends_with("ours")).collect();
    assert!(!paper_findings.is_empty());
    for finding in paper_findings {
        assert_eq!(finding["verdict"], "reproduced", "seed {}: {finding}", report["seed"]);
    }
}

/// Returns the value of the finding at index `at`.
fn value(report: &Value, at: usize) -> f64 {
    report["findings"][at]["value"].as_f64().unwrap()
}

/// Runs the quick variant, and checks that it reproduces all claims of the paper.
#[track_caller]
fn quickly(name: &str) -> Value {
    let report = quick_variant(name);
    assert_all_reproduced(&report);
    report
}

/// Runs the quick variant.
#[track_caller]
fn quick_variant(name: &str) -> Value {
    let report = Files::new().reproduced(&format!("{name} --quick"));
    assert_eq!((report["name"].as_str(), report["quick"].as_bool()), (Some(name), Some(true)));
    report
}

#[test]
fn without_a_name_it_lists_them() {
    let files = Files::new();
    let text = files.run("reproduce");
    let listed = files.json("reproduce --json");
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|result| result["name"].as_str().unwrap()).collect();
    let expected = [
        "dauntless/adult",
        "dauntless/appendix-a-3",
        "dauntless/figures-2-to-7",
        "dauntless/section-4",
        "dauntless/table-1",
        "dauntless/table-2",
        "dauntless/table-3",
        "dauntless/theorem-5",
        "dauntless/transfer",
        "fisher-svm/distance",
        "fisher-svm/figure-3",
        "fisher-svm/figure-4",
        "fisher-svm/figure-5",
        "fisher-svm/figure-6",
        "fisher-svm/figure-7",
        "fisher-svm/figures-1-and-2",
        "fisher-svm/full-weights",
        "fisher-svm/guesses",
        "fisher-svm/kernel-machines",
        "fisher-svm/linear-models",
        "fisher-svm/wdbc",
        "pac-privacy/k-means",
        "pac-privacy/linear-machine",
        "pac-privacy/mean",
        "reshaping/digits",
        "reshaping/household",
        "task-aware/figure-1",
        "task-aware/figure-3",
        "task-aware/figure-4",
        "task-aware/figure-5-valuation",
        "task-aware/figure-5-wdbc",
        "task-aware/figure-6",
        "task-aware/figure-7",
        "task-aware/figure-8",
        "task-aware/gaussian-latents",
        "task-aware/priv-unit-latents",
        "task-aware/two-tasks",
        "vlm/beyond-mnist",
        "vlm/convolution",
        "vlm/denoising",
        "vlm/drift",
        "vlm/figure-1-lending-club",
        "vlm/figure-1-mnist",
        "vlm/figure-2",
        "vlm/figure-3",
        "vlm/figure-4",
        "vlm/figure-7",
        "vlm/gaussian-latents",
        "vlm/priv-unit-latents",
        "vlm/table-4",
    ];
    assert_eq!(names, expected);
    assert!(names.iter().all(|name| text.contains(name)), "{text}");
}

#[test]
fn the_bounds_of_figure_3_are_the_printed_ones() {
    let report = quickly("fisher-svm/figure-3");
    // The bounds are 2/√λ; the lattice lowers them by less than a share of 10⁻⁹.
    for (at, printed) in [200.0, 20.0, 2.0].into_iter().enumerate() {
        assert!((value(&report, at) / printed - 1.0).abs() < 1e-9, "{report}");
    }
    assert_eq!(report["picture"]["panels"].as_array().unwrap().len(), 3);
}

#[test]
fn the_line_of_figure_4_stays_where_it_is() {
    let report = quickly("fisher-svm/figure-4");
    assert!(value(&report, 0) < 1e-6);
    let why = report["findings"][1]["why"].as_str().unwrap();
    assert!(why.starts_with("it depends on the draw"), "{why}");
}

#[test]
fn correlated_noise_on_tumours_has_an_error_of_28_41_m() {
    if !is_there("wdbc") {
        return;
    }
    let report = quickly("fisher-svm/wdbc");
    // Expected value from an external interior point solver, to a tolerance of 10⁻¹².
    assert!((value(&report, 0) - 28.412720034188304).abs() < 1e-6, "{}", report["findings"][0]);
    assert!(value(&report, 1) < 1e-6, "{}", report["findings"][1]);
}

/// Runs ten trials each. Without a true gain, the gain of ten trials at one λ is below −3 standard errors
/// with probability 0.7 % (Student's t).
#[test]
fn gaussian_noise_is_as_good_as_laplace_noise_of_the_same_bound() {
    for (folder, figure) in [("wdbc", 5), ("adult", 6), ("lending_club", 7)] {
        if is_there(folder) {
            let report = quickly(&format!("fisher-svm/figure-{figure}"));
            assert_eq!(report["trials"], 10);
        }
    }
}

#[test]
fn how_far_models_move_is_bounded_as_the_propositions_say() {
    if !(is_there("wdbc") && is_there("lending_club")) {
        return;
    }
    let report = quickly("fisher-svm/distance");
    // Machines and regressions, bounded by Tr V; the noise is small here.
    assert_eq!(report["grids"].as_array().unwrap().len(), 3);
    for at in [0, 1, 2] {
        assert!((value(&report, at) - 0.5).abs() < 0.1, "seed 1: {}", report["findings"][at]);
    }
}

/// Returns the height of a curve of the report's picture at `x`.
#[track_caller]
fn height(report: &Value, panel: usize, layer: usize, x: f64) -> f64 {
    let points = report["picture"]["panels"][panel]["layers"][layer]["curve"].as_array().unwrap();
    let point = points.iter().find(|point| (point["x"].as_f64().unwrap() / x - 1.0).abs() < 1e-12).unwrap();
    point["y"].as_f64().unwrap()
}

/// Compares with an independent implementation (numpy): ε for r = 1, then the losses of the task-aware, the
/// task-agnostic and the privacy-agnostic approach.
#[test]
fn the_curves_of_theory_are_those_of_an_independent_implementation() {
    let report = quickly("task-aware/figure-3");
    let settings = [
        [
            [1.0, 3.5555555555555554, 3.878787878787879, 3.764705882352941],
            [2.0, 2.6666666666666665, 3.5555555555555554, 3.2],
            [4.0, 1.3333333333333333, 2.6666666666666665, 2.0],
            [8.0, 0.4444444444444444, 1.3333333333333333, 0.8],
            [16.0, 0.12121212121212122, 0.4444444444444444, 0.23529411764705882],
            [100.0, 0.00319744204636291, 0.012759170653907496, 0.006389776357827476],
        ],
        [
            [1.0, 6.555555555555555, 6.787878787878788, 6.705882352941177],
            [2.0, 5.666666666666666, 6.222222222222221, 6.0],
            [4.0, 4.166666666666666, 4.666666666666666, 4.5],
            [8.0, 2.083333333333333, 2.333333333333333, 3.0],
            [16.0, 0.6944444444444444, 0.7777777777777777, 2.2941176470588234],
            [100.0, 0.019936204146730464, 0.022328548644338118, 2.0079872204472844],
        ],
    ];
    for (setting, rows) in settings.iter().enumerate() {
        for [epsilon, losses @ ..] in *rows {
            for (approach, loss) in losses.iter().enumerate() {
                let ours = height(&report, setting, approach, 1.0 / epsilon);
                assert!(
                    (ours / loss - 1.0).abs() < 1e-9,
                    "setting {setting}, ε = {epsilon}: {ours} and not {loss}"
                );
            }
        }
    }
}

/// Compares with an independent implementation (numpy): ε, then the losses of the three approaches on the
/// training days.
#[test]
fn a_households_losses_are_those_of_an_independent_implementation_and_ours_are_less() {
    if !is_there("household") {
        return;
    }
    let report = quick_variant("task-aware/figure-4");
    let expected = [
        [5.0, 0.9581619868983665, 1.0709470230740603, 1.029535782912148],
        [10.0, 0.8084130049291076, 1.0503551014320096, 0.9163571977632652],
    ];
    for [epsilon, losses @ ..] in expected {
        for (approach, loss) in losses.iter().enumerate() {
            let ours = height(&report, 0, approach, epsilon);
            assert!((ours - loss).abs() < 1e-6, "ε = {epsilon}: {ours} and not {loss}");
        }
    }
    // Loss on the test days, which the task-agnostic approach does not change.
    assert!((height(&report, 2, 1, 10.0) - 0.8007610246958198).abs() < 1e-6);
    assert!(
        (value(&report, 0) - 0.2303).abs() < 1e-3 && (value(&report, 1) - 0.1178).abs() < 1e-3,
        "{report}"
    );
    assert_eq!(value(&report, 2), 12.0);
    for (at, most) in [1.046, 0.911, 0.818, 0.716, 0.402].into_iter().enumerate() {
        let finding = &report["findings"][3 + at];
        assert!(value(&report, 3 + at) <= most, "{finding}");
        assert_eq!(finding["verdict"], "better", "{finding}");
    }
    // L(r_max) over the largest possible L(r_min) of Theorem 1, at ε = 10.
    assert!((value(&report, 8) - 3.98).abs() < 0.01, "{report}");
    assert_eq!(report["findings"][8]["verdict"], "reproduced");
}

/// Tests the paper's budget, with networks that are trained for a shorter time than in the full variant.
#[test]
fn designs_that_are_trained_through_noise_lose_less_than_the_papers() {
    for (folder, figure, at) in [("valuation", "valuation", 4), ("wdbc", "wdbc", 6)] {
        if is_there(folder) {
            let report = quick_variant(&format!("task-aware/figure-5-{figure}"));
            assert_eq!(report["trials"], 10);
            // Our own designs, on training records and on test records.
            for finding in &report["findings"].as_array().unwrap()[at..at + 2] {
                assert!(finding["what"].as_str().unwrap().contains("(ours)"), "{finding}");
                assert_eq!(finding["verdict"], "better", "seed {}: {finding}", report["seed"]);
            }
        }
    }
}

/// Checks only that each result has a finding and a chart of finite numbers. Results of seconds say little
/// about the paper.
#[test]
fn figures_6_to_8_of_task_aware_privacy_run() {
    for (folders, figure) in [(&["valuation", "wdbc"][..], 6), (&["valuation"], 7), (&["mnist"], 8)] {
        if folders.iter().all(|folder| is_there(folder)) {
            let report = quick_variant(&format!("task-aware/figure-{figure}"));
            assert!(!report["findings"].as_array().unwrap().is_empty());
            for panel in report["picture"]["panels"].as_array().unwrap() {
                for layer in panel["layers"].as_array().unwrap() {
                    for point in layer["curve"].as_array().unwrap() {
                        assert!(point["y"].as_f64().unwrap() > 0.0, "{layer}");
                    }
                }
            }
        }
    }
}

/// Compares a public model applied before the noise with noise reshaped for the model. The first has the
/// smaller error at every budget, and both have a smaller error than plain noise.
#[test]
fn noise_that_is_reshaped_for_a_task_errs_more_than_the_task_itself_released() {
    if !is_there("household") {
        return;
    }
    let report = quick_variant("reshaping/household");
    let verdicts = (0..3).map(|at| report["findings"][at]["verdict"].as_str().unwrap().to_owned());
    assert!(verdicts.eq(["reproduced", "reproduced", "better"]), "{report}");
    assert!((0..3).all(|at| value(&report, at) > 0.0), "{report}");
}

/// Checks that the published code uses the variance as a standard deviation. With its printed numbers the
/// release leaks more than claimed, and with their square roots no more.
#[test]
fn noise_of_pac_private_algorithms_tells_what_is_claimed_and_not_what_their_code_draws() {
    for (name, numbers) in [("pac-privacy/k-means", 1), ("pac-privacy/linear-machine", 2)] {
        let report = Files::new().reproduced(&format!("{name} --quick --trials 2"));
        let (theorem, code) = (value(&report, numbers), value(&report, numbers + 1));
        assert!((0.3..=0.5).contains(&theorem), "{name}: {theorem}");
        assert!(code > 3.0, "{name}: {code}");
    }
}

#[test]
fn a_seed_repeats_a_result_on_any_number_of_threads() {
    let files = Files::new();
    let run = |threads: &str, seed: u64| {
        let mut command =
            files.reproduce(&format!("fisher-svm/figure-3 --quick --trials 3 --seed {seed} --json"));
        let output = command.env("RAYON_NUM_THREADS", threads).output().unwrap();
        timeless(serde_json::from_slice(&output.stdout).unwrap())
    };
    assert_eq!(run("1", 7), run("4", 7));
    assert_ne!(run("1", 7)["grids"], run("1", 8)["grids"]);
    assert_eq!(run("1", 7)["trials"], 3);
}

#[test]
fn numbers_and_chart_are_written_once() {
    let files = Files::new();
    let line = "fisher-svm/figure-3 --quick --trials 2 --output out/deep";
    let text = files.run(&format!("reproduce {line}"));
    for expected in ["paper    ≥ 200\n", "ours     ≥ 200.0\n", "verdict  reproduced\n", "seed 1", "2 trials"]
    {
        assert!(text.contains(expected), "{expected:?} is missing:\n{text}");
    }
    let report: Value = serde_json::from_str(&files.read("out/deep/fisher-svm/figure-3.json")).unwrap();
    assert_eq!((report["name"].as_str(), report["seed"].as_u64()), (Some("fisher-svm/figure-3"), Some(1)));
    let svg = files.read("out/deep/fisher-svm/figure-3.svg");
    assert!(svg.starts_with("<svg ") && svg.contains("prefers-color-scheme: dark"), "{svg}");
    let refused = files.refuses(&format!("reproduce {line}"));
    assert_eq!(refused, "out/deep/fisher-svm/figure-3.json already exists; --force replaces it");
    assert_eq!(files.read("out/deep/fisher-svm/figure-3.svg"), svg);
    files.run(&format!("reproduce {line} --force --seed 2"));
    assert_ne!(files.read("out/deep/fisher-svm/figure-3.svg"), svg);
    let names = |folder: &str| std::fs::read_dir(files.path(folder)).unwrap().count();
    assert_eq!((names("out/deep"), names("out/deep/fisher-svm")), (1, 2), "nothing else is left");
}

#[test]
fn a_document_has_the_claims_and_the_command_that_made_it() {
    let files = Files::new();
    let line = "reproduce fisher-svm/figure-3 --quick --markdown found.md";
    files.run(line);
    let document = files.read("found.md");
    assert!(document.contains(&format!("$ scumble {line}\n")), "{document}");
    assert!(
        document.contains("### fisher-svm/figure-3") && document.contains("| reproduced |"),
        "{document}"
    );
    assert_eq!(files.refuses(line), "found.md already exists; --force replaces it");
    files.run(&format!("{line} --force"));
    assert_eq!(files.read("found.md"), document.replace("found.md\n", "found.md --force\n"));
    assert!(files.refuses("reproduce fisher-svm/figure-3 --markdown no/found.md").contains("no/found.md"));
}

#[test]
fn a_document_is_made_of_reports_that_are_kept() {
    let files = Files::new();
    let line = "reproduce --from kept --markdown found.md";
    let refused = files.refuses(line);
    assert!(refused.starts_with("kept/dauntless/adult.json: "), "{refused}");
    assert!(refused.ends_with("run scumble reproduce dauntless/adult --output kept to make it"), "{refused}");
    let kept = workspace().join("papers/results");
    std::os::unix::fs::symlink(kept, files.path("kept")).unwrap();
    files.run(line);
    let document = files.read("found.md");
    assert!(document.contains(&format!("$ scumble {line}\n")), "{document}");
    assert!(document.contains("](kept/fisher-svm/figure-3.svg)"), "{document}");
    for refused in ["--all", "--quick", "--output out", "fisher-svm/figure-3"] {
        files.refuses(&format!("reproduce --from kept --markdown other.md {refused}"));
    }
    files.refuses("reproduce --from kept");
}

#[test]
fn what_is_wrong_is_one_line_and_writes_nothing() {
    let files = Files::new();
    assert!(files.refuses("reproduce fisher-svm/figure-2").contains("did you mean \"fisher-svm/figure-"));
    let once = files.refuses("reproduce fisher-svm/figure-3 --trials 1");
    assert_eq!(once, "a result needs between 2 and 100000 trials, not 1");
    for (paper, names) in [
        ("fisher-svm", "wdbc figure-5 figure-6 figure-7 distance guesses"),
        ("task-aware", "figure-4 figure-5-valuation figure-5-wdbc figure-6 figure-7 figure-8"),
        ("vlm", "figure-1-lending-club figure-1-mnist figure-2 figure-3 figure-4 figure-7"),
        ("dauntless", "adult figures-2-to-7 section-4 table-1 table-2 table-3 theorem-5"),
    ] {
        for name in names.split(' ') {
            let mut command = files.command(&format!("reproduce {paper}/{name} --quick --output out"));
            let refused = refused(command.env("SCUMBLE_DATA", "nowhere"));
            assert!(refused.starts_with("nowhere/") && refused.contains("SCUMBLE_DATA"), "{refused}");
        }
    }
    files.write("plain", "");
    files.refuses("reproduce fisher-svm/figure-3 --quick --output plain");
    files.refuses("reproduce fisher-svm/figure-3 --all");
    files.refuses("reproduce fisher-svm/figure-3 --force");
    assert_eq!(files.all(), ["plain", "schema.toml"]);
}

//! `scumble account`.

use crate::{Files, json, number, refusal, run};
use approx::{assert_abs_diff_eq, assert_relative_eq};
use statrs::distribution::ContinuousCDF;

const SETTINGS: [(&str, &str); 4] =
    [("--sampling-rate", "0.01"), ("--noise-multiplier", "1"), ("--steps", "1000"), ("--delta", "1e-5")];

/// Returns a command line for a training run with all settings except `left_out`, and with `more` appended.
fn without(left_out: &str, more: &str) -> String {
    let kept = SETTINGS.iter().filter(|(name, _)| *name != left_out);
    let kept: String = kept.map(|(name, value)| format!(" {name} {value}")).collect();
    format!("account dp-sgd{kept} --json {more}")
}

#[test]
fn a_gaussian_mechanism_is_solved_for_whichever_of_four_is_missing() {
    let all =
        [("--epsilon", 1.0), ("--delta", 1e-9), ("--sensitivity", 2.0), ("--sigma", 2.0 * 5.495266157238276)];
    for (missing, expected) in all {
        let given = all.iter().filter(|(name, _)| *name != missing);
        let given: String = given.map(|(name, value)| format!(" {name} {value}")).collect();
        let answer = json(&format!("account gaussian --json{given}"));
        assert_relative_eq!(number(&answer[missing.trim_start_matches("--")]), expected, max_relative = 1e-8);
    }
}

#[test]
fn a_training_has_an_epsilon_three_ways_and_names_its_neighbours() {
    for (more, neighbours, by_pld) in
        [("", "add-remove", 1.8282436455855091), ("--neighbours replace", "replace", 2.8434458118173023)]
    {
        let answer = json(&without("", more));
        assert_eq!(answer["neighbours"], neighbours);
        assert_abs_diff_eq!(number(&answer["epsilon_pld"]) / by_pld, 1.0, epsilon = 0.01);
        assert_abs_diff_eq!(number(&answer["epsilon_pld_lower"]) / by_pld, 1.0, epsilon = 0.01);
        assert!(number(&answer["epsilon_pld_lower"]) <= number(&answer["epsilon_pld"]), "{answer}");
        assert!(number(&answer["epsilon_pld"]) <= number(&answer["epsilon_rdp"]), "{answer}");
    }
    assert_relative_eq!(
        number(&json(&without("", ""))["epsilon_rdp"]),
        2.101366525420273,
        max_relative = 1e-3
    );
}

#[test]
fn an_epsilon_in_place_of_a_setting_solves_for_it() {
    for (missing, value) in SETTINGS {
        let epsilon = json(&without("", ""))["epsilon_pld"].to_string();
        let answer = json(&without(missing, &format!("--epsilon {epsilon}")));
        assert_abs_diff_eq!(
            number(&answer[missing.trim_start_matches("--").replace('-', "_")])
                / value.parse::<f64>().unwrap(),
            1.0,
            epsilon = 2e-3
        );
        assert!(answer["epsilon_pld"].as_f64().unwrap() <= epsilon.parse().unwrap(), "{answer}");
    }
}

#[test]
fn for_people_an_epsilon_is_never_rounded_down() {
    let text = run(&without("", "").replace("--json", ""));
    let exact = json(&without("", ""))["epsilon_pld"].as_f64().unwrap();
    let line = text.lines().find(|line| line.contains("privacy loss")).unwrap();
    let shown: f64 = line.split_whitespace().nth(2).unwrap().parse().unwrap();
    assert!((exact..exact + 1e-4).contains(&shown), "{line}");
    assert!(text.contains("(neighbouring relation: add/remove one record)"), "{text}");
}

#[test]
fn a_training_names_its_sampling_and_fixed_size_batches_cost_more() {
    let words = |more: &str| run(&without("", more).replace("--json", ""));
    assert!(words("").contains("noise multiplier 1 (Poisson sampling)\n"), "{}", words(""));
    let fixed_size = words("--sampling fixed-size --neighbours replace");
    assert!(
        fixed_size.contains("noise multiplier 1 (fixed-size batches, sampled without replacement)\n"),
        "{fixed_size}"
    );
    // Both values are from a separate program.
    let answer = json(&without("", "--sampling fixed-size --neighbours replace"));
    assert_eq!(answer["sampling"], "fixed-size");
    assert_relative_eq!(number(&answer["epsilon_pld"]), 14.8204, max_relative = 1e-3);
    assert_relative_eq!(number(&answer["epsilon_pld_lower"]), 13.3605, max_relative = 2e-3);
    let solved =
        json(&without("--noise-multiplier", "--sampling fixed-size --neighbours replace --epsilon 2"));
    assert!(number(&solved["noise_multiplier"]) > 2.0, "{solved}");
    assert!((1.99..=2.0).contains(&number(&solved["epsilon_pld"])), "{solved}");
    assert_eq!(json(&without("", ""))["sampling"], "poisson");
}

const COMPOSE: &str = "account compose --delta 1e-6";

#[test]
fn unlike_mechanisms_have_an_epsilon_together() {
    let answer = |line: &str| json(&format!("{line} --json"));
    let parts = "gaussian:noise_multiplier=2,count=10 laplace:epsilon=0.1,count=3 \
                 randomised-response:epsilon=0.5 dp-sgd:noise_multiplier=1,sampling_rate=0.01,count=1000";
    let all = answer(&format!("{COMPOSE} {parts}"));
    let [lower, upper] = ["epsilon_lower", "epsilon"].map(|name| number(&all[name]));
    // The value is from a separate program.
    assert!(lower < 9.0551 && 9.0551 < upper && upper - lower < 0.01, "{all}");
    assert_eq!(all["parts"][2], "randomised-response:epsilon=0.5");
    assert_eq!(all["neighbours"], "add-remove");
    // ε solves for δ again.
    let back = answer(&format!("account compose --epsilon {upper} {parts}"));
    assert_relative_eq!(number(&back["delta"]), 1e-6, max_relative = 0.02);
    assert!(number(&back["delta_lower"]) <= number(&back["delta"]), "{back}");

    // A training alone is what `dp-sgd` prints, for either sampling.
    for sampling in ["poisson", "fixed-size"] {
        let alone = answer(&format!(
            "account compose --delta 1e-5 --neighbours replace \
             dp-sgd:noise_multiplier=1,sampling_rate=0.01,sampling={sampling},count=1000"
        ));
        let training = json(&without("", &format!("--sampling {sampling} --neighbours replace")));
        assert_eq!(alone["epsilon"], training["epsilon_pld"]);
        assert_eq!(alone["epsilon_lower"], training["epsilon_pld_lower"]);
    }
    // k releases of Gaussian noise are one of multiplier σ/√k, which (ε, δ) gives too.
    let epsilon = json("account gaussian --sigma 4 --sensitivity 1 --delta 1e-6 --json")["epsilon"].clone();
    for part in ["gaussian:noise_multiplier=12,count=9", &format!("gaussian:epsilon={epsilon},delta=1e-6")] {
        let found = answer(&format!("{COMPOSE} {part}"));
        assert_relative_eq!(number(&found["epsilon"]), number(&epsilon), max_relative = 3e-3);
        assert!(number(&found["epsilon_lower"]) <= number(&epsilon), "{found}");
    }
    // At δ = 0, pure parts add.
    let pure = "account compose --delta 0 laplace:epsilon=0.1,count=3 dp:epsilon=0.25 \
                randomised-response:epsilon=0.5,levels=8";
    assert_relative_eq!(number(&answer(pure)["epsilon"]), 1.05, max_relative = 1e-12);

    // The largest loss of Laplace noise is its ε.
    let text = run("account compose --epsilon 0.5 laplace:epsilon=0.5");
    assert!(
        text.contains(" delta = 0  by privacy loss distributions; no proof can give less than 0"),
        "{text}"
    );

    let text = run(&format!("{COMPOSE} {parts}"));
    for expected in [
        "   10  Gaussian noise: noise multiplier 2\n",
        " 1000  DP-SGD step: Poisson sampling, sampling rate 0.01, noise multiplier 1\n",
        "are (epsilon, 1e-6)-differentially private (neighbouring relation: add/remove one record) with",
        "by privacy loss distributions; no proof can give less than 9.05",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn an_accuracy_has_two_ceilings() {
    const LINE: &str = "account laplace-accuracy --classes 10 --epsilon";
    let ceilings = |epsilon: &str| json(&format!("{LINE} {epsilon} --json"));
    assert_relative_eq!(number(&ceilings("2")["bound"]), 0.26249600355620123, max_relative = 1e-10);
    assert_relative_eq!(number(&ceilings("2")["ldp_bound"]), 0.4508530603792838, max_relative = 1e-10);
    for (epsilon, both) in [("0", 0.1), ("inf", 1.0)] {
        assert_relative_eq!(number(&ceilings(epsilon)["bound"]), both, max_relative = 1e-10);
        assert_relative_eq!(number(&ceilings(epsilon)["ldp_bound"]), both, max_relative = 1e-10);
    }
    let text = run(&format!("{LINE} 2"));
    assert!(
        text.contains("\n 0.2625  with Laplace") && text.contains("\n 0.4509  with any mechanism"),
        "{text}"
    );
}

#[test]
fn nats_say_what_no_inference_does_better_than_and_the_noise_that_keeps_to_them() {
    let answer = |more: &str| json(&format!("account mutual-information --json {more}"));
    // Expected value from scipy's brentq on the divergence of two Bernoulli distributions.
    assert_relative_eq!(
        number(&answer("--nats 0.0078125")["posterior_success"]),
        0.5624184814618641,
        max_relative = 1e-12
    );
    // The nats of a success give the success again.
    let back = answer("--success 0.5624184814618641");
    assert_relative_eq!(number(&back["nats"]), 0.0078125, max_relative = 1e-9);
    // One direction has the closed form variance/(e^(2 nats) - 1); a direction without variance needs no
    // noise.
    let noise = answer("--nats 0.5 --variance 4,0");
    assert_relative_eq!(number(&noise["noise_variance"][0]), 4.0 / f64::exp_m1(1.0), max_relative = 1e-12);
    assert_eq!(number(&noise["noise_variance"][1]), 0.0);
    let text = run("account mutual-information --nats 0.0078125");
    assert!(
        text.contains("with probability 0.5625 at most") && text.contains("not differential privacy"),
        "{text}"
    );
}

const PAC: &str = "account pac --delta 0.1 --dim 784 --beta 50 --public-variance 1 --private-variance 1 \
                   --theorem corollary-1 --error";

#[test]
fn samples_that_may_leave_are_counted_twice_and_a_vacuous_count_is_said_in_words() {
    let line = |error: &str| format!("{PAC} {error} --output-bits 6272");
    let answer = json(&format!("{} --json", line("0.001")));
    assert_relative_eq!(number(&answer["budget"]), 99.35384427347536, max_relative = 1e-5);
    assert_relative_eq!(number(&answer["budget_as_printed"]), 259.188327410674, max_relative = 1e-5);
    assert_relative_eq!(number(&answer["packing_width"]), 7.129382046124052, max_relative = 1e-5);
    assert_relative_eq!(number(&answer["norm_bound"]), 6162.807109744633, max_relative = 1e-5);
    assert_eq!(answer["vacuous"], false);

    let answer = json(&format!("{} --json", line("0.1")));
    assert_eq!((&answer["budget"], &answer["vacuous"]), (&0.0.into(), &true.into()));
    let words = run(&line("0.1"));
    assert!(words.contains("does not allow a single sample") && words.contains("vacuous"), "{words}");
    let words = run(&line("0.001"));
    assert!(words.contains("at most 99 samples") && words.contains("259"), "{words}");
    assert!(words.contains("Success with a smaller probability is not excluded"), "{words}");
    assert_eq!(words.lines().count(), 3, "{words}");
}

#[test]
fn the_transformation_has_a_budget_of_its_own() {
    let answer = json(
        "account pac --theorem theorem-3 --error 0.1 --delta 0.1 --dim 16 --out-dim 16 --beta 1 \
         --public-variance 1 --private-variance 1 --json",
    );
    assert_abs_diff_eq!(number(&answer["budget"]) / 17.09523994717836, 1.0, epsilon = 0.01);
    assert_abs_diff_eq!(number(&answer["budget_as_printed"]) / 40.22032413459087, 1.0, epsilon = 0.01);
    assert!(answer["norm_bound"].is_null(), "{answer}");
}

const MULTIPLICATIVE: &str = "account multiplicative-dp --sensitivity 1 --records 20000 --out-dim 784";

#[test]
fn a_random_factor_has_an_epsilon_for_v_and_a_v_for_an_epsilon() {
    let with = |more: &str| json(&format!("{MULTIPLICATIVE} {more} --json"));
    let deltas = "--v 1e4 --delta-0 1e-9 --delta-r 1e-9 --delta-t 1e-6";
    let given = with(deltas);
    assert_relative_eq!(number(&given["epsilon"]), 0.8507480921108777, max_relative = 1e-6);
    assert_relative_eq!(number(&given["delta"]), 2.568e-6, max_relative = 1e-9);
    // Splitting the same δ in the best way gives a smaller ε.
    let best = with("--v 1e4 --delta 2.568e-6");
    assert!(best["epsilon"].as_f64().unwrap() < 0.8507, "{best}");
    let solved = with(&format!("--epsilon {} --delta 2.568e-6", best["epsilon"]));
    assert_relative_eq!(number(&solved["v"]), 1e4, max_relative = 1e-6);
    let text = run(&format!("{MULTIPLICATIVE} {deltas}"));
    assert!(
        text.contains("(0.8508, 2.568e-6)-differentially private") && text.contains("replace one record"),
        "{text}"
    );
}

const SHUFFLE: &str = "account shuffle --epsilon-local 2 --people 32561 --delta 1e-6";

/// Compares the output with the library's bounds and the given settings.
#[test]
fn what_a_shuffler_mixes_has_a_central_epsilon() {
    let found = json(&format!("{SHUFFLE} --json"));
    let asked = ["epsilon_local", "people", "delta"].map(|name| number(&found[name]));
    assert_eq!(
        (asked, &found["levels"], &found["neighbours"]),
        ([2.0, 32_561.0, 1e-6], &serde_json::Value::Null, &"replace".into())
    );
    assert!((number(&found["epsilon"]) - 0.06071).abs() < 1e-5, "{found}");
    assert!(number(&found["epsilon_lower"]) < number(&found["epsilon"]), "{found}");
    let ten_levels = json(&format!("{SHUFFLE} --levels 10 --json"));
    assert!(number(&ten_levels["epsilon"]) < 0.0424 && ten_levels["levels"] == 10, "{ten_levels}");

    let text = run(SHUFFLE);
    for expected in [
        "32561 or more reports, one per person, by any single mechanism of local epsilon = 2,",
        "a trusted shuffler",
        "(epsilon, 1e-6)-differentially private (neighbouring relation: replace one record)",
        "epsilon = 0.06072  by the privacy blanket; no proof can give less than 0.05714",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

/// The reports of a design have the bound of its mechanism, which the card states too.
#[test]
fn a_design_has_its_own_bound_through_a_shuffler() {
    let files = Files::new();
    let design = |name: &str| {
        files.json(&format!(
            "design {name} --json --data wine --target quality --epsilon 2 --shuffled 32561 --shuffled-delta \
             1e-6 --output design.json --force"
        ))
    };
    let account = "account shuffle --design design.json --people 32561 --delta 1e-6";
    let card = design("pair-response --set bins=5");
    let found = files.json(&format!("{account} --json"));
    let any = number(&json(&format!("{SHUFFLE} --json"))["epsilon"]);
    let epsilon = number(&found["epsilon"]);
    assert!(epsilon < 0.8 * any && found["epsilon_lower"] == 0.0, "{found}");
    assert!(number(&found["levels"]) > 4.0, "{found}");
    let claims = card["guarantee"]["claims"].as_array().unwrap();
    assert!(claims.iter().any(|claim| claim["epsilon"] == epsilon), "{epsilon}: {card}");
    assert!(files.run(account).contains("by pair-response of local epsilon = 2"));
    design("direct");
    assert_eq!(number(&files.json(&format!("{account} --json"))["epsilon"]), any);
    let both = files.refuses(&format!("{account} --epsilon-local 1"));
    assert!(both.contains("cannot be used with"), "{both}");
    let none = files.refuses("account shuffle --people 9 --delta 1e-6");
    assert!(none.contains("--epsilon-local"), "{none}");
}

/// Rates of false positives and false negatives of the curve `at` in the JSON.
pub(crate) fn curve(found: &serde_json::Value, at: usize) -> Vec<(f64, f64)> {
    let points = found["trade_off"][at]["points"].as_array().unwrap().iter();
    points.map(|point| (number(&point[0]), number(&point[1]))).collect()
}

/// The curves are those of the closed forms.
#[test]
fn trade_off_functions_are_drawn_and_printed() {
    let files = Files::new();
    let gaussian = "account gaussian --epsilon 1 --delta 1e-5 --sensitivity 1";
    assert!(files.json(&format!("{gaussian} --json")).get("trade_off").is_none());
    let found = files.json(&format!("{gaussian} --curve curve.svg --json"));
    let mu = 1.0 / number(&found["sigma"]);
    let normal = statrs::distribution::Normal::standard();
    for (alpha, beta) in curve(&found, 0) {
        let closed = normal.cdf(-normal.inverse_cdf(alpha) - mu);
        assert!((beta - closed).abs() < 1e-9, "{alpha}: {beta} {closed}");
    }
    let drawn = files.read("curve.svg");
    assert!(
        drawn.starts_with("<svg") && drawn.contains("polyline") && drawn.contains("μ = 0.268"),
        "{drawn}"
    );
    let kept = files.refuses(&format!("{gaussian} --curve curve.svg"));
    assert!(kept.contains("curve.svg already exists"), "{kept}");
    // Ten Gaussian mechanisms are one, up to the grid of the composition and of ε.
    let ten = "account compose --delta 1e-5 gaussian:noise_multiplier=10,count=10 --curve curve.svg --force";
    for (alpha, beta) in curve(&files.json(&format!("{ten} --json")), 0) {
        let closed = normal.cdf(-normal.inverse_cdf(alpha) - 0.1f64.sqrt());
        assert!(beta <= closed + 1e-9 && beta >= closed - 0.01, "{alpha}: {beta} {closed}");
    }
    let shuffled = files.json(&format!("{SHUFFLE} --curve curve.svg --force --json"));
    let (epsilon, delta) = (number(&shuffled["epsilon"]), number(&shuffled["delta"]));
    let one_report = curve(&shuffled, 1).into_iter().map(|(_, beta)| beta);
    for ((alpha, beta), one_report) in curve(&shuffled, 0).into_iter().zip(one_report) {
        // At least the line of its own point, and at least that of one report.
        let own = (1.0 - delta - epsilon.exp() * alpha).max((-epsilon).exp() * (1.0 - delta - alpha));
        assert!(beta >= own - 1e-3 && beta >= one_report - 1e-12 && beta <= 1.0 - alpha + 1e-12, "{alpha}");
    }
}

#[test]
fn what_cannot_be_accounted_for_is_one_line() {
    for (line, expected) in [
        (&without("--delta", "")[..], "give --sampling-rate"),
        (&without("", "--epsilon 1"), "give --sampling-rate"),
        (&without("--delta", "--delta 2"), "delta is 2, and must be strictly between zero and one"),
        (&without("--sampling-rate", "--sampling-rate -1"), "the sampling rate is -1"),
        (&without("--sampling-rate", "--sampling-rate 1e-320"), "at least 1e-12 and at most one"),
        (&without("--steps", "--epsilon 1e400"), "write inf for infinity"),
        (&without("--steps", "--steps 0"), "the number of steps is 0"),
        (&without("--noise-multiplier", "--noise-multiplier nan"), "the noise multiplier is NaN"),
        (&without("--steps", "--epsilon 1e-9"), "no number of steps"),
        (&without("--steps", "--epsilon -1"), "epsilon is -1"),
        (
            &without("", "--sampling fixed-size"),
            "--sampling fixed-size: fixed-size batches need --neighbours replace",
        ),
        ("account laplace --epsilon 1", "scumble account compose --delta 0 laplace:epsilon=E"),
        ("account compose --delta 1e-6", "<PART>"),
        ("account compose laplace:epsilon=1", "--delta <D>"),
        (&format!("{COMPOSE} laplac:epsilon=1"), "'laplac:epsilon=1' for '<PART>...': the mechanism"),
        (&format!("{COMPOSE} laplace"), "'laplace' for '<PART>...': epsilon is missing"),
        (&format!("{COMPOSE} laplace:epsilon"), "\"epsilon\": KEY=VALUE is needed"),
        (&format!("{COMPOSE} laplace:scale=1"), "the key \"scale\" is unknown; choose from epsilon, count"),
        (&format!("{COMPOSE} laplace:epsilon=1,epsilon=2"), "epsilon is given twice"),
        (&format!("{COMPOSE} laplace:epsilon=-1"), "epsilon is -1, and must be zero or more"),
        (&format!("{COMPOSE} laplace:epsilon=1,count=x"), "count is \"x\", and must be a whole number"),
        (&format!("{COMPOSE} gaussian:epsilon=1"), "give noise_multiplier, or epsilon and delta"),
        (&format!("{COMPOSE} dp:epsilon=1,delta=1"), "delta is 1, and must be strictly between"),
        (
            &format!("{COMPOSE} dp-sgd:noise_multiplier=1,sampling_rate=0.1,sampling=shuffled"),
            "sampling is \"shuffled\", and must be poisson or fixed-size",
        ),
        (
            &format!("{COMPOSE} dp-sgd:noise_multiplier=1,sampling_rate=0.1,sampling=fixed-size"),
            "dp-sgd:noise_multiplier=1,sampling_rate=0.1,sampling=fixed-size: fixed-size batches need",
        ),
        (&format!("{COMPOSE} dp:epsilon=1,delta=1e-5"), "the parts alone use up this delta"),
        (
            "account compose --delta 0 laplace:epsilon=1 gaussian:noise_multiplier=1",
            "gaussian:noise_multiplier=1: this part has no epsilon at --delta 0",
        ),
        ("account gaussian --epsilon 1", "three of"),
        ("account gaussian --epsilon 1 --delta 1e-5 --sensitivity -2", "positive"),
        ("account gaussian --epsilon inf --sigma 1 --sensitivity 2", "finite"),
        ("account", "missing subcommand; see --help"),
        ("account mutual-information", "--nats <B>"),
        ("account mutual-information --nats -1", "mutual information is -1"),
        ("account mutual-information --nats 0 --variance 1", "mutual information is 0"),
        ("account mutual-information --nats 1 --variance 1,-2", "variance is -2"),
        ("account mutual-information --nats 1 --prior-success 1", "prior success is 1"),
        (
            "account mutual-information --success 0.4",
            "--success 0.4: the value must be above --prior-success 0.5",
        ),
        ("account mutual-information --success 1.5", "success is 1.5"),
        ("account laplace-accuracy --classes 10", "--epsilon <E>"),
        ("account laplace-accuracy --classes 7 --epsilon 1", "7, and must be even"),
        ("account laplace-accuracy --classes 0 --epsilon 1", "0, and must be even"),
        ("account laplace-accuracy --classes -2 --epsilon 1", "'-2'"),
        ("account laplace-accuracy --classes 10 --epsilon -1", "epsilon is -1"),
        ("account laplace-accuracy --classes 10 --epsilon nan", "epsilon is NaN"),
        (&format!("{PAC} 0.1"), "needs --output-bits"),
        (&format!("{PAC} 0.1 --output-bits 0"), "the bits of the output is 0"),
        (&format!("{PAC} -1 --output-bits 8"), "the error is -1"),
        (&format!("{PAC} nan --output-bits 8"), "the error is NaN"),
        (&SHUFFLE.replace(" --delta 1e-6", ""), "--delta <D>"),
        (&SHUFFLE.replace("1e-6", "1"), "delta is 1, and must be"),
        (&SHUFFLE.replace("1e-6", "nan"), "delta is NaN"),
        (&format!("{SHUFFLE} --levels 1"), "the number of levels is 1"),
        ("account shuffle --epsilon-local nan --people 9 --delta 0.1", "the local epsilon is NaN"),
        ("account shuffle --epsilon-local 1 --people 0 --delta 0.1", "the number of people is 0"),
        (
            "account shuffle --epsilon-local 1 --people 20000000000 --delta 0.1",
            "more people have no less privacy",
        ),
        (MULTIPLICATIVE, "give --epsilon and --delta"),
        (&format!("{MULTIPLICATIVE} --v 1 --epsilon 1 --delta 1e-6"), "give --epsilon and --delta"),
        (&format!("{MULTIPLICATIVE} --v 0 --delta 1e-6"), "v is 0, and must be above zero"),
        (&format!("{MULTIPLICATIVE} --epsilon 1 --delta 0"), "delta is 0"),
        (
            "account multiplicative-dp --sensitivity 1 --records 50 --out-dim 1 --epsilon 1 --delta 1e-6",
            "the number of records is 50, and must be more than 4 ln(16/delta0)",
        ),
    ] {
        let message = refusal(line);
        assert!(message.contains(expected), "{line:?}: {message}");
    }
}

//! `scumble solve`.

use crate::{Files, command, data, is_there, json, number, refusal, run, succeeded};
use approx::assert_abs_diff_eq;
use serde_json::Value;

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Returns the command line for λ, a weight and an interval.
fn schrodinger([lambda, weight, lower, upper]: [&str; 4]) -> String {
    format!("solve schrodinger --lambda {lambda} --weight {weight} --lower {lower} --upper {upper}")
}

#[test]
fn the_ground_states_of_the_reference_are_found() {
    // Expected values from another solver, to about 10⁻¹². For λ = 0, μ is π²/4; for the widest interval, the
    // values are the Gaussian's.
    for (problem, mu, fisher, second_moment, mean, density) in [
        (
            ["0", "1", "-1", "1"],
            2.467401100276532,
            9.869604401089342,
            0.13069096604868924,
            0.0,
            [(-0.5, 0.5), (0.0, 1.0), (0.5, 0.5)],
        ),
        (
            ["1", "1", "-1", "1"],
            2.4999999999988716,
            9.869899008743577,
            0.1301009912564015,
            0.0,
            [(-0.5, 0.4982105564846006), (0.0, 1.0036382602345313), (0.5, 0.49821055648447976)],
        ),
        (
            ["1", "1", "-10", "10"],
            0.5000000000000213,
            1.000000000000023,
            0.9999999999999762,
            0.0,
            [(-5.0, 1.4867195147359149e-06), (0.0, 0.39894228040144314), (5.0, 1.4867195147374558e-06)],
        ),
        (
            ["4", "2", "-1", "3"],
            0.9349190898162886,
            4.874065016059818,
            0.3256609628089599,
            0.2833000352329312,
            [(0.0, 0.7265962098310805), (1.0, 0.2750448955194587), (2.0, 0.0048060251626555)],
        ),
    ] {
        let at = density.map(|(n, _)| f64::to_string(&n)).join(",");
        let answer = json(&format!("{} --at {at} --json", schrodinger(problem)));
        assert_abs_diff_eq!(number(&answer["mu"]), mu, epsilon = 1e-10);
        assert_abs_diff_eq!(number(&answer["objective"]), 4.0 * number(&answer["mu"]), epsilon = 1e-11);
        assert_abs_diff_eq!(number(&answer["fisher_information"]), fisher, epsilon = 1e-8);
        assert_abs_diff_eq!(number(&answer["second_moment"]), second_moment, epsilon = 1e-9);
        assert_abs_diff_eq!(number(&answer["mean"]), mean, epsilon = 1e-9);
        for (pair, (n, expected)) in answer["density"].as_array().unwrap().iter().zip(density) {
            assert_eq!(number(&pair[0]), n);
            assert_abs_diff_eq!(number(&pair[1]), expected, epsilon = 1e-9);
        }
        let expected = ["density", "fisher_information", "mean", "mu", "objective", "second_moment"];
        assert_eq!(keys(&answer), expected);
    }
    let answer = json(&format!("{} --json", schrodinger(["1", "1", "-1", "1"])));
    assert_eq!(answer["density"], serde_json::json!([]));
}

#[test]
fn for_people_a_ground_state_is_a_table() {
    let text = run(&format!("{} --at -0.5,0", schrodinger(["1", "1", "-1", "1"])));
    for part in [
        "Fisher information",
        "9.8698990087",
        "density at -0.5",
        "The minimum is 10.0000000000, four times mu = 2.5000000000",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn what_has_no_ground_state_is_one_line() {
    for (problem, more, expected) in [
        (["-1", "1", "0", "1"], "", "lambda must be finite and not negative, and -1 is not"),
        (["nan", "1", "0", "1"], "", "lambda must be finite"),
        (["1", "0", "0", "1"], "", "weight must be finite and positive, and 0 is not"),
        (["1", "1", "1", "1"], "", "from 1 to 1 is not an interval"),
        (["1", "1", "2", "-2"], "", "from 2 to -2 is not an interval"),
        (["1", "1", "-inf", "1"], "", "from -inf to 1 is not an interval"),
        (["0", "1", "0", "1e-200"], "", "is outside the range of floats"),
        (["1", "1", "0", "1"], "--at 0.5,nan", "--at NaN: the value must be finite"),
        (["1", "1", "0", "1"], "--at 0.5,x", "invalid value 'x'"),
        (["x", "1", "0", "1"], "", "invalid value 'x'"),
    ] {
        let message = refusal(&format!("{} {more}", schrodinger(problem)));
        assert!(message.contains(expected), "{problem:?}: {message}");
    }
    assert!(refusal("solve schrodinger --lambda 1").contains("--weight"));
    assert!(refusal("solve").contains("missing subcommand"));
}

fn waterfilling(eigenvalues: &str, radius: &str, epsilon: &str) -> String {
    format!("solve waterfilling --eigenvalues {eigenvalues} --radius {radius} --epsilon {epsilon}")
}

fn filled(eigenvalues: &str, radius: &str, epsilon: &str, more: &str) -> Value {
    json(&format!("{} {more} --json", waterfilling(eigenvalues, radius, epsilon)))
}

#[test]
fn shares_are_those_of_the_third_figure() {
    // Expected values from another implementation, for r = 1; the last row to 60 digits.
    for (eigenvalues, epsilon, rank, shares, aware, agnostic, two_latents) in [
        ("4,0,0,0", "1", 1, [1.0, 0.0, 0.0, 0.0], 3.5555555555555554, 3.878787878787879, 3.764705882352941),
        ("4,1,1,1", "2", 1, [1.0, 0.0, 0.0, 0.0], 5.666666666666666, 6.222222222222221, 6.0),
        ("4,1,1,1", "4", 4, [0.7, 0.1, 0.1, 0.1], 4.166666666666666, 4.666666666666666, 4.5),
        ("1,1,4,1", "8", 4, [0.175, 0.175, 0.475, 0.175], 2.083333333333333, 2.333333333333333, 3.0),
        (
            "4,2,2,2",
            "2",
            4,
            [0.8833951691533666, 0.03886827694887779, 0.03886827694887779, 0.03886827694887779],
            8.660125055217142,
            8.88888888888889,
            8.8,
        ),
    ] {
        let answer = filled(eigenvalues, "1", epsilon, "--latent-dim 2");
        assert_eq!(answer["rank"], rank);
        for (share, expected) in answer["sigma_squared"].as_array().unwrap().iter().zip(shares) {
            assert_abs_diff_eq!(number(share), expected, epsilon = 1e-12);
        }
        assert_abs_diff_eq!(number(&answer["loss"]), aware, epsilon = 1e-12);
        assert_abs_diff_eq!(number(&answer["task_agnostic_loss"]), agnostic, epsilon = 1e-12);
        assert_abs_diff_eq!(number(&answer["privacy_agnostic_loss"]), two_latents, epsilon = 1e-12);
        let expected = ["loss", "privacy_agnostic_loss", "rank", "sigma_squared", "task_agnostic_loss"];
        assert_eq!(keys(&answer), expected);
        // Without Z the privacy-agnostic encoder keeps all directions, like the task-agnostic one.
        let answer = filled(eigenvalues, "1", epsilon, "");
        assert_eq!(answer["privacy_agnostic_loss"], answer["task_agnostic_loss"]);
    }
}

#[test]
fn without_noise_or_without_a_task_nothing_is_lost() {
    for (radius, epsilon) in [("1", "inf"), ("0", "1")] {
        let answer = filled("4,1,0", radius, epsilon, "");
        assert_abs_diff_eq!(number(&answer["sigma_squared"][0]), 2.0 / 3.0, epsilon = 1e-15);
        assert_eq!((&answer["rank"], &answer["loss"]), (&2.into(), &0.0.into()));
    }
    let answer = filled("0,0", "1", "1", "");
    assert_eq!((&answer["rank"], &answer["loss"]), (&0.into(), &0.0.into()));
}

#[test]
fn for_people_shares_are_a_table() {
    let text = run(&format!("{} --latent-dim 2", waterfilling("4,1,1,1", "1", "4")));
    for part in [
        "4 of 4 directions are released, with noise of variance 0.5 ",
        "0.7000000000",
        "\n\nThe task loss is 4.1666666667 (task-aware). ",
        "With equal shares for all directions it is 4.6666666667 (task-agnostic),",
        "\nand with equal shares for the largest 2 it is 4.5000000000 (privacy-agnostic)",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn what_cannot_be_filled_is_one_line() {
    for (eigenvalues, radius, epsilon, more, expected) in [
        ("4,1", "1", "0", "", "--epsilon 0: the value must be positive"),
        ("4,1", "1", "-1", "", "--epsilon -1: the value must be positive"),
        ("4,1", "1", "nan", "", "--epsilon NaN: the value must be positive"),
        ("4,1", "1", "x", "", "invalid value 'x'"),
        ("4,1", "-1", "1", "", "--radius -1: the value must be at least 0 and finite"),
        ("4,1", "nan", "1", "", "--radius NaN: the value must be at least 0 and finite"),
        ("4,1", "inf", "inf", "", "--radius inf: the value must be at least 0 and finite"),
        ("4,1", "1", "1e-200", "", "8r²/ε² overflows a floating-point number"),
        ("4,,1", "1", "1", "", "invalid value ''"),
        (
            "4,-1",
            "1",
            "1",
            "",
            "eigenvalue 1, counted from 0, must be finite and not negative, and -1 is not",
        ),
        ("-4", "1", "1", "", "eigenvalue 0, counted from 0, must be finite and not negative, and -4 is not"),
        ("4,nan", "1", "1", "", "eigenvalue 1, counted from 0, must be finite"),
        ("inf,1", "1", "1", "", "eigenvalue 0, counted from 0, must be finite"),
        ("4,1", "1", "1", "--latent-dim 0", "from 1 to the number of eigenvalues, 2, and 0 is not"),
        ("4,1", "1", "1", "--latent-dim 3", "from 1 to the number of eigenvalues, 2, and 3 is not"),
        ("4,1", "1", "1", "--latent-dim -1", "invalid value '-1'"),
    ] {
        let line = format!("{} {more}", waterfilling(eigenvalues, radius, epsilon));
        let message = refusal(&line);
        assert!(message.contains(expected), "{line}: {message}");
    }
    let empty = refusal("solve waterfilling --eigenvalues= --radius 1 --epsilon 1");
    assert!(empty.contains("invalid value ''"), "{empty}");
    assert!(refusal("solve waterfilling --radius 1 --epsilon 1").contains("--eigenvalues"));
}

#[test]
fn equation_2_on_unscaled_wdbc_has_the_reference_solution() {
    if !is_there("wdbc/wdbc.csv") {
        return;
    }
    let file = data().join("wdbc/wdbc.csv");
    // Interior point solution of the reference, to a tolerance of 10⁻¹².
    for (theta, objective, accuracy, max_share, bound_over_m, beta, support_vectors) in [
        (
            "1",
            49.38780955496334,
            0.961335676625659,
            0.020251033303851626,
            28.412720034188304,
            -5.3470106387496,
            Some(60),
        ),
        (
            "0.1",
            6.728259791887002,
            0.9560632688927944,
            0.020099888175650577,
            28.417103242906133,
            -6.095897284244772,
            None,
        ),
    ] {
        let line = "solve svm --target Cancer --positive 0 --drop ID --rho 0.01 --json";
        let (text, _) = succeeded(command(line).args(["--theta", theta, "--input"]).arg(&file));
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_abs_diff_eq!(number(&answer["objective"]), objective, epsilon = 1e-8);
        assert_abs_diff_eq!(number(&answer["training_accuracy"]), accuracy, epsilon = 1e-12);
        assert_abs_diff_eq!(number(&answer["max_share"]), max_share, epsilon = 1e-9);
        assert_abs_diff_eq!(number(&answer["bound_over_m"]), bound_over_m, epsilon = 1e-7);
        assert_abs_diff_eq!(number(&answer["beta"]), beta, epsilon = 1e-8);
        if let Some(count) = support_vectors {
            assert_eq!(answer["support_vectors"], count);
        }
        assert_abs_diff_eq!(number(&answer["kkt_residual"]), 0.0, epsilon = 1e-9);
        assert_eq!(answer["alpha"].as_array().unwrap().len(), 30);
        let expected = [
            "alpha",
            "beta",
            "bound_over_m",
            "kkt_residual",
            "max_share",
            "objective",
            "seconds",
            "support_vectors",
            "training_accuracy",
        ];
        assert_eq!(keys(&answer), expected);
    }
}

const SVM: &str = "solve svm --input data.csv --target side --positive right --theta 1 --rho 0.01";

/// Returns the output of `solve svm` for a file with the content `text`.
fn machine(text: &str, more: &str) -> Value {
    let files = Files::new();
    files.write("data.csv", text);
    files.json(&format!("{SVM} --json {more}"))
}

#[test]
fn a_machine_of_two_points_is_that_of_the_formula() {
    // By symmetry β = 0, and the slack is ξ = 1 − α: ½α² + 2·(1·ξ + ½·0.01ξ²) is least at α = 1.
    let answer = machine("x,side\n1,right\n-1,left\n", "");
    assert_abs_diff_eq!(number(&answer["alpha"][0]), 1.0, epsilon = 1e-10);
    assert_abs_diff_eq!(number(&answer["beta"]), 0.0, epsilon = 1e-10);
    assert_abs_diff_eq!(number(&answer["objective"]), 0.5, epsilon = 1e-10);
    assert_abs_diff_eq!(number(&answer["max_share"]), 0.5, epsilon = 1e-10);
    assert_abs_diff_eq!(number(&answer["bound_over_m"]), 0.0, epsilon = 1e-10);
    assert_eq!(number(&answer["training_accuracy"]), 1.0);
    // The classes are far apart in x: α is small, the margin exact, and the data separable.
    let answer = machine("x,side\n100,right\n300,right\n-100,left\n-200,left\n", "");
    assert_abs_diff_eq!(number(&answer["alpha"][0]), 0.01, epsilon = 1e-10);
    assert_eq!(answer["support_vectors"], 2);
}

#[test]
fn constant_columns_and_more_columns_than_records_have_an_answer() {
    for scale in ["none", "standard", "minmax"] {
        let answer = machine("x,c,side\n1,7,right\n2,7,right\n-1,7,left\n", &format!("--scale {scale}"));
        assert_abs_diff_eq!(number(&answer["kkt_residual"]), 0.0, epsilon = 1e-9);
        if scale != "none" {
            assert_abs_diff_eq!(number(&answer["alpha"][1]), 0.0, epsilon = 1e-12);
        }
        let answer =
            machine("a,b,c,d,e,side\n1,0,0,2,1,right\n0,1,0,1,5,left\n", &format!("--scale {scale}"));
        assert_abs_diff_eq!(number(&answer["kkt_residual"]), 0.0, epsilon = 1e-9);
        assert_eq!(number(&answer["training_accuracy"]), 1.0);
    }
    // The column does not separate the labels. Only the bias remains, at which both sides lose the same.
    let answer = machine("c,side\n0,right\n0,left\n0,right\n", "--scale standard");
    assert_eq!(number(&answer["alpha"][0]), 0.0);
    assert_abs_diff_eq!(number(&answer["training_accuracy"]), 2.0 / 3.0, epsilon = 1e-12);
    // One label is written in three ways.
    let files = Files::new();
    files.write("data.csv", "x,side\n1,1\n2,1.0\n-1,-1\n-2,-1e0\n");
    files.run(&SVM.replace("right", "1.00"));
}

#[test]
fn a_scaled_machine_is_that_of_scaled_columns() {
    let raw = machine("x,y,side\n1,10,right\n3,70,right\n5,40,left\n7,20,left\n", "--scale minmax");
    let scaled = machine(
        "x,y,side\n0,0,right\n0.3333333333333333,1,right\n\
         0.6666666666666666,0.5,left\n1,0.16666666666666666,left\n",
        "",
    );
    assert_abs_diff_eq!(number(&raw["objective"]), number(&scaled["objective"]), epsilon = 1e-12);
    let standard = machine("x,side\n10,right\n20,right\n30,left\n40,left\n", "--scale standard");
    let sizes = [-3.0f64, -1.0, 1.0, 3.0].map(|x| x / 5f64.sqrt());
    let scaled = machine(
        &format!("x,side\n{},right\n{},right\n{},left\n{},left\n", sizes[0], sizes[1], sizes[2], sizes[3]),
        "",
    );
    assert_abs_diff_eq!(number(&standard["objective"]), number(&scaled["objective"]), epsilon = 1e-12);
}

#[test]
fn for_people_a_machine_is_a_table() {
    let files = Files::new();
    files.write("data.csv", "x,side\n1,right\n-1,left\n");
    let text = files.run(SVM);
    for part in ["2 records of 1 numbers, 2 of them on the correct side (100.00 %)", "(bias)", "KKT residual"]
    {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn what_cannot_be_solved_is_one_line() {
    let refusal = |text: &str, line: &str| {
        let files = Files::new();
        files.write("data.csv", text);
        files.refuses(line)
    };
    let good = "id,x,side\na,1,right\nb,-1,left\n";
    let dropped = format!("{SVM} --drop id");
    for (text, line, expected) in [
        (good, SVM, "data.csv, row 1, column \"id\": \"a\" is not a number; a number is needed"),
        (
            "x,side\n1,right\n,left\n",
            SVM,
            "data.csv, row 2, column \"x\": \"\" is not a number; a number is needed",
        ),
        ("x,side\n1,right\nnan,left\n", SVM, "row 2, column \"x\": \"nan\" is not a finite number"),
        ("x,side\n1,right\n1e999,left\n", SVM, "row 2, column \"x\": \"1e999\" is not a finite number"),
        (
            good,
            &SVM.replace("side", "sides"),
            "data.csv: there is no column \"sides\"; did you mean \"side\"?",
        ),
        (good, &format!("{SVM} --drop ids"), "data.csv: there is no column \"ids\"; did you mean \"id\"?"),
        (good, &format!("{SVM} --drop id,x"), "no column remains besides the target \"side\""),
        (
            good,
            &dropped.replace("right", "up"),
            "column \"side\": no record has the positive value \"up\"; the values are \"left\", \"right\"",
        ),
        (
            "x,side\n1,right\n2,left\n3,up\n",
            SVM,
            "data.csv, column \"side\": the values are \"left\", \"right\", \"up\", but exactly two values \
             are needed",
        ),
        (
            "x,side\n1,right\n2,right\n",
            SVM,
            "data.csv, column \"side\": the values are \"right\" alone, but exactly two values are needed",
        ),
        ("x,side\n", SVM, "data.csv holds no records"),
        ("", SVM, "data.csv holds no records"),
        ("x,x,side\n1,2,right\n", SVM, "data.csv: the column \"x\" occurs twice"),
        ("x,side\n1,right\n2\n", SVM, "data.csv, row 2: the row has 1 cells, and the header has 2"),
        (
            good,
            &dropped.replace("--theta 1", "--theta 0"),
            "--theta 0: the value must be positive and finite",
        ),
        (good, &dropped.replace("--theta 1", "--theta -3"), "--theta -3: the value must be positive"),
        (good, &dropped.replace("--rho 0.01", "--rho 0"), "--rho 0: the value must be positive and finite"),
        (
            good,
            &dropped.replace("--rho 0.01", "--rho inf"),
            "--rho inf: the value must be positive and finite",
        ),
        (good, &dropped.replace("data.csv", "none.csv"), "none.csv: "),
        (good, &dropped.replace("data.csv", "."), "directory"),
        (good, &format!("{dropped} --scale robust"), "invalid value 'robust'"),
    ] {
        let message = refusal(text, line);
        assert!(message.contains(expected), "{line}: {message}");
    }
    let files = Files::new();
    files.write("data.csv", b"x,side\n\xff,right\n");
    assert!(files.refuses(&format!("{SVM} --encoding utf-8")).contains("row 1: it is not UTF-8"));
}

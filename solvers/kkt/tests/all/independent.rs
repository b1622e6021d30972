//! Comparison with other solvers: clarabel on random programmes, and an interior point solution of equation 2
//! of Farokhi's paper on the breast cancer data of Wisconsin.

use approx::assert_relative_eq;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};
use ndarray::{Array2, ArrayView2};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_kkt::{Error, Machine, Records, SoftMargin};
use std::path::PathBuf;

struct Drawn {
    records: Array2<f64>,
    signs: Vec<f64>,
    penalties: Vec<f64>,
    bias_penalty: f64,
    squared_slack_penalty: f64,
}

impl Drawn {
    /// Draws columns of very different scales, one constant, and labels that a line explains in part.
    fn new(seed: u64, n: usize, d: usize, bias_penalty: f64, squared_slack_penalty: f64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut records = Array2::from_shape_fn((n, d), |(_, column)| {
            rng.gen_range(-1.0..1.0) * 10f64.powi(column as i32 % 5 - 2)
        });
        if d > 1 {
            records.column_mut(d - 1).fill(3.0);
        }
        let sign = |score: f64| if score > 0.0 { 1.0 } else { -1.0 };
        let mut signs: Vec<f64> =
            records.column(0).iter().map(|x| sign(100.0 * x + rng.gen_range(-1.0..1.0))).collect();
        (signs[0], signs[n - 1]) = (1.0, -1.0);
        let penalties = (0..n).map(|_| 10f64.powf(rng.gen_range(-2.0..2.0))).collect();
        Self { records, signs, penalties, bias_penalty, squared_slack_penalty }
    }

    fn solved(&self, tolerance: f64) -> Result<Machine, Error> {
        SoftMargin::new(&Records::new(self.records.view()), &self.signs, &self.penalties)?
            .bias_penalty(self.bias_penalty)?
            .squared_slack_penalty(self.squared_slack_penalty)?
            .solve(tolerance, 200)
    }

    /// The optimal objective, from clarabel.
    fn by_clarabel(&self) -> f64 {
        let (n, d) = self.records.dim();
        let size = d + 1 + n;
        let curvature: Vec<f64> = (0..size)
            .map(|at| match at {
                at if at < d => 1.0,
                at if at == d => self.bias_penalty,
                _ => self.squared_slack_penalty,
            })
            .collect();
        let quadratic = CscMatrix::new(size, size, (0..=size).collect(), (0..size).collect(), curvature);
        let linear: Vec<f64> =
            std::iter::repeat_n(0.0, d + 1).chain(self.penalties.iter().copied()).collect();
        // −yᵢ(α·xᵢ + β) − ξᵢ ≤ −1, and −ξᵢ ≤ 0.
        let mut constraints = Array2::zeros((2 * n, size));
        for i in 0..n {
            for j in 0..d {
                constraints[[i, j]] = -self.signs[i] * self.records[[i, j]];
            }
            constraints[[i, d]] = -self.signs[i];
            constraints[[i, d + 1 + i]] = -1.0;
            constraints[[n + i, d + 1 + i]] = -1.0;
        }
        let rows: Vec<Vec<f64>> = constraints.outer_iter().map(|row| row.to_vec()).collect();
        let bounds: Vec<f64> = std::iter::repeat_n(-1.0, n).chain(std::iter::repeat_n(0.0, n)).collect();
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-10,
            tol_gap_rel: 1e-10,
            tol_feas: 1e-10,
            ..DefaultSettings::default()
        };
        let cones = [SupportedConeT::NonnegativeConeT(2 * n)];
        let mut solver =
            DefaultSolver::new(&quadratic, &linear, &CscMatrix::from(&rows), &bounds, &cones, settings)
                .unwrap();
        solver.solve();
        solver.solution.obj_val
    }
}

/// A configuration with fixed cases. Of about a thousand random programmes of this size, one does not reach
/// its last digits.
fn seeded(cases: u32) -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(seeded(40))]

    #[test]
    fn the_objective_is_clarabels(
        seed in 0u64..1000,
        n in 2usize..60,
        d in 1usize..8,
        penalties in prop::sample::select(vec![
            (0.0, 0.0),
            (0.01, 0.0),
            (0.01, 0.01),
            (0.0, 3.0),
            (1.0, 1.0),
        ]),
    ) {
        let drawn = Drawn::new(seed, n, d, penalties.0, penalties.1);
        let (ours, theirs) = (drawn.solved(1e-6).unwrap(), drawn.by_clarabel());
        prop_assert!((ours.objective / theirs - 1.0).abs() < 1e-5, "{} and {theirs}", ours.objective);
    }

    /// The conditions of Farokhi's equation 2: α = Σ ωᵢyᵢxᵢ, ρβ = Σ ωᵢyᵢ, ξᵢ = max(ωᵢ − θᵢ, 0)/ρ, and ω = 0
    /// where a margin is exceeded.
    #[test]
    fn the_kkt_conditions_hold_at_the_optimum(seed in 0u64..1000, n in 2usize..200, d in 1usize..8) {
        let rho = 0.1;
        let drawn = Drawn::new(seed, n, d, rho, rho);
        let machine = drawn.solved(1e-9).unwrap();
        let scale = 1.0 + machine.objective.sqrt();
        for j in 0..d {
            let pull: f64 =
                (0..n).map(|i| machine.multipliers[i] * drawn.signs[i] * drawn.records[[i, j]]).sum();
            prop_assert!((machine.weights[j] - pull).abs() < 1e-4 * scale);
        }
        let pull: f64 = machine.multipliers.iter().zip(&drawn.signs).map(|(omega, sign)| omega * sign).sum();
        prop_assert!((rho * machine.bias - pull).abs() < 1e-4 * scale);
        for i in 0..n {
            let omega = machine.multipliers[i];
            let score: f64 = (0..d).map(|j| machine.weights[j] * drawn.records[[i, j]]).sum();
            let margin = drawn.signs[i] * (score + machine.bias);
            let slack = (omega - drawn.penalties[i]).max(0.0) / rho;
            prop_assert!(omega >= 0.0 && margin + slack > 1.0 - 1e-3 * scale, "{i}: {margin} and {slack}");
            prop_assert!(omega * (margin + slack - 1.0) < 1e-3 * machine.objective, "{i}: {omega} at \
                {margin}");
        }
    }
}

proptest! {
    #![proptest_config(seeded(256))]

    #[test]
    fn a_polished_machine_meets_its_conditions(
        seed in 0u64..1000, n in 1usize..200, d in 0usize..8, doubled in any::<bool>(),
        penalties in prop::sample::select(vec![(0.01, 0.01), (1.0, 1.0), (1e-6, 1e-6)]),
    ) {
        let mut problem = Drawn::new(seed, n, d.max(1), penalties.0, penalties.1);
        if doubled {
            // Each record occurs twice, so the multipliers on the edge are not unique.
            problem.records = ndarray::concatenate![ndarray::Axis(0), problem.records, problem.records];
            problem.signs = problem.signs.repeat(2);
            problem.penalties = problem.penalties.repeat(2);
        }
        if d == 0 {
            problem.records = problem.records.slice(ndarray::s![.., ..0]).to_owned();
        }
        let records = Records::new(problem.records.view());
        let programme = SoftMargin::new(&records, &problem.signs, &problem.penalties).unwrap();
        let programme = programme.bias_penalty(problem.bias_penalty).unwrap();
        let programme = programme.squared_slack_penalty(problem.squared_slack_penalty).unwrap();
        let solved = programme.solve(1e-9, 200).unwrap();
        let (before, objective) = (programme.kkt_residual(&solved).unwrap(), solved.objective);
        let polished = programme.polished(solved).unwrap();
        let residual = programme.kkt_residual(&polished).unwrap();
        prop_assert!(residual <= before && residual < 1e-9, "{before:e} became {residual:e}");
        prop_assert!(polished.objective <= objective * (1.0 + 1e-12));
    }
}

/// Proposition 2.1 of Farokhi: as ρ falls, the machine of equation 2 tends to the usual soft margin's. The
/// objectives differ by at most the usual machine's penalty at ρ, ½ρ(β² + ‖ξ‖²).
#[test]
fn with_little_rho_it_is_the_usual_soft_margin() {
    for (seed, n, d) in [(3, 40, 3), (11, 120, 6), (29, 60, 2)] {
        let usual = Drawn::new(seed, n, d, 0.0, 0.0);
        let machine = usual.solved(1e-9).unwrap();
        let scores = usual.records.dot(&ndarray::aview1(&machine.weights)) + machine.bias;
        let slacks = scores.iter().zip(&usual.signs).map(|(score, sign)| (1.0 - sign * score).max(0.0));
        let paid = (machine.bias.powi(2) + slacks.map(|slack| slack * slack).sum::<f64>()) / 2.0;
        for rho in [1.0, 1e-2, 1e-4, 1e-6] {
            let near =
                Drawn { bias_penalty: rho, squared_slack_penalty: rho, ..Drawn::new(seed, n, d, 0.0, 0.0) };
            let more = near.solved(1e-9).unwrap().objective - machine.objective;
            let rounding = 1e-8 * machine.objective;
            assert!(
                more > -rounding && more < rho * paid + rounding,
                "seed {seed}, ρ = {rho}: {more} of {paid}"
            );
        }
    }
}

/// Steps toward these optima stay short forever if the predicted step's products far from the mean are fully
/// corrected.
#[test]
fn many_noisy_records_of_unequal_classes_are_solved_in_a_few_dozen_steps() {
    const N: usize = 6000;
    const D: usize = 12;
    for seed in [46, 48, 109] {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let middles: Vec<f64> = (0..D).map(|_| rng.gen_range(0.0..1.0)).collect();
        // Nearly normal: the sum of twelve uniform numbers minus its mean.
        let mut normal = move || (0..12).map(|_| rng.gen_range(0.0..1.0)).sum::<f64>() - 6.0;
        let mut records =
            Array2::from_shape_fn((N, D), |(_, at)| (middles[at] + 0.3 * normal()).clamp(0.0, 1.0));
        let scores: Vec<f64> =
            records.rows().into_iter().map(|row| 3.0 * (row[0] + row[1] - row[2]) + normal()).collect();
        let mut sorted = scores.clone();
        sorted.sort_by(f64::total_cmp);
        let threshold = sorted[N * 3 / 4];
        let signs: Vec<f64> =
            scores.iter().map(|score| if *score > threshold { 1.0 } else { -1.0 }).collect();
        records.mapv_inplace(|x| x + 0.19 * normal());
        let records = Records::new(records.view());
        let programme = SoftMargin::new(&records, &signs, &[1.0; N]).unwrap();
        let programme = programme.bias_penalty(1e-2).unwrap().squared_slack_penalty(1e-2).unwrap();
        let machine = programme.solve(1e-6, 60).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(machine.duality_gap <= 1e-6, "seed {seed}: {}", machine.duality_gap);
    }
}

#[test]
fn the_residual_sees_what_is_wrong() {
    let problem = Drawn::new(4, 50, 3, 0.1, 0.1);
    let records = Records::new(problem.records.view());
    let programme = SoftMargin::new(&records, &problem.signs, &problem.penalties).unwrap();
    let programme = programme.bias_penalty(0.1).unwrap().squared_slack_penalty(0.1).unwrap();
    let machine = programme.polished(programme.solve(1e-9, 100).unwrap()).unwrap();
    let changed = |change: &dyn Fn(&mut Machine)| {
        let mut machine = machine.clone();
        change(&mut machine);
        programme.kkt_residual(&machine).unwrap()
    };
    assert!(changed(&|_| ()) < 1e-11);
    assert!(changed(&|machine| machine.weights[0] += 1e-6) > 1e-7);
    assert!(changed(&|machine| machine.bias += 1e-6) > 1e-8);
    for i in 0..50 {
        let theta = problem.penalties[i];
        assert!(changed(&|machine| machine.multipliers[i] += 1e-6 * theta) > 1e-9, "{i}");
    }
    assert!(
        changed(&|machine| machine.bias = f64::NAN).is_nan()
            || changed(&|machine| machine.bias = f64::NAN) > 1.0
    );
    let mut other = machine.clone();
    other.multipliers.pop();
    assert_eq!(
        programme.kkt_residual(&other).unwrap_err().to_string(),
        "a machine of 3 weights and 49 multipliers does not fit 50 records of 3 values"
    );
    assert!(matches!(programme.polished(other), Err(Error::Shape(_))));
}

#[test]
fn a_free_bias_alone_meets_the_margins_of_one_side() {
    let mut problem = Drawn::new(1, 20, 3, 0.0, 0.0);
    problem.signs = vec![-1.0; 20];
    let machine = problem.solved(1e-9).unwrap();
    assert_eq!((machine.bias, machine.objective), (-1.0, 0.0));
    assert!(machine.weights.iter().all(|weight| *weight == 0.0));
    // A bias with a penalty moves only as far as it pays.
    problem.bias_penalty = 1.0;
    let machine = problem.solved(1e-9).unwrap();
    assert_relative_eq!(machine.objective, problem.by_clarabel(), max_relative = 1e-6);
}

#[test]
fn what_cannot_be_solved_is_named() {
    let drawn = || Drawn::new(1, 20, 3, 0.0, 0.0);
    let message = |drawn: Drawn| drawn.solved(1e-6).unwrap_err().to_string();
    let mut problem = drawn();
    problem.signs[3] = 0.5;
    assert_eq!(message(problem), "a sign must be 1 or -1, and 0.5 is not");
    let mut problem = drawn();
    problem.penalties[0] = 0.0;
    assert_eq!(message(problem), "a penalty must be finite and positive, and 0 is not");
    let mut problem = drawn();
    problem.records[[7, 1]] = f64::INFINITY;
    assert!(message(problem).starts_with("record 7"));
    let mut problem = drawn();
    problem.bias_penalty = -1.0;
    assert!(message(problem).starts_with("bias_penalty must be finite and not negative"));

    let mut problem = drawn();
    problem.signs = vec![1.0; 19];
    assert_eq!(message(problem), "there are 19 signs for 20 records");
    assert!(matches!(drawn().solved(f64::NAN), Err(Error::Parameter { .. })));
    let records = Records::new(ArrayView2::from_shape((1, 1), &[1.0]).unwrap());
    let stopped =
        SoftMargin::new(&records, &[1.0], &[1.0]).unwrap().bias_penalty(1.0).unwrap().solve(1e-9, 1);
    assert!(matches!(stopped, Err(Error::NotConverged { iterations: 1, .. })), "{stopped:?}");
}

/// The 569 records, unscaled, and 1 where malignant, else −1. `None` if the data are missing.
fn wdbc() -> Option<(Array2<f64>, Vec<f64>)> {
    let folder = std::env::var_os("SCUMBLE_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let file = folder.join("wdbc/wdbc.csv");
    let Ok(text) = std::fs::read_to_string(&file) else {
        scumble_testing::missing(file.display());
        return None;
    };
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let signs = rows.iter().map(|row| if row[1] == 0.0 { 1.0 } else { -1.0 }).collect();
    Some((Array2::from_shape_fn((rows.len(), 30), |(i, j)| rows[i][j + 2]), signs))
}

#[test]
fn equation_2_on_unscaled_wdbc_has_the_reference_objective() {
    let Some((records, signs)) = wdbc() else { return };
    // Values of an interior point solver, to 1e-12.
    for (theta, objective, bias, max_share) in [
        (1.0, 49.38780955496334, -5.3470106387496, 0.020251033303851626),
        (0.1, 6.728259791887002, -6.095897284244772, 0.020099888175650577),
    ] {
        let penalties = vec![theta; signs.len()];
        let programme_records = Records::new(records.view());
        let machine = SoftMargin::new(&programme_records, &signs, &penalties).unwrap();
        let machine = machine.bias_penalty(0.01).unwrap().squared_slack_penalty(0.01).unwrap();
        let solved = machine.solve(1e-11, 100).unwrap();
        let solved = machine.polished(solved).unwrap();
        let residual = machine.kkt_residual(&solved).unwrap();
        assert!(residual < 1e-11, "θ = {theta}: {residual:e}");
        assert!((solved.objective - objective).abs() < 1e-8, "θ = {theta}: {}", solved.objective);
        assert!((solved.bias - bias).abs() < 1e-5, "θ = {theta}: {}", solved.bias);
        let squares: Vec<f64> = solved.multipliers.iter().map(|omega| omega * omega).collect();
        let share = squares.iter().copied().fold(0.0, f64::max) / squares.iter().sum::<f64>();
        assert!((share - max_share).abs() < 1e-7, "θ = {theta}: {share}");
    }
}

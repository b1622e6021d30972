//! Sets of points, compared with all pairs and with every sign vector.

use approx::assert_relative_eq;
use ndarray::{Array2, array};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_task_aware::sensitivity::{Error, Sensitivity, over_points, sign_bounds, signs};
use std::time::Instant;

fn by_pairs(points: &Array2<f64>) -> f64 {
    let distance = |i: usize, j: usize| (&points.row(i) - &points.row(j)).mapv(f64::abs).sum();
    (0..points.nrows()).flat_map(|i| (0..i).map(move |j| distance(i, j))).fold(0.0, f64::max)
}

fn bell(rng: &mut ChaCha20Rng) -> f64 {
    (0..12).map(|_| rng.gen_range(-0.5..0.5)).sum()
}

/// Draws points: bell-shaped, on the surface of an ℓ₁ ball (which prevents setting points aside), or
/// integers.
fn drawn(seed: u64, kind: usize, count: usize, latents: usize) -> Array2<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut points = Array2::from_shape_fn((count, latents), |_| bell(&mut rng));
    match kind {
        0 => {}
        1 => points.rows_mut().into_iter().for_each(|mut point| {
            let norm = point.mapv(f64::abs).sum();
            point /= norm;
        }),
        _ => points.mapv_inplace(|x| (4.0 * x).round()),
    }
    points
}

proptest! {
    #[test]
    fn the_distance_is_that_of_all_pairs(
        seed in any::<u64>(),
        kind in 0usize..3,
        count in 1usize..80,
        latents in 1usize..30,
        offset in -100i32..100,
    ) {
        let points = drawn(seed, kind, count, latents) + f64::from(offset);
        let answer = over_points(points.view()).unwrap();
        let expected = by_pairs(&points);
        prop_assert!(answer.is_exact, "{answer:?}");
        let excess = answer.value - expected;
        // The reference value has its own rounding, except for integers.
        let least = if kind == 2 { 0.0 } else { -1e-12 };
        prop_assert!(least <= excess && excess <= 1e-11 * (expected + 1.0), "{answer:?} is not {expected}");
    }

    #[test]
    fn the_polytope_holds_its_points_and_is_no_wider(
        seed in any::<u64>(), kind in 0usize..3, count in 1usize..300, latents in 1usize..9,
    ) {
        let points = drawn(seed, kind, count, latents);
        let bounds = sign_bounds(points.view()).unwrap();
        prop_assert_eq!(bounds.len(), 1 << (latents - 1));
        for (index, (lower, upper)) in bounds.iter().enumerate() {
            let along: Vec<f64> = points
                .outer_iter()
                .map(|point| point.iter().zip(signs(index, latents)).map(|(x, sign)| sign * x).sum())
                .collect();
            let least = along.iter().copied().fold(f64::INFINITY, f64::min);
            let most = along.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(*lower <= least && most <= *upper, "{index}: {least} to {most}");
            prop_assert!(least - lower < 1e-12 && upper - most < 1e-12, "{index}: {lower} to {upper}");
        }
        let widest = bounds.iter().map(|(lower, upper)| upper - lower).fold(0.0, f64::max);
        prop_assert!((widest - over_points(points.view()).unwrap().value).abs() < 1e-11);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn signs_say_the_same_as_pairs(seed in any::<u64>(), kind in 0usize..3, latents in 1usize..9) {
        // With this many points in few dimensions, signs are cheaper than pairs.
        let points = drawn(seed, kind, 700, latents);
        let answer = over_points(points.view()).unwrap();
        prop_assert!(answer.is_exact && (answer.value - by_pairs(&points)).abs() < 1e-11);
    }
}

#[test]
fn the_order_of_signs_is_that_of_bits() {
    let row = |index| signs(index, 3).collect::<Vec<_>>();
    assert_eq!(
        [row(0), row(1), row(2), row(3)].concat(),
        [1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0]
    );
    let bounds = sign_bounds(array![[1.0, 2.0, 4.0], [0.0, 0.0, 0.0]].view()).unwrap();
    // 1 + 2 + 4, 1 − 2 + 4, 1 + 2 − 4 and 1 − 2 − 4.
    for ((lower, upper), (least, most)) in
        bounds.iter().zip([(0.0, 7.0), (0.0, 3.0), (-1.0, 0.0), (-5.0, 0.0)])
    {
        assert!(*lower <= least && least - lower < 1e-13 && most <= *upper && upper - most < 1e-13);
    }
}

#[test]
fn a_hundred_thousand_points_of_ten_latents_take_less_than_five_seconds() {
    for kind in [0, 1] {
        let points = drawn(7, kind, 100_000, 10);
        let start = Instant::now();
        let answer = over_points(points.view()).unwrap();
        let for_the_distance = start.elapsed();
        let bounds = sign_bounds(points.view()).unwrap();
        let seconds = start.elapsed();
        println!(
            "kind {kind}: the distance {for_the_distance:?}, and all bounds {:?}",
            seconds - for_the_distance
        );
        let widest = bounds.iter().map(|(lower, upper)| upper - lower).fold(0.0, f64::max);
        assert!(answer.is_exact, "{answer:?}");
        assert_relative_eq!(answer.value, widest, max_relative = 1e-12);
        // More than ten times the time on an idle machine.
        assert!(seconds.as_secs_f64() < 5.0, "{seconds:?}");
    }
}

#[test]
fn many_latents_are_exact_where_pairs_are_few() {
    let points = drawn(3, 0, 2000, 200);
    let answer = over_points(points.view()).unwrap();
    assert!(answer.is_exact);
    assert_relative_eq!(answer.value, by_pairs(&points), max_relative = 1e-12);
}

#[test]
fn too_many_points_of_too_many_latents_have_a_bound_that_says_so() {
    // Corners of a cube, all equally far from the middle. Each range is 2, and the distance of any pair is
    // far below their sum.
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let points = Array2::from_shape_fn((20_000, 60), |_| if rng.r#gen() { 1.0 } else { -1.0 });
    let answer = over_points(points.view()).unwrap();
    assert!(!answer.is_exact && (120.0..120.1).contains(&answer.value), "{answer:?}");
}

#[test]
fn points_that_are_one_have_no_distance() {
    let zero = Sensitivity { value: 0.0, is_exact: true };
    assert_eq!(over_points(array![[0.1, 0.2]].view()), Ok(zero));
    assert_eq!(over_points(Array2::from_elem((1000, 3), 0.1).view()), Ok(zero));
    assert_eq!(over_points(Array2::zeros((4, 0)).view()), Ok(zero));
}

#[test]
fn what_are_no_points_is_one_sentence() {
    for (error, expected) in [
        (
            over_points(Array2::zeros((0, 2)).view()).unwrap_err(),
            "there are no points, and at least one is needed",
        ),
        (
            over_points(array![[1.0, 2.0], [f64::INFINITY, 0.0]].view()).unwrap_err(),
            "the points, row 1, column 0, both counted from 0: inf is not a finite number",
        ),
        (
            over_points(array![[f64::MAX], [f64::MIN]].view()).unwrap_err(),
            "the distances overflow: measure in larger units",
        ),
        (sign_bounds(Array2::zeros((0, 2)).view()).unwrap_err(), "0 points of 2 latents have no bounds"),
        (sign_bounds(Array2::zeros((2, 0)).view()).unwrap_err(), "2 points of 0 latents have no bounds"),
        (
            sign_bounds(Array2::zeros((2, 17)).view()).unwrap_err(),
            "bounds for all signs of 17 latents are too many; at most 16 latents are allowed",
        ),
        (
            sign_bounds(array![[f64::NAN]].view()).unwrap_err(),
            "the points, row 0, column 0, both counted from 0: NaN is not a finite number",
        ),
    ] {
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(sign_bounds(array![[f64::MAX]].view()), Err(Error::Overflow));
}

//! Maps over sets, compared with every pair of corners, in integers if possible.

use approx::assert_relative_eq;
use ndarray::{Array1, Array2, array};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_task_aware::sensitivity::{Error, Sensitivity, Set, diameter, linear, linear_over_box};

/// Checks that the value is at least `expected`, and exceeds it only by rounding.
#[track_caller]
fn is(sensitivity: Sensitivity, expected: f64) {
    assert!(sensitivity.is_exact, "{sensitivity:?} where {expected} is exact");
    assert!(
        expected <= sensitivity.value && sensitivity.value <= expected * (1.0 + 1e-11) + 1e-300,
        "{} is not {expected}",
        sensitivity.value
    );
}

/// Returns all corners of the product as coordinate lists. Intervals start at 0 and have integer widths.
fn corners(sets: &[Set]) -> Vec<Vec<f64>> {
    let unit = |dim: usize, at: usize, size: f64| {
        let mut vector = vec![0.0; dim];
        vector[at] = size;
        vector
    };
    sets.iter().fold(vec![vec![]], |before: Vec<Vec<f64>>, set| {
        let own: Vec<Vec<f64>> = match *set {
            Set::Interval { width } => vec![vec![0.0], vec![width]],
            Set::L1Ball { dim, radius } => {
                (0..dim).flat_map(|at| [unit(dim, at, radius), unit(dim, at, -radius)]).collect()
            }
            Set::OneHot { levels } => (0..levels).map(|at| unit(levels, at, 1.0)).collect(),
            _ => unreachable!(),
        };
        before.iter().flat_map(|left| own.iter().map(move |right| [&left[..], &right[..]].concat())).collect()
    })
}

fn by_corners(map: &Array2<f64>, sets: &[Set]) -> f64 {
    let images: Vec<Array1<f64>> =
        corners(sets).into_iter().map(|corner| map.dot(&Array1::from(corner))).collect();
    let distance = |one: &Array1<f64>, other: &Array1<f64>| (one - other).mapv(f64::abs).sum();
    images.iter().flat_map(|one| images.iter().map(move |other| distance(one, other))).fold(0.0, f64::max)
}

fn drawn(seed: u64, outputs: usize, inputs: usize) -> Array2<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    Array2::from_shape_fn((outputs, inputs), |_| rng.gen_range(-1.0..1.0))
}

fn a_set() -> impl Strategy<Value = Set> {
    prop_oneof![
        (0u32..5).prop_map(|width| Set::Interval { width: width.into() }),
        (1usize..4, 0u32..4).prop_map(|(dim, radius)| Set::L1Ball { dim, radius: radius.into() }),
        (1usize..4).prop_map(|levels| Set::OneHot { levels }),
    ]
}

proptest! {
    /// Uses integers, so that the reference has no rounding.
    #[test]
    fn a_product_has_the_distance_of_its_farthest_corners(
        sets in prop::collection::vec(a_set(), 1..5), outputs in 1usize..6, seed in any::<u64>(),
    ) {
        let inputs = sets.iter().map(Set::dim).sum();
        let map = drawn(seed, outputs, inputs).mapv(|x| (x * 10.0).round());
        is(linear(map.view(), &sets).unwrap(), by_corners(&map, &sets));
    }

    /// In units of 2⁻¹⁰⁴, all products and sums are 128-bit integers.
    #[test]
    fn a_box_is_never_below_what_integers_say(
        outputs in 1usize..7,
        inputs in 1usize..7,
        seed in any::<u64>(),
    ) {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let numbers =
            Array2::from_shape_fn((outputs + 1, inputs), |_| rng.gen_range(-(1i64 << 53)..1i64 << 53));
        let unit = 2f64.powi(-52);
        let map = numbers.slice(ndarray::s![1.., ..]);
        let widths = numbers.row(0).mapv(|width| width.abs() as f64 * unit);
        let exact = (0..1u32 << outputs).map(|signs| -> i128 {
            let column_sum = |j: usize| -> i128 {
                let sum: i128 = (0..outputs)
                    .map(|i| if signs >> i & 1 == 1 { -map[[i, j]] } else { map[[i, j]] } as i128)
                    .sum();
                sum.abs() * i128::from(numbers[[0, j]].abs())
            };
            (0..inputs).map(column_sum).sum()
        });
        let exact = exact.max().unwrap();
        let answer = linear_over_box(map.mapv(|x| x as f64 * unit).view(), widths.view()).unwrap();
        // A float below 2²³ times 2¹⁰⁴ is an integer, and fits.
        let found = (answer.value * 2f64.powi(104)) as i128;
        prop_assert!(answer.is_exact && found >= exact && (found - exact) as f64 <= 1e-12 * exact as f64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_bound_is_nowhere_below_what_is_exact(
        outputs in 21usize..24, inputs in 21usize..40, seed in any::<u64>(), radius in 0.0..2.0f64,
    ) {
        let map = drawn(seed, outputs, 3 * inputs);
        let mut sets = vec![Set::Interval { width: 0.5 }; inputs];
        sets.extend([Set::L2Ball { dim: inputs, radius }, Set::OneHot { levels: inputs }]);
        let answer = linear(map.view(), &sets).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        for _ in 0..100 {
            // The two points that are farthest apart in a direction of signs.
            let signs = Array1::from_shape_fn(outputs, |_| if rng.r#gen() { 1.0 } else { -1.0 });
            let direction = signs.dot(&map);
            let (box_part, rest) = direction.as_slice().unwrap().split_at(inputs);
            let (ball, levels) = rest.split_at(inputs);
            let spread = 0.5 * box_part.iter().map(|x| x.abs()).sum::<f64>()
                + 2.0 * radius * ball.iter().map(|x| x * x).sum::<f64>().sqrt()
                + levels.iter().copied().fold(f64::MIN, f64::max)
                - levels.iter().copied().fold(f64::MAX, f64::min);
            prop_assert!(spread <= answer.value);
        }
    }
}

#[test]
fn each_set_alone_has_its_formula() {
    let map = array![[3.0, 0.0, -1.0], [4.0, 2.0, 1.0]];
    // The columns' norms are 7, 2 and 2. Columns differ by |3| + |4 − 2| = 5, |3 + 1| + |4 − 1| = 7 and
    // |1| + |2 − 1| = 2.
    is(linear(map.view(), &[Set::L1Ball { dim: 3, radius: 2.0 }]).unwrap(), 28.0);
    is(linear(map.view(), &[Set::OneHot { levels: 3 }]).unwrap(), 7.0);
    is(linear_over_box(map.view(), array![1.0, 2.0, 3.0].view()).unwrap(), 7.0 + 2.0 * 2.0 + 3.0 * 0.0);
    // Between the sums (7, 2, 0) and (−1, −2, −2), the first has the larger norm.
    is(linear(map.view(), &[Set::L2Ball { dim: 3, radius: 0.5 }]).unwrap(), 53f64.sqrt());
    // Together they share one direction: (1, 1) gives 7 + 2·2·1 + 0, and (1, −1) gives 1 + 2·2·2 + 0.
    let sets = [Set::Interval { width: 1.0 }, Set::L1Ball { dim: 1, radius: 2.0 }, Set::OneHot { levels: 1 }];
    is(linear(map.view(), &sets).unwrap(), 7.0 + 8.0);
    let orthogonal = [[1.0, 1.0], [1.0, -1.0]];
    let ball = Set::L2Ball { dim: 1, radius: 0.5 };
    is(linear(Array2::from(orthogonal.to_vec()).view(), &[Set::Interval { width: 1.0 }, ball]).unwrap(), 2.0);
}

#[test]
fn long_maps_and_wide_ones_are_searched_on_their_shorter_side() {
    // 500 outputs and 6 inputs: the corners of the box.
    let tall = drawn(1, 500, 6);
    let sets = vec![Set::Interval { width: 2.0 }; 6];
    let expected = by_corners(&tall, &sets);
    let answer = linear(tall.view(), &sets).unwrap();
    assert!(answer.is_exact);
    assert_relative_eq!(answer.value, expected, max_relative = 1e-11);
    // The transposed map has the same value.
    let wide = linear_over_box(tall.t(), Array1::from_elem(500, 2.0).view()).unwrap();
    assert!(wide.is_exact);
    assert_relative_eq!(wide.value, answer.value, max_relative = 1e-11);
    // Twenty outputs of 24 numbers.
    assert!(linear_over_box(drawn(2, 20, 24).view(), Array1::ones(24).view()).unwrap().is_exact);
}

#[test]
fn outputs_that_share_no_input_are_exact_however_many() {
    let map = Array2::from_diag(&Array1::from_iter((1..=50).map(f64::from)));
    is(linear_over_box(map.view(), Array1::ones(50).view()).unwrap(), 1275.0);
    is(linear(map.view(), &[Set::OneHot { levels: 50 }]).unwrap(), 99.0);
    is(linear(map.view(), &[Set::L1Ball { dim: 50, radius: 1.0 }]).unwrap(), 100.0);
    // Balls of two coordinates each, whose farthest points share one direction; it is not proven that no pair
    // is farther.
    let sets = [Set::L2Ball { dim: 2, radius: 0.5 }; 25];
    let expected: f64 = (1..=25).map(|at| f64::from(2 * at).hypot(f64::from(2 * at - 1))).sum();
    let bound = linear(map.view(), &sets).unwrap().value;
    assert!(
        expected * (1.0 - 1e-15) <= bound && bound <= expected * (1.0 + 1e-11),
        "{bound} is not {expected}"
    );
}

#[test]
fn a_map_without_small_sides_is_bounded_by_its_norm() {
    // Sylvester's matrix of 64 rows: all singular values are 8, and bent functions reach 64·8 of its 4096.
    let sylvester =
        Array2::from_shape_fn((64, 64), |(i, j)| if (i & j).count_ones() % 2 == 0 { 1.0 } else { -1.0 });
    let bound = linear_over_box(sylvester.view(), Array1::ones(64).view()).unwrap();
    assert!(!bound.is_exact && (512.0..516.5).contains(&bound.value), "{bound:?}");
    let bound = linear(sylvester.view(), &[Set::L2Ball { dim: 64, radius: 0.5 }]).unwrap();
    assert!((64.0..64.6).contains(&bound.value), "{bound:?}");
    // A matrix of ones: the sums over columns and over rows are the better bounds.
    let ones = Array2::from_elem((64, 64), 1.0);
    let bound = linear_over_box(ones.view(), Array1::ones(64).view()).unwrap();
    assert!((4096.0..4096.1).contains(&bound.value), "{bound:?}");
}

#[test]
fn numbers_of_any_size_keep_their_bound() {
    for scale in [1e-300, 1e-160, 1.0, 1e150, 1e300] {
        let map = array![[1.0, 1.0], [1.0, -1.0]] * scale;
        is(linear(map.view(), &[Set::L2Ball { dim: 2, radius: 0.5 }]).unwrap(), 2.0 * scale);
        is(linear(map.view(), &[Set::OneHot { levels: 2 }]).unwrap(), 2.0 * scale);
        is(linear_over_box(map.view(), array![1.0, 1.0].view()).unwrap(), 2.0 * scale);
    }
    // A product below all floats is not zero.
    let tiny = linear_over_box(array![[1e-200]].view(), array![1e-200].view()).unwrap();
    assert!(tiny.value > 0.0 && tiny.value < 1e-300);
    // A sum of a thousand products, each rounded to the smallest float or to zero, is not zero either:
    // 1000·(0.49 or 0.51)·2⁻¹⁰⁷⁴.
    for share in [0.49, 0.51] {
        let map = Array2::from_elem((10, 100), share * 2f64.powi(-537));
        let tiny = linear_over_box(map.view(), Array1::from_elem(100, 2f64.powi(-537)).view()).unwrap();
        assert!(tiny.value >= 510.0 * f64::from_bits(1), "{}", tiny.value);
    }
    // Offsets of one-hot vectors cancel.
    let answer = linear(array![[1e15, 1e15 + 1.0, 1e15 + 3.0]].view(), &[Set::OneHot { levels: 3 }]).unwrap();
    is(answer, 3.0);
}

#[test]
fn what_is_constant_has_no_sensitivity() {
    let zero = Sensitivity { value: 0.0, is_exact: true };
    assert_eq!(linear_over_box(array![[1.0], [2.0]].view(), array![0.0].view()), Ok(zero));
    assert_eq!(linear_over_box(Array2::zeros((3, 2)).view(), array![5.0, 6.0].view()), Ok(zero));
    assert_eq!(linear(array![[7.0, 7.0]].view(), &[Set::OneHot { levels: 2 }]), Ok(zero));
    assert_eq!(linear(Array2::zeros((0, 2)).view(), &[Set::L1Ball { dim: 2, radius: 1.0 }]), Ok(zero));
    assert_eq!(linear(Array2::zeros((2, 0)).view(), &[]), Ok(zero));
    assert_eq!(diameter(&[]), Ok(zero));
    assert_eq!(diameter(&[Set::L1Ball { dim: 0, radius: 1.0 }, Set::OneHot { levels: 1 }]), Ok(zero));
}

#[test]
fn what_is_clipped_has_the_diameter_of_what_it_is_clipped_to() {
    assert_eq!(diameter(&[Set::L1Ball { dim: 9, radius: 0.1 }]).unwrap().value, 0.2);
    assert_eq!(diameter(&[Set::Interval { width: 1.5 }, Set::Interval { width: 2.5 }]).unwrap().value, 4.0);
    assert_eq!(diameter(&[Set::OneHot { levels: 9 }, Set::OneHot { levels: 2 }]).unwrap().value, 4.0);
    is(diameter(&[Set::L2Ball { dim: 9, radius: 1.0 }]).unwrap(), 6.0);
    // 0.1 + 0.2 lies between two floats, and the upper one is at least the sum.
    let sum = diameter(&[Set::Interval { width: 0.1 }, Set::Interval { width: 0.2 }]).unwrap().value;
    assert_eq!(sum, 0.30000000000000004);
    let sum = diameter(&[Set::Interval { width: 1.0 }, Set::Interval { width: 1e-300 }]).unwrap().value;
    assert_eq!(sum, 1f64.next_up());
}

#[test]
fn what_is_no_set_and_no_map_is_one_sentence() {
    let map = array![[1.0, 2.0]];
    for (answer, expected) in [
        (
            linear_over_box(map.view(), array![1.0].view()),
            "the sets have 1 coordinates, and the map has 2 columns",
        ),
        (
            linear_over_box(map.view(), array![1.0, -1.0].view()),
            "set 1, counted from 0: its width must be finite and not negative, and -1 is not",
        ),
        (
            linear(map.view(), &[Set::L2Ball { dim: 2, radius: f64::NAN }]),
            "set 0, counted from 0: its radius must be finite and not negative, and NaN is not",
        ),
        (
            linear(array![[1.0, f64::NAN]].view(), &[Set::OneHot { levels: 2 }]),
            "the map, row 0, column 1, both counted from 0: NaN is not a finite number",
        ),
        (
            diameter(&[Set::L1Ball { dim: 1, radius: -2.0 }]),
            "set 0, counted from 0: its radius must be finite and not negative, and -2 is not",
        ),
        (
            linear_over_box(array![[1e300, 1.0]].view(), array![1e300, 1.0].view()),
            "the distances overflow: measure in larger units",
        ),
        (
            linear(array![[f64::MAX, f64::MIN]].view(), &[Set::OneHot { levels: 2 }]),
            "the distances overflow: measure in larger units",
        ),
        (
            linear(array![[0.0]].view(), &[Set::L1Ball { dim: 1, radius: f64::MAX }]),
            "the distances overflow: measure in larger units",
        ),
    ] {
        assert_eq!(answer.unwrap_err().to_string(), expected);
    }
    assert!(matches!(diameter(&[Set::Interval { width: f64::INFINITY }]), Err(Error::Size { set: 0, .. })));
}

//! Closed forms of the noise and of the mutual information.

use approx::assert_relative_eq;
use proptest::prelude::*;
use scumble_core::{Domain, Stream};
use scumble_core::{Halving, Randomness, RecordDomain, Table, Target, TargetDomain};
use scumble_pac::{HidingNoise, PacStatistics, Statistic};

fn stream(seed: u64) -> Stream {
    Randomness::seeded(seed).streams().stream(0)
}

/// Creates a table of numbers (n × d), each column with another spread.
fn people(n: usize, d: usize) -> (RecordDomain, Table) {
    use rand::Rng;
    let mut stream = stream(9);
    let records = ndarray::Array2::from_shape_fn((n, d), |(_, column)| {
        let bell: f64 = (0..12).map(|_| stream.gen_range(-0.5..0.5)).sum();
        (bell * 0.25 / (1.0 + column as f64)).clamp(-1.0, 1.0)
    });
    let names: Vec<String> = (0..d).map(|at| format!("x{at}")).collect();
    let domain = Domain::product(vec![Domain::interval(-1.0, 1.0).unwrap(); d]).unwrap();
    let domain = RecordDomain::new(names.clone(), domain, TargetDomain::None).unwrap();
    (domain, Table::new(names, records, Target::None).unwrap())
}

/// The mean of half of n numbers without replacement has variance s²/n about the mean of all numbers, with s²
/// their sample variance. For one number, σ² = λ/(2·nats). The mean of 60 releases of 2,048 independent
/// halves has a standard error of 0.4 %.
#[test]
fn the_noise_on_a_mean_is_its_closed_form() {
    let (n, nats) = (400, 0.11);
    let (domain, table) = people(n, 1);
    // The moments of one number are its mean and its mean square. The noise on the mean alone follows from
    // both roots.
    let mechanism = PacStatistics::new(domain, Statistic::Moments, nats, 4096).unwrap();
    let x = table.records().column(0);
    let sample_variance = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
    };
    let squares: Vec<f64> = x.iter().map(|x| x * x).collect();
    let roots = [x.to_vec(), squares].map(|values| (sample_variance(&values) / n as f64).sqrt());
    let mut randomness = Randomness::seeded(4);
    let mut found = [0.0; 2];
    for _ in 0..60 {
        let halved = mechanism.draw(&table, 0, &mut randomness).unwrap();
        found.iter_mut().zip(&halved.scales).for_each(|(sum, scale)| *sum += scale * scale / 60.0);
    }
    for (found, root) in found.iter().zip(roots) {
        assert_relative_eq!(*found, root * (roots[0] + roots[1]) / (2.0 * nats), max_relative = 0.01);
    }
}

/// A linear map A of the mean: candidates are A·mean(half), with covariance A Σ Aᵀ/n.
#[test]
fn the_noise_on_a_linear_map_is_its_closed_form() {
    let (n, d, nats) = (300, 3, 0.05);
    let (_, table) = people(n, d);
    let map = ndarray::array![[1.0, -2.0, 0.5], [0.0, 3.0, 4.0]];
    let mapped = table.records().dot(&map.t());
    let centered = &mapped - &mapped.mean_axis(ndarray::Axis(0)).unwrap();
    let covariance = centered.t().dot(&centered) / ((n - 1) * n) as f64;
    let roots = [covariance[[0, 0]].sqrt(), covariance[[1, 1]].sqrt()];
    let mut found = [0.0; 2];
    const ROUNDS: usize = 60;
    for round in 0..ROUNDS {
        let mut rows: Vec<usize> = (0..n).collect();
        let mut stream = stream(round as u64);
        let mut candidates = vec![];
        for _ in 0..2048 {
            use rand::seq::SliceRandom;
            rows.shuffle(&mut stream);
            for half in [&rows[..n / 2], &rows[n / 2..]] {
                candidates.push(
                    mapped.select(ndarray::Axis(0), half).mean_axis(ndarray::Axis(0)).unwrap().to_vec(),
                );
            }
        }
        let noise = HidingNoise::calibrated(&candidates, nats).unwrap();
        assert!(noise.nats() <= nats && noise.nats() > 0.999_999 * nats);
        found.iter_mut().zip(noise.scales()).for_each(|(sum, scale)| *sum += scale * scale / ROUNDS as f64);
    }
    for (found, root) in found.iter().zip(roots) {
        assert_relative_eq!(*found, root * (roots[0] + roots[1]) / (2.0 * nats), max_relative = 0.01);
    }
}

/// The mutual information of a value that is Gaussian over the halves is ½ ln(1 + λ/σ²). With 2,048 halves,
/// the mean of ln(m·q), by Bayes, equals it within a tolerance. The tolerance is three standard errors of
/// 20,000 draws plus the deviation of 2,048 halves from a Gaussian.
#[test]
fn information_about_a_gaussian_mean_has_its_closed_form() {
    let nats = 0.11;
    let (domain, table) = people(400, 1);
    let mechanism = PacStatistics::new(domain, Statistic::Moments, nats, 2048).unwrap();
    let halved = mechanism.draw(&table, 20_000, &mut Randomness::seeded(2)).unwrap();
    let m = halved.sets.len() as f64;
    let learned = |(index, drawn): &(usize, Vec<f64>)| {
        let weight = |values: &Vec<f64>| {
            let pairs = drawn.iter().zip(values).zip(&halved.scales);
            (-pairs.map(|((a, b), scale)| ((a - b) / scale).powi(2)).sum::<f64>() / 2.0).exp()
        };
        let all: f64 = halved.values.iter().map(weight).sum();
        (m * weight(&halved.values[*index]) / all).ln()
    };
    let learned: Vec<f64> = halved.draws.iter().map(learned).collect();
    let mean = learned.iter().sum::<f64>() / learned.len() as f64;
    let error =
        (learned.iter().map(|value| (value - mean).powi(2)).sum::<f64>()).sqrt() / learned.len() as f64;
    // Of two nearly uncorrelated values: λᵢ/σᵢ² = 2·nats·√λᵢ/Σ√λ.
    let share = halved.scales[0].powi(2) / (halved.scales[0].powi(2) + halved.scales[1].powi(2));
    let expected = (2.0 * nats * share).ln_1p() / 2.0 + (2.0 * nats * (1.0 - share)).ln_1p() / 2.0;
    assert!((mean - expected).abs() < 3.0 * error + 0.002, "{mean} ± {error}, wanted {expected}");
    assert!(mean < nats, "{mean}");
}

proptest! {
    /// The mutual information of the candidates is at most `nats`, and the noise on one value is at most its
    /// closed form.
    #[test]
    fn noise_keeps_to_its_nats(
        candidates in prop::collection::vec(prop::collection::vec(-1e6..1e6_f64, 3), 2..20),
        exponent in -12..3_i32,
    ) {
        let nats = 2f64.powi(exponent);
        let noise = HidingNoise::calibrated(&candidates, nats).unwrap();
        prop_assert!(noise.nats() <= nats);
        let one: Vec<Vec<f64>> = candidates.iter().map(|candidate| vec![candidate[0]]).collect();
        let m = one.len() as f64;
        let mean = one.iter().map(|value| value[0]).sum::<f64>() / m;
        let variance = one.iter().map(|value| (value[0] - mean).powi(2)).sum::<f64>() / m;
        let noise = HidingNoise::calibrated(&one, nats).unwrap();
        prop_assert!(noise.scales()[0].powi(2) <= variance / (2.0 * nats) * (1.0 + 1e-5));
    }

    /// Values of any magnitude get noise.
    #[test]
    fn candidates_of_any_size_get_noise(size in -300..300_i32, away in -1e3..1e3_f64) {
        let size = 2f64.powi(size);
        let noise = HidingNoise::calibrated(&[vec![away * size], vec![(away + 1.0) * size]], 0.5).unwrap();
        prop_assert!(
            (noise.scales()[0] / (0.5 * size)).is_finite() && noise.scales()[0] <= 0.5 * size * (1.0 + 1e-6)
        );
        prop_assert!(noise.nats() <= 0.5);
    }
}

#[test]
fn candidates_that_are_none_are_refused() {
    for candidates in [vec![], vec![vec![0.0], vec![f64::NAN]], vec![vec![0.0], vec![1.0, 2.0]]] {
        assert!(HidingNoise::calibrated(&candidates, 1.0).is_err(), "{candidates:?}");
    }
    for nats in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(HidingNoise::calibrated(&[vec![0.0], vec![1.0]], nats).is_err(), "{nats}");
    }
}

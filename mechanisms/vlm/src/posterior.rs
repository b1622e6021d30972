//! Latents with Laplace noise: the clip ν, the posterior (the distribution of a record's latents), and its
//! divergence from the prior.

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut1, Zip};
use num_traits::Float;
use rand::Rng;
use scumble_neural::Real;
use std::f64::consts::SQRT_2;

/// Draws floating-point noise for n records with Z latents (n × Z), each value from Laplace(0, 1). It is for
/// training only, and never protects a release.
pub(crate) fn standard_noise<T: Real>((n, latents): (usize, usize), generator: &mut impl Rng) -> Array2<T> {
    Array2::from_shape_simple_fn((n, latents), || {
        let magnitude = -(1.0 - generator.r#gen::<f64>()).ln();
        T::nearest(if generator.r#gen() { magnitude } else { -magnitude })
    })
}

/// The clip ν: rescales points outside the ℓ₁ ball of radius l = `l1_bound` to its surface. The ℓ₁ distance
/// of two records' means of latents is therefore at most 2l (errata V3).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clip<T> {
    pub(crate) l1_bound: T,
}

fn l1_norm<'a, T: Real>(values: impl IntoIterator<Item = &'a T>) -> T {
    values.into_iter().map(|x| Float::abs(*x)).sum()
}

impl<T: Real> Clip<T> {
    /// Computes the clip ν(h) for each row h of `heads` (n records × Z latents).
    pub(crate) fn apply(self, heads: ArrayView2<T>) -> Array2<T> {
        let mut means = heads.to_owned();
        for mut mean in means.rows_mut() {
            let norm = l1_norm(&mean);
            if norm > self.l1_bound {
                let share = self.l1_bound / norm;
                mean.mapv_inplace(|x| x * share);
            }
        }
        means
    }

    /// Replaces `slopes` (n × Z), the gradient of a loss with respect to the clipped ν(h), by its gradient
    /// with respect to h. Here h is a row of `heads` (n records × Z latents). Outside the ball ∂νᵢ/∂hⱼ =
    /// l/s·(δᵢⱼ − hᵢ·sign hⱼ/s), with s = ‖h‖₁, the radius l of the ball, and δᵢⱼ = 1 if i = j and else 0.
    pub(crate) fn chain(self, heads: ArrayView2<T>, slopes: &mut Array2<T>) {
        for (head, mut slope) in heads.rows().into_iter().zip(slopes.rows_mut()) {
            let norm = l1_norm(head);
            if norm <= self.l1_bound {
                continue;
            }
            let along = slope.iter().zip(&head).map(|(g, h)| *g * *h).sum::<T>() / norm;
            let share = self.l1_bound / norm;
            Zip::from(&mut slope).and(&head).for_each(|g, &h| *g = share * (*g - along * sign(h)));
        }
    }
}

fn sign<T: Real>(x: T) -> T {
    if x > T::zero() {
        T::one()
    } else if x < T::zero() {
        -T::one()
    } else {
        T::zero()
    }
}

/// Computes Σⱼ KL(Laplace(μⱼ, b) ‖ Laplace(0, b₀)), the divergence of one record's latents from the prior. μ
/// = `means` has the means of the Z latents, b = `scale` is the scale of the noise, and b₀ = 1/√2. Also
/// computes the derivative of the divergence with respect to ln b.
///
/// The divergence is Σⱼ ln(b₀/b) + |μⱼ|/b₀ + (b/b₀)·e^(−|μⱼ|/b) − 1 (errata V2). The gradient of the
/// divergence with respect to μ, times `share`, is added to `slopes` (Z values).
pub(crate) fn divergence<T: Real>(
    means: ArrayView1<T>,
    scale: T,
    share: T,
    mut slopes: ArrayViewMut1<T>,
) -> (T, T) {
    let over_prior = T::nearest(SQRT_2);
    let (mut sum, mut by_log_scale) = (T::zero(), T::zero());
    let constant = -Float::ln(scale * over_prior) - T::one();
    for (slope, &mean) in slopes.iter_mut().zip(&means) {
        let size = Float::abs(mean);
        let left = Float::exp(-size / scale);
        sum += constant + over_prior * (size + scale * left);
        by_log_scale += over_prior * (scale + size) * left - T::one();
        *slope += share * sign(mean) * over_prior * (T::one() - left);
    }
    (sum, by_log_scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::relative_eq;
    use ndarray::{Array1, array};
    use proptest::prelude::*;

    /// Integrates q ln(q/p) by the trapezoid rule, with both densities written out.
    fn integrated(mean: f64, b: f64) -> f64 {
        let b0 = 1.0 / SQRT_2;
        let log_q = |z: f64| -(2.0 * b).ln() - (z - mean).abs() / b;
        let log_p = |z: f64| -(2.0 * b0).ln() - z.abs() / b0;
        let (from, to, cells) = (mean - 40.0 * b, mean + 40.0 * b, 800_000);
        let step = (to - from) / f64::from(cells);
        let at = |z: f64| log_q(z).exp() * (log_q(z) - log_p(z));
        (0..cells)
            .map(|cell| {
                (at(from + f64::from(cell) * step) + at(from + f64::from(cell + 1) * step)) / 2.0 * step
            })
            .sum()
    }

    #[test]
    fn the_divergence_is_the_integral_of_its_definition() {
        for (mean, b) in [(0.0, 0.7), (1.3, 0.7), (-2.0, 0.3), (0.4, 2.5)] {
            let (closed, _) = divergence(array![mean].view(), b, 0.0, Array1::zeros(1).view_mut());
            assert!((closed - integrated(mean, b)).abs() < 1e-6, "μ = {mean}, b = {b}: {closed}");
        }
    }

    #[test]
    fn the_prior_itself_is_no_way_off() {
        let (none, by_log_scale) =
            divergence(array![0.0].view(), 1.0 / SQRT_2, 0.0, Array1::zeros(1).view_mut());
        assert!(f64::abs(none) < 1e-15 && f64::abs(by_log_scale) < 1e-15, "{none} {by_log_scale}");
    }

    proptest! {
        #[test]
        fn gradients_of_the_divergence_are_its_differences(
            mean in -4.0..4.0_f64,
            log_scale in -2.0..2.0_f64,
        ) {
            prop_assume!(mean.abs() > 1e-3);
            let at = |mean: f64, log_scale: f64| {
                divergence(array![mean].view(), log_scale.exp(), 0.0, Array1::zeros(1).view_mut()).0
            };
            let mut slope = Array1::zeros(1);
            let (_, by_log_scale) = divergence(array![mean].view(), log_scale.exp(), 0.5, slope.view_mut());
            let step = 1e-5;
            let difference = (at(mean + step, log_scale) - at(mean - step, log_scale)) / (2.0 * step);
            prop_assert!(relative_eq!(2.0 * slope[0], difference, epsilon = 1e-6, max_relative = 1e-6));
            let difference = (at(mean, log_scale + step) - at(mean, log_scale - step)) / (2.0 * step);
            prop_assert!(relative_eq!(by_log_scale, difference, epsilon = 1e-6, max_relative = 1e-6));
        }

        #[test]
        fn the_clip_has_the_gradient_of_its_differences(
            head in proptest::collection::vec(0.05..3.0_f64, 3),
            signs in proptest::collection::vec(proptest::bool::ANY, 3),
            slope in proptest::collection::vec(-1.0..1.0_f64, 3),
        ) {
            let head: Vec<f64> = head.iter().zip(&signs).map(|(x, up)| if *up { *x } else { -x }).collect();
            let clip = Clip { l1_bound: 1.5 };
            prop_assume!((head.iter().map(|x| x.abs()).sum::<f64>() - 1.5).abs() > 1e-3);
            let row = |values: &[f64]| Array2::from_shape_vec((1, 3), values.to_vec()).unwrap();
            let along = |head: &[f64]| (clip.apply(row(head).view()) * row(&slope)).sum();
            let mut found = row(&slope);
            clip.chain(row(&head).view(), &mut found);
            for at in 0..3 {
                let moved = |by: f64| { let mut moved = head.clone(); moved[at] += by; along(&moved) };
                let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                prop_assert!(relative_eq!(found[[0, at]], difference, epsilon = 1e-6, max_relative = 1e-6));
            }
            prop_assert!(clip.apply(row(&head).view()).mapv(f64::abs).sum() <= 1.5 + 1e-12);
        }
    }

    #[test]
    fn the_noise_has_scale_one() {
        let noise: Array2<f64> = standard_noise(
            (100_000, 1),
            &mut <rand_chacha::ChaCha20Rng as rand::SeedableRng>::seed_from_u64(1),
        );
        // E|η| = 1 and E η² = 2, with standard errors of 0.003 and 0.014.
        let (size, square) = (noise.mapv(f64::abs).mean().unwrap(), noise.mapv(|x| x * x).mean().unwrap());
        assert!((size - 1.0).abs() < 0.015 && (square - 2.0).abs() < 0.07, "{size} {square}");
    }
}

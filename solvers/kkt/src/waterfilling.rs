//! Water-filling: allocation of one unit of power to components that pass through equal noise.
//!
//! Notation: component i has the weight λᵢ (an eigenvalue) and the power σᵢ². c is the variance of the noise
//! per unit of power. Z′ components have positive power, and S is the sum of √λᵢ over these components. The
//! loss is the weighted squared error Σ λᵢ·c/(σᵢ² + c).

use crate::error::not_negative;
use crate::{Error, Result};

/// The optimum of min Σ λᵢ·c/(σᵢ² + c) over σᵢ² ≥ 0 with Σ σᵢ² = 1.
///
/// It allocates the power σᵢ² to a component of weight λᵢ, which passes through noise of variance c. The
/// minimised sum is the loss: the weighted squared error of the best linear decoder.
///
/// It is the task-aware design of Proposition 4 of Cheng, Tang and Chinchali, *Task-aware privacy
/// preservation*, with M = 1 and c = 8r²/ε² in their notation. M is the total power Σ σᵢ². Another M
/// multiplies every σᵢ² and the noise's variance, and leaves the loss unchanged. r is the radius of the
/// sphere that holds the whitened records, and ε their privacy budget. The bounds of Theorem 1 of the paper
/// are the losses at c = 8r²/ε² for the radii r = r_min and r = r_max of that theorem. All equation numbers
/// in this module refer to the same paper.
///
/// Let ν be the multiplier of Σ σᵢ² = 1. The conditions of Karush, Kuhn and Tucker are λᵢ·c/(σᵢ² + c)² = ν
/// where σᵢ² > 0, and λᵢ/c ≤ ν elsewhere. So the components with the Z′ largest λᵢ have positive power. Let
/// the λᵢ descend. Z′ is the largest index with √λ_Z′ > c·Σ (√λᵢ − √λ_Z′) over i ≤ Z′, which is equation 12
/// rearranged to avoid cancellation. Both sides are monotone in Z′, so components of equal λ all have
/// positive power, or all have none. With S = Σ √λᵢ over i ≤ Z′,
///
/// - σᵢ² = √λᵢ/S·(1 + Z′c) − c (equation 11);
/// - the loss is c/(1 + Z′c)·S² + Σ λᵢ over i > Z′ (equation 13), and ν = cS²/(1 + Z′c)².
///
/// No intermediate result overflows or loses digits by cancellation, for any finite λ and c. For n
/// components, the error of σᵢ² is about n·10⁻¹⁶, and the relative error of the loss is as small.
///
/// ```
/// use scumble_kkt::Waterfilling;
///
/// let filled = Waterfilling::new(&[4.0, 1.0, 1.0, 1.0], 0.5)?;
/// assert_eq!(filled.rank(), 4);
/// assert!((filled.sigma_squared()[0] - 0.7).abs() < 1e-15);
/// assert!((filled.loss() - 25.0 / 6.0).abs() < 1e-14);
/// // Twice the noise leaves the smaller ones dry.
/// assert_eq!(Waterfilling::new(&[4.0, 1.0, 1.0, 1.0], 1.0)?.rank(), 1);
/// # Ok::<(), scumble_kkt::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Waterfilling {
    rank: usize,
    sigma_squared: Vec<f64>,
    loss: f64,
    multiplier: f64,
}

impl Waterfilling {
    /// Computes the optimum for `eigenvalues` λ (n values, in any order) and noise of variance c = `noise`
    /// per unit of power.
    ///
    /// With c = 0, the powers σᵢ² have their limits for c → 0: they are proportional to √λᵢ, and the loss is
    /// zero.
    ///
    /// # Errors
    /// [`Error::Shape`] for no eigenvalues, [`Error::Eigenvalue`] for an eigenvalue that is negative or not
    /// finite, [`Error::Parameter`] if `noise` is negative or not finite.
    pub fn new(eigenvalues: &[f64], noise: f64) -> Result<Self> {
        Self::with_latent_dim(eigenvalues, noise, eigenvalues.len().max(1))
    }

    /// Computes the optimum with at most `latent_dim` positive powers σᵢ², for `eigenvalues` λ (n values, in
    /// any order) and noise of variance `noise` per unit of power. Among equal eigenvalues, those with
    /// smaller indices come first.
    ///
    /// # Errors
    /// Same errors as [`new`](Self::new), and [`Error::LatentDim`] unless 1 ≤ `latent_dim` ≤ n.
    pub fn with_latent_dim(eigenvalues: &[f64], noise: f64, latent_dim: usize) -> Result<Self> {
        let order = descending(eigenvalues)?;
        let noise = not_negative("the noise's variance", noise)?;
        check_latent_dim(eigenvalues, latent_dim)?;
        let largest: Vec<f64> = order.iter().take(latent_dim).map(|i| eigenvalues[*i]).collect();
        let rank = rank(&largest, noise);
        let (sent, kept_back) = order.split_at(rank);
        let roots: f64 = sum(sent.iter().map(|i| eigenvalues[*i].sqrt()));
        let mut sigma_squared = vec![0.0; eigenvalues.len()];
        for (i, sigma_squared_i) in sent.iter().zip(shares(&largest[..rank], noise)) {
            sigma_squared[*i] = sigma_squared_i / roots;
        }
        let unsent = sum(kept_back.iter().map(|i| eigenvalues[*i]));
        let scale = noise_share(noise, rank) * roots;
        let multiplier = scale * (roots / (1.0 + rank as f64 * noise));
        Ok(Self { rank, sigma_squared, loss: scale * roots + unsent, multiplier })
    }

    /// Z′, the number of positive powers σᵢ². It is zero if all eigenvalues are zero.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The powers σᵢ² (n values, in the order of the eigenvalues). Their sum is 1, or 0 if all eigenvalues
    /// are zero.
    pub fn sigma_squared(&self) -> &[f64] {
        &self.sigma_squared
    }

    /// The loss, from 0 to Σ λᵢ.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    /// ν, the decrease of the loss per additional unit of power.
    pub fn multiplier(&self) -> f64 {
        self.multiplier
    }
}

/// Loss Σ λᵢ·v/(σᵢ² + v) of the best linear decoder.
///
/// The components of `eigenvalues` λ (n values) are sent with the powers `sigma_squared` σᵢ² (n values)
/// through `noise` of variance v. A component of power zero is not sent, and its loss is λᵢ (equation 55 of
/// the paper cited at [`Waterfilling`]).
///
/// # Errors
/// [`Error::Shape`] for no eigenvalues or another number of powers. [`Error::Eigenvalue`] for an eigenvalue
/// that is negative or not finite, [`Error::Parameter`] if a power or `noise` is negative or not finite.
pub fn decoding_loss(eigenvalues: &[f64], sigma_squared: &[f64], noise: f64) -> Result<f64> {
    check(eigenvalues)?;
    let noise = not_negative("the noise's variance", noise)?;
    if sigma_squared.len() != eigenvalues.len() {
        let (n, powers) = (eigenvalues.len(), sigma_squared.len());
        return Err(Error::Shape(format!("there are {powers} powers for {n} eigenvalues")));
    }
    let mut loss = 0.0;
    for (lambda, power) in eigenvalues.iter().zip(sigma_squared) {
        let power = not_negative("a power", *power)?;
        loss += if power == 0.0 { *lambda } else { lambda * odds_to_share(noise / power) };
    }
    Ok(loss)
}

/// Loss of equal powers: Z·c/(1 + Z·c) times the sum of the Z largest λᵢ, plus the sum of all other λᵢ.
///
/// The Z = `latent_dim` components of the largest `eigenvalues` (n values, in any order) are sent with equal
/// powers, and no others. This is equation 59 of the paper cited at [`Waterfilling`]. The noise has variance
/// c = `noise`. With Z = n it is equation 58.
///
/// # Errors
/// Same errors as [`Waterfilling::with_latent_dim`].
pub fn equal_power_loss(eigenvalues: &[f64], noise: f64, latent_dim: usize) -> Result<f64> {
    let order = descending(eigenvalues)?;
    let noise = not_negative("the noise's variance", noise)?;
    check_latent_dim(eigenvalues, latent_dim)?;
    let share = odds_to_share(latent_dim as f64 * noise);
    let (sent, kept_back) = order.split_at(latent_dim);
    let sent_loss = sum(sent.iter().map(|i| share * eigenvalues[*i]));
    Ok(sent_loss + sum(kept_back.iter().map(|i| eigenvalues[*i])))
}

/// Z′, the number of components with positive power, for eigenvalues λ in descending order.
fn rank(descending: &[f64], noise: f64) -> usize {
    // Σ (√λᵢ − √λ_Z′) over i ≤ Z′.
    let mut excess = 0.0;
    let filled = descending.iter().enumerate().take_while(|(at, lambda)| {
        if let Some(before) = at.checked_sub(1) {
            excess += *at as f64 * difference_of_roots(descending[before], **lambda);
        }
        lambda.sqrt() > noise * excess
    });
    filled.count()
}

/// S·σᵢ², the powers times the sum S = Σ √λᵢ, for the Z′ eigenvalues λ whose components have positive power,
/// in descending order: √λᵢ + c·Σ (√λᵢ − √λⱼ) over j ≤ Z′. The notation is that of [`Waterfilling`].
fn shares(descending: &[f64], noise: f64) -> Vec<f64> {
    let steps: Vec<f64> = descending.windows(2).map(|pair| difference_of_roots(pair[0], pair[1])).collect();
    // The first pass, in ascending index, subtracts the terms of larger eigenvalues. The second pass, in
    // descending index, adds the terms of smaller eigenvalues.
    let mut above = 0.0;
    let mut shares: Vec<f64> = descending
        .iter()
        .enumerate()
        .map(|(at, lambda)| {
            if at > 0 {
                above += at as f64 * steps[at - 1];
            }
            lambda.sqrt() - noise * above
        })
        .collect();
    let mut below = 0.0;
    for at in (0..steps.len()).rev() {
        below += (steps.len() - at) as f64 * steps[at];
        shares[at] += noise * below;
    }
    shares
}

/// √larger − √smaller. Where the arguments are close, their difference is exact, but the difference of their
/// roots is not.
fn difference_of_roots(larger: f64, smaller: f64) -> f64 {
    let difference = larger - smaller;
    if difference == 0.0 { 0.0 } else { difference / (larger.sqrt() + smaller.sqrt()) }
}

/// The factor c/(1 + Zc) of the loss, for the noise variance c = `noise` and Z = `rank` components.
fn noise_share(noise: f64, rank: usize) -> f64 {
    let rank = rank as f64;
    if noise <= 1.0 { noise / (1.0 + rank * noise) } else { 1.0 / (1.0 / noise + rank) }
}

/// The value x/(1 + x), for x = `odds` up to infinity.
fn odds_to_share(odds: f64) -> f64 {
    noise_share(odds, 1)
}

/// The indices of the eigenvalues in descending order. Equal eigenvalues keep their order.
fn descending(eigenvalues: &[f64]) -> Result<Vec<usize>> {
    check(eigenvalues)?;
    let mut order: Vec<usize> = (0..eigenvalues.len()).collect();
    order.sort_by(|one, other| eigenvalues[*other].total_cmp(&eigenvalues[*one]));
    Ok(order)
}

fn check(eigenvalues: &[f64]) -> Result<()> {
    if eigenvalues.is_empty() {
        return Err(Error::Shape("there are no eigenvalues, and at least one is needed".to_owned()));
    }
    match eigenvalues.iter().position(|lambda| !(lambda.is_finite() && *lambda >= 0.0)) {
        Some(index) => Err(Error::Eigenvalue { index, value: eigenvalues[index] }),
        None => Ok(()),
    }
}

fn check_latent_dim(eigenvalues: &[f64], latent_dim: usize) -> Result<()> {
    let most = eigenvalues.len();
    if (1..=most).contains(&latent_dim) { Ok(()) } else { Err(Error::LatentDim { latent_dim, most }) }
}

/// The sum, starting from 0.0: the iterator's own empty sum is −0.0.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

//! Random directions in place of points of a ball: PrivUnit.

use scumble_core::{Domain, Error, Result, Stream, check_width};
use scumble_oracles::{Answer, PrivUnit, whole};

/// Randomises points of an ℓ₂ ball of k dimensions by [`PrivUnit`].
///
/// A point v of the ball of radius r becomes the vector (v, √(r² − ‖v‖²)) of k + 1 dimensions and length r,
/// with the direction u. The answer is one of finitely many random directions, at ε. An answer of the
/// direction V gives the estimate ṽ of v: the first k coordinates of r·V/m, for the oracle's shrinkage m. It
/// has no bias, and
///
/// E ṽṽᵀ = ρ·vvᵀ + c·I, with ρ = (a − b)/m² and c = b·r²/m²,
///
/// for the mean square a = E⟨u, V⟩² along u and the mean square b = (1 − a)/k across it. An estimate is a
/// function of the answer, so its rounding costs no privacy.
///
/// ```
/// use scumble_core::Randomness;
/// use scumble_noise::RandomDirection;
///
/// let direction = RandomDirection::best(2, 3.0, 1.0)?;
/// let point = direction.point(&[3.0, 0.0])?;
/// assert_eq!(point, [3.0, 0.0, 0.0]);
/// let answer = direction.answer(&point, &mut Randomness::seeded(1).streams().stream(0))?;
/// assert_eq!(direction.estimate(&answer)?.len(), 2);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RandomDirection {
    oracle: PrivUnit,
    radius: f64,
    range: Domain,
}

impl RandomDirection {
    /// Names of the values of an answer: the seed from which candidate directions are drawn, and the
    /// index of one of them.
    pub const COLUMNS: [&str; 2] = ["reported seed", "reported direction"];

    /// Randomises points of the ball of `dim` dimensions (k) and the given `radius` by `oracle`, which has
    /// one dimension more.
    ///
    /// # Errors
    /// [`Error::Shape`] if `oracle` has another number of dimensions.
    pub fn new(oracle: PrivUnit, dim: usize, radius: f64) -> Result<Self> {
        check_width(oracle.dim(), dim + 1)?;
        Ok(Self { range: Domain::l2_ball(oracle.dim(), radius)?, oracle, radius })
    }

    /// Randomises points of the ball of `dim` dimensions and the given `radius` at `epsilon`, with few
    /// candidate directions and nearly the least error.
    ///
    /// # Errors
    /// [`Error::Shape`] if there are too many dimensions, [`Error::Budget`] if ε is too small.
    pub fn best(dim: usize, radius: f64, epsilon: f64) -> Result<Self> {
        let oracle = PrivUnit::best(dim + 1, epsilon).map_err(|problem| match problem {
            scumble_oracles::Error::Epsilon { epsilon } => Error::Budget {
                name: "epsilon",
                range: "above zero, and large enough that answers differ in 62 binary digits",
                value: epsilon,
            },
            problem => Error::shape(problem.to_string()),
        })?;
        Self::new(oracle, dim, radius)
    }

    /// The oracle for directions of k + 1 dimensions.
    pub fn oracle(&self) -> &PrivUnit {
        &self.oracle
    }

    /// Radius of the ball.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Set of the vectors of k + 1 dimensions: a ball of the same radius.
    pub fn range(&self) -> &Domain {
        &self.range
    }

    /// The factors ρ and c of the second moment ρ·vvᵀ + c·I of the estimate of a point v.
    pub fn second_moment(&self) -> (f64, f64) {
        let (along, shrinkage) = (self.oracle.square_along(), self.oracle.shrinkage());
        let across = (1.0 - along) / (self.oracle.dim() - 1) as f64;
        ((along - across) / shrinkage.powi(2), across * (self.radius / shrinkage).powi(2))
    }

    /// Returns the vector (k + 1 values) for a point of the ball (k values).
    ///
    /// # Errors
    /// [`Error::Shape`] if `point` does not have k values, [`Error::NonFinite`] if a value is not finite.
    pub fn point(&self, point: &[f64]) -> Result<Vec<f64>> {
        let square: f64 = point.iter().map(|x| x * x).sum();
        let mut vector = point.to_vec();
        vector.push((self.radius * self.radius - square).max(0.0).sqrt());
        self.range.project(&mut vector)?;
        Ok(vector)
    }

    /// Draws an answer for a vector (k + 1 values): the values of [`COLUMNS`](Self::COLUMNS).
    ///
    /// # Errors
    /// [`Error::Shape`] if `vector` does not have k + 1 values.
    pub fn answer(&self, vector: &[f64], stream: &mut Stream) -> Result<[f64; 2]> {
        check_width(self.oracle.dim(), vector.len())?;
        let Answer { seed, candidate } = self.oracle.answer(stream, vector);
        // Seed and candidate are less than 2⁴⁸, so a float represents them exactly.
        Ok([seed as f64, candidate as f64])
    }

    /// Returns the direction (k + 1 values) of an answer.
    ///
    /// # Errors
    /// [`Error::Shape`] if the values are no answer of the oracle.
    pub fn direction(&self, answer: &[f64]) -> Result<Vec<f64>> {
        let direction = self.oracle.direction(read(answer)?);
        direction.map_err(|problem| Error::shape(problem.to_string()))
    }

    /// Estimates the point of the ball (k values) from its answer.
    ///
    /// # Errors
    /// [`Error::Shape`] if the values are no answer of the oracle.
    pub fn estimate(&self, answer: &[f64]) -> Result<Vec<f64>> {
        let mut direction = self.direction(answer)?;
        direction.pop();
        let scale = self.radius / self.oracle.shrinkage();
        direction.iter_mut().for_each(|x| *x *= scale);
        Ok(direction)
    }

    /// Logarithm of the probability of `answer` for a vector (k + 1 values), up to a constant. Returns `None`
    /// for values that are no vector or no answer.
    pub fn log_likelihood(&self, vector: &[f64], answer: &[f64]) -> Option<f64> {
        let answer = read(answer).ok().filter(|_| vector.len() == self.oracle.dim())?;
        Some(self.oracle.log_likelihood(answer, vector))
    }
}

/// Parses the values of an answer.
fn read(answer: &[f64]) -> Result<Answer> {
    let [seed, candidate, ..] = answer else { return Err(Error::shape("it is too short")) };
    let whole = |value: f64, column: usize| {
        let name = RandomDirection::COLUMNS[column];
        whole(value).map_err(|problem| Error::shape(format!("column {name:?}: {problem}")))
    };
    Ok(Answer { seed: whole(*seed, 0)?, candidate: whole(*candidate, 1)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;

    /// Mean and second moments of 40,000 estimates agree with the formulas within six standard errors. With
    /// the moments of ε + 0.3 they would not.
    #[test]
    fn estimates_have_the_stated_moments() {
        const ANSWERS: usize = 40_000;
        let point = [1.2, -0.5];
        let mut stream = Randomness::seeded(3).streams().stream(0);
        for (epsilon, radius) in [(0.5, 2.0), (4.0, 1.3)] {
            let honest = RandomDirection::best(2, radius, epsilon).unwrap();
            let (along, across) = honest.second_moment();
            let (mut mean, mut squares) = ([0.0; 2], vec![]);
            for _ in 0..ANSWERS {
                let answer = honest.answer(&honest.point(&point).unwrap(), &mut stream).unwrap();
                let estimate = honest.estimate(&answer).unwrap();
                mean.iter_mut().zip(&estimate).for_each(|(mean, x)| *mean += x / ANSWERS as f64);
                squares.push([estimate[0].powi(2), estimate[0] * estimate[1]]);
            }
            let error = 6.0 * ((along * 1.69 + across) / ANSWERS as f64).sqrt();
            assert!(mean.iter().zip(point).all(|(mean, x)| (mean - x).abs() < error), "{mean:?}");
            for (at, expected) in [along * 1.44 + across, -along * 0.6].into_iter().enumerate() {
                let column: Vec<f64> = squares.iter().map(|square| square[at]).collect();
                let mean = column.iter().sum::<f64>() / ANSWERS as f64;
                let variance = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / ANSWERS as f64;
                let error = 6.0 * (variance / ANSWERS as f64).sqrt();
                assert!((mean - expected).abs() < error, "{mean} and {expected} at ε = {epsilon}");
            }
            let other = RandomDirection::best(2, radius, epsilon + 0.3).unwrap().second_moment();
            assert!((other.1 / across - 1.0).abs() > 0.05);
        }
    }
}

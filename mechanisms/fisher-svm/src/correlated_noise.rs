//! Gaussian noise on q records xᵢ of p values. It leaves the sums Σ bᵢxᵢ and the scores aᵀxᵢ of each record
//! unchanged, for given vectors b (q values) and a (p values).

use rayon::prelude::*;
use scumble_core::{Error, Result, Streams, local::BLOCK};
use scumble_sampling::{DiscreteGaussian, Rational};

/// Logarithm to base 2 of the number of lattice steps per standard deviation, for the lattice on which noise
/// is drawn.
const FINENESS: i32 = 40;

/// Gaussian noise W of Theorem 2.10 (Farokhi), for several models, on q records xᵢ of p values. It leaves
/// Σ bᵢxᵢ and every aᵀxᵢ unchanged, for each given vector b (q values) and a (p values).
///
/// W = (I − P)·G·(I − Q), where the q × p values of G are independent, with mean zero and variance m. P is
/// the orthogonal projection onto the span of the vectors b, and Q onto the span of the vectors a. For one b
/// and one a, they are bbᵀ/bᵀb and aaᵀ/aᵀa (errata F8). The covariance of W is m·(I − P) ⊗ (I − Q): the
/// orthogonal projection onto all W with Wᵀb = 0 and Wa = 0, times m.
///
/// The exact sampler of the discrete Gaussian distribution draws G on a lattice about 2⁴⁰ times finer than
/// its standard deviation. The two factors are applied in double precision, in O(q·p) time and with only O(q
/// + p) memory in addition to the records, for each vector.
///
/// ```
/// use scumble_fisher_svm::CorrelatedNoise;
/// use scumble_core::Randomness;
///
/// let noise = CorrelatedNoise::new(vec![vec![1.0, -1.0, 2.0]], vec![vec![3.0, 4.0]], 100.0)?;
/// let mut records = [0.0; 6]; // three of two values
/// noise.add(&mut records, &Randomness::from_os()?.streams())?;
/// for record in records.chunks(2) {
///     assert!((3.0 * record[0] + 4.0 * record[1]).abs() < 1e-12);
/// }
/// assert!((records[0] - records[2] + 2.0 * records[4]).abs() < 1e-12);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CorrelatedNoise {
    /// Numbers of records and of columns, q and p.
    shape: (usize, usize),
    /// Orthonormal basis of the span of the vectors b (q values each).
    b: Vec<Vec<f64>>,
    /// Orthonormal basis of the span of the vectors a (p values each).
    a: Vec<Vec<f64>>,
    distribution: DiscreteGaussian,
    /// Step of the lattice on which the noise is drawn, a power of two.
    step: f64,
}

impl CorrelatedNoise {
    /// Creates noise for vectors `b` (q values each) and `a` (p values each) as [`CorrelatedNoise`] defines
    /// them. Before the projection, each value has the variance m = `variance`.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no vector, no record or no column, if vectors differ in length, or if a
    /// value is not finite; [`Error::Domain`] unless `variance` lies between 10⁻⁶⁰ and 10⁶⁰.
    pub fn new(b: Vec<Vec<f64>>, a: Vec<Vec<f64>>, variance: f64) -> Result<Self> {
        if !(1e-60..=1e60).contains(&variance) {
            return Err(Error::Domain {
                needs: "a variance between 1e-60 and 1e60",
                given: variance.to_string(),
            });
        }
        let sigma = variance.sqrt();
        let step = 2f64.powi(sigma.log2().floor() as i32 - FINENESS);
        // Rounding up never gives less noise than requested.
        let distribution = DiscreteGaussian::new(Rational::floor_of((sigma / step).ceil())?)?;
        let shape = (length(&b)?, length(&a)?);
        Ok(Self { shape, b: basis(b), a: basis(a), distribution, step })
    }

    /// Returns the largest share max Pᵢᵢ of the variance of a record's noise that the projection P removes to
    /// keep the sums Σ bᵢxᵢ. For one vector b, it is max bᵢ²/bᵀb.
    pub fn largest_share(&self) -> f64 {
        let share = |record: usize| self.b.iter().map(|b| b[record] * b[record]).sum::<f64>();
        (0..self.shape.0).map(share).fold(0.0, f64::max)
    }

    /// Returns the number of directions of a record in which there is noise: p less the rank of the vectors
    /// a.
    pub fn open_directions(&self) -> usize {
        self.shape.1 - self.a.len()
    }

    /// Adds the noise W (q × p) to `records`, which has q × p values, one record after the other. The result
    /// is the same for any number of threads.
    ///
    /// # Errors
    /// [`Error::Shape`] if `records` does not have q·p values.
    pub fn add(&self, records: &mut [f64], streams: &Streams) -> Result<()> {
        let (q, p) = self.shape;
        if records.len() != q * p {
            return Err(Error::shape(format!(
                "there are {} values for {q} records of {p} values each",
                records.len()
            )));
        }
        let kept = Kept { scores: self.scores(records), sums: self.sums(records) };
        records.par_chunks_mut(BLOCK * p).enumerate().for_each(|(block, values)| {
            let mut stream = streams.stream(block as u64);
            values.iter_mut().for_each(|x| *x += self.distribution.sample(&mut stream) as f64 * self.step);
        });
        // Restoring the sums in `kept` projects the noise. The second pass removes the rounding errors of the
        // first pass.
        for _ in 0..2 {
            self.restore(records, &kept);
        }
        Ok(())
    }

    /// Moves `records` to the nearest records (in ℓ₂ distance) that have the scores and the sums in `kept`.
    fn restore(&self, records: &mut [f64], kept: &Kept) {
        let p = self.shape.1;
        for (a, scores) in self.a.iter().zip(&kept.scores) {
            records.par_chunks_mut(p).with_min_len(BLOCK).zip(scores).for_each(|(record, score)| {
                let off = dot(record, a) - score;
                record.iter_mut().zip(a).for_each(|(x, a)| *x -= off * a);
            });
        }
        for (b, kept) in self.b.iter().zip(&kept.sums) {
            let off: Vec<f64> = self.sum(b, records).iter().zip(kept).map(|(sum, kept)| sum - kept).collect();
            records.par_chunks_mut(p).with_min_len(BLOCK).zip(b).for_each(|(record, b)| {
                record.iter_mut().zip(&off).for_each(|(x, off)| *x -= off * b);
            });
        }
    }

    /// Returns the score aᵀxᵢ of each record xᵢ (q values), for each vector a of the basis.
    fn scores(&self, records: &[f64]) -> Vec<Vec<f64>> {
        let of = |a: &Vec<f64>| {
            let rows = records.par_chunks(self.shape.1).with_min_len(BLOCK);
            rows.map(|record| dot(record, a)).collect()
        };
        self.a.iter().map(of).collect()
    }

    fn sums(&self, records: &[f64]) -> Vec<Vec<f64>> {
        self.b.iter().map(|b| self.sum(b, records)).collect()
    }

    /// Returns the sum Σ bᵢxᵢ over the records xᵢ (p values), for a vector b of the basis. Blocks of records
    /// are added in a fixed order.
    fn sum(&self, b: &[f64], records: &[f64]) -> Vec<f64> {
        let p = self.shape.1;
        let blocks = records.par_chunks(BLOCK * p).zip(b.par_chunks(BLOCK));
        let sums: Vec<Vec<f64>> = blocks
            .map(|(records, b)| {
                let mut sum = vec![0.0; p];
                for (record, b) in records.chunks(p).zip(b) {
                    sum.iter_mut().zip(record).for_each(|(sum, x)| *sum += b * x);
                }
                sum
            })
            .collect();
        let add = |mut total: Vec<f64>, sum: Vec<f64>| {
            total.iter_mut().zip(sum).for_each(|(total, x)| *total += x);
            total
        };
        sums.into_iter().fold(vec![0.0; p], add)
    }
}

/// Scores aᵀxᵢ and sums Σ bᵢxᵢ of records xᵢ, for the vectors a and b of both bases. The noise leaves them
/// unchanged.
struct Kept {
    scores: Vec<Vec<f64>>,
    sums: Vec<Vec<f64>>,
}

/// Returns the common length of `vectors`.
///
/// # Errors
/// [`Error::Shape`] if there is no vector, if they differ in length, or if one is empty or has a value that
/// is not finite.
fn length(vectors: &[Vec<f64>]) -> Result<usize> {
    let length = vectors.first().map_or(0, Vec::len);
    if length == 0 || vectors.iter().flatten().any(|x| !x.is_finite()) {
        return Err(Error::shape("a sum that the noise keeps needs one finite number or more"));
    }
    if vectors.iter().any(|vector| vector.len() != length) {
        return Err(Error::shape("the sums that the noise keeps need equally many numbers each"));
    }
    Ok(length)
}

/// Length that remains of a vector of length 1 after the projection off the others, at or below which it
/// depends on them. Noise along the rest of it would change a score by as small a share.
const DEPENDENT: f64 = 1e-13;

/// Returns an orthonormal basis of the span of `vectors` (Gram and Schmidt, twice for the last digits).
fn basis(vectors: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = vec![];
    for mut vector in vectors {
        scale_to_one(&mut vector);
        for _ in 0..2 {
            for other in &basis {
                let along = dot(&vector, other);
                vector.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
            }
            if dot(&vector, &vector).sqrt() <= DEPENDENT {
                vector.fill(0.0);
            }
            scale_to_one(&mut vector);
        }
        if vector.iter().any(|x| *x != 0.0) {
            basis.push(vector);
        }
    }
    basis
}

/// Scales `vector` to length 1, unless it is zero.
fn scale_to_one(vector: &mut [f64]) {
    // Dividing by the largest value first keeps all squares finite.
    let largest = vector.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest > 0.0 {
        vector.iter_mut().for_each(|x| *x /= largest);
        let length = dot(vector, vector).sqrt();
        vector.iter_mut().for_each(|x| *x /= length);
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;

    const B: [f64; 4] = [1.0, -2.0, 0.0, 0.5];
    const A: [f64; 3] = [0.5, 0.0, -1.0];
    const VARIANCE: f64 = 2.5;

    fn drawn(noise: &CorrelatedNoise, seed: u64) -> Vec<f64> {
        let mut records = vec![0.0; noise.shape.0 * noise.shape.1];
        noise.add(&mut records, &Randomness::seeded(seed).streams()).unwrap();
        records
    }

    /// Entry (row, column) of I − vvᵀ/vᵀv.
    fn projection(v: &[f64], row: usize, column: usize) -> f64 {
        f64::from(u8::from(row == column)) - v[row] * v[column] / dot(v, v)
    }

    /// A mean of products over 100,000 draws has a standard error of at most √2·m/316. The tolerance is six
    /// of them. For the 78 means, the false-alarm rate is 2·10⁻⁷. An error of 3 % in the variance is
    /// detected.
    #[test]
    fn the_covariance_is_that_of_theorem_2_10() {
        let noise = CorrelatedNoise::new(vec![B.to_vec()], vec![A.to_vec()], VARIANCE).unwrap();
        let draws = 100_000;
        let mut mean = vec![0.0; 12 * 12];
        for seed in 0..draws {
            let w = drawn(&noise, seed);
            for (at, product) in mean.iter_mut().enumerate() {
                *product += w[at / 12] * w[at % 12] / draws as f64;
            }
        }
        for (at, seen) in mean.into_iter().enumerate() {
            let (one, other) = (at / 12, at % 12);
            let records = projection(&B, one / 3, other / 3);
            let expected = VARIANCE * records * projection(&A, one % 3, other % 3);
            let error = 2f64.sqrt() * VARIANCE / (draws as f64).sqrt();
            assert!(
                (seen - expected).abs() < 6.0 * error,
                "seeds from 0, {one} with {other}: {seen}, not {expected}"
            );
        }
    }

    #[test]
    fn what_is_kept_is_kept_to_the_last_digits_at_any_size_of_noise() {
        let b = |step: usize| (0..3000).map(|i| ((i * step) % 101) as f64 - 50.0).collect::<Vec<f64>>();
        let a = |step: f64| (0..7).map(|j| j as f64 * step - 2e3).collect::<Vec<f64>>();
        let (b, a) = (vec![b(37), b(41), b(7)], vec![a(1e3), a(3e2)]);
        let clean: Vec<f64> = (0..3000 * 7).map(|at| (at % 13) as f64 / 13.0).collect();
        for variance in [1e-12, 1.0, 1e12] {
            let noise = CorrelatedNoise::new(b.clone(), a.clone(), variance).unwrap();
            let mut records = clean.clone();
            noise.add(&mut records, &Randomness::seeded(1).streams()).unwrap();
            assert_ne!(records, clean);
            // A few of the last digits of the noise.
            let close = 1e-14 * (1.0 + variance.sqrt());
            let [scores, were] = [&records, &clean].map(|records| noise.scores(records).concat());
            for (score, was) in scores.iter().zip(were) {
                assert!((score - was).abs() < close, "m = {variance}: {score} was {was}");
            }
            let [sums, were] = [&records, &clean].map(|records| noise.sums(records).concat());
            for (sum, was) in sums.iter().zip(were) {
                assert!((sum - was).abs() < 10.0 * close, "m = {variance}: {sum} was {was}");
            }
        }
    }

    #[test]
    fn zeros_keep_nothing() {
        let noise = |b: f64, a: f64| CorrelatedNoise::new(vec![vec![b; 2]], vec![vec![a, 0.0]], 1.0).unwrap();
        let first_draw = |noise: CorrelatedNoise| drawn(&noise, 1);
        let free = first_draw(noise(0.0, 0.0));
        assert!(free.iter().all(|x| *x != 0.0));
        let first_column_kept = first_draw(noise(0.0, 5.0));
        assert_eq!([first_column_kept[0], first_column_kept[2]], [0.0; 2]);
        assert_eq!([first_column_kept[1], first_column_kept[3]], [free[1], free[3]]);
        let sum_kept = first_draw(noise(3.0, 0.0));
        assert!((sum_kept[1] + sum_kept[3]).abs() < 1e-15 && sum_kept[0] != 0.0);
    }

    #[test]
    fn the_largest_share_is_that_of_the_largest_weight() {
        let noise = |b: Vec<Vec<f64>>| CorrelatedNoise::new(b, vec![A.to_vec()], 1.0).unwrap();
        assert!((noise(vec![B.to_vec()]).largest_share() - 4.0 / 5.25).abs() < 1e-15);
        assert!((noise(vec![vec![1e300, 1e300]]).largest_share() - 0.5).abs() < 1e-15);
        // Two equal directions are one, and two different ones of two records are everything.
        let same = noise(vec![vec![1.0, 2.0, 2.0], vec![-0.1, -0.2, -0.2]]);
        assert!((same.largest_share() - 4.0 / 9.0).abs() < 1e-15);
        assert!((noise(vec![vec![1.0, 0.0], vec![1.0, 1e-3]]).largest_share() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn what_is_no_noise_is_refused() {
        let refused = |b: &[f64], a: &[f64], variance| {
            CorrelatedNoise::new(vec![b.to_vec()], vec![a.to_vec()], variance).unwrap_err().to_string()
        };
        for variance in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e61] {
            assert!(refused(&B, &A, variance).contains("a variance between"), "{variance}");
        }
        assert!(refused(&[], &A, 1.0).contains("finite number"));
        assert!(refused(&B, &[f64::NAN], 1.0).contains("finite number"));
        let unequal = CorrelatedNoise::new(vec![vec![1.0; 2], vec![1.0; 3]], vec![A.to_vec()], 1.0);
        assert!(unequal.unwrap_err().to_string().contains("equally many"));
        let noise = CorrelatedNoise::new(vec![B.to_vec()], vec![A.to_vec()], 1.0).unwrap();
        let short = noise.add(&mut [0.0; 11], &Randomness::seeded(1).streams()).unwrap_err();
        assert_eq!(short.to_string(), "there are 11 values for 4 records of 3 values each");
    }
}

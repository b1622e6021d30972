//! Exact noise on a lattice of step 2⁻⁴⁰ at scale 1, compared with floating-point noise and OpenDP's.

use crate::{Contestant, Host, Result, Section, random_bits};
use rand::Rng;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use scumble::sampling::{DiscreteGaussian, DiscreteLaplace, Rational};
use std::hint::black_box;

/// Python program that times Laplace noise by diffprivlib, a peer (compared implementation).
const PEER: &str = include_str!("../peers/diffprivlib_laplace.py");

const DRAWS: usize = 200_000;
const STEPS: u64 = 1 << 40;

/// Creates a contestant that calls `draw` many times per round, with its own ChaCha20 stream.
fn draws<T: 'static>(name: &str, draw: impl Fn(&mut ChaCha20Rng) -> T + 'static) -> Contestant {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    Contestant::timed(name, DRAWS, move || {
        for _ in 0..DRAWS {
            black_box(draw(&mut rng));
        }
        Ok(())
    })
}

pub(crate) fn laplace(host: &Host) -> Result<Section> {
    let distribution = DiscreteLaplace::new(Rational::new(STEPS, 1)?)?;
    let bits = random_bits::bits_per_draw(DRAWS, |rng| distribution.sample(rng));
    let mut contestants = vec![
        draws("scumble, discrete Laplace, exact", move |rng| distribution.sample(rng)),
        draws("rand_distr, `Exp1` with a random sign, floating point", |rng| {
            let magnitude: f64 = Exp1.sample(rng);
            if rng.r#gen() { magnitude } else { -magnitude }
        }),
    ];
    #[cfg(feature = "peers")]
    contestants.push(opendp::laplace()?);
    let what = what(random_bits::laplace_entropy(STEPS as f64), bits);
    contestants.extend(host.numpy("numpy, `laplace`, floating point", "laplace"));
    let diffprivlib = host.guest(PEER, "diffprivlib");
    contestants.extend(
        diffprivlib
            .map(|python| python.contestant("diffprivlib, `Laplace`, floating point", "laplace".into())),
    );
    Ok(Section::new(what, contestants).limited_by(limits(bits)))
}

pub(crate) fn gaussian(host: &Host) -> Result<Section> {
    let distribution = DiscreteGaussian::new(Rational::new(STEPS, 1)?)?;
    let bits = random_bits::bits_per_draw(DRAWS, |rng| distribution.sample(rng));
    let (bulk, mut rng, mut drawn) = (distribution.clone(), ChaCha20Rng::seed_from_u64(1), vec![0; DRAWS]);
    let mut contestants = vec![
        draws("scumble, discrete Gaussian, exact", move |rng| distribution.sample(rng)),
        Contestant::timed("scumble, discrete Gaussian, exact, in bulk", DRAWS, move || {
            bulk.draws(&mut rng).fill(&mut drawn);
            Ok(black_box(&drawn)[0])
        }),
        draws("rand_distr, `StandardNormal`, floating point", |rng| -> f64 { StandardNormal.sample(rng) }),
    ];
    #[cfg(feature = "peers")]
    contestants.push(opendp::gaussian()?);
    let what = what(random_bits::gaussian_entropy(STEPS as f64), bits);
    contestants.extend(host.numpy("numpy, `normal`, floating point", "gaussian"));
    Ok(Section::new(what, contestants).limited_by(limits(bits)))
}

fn limits(bits: f64) -> Vec<Contestant> {
    vec![random_bits::raw("raw ChaCha20, as many bits", bits, DRAWS)]
}

fn what(entropy: f64, bits: f64) -> String {
    format!(
        "Time of one draw of scale 1. Exact samplers draw on a lattice of step 2⁻⁴⁰. All use ChaCha20, \
         except numpy (PCG64). The exact distribution has an entropy of {entropy:.1} bits, a lower bound on \
         the mean number of random bits of any sampler. Ours takes {bits:.2} bits a draw, counted over \
         {DRAWS} draws. The limit is the generator's raw output of the same number of bits."
    )
}

/// OpenDP's noise on vectors of zeros, with its default generator without OpenSSL. With OpenSSL it takes
/// about four times as long.
#[cfg(feature = "peers")]
mod opendp {
    use super::{Contestant, Result};
    use opendp::domains::{AtomDomain, VectorDomain};
    use opendp::measurements::{make_gaussian, make_laplace};
    use opendp::measures::{MaxDivergence, ZeroConcentratedDivergence};
    use opendp::metrics::{L1Distance, L2Distance};

    const DRAWS: usize = 10_000;
    const STEP: Option<i32> = Some(-40);

    fn vectors() -> VectorDomain<AtomDomain<f64>> {
        VectorDomain::new(AtomDomain::new_non_nan()).with_size(DRAWS)
    }

    fn text(problem: opendp::error::Error) -> String {
        format!("{problem:?}")
    }

    pub(super) fn laplace() -> Result<Contestant> {
        let noise = make_laplace::<_, _, MaxDivergence>(vectors(), L1Distance::<f64>::default(), 1.0, STEP);
        let (noise, zeros) = (noise.map_err(text)?, vec![0.0; DRAWS]);
        Ok(Contestant::timed("OpenDP 0.16, `make_laplace`, exact", DRAWS, move || {
            Ok(noise.invoke(&zeros).map_err(text)?)
        }))
    }

    pub(super) fn gaussian() -> Result<Contestant> {
        let noise = make_gaussian::<_, _, ZeroConcentratedDivergence>(
            vectors(),
            L2Distance::<f64>::default(),
            1.0,
            STEP,
        );
        let (noise, zeros) = (noise.map_err(text)?, vec![0.0; DRAWS]);
        Ok(Contestant::timed("OpenDP 0.16, `make_gaussian`, exact", DRAWS, move || {
            Ok(noise.invoke(&zeros).map_err(text)?)
        }))
    }
}

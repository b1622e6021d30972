//! Noise of least Fisher information in an interval. The density γ = w² minimises (Fisher information)/ϑ +
//! λ·(second moment) for weights ϑ and λ. Here w is the ground state of equation (9) of Farokhi (2020).

use crate::python::Python;
use crate::{Contestant, Host, Result, Section};
use scumble::schrodinger::GroundState;

/// Python program that times SciPy, a peer (compared implementation). It solves equation (9) of Farokhi
/// (2020) on a grid.
const PEER: &str = include_str!("../peers/ground_state.py");

/// Weights λ and ϑ in (Fisher information)/ϑ + λ·(second moment), and the ends of the interval, in the
/// notation of equation (9) of Farokhi (2020).
const PROBLEM: [f64; 4] = [100.0, 1.0, -1.0, 2.0];

/// Largest relative difference between the peer's eigenvalue and ours. The peer uses the coarsest grid that
/// reaches this difference. The error of our eigenvalue is far smaller.
const SHARE: f64 = 1e-6;

const SOLUTIONS: usize = 20;

fn solve() -> Result<GroundState> {
    let [lambda, weight, lower, upper] = PROBLEM;
    Ok(GroundState::new(lambda, weight, lower, upper)?)
}

pub(crate) fn interval(host: &Host) -> Result<Section> {
    let [lambda, weight, lower, upper] = PROBLEM;
    let what = format!(
        "Time of the density of least Fisher information at λ = {lambda}, ϑ = {weight} between {lower} and \
         {upper}: its energy, its moments and the density. SciPy finds only the lowest eigenvalue. Its grid \
         is the coarsest with a power of two of points and a result within a share of {SHARE:e} of ours."
    );
    let ours = Contestant::timed("scumble, `GroundState`", SOLUTIONS, || {
        (0..SOLUTIONS).map(|_| solve()).collect::<Result<Vec<_>>>()
    });
    let scipy = host.guest(PEER, "SciPy");
    Ok(Section::new(what, vec![ours]).with_peers(scipy.as_ref().map(peer).transpose()?))
}

/// Contestant that finds the lowest eigenvalue with SciPy in the process `python`.
fn peer(python: &Python) -> Result<Contestant> {
    let [lambda, weight, lower, upper] = PROBLEM;
    let task = format!("{lambda} {weight} {lower} {upper} {} {SHARE}", solve()?.mu());
    Ok(python.contestant("SciPy, `eigh_tridiagonal`", task))
}

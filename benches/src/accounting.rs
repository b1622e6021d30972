//! Privacy accounting of a training run: ε of DP-SGD by privacy loss distributions and by Rényi divergences.

use crate::python::Python;
use crate::{Contestant, Host, Result, Section};
use scumble::accounting::{Neighbours, Run, loss, renyi};

/// Python program that times the accountants of dp-accounting, a peer (compared implementation).
const PEER: &str = include_str!("../peers/accounting.py");

const SAMPLING_RATE: f64 = 0.01;
const NOISE_MULTIPLIER: f64 = 1.0;
const STEPS: u64 = 1000;
const DELTA: f64 = 1e-5;

pub(crate) fn dp_sgd(host: &Host) -> Result<Section> {
    let run = Run::new(SAMPLING_RATE, NOISE_MULTIPLIER, STEPS)?;
    let neighbours = Neighbours::AddOrRemoveOne;
    let what = format!(
        "Time of ε at δ = {DELTA:e} for {STEPS} steps with Poisson sampling, sampling rate {SAMPLING_RATE} \
         and noise multiplier {NOISE_MULTIPLIER} (neighbouring relation: add/remove one record). With \
         privacy loss distributions, ours gives an upper and a lower bound, and dp-accounting an upper bound."
    );
    let ours = vec![
        Contestant::timed("scumble, privacy loss distributions, both bounds", 1, move || {
            Ok(loss::epsilon(&[run], DELTA, neighbours)?)
        }),
        Contestant::timed("scumble, Rényi divergences", 1, move || {
            Ok(renyi::epsilon(&[run], DELTA, neighbours)?)
        }),
    ];
    let theirs = host.guest(PEER, "dp-accounting");
    Ok(Section::new(what, ours).with_peers(theirs.iter().flat_map(peers)))
}

/// Contestants (timed methods) of dp-accounting, one for each accounting method.
fn peers(python: &Python) -> impl Iterator<Item = Contestant> {
    let accountants = [("pld", "privacy loss distributions"), ("rdp", "Rényi divergences")];
    accountants.into_iter().map(|(task, named)| {
        let task = format!("{task} {SAMPLING_RATE} {NOISE_MULTIPLIER} {STEPS} {DELTA}");
        python.contestant(&format!("dp-accounting, {named}"), task)
    })
}

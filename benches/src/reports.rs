//! Reports, which are noisy answers of single people: answers about a categorical value, frequencies
//! estimated from them, reports of whole records, and synthetic records drawn from these reports.

use crate::{Contestant, Host, Result, Section};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use scumble::core::{Brief, Budget, Design, Randomness, Registry, Release, Table, Volunteers};
use scumble::datasets::DataSet;
use scumble::oracles::{Counts, Kind, Oracle};
use std::rc::Rc;

/// Python program that times frequency oracles of multi-freq-ldpy, a peer (compared implementation).
const PEER: &str = include_str!("../peers/frequency_oracles.py");

const LEVELS: u64 = 100;
const EPSILON: f64 = 1.0;
const ANSWERS: u64 = 20_000;

/// Number of wines that are volunteers: the designs learn from their records, and all other wines are
/// reported.
const VOLUNTEERS: usize = 384;

/// Kinds of frequency oracles, and the peer's name of each kind, or `None` if the peer lacks it.
const KINDS: [(Kind, Option<&str>); 4] = [
    (Kind::RandomizedResponse, Some("grr")),
    (Kind::UnaryEncoding, Some("oue")),
    (Kind::SubsetSelection, Some("ss")),
    (Kind::HadamardResponse, None),
];

/// Calls `receive` with the noisy answer of each person. One random stream draws all answers.
fn answers(oracle: &Oracle, mut receive: impl FnMut(&[u64]) -> Result<()>) -> Result<()> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut answer = vec![0; oracle.words()];
    (0..ANSWERS).try_for_each(|person| {
        oracle.answer(&mut rng, person % oracle.levels(), &mut answer);
        receive(std::hint::black_box(&answer))
    })
}

pub(crate) fn category_section(host: &Host) -> Result<Section> {
    let ours = |kind: Kind| {
        let oracle = Oracle::new(kind, LEVELS, EPSILON)?;
        let name = format!("scumble, {kind}, exact");
        Ok(Contestant::timed(name, ANSWERS as usize, move || answers(&oracle, |_| Ok(()))))
    };
    let what = format!(
        "Time of one answer about a category of {LEVELS} levels at ε = {EPSILON}, by each frequency oracle. \
         multi-freq-ldpy is compiled by numba and draws in floating point from the Mersenne Twister. Ours \
         draws exactly from ChaCha20."
    );
    section(host, what, "answers", ours)
}

pub(crate) fn estimates(host: &Host) -> Result<Section> {
    let ours = |kind: Kind| {
        let oracle = Oracle::new(kind, LEVELS, EPSILON)?;
        let mut all: Vec<Vec<u64>> = vec![];
        answers(&oracle, |answer| {
            all.push(answer.to_vec());
            Ok(())
        })?;
        let name = format!("scumble, {kind}");
        Ok(Contestant::timed(name, ANSWERS as usize, move || {
            let mut counts = Counts::new(&oracle);
            all.iter().try_for_each(|answer| counts.add(&oracle, answer))?;
            Ok(counts.frequencies(&oracle))
        }))
    };
    let what =
        format!("Time per answer to estimate the frequencies of {LEVELS} levels from {ANSWERS} answers.");
    section(host, what, "estimates", ours)
}

/// Builds a section with our contestant and the peer's contestant for each kind of oracle.
fn section(
    host: &Host,
    what: String,
    part: &str,
    ours: impl Fn(Kind) -> Result<Contestant>,
) -> Result<Section> {
    let contestants = KINDS.iter().map(|(kind, _)| ours(*kind)).collect::<Result<_>>()?;
    let peer = host.guest(PEER, "multi-freq-ldpy");
    let theirs = peer.iter().flat_map(|peer| {
        KINDS.iter().filter_map(move |(kind, argument)| {
            let argument = (*argument)?;
            let name = format!("multi-freq-ldpy 0.2.5, {kind}, floating point");
            Some(peer.contestant(&name, format!("{argument} {part} {LEVELS} {EPSILON}")))
        })
    });
    Ok(Section::new(what, contestants).with_peers(theirs))
}

pub(crate) fn record_section(_: &Host) -> Result<Section> {
    let wine = DataSet::wine()?;
    let rows: Vec<usize> = (0..wine.table.len()).collect();
    let (volunteers, people) = rows.split_at(VOLUNTEERS);
    let (volunteers, people) = (wine.table.select(volunteers)?, Rc::new(wine.table.select(people)?));
    let mut contestants = vec![];
    for name in ["pair-response", "learned-codes", "direction-report", "gradient-report"] {
        let mut brief = Brief::new(wine.domain.clone(), Budget::pure(EPSILON)?);
        brief.volunteers = Volunteers::Consented(volunteers.clone());
        let design = Registry::installed()?.get(name)?.design(&Default::default(), &brief)?;
        contestants.extend([reporting(name, &design, &people)?, collecting(name, &design, &people)?]);
    }
    let what = format!(
        "Time per report of {} wines with {} columns and a label at ε = {EPSILON}, and time per record \
         collected from the reports. Codes, directions and gradients are learned from {VOLUNTEERS} other \
         wines. We know no other library with such reports.",
        people.len(),
        people.columns().len()
    );
    Ok(Section::new(what, contestants))
}

fn released(design: &Design, people: &Table) -> Result<Release> {
    Ok(design.mechanism().release(people, &mut Randomness::from_os()?)?)
}

fn reporting(name: &str, design: &Design, people: &Rc<Table>) -> Result<Contestant> {
    let (design, people) = (design.clone(), people.clone());
    Ok(Contestant::timed(format!("scumble, `{name}`, reported"), people.len(), move || {
        released(&design, &people)
    }))
}

fn collecting(name: &str, design: &Design, people: &Table) -> Result<Contestant> {
    let (release, records) = (released(design, people)?, people.len());
    let mut stream = Randomness::from_os()?.streams().stream(0);
    Ok(Contestant::timed(format!("scumble, `{name}`, collected"), records, move || {
        Ok(release.collected(records, &mut stream)?)
    }))
}

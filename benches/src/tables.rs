//! Release of synthetic whole records by a trusted curator, who draws them from a model of noisy counts.

use crate::python::Python;
use crate::{Contestant, Host, Result, Section};
use scumble::core::levels::Attribute;
use scumble::core::{Brief, Budget, Randomness, Registry, Table};
use scumble::datasets::{DataSet, folder, source};
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use tempfile::TempDir;

/// Python program that times the mechanism MST of dpmm, a peer (compared implementation).
const PEER: &str = include_str!("../peers/dpmm_mst.py");

/// Number of bins of a numeric column, the same for all contestants.
const BINS: usize = 16;
const EPSILON: f64 = 1.0;
const DELTA: f64 = 1e-6;
/// Number of rounds of a peer that takes minutes per round.
const PEER_ROUNDS: usize = 3;

pub(crate) fn wine(host: &Host) -> Result<Section> {
    Task::new(DataSet::wine()?, "28", &host.scratch)?.section(host)
}

pub(crate) fn adult(host: &Host) -> Result<Section> {
    Task::new(source("adult")?.load(&folder())?, "88", &host.scratch)?.section(host)
}

/// A data set whose records are all released.
struct Task {
    data: DataSet,
    table: Rc<Table>,
    /// Time of the code by the authors of the mechanism MST on the data set, in seconds of one core. The code
    /// is in no package registry.
    official: &'static str,
    /// File of the levels (bins or categories, by index) for peers that do not read our records: one 32-bit
    /// number for each of n records and m attributes.
    file: PathBuf,
    levels: Vec<usize>,
}

impl Task {
    fn new(data: DataSet, official: &'static str, scratch: &TempDir) -> Result<Self> {
        let (mut attributes, label) = Attribute::all("the performance page", &data.domain, |_| BINS)?;
        attributes.extend(label);
        let layout = data.domain.layout();
        let table = data.table.whole()?.into_owned();
        let row_bytes = |row| {
            let record = layout.flatten(&table, row);
            let levels = attributes.iter().map(|attribute| attribute.level(&record) as u32);
            levels.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()
        };
        let file = scratch.path().join(format!("{}-levels", data.name));
        fs::write(&file, (0..table.len()).flat_map(row_bytes).collect::<Vec<u8>>())?;
        let levels = attributes.iter().map(Attribute::levels).collect();
        Ok(Self { data, table: table.into(), official, file, levels })
    }

    fn section(&self, host: &Host) -> Result<Section> {
        let ours = ["mst", "noisy-marginals", "adaptive-marginals"].map(|name| self.ours(name));
        let what = format!(
            "Time of a release of {} records of {} columns at ε = {EPSILON}, δ = {DELTA:e}, from table to \
             table in memory. A release counts with {BINS} bins a number, adds noise, fits a model, and \
             draws records. The authors' MST (`mbi` 1 with `mechanisms/mst.py` of its repository, on no \
             registry) took {} seconds of one core on another machine. dpmm receives the levels, and only \
             fits and draws; it takes part in the first {PEER_ROUNDS} rounds only.",
            self.table.len(),
            self.levels.len(),
            self.official,
        );
        let section = Section::new(what, ours.into_iter().collect::<Result<_>>()?);
        Ok(section.with_peers(host.guest(PEER, "dpmm").map(|dpmm| self.peer(&dpmm))))
    }

    fn ours(&self, name: &str) -> Result<Contestant> {
        let table = self.table.clone();
        let brief =
            Brief::new(self.data.domain.clone(), Budget::new(EPSILON, DELTA)?).with_people(table.len());
        let design =
            Registry::installed()?.get(name)?.design(&serde_json::json!({ "bins": BINS }), &brief)?;
        let mut randomness = Randomness::from_os()?;
        Ok(Contestant::timed(format!("scumble, `{name}`"), 1, move || {
            Ok(design.mechanism().release(&table, &mut randomness)?)
        }))
    }

    /// Contestant of the peer dpmm in the process `python`.
    fn peer(&self, python: &Python) -> Contestant {
        let levels: Vec<String> = self.levels.iter().map(usize::to_string).collect();
        let task = format!("{EPSILON} {DELTA} {} {}", levels.join(","), self.file.display());
        python.contestant("dpmm 0.1.9, `MSTPipeline`", task).for_rounds(PEER_ROUNDS)
    }
}

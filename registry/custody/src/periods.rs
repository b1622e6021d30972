//! State between the releases of a horizon of several periods, encrypted in a file.

use crate::{Error, Ledger, NewFile, Result, ShippedDesign, encrypted, sealed};
use rand_core::{OsRng, RngCore};
use scumble_core::text::hexadecimal;
use scumble_core::{Accumulator, Guarantee, Randomness};
use scumble_records::{People, read_text};
use scumble_tables::NoisyTables;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const FORMAT: &str = "scumble-periods-1";
/// Upper bound on the size of a file of state, in bytes.
const LONGEST: u64 = 4 << 30;

/// State after a period of a horizon. It holds exact counts and digests of ids, and is saved encrypted.
///
/// A state belongs to one design and to one series of releases. The releases come in the order of their
/// periods. A state that was restored from a copy could release a period a second time, with other noise. The
/// ledger refuses this: it remembers the last period of each series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeriodState {
    /// Digest of the design.
    design: String,
    /// Random name of the series of releases.
    series: String,
    /// Last released period, counted from 1.
    period: usize,
    /// Number of periods in which each person had records, by the digest of the person's id.
    people: BTreeMap<String, u32>,
    /// State of the mechanism.
    mechanism: Value,
}

impl PeriodState {
    /// Reads the state after the period before `period` of releases by `design`, or begins a series of
    /// releases if `period` is the first.
    ///
    /// # Errors
    /// [`Error::State`] if `file` is missing after the first period, if `period` is not the next one, or if
    /// the machine has no entropy; same errors as [`load`](Self::load) and [`read_text`].
    pub fn before(design: &ShippedDesign, period: usize, file: &Path, passphrase: &str) -> Result<Self> {
        let source = file.display().to_string();
        let state = match (file.exists(), period) {
            (true, _) => Self::load(&read_text(file, LONGEST)?, passphrase, design, &source)?,
            (false, 1) => Self::begin(design)?,
            (false, _) => {
                let before = period.saturating_sub(1);
                let problem = "is missing; without it, no further period can be released";
                return Err(wrong(&source, format!("the state of period {before} {problem}")));
            }
        };
        state.check_next(period, &source)?;
        Ok(state)
    }

    /// State before the first period.
    fn begin(design: &ShippedDesign) -> Result<Self> {
        let mut series = [0; 16];
        let failed = |problem: rand_core::Error| wrong("the state", problem.to_string());
        OsRng.try_fill_bytes(&mut series).map_err(failed)?;
        Ok(Self {
            design: design.digest()?,
            series: hexadecimal(&series),
            period: 0,
            people: BTreeMap::new(),
            mechanism: Value::Null,
        })
    }

    /// Reads the state that [`save`](Self::save) wrote for a release by `design`. `source` names the file in
    /// errors.
    ///
    /// # Errors
    /// [`Error::State`] for text that is not a state of this design, that was changed, or that was saved with
    /// another passphrase.
    pub fn load(text: &str, passphrase: &str, design: &ShippedDesign, source: &str) -> Result<Self> {
        let failed = |problem: String| wrong(source, problem);
        let sealed = sealed::open(text, FORMAT).map_err(failed)?;
        let secret = encrypted::decrypt(FORMAT, &sealed, passphrase).map_err(failed)?;
        let state: Self =
            serde_json::from_slice(&secret).map_err(|problem| failed(sealed::sentence(problem)))?;
        match state.design == design.digest()? {
            true => Ok(state),
            false => Err(failed("it belongs to the releases of another design".into())),
        }
    }

    /// Returns the state as JSON, encrypted with a passphrase.
    ///
    /// # Errors
    /// [`Error::State`] for a passphrase of fewer than eight characters, or if the state cannot be
    /// serialized.
    pub fn save(&self, passphrase: &str) -> Result<String> {
        let failed = |problem: String| wrong("the state", problem);
        let state = serde_json::to_vec(self).map_err(|problem| failed(problem.to_string()))?;
        encrypted::encrypt(FORMAT, &state, passphrase).map_err(failed)
    }

    /// Checks that `period` comes next.
    fn check_next(&self, period: usize, source: &str) -> Result<()> {
        let next = self.period + 1;
        match period {
            _ if period == next => Ok(()),
            0 => Err(wrong(source, "periods are counted from 1".into())),
            _ if period < next => Err(wrong(
                source,
                format!("period {period} is already released; a second release would have other noise"),
            )),
            _ => Err(wrong(source, format!("period {next} comes next, and not period {period}"))),
        }
    }

    /// Returns whether a person with this digest of the id may have records in another period of `design`.
    pub fn admits(&self, person: &[u8; 16], design: &ShippedDesign) -> bool {
        let most = design.mechanism().horizon().map_or(usize::MAX, |horizon| horizon.periods_per_person);
        self.people.get(&hexadecimal(person)).is_none_or(|periods| (*periods as usize) < most)
    }

    /// Releases the next period from the records in `accumulator`, which are those of `people`. A ledger is
    /// charged last, so that no error follows a charge. `what` describes the release in the ledger.
    ///
    /// # Errors
    /// Same errors as [`Accumulator::release_period`], [`ShippedDesign::noisy_tables`] and
    /// [`Ledger::charge_period`].
    pub fn release(
        mut self,
        design: &ShippedDesign,
        (accumulator, people): (Box<dyn Accumulator + '_>, Option<&People>),
        randomness: &mut Randomness,
        payer: Option<(&Ledger, &str)>,
        what: &str,
    ) -> Result<ReleasedPeriod> {
        let before = (self.period > 0).then_some(&self.mechanism);
        let made = accumulator.release_period(before, randomness)?;
        self.period += 1;
        self.mechanism = made.state;
        for person in people.into_iter().flat_map(People::ids) {
            *self.people.entry(hexadecimal(person)).or_default() += 1;
        }
        let released = ReleasedPeriod {
            guarantee: made.guarantee.of_people(design.mechanism().records_per_person()),
            totals: design.noisy_tables(&made.totals, None)?,
            alone: design.noisy_tables(&made.alone, None)?,
            state: self,
        };
        if let Some((ledger, dataset)) = payer {
            let target = design.records()?.target.as_deref();
            ledger.charge_period(dataset, &released.guarantee, target, what, released.place())?;
        }
        Ok(released)
    }
}

/// Released period of a horizon.
#[derive(Debug)]
pub struct ReleasedPeriod {
    /// Guarantee of all periods together.
    pub guarantee: Guarantee,
    /// Tables of all periods so far.
    pub totals: NoisyTables,
    /// Tables of this period alone.
    pub alone: NoisyTables,
    state: PeriodState,
}

impl ReleasedPeriod {
    /// Writes the state for the next period to `file`, encrypted. This comes before the tables are published:
    /// with the state before, they could be released again with other noise.
    ///
    /// # Errors
    /// Same errors as [`PeriodState::save`] and [`NewFile::finish`].
    pub fn save_state(&self, file: NewFile, passphrase: &str) -> Result<()> {
        file.finish(self.state.save(passphrase)?.as_bytes())
    }

    /// Tells the ledger that the tables of this period are published. From then on, it refuses the state
    /// before.
    ///
    /// # Errors
    /// Same errors as [`Ledger::note_period`].
    pub fn note(&self, (ledger, dataset): (&Ledger, &str)) -> Result<()> {
        ledger.note_period(dataset, self.place())
    }

    /// Name of the series of releases, and number of the period.
    fn place(&self) -> (&str, usize) {
        (&self.state.series, self.state.period)
    }
}

fn wrong(file: &str, problem: String) -> Error {
    Error::State { file: file.into(), problem }
}

//! State between the releases of a horizon of several periods, encrypted in a file.

use crate::{Error, Result, ShippedDesign, encrypted, sealed};
use rand_core::{OsRng, RngCore};
use scumble_core::text::hexadecimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

const FORMAT: &str = "scumble-periods-1";

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
    /// State before the first period of a series of releases by `design`.
    ///
    /// # Errors
    /// [`Error::State`] if the machine has no entropy; same errors as [`ShippedDesign::digest`].
    pub fn begin(design: &ShippedDesign) -> Result<Self> {
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

    /// Random name of the series of releases.
    pub fn series(&self) -> &str {
        &self.series
    }

    /// Last released period; 0 before the first.
    pub fn period(&self) -> usize {
        self.period
    }

    /// State of the mechanism; `None` before the first period.
    pub fn mechanism(&self) -> Option<&Value> {
        (self.period > 0).then_some(&self.mechanism)
    }

    /// Checks that `period` comes next. `source` names the file of the state in errors.
    ///
    /// # Errors
    /// [`Error::State`] for a period that was already released, or that is not the next one.
    pub fn check_next(&self, period: usize, source: &str) -> Result<()> {
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

    /// Returns whether a person with this digest of the id may have records in another period, of at most
    /// `most`.
    pub fn admits(&self, person: &[u8; 16], most: usize) -> bool {
        self.people.get(&hexadecimal(person)).is_none_or(|periods| (*periods as usize) < most)
    }

    /// State after the release of the next period, with records of `people`, whose mechanism returned
    /// `mechanism`.
    #[must_use]
    pub fn after<'p>(mut self, people: impl IntoIterator<Item = &'p [u8; 16]>, mechanism: Value) -> Self {
        for person in people {
            *self.people.entry(hexadecimal(person)).or_default() += 1;
        }
        Self { period: self.period + 1, mechanism, ..self }
    }
}

fn wrong(file: &str, problem: String) -> Error {
    Error::State { file: file.into(), problem }
}

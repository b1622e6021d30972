//! Reports: a person's record as two shares, each encrypted to one server.

use crate::circuit::OneRecord;
use crate::keys::{PublicKey, sealed_length};
use crate::role::Role;
use crate::tally::Refusal;
use crate::{Error, Result, ServerKey};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prio::codec::{Encode, ParameterizedDecode};
use prio::flp::Flp;
use prio::vdaf::prio3::Prio3;
use prio::vdaf::xof::XofTurboShake128;
use prio::vdaf::{Aggregator, Client};
use rand_core::{OsRng, RngCore};
use scumble_core::SharedCounts;
use scumble_custody::ShippedDesign;
use serde::{Deserialize, Serialize};

pub(crate) type Vdaf = Prio3<OneRecord, XofTurboShake128, 32>;
pub(crate) type State = <Vdaf as Aggregator<32, 16>>::VerifyState;
pub(crate) type VerifierShare = <Vdaf as Aggregator<32, 16>>::VerifierShare;
type PublicShare = <Vdaf as prio::vdaf::Vdaf>::PublicShare;
type InputShare = <Vdaf as prio::vdaf::Vdaf>::InputShare;

/// Identifier of the circuit, in the range for private use of draft-irtf-cfrg-vdaf, section 10.
const ALGORITHM: u32 = 0xffff_5c01;
/// Length of the part of the joint randomness that each server contributes.
pub(crate) const PART: usize = 32;

/// Name of a report, drawn by the device.
pub type ReportId = [u8; 16];

/// Design of a mechanism for two servers, with the circuit that checks its reports.
pub struct Task<'d> {
    pub(crate) shared: &'d dyn SharedCounts,
    pub(crate) vdaf: Vdaf,
    circuit: OneRecord,
    /// Digest of the design. Everything that is computed for the design is bound to it.
    pub(crate) digest: String,
}

impl<'d> Task<'d> {
    /// Task of a design.
    ///
    /// # Errors
    /// [`Error::NotShared`] for a mechanism of other parties, [`Error::Custody`] if the design has no digest.
    pub fn new(design: &'d ShippedDesign) -> Result<Self> {
        let Some(shared) = design.mechanism().shared_counts() else {
            return Err(Error::NotShared { plugin: design.origin().plugin.clone() });
        };
        let circuit = OneRecord::new(&shared.tables());
        let vdaf = Prio3::new(2, 1, ALGORITHM, circuit.clone())
            .map_err(|problem| Error::file("the design", problem.to_string()))?;
        Ok(Self { shared, vdaf, circuit, digest: design.digest()? })
    }

    /// Number of cells of all tables.
    pub(crate) fn cells(&self) -> usize {
        self.circuit.input_len()
    }

    /// Purpose of a ciphertext that `role` reads.
    pub(crate) fn info(&self, kind: &str, role: Role) -> Vec<u8> {
        format!("scumble {kind} for server {}, design {}", role.letter(), self.digest).into_bytes()
    }

    /// Largest length of a line of a report, or of a message between the servers.
    pub(crate) fn longest_line(&self) -> usize {
        let share = 16 * (self.circuit.input_len() + self.circuit.proof_len()) + PART; // of server a
        let base64 = |bytes: usize| bytes.div_ceil(3) * 4;
        base64(16) + base64(2 * PART) + base64(sealed_length(share)) + 64
    }

    /// Report of a person with this flat `record` (features, then target): one line for each of the servers,
    /// with these public keys. A repeated report, of the same record too, is another report.
    ///
    /// # Errors
    /// [`Error::Core`] for a record of another width or with a NaN or an infinity, [`Error::File`] if the
    /// machine has no entropy.
    pub fn report(&self, record: &[f64], [a, b]: [&PublicKey; 2]) -> Result<[String; 2]> {
        self.report_of_cells(&self.shared.cells(record)?, random_id()?, [a, b])
    }

    pub(crate) fn report_of_cells(
        &self,
        cells: &[usize],
        id: ReportId,
        keys: [&PublicKey; 2],
    ) -> Result<[String; 2]> {
        let failed = |problem: String| Error::file("the report", problem);
        let sharded = self.vdaf.shard(self.digest.as_bytes(), &cells.to_vec(), &id);
        let (public, inputs) = sharded.map_err(|problem| failed(problem.to_string()))?;
        let public = public.get_encoded().map_err(|problem| failed(problem.to_string()))?;
        let line = |role: Role| {
            let input = inputs[role.index()].get_encoded().map_err(|problem| failed(problem.to_string()))?;
            Line::seal(self, role, keys[role.index()], &id, &public, &input)
        };
        Ok([line(Role::A)?, line(Role::B)?])
    }
}

/// Draws the id of a report.
fn random_id() -> Result<ReportId> {
    let mut id = [0; 16];
    let drawn = OsRng.try_fill_bytes(&mut id);
    drawn.map_err(|problem| scumble_core::Error::Entropy { problem: problem.to_string() })?;
    Ok(id)
}

/// Line of a report for one server.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    public: String,
    share: String,
}

impl Line {
    fn seal(
        task: &Task,
        role: Role,
        key: &PublicKey,
        id: &ReportId,
        public: &[u8],
        input: &[u8],
    ) -> Result<String> {
        let share = key.seal(&task.info("report", role), input, &[id, public].concat())?;
        let [id, public, share] = [id, public, &share].map(|bytes| BASE64_STANDARD.encode(bytes));
        serde_json::to_string(&Self { id, public, share })
            .map_err(|problem| Error::file("the report", problem.to_string()))
    }
}

/// Report that one server has opened.
pub(crate) struct Opened {
    pub(crate) id: ReportId,
    /// Public share, as bytes: the parts of the joint randomness of both servers.
    pub(crate) public: Vec<u8>,
    pub(crate) state: State,
    pub(crate) verifier: VerifierShare,
}

impl Opened {
    /// Opens the line of a report for `role`, and begins the check of its proof.
    pub(crate) fn open(
        task: &Task,
        role: Role,
        key: &ServerKey,
        verify_key: &[u8; 32],
        line: &[u8],
    ) -> std::result::Result<Self, Refusal> {
        let line: Line = serde_json::from_slice(line).map_err(|_| Refusal::Malformed)?;
        let decoded = |text: &str| BASE64_STANDARD.decode(text).map_err(|_| Refusal::Malformed);
        let id: ReportId = decoded(&line.id)?.try_into().map_err(|_| Refusal::Malformed)?;
        let (public, sealed) = (decoded(&line.public)?, decoded(&line.share)?);
        let opened = key.open(&task.info("report", role), &sealed, &[&id, &public[..]].concat());
        let input = opened.ok_or(Refusal::Unopened)?;
        let public_share =
            PublicShare::get_decoded_with_param(&task.vdaf, &public).map_err(|_| Refusal::Malformed)?;
        let input_share = InputShare::get_decoded_with_param(&(&task.vdaf, role.index()), &input)
            .map_err(|_| Refusal::Malformed)?;
        let context = task.digest.as_bytes();
        let begun =
            task.vdaf.verify_init(verify_key, context, role.index(), &(), &id, &public_share, &input_share);
        let (state, verifier) = begun.map_err(|_| Refusal::Malformed)?;
        Ok(Self { id, public, state, verifier })
    }
}

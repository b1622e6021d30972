//! Steps of the two servers, from reports to noisy shares of the counts.

use crate::keys::{PublicKey, ServerKey, digest};
use crate::message::{self, Outgoing};
use crate::report::{Opened, PART, ReportId, Task, VerifierShare};
use crate::role::Role;
use crate::share::{AggregateShare, bytes_of, element};
use crate::tally::{Refusal, Tally};
use crate::{Counted, Error, Result};
use prio::codec::{Encode, ParameterizedDecode};
use prio::field::{Field128, FieldElement};
use prio::vdaf::{Aggregator, OutputShare, VerifyTransition};
use rayon::prelude::*;
use scumble_core::text::hexadecimal;
use scumble_core::{Stream, interrupt};
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Read, Write};

/// Number of reports that are checked at once, on all cores.
const BLOCK: usize = 512;

/// Text that a server reads, with its name in errors.
pub struct Source<'r> {
    /// Reader of the text.
    pub reader: &'r mut dyn BufRead,
    /// Name of the file.
    pub file: &'r str,
}

/// Text that a server writes, with its name in errors.
pub struct Sink<'w> {
    /// Writer of the text.
    pub writer: &'w mut dyn Write,
    /// Name of the file.
    pub file: &'w str,
}

/// One of the two servers.
pub struct Server<'t> {
    task: &'t Task<'t>,
    role: Role,
    key: &'t ServerKey,
    other: &'t PublicKey,
    verify_key: [u8; 32],
}

impl<'t> Server<'t> {
    /// Server `role` with its secret `key` and the public key of the `other` server.
    ///
    /// # Errors
    /// [`Error::File`] if both keys are the same, or if the other key has a low order.
    pub fn new(task: &'t Task, role: Role, key: &'t ServerKey, other: &'t PublicKey) -> Result<Self> {
        let refuse = |problem: &str| Err(Error::file("the other server's key", problem));
        if key.public() == *other {
            return refuse("it is this server's own");
        }
        match key.verify_key(other, task.digest.as_bytes()) {
            Some(verify_key) => Ok(Self { task, role, key, other, verify_key }),
            None => refuse("it is of low order, so that anybody knows what the servers agree on"),
        }
    }

    /// Step 1, of server a: opens the reports, and writes the message from which server b checks their
    /// proofs.
    ///
    /// # Errors
    /// [`Error::Io`] if a file cannot be read or written, [`Error::Core`] if the user interrupts.
    pub fn begin(&self, reports: Source, message: Sink) -> Result<Tally> {
        let mut outgoing = self.outgoing(message)?;
        let verifier = |opened: Opened| {
            let verifier = opened.verifier.get_encoded().map_err(|_| Refusal::Malformed)?;
            Ok([opened.public, verifier].concat())
        };
        let tally = self.each(reports, verifier, |id, entry| outgoing.write(&id, &entry))?;
        outgoing.end()?;
        Ok(tally)
    }

    /// Step 2, of server b: checks the proofs of the reports that server a has too, writes which pass, and
    /// makes its noisy share. `counted` receives the reports.
    ///
    /// # Errors
    /// Same errors as [`begin`](Self::begin), and [`Error::File`] for a wrong message.
    pub fn answer(
        &self,
        reports: Source,
        received: Source,
        message: Sink,
        counted: &mut Counted,
    ) -> Result<(AggregateShare, Tally)> {
        let mut incoming = self.incoming(received)?;
        let check = |opened: Opened| {
            let entry = incoming.get(&opened.id).ok_or(Refusal::Unmatched)?;
            self.checked(&opened, entry).and_then(|message| {
                let bytes = message.get_encoded().map_err(|_| Refusal::Forged)?;
                Ok((bytes, self.output(opened.state, message).ok_or(Refusal::Forged)?))
            })
        };
        let mut sums = Sums::new(self.task.cells());
        let mut answers = vec![];
        let mut tally = self.each(reports, check, |id, (message, output)| {
            sums.add(id, &output, counted);
            answers.push((id, message));
            Ok(())
        })?;
        incoming.clear();
        let share = sums.settle(&mut tally)?;
        let mut outgoing = self.outgoing(message)?;
        let kept: HashSet<&ReportId> = share.ids.iter().collect();
        for (id, message) in answers.iter().filter(|(id, _)| kept.contains(id)) {
            outgoing.write(id, message)?;
        }
        outgoing.end()?;
        Ok((self.share(&share, counted, &tally)?, tally))
    }

    /// Step 3, of server a: makes its noisy share of the reports that passed. `counted` receives the reports.
    ///
    /// # Errors
    /// Same errors as [`answer`](Self::answer), and [`Error::File`] if server b took a report that this
    /// server refuses.
    pub fn finish(
        &self,
        reports: Source,
        received: Source,
        counted: &mut Counted,
    ) -> Result<(AggregateShare, Tally)> {
        let file = received.file.to_owned();
        let incoming = self.incoming(received)?;
        let check = |opened: Opened| {
            let message = incoming.get(&opened.id).ok_or(Refusal::Unmatched)?;
            let message = ParameterizedDecode::get_decoded_with_param(&opened.state, message);
            Ok(message.ok().and_then(|message| self.output(opened.state, message)))
        };
        let mut sums = Sums::new(self.task.cells());
        let wrong = |problem: &str| Error::file(&file, problem);
        let mut tally = self.each(reports, check, |id, output| {
            let output = output.ok_or_else(|| wrong("it passes a report that this server refuses"))?;
            sums.add(id, &output, counted);
            Ok(())
        })?;
        if tally.accepted != incoming.len() as u64 {
            return Err(wrong("it passes a report that this server does not have"));
        }
        let share = sums.settle(&mut tally)?;
        if tally.accepted != incoming.len() as u64 {
            return Err(wrong("it passes a report that was counted in an earlier batch"));
        }
        Ok((self.share(&share, counted, &tally)?, tally))
    }

    fn outgoing<'w>(&self, Sink { writer, file }: Sink<'w>) -> Result<Outgoing<'w>> {
        Outgoing::begin(self.task, (self.role, self.key, self.other), (writer, file))
    }

    fn incoming(&self, Source { reader, file }: Source) -> Result<HashMap<ReportId, Vec<u8>>> {
        message::read(self.task, (self.role.other(), self.key, self.other), (reader, file))
    }

    /// Message that passes a report, from server a's `entry` about it.
    ///
    /// Both servers must have the same public share, whose parts are those that the servers computed. With
    /// another public share, a device could make server a refuse a report that server b took, and the shares
    /// of all reports would not belong together.
    fn checked(&self, opened: &Opened, entry: &[u8]) -> std::result::Result<Message, Refusal> {
        let (public, leader) = entry.split_at_checked(opened.public.len()).ok_or(Refusal::Forged)?;
        let own = opened.verifier.get_encoded().map_err(|_| Refusal::Forged)?;
        let part = |verifier: &[u8]| verifier.last_chunk::<PART>().copied();
        let (Some(leader_part), Some(own_part)) = (part(leader), part(&own)) else {
            return Err(Refusal::Forged);
        };
        if public != opened.public || opened.public != [leader_part, own_part].concat() {
            return Err(Refusal::Forged);
        }
        let leader = VerifierShare::get_decoded_with_param(&opened.state, leader);
        let leader = leader.map_err(|_| Refusal::Forged)?;
        let shares = [leader, opened.verifier.clone()];
        let context = self.task.digest.as_bytes();
        self.task.vdaf.verifier_shares_to_message(context, &(), shares).map_err(|_| Refusal::Forged)
    }

    /// Share of a report that passed.
    fn output(&self, state: crate::report::State, message: Message) -> Option<OutputShare<Field128>> {
        match self.task.vdaf.verify_next(self.task.digest.as_bytes(), state, message) {
            Ok(VerifyTransition::Finish(output)) => Some(output),
            _ => None,
        }
    }

    /// Opens the reports, does the `work` of each on all cores, and passes the results to `take` in the order
    /// of the file. Of reports with the same id, the first that can be opened counts.
    fn each<T: Send>(
        &self,
        Source { reader, file }: Source,
        work: impl Fn(Opened) -> std::result::Result<T, Refusal> + Sync,
        mut take: impl FnMut(ReportId, T) -> Result<()>,
    ) -> Result<Tally> {
        let longest = self.task.longest_line() as u64 + 1;
        let (mut tally, mut seen, mut number) = (Tally::default(), HashSet::new(), 0);
        loop {
            interrupt::check().map_err(scumble_core::Error::from)?;
            let mut lines = vec![];
            while lines.len() < BLOCK {
                let mut line = vec![];
                let read = (&mut *reader).take(longest).read_until(b'\n', &mut line);
                if read.map_err(Error::of_io(file))? == 0 {
                    break;
                }
                if line.last() != Some(&b'\n') {
                    // The rest of a line that is too long to be a report.
                    reader.skip_until(b'\n').map_err(Error::of_io(file))?;
                }
                lines.push(line);
            }
            if lines.is_empty() {
                return Ok(tally);
            }
            let open = |line: &Vec<u8>| {
                let opened = Opened::open(self.task, self.role, self.key, &self.verify_key, line)?;
                Ok((opened.id, work(opened)))
            };
            let done: Vec<std::result::Result<_, Refusal>> = lines.par_iter().map(open).collect();
            for opened in done {
                number += 1;
                match opened {
                    Err(refusal) => tally.refuse(refusal, number),
                    Ok((id, _)) if !seen.insert(id) => tally.refuse(Refusal::Replayed, number),
                    Ok((_, Err(refusal))) => tally.refuse(refusal, number),
                    Ok((id, Ok(result))) => {
                        tally.accepted += 1;
                        take(id, result)?;
                    }
                }
            }
        }
    }

    /// Adds this server's noise to its sums. The noise is determined by the reports and by the exact sums:
    /// with new noise on old reports, an average over repeated steps would have less noise.
    fn share(&self, batch: &Batch, counted: &mut Counted, tally: &Tally) -> Result<AggregateShare> {
        use rand_core::SeedableRng;
        if batch.ids.is_empty() {
            return Err(Error::NoReports { tally: tally.clone() });
        }
        let key = self.key.noise_key(self.role, self.task.digest.as_bytes(), &batch.content);
        let noise = self.task.shared.noise(&mut Stream::from_seed(key))?;
        let steps = Field128::from(self.task.shared.steps());
        let noisy: Vec<Field128> =
            batch.sum.iter().zip(noise).map(|(sum, noise)| *sum * steps + element(noise)).collect();
        counted.add(&batch.content, batch.ids.iter().copied());
        AggregateShare::new(self.task, self.role, (batch.name.clone(), batch.ids.len() as u64), &noisy)
    }
}

type Message = <crate::report::Vdaf as Aggregator<32, 16>>::VerifierMessage;

/// Sums of the shares of reports, apart for reports that were counted before.
struct Sums {
    fresh: (Vec<Field128>, Vec<ReportId>),
    before: (Vec<Field128>, Vec<ReportId>),
    /// Batches of the reports that were counted before.
    batches: HashSet<String>,
}

/// Batch of reports with the sum of their shares.
struct Batch {
    /// Digest of the sorted ids, the same for both servers.
    name: String,
    /// Digest of the ids and of this server's sums. Other shares under the same ids are another content.
    content: String,
    ids: Vec<ReportId>,
    sum: Vec<Field128>,
}

impl Sums {
    fn new(cells: usize) -> Self {
        let empty = || (vec![Field128::zero(); cells], vec![]);
        Self { fresh: empty(), before: empty(), batches: HashSet::new() }
    }

    fn add(&mut self, id: ReportId, output: &OutputShare<Field128>, counted: &Counted) {
        let (sum, ids) = match counted.batch(&id) {
            Some(batch) => {
                if !self.batches.contains(batch) {
                    self.batches.insert(batch.to_owned());
                }
                &mut self.before
            }
            None => &mut self.fresh,
        };
        sum.iter_mut().zip(output.as_ref()).for_each(|(sum, value)| *sum += *value);
        ids.push(id);
    }

    /// The batch: that of an earlier run of the same step if its reports and their shares are the same, else
    /// the reports that were not counted before.
    fn settle(self, tally: &mut Tally) -> Result<Batch> {
        let repeated = Batch::new(self.before)?;
        if self.fresh.1.is_empty() && self.batches.len() == 1 && self.batches.contains(&repeated.content) {
            return Ok(repeated);
        }
        if !repeated.ids.is_empty() {
            let count = repeated.ids.len() as u64;
            tally.accepted -= count;
            tally.refused.insert(Refusal::Counted, (count, 0));
        }
        Batch::new(self.fresh)
    }
}

impl Batch {
    fn new((sum, mut ids): (Vec<Field128>, Vec<ReportId>)) -> Result<Self> {
        ids.sort_unstable();
        let name = hexadecimal(&digest(ids.iter().map(|id| &id[..])));
        let content = hexadecimal(&digest([name.as_bytes(), &bytes_of(&sum)?]));
        Ok(Self { name, content, ids, sum })
    }
}

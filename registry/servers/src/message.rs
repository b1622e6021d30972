//! Messages between the servers: a header in the clear, and encrypted lines in a fixed order.

use crate::keys::{Opener, PublicKey, Sealer};
use crate::report::{ReportId, Task};
use crate::role::Role;
use crate::{Error, Result, ServerKey};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{BufRead, Read, Write};

/// Format that this version writes and reads.
const FORMAT: &str = "scumble-servers-message-1";
/// First byte of a line about a report, and of the last line, which has the number of reports. A device
/// chooses the id of its report, so the id itself cannot tell the two apart.
const REPORT: u8 = 0;
const END: u8 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    design: String,
    from: Role,
    key: String,
}

/// Message that a server writes. It has an entry of bytes for each report.
pub(crate) struct Outgoing<'w> {
    sealer: Sealer,
    reports: u64,
    writer: &'w mut dyn Write,
    file: String,
}

impl<'w> Outgoing<'w> {
    pub(crate) fn begin(
        task: &Task,
        (from, key, other): (Role, &ServerKey, &PublicKey),
        (writer, file): (&'w mut dyn Write, &str),
    ) -> Result<Self> {
        let made = key.sealer(other, &task.info("message", from.other()));
        let (encapsulated, sealer) =
            made.ok_or_else(|| Error::file("the other server's key", "nothing can be encrypted to it"))?;
        let header = Header {
            format: FORMAT.into(),
            design: task.digest.clone(),
            from,
            key: BASE64_STANDARD.encode(encapsulated),
        };
        let header = serde_json::to_string(&header).map_err(|error| Error::file(file, error.to_string()))?;
        writeln!(writer, "{header}").map_err(Error::of_io(file))?;
        Ok(Self { sealer, reports: 0, writer, file: file.into() })
    }

    pub(crate) fn write(&mut self, id: &ReportId, entry: &[u8]) -> Result<()> {
        self.reports += 1;
        self.line(&[&[REPORT], &id[..], entry].concat())
    }

    pub(crate) fn end(mut self) -> Result<()> {
        let reports = self.reports.to_le_bytes();
        self.line(&[&[END], &reports[..]].concat())?;
        self.writer.flush().map_err(Error::of_io(&self.file))
    }

    fn line(&mut self, text: &[u8]) -> Result<()> {
        let sealed = self.sealer.seal(text, b"");
        let sealed = sealed.map_err(|problem| Error::file(&self.file, problem.to_string()))?;
        writeln!(self.writer, "{}", BASE64_STANDARD.encode(sealed)).map_err(Error::of_io(&self.file))
    }
}

/// Reads a message of the server `from`: the entry of each report. A message that is incomplete, changed, or
/// for another design or server is an error.
pub(crate) fn read(
    task: &Task,
    (from, key, other): (Role, &ServerKey, &PublicKey),
    (reader, file): (&mut dyn BufRead, &str),
) -> Result<HashMap<ReportId, Vec<u8>>> {
    let wrong = |problem: String| Error::file(file, problem);
    let longest = task.longest_line();
    let mut line = vec![];
    let mut next = |line: &mut Vec<u8>| {
        line.clear();
        let read = (&mut *reader).take(longest as u64).read_until(b'\n', line);
        read.map(|_| line.pop_if(|last| *last == b'\n').is_some()).map_err(Error::of_io(file))
    };
    next(&mut line)?;
    let header: Header = serde_json::from_slice(&line)
        .map_err(|_| wrong(format!("it is not a message between servers ({FORMAT})")))?;
    if header.format != FORMAT {
        return Err(wrong(format!("its format is {:?}, and {FORMAT:?} is expected", header.format)));
    }
    if header.from != from {
        let (found, letter) = (header.from.letter(), from.letter());
        return Err(wrong(format!("it is from server {found}, and that of server {letter} is expected")));
    }
    if header.design != task.digest {
        return Err(wrong("it is about another design".into()));
    }
    let opener = BASE64_STANDARD
        .decode(&header.key)
        .ok()
        .and_then(|encapsulated| key.opener(other, &encapsulated, &task.info("message", from.other())));
    let changed = || wrong(format!("it is not from server {} to this one, or was changed", from.letter()));
    let mut opener: Opener = opener.ok_or_else(changed)?;
    let mut entries = HashMap::new();
    while next(&mut line)? {
        let text = BASE64_STANDARD.decode(&line).ok().and_then(|sealed| opener.open(&sealed, b"").ok());
        let text = text.ok_or_else(changed)?;
        match text.split_first() {
            Some((&REPORT, report)) => {
                let (id, entry) = report.split_first_chunk::<16>().ok_or_else(changed)?;
                entries.insert(*id, entry.to_vec());
            }
            Some((&END, reports)) if *reports == (entries.len() as u64).to_le_bytes() => return Ok(entries),
            _ => return Err(changed()),
        }
        scumble_core::interrupt::check().map_err(scumble_core::Error::from)?;
    }
    Err(wrong("it ends before its last line".into()))
}

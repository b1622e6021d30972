//! Provenance of a released file: the design named in the file or in its card. A card is a JSON file with the
//! guarantee of a release.

use super::Failure;
use crate::custody::ShippedDesign;
use crate::parquet::is_standard;
use crate::records::read_text;
use clap::Args;
use scumble_core::text::hexadecimal;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Maximum size of a card, in bytes.
const LONGEST: u64 = 1 << 24;

#[derive(Args)]
pub(super) struct Provenance {
    /// The card of the release, which names its design. Parquet files carry the design themselves; the card
    /// of a CSV file is found in its folder by the file's SHA-256.
    #[arg(long, value_name = "CARD.json")]
    card: Option<PathBuf>,
}

impl Provenance {
    /// Refuses `input` if it, or its card, carries the digest of another design. Returns a warning if neither
    /// carries a digest. `carried` is the digest in the input, and `file` the design's file.
    ///
    /// # Errors
    /// [`OtherDesign`](crate::custody::Error::OtherDesign) if the digest belongs to another design. Another
    /// error if `card` is not a card, or is the card of another file.
    pub(super) fn check(
        &self,
        design: &ShippedDesign,
        file: &Path,
        input: &Path,
        carried: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        if let Some(carried) = carried {
            design.check_released(carried, &input.display().to_string())?;
        }
        if let Some(path) = &self.card {
            let card = check_card(design, path)?;
            let is_other = |sha256: &String| sha256_of(input).is_some_and(|found| found != *sha256);
            if card.file.as_ref().is_some_and(is_other) {
                return Err(format!(
                    "{}: this is the card of another file than {}",
                    path.display(),
                    input.display()
                )
                .into());
            }
            return Ok(None);
        }
        if carried.is_some() {
            return Ok(None);
        }
        match Card::find_for(input) {
            Some((path, card)) => {
                design.check_released(&card.design, &path.display().to_string())?;
                Ok(None)
            }
            None => Ok(Some(format!(
                "{}: cannot check that {} released this file: the file names no design, and no card in its \
                 folder names the file; give its card by --card",
                input.display(),
                file.display()
            ))),
        }
    }
}

/// Reads a card, and refuses a card of another design.
///
/// # Errors
/// [`OtherDesign`](crate::custody::Error::OtherDesign) if it is the card of another design. Another error if
/// the file is not a card.
pub(super) fn check_card(design: &ShippedDesign, path: &Path) -> Result<Card, Failure> {
    let card = Card::read(path)?.ok_or_else(|| format!("{}: not the card of a release", path.display()))?;
    design.check_released(&card.design, &path.display().to_string())?;
    Ok(card)
}

/// Digests in a card: of the design, and of the released file.
pub(super) struct Card {
    design: String,
    /// SHA-256 of the released file.
    file: Option<String>,
}

impl Card {
    /// Reads the card in a file; `None` if the text is not JSON or lacks a design's digest.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    fn read(path: &Path) -> Result<Option<Self>, Failure> {
        let card: Value = serde_json::from_str(&read_text(path, LONGEST)?).unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let design = text(&card["design"]["digest"]);
        Ok(design.map(|design| Self { design, file: text(&card["file"]["sha256"]) }))
    }

    /// Finds the card that names `input` by its SHA-256, among the JSON files in the folder of `input`.
    fn find_for(input: &Path) -> Option<(PathBuf, Self)> {
        let folder = input.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
        let paths = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).filter(is_json);
        let cards = paths.filter_map(|path| Some((path.clone(), Self::read(&path).ok()??)));
        let mut cards = cards.filter(|(_, card)| card.file.is_some()).peekable();
        cards.peek()?;
        let own = sha256_of(input);
        cards.find(|(_, card)| own.is_some() && card.file == own)
    }
}

/// Returns the SHA-256 of a plain file, in hexadecimal digits.
fn sha256_of(path: &Path) -> Option<String> {
    let is_plain = !is_standard(path) && fs::metadata(path).ok()?.is_file();
    let (mut file, mut hash) = (is_plain.then(|| File::open(path).ok())??, Sha256::new());
    let mut bytes = vec![0; 1 << 16];
    loop {
        match file.read(&mut bytes) {
            Ok(0) => return Some(hexadecimal(&hash.finalize())),
            Ok(read) => hash.update(&bytes[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

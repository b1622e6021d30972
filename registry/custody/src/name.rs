//! Names of data sets, which must be distinguishable by eye.

use scumble_core::text;
use unicode_normalization::UnicodeNormalization;
use unicode_security::{MixedScript, skeleton};

/// Normalises `name` to the form that a ledger stores (NFC). "é" is then one letter, however it was typed.
pub(crate) fn normalised(name: &str) -> String {
    name.nfc().collect()
}

/// Returns whether two names are equal after Unicode normalisation (NFC).
pub(crate) fn are_same(one: &str, other: &str) -> bool {
    one == other || one.nfc().eq(other.nfc())
}

/// Returns whether two names are confusable (UTS 39), such as "wines" and "wınes".
pub(crate) fn look_alike(one: &str, other: &str) -> bool {
    let skeletons = [one, other].map(|name| skeleton(&normalised(name)).collect::<String>());
    skeletons[0] == skeletons[1]
}

/// Checks that a name is visible text.
///
/// # Errors
/// A sentence about a name that is empty, or has several lines, hidden characters or spaces at its ends.
pub(crate) fn check_visible(name: &str) -> Result<(), String> {
    if name.is_empty() || name.trim() != name || text::check(name).is_err() {
        return Err(format!(
            "{name:?} is not a valid name for a data set or a label; a name is one line of visible text \
             without spaces at its ends"
        ));
    }
    Ok(())
}

/// Checks that a name does not mix scripts.
///
/// # Errors
/// A sentence about a name that mixes scripts, such as Latin and Cyrillic letters, which may be mistaken for
/// each other.
pub(crate) fn check_scripts(name: &str) -> Result<(), String> {
    if name.is_single_script() {
        return Ok(());
    }
    let foreign = name.chars().filter(|letter| letter.is_alphabetic() && !letter.is_ascii());
    let shown: Vec<String> =
        foreign.take(3).map(|letter| format!("{letter:?} is U+{:04X}", u32::from(letter))).collect();
    Err(format!(
        "the name {name:?} of a data set mixes letters of several scripts, which may look alike: {}",
        shown.join(", ")
    ))
}

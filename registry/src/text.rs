//! Text that one person writes and another reads: nothing in it may hide the text around it, or look like it.

use crate::error::abridged;
use crate::{Error, Result, open_to_read};
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

/// Whether a character does not show, or changes how what stands around it shows: control characters, line and paragraph separators,
/// bidirectional controls, and invisible format characters (Unicode 16, categories Cc, Zl, Zp, and Cf but for marks that are drawn).
///
/// ```
/// use scumble_registry::is_unseen;
///
/// assert!(['\n', '\u{1b}', '\u{202e}', '\u{200b}'].into_iter().all(is_unseen));
/// assert!(!['a', ' ', 'é', '\u{301}', 'ε', '語'].into_iter().any(is_unseen));
/// ```
pub fn is_unseen(character: char) -> bool {
    let is_of_format = matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}'
    );
    character.is_control() || is_of_format
}

/// The text in one line in which all shows: what [is not seen](is_unseen) is written as an escape.
///
/// ```
/// use scumble_registry::shown;
///
/// assert_eq!(shown("cm"), "cm");
/// assert_eq!(shown("cm\n\u{1b}[8m"), r"cm\n\u{1b}[8m");
/// ```
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return text.into();
    }
    let escape = |c: char| if is_unseen(c) { c.escape_debug().to_string() } else { c.to_string() };
    text.chars().map(escape).collect::<String>().into()
}

/// # Errors
/// The sentence about the first character of the text that is not seen.
pub(crate) fn check(text: &str) -> std::result::Result<(), String> {
    let Some(unseen) = text.chars().find(|&c| is_unseen(c)) else { return Ok(()) };
    Err(format!(
        "the text {:?} has the character U+{:04X}, which does not show or changes how other text shows",
        abridged(text, 60),
        u32::from(unseen)
    ))
}

/// The text of a file of `most` bytes or fewer.
///
/// # Errors
/// [`Error::Io`] where it cannot be read or is no text, [`Error::Unreadable`] where it is longer.
pub fn read_text(file: &Path, most: u64) -> Result<String> {
    let mut text = String::new();
    let read = open_to_read(file)?.take(most.saturating_add(1)).read_to_string(&mut text);
    match read {
        Ok(length) if length as u64 > most => Err(Error::Unreadable {
            file: file.display().to_string(),
            problem: format!("it is longer than the {most} bytes that are read of such a file"),
        }),
        Ok(_) => Ok(text),
        Err(source) => Err(Error::Io { file: file.into(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_is_read_up_to_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("schema.toml");
        std::fs::write(&file, "four").unwrap();
        assert_eq!(read_text(&file, 4).unwrap(), "four");
        let refused = read_text(&file, 3).unwrap_err().to_string();
        assert!(refused.ends_with("schema.toml: it is longer than the 3 bytes that are read of such a file"));
        assert!(read_text(folder.path(), 9).is_err());
    }

    proptest! {
        #[test]
        fn what_is_shown_is_seen_and_nothing_is_left_out(text: String) {
            let shown = shown(&text);
            prop_assert!(!shown.contains(is_unseen));
            prop_assert_eq!(shown == text, check(&text).is_ok());
            let seen = |text: &str| text.chars().filter(|&c| !is_unseen(c)).count();
            prop_assert!(seen(&shown) >= seen(&text));
        }
    }
}

//! Text that one person writes and a program shows to another. Such text must neither hide the program's own
//! text around it nor look like that text.

use std::borrow::Cow;

/// Returns whether a character is invisible, or changes how the text around it is displayed. Such characters
/// are control characters, line and paragraph separators, bidirectional controls, and invisible format
/// characters. They have the Unicode 16 categories Cc, Zl, Zp and Cf, except for the visible characters of
/// Cf.
///
/// ```
/// use scumble_core::is_unseen;
///
/// assert!(['\n', '\u{1b}', '\u{202e}', '\u{200b}'].into_iter().all(is_unseen));
/// assert!(!['a', ' ', 'é', '\u{301}', 'ε', '語'].into_iter().any(is_unseen));
/// ```
pub fn is_unseen(character: char) -> bool {
    let is_of_format = matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}'
    );
    character.is_control() || is_of_format
}

/// Text on one line in which every character is visible. [Invisible characters](is_unseen) are written as
/// escapes.
///
/// ```
/// use scumble_core::shown;
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

/// Checks that every character of the text is visible.
///
/// # Errors
/// A sentence about the first invisible character of the text.
pub fn check(text: &str) -> std::result::Result<(), String> {
    let Some(unseen) = text.chars().find(|&c| is_unseen(c)) else { return Ok(()) };
    Err(format!(
        "the text {:?} contains the character U+{:04X}, which is invisible or changes how other text is \
         displayed",
        abridged(text, 60),
        u32::from(unseen)
    ))
}

/// First `longest` characters of `text` on one line, followed by an ellipsis if `text` is longer. Control
/// characters become spaces.
pub fn abridged(text: &str, longest: usize) -> String {
    let line: String = text.chars().take(longest + 1).map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Question that ends an error message and proposes the name `nearest`; empty for `None`.
pub fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean {name:?}?")).unwrap_or_default()
}

/// Name among `names` that is most similar to `misspelt`; `None` if no name is similar.
pub fn nearest_name<'a>(misspelt: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&misspelt.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name.to_owned())
}

/// Bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

//! Text in the page: nothing from a report can become markup.

use std::fmt::{self, Display, Write};

/// Characters of a name that the page shows in full.
pub(super) const SHOWN: usize = 200;

/// Writes a text so that it is text between tags, and in a quoted attribute: a name such as `</script>` stays a name.
/// Control characters are escaped as in Rust, and a long text ends with an ellipsis.
pub(super) struct Text<'a>(pub(super) &'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut chars = self.0.chars();
        chars.by_ref().take(SHOWN).try_for_each(|c| write_char(f, c))?;
        if chars.next().is_some() { f.write_char('…') } else { Ok(()) }
    }
}

/// Writes a whole text of several lines, as between the tags of `pre`.
pub(super) struct Lines<'a>(pub(super) &'a str);

impl Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| if c == '\n' { f.write_char(c) } else { write_char(f, c) })
    }
}

fn write_char(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    match c {
        '&' => f.write_str("&amp;"),
        '<' => f.write_str("&lt;"),
        '>' => f.write_str("&gt;"),
        '"' => f.write_str("&quot;"),
        '\'' => f.write_str("&#39;"),
        // Also direction marks and the like, which would reorder the text around them.
        c if c.is_control() || is_invisible(c) => write!(f, "{}", c.escape_unicode()),
        c => f.write_char(c),
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A string of JSON inside of a script: its text cannot end the script.
pub(super) struct ScriptString<'a>(pub(super) &'a str);

impl Display for ScriptString<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars().take(SHOWN) {
            match c {
                '"' | '\\' | '<' | '>' | '&' | '\'' => write!(f, "\\u{:04x}", c as u32)?,
                c if c.is_control() || is_invisible(c) => write!(f, "\\u{:04x}", c as u32)?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// The beginning of a text that has room for `room` characters.
pub(super) fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(room.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup() {
        let hostile = "</script><img src=x onerror='a()'>\"&\n\u{202e}";
        let escaped = "&lt;/script&gt;&lt;img src=x onerror=&#39;a()&#39;&gt;&quot;&amp;\\u{a}\\u{202e}";
        assert_eq!(Text(hostile).to_string(), escaped);
        let script = ScriptString(hostile).to_string();
        assert!(
            script.starts_with("\"\\u003c/script\\u003e") && !script.contains(['<', '>', '&', '\'', '\n'])
        );
        assert_eq!(Lines("a\nb<\r").to_string(), "a\nb&lt;\\u{d}");
    }

    #[test]
    fn long_texts_end_with_an_ellipsis() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefg", 6), "abcde…");
        assert_eq!(Text(&"x".repeat(SHOWN + 1)).to_string(), "x".repeat(SHOWN) + "…");
    }
}

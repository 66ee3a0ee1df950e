//! Source text prepared for excerpts: control characters are replaced and long lines are cut.

use crate::source::{Source, Sources, Span};
use std::ops::Range;
use thalweg_graph::beginning;

/// Lines longer than this, in bytes, are cut.
const MAX_LINE: usize = 240;

/// Bytes kept on each side of both ends of a marked span in a cut line.
const CONTEXT: usize = 60;

/// Marks a cut.
const ELLIPSIS: &str = "...";

/// A file as excerpts show it.
pub(super) struct Excerpt {
    pub(super) name: String,
    pub(super) text: String,
    /// The byte ranges of the file that are kept, in order.
    kept: Vec<Range<usize>>,
}

impl Excerpt {
    /// The file with this number; text around the `marked` spans is kept.
    pub(super) fn new(sources: &Sources, file: u32, marked: &[Span]) -> Excerpt {
        let source = &sources.files()[file as usize];
        let ends = marked.iter().filter(|span| span.file() == file);
        let kept = kept(source, ends.flat_map(|span| [span.start() as usize, span.end() as usize]).collect());
        let pieces: Vec<String> = kept.iter().map(|piece| sanitize(&source.text[piece.clone()])).collect();
        Excerpt { name: source.name.clone(), text: pieces.join(ELLIPSIS), kept }
    }

    /// Maps a span of the file to a range of [`text`](Self::text).
    pub(super) fn place(&self, span: Span) -> Range<usize> {
        self.at(span.start() as usize)..self.at(span.end() as usize)
    }

    /// Whether any text was cut.
    pub(super) fn is_cut(&self) -> bool {
        self.kept.len() > 1
    }

    fn at(&self, offset: usize) -> usize {
        let mut before = 0;
        for piece in &self.kept {
            if offset <= piece.end {
                return before + offset.saturating_sub(piece.start);
            }
            before += piece.len() + ELLIPSIS.len();
        }
        self.text.len()
    }
}

/// The ranges that remain when long lines are reduced to the surroundings of `places`.
fn kept(source: &Source, mut places: Vec<usize>) -> Vec<Range<usize>> {
    places.sort_unstable();
    // An empty range at 0 makes a cut at the start of the file visible.
    let (mut kept, mut from) = (Vec::new(), 0);
    keep(&mut kept, 0..0);
    for place in places {
        let line = line(&source.text, place);
        if line.len() <= MAX_LINE {
            continue;
        }
        let around = surroundings(&source.text, line.clone(), place);
        // Text before this line is kept. Text within the line has been handled if the line had an earlier place.
        if from < line.start {
            keep(&mut kept, from..line.start);
        }
        keep(&mut kept, around);
        from = line.end;
    }
    keep(&mut kept, from..source.text.len());
    kept
}

/// Appends a range, or extends the previous one where the gap is no longer than the mark that would replace it.
fn keep(kept: &mut Vec<Range<usize>>, piece: Range<usize>) {
    match kept.last_mut().filter(|last| last.end + ELLIPSIS.len() >= piece.start) {
        Some(last) => last.end = last.end.max(piece.end),
        None => kept.push(piece),
    }
}

/// The line that contains `place`, without its line end.
fn line(text: &str, place: usize) -> Range<usize> {
    let start = text[..place].rfind('\n').map_or(0, |end| end + 1);
    let end = text[place..].find('\n').map_or(text.len(), |length| place + length);
    start..end
}

/// The surroundings of `place` within its line.
fn surroundings(text: &str, line: Range<usize>, place: usize) -> Range<usize> {
    let start = beginning(text, place.saturating_sub(CONTEXT)).len().max(line.start);
    let after = (place + CONTEXT).min(text.len());
    let end = (after..text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len()).min(line.end);
    start..end
}

/// Replaces control characters, characters that only ariadne treats as line ends, and invisible characters. The
/// result has the same length in bytes.
fn sanitize(text: &str) -> String {
    text.chars().map(|c| if is_unprintable(c) { replacement(c) } else { c }).collect()
}

fn is_unprintable(c: char) -> bool {
    let hidden =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    hidden || (c.is_control() && !matches!(c, '\n' | '\t'))
}

fn replacement(c: char) -> char {
    match (c, c.len_utf8()) {
        ('\r', _) => ' ',
        (_, 1) => '?',
        (_, 2) => '\u{b7}',
        _ => '\u{fffd}',
    }
}

#[cfg(test)]
mod tests {
    use crate::{Diagnostic, Sources, Span};

    fn rendered(text: &str, found: &str, message: &str) -> String {
        let start = text.find(found).unwrap() as u32;
        let span = Span::new(0, start, start + found.len() as u32);
        Diagnostic::new(span, message).render(&Sources::of("a.str", text), false)
    }

    #[test]
    fn a_place_without_label_is_marked() {
        let shown = rendered("one\ntwo three\n", "three", "wrong");
        assert!(shown.contains("two three") && shown.contains("╰──── here"), "{shown}");
        let shown = rendered("one\ntwo\nthree\n", "one\ntwo\nthree", "wrong");
        assert!(shown.contains("one") && shown.contains("three") && shown.contains("here"), "{shown}");
    }

    #[test]
    fn control_characters_are_replaced() {
        let shown = rendered("x \u{1b}[2J \u{9b}1m \u{202e}y\r\nbad\u{7}", "y", "wrong");
        assert!(shown.contains("x ?[2J \u{b7}1m \u{fffd}y"), "{shown}");
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
    }

    #[test]
    fn line_numbers_follow_the_file() {
        let shown = rendered("a\u{b}b\u{c}c\u{85}d\u{2028}e\nwrong\n", "wrong", "m");
        assert!(shown.contains("a.str:2:1"), "{shown}");
    }

    #[test]
    fn long_lines_are_cut_and_counted_whole() {
        let text = format!("first\n{}wrong{}\nlast\n", "é;".repeat(50_000), ";".repeat(100_000));
        let shown = rendered(&text, "wrong", "m");
        assert!(shown.contains("a.str:2:100001 "), "{shown}");
        assert!(shown.contains("...") && shown.contains(";wrong;") && shown.len() < 2000, "{shown}");
        // Both ends of a span, and a cut that would be barely longer than its mark.
        let text = format!("{}(x{}){};\n", "a".repeat(300), "y".repeat(500), "b".repeat(61));
        let shown = rendered(&text, &format!("(x{})", "y".repeat(500)), "m");
        assert!(
            shown.contains("a(xy") && shown.contains("y)b") && shown.matches("...").count() == 2,
            "{shown}"
        );
    }
}

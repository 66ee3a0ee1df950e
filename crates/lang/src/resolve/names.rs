//! Misspelt names.

use super::{MAX_ERRORS, Resolver};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Longer names are not compared: the time is in proportion to the product of the lengths.
const MAX_LENGTH: usize = 64;

/// More names are not compared with one.
const MAX_NAMES: usize = 1000;

/// How many letters must be added, left out, changed or exchanged with their neighbour.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let changed = above[j] + usize::from(a[i] != b[j]);
            let mut least = changed.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

/// Of shorter names nothing is left that could be recognised if a letter is wrong.
const SHORT: usize = 3;

/// The name that was probably meant, if there is one: at most a third of the letters are wrong, and of short
/// names none but for capitals.
fn nearest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if wrong.len() > MAX_LENGTH {
        return None;
    }
    let bound = |name: &str| if wrong.len().min(name.len()) < SHORT { 0 } else { wrong.len() / 3 };
    let near = |name: &&str| name.len().abs_diff(wrong.len()) <= bound(name) && *name != wrong;
    names
        .filter(near)
        .map(|name| (distance(wrong.to_lowercase().as_bytes(), name.to_lowercase().as_bytes()), name))
        .filter(|(distance, name)| *distance <= bound(name))
        .min()
        .map(|(_, name)| name)
}

impl Resolver<'_> {
    /// An error about a name that means nothing, with the name that was probably meant.
    pub fn unknown<'n>(
        &self,
        what: &str,
        name: &str,
        span: Span,
        names: impl Iterator<Item = &'n str>,
    ) -> Diagnostic {
        let error = Diagnostic::new(span, format!("there is no {what} `{name}`")).label("not found");
        // What is reported beyond the bound is not read.
        let patience = if self.diagnostics.len() < 2 * MAX_ERRORS { MAX_NAMES } else { 0 };
        match nearest(name, names.take(patience)) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error,
        }
    }

    /// Reports a variable that there is not.
    pub fn unknown_variable<T>(&mut self, name: &str, span: Span) -> Option<T> {
        let names = self.frames.iter().rev().flat_map(|frame| frame.names());
        let mut error =
            self.unknown("variable", name, span, names.chain(self.tables.globals.keys().copied()));
        if self.tables.streams.contains_key(name) {
            error = error.label("this is a stream").hint("streams are made with `add`, `body` and `loop`");
        }
        self.error(error)
    }
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distances_count_what_is_wrong() {
        assert_eq!(distance(b"weight", b"weight"), 0);
        assert_eq!(distance(b"wieght", b"weight"), 1);
        assert_eq!(distance(b"weigt", b"weight"), 1);
        assert_eq!(distance(b"", b"abc"), 3);
    }

    #[test]
    fn the_nearest_name_is_meant_if_it_is_near() {
        let names = ["taps", "rate", "N"];
        assert_eq!(nearest("tpas", names.into_iter()), Some("taps"));
        assert_eq!(nearest("n", names.into_iter()), Some("N"));
        assert_eq!(nearest("decimation", names.into_iter()), None);
    }

    #[test]
    fn short_names_are_not_meant_by_others() {
        for (wrong, names) in
            [("x", ["y", "i", "xs"]), ("ab", ["ac", "a", "abc"]), ("abc", ["ab", "xyz", "c"])]
        {
            assert_eq!(nearest(wrong, names.into_iter()), None, "{wrong}");
        }
        assert_eq!(nearest("PI", ["pi", "pin"].into_iter()), Some("pi"));
        assert_eq!(nearest("pops", ["cos", "pop"].into_iter()), Some("pop"));
        assert_eq!(nearest("tags", ["taps", "tan"].into_iter()), Some("taps"));
    }
}

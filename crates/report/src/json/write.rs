//! Writes JSON: objects of one line, in arrays of one line for each entry.

use std::fmt::{Display, Write};
use std::time::Duration;

/// An object that is being written, on one line.
pub(super) struct Fields<'o> {
    out: &'o mut String,
    first: bool,
}

impl Fields<'_> {
    /// Writes the name of a field, which needs no escapes.
    fn key(&mut self, name: &str) {
        if !std::mem::take(&mut self.first) {
            self.out.push_str(", ");
        }
        self.out.push('"');
        self.out.push_str(name);
        self.out.push_str("\": ");
    }

    pub(super) fn string(&mut self, name: &str, text: &str) {
        self.key(name);
        put(self.out, Quoted(text));
    }

    pub(super) fn count(&mut self, name: &str, count: impl Display) {
        self.key(name);
        put(self.out, count);
    }

    /// A number that is left out where there is none.
    pub(super) fn limit(&mut self, name: &str, limit: Option<impl Display>) {
        if let Some(limit) = limit {
            self.count(name, limit);
        }
    }

    /// A flag that is left out where it is false.
    pub(super) fn flag(&mut self, name: &str, flag: bool) {
        if flag {
            self.count(name, true);
        }
    }

    pub(super) fn nanos(&mut self, name: &str, time: Duration) {
        self.count(name, nanos(time));
    }

    /// A time that is left out where it is zero.
    pub(super) fn any_nanos(&mut self, name: &str, time: Duration) {
        self.limit(name, Some(nanos(time)).filter(|nanos| *nanos > 0));
    }

    /// The shortest number that reads back as this one. JSON has no other than finite ones, so null stands for them.
    pub(super) fn measure(&mut self, name: &str, number: f64) {
        if number.is_finite() {
            self.count(name, format_args!("{number:?}"));
        } else {
            self.count(name, "null");
        }
    }

    /// An object on the same line.
    pub(super) fn object(&mut self, name: &str, fields: impl FnOnce(&mut Fields<'_>)) {
        self.key(name);
        object(self.out, fields);
    }

    /// An array of integers.
    pub(super) fn numbers(&mut self, name: &str, numbers: &[u64]) {
        self.key(name);
        put(self.out, format_args!("{numbers:?}"));
    }

    /// An array of objects on the same line.
    pub(super) fn list<T>(&mut self, name: &str, entries: &[T], fields: impl Fn(&T, &mut Fields<'_>)) {
        self.key(name);
        self.out.push('[');
        for (i, entry) in entries.iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            object(self.out, |to| fields(entry, to));
        }
        self.out.push(']');
    }
}

/// Writes an object on one line.
pub(super) fn object(out: &mut String, fields: impl FnOnce(&mut Fields<'_>)) {
    out.push('{');
    fields(&mut Fields { out, first: true });
    out.push('}');
}

/// Writes an array with a line for each entry, which is an object, at this depth of indentation.
pub(super) fn lines<T>(
    out: &mut String,
    depth: usize,
    entries: impl Iterator<Item = T>,
    fields: impl Fn(T, &mut Fields<'_>),
) {
    let (mut separator, width) = ("", 2 * depth);
    out.push('[');
    for entry in entries {
        put(out, format_args!("{separator}\n{:width$}  ", ""));
        object(out, |to| fields(entry, to));
        separator = ",";
    }
    if !separator.is_empty() {
        put(out, format_args!("\n{:width$}", ""));
    }
    out.push(']');
}

/// A time in whole nanoseconds, at most `u64::MAX` of them, which are 584 years.
pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn put(out: &mut String, text: impl Display) {
    write!(out, "{text}").expect("writing to a String cannot fail");
}

/// A string in quotes, escaped for JSON. Control characters of all kinds are escaped, so that the document can be
/// shown in a terminal.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_char('"')?;
        let escaped = |c: char| c == '"' || c == '\\' || c.is_control();
        let mut rest = self.0;
        while let Some(plain) = rest.find(escaped) {
            f.write_str(&rest[..plain])?;
            let mut chars = rest[plain..].chars();
            match chars.next().unwrap_or_default() {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                // All control characters are below U+10000: one escape each.
                c => write!(f, "\\u{:04x}", u32::from(c))?,
            }
            rest = chars.as_str();
        }
        f.write_str(rest)?;
        f.write_char('"')
    }
}

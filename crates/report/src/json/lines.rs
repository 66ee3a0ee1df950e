//! The layout of the files: an entry of an array is a line, so two files can be compared line by line.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// Writes a document.
pub(super) fn write(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    document.serialize(&mut Serializer::with_formatter(&mut *out, Lines::default()))?;
    out.write_all(b"\n")
}

/// Breaks lines between the fields of objects and the entries of arrays, but not inside of an entry.
#[derive(Default)]
struct Lines {
    /// Arrays and objects around the current place that have a line for each of their parts.
    depth: usize,
    /// Arrays around the current place.
    arrays: usize,
    /// Whether the array or object that was last begun or ended has a part.
    has_part: bool,
}

impl Lines {
    /// Begins an array or object, whose parts have lines of their own if it `breaks`.
    fn begin(&mut self, out: &mut (impl Write + ?Sized), bracket: &[u8], breaks: bool) -> io::Result<()> {
        self.depth += usize::from(breaks);
        self.has_part = false;
        out.write_all(bracket)
    }

    fn part(&mut self, out: &mut (impl Write + ?Sized), first: bool, breaks: bool) -> io::Result<()> {
        match (first, breaks) {
            (true, false) => Ok(()),
            (false, false) => out.write_all(b", "),
            (true, true) => self.new_line(out),
            (false, true) => {
                out.write_all(b",")?;
                self.new_line(out)
            }
        }
    }

    fn end(&mut self, out: &mut (impl Write + ?Sized), bracket: &[u8], breaks: bool) -> io::Result<()> {
        self.depth -= usize::from(breaks);
        if breaks && self.has_part {
            self.new_line(out)?;
        }
        self.has_part = true;
        out.write_all(bracket)
    }

    fn new_line(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        write!(out, "\n{:width$}", "", width = 2 * self.depth)
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.arrays += 1;
        self.begin(out, b"[", self.arrays == 1)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.part(out, first, self.arrays == 1)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _out: &mut W) -> io::Result<()> {
        self.has_part = true;
        Ok(())
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let breaks = self.arrays == 1;
        self.arrays -= 1;
        self.end(out, b"]", breaks)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"{", self.arrays == 0)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.part(out, first, self.arrays == 0)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _out: &mut W) -> io::Result<()> {
        self.has_part = true;
        Ok(())
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"}", self.arrays == 0)
    }

    /// Escapes the control characters that JSON allows in strings too, so that a terminal can show the file.
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(char::is_control) {
            let (plain, from) = rest.split_at(at);
            let control = from.chars().next().unwrap_or_default();
            // All control characters are below U+10000: one escape each.
            write!(out, "{plain}\\u{:04x}", u32::from(control))?;
            rest = &from[control.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }
}

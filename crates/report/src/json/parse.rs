//! Parses JSON (RFC 8259) into a tree of [`Value`]s.
//!
//! The tree has no entries of arrays, only their place: a report of a million nodes is an array of a million entries,
//! of which its reader needs one at a time. So an entry is parsed again for each array around it, and most entries twice.
//!
//! The crate has this parser of its own for two reasons. Every value knows its place, so an error about its meaning
//! names the line too. And users of the engine get no further dependency: the implementations of `PartialEq` in
//! `serde_json` would keep the compiler from inferring types in their programs.

use super::ReadError;
use super::place::Step;
use super::value::{Entries, Form, Value};
use std::borrow::Cow;

/// The most arrays and objects inside each other. The format has six; unknown fields may have more.
const MAX_DEPTH: usize = 64;

/// Parses a document, which is one value.
///
/// # Errors
/// The place of the first byte that is not JSON, with the path of the value around it.
pub(super) fn parse(document: &str) -> Result<Value<'_>, ReadError> {
    let mut parser = Parser { document, at: 0, depth: 0, keep: true };
    parser.document().map_err(|mut fault| {
        fault.path.reverse();
        ReadError::syntax(document, fault.at, &fault.path, fault.expected)
    })
}

/// A place that is not JSON.
pub(super) struct SyntaxFault<'a> {
    at: usize,
    expected: &'static str,
    /// From the inside out.
    path: Vec<Step<'a>>,
}

impl<'a> SyntaxFault<'a> {
    fn inside(mut self, step: Step<'a>) -> SyntaxFault<'a> {
        self.path.push(step);
        self
    }
}

pub(super) type Parsed<'a, T> = Result<T, SyntaxFault<'a>>;

/// The state of the parser: everything before `at` is read.
///
/// Invariant: `at` is at most the length of the document, and on a boundary of characters.
pub(super) struct Parser<'a> {
    document: &'a str,
    at: usize,
    depth: usize,
    /// Whether the values that are read are wanted, or only whether they are JSON.
    keep: bool,
}

impl<'a> Parser<'a> {
    /// A parser of the entries of an array, which are JSON: the parser of the array has read them.
    pub(super) fn of_entries(entries: Entries<'a>) -> Parser<'a> {
        Parser { document: entries.document, at: entries.at, depth: 0, keep: true }
    }

    /// The next entry of such an array, which must have one.
    pub(super) fn entry(&mut self) -> Value<'a> {
        let Ok(value) = self.value() else {
            unreachable!("the entries of an array are read twice, and unchanged")
        };
        self.skip_space();
        self.take(b',');
        value
    }

    fn document(&mut self) -> Parsed<'a, Value<'a>> {
        let value = self.value()?;
        self.skip_space();
        if self.peek().is_some() { Err(self.expected("the end of the text")) } else { Ok(value) }
    }

    fn value(&mut self) -> Parsed<'a, Value<'a>> {
        self.skip_space();
        let start = self.at;
        let form = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Form::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Form::Number(self.number()?),
            _ => self.literal()?,
        };
        Ok(Value { start, end: self.at, form })
    }

    /// Reads an array or object, whose opening bracket is next. The limit bounds the parser's stack.
    fn nested(&mut self, read: fn(&mut Self) -> Parsed<'a, Form<'a>>) -> Parsed<'a, Form<'a>> {
        if self.depth == MAX_DEPTH {
            return Err(self.expected("at most 64 arrays and objects inside each other"));
        }
        self.depth += 1;
        self.at += 1;
        let form = read(self)?;
        self.depth -= 1;
        Ok(form)
    }

    /// Reads the entries without keeping them. [`Entries::iter`] reads them again, one at a time.
    fn array(&mut self) -> Parsed<'a, Form<'a>> {
        let mut entries = Entries { document: self.document, at: self.at, count: 0 };
        self.skip_space();
        if self.take(b']') {
            return Ok(Form::Array(entries));
        }
        let keep = std::mem::replace(&mut self.keep, false);
        loop {
            self.value().map_err(|fault| fault.inside(Step::Entry(entries.count)))?;
            entries.count += 1;
            if self.ends(b']', "`,` or `]`")? {
                self.keep = keep;
                return Ok(Form::Array(entries));
            }
        }
    }

    fn object(&mut self) -> Parsed<'a, Form<'a>> {
        let mut fields = Vec::new();
        self.skip_space();
        if self.take(b'}') {
            return Ok(Form::Object(fields));
        }
        loop {
            let key = self.key()?;
            match self.value() {
                Ok(value) if self.keep => fields.push((key, value)),
                Ok(_) => {}
                Err(fault) => return Err(fault.inside(Step::Field(key))),
            }
            if self.ends(b'}', "`,` or `}`")? {
                return Ok(Form::Object(fields));
            }
        }
    }

    /// Reads the name of a field and its colon.
    fn key(&mut self) -> Parsed<'a, Cow<'a, str>> {
        self.skip_space();
        if self.peek() != Some(b'"') {
            return Err(self.expected("the name of a field, in quotes"));
        }
        let key = self.string()?;
        self.skip_space();
        if self.take(b':') { Ok(key) } else { Err(self.expected("`:`")) }
    }

    /// Whether the closing bracket is next. Otherwise a comma must be.
    fn ends(&mut self, bracket: u8, expected: &'static str) -> Parsed<'a, bool> {
        self.skip_space();
        if self.take(bracket) {
            return Ok(true);
        }
        if self.take(b',') { Ok(false) } else { Err(self.expected(expected)) }
    }

    fn literal(&mut self) -> Parsed<'a, Form<'a>> {
        match self.peek() {
            Some(b'n') => self.word("null", Form::Null),
            Some(b't') => self.word("true", Form::Boolean(true)),
            Some(b'f') => self.word("false", Form::Boolean(false)),
            _ => Err(self.expected("a value")),
        }
    }

    fn word(&mut self, word: &'static str, form: Form<'a>) -> Parsed<'a, Form<'a>> {
        let same = self.rest().bytes().zip(word.bytes()).take_while(|(a, b)| a == b).count();
        self.skip(same);
        if same == word.len() { Ok(form) } else { Err(self.expected(word)) }
    }

    fn number(&mut self) -> Parsed<'a, &'a str> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(&self.document[start..self.at])
    }

    fn digits(&mut self) -> Parsed<'a, ()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.skip(1);
        }
        if start == self.at { Err(self.expected("a digit")) } else { Ok(()) }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.skip(1);
        }
    }

    /// Goes on by this number of bytes, which were examined.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Takes the next byte if it is this one, an ASCII character.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        self.at += usize::from(next);
        next
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.document.as_bytes().get(self.at).copied()
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.document[self.at..]
    }

    pub(super) fn expected(&self, expected: &'static str) -> SyntaxFault<'a> {
        SyntaxFault { at: self.at, expected, path: Vec::new() }
    }
}

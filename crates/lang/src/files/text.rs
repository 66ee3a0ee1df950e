//! Items in text form.

use super::{Layout, Output, Reader, Sink, Source, cut_off, finish, flush, mark_partial};
use crate::hir::Type;
use crate::value::{Shape, Value};
use std::io::{self, BufWriter, Write};
use std::time::Duration;
use thalweg_graph::BYTE_ORDER_MARK;

pub(super) struct TextSource {
    reader: Reader,
    item: Shape,
    structs: Vec<Vec<Shape>>,
    /// The current line number.
    line: usize,
    /// Whether nothing was read: the text may begin with a byte order mark.
    at_begin: bool,
    /// The minimum of bytes of an item, with one separator per number.
    least: usize,
}

impl TextSource {
    pub(super) fn new(reader: Reader, item: &Layout<'_>) -> TextSource {
        let structs = item.structs.to_vec();
        let least = 2 * words(item.shape, &structs);
        TextSource { reader, item: item.shape.clone(), structs, line: 1, at_begin: true, least }
    }

    /// Skips the byte order mark with which the text may begin.
    fn skip_mark(&mut self) -> io::Result<()> {
        let mark = BYTE_ORDER_MARK.as_bytes();
        while self.at_begin {
            let ahead = self.reader.buffered();
            if ahead.starts_with(mark) {
                self.reader.take(mark.len());
                self.at_begin = false;
            } else {
                self.at_begin = mark.starts_with(ahead) && self.reader.more()?;
            }
        }
        Ok(())
    }

    /// The next word; `None` at the end of the file.
    fn word(&mut self) -> io::Result<Option<String>> {
        self.skip_mark()?;
        loop {
            let blanks = self.reader.buffered().iter().take_while(|byte| is_blank(**byte)).count();
            self.line += self.reader.buffered()[..blanks].iter().filter(|byte| **byte == b'\n').count();
            self.reader.take(blanks);
            let Some(length) = self.length()? else { return Ok(None) };
            let text = str::from_utf8(&self.reader.buffered()[..length]).map_err(|_| not_utf8(self.line))?;
            // Some Unicode white space is longer than a byte.
            let rest = text.trim_start();
            let word = rest.split(char::is_whitespace).next().unwrap_or_default().to_owned();
            self.reader.take(length - rest.len() + word.len());
            if !word.is_empty() {
                return Ok(Some(word));
            }
        }
    }

    /// The length of the word at the start of the buffer; `None` at the end of the file.
    fn length(&mut self) -> io::Result<Option<usize>> {
        let mut seen = 0;
        loop {
            let ahead = self.reader.buffered();
            if let Some(length) = ahead[seen..].iter().position(|byte| is_blank(*byte)) {
                return Ok(Some(seen + length));
            }
            seen = ahead.len();
            if seen >= MAX_WORD || !self.reader.more()? {
                return Ok(Some(seen).filter(|length| *length > 0));
            }
        }
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> io::Result<Option<T>> {
        let Some(word) = self.word()? else { return Ok(None) };
        word.parse().map(Some).map_err(|_| {
            let message = format!("line {}: `{}` is not {what}", self.line, shown(&word));
            io::Error::new(io::ErrorKind::InvalidData, message)
        })
    }

    /// A number within an item that has begun.
    fn more<T: std::str::FromStr>(&mut self, what: &str) -> io::Result<T> {
        self.number(what)?.ok_or_else(cut_off)
    }

    fn value(&mut self, shape: &Shape) -> io::Result<Option<Value>> {
        match shape {
            Shape::Scalar(ty) => self.scalar(ty),
            Shape::Struct(id) => {
                let fields = self.structs[id.0 as usize].clone();
                Ok(self.values(fields.iter())?.map(Value::Struct))
            }
            Shape::Array(element, length) => Ok(self
                .values(std::iter::repeat_n(&**element, *length))?
                .map(|values| Value::Array(values.into()))),
        }
    }

    fn values<'a>(&mut self, shapes: impl Iterator<Item = &'a Shape>) -> io::Result<Option<Vec<Value>>> {
        let mut values = Vec::new();
        for shape in shapes {
            match self.value(shape)? {
                Some(value) => values.push(value),
                None if values.is_empty() => return Ok(None),
                None => return Err(cut_off()),
            }
        }
        Ok(Some(values))
    }

    fn scalar(&mut self, ty: &Type) -> io::Result<Option<Value>> {
        Ok(match ty {
            Type::Int => self.number("an integer of 32 bits")?.map(Value::Int),
            Type::Float => self.number("a number")?.map(Value::Float),
            Type::Bit | Type::Boolean => match self.word()?.as_deref() {
                None => None,
                Some("0" | "false") => Some(Value::Bool(false)),
                Some("1" | "true") => Some(Value::Bool(true)),
                Some(word) => {
                    let message = format!("line {}: `{}` is not 0 or 1", self.line, shown(word));
                    return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                }
            },
            Type::Complex => match self.number("a number")? {
                Some(real) => Some(Value::Complex(real, self.more("a number")?)),
                None => None,
            },
            Type::Vector(count) => match self.number("a number")? {
                Some(first) => {
                    let mut parts = [first, 0.0, 0.0, 0.0];
                    for part in &mut parts[1..usize::from(*count)] {
                        *part = self.more("a number")?;
                    }
                    Some(Value::Vector(parts))
                }
                None => None,
            },
            _ => {
                return Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    "items of this type cannot be read from text",
                ));
            }
        })
    }
}

/// Whether a byte separates words.
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

/// The number of words in an item.
fn words(shape: &Shape, structs: &[Vec<Shape>]) -> usize {
    match shape {
        Shape::Scalar(Type::Complex) => 2,
        Shape::Scalar(Type::Vector(count)) => usize::from(*count),
        Shape::Scalar(_) => 1,
        Shape::Array(element, length) => length.saturating_mul(words(element, structs)),
        Shape::Struct(id) => {
            let fields = structs[id.0 as usize].iter().map(|field| words(field, structs));
            fields.fold(0, usize::saturating_add)
        }
    }
}

/// Whether there are `count` complete words: followed by a separator, or too long for numbers.
fn has_words(text: &[u8], count: usize) -> bool {
    let (mut whole, mut length) = (0, 0);
    for byte in text {
        if whole == count {
            break;
        }
        length += 1;
        if is_blank(*byte) {
            whole += usize::from(length > 1);
            length = 0;
        }
    }
    whole == count || length > MAX_WORD
}

/// The limit of bytes in a word; a longer one is cut and is not a number.
const MAX_WORD: usize = 1 << 20;

fn not_utf8(line: usize) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is not valid UTF-8"))
}

/// The beginning of a word with control characters escaped; invalid text may have long words.
fn shown(word: &str) -> String {
    let start: String = word.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if word.chars().nth(SHOWN).is_some() { start + "..." } else { start }
}

/// The limit of characters shown of a word.
const SHOWN: usize = 20;

impl Source for TextSource {
    fn next(&mut self) -> io::Result<Option<Value>> {
        let shape = std::mem::replace(&mut self.item, Shape::Scalar(Type::Void));
        let value = self.value(&shape);
        self.item = shape;
        value
    }

    fn would_block(&mut self, timeout: Duration) -> io::Result<bool> {
        let (least, count) = (self.least, self.least / 2);
        self.reader.would_block_until(timeout, |ahead| ahead.len() >= least && has_words(ahead, count))
    }

    fn rewind(&mut self) -> io::Result<bool> {
        (self.line, self.at_begin) = (1, true);
        self.reader.rewind()
    }
}

pub(super) struct TextSink {
    writer: BufWriter<Output>,
    item: Shape,
    structs: Vec<Vec<Shape>>,
}

impl TextSink {
    pub(super) fn new(writer: BufWriter<Output>, item: &Layout<'_>) -> TextSink {
        TextSink { writer, item: item.shape.clone(), structs: item.structs.to_vec() }
    }
}

impl Sink for TextSink {
    fn push(&mut self, item: &Value) -> io::Result<()> {
        let mut words = Vec::new();
        numbers(item, &self.item, &self.structs, &mut words);
        writeln!(self.writer, "{}", words.join(" "))
    }

    fn flush(&mut self) -> io::Result<()> {
        flush(&mut self.writer)
    }

    fn mark_partial(&mut self) {
        mark_partial(&mut self.writer);
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        finish(self.writer)
    }
}

fn numbers(value: &Value, shape: &Shape, structs: &[Vec<Shape>], words: &mut Vec<String>) {
    match (value, shape) {
        (Value::Bool(truth), _) => words.push(u8::from(*truth).to_string()),
        (Value::Int(number), _) => words.push(number.to_string()),
        (Value::Float(number), _) => words.push(number.to_string()),
        (Value::Complex(real, imaginary), _) => words.extend([real, imaginary].map(f32::to_string)),
        (Value::Vector(parts), Shape::Scalar(Type::Vector(count))) => {
            words.extend(parts[..usize::from(*count)].iter().map(f32::to_string));
        }
        (Value::Struct(fields), Shape::Struct(id)) => {
            let shapes = &structs[id.0 as usize];
            fields.iter().zip(shapes).for_each(|(field, shape)| numbers(field, shape, structs, words));
        }
        (Value::Array(elements), Shape::Array(shape, _)) => {
            elements.iter().for_each(|element| numbers(&element, shape, structs, words));
        }
        _ => {}
    }
}

//! Files of `FileReader` and `FileWriter`.
//!
//! **Binary**: consecutive little-endian items. An integer or float takes 4 bytes, a boolean one byte; a complex
//! number or vector is its floats, an array its elements, a structure its fields. Bits are packed eight to a byte,
//! the first one highest; the last byte is padded with zeros.
//!
//! **Text**: the same numbers, separated by white space when read, one item per line when written.
//!
//! Each NaN that a program writes has the same bits ([`one_nan`]).

mod binary;
mod input;
mod named;
pub mod one_nan;
mod output;
mod text;

pub use input::{Input, MayBlock, Open};
pub use named::{Named, of_file};
pub use output::Output;

use crate::value::{Shape, Value};
use input::Reader;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A source of items. A run may read it on any thread.
pub trait Source: Send {
    /// The next item; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read, or ends within an item.
    fn next(&mut self) -> io::Result<Option<Value>>;

    /// Reads the next items as bytes, if their file form equals their memory form: consecutive 32-bit scalars in
    /// the byte order of this machine. Returns the number of bytes, 0 only at the end. A call may fill less than
    /// `room`; the next call continues.
    ///
    /// # Errors
    /// As for [`Source::next`]; [`WouldBlock`](io::ErrorKind::WouldBlock) if no whole item has arrived yet.
    fn next_bytes(&mut self, _room: &mut [u8]) -> Option<io::Result<usize>> {
        None
    }

    /// Whether the next item would block for longer than `timeout`. Regular files never block.
    ///
    /// # Errors
    /// As for [`Source::next`].
    fn would_block(&mut self, _timeout: Duration) -> io::Result<bool> {
        Ok(false)
    }

    /// All items from beginning to end as bytes, if they are in memory in the form of [`Source::next_bytes`]. A
    /// caller that uses them reads no items in any other way, and they stay unchanged for the life of the source.
    fn memory(&self) -> Option<&[u8]> {
        None
    }

    /// The file in words, if known.
    fn name(&self) -> Option<String> {
        None
    }

    /// Returns to the beginning; false if that is impossible.
    ///
    /// # Errors
    /// As for [`Source::next`].
    fn rewind(&mut self) -> io::Result<bool>;
}

/// A sink of items. A run may write it on any thread.
pub trait Sink: Send {
    /// Writes an item.
    ///
    /// # Errors
    /// It cannot be written.
    fn push(&mut self, item: &Value) -> io::Result<()>;

    /// Writes items as bytes, if their file form equals their memory form; see [`Source::next_bytes`].
    ///
    /// # Errors
    /// They cannot be written.
    fn push_bytes(&mut self, _items: &[u8]) -> Option<io::Result<()>> {
        None
    }

    /// A buffer of at least `_bytes` bytes, if the sink accepts items there in the form of [`Sink::push_bytes`].
    /// They count when [`Sink::filled`] reports them; until then a call for no more bytes returns the same buffer, unchanged.
    fn room(&mut self, _bytes: usize) -> Option<&mut [u8]> {
        None
    }

    /// Reports that the first `_bytes` bytes of the buffer are items.
    ///
    /// # Errors
    /// They cannot be written.
    fn filled(&mut self, _bytes: usize) -> io::Result<()> {
        Ok(())
    }

    /// Writes buffered data now if the sink is a pipe or a device.
    ///
    /// # Errors
    /// It cannot be written.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Records that the run was interrupted. [`Sink::finish`] then completes the file under a name that says that it is a
    /// part. A pipe or a device has what its reader takes at once.
    fn mark_partial(&mut self) {}

    /// Completes the file: it appears under its name.
    ///
    /// # Errors
    /// It cannot be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// The file system of programs.
pub trait Files: Send {
    /// Opens a file of items for reading.
    ///
    /// # Errors
    /// The file does not exist or has no such items; the message names it.
    fn source(&mut self, name: &str, item: &Layout<'_>) -> io::Result<Box<dyn Source>>;

    /// Creates a file of items. It appears under its name when it is complete.
    ///
    /// # Errors
    /// The file cannot be created; the message names it.
    fn sink(&mut self, name: &str, item: &Layout<'_>) -> io::Result<Box<dyn Sink>>;

    /// Like [`Files::sink`], where the program gives a sample rate for sound. Files of other forms have none.
    ///
    /// # Errors
    /// As for [`Files::sink`].
    fn sink_at_rate(
        &mut self,
        name: &str,
        item: &Layout<'_>,
        _rate: Option<u32>,
    ) -> io::Result<Box<dyn Sink>> {
        self.sink(name, item)
    }
}

/// The shape of an item, with the structures in it.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// The item.
    pub shape: &'a Shape,
    /// The field shapes of each structure: [`Tree::structs`](crate::tree::Tree::structs).
    pub structs: &'a [Vec<Shape>],
}

/// The form of items in files.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Form {
    /// Bytes.
    #[default]
    Binary,
    /// Numbers as text.
    Text,
}

/// The file system of the machine, with paths relative to the working directory; `-` is standard input or output.
#[derive(Clone, Copy, Default, Debug)]
pub struct Disk {
    /// The form of files that are read.
    pub input: Form,
    /// The form of files that are written.
    pub output: Form,
}

impl Files for Disk {
    fn source(&mut self, name: &str, item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        let path = (name != STANDARD).then(|| PathBuf::from(name));
        let open = move || path.as_deref().map_or_else(|| Ok(input::standard()), input::open);
        source(self.input, name, Box::new(open), item)
    }

    fn sink(&mut self, name: &str, item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        if name == STANDARD {
            return Ok(sink(self.output, name, Output::Open(Box::new(io::stdout())), item));
        }
        let file = Output::create(Path::new(name)).map_err(|error| of_file(name, &error))?;
        Ok(sink(self.output, name, file, item))
    }
}

/// The name of standard input or output.
pub const STANDARD: &str = "-";

/// A source of items from an opened input. Standard input is not reopened.
///
/// # Errors
/// The input cannot be opened.
pub fn source(form: Form, name: &str, open: Open, item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
    let reader = Reader::new(open, name != STANDARD).map_err(|error| of_file(name, &error))?;
    let inner: Box<dyn Source> = match form {
        Form::Binary => Box::new(binary::BinarySource::new(reader, item)),
        Form::Text => Box::new(text::TextSource::new(reader, item)),
    };
    Ok(Box::new(Named::source(name, inner)))
}

/// A sink of items to an output.
pub fn sink(form: Form, name: &str, output: Output, item: &Layout<'_>) -> Box<dyn Sink> {
    let writer = BufWriter::new(output);
    let inner: Box<dyn Sink> = match form {
        Form::Binary => Box::new(binary::BinarySink::new(writer, item)),
        Form::Text => Box::new(text::TextSink::new(writer, item)),
    };
    Box::new(Named::sink(name, inner))
}

/// Flushes an open output. A file that appears when complete need not be flushed.
fn flush(writer: &mut BufWriter<Output>) -> io::Result<()> {
    if matches!(writer.get_ref(), Output::Open(_)) { writer.flush() } else { Ok(()) }
}

/// See [`Sink::mark_partial`].
fn mark_partial(writer: &mut BufWriter<Output>) {
    if let Output::New(file) = writer.get_mut() {
        file.mark_partial();
    } else if writer.flush().is_err() {
        let rest = std::mem::replace(writer, BufWriter::new(Output::Open(Box::new(io::sink()))));
        drop(rest.into_parts()); // and not flushed again
    }
}

fn finish(writer: BufWriter<Output>) -> io::Result<()> {
    writer.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it ends in the middle of an item")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hir::{StructId, Type};
    use std::sync::Arc;

    /// Writes items and reads them back; also returns the bytes of the file.
    fn round_trip(
        form: Form,
        shape: &Shape,
        structs: &[Vec<Shape>],
        items: &[Value],
    ) -> (Vec<Value>, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("items");
        let (name, layout) = (path.to_str().unwrap(), Layout { shape, structs });
        let mut disk = Disk { input: form, output: form };
        let mut sink = disk.sink(name, &layout).unwrap();
        items.iter().for_each(|item| sink.push(item).unwrap());
        assert!(!path.exists(), "a file that is not complete");
        sink.finish().unwrap();
        let mut source = disk.source(name, &layout).unwrap();
        let mut back = Vec::new();
        while let Some(item) = source.next().unwrap() {
            back.push(item);
        }
        assert!(source.rewind().unwrap());
        assert_eq!(source.next().unwrap().as_ref(), items.first());
        (back, std::fs::read(path).unwrap())
    }

    #[test]
    fn items_survive_a_round_trip() {
        let pair = vec![Shape::Scalar(Type::Int), Shape::Array(Arc::new(Shape::Scalar(Type::Float)), 2)];
        let item = |i: i32| {
            Value::Struct(vec![
                Value::Int(i),
                Value::Array(vec![Value::Float(0.1), Value::Float(-1e20)].into()),
            ])
        };
        let vector = |x| Value::Vector([x, 2.0, 3.0, 0.0]);
        let shapes = [
            (Shape::Struct(StructId(0)), vec![item(-7), item(i32::MAX)]),
            (Shape::Scalar(Type::Complex), vec![Value::Complex(1.5, -0.0)]),
            (Shape::Scalar(Type::Vector(3)), vec![vector(0.25), vector(1.0)]),
            (Shape::Scalar(Type::Boolean), vec![Value::Bool(true), Value::Bool(false)]),
        ];
        for (shape, items) in shapes {
            for form in [Form::Binary, Form::Text] {
                assert_eq!(
                    round_trip(form, &shape, std::slice::from_ref(&pair), &items).0,
                    items,
                    "{form:?}"
                );
            }
        }
    }

    #[test]
    fn bits_are_packed_most_significant_first() {
        let bits: Vec<Value> = [1, 0, 0, 0, 0, 0, 1, 0, 1].map(|bit| Value::Bool(bit == 1)).into();
        let (back, bytes) = round_trip(Form::Binary, &Shape::Scalar(Type::Bit), &[], &bits);
        assert_eq!(bytes, [0b1000_0010, 0b1000_0000]);
        assert_eq!(back[..9], bits);
        assert!(back[9..].iter().all(|bit| *bit == Value::Bool(false)));
    }

    #[test]
    fn a_file_that_ends_in_an_item_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout { shape: &Shape::Scalar(Type::Complex), structs: &[] };
        for (form, text) in [(Form::Binary, "12345"), (Form::Text, "1.5 2\n3")] {
            let path = folder.path().join("items");
            std::fs::write(&path, text).unwrap();
            let mut source =
                Disk { input: form, output: form }.source(path.to_str().unwrap(), &layout).unwrap();
            let error = std::iter::from_fn(|| source.next().transpose()).find_map(Result::err).unwrap();
            assert!(error.to_string().contains("in the middle of an item"), "{error}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped_in_text_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("items");
        let layout = Layout { shape: &Shape::Scalar(Type::Int), structs: &[] };
        let mut disk = Disk { input: Form::Text, output: Form::Text };
        std::fs::write(&path, "\u{feff}7\n8").unwrap();
        let mut source = disk.source(path.to_str().unwrap(), &layout).unwrap();
        for _ in 0..2 {
            assert!(!source.would_block(Duration::ZERO).unwrap());
            let items: Vec<_> = std::iter::from_fn(|| source.next().unwrap()).collect();
            assert_eq!(items, [Value::Int(7), Value::Int(8)]);
            assert!(source.rewind().unwrap());
        }
        for text in ["", "\u{feff}"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(disk.source(path.to_str().unwrap(), &layout).unwrap().next().unwrap(), None);
        }
    }

    #[test]
    fn invalid_numbers_report_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("items");
        std::fs::write(&path, "1\n2 three").unwrap();
        let layout = Layout { shape: &Shape::Scalar(Type::Int), structs: &[] };
        let mut disk = Disk { input: Form::Text, output: Form::Text };
        let mut source = disk.source(path.to_str().unwrap(), &layout).unwrap();
        assert_eq!(
            (source.next().unwrap(), source.next().unwrap()),
            (Some(Value::Int(1)), Some(Value::Int(2)))
        );
        assert_eq!(
            source.next().unwrap_err().to_string(),
            format!("the file `{}`: line 2: `three` is not an integer of 32 bits", path.display())
        );
    }
}

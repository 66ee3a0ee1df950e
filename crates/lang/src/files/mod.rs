//! What `FileReader` and `FileWriter` read and write.
//!
//! **Binary**: items one after the other, little-endian: an integer or a float takes 4 bytes, a boolean
//! one, a complex number or vector its floats, an array its elements, a structure its fields. Bits are
//! packed eight to a byte, the first one highest; the last byte is filled up with zeros.
//!
//! **Text**: the same numbers, apart by blanks or line ends when read, an item a line when written.

mod binary;
mod input;
mod named;
mod output;
mod text;

pub use input::{Input, Open, Unsure};
pub use named::{Named, of_file};
pub use output::{Output, Unnamed, remove_unfinished};

use crate::value::{Shape, Value};
use input::Reader;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Gives items.
pub trait Source {
    /// The next item; none at the end.
    ///
    /// # Errors
    /// It cannot be read, or the end is in the middle of an item.
    fn next(&mut self) -> io::Result<Option<Value>>;

    /// The next items as bytes, if they stand in the file as in memory: scalars of 32 bits one after the
    /// other, in this machine's order. How many bytes; none at the end only. There may be fewer than there is room for:
    /// those behind them come with the next call.
    ///
    /// # Errors
    /// As for [`Source::next`]; [`WouldBlock`](io::ErrorKind::WouldBlock) if what has come is no whole item yet.
    fn next_bytes(&mut self, _room: &mut [u8]) -> Option<io::Result<usize>> {
        None
    }

    /// Whether the next item would have to be waited for, for longer than this. Files do not wait.
    ///
    /// # Errors
    /// As for [`Source::next`].
    fn waits(&mut self, _patience: Duration) -> io::Result<bool> {
        Ok(false)
    }

    /// All items from the beginning to the end as bytes, if they lie in memory as [`Source::next_bytes`] would
    /// give them. Whoever asks for them asks for no others then, and they stay the same for as long as the
    /// source is there.
    fn memory(&self) -> Option<&[u8]> {
        None
    }

    /// Which file it is, in words, where that is known.
    fn name(&self) -> Option<String> {
        None
    }

    /// Goes back to the beginning; false where that cannot be done.
    ///
    /// # Errors
    /// As for [`Source::next`].
    fn rewind(&mut self) -> io::Result<bool>;
}

/// Takes items.
pub trait Sink {
    /// Takes an item.
    ///
    /// # Errors
    /// It cannot be written.
    fn give(&mut self, item: &Value) -> io::Result<()>;

    /// Takes items as bytes, if they stand in the file as in memory; see [`Source::next_bytes`].
    ///
    /// # Errors
    /// They cannot be written.
    fn give_bytes(&mut self, _items: &[u8]) -> Option<io::Result<()>> {
        None
    }

    /// Room in memory for so many bytes and more, if items may be put there, as for [`Sink::give_bytes`], in
    /// place of being given. They count when [`Sink::filled`] says so.
    fn room(&mut self, _bytes: usize) -> Option<&mut [u8]> {
        None
    }

    /// So many bytes of the room, from its beginning on, are items now.
    ///
    /// # Errors
    /// They cannot be written.
    fn filled(&mut self, _bytes: usize) -> io::Result<()> {
        Ok(())
    }

    /// What goes to a pipe or a device goes there now, and does not wait for more.
    ///
    /// # Errors
    /// It cannot be written.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// All items have come: what was written appears under its name.
    ///
    /// # Errors
    /// It cannot be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Where programs find files.
pub trait Files {
    /// Opens a file of items to be read.
    ///
    /// # Errors
    /// There is none, or it has no such items; the message names it.
    fn source(&mut self, name: &str, item: &Layout<'_>) -> io::Result<Box<dyn Source>>;

    /// Makes a file of items. It appears under its name when it is complete, and not before.
    ///
    /// # Errors
    /// It cannot be made; the message names it.
    fn sink(&mut self, name: &str, item: &Layout<'_>) -> io::Result<Box<dyn Sink>>;
}

/// What an item looks like, with what is needed to know of structures.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// The item.
    pub shape: &'a Shape,
    /// For each structure, its fields: [`Tree::structs`](crate::tree::Tree::structs).
    pub structs: &'a [Vec<Shape>],
}

/// How items stand in files.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Form {
    /// As bytes.
    #[default]
    Binary,
    /// As numbers in text.
    Text,
}

/// Files of the file system, by paths relative to the working directory; `-` is standard input or
/// output.
#[derive(Clone, Copy, Default, Debug)]
pub struct Disk {
    /// How items stand in files that are read.
    pub input: Form,
    /// How they do in those that are written.
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

/// The name that stands for standard input or output.
pub const STANDARD: &str = "-";

/// Items of what is opened. Standard input is not opened again.
///
/// # Errors
/// It cannot be opened.
pub fn source(form: Form, name: &str, open: Open, item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
    let reader = Reader::new(open, name != STANDARD).map_err(|error| of_file(name, &error))?;
    let inner: Box<dyn Source> = match form {
        Form::Binary => Box::new(binary::BinarySource::new(reader, item)),
        Form::Text => Box::new(text::TextSource::new(reader, item)),
    };
    Ok(Box::new(Named::source(name, inner)))
}

/// Items that go to an output.
pub fn sink(form: Form, name: &str, output: Output, item: &Layout<'_>) -> Box<dyn Sink> {
    let writer = BufWriter::new(output);
    let inner: Box<dyn Sink> = match form {
        Form::Binary => Box::new(binary::BinarySink::new(writer, item)),
        Form::Text => Box::new(text::TextSink::new(writer, item)),
    };
    Box::new(Named::sink(name, inner))
}

/// What is open is written now; what appears when it is complete has time.
fn flush(writer: &mut BufWriter<Output>) -> io::Result<()> {
    if matches!(writer.get_ref(), Output::Open(_)) { writer.flush() } else { Ok(()) }
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

    /// What comes back of items that were written, and the bytes between.
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
        items.iter().for_each(|item| sink.give(item).unwrap());
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
    fn items_come_back_as_they_were() {
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
    fn bits_stand_eight_to_a_byte_the_first_one_highest() {
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
    fn what_is_no_number_is_named_with_its_line() {
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

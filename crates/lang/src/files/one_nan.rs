//! One NaN for all floats that leave a program.
//!
//! Sign and payload of a NaN depend on which instructions computed it, and so on optimisation, vectors and threads.
//! No code of a program can observe them, so they are replaced where items leave it: both the interpreter and native code
//! open their sinks by [`open`].

use super::{Files, Layout, Sink};
use crate::hir::Type;
use crate::value::{Shape, Value};
use std::io;

/// The sink of a `FileWriter`, in which each NaN is [`f32::NAN`]: quiet, positive, with an empty payload.
///
/// # Errors
/// As for [`Files::sink_at_rate`].
pub fn open(
    files: &mut dyn Files,
    name: &str,
    item: &Layout<'_>,
    rate: Option<u32>,
) -> io::Result<Box<dyn Sink>> {
    let inner = files.sink_at_rate(name, item, rate)?;
    let floats = Floats::of(item.shape, item.structs);
    Ok(if floats == Floats::None {
        inner
    } else {
        Box::new(OneNan { inner, floats, shape: item.shape.clone(), structs: item.structs.to_vec() })
    })
}

struct OneNan {
    inner: Box<dyn Sink>,
    floats: Floats,
    shape: Shape,
    structs: Vec<Vec<Shape>>,
}

impl OneNan {
    fn replace(&self, items: &mut [u8]) {
        replace(self.floats, &self.shape, &self.structs, items);
    }
}

impl Sink for OneNan {
    fn push(&mut self, item: &Value) -> io::Result<()> {
        if has_nan(item) { self.inner.push(&replaced(item)) } else { self.inner.push(item) }
    }

    fn push_bytes(&mut self, items: &[u8]) -> Option<io::Result<()>> {
        if !may_have_nan(items) {
            return self.inner.push_bytes(items);
        }
        let mut items = items.to_vec();
        self.replace(&mut items);
        self.inner.push_bytes(&items)
    }

    fn room(&mut self, bytes: usize) -> Option<&mut [u8]> {
        self.inner.room(bytes)
    }

    fn filled(&mut self, bytes: usize) -> io::Result<()> {
        let OneNan { inner, floats, shape, structs } = self;
        if let Some(items) = inner.room(bytes).and_then(|room| room.get_mut(..bytes))
            && may_have_nan(items)
        {
            replace(*floats, shape, structs, items);
        }
        inner.filled(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }

    fn mark_partial(&mut self) {
        self.inner.mark_partial();
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.inner.finish()
    }
}

/// Which words of an item in memory are floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Floats {
    None,
    Some,
    All,
}

impl Floats {
    fn of(shape: &Shape, structs: &[Vec<Shape>]) -> Floats {
        match shape {
            Shape::Scalar(Type::Float | Type::Complex | Type::Vector(_)) => Floats::All,
            Shape::Scalar(_) => Floats::None,
            Shape::Array(element, _) => Floats::of(element, structs),
            Shape::Struct(id) => {
                let fields = structs[id.0 as usize].iter().map(|field| Floats::of(field, structs));
                fields.reduce(|a, b| if a == b { a } else { Floats::Some }).unwrap_or(Floats::None)
            }
        }
    }
}

/// Bytes of a 32-bit scalar.
const WORD: usize = size_of::<f32>();

/// Replaces each NaN of consecutive items in memory form, where each scalar is a word.
fn replace(floats: Floats, shape: &Shape, structs: &[Vec<Shape>], items: &mut [u8]) {
    match floats {
        Floats::None => {}
        Floats::All => items.as_chunks_mut::<WORD>().0.iter_mut().for_each(replace_word),
        Floats::Some => {
            let mut rest = items;
            while !rest.is_empty() {
                rest = replace_item(shape, structs, rest);
            }
        }
    }
}

/// Replaces each NaN of the first item; returns the bytes after it.
fn replace_item<'b>(shape: &Shape, structs: &[Vec<Shape>], items: &'b mut [u8]) -> &'b mut [u8] {
    match shape {
        Shape::Array(element, length) => {
            (0..*length).fold(items, |rest, _| replace_item(element, structs, rest))
        }
        Shape::Struct(id) => {
            structs[id.0 as usize].iter().fold(items, |rest, field| replace_item(field, structs, rest))
        }
        Shape::Scalar(ty) => {
            let words = match ty {
                Type::Complex => 2,
                Type::Vector(count) => usize::from(*count),
                _ => 1,
            };
            let bytes = items.len().min(words * WORD);
            let (item, rest) = items.split_at_mut(bytes);
            replace(Floats::of(shape, structs), shape, structs, item);
            rest
        }
    }
}

fn replace_word(word: &mut [u8; WORD]) {
    if f32::from_ne_bytes(*word).is_nan() {
        *word = f32::NAN.to_ne_bytes();
    }
}

/// Whether a word is a NaN, if it is a float. A loop without branches, which compiles to vector instructions.
fn may_have_nan(items: &[u8]) -> bool {
    let any =
        |words: &[[u8; WORD]]| words.iter().fold(false, |any, word| any | f32::from_ne_bytes(*word).is_nan());
    items.as_chunks().0.chunks(1 << 10).any(any)
}

fn has_nan(value: &Value) -> bool {
    match value {
        Value::Float(x) => x.is_nan(),
        Value::Complex(re, im) => re.is_nan() || im.is_nan(),
        Value::Vector(parts) => parts.iter().any(|part| part.is_nan()),
        Value::Array(parts) => parts.iter().any(|part| has_nan(&part)),
        Value::Struct(parts) => parts.iter().any(has_nan),
        _ => false,
    }
}

fn replaced(value: &Value) -> Value {
    let float = |x: f32| if x.is_nan() { f32::NAN } else { x };
    match value {
        Value::Float(x) => Value::Float(float(*x)),
        Value::Complex(re, im) => Value::Complex(float(*re), float(*im)),
        Value::Vector(parts) => Value::Vector(parts.map(float)),
        Value::Array(parts) => Value::Array(parts.iter().map(|part| replaced(&part)).collect()),
        Value::Struct(parts) => Value::Struct(parts.iter().map(replaced).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Disk;
    use crate::hir::StructId;

    #[test]
    fn an_interrupted_file_is_marked_as_a_part() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("items");
        let layout = Layout { shape: &Shape::Scalar(Type::Float), structs: &[] };
        let mut sink = open(&mut Disk::default(), path.to_str().unwrap(), &layout, None).unwrap();
        sink.push(&Value::Float(-f32::NAN)).unwrap();
        sink.mark_partial();
        sink.finish().unwrap();
        let files: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(files.len() == 1 && files[0] != path, "{files:?}");
        assert_eq!(std::fs::read(&files[0]).unwrap(), f32::NAN.to_le_bytes());
    }

    #[test]
    fn only_words_that_are_floats_are_replaced() {
        const NANS: [u32; 3] = [0xffc0_0000, 0x7f80_0001, 0xffff_ffff];
        let int = Shape::Scalar(Type::Int);
        let structs = [vec![int.clone(), Shape::Scalar(Type::Complex), Shape::Scalar(Type::Float)]];
        let shape = Shape::Struct(StructId(0));
        let item = [NANS[2], NANS[0], 0x3f80_0000, NANS[1]];
        let mut bytes: Vec<u8> = [item, item].iter().flatten().flat_map(|word| word.to_ne_bytes()).collect();
        let floats = Floats::of(&shape, &structs);
        assert_eq!(floats, Floats::Some);
        replace(floats, &shape, &structs, &mut bytes);
        let words: Vec<u32> = bytes.as_chunks().0.iter().map(|word| u32::from_ne_bytes(*word)).collect();
        let one = f32::NAN.to_bits();
        assert_eq!(words, [NANS[2], one, 0x3f80_0000, one].repeat(2));
        assert_eq!(Floats::of(&int, &structs), Floats::None);
    }
}

//! Items in binary form.

use super::{Layout, Output, Reader, Sink, Source, cut_off, finish, flush, mark_partial};
use crate::hir::Type;
use crate::value::{Shape, Value};
use std::io::{self, BufWriter, Write};
use std::time::Duration;

pub(super) struct BinarySource {
    reader: Reader,
    item: Shape,
    structs: Vec<Vec<Shape>>,
    /// Bits of an item in the file.
    size: usize,
    /// Whether items are read as bytes directly into the destination.
    direct: bool,
    /// Unconsumed bits of the current byte, next bit highest, and their number.
    bits: (u8, u32),
}

impl BinarySource {
    pub(super) fn new(reader: Reader, item: &Layout<'_>) -> BinarySource {
        BinarySource {
            reader,
            item: item.shape.clone(),
            structs: item.structs.to_vec(),
            size: size(item.shape, item.structs),
            direct: false,
            bits: (0, 0),
        }
    }
}

impl Source for BinarySource {
    fn next(&mut self) -> io::Result<Option<Value>> {
        let mut bytes = Bytes { reader: &mut self.reader, bits: &mut self.bits, began: false };
        match bytes.value(&self.item, &self.structs) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && !bytes.began => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(cut_off()),
            Err(error) => Err(error),
        }
    }

    fn next_bytes(&mut self, room: &mut [u8]) -> Option<io::Result<usize>> {
        if !has_memory_form(&self.item, &self.structs) {
            return None;
        }
        self.direct = true;
        let items = self.reader.items(room, (self.size / 8).max(1));
        Some(items.and_then(|items| match items {
            (0, false) if !room.is_empty() => Err(io::ErrorKind::WouldBlock.into()),
            (bytes, _) => Ok(bytes),
        }))
    }

    fn would_block(&mut self, timeout: Duration) -> io::Result<bool> {
        if self.direct && self.reader.buffered().len() < self.size / 8 {
            return self.reader.would_block(timeout);
        }
        let bits = self.size.saturating_sub(self.bits.1 as usize);
        self.reader.would_block_until(timeout, |ahead| ahead.len() >= bits.div_ceil(8))
    }

    fn rewind(&mut self) -> io::Result<bool> {
        self.bits = (0, 0);
        self.reader.rewind()
    }
}

/// Reads one item.
struct Bytes<'a> {
    reader: &'a mut Reader,
    bits: &'a mut (u8, u32),
    /// Whether part of the item has been read.
    began: bool,
}

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        loop {
            let ahead = self.reader.buffered();
            if let Some(bytes) = ahead.first_chunk() {
                let bytes = *bytes;
                self.reader.take(N);
                self.began = true;
                return Ok(bytes);
            }
            self.began |= !ahead.is_empty();
            if !self.reader.more()? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    fn float(&mut self) -> io::Result<f32> {
        Ok(f32::from_le_bytes(self.take()?))
    }

    fn bit(&mut self) -> io::Result<bool> {
        if self.bits.1 == 0 {
            let [byte] = self.take()?;
            *self.bits = (byte, 8);
        }
        let bit = self.bits.0 & 0x80 != 0;
        *self.bits = (self.bits.0 << 1, self.bits.1 - 1);
        self.began = true;
        Ok(bit)
    }

    fn value(&mut self, shape: &Shape, structs: &[Vec<Shape>]) -> io::Result<Value> {
        Ok(match shape {
            Shape::Scalar(ty) => self.scalar(ty)?,
            Shape::Struct(id) => {
                let fields = structs[id.0 as usize].iter();
                Value::Struct(fields.map(|field| self.value(field, structs)).collect::<io::Result<_>>()?)
            }
            Shape::Array(element, length) => {
                Value::Array((0..*length).map(|_| self.value(element, structs)).collect::<io::Result<_>>()?)
            }
        })
    }

    fn scalar(&mut self, ty: &Type) -> io::Result<Value> {
        Ok(match ty {
            Type::Bit => Value::Bool(self.bit()?),
            Type::Boolean => Value::Bool(self.take::<1>()? != [0]),
            Type::Int => Value::Int(i32::from_le_bytes(self.take()?)),
            Type::Float => Value::Float(self.float()?),
            Type::Complex => Value::Complex(self.float()?, self.float()?),
            Type::Vector(count) => {
                let mut parts = [0.0; 4];
                for part in &mut parts[..usize::from(*count)] {
                    *part = self.float()?;
                }
                Value::Vector(parts)
            }
            _ => return Err(unsupported_items()),
        })
    }
}

/// Bits of an item in a file.
fn size(shape: &Shape, structs: &[Vec<Shape>]) -> usize {
    match shape {
        Shape::Scalar(Type::Bit) => 1,
        Shape::Scalar(Type::Boolean) => 8,
        Shape::Scalar(Type::Complex) => 64,
        Shape::Scalar(Type::Vector(count)) => 32 * usize::from(*count),
        Shape::Scalar(_) => 32,
        Shape::Array(element, length) => length.saturating_mul(size(element, structs)),
        Shape::Struct(id) => {
            let fields = structs[id.0 as usize].iter().map(|field| size(field, structs));
            fields.fold(0, usize::saturating_add)
        }
    }
}

/// Whether the file form of an item equals its memory form: 32-bit scalars on a little-endian machine.
fn has_memory_form(shape: &Shape, structs: &[Vec<Shape>]) -> bool {
    cfg!(target_endian = "little")
        && match shape {
            Shape::Scalar(ty) => matches!(ty, Type::Int | Type::Float | Type::Complex | Type::Vector(_)),
            Shape::Array(element, _) => has_memory_form(element, structs),
            Shape::Struct(id) => structs[id.0 as usize].iter().all(|field| has_memory_form(field, structs)),
        }
}

fn unsupported_items() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "items of this type cannot be stored in a file")
}

pub(super) struct BinarySink {
    writer: BufWriter<Output>,
    item: Shape,
    structs: Vec<Vec<Shape>>,
    /// Unwritten bits, first bit highest, and their number.
    bits: (u8, u32),
}

impl BinarySink {
    pub(super) fn new(writer: BufWriter<Output>, item: &Layout<'_>) -> BinarySink {
        BinarySink { writer, item: item.shape.clone(), structs: item.structs.to_vec(), bits: (0, 0) }
    }

    fn bit(&mut self, bit: bool) -> io::Result<()> {
        self.bits = (self.bits.0 | u8::from(bit) << (7 - self.bits.1), self.bits.1 + 1);
        if self.bits.1 == 8 {
            self.writer.write_all(&[self.bits.0])?;
            self.bits = (0, 0);
        }
        Ok(())
    }

    fn write(&mut self, value: &Value, shape: &Shape) -> io::Result<()> {
        match (value, shape) {
            (Value::Bool(bit), Shape::Scalar(Type::Bit)) => self.bit(*bit),
            (Value::Struct(fields), Shape::Struct(id)) => {
                let shapes = self.structs[id.0 as usize].clone();
                fields.iter().zip(&shapes).try_for_each(|(field, shape)| self.write(field, shape))
            }
            (Value::Array(elements), Shape::Array(shape, _)) => {
                elements.iter().try_for_each(|element| self.write(&element, shape))
            }
            (value, shape) => self.scalar(value, shape),
        }
    }

    fn scalar(&mut self, value: &Value, shape: &Shape) -> io::Result<()> {
        let mut float = |float: &f32| self.writer.write_all(&float.to_le_bytes());
        match value {
            Value::Float(number) => float(number),
            Value::Complex(real, imaginary) => float(real).and_then(|()| float(imaginary)),
            Value::Vector(parts) => {
                let count = if let Shape::Scalar(Type::Vector(count)) = shape { *count } else { 4 };
                parts[..usize::from(count)].iter().try_for_each(float)
            }
            Value::Bool(truth) => self.writer.write_all(&[u8::from(*truth)]),
            Value::Int(number) => self.writer.write_all(&number.to_le_bytes()),
            _ => Err(unsupported_items()),
        }
    }
}

impl Sink for BinarySink {
    fn push(&mut self, item: &Value) -> io::Result<()> {
        let shape = std::mem::replace(&mut self.item, Shape::Scalar(Type::Void));
        let written = self.write(item, &shape);
        self.item = shape;
        written
    }

    fn push_bytes(&mut self, items: &[u8]) -> Option<io::Result<()>> {
        has_memory_form(&self.item, &self.structs).then(|| self.writer.write_all(items))
    }

    fn flush(&mut self) -> io::Result<()> {
        flush(&mut self.writer)
    }

    fn mark_partial(&mut self) {
        mark_partial(&mut self.writer);
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if self.bits.1 > 0 {
            self.writer.write_all(&[self.bits.0])?;
        }
        finish(self.writer)
    }
}

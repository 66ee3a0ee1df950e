//! The ends of a program: files that it reads and writes.

mod reader;
mod timeouts;

use crate::ir::{Cell, Kind, Scalar};
use crate::lower::{cell_of, cells_of, flatten};
use crate::plan::Facts;
use thalweg_lang::files::{Files, Layout, Sink, one_nan};
use thalweg_lang::flat::NodeId;
use thalweg_lang::hir::Type;
use thalweg_lang::interpret::{Options, Stop};
use thalweg_lang::tree::Code;
use thalweg_lang::value::{Shape, Value};
use thalweg_lang::{Compiled, Diagnostic};

use reader::{FileInfo, Reader};
pub(crate) use timeouts::{BUSY, LONG, SHORT, There, Timeouts};

/// A file that is written.
pub(crate) struct Writer {
    sink: Option<Box<dyn Sink>>,
    shape: Shape,
    bytes: usize,
}

/// All files, by node.
#[derive(Default)]
pub(crate) struct Ends {
    pub(crate) readers: Vec<(NodeId, Reader)>,
    pub(crate) writers: Vec<(NodeId, Writer)>,
}

impl Ends {
    pub(crate) fn open(compiled: &Compiled, options: Options, files: &mut dyn Files) -> Result<Ends, Stop> {
        let mut ends = Ends::default();
        let structs = &compiled.tree.structs;
        for node in compiled.flat.graph.node_ids() {
            let Some(id) = compiled.flat.filter(node) else { continue };
            let filter = &compiled.tree.filters[id.0 as usize];
            let fault = |error: std::io::Error| {
                let message = format!("`{}`: {error}", filter.path);
                Stop::Fault(Box::new(Diagnostic::new(filter.span, message)))
            };
            let bytes = |shape: &Shape| {
                cell_of(shape, structs).map_or(0, |cell| cell.bytes() * cells_of(shape, structs))
            };
            match &filter.code {
                Code::FileReader(name) => {
                    let layout = Layout { shape: &filter.output, structs };
                    let source = files.source(name, &layout).map_err(fault)?;
                    let info = FileInfo {
                        again: options.repeat_input,
                        shape: filter.output.clone(),
                        structs: structs.clone(),
                        bytes: bytes(&filter.output).max(1),
                        name: filter.path.to_string(),
                        span: compiled.flat.span(node),
                    };
                    ends.readers.push((node, Reader::new(source, info)));
                }
                Code::FileWriter(name, rate) => {
                    let layout = Layout { shape: &filter.input, structs };
                    let sink = one_nan::open(files, name, &layout, *rate).map_err(fault)?;
                    let shape = filter.input.clone();
                    ends.writers.push((node, Writer { sink: Some(sink), bytes: bytes(&shape), shape }));
                }
                _ => {}
            }
        }
        Ok(ends)
    }

    /// Makes input that cannot be rewound readable again by recording it.
    pub(crate) fn remember(&mut self) {
        self.readers.iter_mut().for_each(|(_, reader)| reader.remember());
    }

    /// The same input from its beginning, if possible; output is discarded.
    pub(crate) fn again(mut self) -> Option<Ends> {
        self.writers.iter_mut().for_each(|(_, writer)| writer.sink = None);
        self.readers.iter_mut().all(|(_, reader)| reader.again()).then_some(self)
    }

    /// The index of the reader that a node is.
    pub(crate) fn reader_of(&self, node: NodeId) -> Option<usize> {
        self.readers.iter().position(|(reader, _)| *reader == node)
    }

    /// The index of the writer that a node is.
    pub(crate) fn writer_of(&self, node: NodeId) -> Option<usize> {
        self.writers.iter().position(|(writer, _)| *writer == node)
    }

    pub(crate) fn is_reader(&self, node: NodeId) -> bool {
        self.reader_of(node).is_some()
    }

    pub(crate) fn is_writer(&self, node: NodeId) -> bool {
        self.writer_of(node).is_some()
    }

    /// The steady states, up to `want`, that all readers have items for. Blocks until they are read or the
    /// input ends.
    pub(crate) fn available(&mut self, facts: &Facts<'_>, want: u64) -> Result<u64, Stop> {
        let mut n = want;
        for (node, reader) in &mut self.readers {
            let each = facts.firings[node.0 as usize];
            let there = reader.available(want * each);
            n = n.min(there.checked_div(each).unwrap_or(want));
        }
        Ok(n)
    }

    /// The steady states that there is input for, waiting no longer than `timeouts`.
    pub(crate) fn there(&mut self, facts: &Facts<'_>, want: u64, timeouts: Timeouts) -> There {
        let (mut n, mut last) = (want, u64::MAX);
        for (node, reader) in &mut self.readers {
            let each = facts.firings[node.0 as usize];
            let (items, over) = reader.there(want * each, timeouts);
            let there = items.checked_div(each).unwrap_or(want);
            n = n.min(there);
            last = if over { last.min(there) } else { last };
        }
        There { n, over: n < want && last == n }
    }

    /// Whether a reader would block before it has `count` items.
    pub(crate) fn waits(&mut self, node: NodeId, count: u64) -> bool {
        let reader = self.readers.iter_mut().find(|(reader, _)| *reader == node);
        reader.is_some_and(|(_, reader)| {
            let (items, over) = reader.there(count, SHORT);
            items < count && !over
        })
    }

    /// Flushes output to pipes and devices.
    pub(crate) fn flush(&mut self, compiled: &Compiled) -> Result<(), Stop> {
        for (node, writer) in &mut self.writers {
            if let Some(sink) = &mut writer.sink {
                sink.flush().map_err(|error| fault(compiled, *node, &error))?;
            }
        }
        Ok(())
    }

    /// Appends up to `count` items of a reader.
    pub(crate) fn read(&mut self, node: NodeId, count: u64, into: &mut Vec<u8>) -> Result<(), Stop> {
        let Some((_, reader)) = self.readers.iter_mut().find(|(reader, _)| *reader == node) else {
            return Ok(());
        };
        let there = reader.available(count);
        let items = reader.next((count as usize).saturating_mul(reader.bytes()));
        into.extend_from_slice(items);
        let taken = items.len();
        reader.pass(taken);
        if there < count
            && let Some(stop) = reader.failure()
        {
            return Err(stop);
        }
        Ok(())
    }

    /// Writes items.
    pub(crate) fn write(&mut self, compiled: &Compiled, node: NodeId, items: &[u8]) -> Result<(), Stop> {
        match self.writer_of(node) {
            Some(at) => self.writers[at].1.write(compiled, node, items),
            None => Ok(()),
        }
    }

    /// Completes all output files; as parts, if the run was interrupted.
    pub(crate) fn finish(&mut self, compiled: &Compiled, interrupted: bool) -> Result<(), Stop> {
        for (node, writer) in &mut self.writers {
            if let Some(mut sink) = writer.sink.take() {
                if interrupted {
                    sink.mark_partial();
                }
                sink.finish().map_err(|error| fault(compiled, *node, &error))?;
            }
        }
        Ok(())
    }
}

impl Writer {
    /// Writes items.
    pub(crate) fn write(&mut self, compiled: &Compiled, node: NodeId, items: &[u8]) -> Result<(), Stop> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        let done = match sink.push_bytes(items) {
            Some(done) => done,
            None => items.chunks_exact(self.bytes.max(1)).try_for_each(|item| {
                let structs = &compiled.tree.structs;
                let cell = cell_of(&self.shape, structs).unwrap_or(Cell::Mixed);
                sink.push(&from_bytes(&mut &*item, &self.shape, structs, cell))
            }),
        };
        done.map_err(|error| fault(compiled, node, &error))
    }

    /// Room in the file's memory.
    pub(crate) fn room(&mut self, bytes: usize) -> Option<&mut [u8]> {
        self.sink.as_mut()?.room(bytes)
    }

    /// Declares that this many bytes of the room have been filled.
    pub(crate) fn filled(&mut self, compiled: &Compiled, node: NodeId, bytes: usize) -> Result<(), Stop> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        sink.filled(bytes).map_err(|error| fault(compiled, node, &error))
    }
}

fn fault(compiled: &Compiled, node: NodeId, error: &std::io::Error) -> Stop {
    let (span, name) = (compiled.flat.span(node), &compiled.flat.node(node).name());
    Stop::Fault(Box::new(Diagnostic::new(span, format!("`{name}`: {error}"))))
}

/// Appends a value as it is represented in memory.
pub(crate) fn to_bytes(value: &Value, shape: &Shape, structs: &[Vec<Shape>], out: &mut Vec<u8>) {
    let mut cells = Vec::new();
    flatten(value, shape, structs, &mut cells);
    let bytes = cell_of(shape, structs) == Ok(Cell::Of(Kind::Bool));
    for cell in cells {
        match cell {
            Scalar::Bool(x) if bytes => out.push(x.into()),
            Scalar::Bool(x) => out.extend(i32::from(x).to_ne_bytes()),
            Scalar::Int(x) => out.extend(x.to_ne_bytes()),
            Scalar::Float(x) => out.extend(x.to_ne_bytes()),
        }
    }
}

/// Reads a value from its representation in memory.
fn from_bytes(bytes: &mut &[u8], shape: &Shape, structs: &[Vec<Shape>], cell: Cell) -> Value {
    let mut word = || {
        let (word, rest) = bytes.split_at(4);
        *bytes = rest;
        i32::from_ne_bytes([word[0], word[1], word[2], word[3]])
    };
    let mut float = || f32::from_bits(word() as u32);
    match shape {
        Shape::Scalar(Type::Bit | Type::Boolean) if cell == Cell::Of(Kind::Bool) => {
            let (bit, rest) = bytes.split_at(1);
            *bytes = rest;
            Value::Bool(bit[0] != 0)
        }
        Shape::Scalar(Type::Bit | Type::Boolean) => Value::Bool(word() != 0),
        Shape::Scalar(Type::Float) => Value::Float(float()),
        Shape::Scalar(Type::Complex) => Value::Complex(float(), float()),
        Shape::Scalar(Type::Vector(count)) => {
            let mut parts = [0.0; 4];
            parts[..usize::from(*count)].iter_mut().for_each(|part| *part = float());
            Value::Vector(parts)
        }
        Shape::Scalar(_) => Value::Int(word()),
        Shape::Array(element, length) => {
            Value::Array((0..*length).map(|_| from_bytes(bytes, element, structs, cell)).collect())
        }
        Shape::Struct(id) => {
            let fields = structs[id.0 as usize].iter();
            Value::Struct(fields.map(|field| from_bytes(bytes, field, structs, cell)).collect())
        }
    }
}

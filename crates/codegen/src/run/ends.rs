//! The ends of a program: files that are read and written.

use crate::emit::expr::cell_bytes;
use crate::ir::{Cell, Kind, Scalar};
use crate::lower::{cell_of, cells_of, flatten};
use crate::plan::Facts;
use thalweg_lang::files::{Files, Layout, Sink, Source};
use thalweg_lang::flat::{NodeId, NodeKind};
use thalweg_lang::hir::Type;
use thalweg_lang::interpret::{Options, Stop};
use thalweg_lang::tree::Code;
use thalweg_lang::value::{Shape, Value};
use thalweg_lang::{Compiled, Diagnostic};

/// A file that is read.
struct Reader {
    source: Box<dyn Source>,
    again: bool,
    shape: Shape,
    structs: Vec<Vec<Shape>>,
    bytes: usize,
    /// Items that have been read and not yet taken.
    ahead: Vec<u8>,
    /// What comes after them.
    after: Option<Stop>,
    over: bool,
    began_again: bool,
    name: String,
    span: thalweg_lang::Span,
}

/// A file that is written.
struct Writer {
    sink: Option<Box<dyn Sink>>,
    shape: Shape,
    bytes: usize,
}

/// All of them, by node.
#[derive(Default)]
pub(super) struct Ends {
    readers: Vec<(NodeId, Reader)>,
    writers: Vec<(NodeId, Writer)>,
}

impl Ends {
    pub(super) fn open(compiled: &Compiled, options: Options, files: &mut dyn Files) -> Result<Ends, Stop> {
        let mut ends = Ends::default();
        let structs = &compiled.tree.structs;
        for (at, node) in compiled.flat.nodes.iter().enumerate() {
            let NodeKind::Filter(id) = node.kind else { continue };
            let filter = &compiled.tree.filters[id.0 as usize];
            let fault = |name: &str, error: std::io::Error| {
                let message = format!("`{}`: the file `{name}`: {error}", filter.path);
                Stop::Fault(Box::new(Diagnostic::new(filter.span, message)))
            };
            let bytes = |shape: &Shape| {
                cell_of(shape, structs).map_or(0, |cell| cell_bytes(cell) * cells_of(shape, structs))
            };
            let node_id = NodeId(at as u32);
            match &filter.code {
                Code::FileReader(name) => {
                    let layout = Layout { shape: &filter.output, structs };
                    let source = files.source(name, &layout).map_err(|error| fault(name, error))?;
                    let reader = Reader {
                        source,
                        again: options.repeat_input,
                        shape: filter.output.clone(),
                        structs: structs.clone(),
                        bytes: bytes(&filter.output).max(1),
                        ahead: Vec::new(),
                        after: None,
                        over: false,
                        began_again: false,
                        name: node.name.to_string(),
                        span: node.span,
                    };
                    ends.readers.push((node_id, reader));
                }
                Code::FileWriter(name) => {
                    let layout = Layout { shape: &filter.input, structs };
                    let sink = files.sink(name, &layout).map_err(|error| fault(name, error))?;
                    let shape = filter.input.clone();
                    ends.writers.push((node_id, Writer { sink: Some(sink), bytes: bytes(&shape), shape }));
                }
                _ => {}
            }
        }
        Ok(ends)
    }

    pub(super) fn is_reader(&self, node: NodeId) -> bool {
        self.readers.iter().any(|(reader, _)| *reader == node)
    }

    pub(super) fn is_writer(&self, node: NodeId) -> bool {
        self.writers.iter().any(|(writer, _)| *writer == node)
    }

    /// How many steady states, up to a number, all readers have items for.
    pub(super) fn available(&mut self, facts: &Facts<'_>, want: u64) -> Result<u64, Stop> {
        let mut n = want;
        for (node, reader) in &mut self.readers {
            let each = facts.firings[node.0 as usize];
            if each > 0 {
                reader.fill((want * each) as usize);
                n = n.min((reader.ahead.len() / reader.bytes) as u64 / each);
            }
        }
        Ok(n)
    }

    /// Up to so many items.
    pub(super) fn read(&mut self, node: NodeId, count: u64) -> Result<Vec<u8>, Stop> {
        let Some((_, reader)) = self.readers.iter_mut().find(|(reader, _)| *reader == node) else {
            return Ok(Vec::new());
        };
        reader.fill(count as usize);
        let most = (count as usize).saturating_mul(reader.bytes).min(reader.ahead.len());
        let items: Vec<u8> = reader.ahead.drain(..most).collect();
        if items.len() < count as usize * reader.bytes
            && let Some(stop) = reader.after.take()
        {
            return Err(stop);
        }
        Ok(items)
    }

    /// Writes items.
    pub(super) fn write(&mut self, compiled: &Compiled, node: NodeId, items: &[u8]) -> Result<(), Stop> {
        let Some((_, writer)) = self.writers.iter_mut().find(|(writer, _)| *writer == node) else {
            return Ok(());
        };
        let Some(sink) = &mut writer.sink else { return Ok(()) };
        let done = match sink.give_bytes(items) {
            Some(done) => done,
            None => items.chunks_exact(writer.bytes.max(1)).try_for_each(|item| {
                let structs = &compiled.tree.structs;
                let cell = cell_of(&writer.shape, structs).unwrap_or(Cell::Mixed);
                sink.give(&from_bytes(&mut &*item, &writer.shape, structs, cell))
            }),
        };
        done.map_err(|error| fault(compiled, node, &error))
    }

    /// All that was written becomes visible.
    pub(super) fn finish(&mut self, compiled: &Compiled) -> Result<(), Stop> {
        for (node, writer) in &mut self.writers {
            if let Some(sink) = writer.sink.take() {
                sink.finish().map_err(|error| fault(compiled, *node, &error))?;
            }
        }
        Ok(())
    }
}

fn fault(compiled: &Compiled, node: NodeId, error: &std::io::Error) -> Stop {
    let node = compiled.flat.node(node);
    Stop::Fault(Box::new(Diagnostic::new(node.span, format!("`{}`: {error}", node.name))))
}

impl Reader {
    /// Reads ahead, up to so many items.
    fn fill(&mut self, count: usize) {
        let want = count.saturating_mul(self.bytes);
        while self.ahead.len() < want && !self.over && self.after.is_none() {
            let before = self.ahead.len();
            self.more(want);
            if self.ahead.len() < want && self.after.is_none() {
                self.end(self.ahead.len() > before);
            }
        }
    }

    fn more(&mut self, want: usize) {
        let before = self.ahead.len();
        self.ahead.resize(want, 0);
        match self.source.next_bytes(&mut self.ahead[before..]) {
            Some(Ok(bytes)) => {
                self.ahead.truncate(before + bytes);
                if self.ahead.len() % self.bytes != 0 {
                    self.ahead.truncate(self.ahead.len() / self.bytes * self.bytes);
                    self.fail("the file ends in the middle of an item");
                }
            }
            Some(Err(error)) => {
                self.ahead.truncate(before);
                self.fail(&error.to_string());
            }
            None => {
                self.ahead.truncate(before);
                self.more_values(want);
            }
        }
    }

    fn more_values(&mut self, want: usize) {
        while self.ahead.len() < want {
            match self.source.next() {
                Ok(Some(value)) => to_bytes(&value, &self.shape, &self.structs, &mut self.ahead),
                Ok(None) => return,
                Err(error) => return self.fail(&error.to_string()),
            }
        }
    }

    fn fail(&mut self, why: &str) {
        let message = format!("`{}`: {why}", self.name);
        self.after = Some(Stop::Fault(Box::new(Diagnostic::new(self.span, message))));
    }

    /// The end of the file: from the beginning again, if that is asked for and gives anything.
    fn end(&mut self, moved: bool) {
        if !self.again {
            self.over = true;
            return;
        }
        // A file that gives nothing after it has begun again is empty.
        match self.source.rewind() {
            Ok(true) if moved || !self.began_again => self.began_again = true,
            Ok(_) => self.over = true,
            Err(error) => self.fail(&error.to_string()),
        }
    }
}

/// A value as it stands in memory.
pub(super) fn to_bytes(value: &Value, shape: &Shape, structs: &[Vec<Shape>], out: &mut Vec<u8>) {
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

/// The value that stands in memory.
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

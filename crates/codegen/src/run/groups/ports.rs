//! Files and output of runs that are parts of others.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use thalweg_lang::files::{Files, Layout, Sink, Source};
use thalweg_lang::value::Value;

/// Bytes, of which those before a place have been taken.
#[derive(Default)]
struct Bytes {
    all: Vec<u8>,
    taken: usize,
}

/// Ends of a run that are packets' bytes.
type End = Rc<RefCell<Bytes>>;

/// The files and the output of a run whose items others read and write: in the order of its readers and writers.
#[derive(Default)]
pub(in crate::run) struct Ports {
    readers: Vec<End>,
    writers: Vec<End>,
    text: End,
}

impl Ports {
    /// Where the run prints.
    pub(in crate::run) fn text(&self) -> Box<dyn Write> {
        Box::new(Port(self.text.clone()))
    }

    /// What it has printed.
    pub(in crate::run) fn printed(&self, into: &mut Vec<u8>) {
        into.append(&mut self.text.borrow_mut().all);
    }

    /// What it has written, by writer.
    pub(super) fn written(&self, into: &mut [Vec<u8>]) {
        for (written, port) in into.iter_mut().zip(&self.writers) {
            written.append(&mut port.borrow_mut().all);
        }
    }

    /// What a reader gives next, in exchange for memory.
    pub(super) fn read(&self, reader: usize, items: &mut Vec<u8>) {
        let mut port = self.readers[reader].borrow_mut();
        std::mem::swap(&mut port.all, items);
        port.taken = 0;
    }
}

impl Files for Ports {
    fn source(&mut self, _name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        self.readers.push(End::default());
        Ok(Box::new(Port(self.readers[self.readers.len() - 1].clone())))
    }

    fn sink(&mut self, _name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        self.writers.push(End::default());
        Ok(Box::new(Port(self.writers[self.writers.len() - 1].clone())))
    }
}

/// What a run reads, writes and prints.
struct Port(End);

impl Source for Port {
    fn next(&mut self) -> io::Result<Option<Value>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn next_bytes(&mut self, room: &mut [u8]) -> Option<io::Result<usize>> {
        let Bytes { all, taken } = &mut *self.0.borrow_mut();
        let bytes = room.len().min(all.len() - *taken);
        room[..bytes].copy_from_slice(&all[*taken..][..bytes]);
        *taken += bytes;
        Some(Ok(bytes))
    }

    fn rewind(&mut self) -> io::Result<bool> {
        Ok(false)
    }
}

impl Sink for Port {
    fn give(&mut self, _item: &Value) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn give_bytes(&mut self, items: &[u8]) -> Option<io::Result<()>> {
        self.0.borrow_mut().all.extend_from_slice(items);
        Some(Ok(()))
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Port {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().all.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

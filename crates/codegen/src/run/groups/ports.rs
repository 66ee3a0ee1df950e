//! Files and standard output of a run, with items that go through packets.

use crate::run::locked;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use thalweg_lang::files::{Files, Layout, Sink, Source};
use thalweg_lang::value::Value;

/// Bytes, and how many of them have been consumed.
#[derive(Default)]
struct Bytes {
    all: Vec<u8>,
    taken: usize,
}

/// One end: bytes shared by the run and the `Ports`, which one thread at a time has.
type End = Arc<Mutex<Bytes>>;

/// The files and the output of such a run, in the order of its readers and writers.
#[derive(Default)]
pub(super) struct Ports {
    readers: Vec<End>,
    writers: Vec<End>,
    text: End,
}

impl Ports {
    /// The sink for prints.
    pub(super) fn text(&self) -> Box<dyn Write + Send> {
        Box::new(Port(self.text.clone()))
    }

    /// Moves out what has been printed.
    pub(super) fn printed(&self, into: &mut Vec<u8>) {
        into.append(&mut locked(&self.text).all);
    }

    /// Moves out what has been written, by writer.
    pub(super) fn written(&self, into: &mut [Vec<u8>]) {
        for (written, port) in into.iter_mut().zip(&self.writers) {
            written.append(&mut locked(port).all);
        }
    }

    /// Sets the input of a reader, and returns its old memory for reuse.
    pub(super) fn read(&self, reader: usize, items: &mut Vec<u8>) {
        let mut port = locked(&self.readers[reader]);
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

/// A file or the output of a run.
struct Port(End);

impl Source for Port {
    fn next(&mut self) -> io::Result<Option<Value>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn next_bytes(&mut self, room: &mut [u8]) -> Option<io::Result<usize>> {
        let Bytes { all, taken } = &mut *locked(&self.0);
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
    fn push(&mut self, _item: &Value) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn push_bytes(&mut self, items: &[u8]) -> Option<io::Result<()>> {
        locked(&self.0).all.extend_from_slice(items);
        Some(Ok(()))
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Port {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        locked(&self.0).all.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

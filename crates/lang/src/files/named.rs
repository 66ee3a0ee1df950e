//! Sources and sinks that add the file name to errors.

use super::{STANDARD, Sink, Source};
use crate::value::Value;
use std::io;
use std::time::Duration;

/// A source or sink with its file name.
pub struct Named<T: ?Sized> {
    description: String,
    inner: Box<T>,
}

impl Named<dyn Source> {
    /// A source with this name.
    pub fn source(name: &str, inner: Box<dyn Source>) -> Named<dyn Source> {
        Named { description: describe(name, "standard input"), inner }
    }
}

impl Named<dyn Sink> {
    /// A sink with this name.
    pub fn sink(name: &str, inner: Box<dyn Sink>) -> Named<dyn Sink> {
        Named { description: describe(name, "standard output"), inner }
    }
}

impl<T: ?Sized> Named<T> {
    fn with_name<R>(&self, result: io::Result<R>) -> io::Result<R> {
        result.map_err(|error| with_name(&self.description, &error))
    }
}

/// Adds the file name to an error.
pub fn of_file(name: &str, error: &io::Error) -> io::Error {
    with_name(&describe(name, name), error)
}

fn describe(name: &str, standard: &str) -> String {
    if name == STANDARD { standard.into() } else { format!("the file `{name}`") }
}

fn with_name(description: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{description}: {error}"))
}

impl Source for Named<dyn Source> {
    fn next(&mut self) -> io::Result<Option<Value>> {
        let item = self.inner.next();
        self.with_name(item)
    }

    fn next_bytes(&mut self, room: &mut [u8]) -> Option<io::Result<usize>> {
        let bytes = self.inner.next_bytes(room)?;
        Some(self.with_name(bytes))
    }

    fn would_block(&mut self, timeout: Duration) -> io::Result<bool> {
        let waits = self.inner.would_block(timeout);
        self.with_name(waits)
    }

    fn memory(&self) -> Option<&[u8]> {
        self.inner.memory()
    }

    fn name(&self) -> Option<String> {
        Some(self.description.clone())
    }

    fn rewind(&mut self) -> io::Result<bool> {
        let done = self.inner.rewind();
        self.with_name(done)
    }
}

impl Sink for Named<dyn Sink> {
    fn push(&mut self, item: &Value) -> io::Result<()> {
        let done = self.inner.push(item);
        self.with_name(done)
    }

    fn push_bytes(&mut self, items: &[u8]) -> Option<io::Result<()>> {
        let done = self.inner.push_bytes(items)?;
        Some(self.with_name(done))
    }

    fn room(&mut self, bytes: usize) -> Option<&mut [u8]> {
        self.inner.room(bytes)
    }

    fn filled(&mut self, bytes: usize) -> io::Result<()> {
        let done = self.inner.filled(bytes);
        self.with_name(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.inner.flush();
        self.with_name(done)
    }

    fn mark_partial(&mut self) {
        self.inner.mark_partial();
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let Named { description, inner } = *self;
        inner.finish().map_err(|error| with_name(&description, &error))
    }
}

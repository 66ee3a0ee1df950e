//! Files whose errors say which file it is.

use super::{STANDARD, Sink, Source};
use crate::value::Value;
use std::io;
use std::time::Duration;

/// A source or a sink with the name of its file.
pub struct Named<T: ?Sized> {
    words: String,
    inner: Box<T>,
}

impl Named<dyn Source> {
    /// A source of this name.
    pub fn source(name: &str, inner: Box<dyn Source>) -> Named<dyn Source> {
        Named { words: words(name, "standard input"), inner }
    }
}

impl Named<dyn Sink> {
    /// A sink of this name.
    pub fn sink(name: &str, inner: Box<dyn Sink>) -> Named<dyn Sink> {
        Named { words: words(name, "standard output"), inner }
    }
}

impl<T: ?Sized> Named<T> {
    fn told<R>(&self, result: io::Result<R>) -> io::Result<R> {
        result.map_err(|error| told(&self.words, &error))
    }
}

/// An error, with the file where it was.
pub fn of_file(name: &str, error: &io::Error) -> io::Error {
    told(&words(name, name), error)
}

fn words(name: &str, standard: &str) -> String {
    if name == STANDARD { standard.into() } else { format!("the file `{name}`") }
}

fn told(words: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{words}: {error}"))
}

impl Source for Named<dyn Source> {
    fn next(&mut self) -> io::Result<Option<Value>> {
        let item = self.inner.next();
        self.told(item)
    }

    fn next_bytes(&mut self, room: &mut [u8]) -> Option<io::Result<usize>> {
        let bytes = self.inner.next_bytes(room)?;
        Some(self.told(bytes))
    }

    fn waits(&mut self, patience: Duration) -> io::Result<bool> {
        let waits = self.inner.waits(patience);
        self.told(waits)
    }

    fn memory(&self) -> Option<&[u8]> {
        self.inner.memory()
    }

    fn name(&self) -> Option<String> {
        Some(self.words.clone())
    }

    fn rewind(&mut self) -> io::Result<bool> {
        let done = self.inner.rewind();
        self.told(done)
    }
}

impl Sink for Named<dyn Sink> {
    fn give(&mut self, item: &Value) -> io::Result<()> {
        let done = self.inner.give(item);
        self.told(done)
    }

    fn give_bytes(&mut self, items: &[u8]) -> Option<io::Result<()>> {
        let done = self.inner.give_bytes(items)?;
        Some(self.told(done))
    }

    fn room(&mut self, bytes: usize) -> Option<&mut [u8]> {
        self.inner.room(bytes)
    }

    fn filled(&mut self, bytes: usize) -> io::Result<()> {
        let done = self.inner.filled(bytes);
        self.told(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.inner.flush();
        self.told(done)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let Named { words, inner } = *self;
        inner.finish().map_err(|error| told(&words, &error))
    }
}

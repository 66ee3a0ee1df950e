//! Files that are in memory.

use crate::Item;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thalweg_lang::files::{Files, Layout, Sink, Source, of_file};
use thalweg_lang::value::Value;

/// Stands for the files of a program: what it reads was given, and what it writes can be taken, under the
/// names that it says. Clones are the same files.
#[derive(Clone, Default, Debug)]
pub struct Memory(Arc<Mutex<HashMap<String, Arc<Vec<Value>>>>>);

impl Memory {
    /// No files.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// With a file of these items.
    pub fn with<T: Item>(self, name: impl Into<String>, items: &[T]) -> Memory {
        self.put(name.into(), items.iter().map(Item::value).collect());
        self
    }

    /// The items of a file; none where there is no such file, or where its items are of another type.
    pub fn items<T: Item>(&self, name: &str) -> Option<Vec<T>> {
        let items = self.files().get(name)?.clone();
        items.iter().map(T::of).collect()
    }

    fn put(&self, name: String, items: Vec<Value>) {
        self.files().insert(name, Arc::new(items));
    }

    fn files(&self) -> MutexGuard<'_, HashMap<String, Arc<Vec<Value>>>> {
        // Nobody leaves a file half changed, so a panic elsewhere spoils nothing.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for Memory {
    fn source(&mut self, name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        let items = self.files().get(name).cloned();
        let items =
            items.ok_or_else(|| of_file(name, &io::Error::new(io::ErrorKind::NotFound, "not there")))?;
        Ok(Box::new(Stored { items, next: 0 }))
    }

    fn sink(&mut self, name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        Ok(Box::new(Collected { files: self.clone(), name: name.to_owned(), items: Vec::new() }))
    }
}

struct Stored {
    items: Arc<Vec<Value>>,
    next: usize,
}

impl Source for Stored {
    fn next(&mut self) -> io::Result<Option<Value>> {
        let item = self.items.get(self.next).cloned();
        self.next += usize::from(item.is_some());
        Ok(item)
    }

    fn rewind(&mut self) -> io::Result<bool> {
        self.next = 0;
        Ok(true)
    }
}

struct Collected {
    files: Memory,
    name: String,
    items: Vec<Value>,
}

impl Sink for Collected {
    fn give(&mut self, item: &Value) -> io::Result<()> {
        self.items.push(item.clone());
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.files.put(self.name, self.items);
        Ok(())
    }
}

//! Files in memory.

use crate::Item;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thalweg_lang::files::{Files, Layout, Sink, Source, of_file};
use thalweg_lang::value::Value;

/// Replaces the files of a program by memory, under the names that the program uses. Clones share the files.
#[derive(Clone, Default, Debug)]
pub struct Memory(Arc<Mutex<HashMap<String, Arc<Vec<Value>>>>>);

impl Memory {
    /// No files.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Adds a file of these items.
    pub fn with<T: Item>(self, name: impl Into<String>, items: &[T]) -> Memory {
        self.put(name.into(), items.iter().map(Item::value).collect());
        self
    }

    /// The items of a file. `None` if there is no such file, or its items have another type.
    pub fn items<T: Item>(&self, name: &str) -> Option<Vec<T>> {
        let items = self.files().get(name)?.clone();
        items.iter().map(T::of).collect()
    }

    fn put(&self, name: String, items: Vec<Value>) {
        self.files().insert(name, Arc::new(items));
    }

    fn files(&self) -> MutexGuard<'_, HashMap<String, Arc<Vec<Value>>>> {
        // A poisoned lock is no problem: files are replaced as a whole, so a panic leaves no partial change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for Memory {
    fn source(&mut self, name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        let items = self.files().get(name).cloned();
        let items =
            items.ok_or_else(|| of_file(name, &io::Error::new(io::ErrorKind::NotFound, "not found")))?;
        Ok(Box::new(MemorySource { items, next: 0 }))
    }

    fn sink(&mut self, name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        Ok(Box::new(MemorySink { files: self.clone(), name: name.to_owned(), items: Vec::new() }))
    }
}

struct MemorySource {
    items: Arc<Vec<Value>>,
    next: usize,
}

impl Source for MemorySource {
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

struct MemorySink {
    files: Memory,
    name: String,
    items: Vec<Value>,
}

impl Sink for MemorySink {
    fn push(&mut self, item: &Value) -> io::Result<()> {
        self.items.push(item.clone());
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.files.put(self.name, self.items);
        Ok(())
    }
}

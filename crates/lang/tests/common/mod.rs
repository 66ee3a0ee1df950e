//! Runs programs in memory.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use thalweg_lang::files::{Files, Layout, Sink, Source};
use thalweg_lang::interpret::{Options, Outcome, RunLimits, Stop, Surroundings, interpret_within};
use thalweg_lang::value::Value;
use thalweg_lang::{Compiled, Sources, compile};

/// Compiles a correct program.
pub fn compiled(text: &str) -> Arc<Compiled> {
    let sources = Sources::of("test.str", text);
    let compiled = compile(&sources).unwrap_or_else(|errors| {
        let errors: Vec<String> = errors.iter().map(|error| error.render(&sources, false)).collect();
        panic!("{}", errors.join("\n"))
    });
    Arc::new(compiled)
}

/// A completed run.
#[derive(Debug)]
pub struct Run {
    /// The printed text.
    pub printed: String,
    /// The written items, by file name.
    pub files: HashMap<String, Vec<Value>>,
    /// The outcome.
    pub end: Result<Outcome, Stop>,
}

/// Runs a program with files in memory.
pub fn run(text: &str, iterations: Option<u64>, input: &[(&str, Vec<Value>)]) -> Run {
    run_within(text, iterations, input, RunLimits::default())
}

/// Runs a program with files in memory, within limits.
pub fn run_within(
    text: &str,
    iterations: Option<u64>,
    input: &[(&str, Vec<Value>)],
    limits: RunLimits,
) -> Run {
    let (out, mut memory) = (Shared::default(), Memory::default());
    memory.input.extend(input.iter().map(|(name, items)| ((*name).to_owned(), items.clone())));
    let around = Surroundings {
        files: &mut memory,
        out: Box::new(out.clone()),
        interrupted: Box::new(|| false),
        progress: &mut |_| {},
    };
    let options = Options { iterations, repeat_input: false };
    let end = interpret_within(&compiled(text), options, limits, around);
    let printed = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
    let files = memory.output.lock().unwrap().clone();
    Run { printed, files, end }
}

/// The lines that a program prints in `iterations` steady states.
pub fn lines(text: &str, iterations: u64) -> Vec<String> {
    let run = run(text, Some(iterations), &[]);
    run.end.unwrap();
    run.printed.lines().map(str::to_owned).collect()
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

type Written = Arc<Mutex<HashMap<String, Vec<Value>>>>;

#[derive(Default)]
struct Memory {
    input: HashMap<String, Vec<Value>>,
    output: Written,
}

impl Files for Memory {
    fn source(&mut self, name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        let items = self.input.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(MemorySource { items: items.clone(), at: 0 }))
    }

    fn sink(&mut self, name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        Ok(Box::new(MemorySink { name: name.to_owned(), items: Vec::new(), to: self.output.clone() }))
    }
}

struct MemorySource {
    items: Vec<Value>,
    at: usize,
}

impl Source for MemorySource {
    fn next(&mut self) -> io::Result<Option<Value>> {
        self.at += 1;
        Ok(self.items.get(self.at - 1).cloned())
    }

    fn rewind(&mut self) -> io::Result<bool> {
        self.at = 0;
        Ok(true)
    }
}

struct MemorySink {
    name: String,
    items: Vec<Value>,
    to: Written,
}

impl Sink for MemorySink {
    fn push(&mut self, item: &Value) -> io::Result<()> {
        self.items.push(item.clone());
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.to.lock().unwrap().insert(self.name, self.items);
        Ok(())
    }
}

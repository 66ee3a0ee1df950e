//! Runs programs with files in a temporary folder.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use thalweg_lang::files::{Disk, Files, Layout, Sink, Source};
use thalweg_lang::interpret::{Options, Outcome, Stop, Surroundings, interpret};
use thalweg_lang::{Compiled, Sources, compile};
use thalweg_lang_testgen::Program;

/// Steady states of most runs.
pub const ITERATIONS: u64 = 6;

/// The visible behaviour of a program.
#[derive(PartialEq, Debug)]
pub struct Run {
    /// The printed text.
    pub printed: String,
    /// The written bytes, by file name.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The outcome, or the message of the error.
    pub end: Result<Outcome, String>,
}

impl Run {
    /// The printed lines by filter, without the filter's name that begins each line.
    pub fn by_filter(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut lines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for line in self.printed.lines() {
            let (filter, line) = line.split_once(' ').unwrap_or((line, ""));
            lines.entry(filter).or_default().push(line);
        }
        lines
    }
}

/// Compiles a program, which must succeed.
pub fn compiled(program: &Program) -> Result<Arc<Compiled>, String> {
    compiled_text(&program.to_string())
}

/// Compiles a text, which must be a correct program.
pub fn compiled_text(text: &str) -> Result<Arc<Compiled>, String> {
    let sources = Sources::of("program.str", text);
    compile(&sources).map(Arc::new).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(|error| error.render(&sources, false)).collect();
        format!("the program does not compile: {}", errors.join("\n"))
    })
}

/// Runs a program.
pub fn run(program: &Program, iterations: u64) -> Result<Run, String> {
    Ok(execute(&compiled(program)?, &program.inputs, iterations))
}

/// Runs a compiled program.
pub fn execute(compiled: &Arc<Compiled>, inputs: &[(String, Vec<u8>)], iterations: u64) -> Run {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    inputs.iter().for_each(|(name, bytes)| std::fs::write(path(name), bytes).expect("a file"));
    let out = Printed::default();
    let end = interpret(
        compiled,
        Options { iterations: Some(iterations), repeat_input: false },
        Surroundings {
            files: &mut Folder(folder.path()),
            out: Box::new(out.clone()),
            interrupted: Box::new(|| false),
            progress: &mut |_| {},
        },
    );
    let end = end.map_err(|stop| match stop {
        Stop::Fault(fault) => fault.message,
        other => format!("{other:?}"),
    });
    let entries = std::fs::read_dir(folder.path()).expect("the folder").map(|entry| entry.expect("an entry"));
    let files = entries.map(|entry| entry.file_name().into_string().expect("a UTF-8 name"));
    let files = files.filter(|name| inputs.iter().all(|(input, _)| input != name));
    let files = files.map(|name| (name.clone(), std::fs::read(path(&name)).expect("a file"))).collect();
    let printed = String::from_utf8(out.0.lock().unwrap().clone()).expect("text");
    Run { printed, files, end }
}

#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file system rooted in a folder.
struct Folder<'a>(&'a Path);

impl Files for Folder<'_> {
    fn source(&mut self, name: &str, item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        Disk::default().source(&self.0.join(name).display().to_string(), item)
    }

    fn sink(&mut self, name: &str, item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        Disk::default().sink(&self.0.join(name).display().to_string(), item)
    }
}

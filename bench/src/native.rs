//! Programs of `apps/str` as native code, with files in memory.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thalweg_codegen::{Cache, Config, Level, Native, Threads};
use thalweg_lang::Sources;
use thalweg_lang::files::{Files, Layout, Sink, Source};
use thalweg_lang::interpret::{Options, Surroundings};
use thalweg_lang::value::Value;
use thalweg_str::Program;

/// A program as native code, with its input and room for its output.
pub struct Ours {
    native: Native,
    files: Cells,
}

impl Ours {
    /// The program of this name at a level, for this input.
    ///
    /// # Errors
    /// The reason why the program cannot be compiled.
    pub fn new(program: &str, level: Level, input: &[u32]) -> Result<Ours, String> {
        Ours::with_files(program, level, &Cells::new(input))
    }

    /// The program of this name at a level, with files that it shares with other contestants.
    ///
    /// # Errors
    /// The reason why the program cannot be compiled.
    pub fn with_files(program: &str, level: Level, files: &Cells) -> Result<Ours, String> {
        let program = Program::named(program).ok_or("no such program")?;
        Ours::compiled(&program.sources(&[])?, level, files.clone())
    }

    /// A program from its source text.
    ///
    /// # Errors
    /// The reason why the program cannot be compiled.
    pub fn of(sources: &Sources, level: Level, input: &[u32]) -> Result<Ours, String> {
        Ours::compiled(sources, level, Cells::new(input))
    }

    fn compiled(sources: &Sources, level: Level, files: Cells) -> Result<Ours, String> {
        let compiled = thalweg_lang::compile(sources).map_err(|errors| format!("{errors:?}"))?;
        let config = Config { level, cache: Cache::None, compiler: None };
        let native =
            thalweg_codegen::build(&Arc::new(compiled), &config).map_err(|refusal| refusal.to_string())?;
        Ok(Ours { native, files })
    }

    /// Changes the settings of the native program.
    pub fn changed(self, change: impl FnOnce(Native) -> Native) -> Ours {
        Ours { native: change(self.native), ..self }
    }

    /// Runs it once over all of the input.
    ///
    /// # Errors
    /// The failure of the run.
    pub fn run(&mut self) -> Result<(), String> {
        self.run_with(None, &Threads::new(1))
    }

    /// Runs it for a number of steady states.
    ///
    /// # Errors
    /// The failure of the run.
    pub fn run_for(&mut self, iterations: Option<u64>) -> Result<(), String> {
        self.run_with(iterations, &Threads::new(1))
    }

    /// Runs it once over all of the input, on several threads.
    ///
    /// # Errors
    /// The failure of the run.
    pub fn run_on(&mut self, threads: &Threads) -> Result<(), String> {
        self.run_with(None, threads)
    }

    fn run_with(&mut self, iterations: Option<u64>, threads: &Threads) -> Result<(), String> {
        let around = Surroundings {
            files: &mut self.files,
            out: Box::new(io::sink()),
            interrupted: Box::new(|| false),
            progress: &mut |_| {},
        };
        let options = Options { iterations, repeat_input: false };
        self.native.run_on(threads, options, around).map(|_| ()).map_err(|stop| format!("{stop:?}"))
    }

    /// The output of the last run.
    pub fn output(&self) -> Vec<u32> {
        self.files.output()
    }
}

/// The output of a run, in memory that the next run reuses.
#[derive(Default)]
struct Output {
    items: Vec<u8>,
    filled: usize,
}

/// One input file and one output file, for files of any name. Contestants of a figure share them, since the addresses
/// of the memory affect the time.
#[derive(Clone)]
pub struct Cells {
    input: Arc<Vec<u8>>,
    output: Arc<Mutex<Output>>,
}

impl Cells {
    /// Files with this input, and room for output.
    pub fn new(input: &[u32]) -> Cells {
        let input: Vec<u8> = input.iter().flat_map(|cell| cell.to_ne_bytes()).collect();
        let output = Output { items: vec![0; 2 * input.len()], filled: 0 };
        Cells { input: Arc::new(input), output: Arc::new(Mutex::new(output)) }
    }

    /// The number of cells of input.
    pub fn cells(&self) -> usize {
        self.input.len() / size_of::<u32>()
    }

    fn locked(&self) -> MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a function on the input and the room for output; it returns the number of bytes written.
    pub fn run(&self, run: impl FnOnce(&[u8], &mut [u8]) -> usize) {
        let Output { items, filled } = &mut *self.locked();
        *filled = run(&self.input, items);
    }

    /// The output of the last run.
    pub fn output(&self) -> Vec<u32> {
        let output = self.locked();
        output.items[..output.filled].as_chunks().0.iter().map(|cell| u32::from_ne_bytes(*cell)).collect()
    }
}

impl Files for Cells {
    fn source(&mut self, _name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(Reader(self.input.clone())))
    }

    fn sink(&mut self, _name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        let output = Output { filled: 0, ..std::mem::take(&mut *self.locked()) };
        Ok(Box::new(Writer { output, shared: self.output.clone() }))
    }
}

struct Reader(Arc<Vec<u8>>);

impl Source for Reader {
    fn next(&mut self) -> io::Result<Option<Value>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "items are read in memory here"))
    }

    fn memory(&self) -> Option<&[u8]> {
        Some(&self.0)
    }

    fn rewind(&mut self) -> io::Result<bool> {
        Ok(false)
    }
}

struct Writer {
    output: Output,
    shared: Arc<Mutex<Output>>,
}

impl Sink for Writer {
    fn push(&mut self, _item: &Value) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "items are written as bytes here"))
    }

    fn push_bytes(&mut self, items: &[u8]) -> Option<io::Result<()>> {
        self.room(items.len())?[..items.len()].copy_from_slice(items);
        Some(self.filled(items.len()))
    }

    fn room(&mut self, bytes: usize) -> Option<&mut [u8]> {
        let Output { items, filled } = &mut self.output;
        if items.len() < *filled + bytes {
            items.resize(2 * (*filled + bytes), 0);
        }
        Some(&mut items[*filled..])
    }

    fn filled(&mut self, bytes: usize) -> io::Result<()> {
        self.output.filled += bytes;
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = self.output;
        Ok(())
    }
}

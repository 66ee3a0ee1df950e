//! Programs of `apps/str` as native code, with files in memory.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;
use thalweg_codegen::{Cache, Config, Level, Mode, Native, Threads};
use thalweg_lang::Sources;
use thalweg_lang::files::{Files, Layout, Sink, Source};
use thalweg_lang::interpret::{Options, Surroundings};
use thalweg_lang::value::Value;
use thalweg_str::Program;
use thalweg_str::reference::events::without_nonces;

/// The scheduler of a program's regions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scheduler {
    /// The one that programs have by default.
    Hybrid,
    /// A thread of the operating system for each filter.
    OsThread,
    /// Regions on demand, on one thread at a time each.
    Demand,
}

/// How a program is scheduled.
#[derive(Clone, Copy)]
pub struct Schedule {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// The number of threads. `OsThread` ignores it.
    pub threads: usize,
    /// Steady states of the sources in a batch; `None` leaves the choice to the scheduler.
    pub batch: Option<u64>,
}

impl Schedule {
    /// A scheduler on one thread, with the batches of its choice.
    pub fn of(scheduler: Scheduler) -> Schedule {
        Schedule { scheduler, threads: 1, batch: None }
    }

    fn mode(self) -> Mode {
        match self.scheduler {
            Scheduler::Hybrid => Mode::Hybrid,
            Scheduler::OsThread => Mode::OsThread,
            Scheduler::Demand => Mode::Demand,
        }
    }
}

/// Compiles programs for several contestants: each text once, into a folder that is removed at the end.
pub struct Compiler {
    folder: TempDir,
}

impl Compiler {
    /// A compiler that has compiled nothing.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new() -> io::Result<Compiler> {
        tempfile::tempdir().map(|folder| Compiler { folder })
    }

    /// A program from its source text, with this schedule.
    ///
    /// # Errors
    /// The reason why the program cannot be compiled.
    pub fn program(&self, sources: &Sources, files: &Cells, schedule: Schedule) -> Result<Ours, String> {
        let cache = Cache::Folder(self.folder.path().to_owned());
        let ours = Ours::compiled(sources, Level::Vectors, files.clone(), cache)?;
        let native = ours.native.in_mode(schedule.mode());
        let native = match schedule.batch {
            Some(batch) => native.in_batches_of(batch),
            None => native,
        };
        Ok(Ours { native, threads: schedule.threads, ..ours })
    }
}

/// A program as native code, with its input and room for its output.
pub struct Ours {
    native: Native,
    files: Cells,
    /// The threads of [`Ours::run`] and [`Ours::run_for`].
    threads: usize,
    /// Whether the output has nonces.
    has_nonces: bool,
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
        Ours::compiled(&program.sources(&[])?, level, files.clone(), Cache::None)
    }

    /// A program from its source text.
    ///
    /// # Errors
    /// The reason why the program cannot be compiled.
    pub fn of(sources: &Sources, level: Level, input: &[u32]) -> Result<Ours, String> {
        Ours::compiled(sources, level, Cells::new(input), Cache::None)
    }

    fn compiled(sources: &Sources, level: Level, files: Cells, cache: Cache) -> Result<Ours, String> {
        let compiled = thalweg_lang::compile(sources).map_err(|errors| format!("{errors:?}"))?;
        let config = Config { level, cache, compiler: None };
        let native =
            thalweg_codegen::build(&Arc::new(compiled), &config).map_err(|refusal| refusal.to_string())?;
        Ok(Ours { native, files, threads: 1, has_nonces: false })
    }

    /// Changes the settings of the native program.
    pub fn changed(self, change: impl FnOnce(Native) -> Native) -> Ours {
        Ours { native: change(self.native), ..self }
    }

    /// Leaves nonces out of [`Ours::output`]: the program is in the no-op scheme.
    pub fn with_nonces(self) -> Ours {
        Ours { has_nonces: true, ..self }
    }

    /// Runs it once over all of the input.
    ///
    /// # Errors
    /// The failure of the run.
    pub fn run(&mut self) -> Result<(), String> {
        self.run_with(None, &Threads::new(self.threads))
    }

    /// Runs it for a number of steady states.
    ///
    /// # Errors
    /// The failure of the run.
    pub fn run_for(&mut self, iterations: Option<u64>) -> Result<(), String> {
        self.run_with(iterations, &Threads::new(self.threads))
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

    /// The output of the last run, without nonces.
    pub fn output(&self) -> Vec<u32> {
        let output = self.files.output();
        if self.has_nonces { without_nonces(&output) } else { output }
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

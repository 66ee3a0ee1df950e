//! Programs of `apps/str` as native code, with files that are memory.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

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
    /// It cannot be made native; why.
    pub fn new(program: &str, level: Level, input: &[u32]) -> Result<Ours, String> {
        Ours::among(program, level, &Cells::new(input))
    }

    /// The program of this name at a level, with files that others have too.
    ///
    /// # Errors
    /// It cannot be made native; why.
    pub fn among(program: &str, level: Level, files: &Cells) -> Result<Ours, String> {
        let program = Program::named(program).ok_or("no such program")?;
        Ours::with(&program.sources(&[])?, level, files.clone())
    }

    /// A program of any text.
    ///
    /// # Errors
    /// It cannot be made native; why.
    pub fn of(sources: &Sources, level: Level, input: &[u32]) -> Result<Ours, String> {
        Ours::with(sources, level, Cells::new(input))
    }

    fn with(sources: &Sources, level: Level, files: Cells) -> Result<Ours, String> {
        let compiled = thalweg_lang::compile(sources).map_err(|errors| format!("{errors:?}"))?;
        let config = Config { level, cache: Cache::None, compiler: None };
        let native =
            thalweg_codegen::build(&Arc::new(compiled), &config).map_err(|refusal| refusal.to_string())?;
        Ok(Ours { native, files })
    }

    /// The same, run in another way.
    pub fn changed(self, change: impl FnOnce(Native) -> Native) -> Ours {
        Ours { native: change(self.native), ..self }
    }

    /// Runs it once over all of the input.
    ///
    /// # Errors
    /// It fails; why.
    pub fn run(&mut self) -> Result<(), String> {
        self.run_so(None, &Threads::new(1))
    }

    /// The same for so many steady states.
    ///
    /// # Errors
    /// It fails; why.
    pub fn run_for(&mut self, iterations: Option<u64>) -> Result<(), String> {
        self.run_so(iterations, &Threads::new(1))
    }

    /// The same on threads.
    ///
    /// # Errors
    /// It fails; why.
    pub fn run_on(&mut self, threads: &Threads) -> Result<(), String> {
        self.run_so(None, threads)
    }

    fn run_so(&mut self, iterations: Option<u64>, threads: &Threads) -> Result<(), String> {
        let around = Surroundings {
            files: &mut self.files,
            out: Box::new(io::sink()),
            interrupted: Box::new(|| false),
            progress: &mut |_| {},
        };
        let options = Options { iterations, repeat_input: false };
        self.native.run_on(threads, options, around).map(|_| ()).map_err(|stop| format!("{stop:?}"))
    }

    /// What it has written.
    pub fn output(&self) -> Vec<u32> {
        self.files.output()
    }
}

/// What has been written, and the memory that it is in, which is used again by the next run.
#[derive(Default)]
struct Output {
    items: Vec<u8>,
    filled: usize,
}

/// The one file that is read and the one that is written, whatever they are called. Contestants that are compared
/// have the same, since where memory lies matters as much as what is done with it.
#[derive(Clone)]
pub struct Cells {
    input: Rc<Vec<u8>>,
    output: Rc<RefCell<Output>>,
}

impl Cells {
    /// This input, and room for output.
    pub fn new(input: &[u32]) -> Cells {
        let input: Vec<u8> = input.iter().flat_map(|cell| cell.to_ne_bytes()).collect();
        let output = Output { items: vec![0; 2 * input.len()], filled: 0 };
        Cells { input: Rc::new(input), output: Rc::new(RefCell::new(output)) }
    }

    /// How much input there is.
    pub fn cells(&self) -> usize {
        self.input.len() / size_of::<u32>()
    }

    /// Runs what is no program of ours, which gives how many bytes of output it has made.
    pub fn run(&self, run: impl FnOnce(&[u8], &mut [u8]) -> usize) {
        let Output { items, filled } = &mut *self.output.borrow_mut();
        *filled = run(&self.input, items);
    }

    /// What has been written.
    pub fn output(&self) -> Vec<u32> {
        let output = self.output.borrow();
        output.items[..output.filled].as_chunks().0.iter().map(|cell| u32::from_ne_bytes(*cell)).collect()
    }
}

impl Files for Cells {
    fn source(&mut self, _name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(Reader(self.input.clone())))
    }

    fn sink(&mut self, _name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        let output = Output { filled: 0, ..self.output.take() };
        Ok(Box::new(Writer { output, whose: self.output.clone() }))
    }
}

struct Reader(Rc<Vec<u8>>);

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
    whose: Rc<RefCell<Output>>,
}

impl Sink for Writer {
    fn give(&mut self, _item: &Value) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "items are written as bytes here"))
    }

    fn give_bytes(&mut self, items: &[u8]) -> Option<io::Result<()>> {
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
        self.whose.replace(self.output);
        Ok(())
    }
}

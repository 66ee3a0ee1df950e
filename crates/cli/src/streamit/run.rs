//! `thalweg run`.

use super::media::Media;
use super::sound::SOUND;
use super::{Files, complain};
use crate::interrupt::{Interrupt, Left};
use crate::progress::Progress;
use crate::standard;
use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use thalweg_codegen::{Config, Level, Mode, Native, Refusal, Split, Threads, build_until};
use thalweg_lang::files::{Form, STANDARD};
use thalweg_lang::interpret::{BUDGET, Options, Stop, Surroundings, Within, interpret_within};
use thalweg_lang::tree::Code;
use thalweg_lang::{Compiled, Sources};

/// Run a StreamIt program.
///
/// Standard output carries what the program prints, and nothing else. Files are found from the working
/// directory; `-` stands for standard input and output. A file that is written appears when the program
/// ends.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  thalweg run Radio.str Filters.str --iterations 1000
  thalweg run Echo.str --in voice.wav --out echo.wav
  thalweg run Sort.str --text --in - --out - < numbers")]
pub(crate) struct Run {
    #[command(flatten)]
    files: Files,
    /// Steady states to execute after the initialisation (default: to the end of the input, or until
    /// interrupted)
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    iterations: Option<u64>,
    /// Read this in place of what the program's reader names; `.wav` is sound
    #[arg(long = "in", value_name = "FILE")]
    input: Option<PathBuf>,
    /// Write this in place of what the program's writer names; `.wav` is sound
    #[arg(long = "out", value_name = "FILE")]
    output: Option<PathBuf>,
    /// How it is executed (default: native code where it can be, else the interpreter)
    #[arg(long, value_enum)]
    pub(super) engine: Option<Engine>,
    /// How much is made of native code: 0 a function for each filter, 1 regions fused, 2 several firings
    /// at once
    #[arg(short = 'O', long, value_name = "LEVEL", default_value_t = 2,
        value_parser = clap::value_parser!(u8).range(0..=2))]
    optimise: u8,
    /// Worker threads for native code; the output does not depend on it (default: as many as this
    /// process may use)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = threads)]
    threads: Option<NonZeroUsize>,
    /// What is done on which thread
    #[arg(long, value_enum, default_value_t)]
    mode: How,
    /// Steady states in a batch, of dynamic rates (default: as many as stay near the processor)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    batch: Option<u64>,
    /// Bytes that queues may take, of dynamic rates, like 64M (default: 1G)
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    budget: Option<u64>,
    /// Files are numbers in text, not bytes
    #[arg(long)]
    text: bool,
    /// Files that are read begin again when they end
    #[arg(long)]
    repeat_input: bool,
}

impl Run {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        if let Some(output) = &self.output {
            self.files.spare(output)?;
        }
        let (sources, compiled) = self.files.compile()?;
        self.execute(interrupt, &sources, compiled, |level, compiled| {
            let wanted_no_more = || interrupt.stop().is_requested();
            build_until(compiled, &Config { level, ..Config::default() }, &wanted_no_more)
        })
    }

    /// Runs a program that `make` makes native.
    pub(super) fn execute(
        self,
        interrupt: &Interrupt,
        sources: &Sources,
        compiled: Compiled,
        make: impl FnOnce(Level, &Arc<Compiled>) -> Result<Native, Refusal>,
    ) -> Result<()> {
        let ends =
            |is: fn(&Code) -> bool| compiled.tree.filters.iter().filter(|filter| is(&filter.code)).count();
        let reads = ends(|code| matches!(code, Code::FileReader(_)));
        let writes = ends(|code| matches!(code, Code::FileWriter(_)));
        only("--in", self.input.is_some(), "reads", reads)?;
        only("--out", self.output.is_some(), "writes", writes)?;
        self.can_repeat(&compiled)?;
        let _guard = interrupt.guard();
        let progress = Progress::steps(self.iterations);
        let at_once = io::stdout().is_terminal();
        let out = Shared::new(Screen { out: standard::stdout()?, over: at_once.then(|| progress.clone()) });
        let (stop, mut printed) = (interrupt.stop().clone(), out.clone());
        let compiled = Arc::new(compiled);
        let native = self.native(|level| make(level, &compiled));
        // Files are as they were.
        ensure!(!interrupt.stop().is_requested(), Left("interrupted before anything ran"));
        let native = native?;
        let threads = self.threads();
        match &native {
            Some(native) => self.say_what_is_idle(native),
            None => self.say_interpreted(),
        }
        let options = Options { iterations: self.iterations, repeat_input: self.repeat_input };
        let within = self.within();
        let mut files = Media {
            input: self.input,
            output: self.output,
            form: if self.text { Form::Text } else { Form::Binary },
            sound: SOUND,
            out: out.clone(),
            interrupt: interrupt.clone(),
        };
        let around = Surroundings {
            files: &mut files,
            out: Box::new(out.clone()),
            interrupted: Box::new(move || stop.is_requested()),
            progress: &mut |done| {
                progress.reach(done);
                if at_once {
                    _ = printed.flush();
                }
            },
        };
        let outcome = match native {
            Some(native) => native.run_on(&threads, options, around),
            None => interpret_within(&compiled, options, within, around),
        };
        progress.finish();
        // What it has printed before it failed comes before the error.
        _ = out.clone().flush();
        match outcome {
            Ok(_) => Ok(()),
            Err(Stop::Interrupted) if writes == 0 => bail!(Left("interrupted")),
            Err(Stop::Interrupted) => bail!(Left("interrupted: files hold what was written until then")),
            // Nobody reads what it would still print.
            Err(_) if out.is_closed() => Ok(()),
            Err(Stop::Output(error)) => bail!("{error}"),
            // Nobody has come to the other end of a pipe until then.
            Err(Stop::Fault(_)) if interrupt.stop().is_requested() => {
                bail!(Left("interrupted: nothing was written"))
            }
            Err(Stop::Fault(fault)) => {
                complain(sources, &[*fault]);
                bail!("the program has failed");
            }
        }
    }
}

impl Run {
    /// Tells of options that change nothing in this program.
    fn say_what_is_idle(&self, native: &Native) {
        if let (Some(why), true) = (native.one_thread(), self.threads > NonZeroUsize::new(1)) {
            standard::complain(&format!("note: one thread runs it: {why}"));
        }
        let turns = matches!(self.mode, How::Sequential | How::Demand | How::NoOp);
        if let (Some(mode), true) = (self.mode.to_possible_value(), turns && !native.takes_turns()) {
            let mode = mode.get_name();
            standard::complain(&format!(
                "note: `--mode {mode}` changes nothing: no rate of the program is dynamic"
            ));
        }
    }

    /// The same where the interpreter runs it.
    fn say_interpreted(&self) {
        if self.threads > NonZeroUsize::new(1) {
            standard::complain("note: one thread runs it: the interpreter has no others");
        }
        if let (Some(mode), true) = (self.mode.to_possible_value(), self.mode != How::Auto) {
            let mode = mode.get_name();
            standard::complain(&format!("note: `--mode {mode}` changes nothing: the interpreter runs it"));
        }
    }

    /// What comes in on standard input is gone when it has been read, so it does not begin again.
    fn can_repeat(&self, compiled: &Compiled) -> Result<()> {
        let standard = |code: &Code| match (code, &self.input) {
            (Code::FileReader(_), Some(path)) => standard::is_dash(path),
            (Code::FileReader(name), None) => name == STANDARD,
            _ => false,
        };
        let reads = self.repeat_input && compiled.tree.filters.iter().any(|filter| standard(&filter.code));
        ensure!(
            !reads,
            "standard input cannot be repeated: with --repeat-input it takes a file, `--in FILE`"
        );
        Ok(())
    }
}

/// The level with this number.
pub(super) fn level(number: u8) -> Level {
    [Level::Plain, Level::Fused, Level::Vectors][usize::from(number)]
}

/// More threads than any machine has for it are a mistake.
const MOST_THREADS: usize = 4096;

/// A number of threads.
fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.parse().ok().and_then(NonZeroUsize::new).filter(|count| count.get() <= MOST_THREADS);
    count.ok_or_else(|| format!("it takes a number from 1 to {MOST_THREADS}"))
}

/// An option for the one file that a program reads, or writes.
fn only(option: &str, given: bool, does: &str, files: usize) -> Result<()> {
    let files = if files == 0 { "none".to_owned() } else { files.to_string() };
    ensure!(
        !given || files == "1",
        "{option} stands for the one file that a program {does}; this one {does} {files}"
    );
    Ok(())
}

/// How a program is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Engine {
    /// C, compiled for this machine
    Native,
    /// What defines the meaning; slow
    Interpreter,
}

/// How a program is dealt out to threads; of dynamic rates, how its regions take turns.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
enum How {
    /// Stretches without state on all threads at once, the rest in pieces that are dealt out evenly
    #[default]
    Auto,
    /// A thread of the operating system for each filter
    Filters,
    /// Fused to as many segments as threads
    Pipeline,
    /// All threads do the same, and wait for one another
    Data,
    /// Of dynamic rates: filter by filter in data-flow order
    Sequential,
    /// Of dynamic rates: the ends ask for items
    Demand,
    /// Of dynamic rates: all regions in each turn, those without input for nothing
    NoOp,
    /// Of dynamic rates: a thread of the operating system for each filter, with locks between them
    OsThread,
}

impl Run {
    fn threads(&self) -> Threads {
        let count = self.threads.or_else(|| thread::available_parallelism().ok());
        let split = match self.mode {
            How::Auto | How::Sequential | How::Demand | How::NoOp => Split::Auto,
            How::Filters | How::OsThread => Split::Filters,
            How::Pipeline => Split::Pipeline,
            How::Data => Split::DataParallel,
        };
        Threads { split, ..Threads::new(count.map_or(1, NonZeroUsize::get)) }
    }

    fn batched(&self, native: Native) -> Native {
        let native = match self.batch {
            Some(batch) => native.in_batches_of(batch),
            None => native,
        };
        match self.budget {
            Some(bytes) => native.within(usize::try_from(bytes).unwrap_or(usize::MAX)),
            None => native,
        }
    }

    fn within(&self) -> Within {
        Within { bytes: self.budget.unwrap_or(BUDGET), ..Within::default() }
    }

    fn turns(&self) -> Mode {
        match self.mode {
            How::Sequential => Mode::Sequential,
            How::Demand => Mode::Demand,
            How::NoOp => Mode::NoOp,
            How::OsThread => Mode::OsThread,
            _ => Mode::Hybrid,
        }
    }

    /// The program as native code; none where the interpreter is to run it, which is said unless it was
    /// asked for.
    fn native(&self, make: impl FnOnce(Level) -> Result<Native, Refusal>) -> Result<Option<Native>> {
        if self.engine == Some(Engine::Interpreter) {
            return Ok(None);
        }
        let level = level(self.optimise);
        match make(level) {
            Ok(native) => Ok(Some(self.batched(native.in_mode(self.turns())))),
            Err(refusal) if refusal == Refusal::Interrupted || self.engine == Some(Engine::Native) => {
                Err(refusal.into())
            }
            Err(refusal) => {
                standard::complain(&format!("note: {refusal}; the interpreter runs it"));
                Ok(None)
            }
        }
    }
}

/// Standard output; where that is a terminal the progress bar goes as soon as something is printed, since a line may
/// come in pieces.
struct Screen {
    out: File,
    over: Option<Progress>,
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(bar) = self.over.take() {
            bar.finish();
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Standard output, written to by the program and flushed by us.
#[derive(Clone)]
pub(super) struct Shared {
    out: Rc<RefCell<BufWriter<Screen>>>,
    /// Whoever read it does so no more.
    closed: Rc<Cell<bool>>,
}

impl Shared {
    fn new(out: Screen) -> Shared {
        Shared { out: Rc::new(RefCell::new(BufWriter::new(out))), closed: Rc::default() }
    }

    fn is_closed(&self) -> bool {
        self.closed.get()
    }

    fn seen<T>(&self, done: io::Result<T>) -> io::Result<T> {
        let is_closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        self.closed.set(self.closed.get() || done.as_ref().is_err_and(is_closed));
        done
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.borrow_mut().write(bytes);
        self.seen(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.borrow_mut().flush();
        self.seen(flushed)
    }
}

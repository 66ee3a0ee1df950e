//! `thalweg run`.

mod without_effect;

use super::program_files::{ProgramFiles, Sound, is_wav, partial_path};
use super::wav::Wanted;
use super::{SourceFiles, print_errors};
use crate::interrupt::{Interrupt, InterruptNote};
use crate::misuse::Misuse;
use crate::progress::Progress;
use crate::{outputs, standard};
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use std::collections::BTreeSet;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use thalweg_codegen::{Config, Level, Mode, Native, Refusal, Split, Threads, build_until};
use thalweg_lang::files::{Form, STANDARD};
use thalweg_lang::interpret::{BUDGET, Options, Outcome, RunLimits, Stop, Surroundings, interpret_measured};
use thalweg_lang::tree::Code;
use thalweg_lang::{Compiled, Sources};

/// Run a StreamIt program.
///
/// Compiles the program to native code by the C compiler that $CC names, or `cc`; where there is none, the interpreter runs
/// it, which is slow. Compiled code is kept in $XDG_CACHE_HOME/thalweg, or in ~/.cache/thalweg.
///
/// Standard output has the output of the program and nothing else. Paths are relative to the working
/// directory; `-` means standard input or output. A file that the program writes appears when the program ends. If a signal
/// ends the run, the output so far is in a file of another name: `echo.partial.wav` for `echo.wav`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg run Radio.str Filters.str --iterations 1000
  thalweg run Echo.str --input voice.wav --output echo.wav
  thalweg run Sort.str --text --input - --output - < numbers
  thalweg run Radio.str Filters.str --iterations 1000 --save-report report.json")]
pub(crate) struct Run {
    #[command(flatten)]
    files: SourceFiles,
    /// How many steady states to execute after the initialisation: in one, each filter fires as often as the rates demand
    /// (default: until the input ends or the run is interrupted)
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    iterations: Option<u64>,
    /// Read this file instead of the one that the program's only reader names; `.wav` is sound, and so is standard input that
    /// begins as a WAV file does
    #[arg(long, value_name = "FILE", visible_alias = "in")]
    input: Option<PathBuf>,
    /// Write this file instead of the one that the program's only writer names; `.wav` is sound. As all files that a program
    /// writes, it is replaced if it exists
    #[arg(short, long, value_name = "FILE", visible_alias = "out")]
    output: Option<PathBuf>,
    /// What executes the program (default: native code if possible, otherwise the interpreter)
    #[arg(long, value_enum)]
    pub(super) engine: Option<Engine>,
    /// Optimisation of native code: 0 one function for each filter, 1 fused regions, 2 also vectorised firings
    /// (default: 2)
    #[arg(short = 'O', long, value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=2))]
    optimise: Option<u8>,
    /// How the program is divided among threads; `auto` is for use, the others are for comparison
    #[arg(long, hide_short_help = true, value_enum, default_value_t)]
    mode: RunMode,
    /// For programs with dynamic rates, and for others on several threads: steady states in a batch (default: as many as
    /// stay in the caches)
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    batch: Option<u64>,
    /// For programs with dynamic rates: the most bytes of all queues together, such as 64M (default: 1G)
    #[arg(long, hide_short_help = true, value_name = "SIZE", value_parser = crate::size::parse)]
    budget: Option<u64>,
    /// Samples of a channel in a second of sound that the program writes (default: what its FileWriter names, or as in the
    /// sound that it reads, or 44100)
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Write sound as integers with this many bits, 16 (default: floats, or integers as in the sound that the program reads)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(16..=16))]
    bits: Option<u16>,
    /// Read and write files as numbers in text instead of bytes
    #[arg(long)]
    text: bool,
    /// Start input files again from the beginning when they end
    #[arg(long)]
    repeat_input: bool,
    #[command(flatten)]
    on: crate::engine::Engine,
}

impl Run {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let (sources, compiled) = self.files.compile()?;
        self.outputs(&compiled).try_for_each(|output| {
            self.files.check_not_source(output)?;
            self.files.check_not_source(&partial_path(output))
        })?;
        self.execute(interrupt, &sources, compiled, |level, compiled| {
            let is_interrupted = || interrupt.stop().is_requested();
            build_until(compiled, &Config { level, ..Config::default() }, &is_interrupted)
        })
    }

    /// Runs a program. `make` compiles it to native code.
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
        let writes = ends(|code| matches!(code, Code::FileWriter(..)));
        check_only_file("--input", self.input.is_some(), "reads", reads)?;
        check_only_file("--output", self.output.is_some(), "writes", writes)?;
        self.check_outputs(&compiled)?;
        self.check_repeat_input(&compiled)?;
        self.check_sound(&compiled)?;
        self.check_tokens()?;
        self.on.check(&[], self.own_files().chain(self.outputs(&compiled)))?;
        let _guard = interrupt.guard();
        let progress = self.on.steps(self.iterations);
        let is_terminal = io::stdout().is_terminal();
        let out = SharedOutput::new(Stdout {
            out: stdout(interrupt).map_err(|error| format!("{error:#}")),
            bar: is_terminal.then(|| progress.clone()),
        });
        let (stop, mut printed) = (interrupt.stop().clone(), out.clone());
        let compiled = Arc::new(compiled);
        let native = self.native(|level| make(level, &compiled));
        // No file has been opened yet.
        ensure!(
            !interrupt.stop().is_requested(),
            InterruptNote("interrupted before the program started".into())
        );
        let native = native?;
        let engine = match &native {
            Some(native) => self.on.options_for(native.graph(), interrupt)?,
            None => self.on.plain(interrupt)?,
        };
        // With dynamic rates the batch is the program's (`with_batch_and_budget`).
        let batch = self.batch.filter(|_| native.as_ref().is_some_and(Native::is_static));
        let threads = Threads::of(engine).split(self.split()).batch(batch);
        let options = Options { iterations: self.iterations, repeat_input: self.repeat_input };
        let unused = self.without_effect(&compiled, native.as_ref(), (&threads, options));
        unused.iter().for_each(|note| standard::eprint(&format!("note: {note}")));
        let limits = self.limits();
        let mut files = ProgramFiles {
            input: self.input,
            output: self.output,
            form: if self.text { Form::Text } else { Form::Binary },
            sound: Sound::None,
            wanted: Wanted { rate: self.rate, bits: self.bits },
            out: out.clone(),
            interrupt: interrupt.clone(),
            created: Vec::new(),
        };
        let chosen = self.engine == Some(Engine::Interpreter);
        let mut slow = (native.is_none() && chosen).then(Instant::now);
        let around = Surroundings {
            files: &mut files,
            out: Box::new(out.clone()),
            interrupted: Box::new(move || stop.is_requested()),
            progress: &mut |done| {
                progress.reach(done);
                if slow.take_if(|since| since.elapsed() > LONG).is_some() {
                    standard::eprint(&format!("note: the interpreter runs the program, {SLOWER}"));
                }
                if is_terminal {
                    _ = printed.flush();
                }
            },
        };
        let mut held = None;
        let (outcome, report) = match native {
            Some(native) => native.run_reported(&threads, options, around),
            None => {
                let (outcome, bytes) = interpret_measured(&compiled, options, limits, around);
                held = self.on.results.prints().then_some(bytes);
                (outcome, None)
            }
        };
        progress.end(&outcome);
        // The output before a failure is printed before the error.
        _ = out.clone().flush();
        let counts = || match &outcome {
            Ok(Outcome { iterations, firings }) => format!("{iterations} iterations, {firings} firings"),
            Err(Stop::Interrupted) => "interrupted".to_owned(),
            Err(_) => "failed".to_owned(),
        };
        if let Some(bytes) = held {
            standard::eprint(&format!("{}\nqueues between regions held at most {bytes} bytes", counts()));
        }
        if let (Some(report), Ok(_) | Err(Stop::Interrupted | Stop::Fault(_))) = (&report, &outcome) {
            self.on.results.finish(report, counts, interrupt)?;
        }
        match outcome {
            Ok(_) => Ok(()),
            Err(Stop::Interrupted) => bail!(InterruptNote(files.partial_note().into())),
            // The reader has closed the pipe, so it needs no more output.
            Err(_) if out.is_closed() => Ok(()),
            // The signal has ended a wait for the reader of a pipe.
            Err(Stop::Output(_)) if interrupt.stop().is_requested() => {
                bail!(InterruptNote("interrupted".into()))
            }
            Err(Stop::Output(error)) => bail!("{error}"),
            // The signal has ended a wait for the other end of a pipe.
            Err(Stop::Fault(_)) if interrupt.stop().is_requested() => {
                bail!(InterruptNote("interrupted: nothing was written".into()))
            }
            Err(Stop::Fault(fault)) => {
                print_errors(sources, &[*fault]);
                bail!("the program failed");
            }
        }
    }
}

impl Run {
    /// Refuses options about sound where the program writes none.
    fn check_sound(&self, compiled: &Compiled) -> Result<()> {
        let writes_sound = |code: &Code| match (code, &self.output) {
            (Code::FileWriter(..), Some(path)) => is_wav(path),
            (Code::FileWriter(name, _), None) => is_wav(Path::new(name)),
            _ => false,
        };
        let is_given = self.rate.is_some() || self.bits.is_some();
        ensure!(
            !is_given || compiled.tree.filters.iter().any(|filter| writes_sound(&filter.code)),
            "--rate and --bits are for sound, and this program writes none\n\
             help: leave them out, or write sound with `--output FILE.wav`"
        );
        Ok(())
    }

    /// Refuses tokens, before a file is opened.
    fn check_tokens(&self) -> Result<()> {
        ensure!(
            !self.on.given().contains(&"--tokens"),
            Misuse::new(
                "--tokens limits the items between one source and one sink, and a StreamIt program has neither in the \
                 engine: its driver sends batches through it, which come back\n\
                 help: leave it out; `--batch` and `--budget` bound what the program holds"
            )
        );
        Ok(())
    }

    /// Refuses to repeat standard input, which cannot be read again.
    fn check_repeat_input(&self, compiled: &Compiled) -> Result<()> {
        let standard = |code: &Code| match (code, &self.input) {
            (Code::FileReader(_), Some(path)) => standard::is_dash(path),
            (Code::FileReader(name), None) => name == STANDARD,
            _ => false,
        };
        let reads = self.repeat_input && compiled.tree.filters.iter().any(|filter| standard(&filter.code));
        ensure!(
            !reads,
            Misuse::new(
                "standard input cannot be repeated\nhelp: use --repeat-input with a file, as in `--input FILE`"
            )
        );
        Ok(())
    }
}

/// What a run by the interpreter costs, as the manual has it.
pub(super) const SLOWER: &str = "some 1,000 times slower than native code";

/// How long the interpreter runs before a note says that it is slow, if the user has chosen it or no other note has said so.
const LONG: Duration = Duration::from_secs(3);

/// The optimisation level of native code, unless the user chooses one.
pub(super) const DEFAULT_LEVEL: u8 = 2;

/// The optimisation level with this number.
pub(super) fn level(number: u8) -> Level {
    [Level::Plain, Level::Fused, Level::Vectors][usize::from(number)]
}

/// Refuses an option that replaces the only file of a program, if the program does not have exactly one.
fn check_only_file(option: &str, given: bool, does: &str, files: usize) -> Result<()> {
    ensure!(
        !given || files == 1,
        "{option} replaces the only file that a program {does}, but this program {does} {files} files\n\
         help: leave {option} out"
    );
    Ok(())
}

/// The execution engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Engine {
    /// C code, compiled for this machine
    Native,
    /// The interpreter, which defines the meaning of programs; slow
    Interpreter,
}

/// The distribution of a program to threads, and the scheduling of regions with dynamic rates.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
enum RunMode {
    /// Stateless parts on all threads at once, the others as segments of equal work
    #[default]
    Auto,
    /// An operating-system thread for each filter; with dynamic rates, for each region
    Filters,
    /// Hardware pipelining: the program fused to as many segments as there are threads, each on one thread at a time
    Pipeline,
    /// Static data parallelism: all threads execute the same code on different items, with a barrier after each batch
    Data,
    /// One thread, filter by filter in data-flow order; without dynamic rates, the fused program
    Sequential,
    /// On demand: a region of static rates runs when it has input, on any thread, and on one thread at a time
    Demand,
    /// Dynamic rates: an operating-system thread for each region, and each item handed over by itself
    OsThread,
}

impl Run {
    /// The files that the command names to read.
    fn own_files(&self) -> impl Iterator<Item = &Path> {
        self.files.files.iter().chain(&self.input).map(PathBuf::as_path)
    }

    /// The files that the program writes: those that it names, or the one that replaces the only one.
    fn outputs<'c>(&'c self, compiled: &'c Compiled) -> impl Iterator<Item = &'c Path> {
        let named = compiled.tree.filters.iter().filter_map(|filter| match &filter.code {
            Code::FileWriter(name, _) => Some(Path::new(name)),
            _ => None,
        });
        let replaced = self.output.is_some();
        self.output.as_deref().into_iter().chain(named.filter(move |_| !replaced))
    }

    /// Refuses outputs that are files which the command names otherwise, and outputs of which an interrupt would leave a part in
    /// the place of one of those, of an input of the program or of another output.
    fn check_outputs(&self, compiled: &Compiled) -> Result<()> {
        let others = || self.on.files().chain(self.input.as_deref());
        self.outputs(compiled).try_for_each(|output| outputs::check_apart([output], others()))?;
        let read = compiled.tree.filters.iter().filter_map(|filter| match &filter.code {
            Code::FileReader(name) if self.input.is_none() => Some(Path::new(name)),
            _ => None,
        });
        let partial: BTreeSet<PathBuf> = self.outputs(compiled).map(partial_path).collect();
        let partial = partial.iter().map(PathBuf::as_path);
        outputs::check_apart(partial, others().chain(read).chain(self.outputs(compiled)))
    }

    fn split(&self) -> Split {
        match self.mode {
            RunMode::Auto | RunMode::Sequential | RunMode::Demand => Split::Auto,
            RunMode::Filters | RunMode::OsThread => Split::Filters,
            RunMode::Pipeline => Split::Pipeline,
            RunMode::Data => Split::DataParallel,
        }
    }

    fn with_batch_and_budget(&self, native: Native) -> Native {
        let native = match self.batch {
            Some(batch) => native.in_batches_of(batch),
            None => native,
        };
        match self.budget {
            Some(bytes) => native.within(usize::try_from(bytes).unwrap_or(usize::MAX)),
            None => native,
        }
    }

    fn limits(&self) -> RunLimits {
        RunLimits { bytes: self.budget.unwrap_or(BUDGET), ..RunLimits::default() }
    }

    fn scheduling(&self) -> Mode {
        match self.mode {
            RunMode::Sequential => Mode::Sequential,
            RunMode::Demand => Mode::Demand,
            RunMode::OsThread => Mode::OsThread,
            _ => Mode::Hybrid,
        }
    }

    /// Compiles the program to native code. Returns `None` if the interpreter is to run it, and prints a note unless
    /// the user has chosen the interpreter.
    fn native(&self, make: impl FnOnce(Level) -> Result<Native, Refusal>) -> Result<Option<Native>> {
        if self.engine == Some(Engine::Interpreter) {
            return Ok(None);
        }
        let level = level(self.optimise.unwrap_or(DEFAULT_LEVEL));
        match make(level).inspect(note_distrusted) {
            Ok(native) => Ok(Some(self.with_batch_and_budget(native.in_mode(self.scheduling())))),
            Err(refusal) if refusal == Refusal::Interrupted || self.engine == Some(Engine::Native) => {
                Err(refusal.into())
            }
            Err(refusal) => {
                standard::eprint(&format!("note: {refusal}; the interpreter runs the program, {SLOWER}"));
                Ok(None)
            }
        }
    }
}

/// Names what in the cache of compiled code was not used since another user may have written it.
fn note_distrusted(native: &Native) {
    if let Some(what) = native.distrusted() {
        standard::eprint(&format!("note: {what}"));
    }
}

/// Standard output, where a signal ends a wait for its reader.
fn stdout(interrupt: &Interrupt) -> Result<Box<dyn Write + Send>> {
    let out = interrupt.output(standard::stdout()?).context("reading the status of standard output")?;
    Ok(Box::new(out))
}

/// Standard output. If it is a terminal, the first write removes the progress bar for good, since a write may be a
/// part of a line.
struct Stdout {
    /// The open file, or why there is none, which only matters to a program that writes.
    out: Result<Box<dyn Write + Send>, String>,
    bar: Option<Progress>,
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(bar) = self.bar.take() {
            bar.finish();
        }
        match &mut self.out {
            Ok(out) => out.write(bytes),
            Err(why) => Err(io::Error::other(why.as_str())),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// Buffered standard output, which the program writes and [`Run::execute`] flushes.
#[derive(Clone)]
pub(super) struct SharedOutput {
    out: Arc<Mutex<BufWriter<Stdout>>>,
    /// Standard output is a pipe, and its reader has closed it.
    closed: Arc<AtomicBool>,
}

impl SharedOutput {
    fn new(out: Stdout) -> SharedOutput {
        SharedOutput { out: Arc::new(Mutex::new(BufWriter::new(out))), closed: Arc::default() }
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn locked(&self) -> MutexGuard<'_, BufWriter<Stdout>> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets `closed` if `result` is a broken pipe.
    fn note_closed<T>(&self, result: io::Result<T>) -> io::Result<T> {
        let is_closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        self.closed.fetch_or(result.as_ref().is_err_and(is_closed), Ordering::Relaxed);
        result
    }
}

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.locked().write(bytes);
        self.note_closed(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.locked().flush();
        self.note_closed(flushed)
    }
}

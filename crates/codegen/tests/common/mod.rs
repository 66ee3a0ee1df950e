//! Programs run by the interpreter and natively, with files in memory.

#![allow(dead_code, reason = "not every test uses all of it")]

pub mod plans;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use thalweg_codegen::{Cache, Compiler, Config, Level, Mode, Native, Split, Threads};
use thalweg_lang::files::{Files, Layout, Sink, Source};
use thalweg_lang::hir::Type;
use thalweg_lang::interpret::{Options, Outcome, Stop, Surroundings, interpret};
use thalweg_lang::value::{Shape, Value};
use thalweg_lang::{Compiled, Sources, compile};

/// Input files by name, and the output of a run.
#[derive(Clone, Default)]
pub struct Memory {
    pub given: BTreeMap<String, Vec<Value>>,
    /// The number of items in each file that is not given.
    pub any: Option<usize>,
    /// Whether integers in those files are bytes.
    pub small: bool,
    pub written: Arc<Mutex<BTreeMap<String, Vec<Value>>>>,
}

/// A file that is read, and the position in it.
pub struct Given(pub Vec<Value>, pub usize);

impl Source for Given {
    fn next(&mut self) -> io::Result<Option<Value>> {
        self.1 += 1;
        Ok(self.0.get(self.1 - 1).cloned())
    }

    fn rewind(&mut self) -> io::Result<bool> {
        self.1 = 0;
        Ok(true)
    }
}

/// A file that is written, and the map of all output.
pub struct Written(pub String, pub Arc<Mutex<BTreeMap<String, Vec<Value>>>>);

impl Sink for Written {
    fn push(&mut self, item: &Value) -> io::Result<()> {
        self.1.lock().unwrap().entry(self.0.clone()).or_default().push(item.clone());
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// An item of a shape, made of consecutive numbers.
pub fn made(shape: &Shape, structs: &[Vec<Shape>], next: &mut u32) -> Value {
    let mut number = || {
        *next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *next >> 8
    };
    let mut float = || (number() % 20_001) as f32 / 1000.0 - 10.0;
    match shape {
        Shape::Scalar(Type::Bit | Type::Boolean) => Value::Bool(number() % 2 == 1),
        Shape::Scalar(Type::Float) => Value::Float(float()),
        Shape::Scalar(Type::Complex) => Value::Complex(float(), float()),
        Shape::Scalar(Type::Vector(count)) => {
            let mut parts = [0.0; 4];
            parts[..usize::from(*count)].iter_mut().for_each(|part| *part = float());
            Value::Vector(parts)
        }
        Shape::Scalar(_) => Value::Int(number() as i32),
        Shape::Array(element, length) => {
            Value::Array((0..*length).map(|_| made(element, structs, next)).collect())
        }
        Shape::Struct(id) => {
            Value::Struct(structs[id.0 as usize].iter().map(|field| made(field, structs, next)).collect())
        }
    }
}

impl Files for Memory {
    fn source(&mut self, name: &str, item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        let mut next = name.len() as u32;
        let small = |value| match value {
            Value::Int(number) if self.small => Value::Int(number & 255),
            value => value,
        };
        let any = |count| (0..count).map(|_| small(made(item.shape, item.structs, &mut next))).collect();
        let given = self.given.get(name).cloned();
        let items = given.or_else(|| self.any.map(any)).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Given(items, 0)))
    }

    fn sink(&mut self, name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        Ok(Box::new(Written(name.to_owned(), self.written.clone())))
    }
}

/// What is visible of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    pub end: Result<Outcome, Stop>,
    pub printed: String,
    /// Files as text, so that each bit of floats is compared.
    pub written: BTreeMap<String, Vec<String>>,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A value as text that shows each bit.
pub fn bits(value: &Value) -> String {
    let float = |x: f32| format!("{:08x}", x.to_bits());
    match value {
        Value::Float(x) => float(*x),
        Value::Complex(re, im) => format!("{}+{}i", float(*re), float(*im)),
        Value::Vector(parts) => parts.map(float).join(","),
        Value::Struct(parts) => parts.iter().map(bits).collect::<Vec<_>>().join(" "),
        Value::Array(parts) => parts.iter().map(|part| bits(&part)).collect::<Vec<_>>().join(" "),
        other => format!("{other:?}"),
    }
}

pub fn see(files: &Memory, run: impl FnOnce(Surroundings<'_>) -> Result<Outcome, Stop>) -> Seen {
    let mut files = Memory { written: Arc::default(), ..files.clone() };
    let written = files.written.clone();
    see_with(&mut files, &written, run)
}

/// The time after which a run is interrupted, so that one which never ends is a failure.
const LONGEST: Duration = Duration::from_secs(100);

/// Runs with files; those that are written are in `written` afterwards.
pub fn see_with(
    files: &mut dyn Files,
    written: &Mutex<BTreeMap<String, Vec<Value>>>,
    run: impl FnOnce(Surroundings<'_>) -> Result<Outcome, Stop>,
) -> Seen {
    let (out, begun) = (Shared::default(), Instant::now());
    let end = run(Surroundings {
        files,
        out: Box::new(out.clone()),
        interrupted: Box::new(move || begun.elapsed() > LONGEST),
        progress: &mut |_| {},
    });
    let written = written.lock().unwrap();
    let written = written.iter().map(|(name, items)| (name.clone(), items.iter().map(bits).collect()));
    let printed = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
    Seen { end, printed, written: written.collect() }
}

/// Compiles a program that must be correct.
pub fn compiled(text: &str) -> Arc<Compiled> {
    let sources = Sources::of("test.str", text);
    match compile(&sources) {
        Ok(compiled) => Arc::new(compiled),
        Err(errors) => {
            panic!("{}", errors.iter().map(|error| error.render(&sources, false)).collect::<String>())
        }
    }
}

/// The interpreter's run.
pub fn interpreted(compiled: &Arc<Compiled>, files: &Memory, iterations: Option<u64>) -> Seen {
    let options = Options { iterations, ..Options::default() };
    see(files, |around| interpret(compiled, options, around))
}

/// The native run.
pub fn run_native(native: &Native, files: &Memory, iterations: Option<u64>) -> Seen {
    let options = Options { iterations, ..Options::default() };
    see(files, |around| native.run(options, around))
}

/// The native run on threads.
pub fn run_on(native: &Native, threads: &Threads, files: &Memory, iterations: Option<u64>) -> Seen {
    let options = Options { iterations, ..Options::default() };
    see(files, |around| native.run_on(threads, options, around))
}

/// Whether there is a C compiler; prints that the test is skipped if not.
pub fn has_compiler(test: &str) -> bool {
    let found = Compiler::find().is_some();
    if !found {
        eprintln!("{test}: skipped: no C compiler");
    }
    found
}

/// Whether tests may take as long as they need, as for `ci/long.sh`.
pub fn is_long() -> bool {
    std::env::var("THALWEG_LONG").is_ok_and(|long| long == "1")
}

pub const LEVELS: [Level; 3] = [Level::Plain, Level::Fused, Level::Vectors];

/// A number that follows from a program's text, by which tests choose what to check of it.
fn draw(text: &str) -> usize {
    let sum = text.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    (sum >> 16) as usize
}

/// The levels that a program is checked at: the highest, which has the most to go wrong, and for half of the programs
/// one of the others; all with `THALWEG_LONG=1`. The program's text decides. Compiling C takes most of the tests' time.
pub fn levels(text: &str) -> Vec<Level> {
    if is_long() {
        return LEVELS.to_vec();
    }
    match draw(text) % 4 {
        0 => vec![Level::Plain, Level::Vectors],
        1 => vec![Level::Fused, Level::Vectors],
        _ => vec![Level::Vectors],
    }
}

/// The C compiler for a level: the default at the highest; at the others one with fewer optimisations, which
/// halves the time. `None`, which selects the default, with `THALWEG_LONG=1`.
pub fn compiler(level: Level) -> Option<Compiler> {
    if is_long() || level == Level::Vectors { None } else { Compiler::find().map(|found| found.flag("-O1")) }
}

/// Like [`compiler`], for one of many programs: a quarter of them get the default at the highest level, as the whole
/// suite does; all with `THALWEG_LONG=1`.
fn compiler_of(level: Level, text: &str) -> Option<Compiler> {
    let fast = level == Level::Vectors && !is_long() && !(draw(text) / 4).is_multiple_of(4);
    compiler(if fast { Level::Fused } else { level })
}

/// Checks that native code at its levels does what the interpreter does; returns the interpreter's run.
pub fn agree(text: &str, files: &Memory, iterations: Option<u64>) -> Seen {
    agree_compiled(&compiled(text), text, files, iterations)
}

/// Like [`agree`], for several files, with each level compiled once.
pub fn agree_each(text: &str, all: &[Memory]) -> Vec<Seen> {
    let runs: Vec<_> = all.iter().map(|files| (files.clone(), None)).collect();
    agree_at(&levels(text), &compiled(text), text, &runs)
}

/// Like [`agree`], for a compiled program.
pub fn agree_compiled(compiled: &Arc<Compiled>, name: &str, files: &Memory, iterations: Option<u64>) -> Seen {
    agree_at(&levels(name), compiled, name, &[(files.clone(), iterations)]).remove(0)
}

/// Like [`agree`], at the given levels, for several runs.
pub fn agree_at(
    levels: &[Level],
    compiled: &Arc<Compiled>,
    name: &str,
    runs: &[(Memory, Option<u64>)],
) -> Vec<Seen> {
    agree_and(levels, &|level| compiler_of(level, name), compiled, name, runs, &|_, _, _| {})
}

/// A check of native code for a run's files and iterations, and what the interpreter does.
pub type Check<'c> = dyn Fn(&Native, &(Memory, Option<u64>), &Seen) + 'c;

/// Like [`agree_at`], with a C compiler for each level, and another check of each run of native code.
pub fn agree_and(
    levels: &[Level],
    compiler: &dyn Fn(Level) -> Option<Compiler>,
    compiled: &Arc<Compiled>,
    name: &str,
    runs: &[(Memory, Option<u64>)],
    and: &Check<'_>,
) -> Vec<Seen> {
    let meant: Vec<Seen> =
        runs.iter().map(|(files, iterations)| interpreted(compiled, files, *iterations)).collect();
    for level in levels.iter().copied() {
        let config = Config { level, cache: Cache::None, compiler: compiler(level) };
        let native =
            thalweg_codegen::build(compiled, &config).unwrap_or_else(|refusal| panic!("{refusal}\n{name}"));
        for (run, meant) in runs.iter().zip(&meant) {
            let (files, iterations) = run;
            let done = run_native(&native, files, *iterations);
            assert!(*meant == done, "at {level:?}:\n{name}\n{}", difference(meant, &done));
            and(&native, run, meant);
            let plain = [Threads::new(2), Threads::new(3).batch(1)];
            let more = if level == Level::Vectors { policies(name) } else { Vec::new() };
            for threads in plain.into_iter().chain(more) {
                let done = run_on(&native, &threads, files, *iterations);
                assert!(*meant == done, "at {level:?}, {threads:?}:\n{name}\n{}", difference(meant, &done));
            }
        }
    }
    meant
}

/// Policies of the engine, on 2 to 8 threads: two that the program's text decides; all with `THALWEG_LONG=1`. What a policy
/// decides does not depend on the program, so over all programs each is tried often.
fn policies(text: &str) -> Vec<Threads> {
    let of =
        |(policy, count): (&str, usize)| Threads::of(thalweg::Options::new().threads(count).policy(policy));
    let all: Vec<_> = thalweg::embed::policy::registry::names().zip((2..=8).cycle()).collect();
    sampled(text, all, 2).into_iter().map(of).collect()
}

/// `count` of `all`, which the text decides; all with `THALWEG_LONG=1`.
fn sampled<T>(text: &str, mut all: Vec<T>, count: usize) -> Vec<T> {
    if is_long() {
        return all;
    }
    let length = all.len();
    all.rotate_left(draw(text) % length);
    all.into_iter().step_by(length.div_ceil(count)).collect()
}

/// Checks several runs of a program at some levels, in all modes at the highest; returns the interpreter's
/// runs.
pub fn agree_runs(
    levels: &[Level],
    compiled: &Arc<Compiled>,
    name: &str,
    runs: &[(Memory, Option<u64>)],
) -> Vec<Seen> {
    let meant: Vec<Seen> =
        runs.iter().map(|(files, iterations)| interpreted(compiled, files, *iterations)).collect();
    for level in levels.iter().copied() {
        let config = Config { level, cache: Cache::None, compiler: compiler_of(level, name) };
        let mut native =
            thalweg_codegen::build(compiled, &config).unwrap_or_else(|refusal| panic!("{refusal}\n{name}"));
        all_agree(&native, &format!("at {level:?}"), name, runs, &meant);
        for threads in sampled(name, on_threads(), 2) {
            all_agree_on(&native, &threads, &format!("at {level:?}, {threads:?}"), name, runs, &meant);
        }
        if level == Level::Vectors {
            for mode in [Mode::Sequential, Mode::Demand, Mode::OsThread, Mode::Hybrid] {
                native = native.in_mode(mode);
                all_agree(&native, &format!("{mode:?}"), name, runs, &meant);
            }
            for batch in [1, 3] {
                native = native.in_batches_of(batch);
                all_agree(&native, &format!("in batches of {batch}"), name, runs, &meant);
            }
            native = native.in_mode(Mode::Demand);
            for threads in [Threads::new(1), Threads::new(2), Threads::new(3).batch(3)] {
                all_agree_on(&native, &threads, &format!("Demand, {threads:?}"), name, runs, &meant);
            }
        }
    }
    meant
}

/// Threads for programs with dynamic rates, with batches so short that there are many.
fn on_threads() -> Vec<Threads> {
    let short = |count, batch| Threads::new(count).batch(batch);
    vec![short(2, 1), short(3, 2), short(8, 5), short(4, 3).split(Split::Filters), Threads::new(4)]
}

fn all_agree(native: &Native, how: &str, name: &str, runs: &[(Memory, Option<u64>)], meant: &[Seen]) {
    all_agree_on(native, &Threads::new(1), how, name, runs, meant);
}

fn all_agree_on(
    native: &Native,
    threads: &Threads,
    how: &str,
    name: &str,
    runs: &[(Memory, Option<u64>)],
    meant: &[Seen],
) {
    for ((files, iterations), meant) in runs.iter().zip(meant) {
        let mut done = run_on(native, threads, files, *iterations);
        // Files appear only where a run succeeds.
        if meant.end.is_err() {
            done.written.clone_from(&meant.written);
        }
        let lengths: Vec<usize> = files.given.values().map(Vec::len).chain(files.any).collect();
        assert!(
            *meant == done,
            "{how}, {lengths:?} items, {iterations:?} iterations:\n{name}\n{}",
            difference(meant, &done)
        );
    }
}

/// The first difference between two runs.
pub fn difference(meant: &Seen, done: &Seen) -> String {
    if meant.end != done.end {
        return format!(
            "{:?}\n{:?}\nafter printing {} and {} bytes",
            meant.end,
            done.end,
            meant.printed.len(),
            done.printed.len()
        );
    }
    if meant.printed != done.printed {
        let (mut lines, mut theirs) = (meant.printed.lines(), done.printed.lines());
        let same =
            std::iter::from_fn(|| Some(lines.next()? == theirs.next()?)).take_while(|same| *same).count();
        let around =
            |text: &str| text.lines().skip(same.saturating_sub(2)).take(6).collect::<Vec<_>>().join("\n");
        return format!("line {}:\n{}\nand\n{}", same + 1, around(&meant.printed), around(&done.printed));
    }
    for (name, items) in &meant.written {
        let theirs = done.written.get(name).map_or(&[][..], Vec::as_slice);
        let at = items.iter().zip(theirs).position(|(a, b)| a != b).unwrap_or(items.len().min(theirs.len()));
        if items != theirs {
            return format!("`{name}`, item {at}: {:?} and {:?}", items.get(at), theirs.get(at));
        }
    }
    "files that should not be there".into()
}

/// A file of floats.
pub fn floats(name: &str, count: usize) -> Memory {
    let mut memory = Memory::default();
    let items = (0..count).map(|i| Value::Float(((i * 7919) % 1000) as f32 / 37.0 - 11.0));
    memory.given.insert(name.into(), items.collect());
    memory
}

/// A file of integers.
pub fn ints(name: &str, count: usize) -> Memory {
    let mut memory = Memory::default();
    let items =
        (0..count).map(|i| Value::Int((i as i32).wrapping_mul(1_103_515_245).wrapping_add(12345) >> 5));
    memory.given.insert(name.into(), items.collect());
    memory
}

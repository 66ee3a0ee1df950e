//! `str.dyn.*`: dynamic rates on one thread, after Soulé and others, "Dynamic expressivity with static optimization
//! for streaming languages", 2013.
//!
//! `str.dyn.queues.*` and `str.dyn.work.*` are their section 6.1: a pipeline of `n + 1` operators over `n` dynamic
//! queues, compared with the same pipeline with static rates, in nanoseconds per item and queue. The operators share
//! the computations of an item. They pop one item in each firing, although their rates are dynamic; the operators of
//! `str.dyn.waits.*` pop a number of items that depends on the data, so they check for each item.
//! `str.dyn.os_thread.*` are their section 6.2.1: the same pipeline with a thread of the operating system for each
//! operator and a lock around each queue, compared with ours on one worker.
//! `str.dyn.huffman`, `str.dyn.vwap` and `str.dyn.predicate` are their section 6.3: whole programs under several
//! schedules of their regions, and as programs of static rates with nonces; and on two threads against one (`.t2`),
//! which has no target.

use thalweg_codegen::{Level, Mode, Threads};
use thalweg_lang::Sources;
use thalweg_str::Program;

use crate::line::Measure;
use crate::native::Ours;
use crate::race::{Contestant, Role};
use crate::row::{Row, timed};
use crate::session::Session;
use crate::suite::{checksum, input};

/// The numbers of queues.
const QUEUES: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// Computations for each item.
const WORK: u64 = 1000;

/// Items that the last operator combines into one item of output.
pub(super) const LAST: u64 = 64;

/// A program of section 6.3.
struct Application {
    /// Its name in figures.
    figure: &'static str,
    program: &'static str,
    /// Cells of input.
    cells: usize,
    /// The computations of an operator, where they are not the program's own: those of the paper's operators.
    work: Option<u64>,
}

const APPLICATIONS: [Application; 3] = [
    Application { figure: "huffman", program: "huffman_channel", cells: 1 << 18, work: None },
    Application { figure: "vwap", program: "bargain_finder", cells: 3 << 18, work: Some(WORK) },
    Application { figure: "predicate", program: "predicate_filter", cells: 1 << 20, work: Some(WORK) },
];

impl Application {
    /// The program, or another one that does the same, with this input.
    fn ours(&self, program: &str, input: &[u32]) -> Result<Ours, String> {
        let program = Program::named(program).ok_or("no such program")?;
        let changes: Vec<_> = self.work.iter().map(|work| ("WORK", work.to_string())).collect();
        let changes: Vec<_> = changes.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Ours::of(&program.sources(&changes)?, Level::Vectors, input)
    }
}

/// The factor by which the input is longer on two threads: the second starts after 10 ms of a run.
const INPUT_FACTOR: usize = 32;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for queues in QUEUES {
        for (family, kind, batch) in [
            ("queues", Kind::Fixed, None),
            ("queues.batch1", Kind::Fixed, Some(1)),
            ("waits", Kind::Waits, None),
            ("waits.batch1", Kind::Waits, Some(1)),
        ] {
            pipeline(session, &format!("str.dyn.{family}.q{queues}"), queues, 0, kind, batch);
        }
        pipeline(session, &format!("str.dyn.work.q{queues}"), queues, WORK, Kind::Fixed, None);
        os_threads(session, &format!("str.dyn.os_thread.q{queues}"), queues);
    }
    for application in &APPLICATIONS {
        modes(session, &format!("str.dyn.{}", application.figure), application);
        on_two(session, &format!("str.dyn.{}.t2", application.figure), application);
    }
}

/// The rates of the operators.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Static rates.
    Static,
    /// Dynamic rates, but each firing pops one item and pushes one.
    Fixed,
    /// Dynamic rates: a firing pops items until one is not negative. No item is, so it always pops one.
    Waits,
}

/// The text of a pipeline with one more operator than queues. The operators share the work for an item.
pub(super) fn text(queues: u64, work: u64, kind: Kind) -> String {
    let (rate, pop) = match kind {
        Kind::Static => ("1", "float x = pop();"),
        Kind::Fixed => ("*", "float x = pop();"),
        Kind::Waits => ("*", "float x = pop(); while (x < 0) x = pop();"),
    };
    let each = work / (queues + 1);
    let busy = format!("for (int i = 0; i < {each}; i++) x += i * 3.0 - 1.0;");
    format!(
        "void->void pipeline Main {{
            add void->float filter {{ work push {rate} {{ float x = iter() & 1023; {busy} push(x); }} }};
            for (int i = 1; i < {queues}; i++)
                add float->float filter {{ work pop {rate} push {rate} {{ {pop} {busy} push(x); }} }};
            add float->float filter {{
                work pop {LAST} push 1 {{
                    float sum = 0;
                    for (int k = 0; k < {LAST}; k++) {{ float x = pop(); {busy} sum += x; }}
                    push(sum);
                }}
            }};
            add FileWriter<float>(\"out\");
        }}"
    )
}

/// One pipeline: nanoseconds per item and queue.
fn pipeline(session: &mut Session, name: &str, queues: u64, work: u64, kind: Kind, batch: Option<u64>) {
    if !session.selects(name) {
        return;
    }
    let guess = if batch.is_some() { 10.0 } else { 1.0 } * queues as f64 + work as f64 / 4.0;
    let items = session.items(guess, 1).next_multiple_of(LAST);
    let mut contestants = Vec::new();
    for (contestant, role, kind, batch) in
        [("ours", Role::Ours, kind, batch), ("static", Role::Aside, Kind::Static, None)]
    {
        let sources = Sources::of("pipeline.str", text(queues, work, kind));
        let ours = match Ours::of(&sources, Level::Vectors, &[]) {
            Ok(ours) => ours,
            Err(error) => return session.errors.push(format!("{name}: {contestant}: {error}")),
        };
        let mut ours = ours.changed(|native| match batch {
            Some(batch) => native.in_batches_of(batch),
            None => native,
        });
        // A steady state of the static program processes as many items as the last operator pops.
        let iterations = if kind == Kind::Static { items / LAST } else { items };
        let run = move || row(&mut ours, Some(iterations), 1);
        contestants.push(Contestant::new(contestant, role, items * queues, run));
    }
    session.figure(name, Measure::NsPerItem, 1, contestants);
}

/// A pipeline with a thread of the operating system for each operator, and ours on one worker: nanoseconds per item
/// and queue.
fn os_threads(session: &mut Session, name: &str, queues: u64) {
    if !session.selects(name) {
        return;
    }
    let mut contestants = Vec::new();
    for (contestant, role, mode, guess) in
        [("ours", Role::Ours, Mode::Hybrid, 1.0), ("os-thread", Role::Peer, Mode::OsThread, 2000.0)]
    {
        let ours = Ours::of(&Sources::of("pipeline.str", text(queues, 0, Kind::Fixed)), Level::Vectors, &[]);
        let mut ours = match ours {
            Ok(ours) => ours.changed(|native| native.in_mode(mode)),
            Err(error) => return session.errors.push(format!("{name}: {contestant}: {error}")),
        };
        let items = session.items(guess * queues as f64, 1).next_multiple_of(LAST);
        let expected = match expected(queues, items) {
            Ok(expected) => expected,
            Err(error) => return session.errors.push(format!("{name}: static: {error}")),
        };
        let run = move || row(&mut ours, Some(items), 1);
        contestants.push(Contestant::new(contestant, role, items * queues, run).expecting(expected));
    }
    session.figure(name, Measure::NsPerItem, 1, contestants);
}

/// The checksum of a pipeline's output for `items` items, computed with static rates.
fn expected(queues: u64, items: u64) -> Result<u64, String> {
    let sources = Sources::of("pipeline.str", text(queues, 0, Kind::Static));
    let mut ours = Ours::of(&sources, Level::Vectors, &[])?;
    ours.run_for(Some(items / LAST))?;
    Ok(checksum(&ours.output()))
}

/// A program under every schedule of its regions, and its no-op version if it has one: nanoseconds per cell of input.
fn modes(session: &mut Session, name: &str, application: &Application) {
    if !session.selects(name) {
        return;
    }
    let program = application.program;
    let input = input(program, application.cells);
    let mut contestants = Vec::new();
    for (contestant, role, mode, rounds) in [
        ("ours", Role::Ours, Mode::Hybrid, 8),
        ("demand", Role::Peer, Mode::Demand, 8),
        ("no-op", Role::Peer, Mode::Hybrid, 8),
        ("sequential", Role::Peer, Mode::Sequential, 1),
    ] {
        let no_op = format!("{program}_no_op");
        let ours = match contestant {
            "no-op" if Program::named(&no_op).is_none() => continue,
            "no-op" => application.ours(&no_op, &input).map(Ours::with_nonces),
            _ => application.ours(program, &input),
        };
        let mut ours = match ours {
            Ok(ours) => ours.changed(|native| native.in_mode(mode)),
            Err(error) => return session.errors.push(format!("{name}: {contestant}: {error}")),
        };
        let run = move || row(&mut ours, None, rounds);
        contestants.push(Contestant::new(contestant, role, (input.len() * rounds) as u64, run));
    }
    session.figure(name, Measure::NsPerItem, 1, contestants);
}

/// The speed-up of a program's regions on two threads.
fn on_two(session: &mut Session, name: &str, application: &Application) {
    if !session.selects(name) {
        return;
    }
    let (input, rounds) = (input(application.program, INPUT_FACTOR * application.cells), 2);
    let mut contestants = Vec::new();
    for (contestant, role, threads) in [("one thread", Role::Yardstick, 1), ("ours", Role::Ours, 2)] {
        let mut ours = match application.ours(application.program, &input) {
            Ok(ours) => ours,
            Err(error) => return session.errors.push(format!("{name}: {contestant}: {error}")),
        };
        let run = move || {
            let mut failed = None;
            let row = timed(|| {
                failed = (0..rounds).find_map(|_| ours.run_on(&Threads::new(threads)).err());
                0
            });
            failed.map_or_else(|| Ok(Some(Row { checksum: checksum(&ours.output()), ..row })), Err)
        };
        let items = (input.len() * rounds) as u64;
        contestants.push(Contestant::new(contestant, role, items, run).against("one thread"));
    }
    session.figure(name, Measure::Speed, 2, contestants);
}

/// Runs a program this many times, each time for a number of steady states or over all of its input; with the
/// checksum of its last output.
pub(super) fn row(ours: &mut Ours, iterations: Option<u64>, rounds: usize) -> Result<Option<Row>, String> {
    let mut failed = None;
    let row = timed(|| {
        failed = (0..rounds).find_map(|_| ours.run_for(iterations).err());
        0
    });
    failed.map_or_else(|| Ok(Some(Row { checksum: checksum(&ours.output()), ..row })), Err)
}

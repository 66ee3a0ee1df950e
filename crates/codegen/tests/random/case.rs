//! A random program, run by the interpreter and natively.

use crate::common::plans::random;
use crate::common::{LEVELS, Seen, difference, see_with};
use crate::files::Random;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use thalweg_codegen::{
    Cache, Compiler, Config, Level, Mode, Native, Refusal, Split, Threads, build, build_as_long,
};
use thalweg_lang::flat::{NodeId, NodeKind};
use thalweg_lang::interpret::{Options, Outcome, Stop, Surroundings, interpret};
use thalweg_lang::tree::Code;
use thalweg_lang::{Compiled, Sources, compile};
use thalweg_lang_testgen::{Choices, Program};

/// The firings of nodes in a run, approximately.
const FIRINGS: u64 = 4000;

/// Firings in a steady state from which on a program is skipped: the interpreter would take too long.
const MOST: u64 = 20_000;

/// The modes besides the default.
const MODES: [Mode; 3] = [Mode::Sequential, Mode::Demand, Mode::OsThread];

/// Refusals of native code that are expected.
const REFUSED: &[&str] = &["recursive calls of"];

/// The result of a program.
pub enum Came {
    Native,
    Refused,
}

/// How a program is run.
#[derive(Clone, Debug)]
pub struct Case {
    seed: u64,
    levels: Vec<Level>,
    /// Steady states: as many as possible, or a percentage of them.
    percent: Option<u64>,
    /// Steady states in a call.
    at_most: u64,
    items: u32,
    /// Whether it is compiled with the default optimisations.
    well: bool,
    /// Whether functions that differ only in numbers are merged.
    alike: bool,
    /// Threads that it runs on after one thread.
    threads: Option<Threads>,
    /// Seeds the choice of a plan that it runs with.
    plan: Option<u64>,
    /// Another mode that it runs in, which matters with dynamic rates.
    mode: Option<Mode>,
}

/// What fails, and at which level.
type Failure = (String, Option<Level>);

impl Case {
    pub fn new(seed: u64) -> Case {
        let mut choices = Choices::seeded(!seed);
        let all = choices.chance(15);
        let level = [Level::Vectors, Level::Fused, Level::Plain][choices.weighted(&[5, 3, 1])];
        Case {
            seed,
            levels: if all { LEVELS.to_vec() } else { vec![level] },
            percent: [None, Some(100), Some(30), Some(3)][choices.weighted(&[4, 3, 2, 1])],
            at_most: [u64::MAX, 1, 2, 7, 40][choices.weighted(&[5, 1, 1, 2, 2])],
            items: [2000, 300, 40, 0][choices.weighted(&[6, 4, 3, 1])],
            well: choices.chance(15),
            threads: choices.chance(50).then(|| threads(&mut choices)),
            alike: choices.chance(20),
            plan: choices.chance(50).then(|| u64::from(choices.below(1 << 30))),
            mode: choices.chance(50).then(|| MODES[choices.weighted(&[1; MODES.len()])]),
        }
    }

    /// Restricts the case to one level.
    pub fn only(mut self, level: Option<Level>) -> Case {
        if let Some(level) = level {
            self.levels = vec![level];
        }
        self
    }

    pub fn check(&self, program: &Program) -> Result<Came, Failure> {
        let checked = catch_unwind(AssertUnwindSafe(|| self.compare(&program.to_string())));
        checked.unwrap_or_else(|_| Err(("the run panics".into(), None)))
    }

    fn compare(&self, text: &str) -> Result<Came, Failure> {
        let sources = Sources::of("random.str", text);
        let compiled = compile(&sources).map(Arc::new).map_err(|errors| {
            (format!("it does not compile: {}", errors[0].render(&sources, false)), None)
        })?;
        if firings(&compiled) > MOST {
            return Ok(Came::Refused);
        }
        let options = Options { iterations: self.iterations(&compiled), ..Options::default() };
        let mut meant = None;
        for level in self.levels.iter().copied() {
            let native = match self.native(&compiled, level) {
                Ok(native) => native,
                Err(why) if REFUSED.iter().any(|known| why.contains(known)) => return Ok(Came::Refused),
                Err(why) => return Err((why, Some(level))),
            };
            let meant = meant.get_or_insert_with(|| self.see(|around| interpret(&compiled, options, around)));
            let done = self.see(|around| native.run(options, around));
            if *meant != done {
                return Err((format!("at {level:?}: {}", difference(meant, &done)), Some(level)));
            }
            let compare = |done: Seen, how: &dyn Debug| {
                let why = || format!("at {level:?}, {how:?}: {}", difference(meant, &done));
                if *meant == done { Ok(()) } else { Err((why(), Some(level))) }
            };
            if let Some(threads) = &self.threads {
                compare(self.see(|around| native.run_on(threads, options, around)), threads)?;
            }
            if let Some(seed) = self.plan {
                let plan = random(&native, &mut Choices::seeded(seed));
                if let Err(why) = plan.check(native.graph()) {
                    return Err((format!("at {level:?}: a plan that fits is refused: {why}"), Some(level)));
                }
                let threads = Threads::of(thalweg::Options::new().plan(plan));
                compare(self.see(|around| native.run_on(&threads, options, around)), &threads)?;
            }
            if let Some(mode) = self.mode.filter(|_| compiled.schedule.regions.len() > 1) {
                let native = native.in_mode(mode);
                let threads = self.threads.clone().unwrap_or_default();
                compare(self.see(|around| native.run_on(&threads, options, around)), &(mode, &threads))?;
            }
        }
        Ok(Came::Native)
    }

    fn native(&self, compiled: &Arc<Compiled>, level: Level) -> Result<Native, String> {
        let compiler = Compiler::find().map(|found| if self.well { found } else { found.flag("-O1") });
        let config = Config { level, cache: Cache::None, compiler };
        let made = if self.alike { build_as_long(compiled, &config) } else { build(compiled, &config) };
        match made {
            Ok(native) => Ok(native.at_most(self.at_most)),
            Err(Refusal::Unable(why)) => Err(format!("it is refused: {why}")),
            Err(other) => Err(other.to_string()),
        }
    }

    fn see(&self, run: impl FnOnce(Surroundings<'_>) -> Result<Outcome, Stop>) -> Seen {
        let mut files = Random { seed: self.seed, most: self.items, ..Random::default() };
        let written = files.written.clone();
        let mut seen = see_with(&mut files, &written, run);
        // Files appear only where a run succeeds.
        if seen.end.is_err() {
            seen.written.clear();
        }
        seen
    }

    /// A number of iterations for which the interpreter takes little time.
    fn iterations(&self, compiled: &Compiled) -> Option<u64> {
        let most = (FIRINGS / firings(compiled).max(1)).clamp(2, 300);
        match self.percent {
            Some(percent) => Some(most * percent / 100),
            None if ends(compiled) => None,
            None => Some(most),
        }
    }
}

/// A random partition over threads, mostly with short batches.
fn threads(choices: &mut Choices) -> Threads {
    let policies: Vec<&str> = thalweg::embed::policy::registry::names().collect();
    let splits = [Split::Auto, Split::Filters, Split::Pipeline, Split::DataParallel];
    let engine = thalweg::Options::new().threads(2 + choices.weighted(&[6, 4, 1, 1, 1, 1, 2]));
    let split = splits[choices.weighted(&[4, 1, 2, 2])];
    let policy = choices.chance(50).then(|| policies[choices.weighted(&vec![1; policies.len()])]);
    let batch = [None, Some(1), Some(2), Some(5), Some(30)][choices.weighted(&[2, 1, 2, 3, 2])];
    Threads::of(match policy {
        Some(policy) => engine.policy(policy),
        None => engine,
    })
    .split(split)
    .batch(batch)
}

/// Firings of a steady state.
fn firings(compiled: &Compiled) -> u64 {
    compiled.schedule.regions.iter().flat_map(|region| &region.repetitions).sum()
}

/// Whether the input ends: each region without inputs from others reads a file in each steady state.
fn ends(compiled: &Compiled) -> bool {
    let reads = |node: NodeId| match compiled.flat.kind(node) {
        NodeKind::Filter(id) => matches!(compiled.tree.filters[id.0 as usize].code, Code::FileReader(_)),
        NodeKind::Split(_) | NodeKind::Join(_) => false,
    };
    let region_of = compiled.schedule.region_of();
    let mut first = vec![true; compiled.schedule.regions.len()];
    for channel in compiled.flat.channels() {
        let (from, to) = (region_of[channel.from().0.index()], region_of[channel.to().0.index()]);
        first[to] &= from == to;
    }
    let regions = compiled.schedule.regions.iter().zip(first).filter(|(_, first)| *first);
    regions.map(|(region, _)| region).all(|region| {
        let mut nodes = region.nodes.iter().zip(&region.repetitions);
        nodes.any(|(node, repetitions)| *repetitions > 0 && reads(*node))
    })
}

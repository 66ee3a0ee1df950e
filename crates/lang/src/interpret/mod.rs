//! The interpreter: it defines the meaning of programs.
//!
//! **Meaning.** Each filter is a sequential process that executes its work repeatedly; channels are unbounded
//! queues; splitters and joiners move items by their weights. When a firing with a static pop rate ends, the
//! items that it did not pop are dropped; pushing fewer items than a static rate, or popping or pushing more, is
//! an error. A firing with static rates starts when its whole window is available, one with dynamic rates when at
//! least one item is; it waits for further items within the firing. (A filter that fires 65536 times in a row
//! without moving an item, with input available, is considered finished.) So the items on each channel are a
//! function of the program and its input.
//!
//! **Order** is visible if several filters print. A program with static rates runs its initialisation schedule
//! once, then steady states, each in the order of the schedule's phases ([`schedule`](crate::schedule)). With
//! dynamic rates there are several regions: those without input from other regions run one steady state each in
//! turn; after each round the others run, in data-flow order, as many steady states as their input allows, the
//! last one possibly in part. Programs that send messages upstream fire in demand order: a sink fires, after the
//! firings that provide its missing items, recursively; several sinks run their share of the steady state in
//! turn.
//!
//! **Loops** with dynamic rates that can never continue are an error ([`deadlock()`]), reported after the round
//! in which they stop.
//!
//! **Length.** `iterations` counts steady states after the initialisation; with dynamic rates, those of the regions
//! without input from other regions. The end of a file ends the stream of its reader: nodes that can still fire do,
//! and the program ends.
//!
//! **Messages** (Thies et al., "Teleport messaging for distributed stream programs", PPoPP 2005). Let `wave(m)`
//! be the number of firings of the upstream filter that the downstream filter needs for `m` firings. A message
//! sent in firing `n` with latency `l` is handled downstream before the first firing `m` with `wave(m) >= n + l`,
//! and upstream after firing `wave(n + l)` (with the absolute value of the latency). A message that is too late
//! for that is an error.

mod deadlock;
mod drive;
mod fire;
mod host;
mod room;
mod suspend;
mod world;

pub use deadlock::{Lack, deadlock, may_deadlock};
pub use host::{counted, counted_were};
pub use room::{BUDGET, over_budget};

use crate::Compiled;
use crate::diagnostic::Diagnostic;
use crate::files::Files;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use world::World;

/// Options of a run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Steady states; `None` runs to the end of the input.
    pub iterations: Option<u64>,
    /// Whether input files start again when they end.
    pub repeat_input: bool,
}

/// Limits of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunLimits {
    /// Statements and loop iterations of each firing.
    pub steps: u64,
    /// Bytes of the items in all queues between regions together.
    pub bytes: u64,
}

/// Unlimited steps, and a gigabyte.
impl Default for RunLimits {
    fn default() -> RunLimits {
        RunLimits { steps: u64::MAX, bytes: BUDGET }
    }
}

/// Reasons why a run ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// An error of the program.
    Fault(Box<Diagnostic>),
    /// The output cannot be written.
    Output(String),
    /// The run was interrupted.
    Interrupted,
}

/// The result of a run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Outcome {
    /// Steady states after the initialisation.
    pub iterations: u64,
    /// Firings of filters, splitters and joiners.
    pub firings: u64,
}

/// The environment of a run, which may use it on any of its threads, one at a time.
pub struct Surroundings<'a> {
    /// The file system.
    pub files: &'a mut dyn Files,
    /// The output of `print`.
    pub out: Box<dyn Write + Send>,
    /// Whether the run must end at once.
    pub interrupted: Box<dyn Fn() -> bool + Send + Sync>,
    /// Called after each steady state with the number of steady states so far.
    pub progress: &'a mut (dyn FnMut(u64) + Send),
}

/// Runs a program to its end. Output files appear if it succeeds; if it is interrupted, they appear under names that say that
/// they are parts.
///
/// # Errors
/// The run ended early.
pub fn interpret(
    compiled: &Arc<Compiled>,
    options: Options,
    around: Surroundings<'_>,
) -> Result<Outcome, Stop> {
    interpret_within(compiled, options, RunLimits::default(), around)
}

/// Runs a program within limits.
///
/// # Errors
/// The run ended early.
pub fn interpret_within(
    compiled: &Arc<Compiled>,
    options: Options,
    limits: RunLimits,
    around: Surroundings<'_>,
) -> Result<Outcome, Stop> {
    interpret_measured(compiled, options, limits, around).0
}

/// As [`interpret_within`]; also returns the most bytes that the queues between regions have held at once, the items that
/// a firing has popped included until it ends or waits. A budget ([`RunLimits::bytes`]) below that fails.
pub fn interpret_measured(
    compiled: &Arc<Compiled>,
    options: Options,
    limits: RunLimits,
    around: Surroundings<'_>,
) -> (Result<Outcome, Stop>, u64) {
    let Surroundings { files, out, interrupted, progress } = around;
    match World::new(compiled.clone(), (options, limits), files, out, interrupted) {
        Err(stop) => (Err(stop), 0),
        Ok(world) => {
            let world = Rc::new(world);
            (run(&world, options, progress), world.room.peak())
        }
    }
}

fn run(world: &Rc<World>, options: Options, progress: &mut (dyn FnMut(u64) + Send)) -> Result<Outcome, Stop> {
    let compiled = &world.compiled;
    world.print(&compiled.tree.printed).map_err(Stop::Output)?;
    // An interrupt within a firing ends the run like one between firings.
    let iterations = match drive::drive(world, options, progress) {
        Err(Stop::Interrupted) => 0,
        // A failure after an interruption may follow from a write that it has ended.
        Err(_) if world.interrupted() => 0,
        done => done?,
    };
    let interrupted = world.interrupted();
    world.finish(interrupted)?;
    if interrupted {
        return Err(Stop::Interrupted);
    }
    let firings = world.firings.iter().map(std::cell::Cell::get).sum();
    Ok(Outcome { iterations, firings })
}

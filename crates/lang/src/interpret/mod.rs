//! The interpreter: what programs mean.
//!
//! **Meaning.** Each filter is a sequential process that executes its work again and again; channels
//! are queues without bounds; splitters and joiners move items as their weights say. What a firing does
//! not take of a static rate is dropped when it ends; giving fewer items than such a rate says, or more of
//! either, is an error. A firing of a static
//! rate begins when its whole window is there, one of a dynamic rate when at least one item is, and waits
//! in its middle for more. (One that has fired 65536 times in a row without moving an item, though some
//! wait for it, would do so for ever, and is over.) So what comes through each channel is a function of the program and its input.
//!
//! **Order** shows where several filters print. A program of static rates runs its initialisation
//! schedule once, and then steady states one after the other, each with the phases of its schedule in
//! order ([`schedule`](crate::schedule)). With dynamic rates there are several regions: those that take
//! from no other run a steady state in turn, and after each round the others, in data-flow order, run as
//! many steady states as there are items for, the last one perhaps in part. Programs that send messages
//! against the stream fire in demand order: an end of the graph fires, and before it whatever it lacks
//! items from, and so on; of several ends each has its steady state's share in turn.
//!
//! **Loops** of dynamic rates that can never go on are an error ([`deadlock()`]), which is told after the round in
//! which they no more can.
//!
//! **Length.** `iterations` counts steady states after the initialisation; with dynamic rates, those
//! of the regions that take from no other. A file that ends is the end of its reader's stream: what
//! can still fire does, and the program is over.
//!
//! **Messages** (Thies et al., "Teleport messaging for distributed stream programs", PPoPP 2005). Let
//! `wave(m)` be how often the one upstream must have fired for the one downstream to fire `m` times. A
//! message that is sent in firing `n`, of latency `l`, is handled downstream before the first firing `m`
//! with `wave(m) >= n + l`, and upstream after firing `wave(n + l)` (where the sign of a latency is
//! of no account). One that comes too late for that is an error.

mod deadlock;
mod drive;
mod fire;
mod host;
mod room;
mod suspend;
mod world;

pub use deadlock::{Lack, deadlock, may_be_stuck};
pub use host::{counted, counted_were};
pub use room::{BUDGET, over_budget};

use crate::Compiled;
use crate::diagnostic::Diagnostic;
use crate::files::Files;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use world::World;

/// How a program is run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Steady states; to the end of the input where there is no number.
    pub iterations: Option<u64>,
    /// Files that are read begin again when they end.
    pub repeat_input: bool,
}

/// How much a run may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Within {
    /// Statements, and turns of loops, of each firing.
    pub steps: u64,
    /// Bytes that queues between regions may take together.
    pub bytes: u64,
}

/// Steps without bounds, and a gigabyte.
impl Default for Within {
    fn default() -> Within {
        Within { steps: u64::MAX, bytes: BUDGET }
    }
}

/// Why a run ended before its time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The program does what cannot be done.
    Fault(Box<Diagnostic>),
    /// What it prints cannot be written.
    Output(String),
    /// Somebody asked for it.
    Interrupted,
}

/// What a run came to.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Outcome {
    /// Steady states after the initialisation.
    pub iterations: u64,
    /// Firings of filters, splitters and joiners.
    pub firings: u64,
}

/// What a run has around it.
pub struct Surroundings<'a> {
    /// Where files are.
    pub files: &'a mut dyn Files,
    /// Where prints go.
    pub out: Box<dyn Write>,
    /// Whether the run is to end at once.
    pub interrupted: Box<dyn Fn() -> bool>,
    /// Called after each steady state with their number.
    pub progress: &'a mut dyn FnMut(u64),
}

/// Runs a program to its end. What it has written to files appears when it ends well, or is interrupted.
///
/// # Errors
/// It ends before its time.
pub fn interpret(
    compiled: &Arc<Compiled>,
    options: Options,
    around: Surroundings<'_>,
) -> Result<Outcome, Stop> {
    interpret_within(compiled, options, Within::default(), around)
}

/// Runs a program that may do so much, and fails when it would do more.
///
/// # Errors
/// It ends before its time.
pub fn interpret_within(
    compiled: &Arc<Compiled>,
    options: Options,
    within: Within,
    around: Surroundings<'_>,
) -> Result<Outcome, Stop> {
    let world =
        World::new(compiled.clone(), (options, within), around.files, around.out, around.interrupted)?;
    let world = Rc::new(world);
    world.print(&compiled.tree.printed).map_err(Stop::Output)?;
    // What is stopped in the middle of a firing ends like what is stopped between two.
    let iterations = match drive::drive(&world, options, around.progress) {
        Err(Stop::Interrupted) => 0,
        done => done?,
    };
    world.finish()?;
    if world.interrupted() {
        return Err(Stop::Interrupted);
    }
    let firings = world.firings.iter().map(std::cell::Cell::get).sum();
    Ok(Outcome { iterations, firings })
}

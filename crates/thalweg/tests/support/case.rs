//! A random graph with the options it runs under, and what the sinks got.

use super::build::{Shared, build};
use super::inject::{Fault, Inject, Noise};
use super::item::{Item, Ledger};
use super::spec::{MOST_SOURCES, Spec, spec};
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use thalweg::{BuildError, Error, Finished, Handle, Options, Report, Stream};

/// How a graph is run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Way {
    /// Workers.
    pub threads: usize,
    /// Policy, by its place among the names.
    pub policy: usize,
    /// Items in every channel that says nothing.
    pub capacity: Option<usize>,
    /// Firings in a claim.
    pub run: Option<usize>,
    /// Bytes that all channels may hold.
    pub budget: Option<usize>,
    /// Of the policy's random choices and of the noise.
    pub seed: u64,
    /// What disturbs the firings.
    pub noise: Noise,
    /// The last stream is read by the test's own thread.
    pub outlet: bool,
}

impl Way {
    /// As the engine takes it.
    pub fn options(&self) -> Options {
        let names: Vec<&str> = thalweg::policy::registry::names().collect();
        let options =
            Options::new().threads(self.threads).policy(names[self.policy % names.len()]).seed(self.seed);
        let options = self.capacity.into_iter().fold(options, Options::capacity);
        let options = self.run.into_iter().fold(options, Options::run_length);
        self.budget.into_iter().fold(options, Options::budget)
    }
}

/// Any way to run: few threads more often than many, tiny channels as often as not.
pub fn way() -> impl Strategy<Value = Way> {
    let threads = prop_oneof![3 => 1..=2usize, 2 => 3..=4usize, 1 => 5..=16usize];
    let capacity = prop_oneof![2 => Just(None), 3 => (1..=3usize).prop_map(Some)];
    let run = prop_oneof![2 => Just(None), 1 => (1..=3usize).prop_map(Some)];
    let noise = prop_oneof![Just(Noise::Quiet), Just(Noise::Yields), Just(Noise::Slow)];
    let budget = prop_oneof![3 => Just(None), 1 => (1000..20_000usize).prop_map(Some)];
    let sizes = (threads, capacity, run, budget);
    (sizes, 0..100usize, any::<u64>(), noise, any::<bool>()).prop_map(
        |((threads, capacity, run, budget), policy, seed, noise, outlet)| Way {
            threads,
            policy,
            capacity,
            run,
            budget,
            seed,
            noise,
            outlet,
        },
    )
}

/// A graph and how it is run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The graph.
    pub spec: Spec,
    /// How it is run.
    pub way: Way,
}

/// Any graph, run in any way.
pub fn case() -> impl Strategy<Value = Case> {
    (spec(), way()).prop_map(|(spec, way)| Case { spec, way })
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// What each sink got, in the order of [`Spec::wire`].
    pub got: Vec<Vec<u64>>,
    /// How it ended.
    pub end: Result<Report, Error>,
    /// Whether the planted fault has happened.
    pub failed: bool,
    /// Items that each source gave.
    pub given: [u64; MOST_SOURCES],
    /// Items that were made and never dropped.
    pub lost: i64,
}

impl Outcome {
    /// The run ended because the graph needed more room than its budget had.
    pub fn is_over_budget(&self) -> bool {
        matches!(&self.end, Err(Error::Deadlock(deadlock)) if deadlock.over_budget.is_some())
    }
}

/// How the test's own thread leaves its outlet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leave {
    /// It drops it after so many items, which cancels the run.
    Drop(usize),
    /// It takes so many items and then waits for the end of the run.
    Finish(usize),
}

impl Leave {
    fn after(self) -> usize {
        match self {
            Leave::Drop(items) | Leave::Finish(items) => items,
        }
    }
}

/// What happens to a run from outside.
#[derive(Clone, Copy, Default, Debug)]
pub struct Fate {
    /// A firing that fails.
    pub fault: Option<Fault>,
    /// Called with the handle, on a thread of its own.
    pub meddle: Option<fn(Handle, u64)>,
    /// How the outlet is left, if there is one.
    pub leave: Option<Leave>,
    /// A sink, and the number of items after which it ends, at least one.
    pub depart: Option<(usize, usize)>,
    /// The number of drops of items after which one panics.
    pub fuse: Option<u32>,
}

type Received = Arc<Mutex<Vec<u64>>>;

fn sink<T: Item>(i: usize, stream: Stream<'static, T>, shared: &Shared, most: usize) -> Received {
    let got: Received = Arc::default();
    let (to, inject) = (got.clone(), shared.inject.clone());
    // Numbered away from all that faults are planted in.
    stream
        .for_each(move |item: T| -> Result<ControlFlow<()>, String> {
            inject.fire(usize::MAX)?;
            let mut got = to.lock().unwrap_or_else(PoisonError::into_inner);
            got.push(item.value());
            Ok(if got.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })
        .named(&format!("sink{i}"));
    got
}

/// Builds the graph and runs it; everything it is made of is gone when this returns.
pub fn run<T: Item>(case: &Case, fate: Fate, options: &Options) -> Outcome {
    match try_run::<T>(case, fate, options, case.spec.declare) {
        // Static rates that do not add up: a matter for the checker's tests. Without them it runs.
        Err(_) if case.spec.declare => {
            try_run::<T>(case, fate, options, false).expect("nothing static is left to be wrong")
        }
        Err(refused) => panic!("refused: {refused}"),
        Ok(outcome) => outcome,
    }
}

fn try_run<T: Item>(
    case: &Case,
    fate: Fate,
    options: &Options,
    declare: bool,
) -> Result<Outcome, BuildError> {
    let ledger = Ledger::new();
    let inject = Arc::new(Inject::new(case.way.seed, case.way.noise, fate.fault));
    let shared = Shared { inject: inject.clone(), ledger: ledger.clone() };
    let (graph, mut streams) = build::<T>(&case.spec, &shared, declare);
    let last = if case.way.outlet { streams.pop() } else { None };
    let mut got = Vec::new();
    for (i, stream) in streams.into_iter().enumerate() {
        let most = fate.depart.filter(|(sink, _)| *sink == i).map_or(usize::MAX, |(_, after)| after);
        got.push(sink(i, stream, &shared, most));
    }
    drop(shared);
    let end = match last {
        Some(stream) => {
            let (items, end) = read(stream, options, fate, case.way.seed);
            got.push(Arc::new(Mutex::new(items)));
            end
        }
        None => graph.build().map_err(Error::from).and_then(|network| {
            let prepared = network.prepare(options)?;
            let meddler = meddle(prepared.handle(), fate, case.way.seed);
            fate.fuse.inspect(|drops| ledger.arm(*drops));
            let end = prepared.run().map(Finished::into_report);
            join(meddler);
            end
        }),
    };
    if let Err(Error::Build(refused)) = end {
        return Err(refused);
    }
    let got = got.iter().map(|got| got.lock().unwrap_or_else(PoisonError::into_inner).clone()).collect();
    Ok(Outcome { got, end, failed: inject.has_failed(), given: inject.given(), lost: ledger.live() })
}

/// Reads the last stream on this thread.
fn read<T: Item>(
    stream: Stream<'static, T>,
    options: &Options,
    fate: Fate,
    seed: u64,
) -> (Vec<u64>, Result<Report, Error>) {
    let mut items = Vec::new();
    let mut outlet = match stream.start(options) {
        Ok(outlet) => outlet,
        Err(error) => return (items, Err(error)),
    };
    let meddler = meddle(outlet.handle(), fate, seed);
    let most = fate.leave.map_or(usize::MAX, Leave::after);
    items.extend(outlet.by_ref().take(most).map(|item| item.value()));
    let end = match fate.leave {
        Some(Leave::Drop(_)) => {
            drop(outlet);
            Err(Error::Cancelled)
        }
        _ => outlet.finish().map(Finished::into_report),
    };
    join(meddler);
    (items, end)
}

type Meddler = Option<std::thread::JoinHandle<()>>;

fn meddle(handle: Handle, fate: Fate, seed: u64) -> Meddler {
    fate.meddle.map(|meddle| std::thread::spawn(move || meddle(handle, seed)))
}

fn join(meddler: Meddler) {
    if let Some(meddler) = meddler {
        meddler.join().expect("meddling does not fail");
    }
}

//! A random graph, the options and disturbances of its run, and the items that its sinks receive.

use super::build::{Shared, build};
use super::inject::{Fault, Inject, Noise};
use super::item::{Item, Ledger};
use super::spec::{Groups, MOST_SOURCES, Sink, Spec, spec};
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use thalweg::error::BuildError;
use thalweg::{Error, Handle, Options, Output, Report, Run, Stream};

/// The configuration of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunConfig {
    /// The number of workers.
    pub threads: usize,
    /// The index of the policy's name in the registry.
    pub policy: usize,
    /// The capacity of every channel without a capacity of its own.
    pub capacity: Option<usize>,
    /// Firings in a claim.
    pub run: Option<usize>,
    /// The byte budget of all channels together.
    pub budget: Option<usize>,
    /// Whether firings wait for their tickets.
    pub waits: bool,
    /// The seed of the policy's random choices and of the noise.
    pub seed: u64,
    /// The noise in the firings.
    pub noise: Noise,
    /// Whether the test's own thread reads the last stream.
    pub outlet: bool,
}

impl RunConfig {
    /// The same configuration as the engine's options.
    pub fn options(&self) -> Options {
        let names: Vec<&str> = thalweg::embed::policy::registry::names().collect();
        let options =
            Options::new().threads(self.threads).policy(names[self.policy % names.len()]).seed(self.seed);
        let options = self.capacity.into_iter().fold(options, Options::capacity);
        let options = self.run.into_iter().fold(options, Options::claim_length);
        let options = if self.waits { options.wait_for_tickets() } else { options };
        self.budget.into_iter().fold(options, Options::budget)
    }
}

/// Any configuration: few threads more often than many, tiny channels in half of the cases.
pub fn config() -> impl Strategy<Value = RunConfig> {
    let threads = prop_oneof![3 => 1..=2usize, 2 => 3..=4usize, 1 => 5..=16usize];
    let capacity = prop_oneof![2 => Just(None), 3 => (1..=3usize).prop_map(Some)];
    let run = prop_oneof![2 => Just(None), 1 => (1..=3usize).prop_map(Some)];
    let noise = prop_oneof![Just(Noise::Quiet), Just(Noise::Yields), Just(Noise::Slow)];
    let budget = prop_oneof![3 => Just(None), 1 => (1000..20_000usize).prop_map(Some)];
    let waits = prop_oneof![2 => Just(false), 1 => Just(true)];
    let sizes = (threads, capacity, run, budget, waits);
    (sizes, 0..100usize, any::<u64>(), noise, any::<bool>()).prop_map(
        |((threads, capacity, run, budget, waits), policy, seed, noise, outlet)| RunConfig {
            threads,
            policy,
            capacity,
            run,
            budget,
            waits,
            seed,
            noise,
            outlet,
        },
    )
}

/// A graph and the configuration of its run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The graph.
    pub spec: Spec,
    /// The configuration.
    pub config: RunConfig,
}

/// Any graph with any configuration.
pub fn case() -> impl Strategy<Value = Case> {
    (spec(), config()).prop_map(|(spec, config)| Case { spec, config })
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The items that each sink received, in the order of [`Spec::wire`].
    pub got: Vec<Vec<u64>>,
    /// The groups of the first sink's items, if the run has a sink and keys and has not failed.
    pub groups: Option<Groups>,
    /// The report or the error of the run.
    pub end: Result<Report, Error>,
    /// Whether the injected fault occurred.
    pub failed: bool,
    /// The number of items that each source pushed.
    pub pushed: [u64; MOST_SOURCES],
    /// Items created minus items dropped.
    pub lost: i64,
}

impl Outcome {
    /// Whether the run failed because the graph needed more bytes than its budget, or a fork-join more than its share.
    pub fn is_over_budget(&self) -> bool {
        match &self.end {
            Err(Error::Deadlock(deadlock)) => deadlock.over_budget().is_some(),
            Err(Error::Node { node, cause }) => {
                node.ends_with(".gate") && cause.to_string().starts_with("the unfinished parts of item ")
            }
            _ => false,
        }
    }
}

/// How the test's own thread stops reading its outlet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leave {
    /// It drops the outlet after this number of items, which cancels the run.
    Drop(usize),
    /// It reads this number of items and then waits for the end of the run.
    Finish(usize),
}

impl Leave {
    fn after(self) -> usize {
        match self {
            Leave::Drop(items) | Leave::Finish(items) => items,
        }
    }
}

/// Faults and interventions during a run.
#[derive(Clone, Copy, Default, Debug)]
pub struct Disturbance {
    /// A firing that fails.
    pub fault: Option<Fault>,
    /// A function that is called with the run's handle and the seed, on a thread of its own.
    pub interfere: Option<fn(Handle, u64)>,
    /// How the test stops reading the outlet, if there is one.
    pub leave: Option<Leave>,
    /// A sink, and the number of items after which it returns `Break`, at least one.
    pub break_after: Option<(usize, usize)>,
    /// The number of item drops after which one drop panics.
    pub fuse: Option<u32>,
}

type Received = Arc<Mutex<Vec<u64>>>;

/// The output of a sink that collects, and what its items are to be added to.
type Collected<T> = (Received, Output<'static, Vec<T>>);

/// Adds the sink `i`, which ends after `most` items if it can.
fn sink<T: Item>(
    (i, by): (usize, Sink),
    stream: Stream<'static, T>,
    shared: &Shared,
    most: usize,
) -> (Received, Option<Collected<T>>) {
    let got: Received = Arc::default();
    let (to, inject) = (got.clone(), shared.inject.clone());
    let receive = move |item: T| -> Result<ControlFlow<()>, String> {
        inject.fire(usize::MAX)?; // a number that no fault is injected under
        let mut got = to.lock().unwrap_or_else(PoisonError::into_inner);
        got.push(item.value());
        Ok(if got.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    };
    let name = format!("sink{i}");
    match by {
        Sink::ForEach => _ = stream.for_each(receive).named(&name),
        Sink::ForEachWith => _ = stream.for_each_with((), move |(), item| receive(item)).named(&name),
        Sink::Fold => {
            let count = move |count, item| receive(item).map_or(count, |_| count + 1);
            _ = stream.fold(0, count).named(&name);
        }
        Sink::TryFold => {
            let count = move |count, item| receive(item).map(|_| count + 1);
            _ = stream.try_fold(0, count).named(&name);
        }
        Sink::Collect => {
            let items = stream.collect().named(&name);
            return (got.clone(), Some((got, items)));
        }
    }
    (got, None)
}

/// Groups of items, by key.
type Grouped<T> = Vec<(u64, Vec<T>)>;

/// Sends the items of a stream to a sink `fold_by_key` too, whose values own the items.
fn group<T: Item>(
    stream: Stream<'static, T>,
    shared: &Shared,
    keys: u64,
) -> (Stream<'static, T>, Output<'static, Grouped<T>>) {
    let (stream, grouped) = stream.tee();
    let inject = shared.inject.clone();
    let groups = grouped.fold_by_key(
        move |item: &T| item.value() % keys,
        Vec::new,
        move |mut group: Vec<T>, item| {
            // A number that no fault is injected under.
            _ = inject.fire(usize::MAX);
            group.push(item);
            group
        },
    );
    (stream, groups)
}

/// The values of the items in groups.
fn values<T: Item>(groups: Grouped<T>) -> Groups {
    groups.into_iter().map(|(key, group)| (key, group.iter().map(T::value).collect())).collect()
}

/// Builds the graph and runs it. All of its nodes and items are dropped before this returns.
pub fn run<T: Item>(case: &Case, disturbance: Disturbance, options: &Options) -> Outcome {
    match try_run::<T>(case, disturbance, options, case.spec.declare) {
        // The declared rates are inconsistent, which the checker's own tests cover. Without declarations the
        // graph runs.
        Err(_) if case.spec.declare => try_run::<T>(case, disturbance, options, false)
            .expect("a graph without declared rates is accepted"),
        Err(refused) => panic!("refused: {refused}"),
        Ok(outcome) => outcome,
    }
}

fn try_run<T: Item>(
    case: &Case,
    disturbance: Disturbance,
    options: &Options,
    declare: bool,
) -> Result<Outcome, BuildError> {
    let ledger = Ledger::new();
    let inject = Arc::new(Inject::new(case.config.seed, case.config.noise, disturbance.fault));
    let shared = Shared { inject: inject.clone(), ledger: ledger.clone() };
    let (graph, mut streams) = build::<T>(&case.spec, &shared, declare);
    let last = if case.config.outlet { streams.pop() } else { None };
    let keys = case.spec.keys.filter(|_| !streams.is_empty());
    let grouped = keys.map(|keys| {
        let (stream, groups) = group(streams.remove(0), &shared, keys);
        streams.insert(0, stream);
        groups
    });
    let (mut got, mut collected) = (Vec::new(), Vec::new());
    for (i, stream) in streams.into_iter().enumerate() {
        let after = disturbance.break_after.filter(|(sink, _)| *sink == i).map(|(_, after)| after);
        let by = case.spec.sink(i);
        let by = if after.is_some() && !by.can_break() { Sink::ForEach } else { by };
        let (received, items) = sink((i, by), stream, &shared, after.unwrap_or(usize::MAX));
        got.push(received);
        collected.extend(items);
    }
    drop(shared);
    // Takes the groups and the collected items out of the result of a run.
    let mut groups = None;
    let into_report = |run: Run| {
        let has = "a run that has not failed has its outputs";
        groups = grouped.map(|grouped| values(run.take(grouped).expect(has)));
        for (to, items) in collected {
            let items = run.take(items).expect(has);
            to.lock().unwrap_or_else(PoisonError::into_inner).extend(items.iter().map(T::value));
        }
        run.into_report()
    };
    let end = match last {
        Some(stream) => {
            let (items, end) = read(stream, options, disturbance, case.config.seed, into_report);
            got.push(Arc::new(Mutex::new(items)));
            end
        }
        None => graph.build().map_err(Error::from).and_then(|network| {
            let prepared = network.prepare(options)?;
            let interference = interfere(prepared.handle(), disturbance, case.config.seed);
            disturbance.fuse.inspect(|drops| ledger.panic_after(*drops));
            let end = prepared.run();
            // From here on items are dropped by the test, with its outputs, and not in the run.
            ledger.panic_after(u32::MAX);
            let end = end.map(into_report);
            join(interference);
            end.map_err(Error::from)
        }),
    };
    if let Err(Error::Build(refused)) = end {
        return Err(refused);
    }
    let got = got.iter().map(|got| got.lock().unwrap_or_else(PoisonError::into_inner).clone()).collect();
    let lost = match disturbance.leave {
        Some(Leave::Drop(_)) => ledger.live_at_end(),
        _ => ledger.live(),
    };
    Ok(Outcome { got, groups, end, failed: inject.has_failed(), pushed: inject.pushed(), lost })
}

/// Reads the last stream on this thread.
fn read<T: Item>(
    stream: Stream<'static, T>,
    options: &Options,
    disturbance: Disturbance,
    seed: u64,
    into_report: impl FnOnce(Run) -> Report,
) -> (Vec<u64>, Result<Report, Error>) {
    let mut items = Vec::new();
    let mut outlet = match stream.start_with(options) {
        Ok(outlet) => outlet,
        Err(error) => return (items, Err(error)),
    };
    let interference = interfere(outlet.handle(), disturbance, seed);
    let most = disturbance.leave.map_or(usize::MAX, Leave::after);
    items.extend(outlet.by_ref().take(most).map(|item| item.value()));
    let end = match disturbance.leave {
        Some(Leave::Drop(_)) => {
            drop(outlet);
            Err(Error::Cancelled)
        }
        _ => outlet.finish().map(into_report).map_err(Error::from),
    };
    join(interference);
    (items, end)
}

type Interference = Option<std::thread::JoinHandle<()>>;

fn interfere(handle: Handle, disturbance: Disturbance, seed: u64) -> Interference {
    disturbance.interfere.map(|interfere| std::thread::spawn(move || interfere(handle, seed)))
}

fn join(interference: Interference) {
    if let Some(interference) = interference {
        interference.join().expect("the interfering thread does not panic");
    }
}

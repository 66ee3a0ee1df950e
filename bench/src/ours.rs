//! The jobs on this engine.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use thalweg::trace::Snapshot;
use thalweg::{
    Error, Graph, Handle, Options, ParallelExt, Report, Run, Rx, Sender, Tx, channel, from_iter, input,
    output,
};

use crate::jobs::{Chain, Farm, Small};
use crate::peers::CAPACITY;
use crate::race::Outcome;
use crate::row::{Row, median_of, once, timed};
use crate::variants::{WINDOW, first_round, outputs, peek, round};
use crate::wait::until;
use crate::work::fold;

/// The limit on items in a loop.
const IN_FLIGHT: usize = 1024;

/// The channel alone: numbers from one thread to another, 64 at a time.
pub fn channel_slices(items: u64) -> Row {
    timed(|| {
        let (mut to, mut from) = channel::<u64>(CAPACITY);
        thread::scope(|scope| {
            scope.spawn(move || (0..items / 64).for_each(|s| send_slice(&mut to, s * 64)));
            let (mut sum, mut seen) = (0u64, 0);
            while seen < items {
                let mut add = |slice: &[u64]| sum = slice.iter().fold(sum, |sum, &x| sum.wrapping_add(x));
                seen += until(|| Some(from.pop_slices(64, &mut add)).filter(|&count| count > 0)) as u64;
            }
            sum
        })
    })
}

/// Sends a whole slice or nothing, as the bare ring does.
fn send_slice(to: &mut Sender<u64>, start: u64) {
    until(|| (to.room_for(64) == 64).then(|| to.push_iter((0..64u32).map(|i| start + u64::from(i)))));
}

/// The channel alone: numbers from one thread to another, one at a time.
pub fn channel_items(items: u64) -> Row {
    timed(|| {
        let (mut to, mut from) = channel::<u64>(CAPACITY);
        thread::scope(|scope| {
            scope.spawn(move || (0..items).for_each(|i| until(|| to.push(i).ok())));
            (0..items).fold(0, |sum: u64, _| sum.wrapping_add(until(|| from.pop())))
        })
    })
}

/// A chain of serial in-order stages, with pinned workers, as the threads of the perfect split are.
pub fn chain(job: &Chain) -> Outcome {
    chain_with(job, &pinned(job.threads))
}

/// The chain with unpinned workers.
pub fn chain_unpinned(job: &Chain) -> Outcome {
    chain_with(job, &Options::new().threads(job.threads))
}

/// The chain with activations of four firings each, so that the cost of an activation shows.
pub fn chain_by_fours(job: &Chain) -> Outcome {
    chain_with(job, &pinned(job.threads).repeatable().claim_length(1))
}

/// The chain with activations of four firings each, and a timeline of the latest 65,536 events.
pub fn chain_by_fours_recorded(job: &Chain) -> Outcome {
    chain_with(job, &pinned(job.threads).repeatable().claim_length(1).timeline(1 << 16))
}

/// The chain with activations of four firings each, without time stamps.
pub fn chain_by_fours_unstamped(job: &Chain) -> Outcome {
    chain_with(job, &pinned(job.threads).untimed().claim_length(1))
}

/// [`chain_by_fours`] while another thread takes a snapshot at its start and then four times a second.
pub fn chain_by_fours_watched(job: &Chain) -> Outcome {
    let (started, runs) = mpsc::channel::<Handle>();
    let watcher = thread::spawn(move || {
        let Ok(run) = runs.recv() else { return };
        let mut last = None;
        while let Some(now) = run.snapshot() {
            last.replace(now.clone()).map(|last: Snapshot| black_box(now.since(&last)));
            // The channel is closed when the run is over.
            if matches!(runs.recv_timeout(Duration::from_millis(250)), Err(RecvTimeoutError::Disconnected)) {
                return;
            }
        }
    });
    let options = pinned(job.threads).repeatable().claim_length(1);
    let options = options.on_start(move |run| _ = started.send(run.clone()));
    let outcome = chain_with(job, &options);
    drop(options);
    watcher.join().map_err(|_| "the watcher panicked".to_owned())?;
    outcome
}

/// The time of a snapshot of a chain of processes that is about to run.
pub fn snapshots(nodes: u64) -> Outcome {
    let graph = Graph::new();
    let mut stream = graph.process("first", (), output("out"), |(), mut out: Tx<u64>| async move {
        out.send(1).await;
    });
    for _ in 2..nodes {
        stream = graph.process("next", input("in", stream), output("out"), pass);
    }
    stream.for_each(drop);
    let (to, from) = mpsc::channel();
    let times = (10_000 / nodes).max(5);
    let options = Options::new().threads(1).on_start(move |run| {
        let time = || {
            let began = Instant::now();
            let seen = run.snapshot().map_or(0, |snapshot| snapshot.nodes().len());
            (began.elapsed(), seen as u64)
        };
        _ = to.send(median_of(times, time));
        run.cancel();
    });
    _ = graph.run_with(&options);
    from.try_recv().map(Some).map_err(|error| error.to_string())
}

/// Passes all items on.
async fn pass(mut from: Rx<u64>, mut to: Tx<u64>) {
    while let Some(item) = from.recv().await {
        to.send(item).await;
    }
}

/// The chain with these options.
pub fn chain_with(job: &Chain, options: &Options) -> Outcome {
    let (work, items) = (job.work, job.items);
    run(options, |options| {
        let mut stage = work.stage();
        let mut chain = from_iter((0..items).map(move |i| stage.run(i)));
        for _ in 0..job.stages - 2 {
            chain = chain.map(move |x| stage.run(x));
        }
        chain
            .fold(0, move |sum, x| fold(sum, stage.run(x)))
            .run_with(options)
            .map(Run::into_parts)
            .map_err(Error::from)
    })
}

/// The ordered farm.
pub fn farm(job: &Farm) -> Outcome {
    farm_with(job, &pinned(job.threads))
}

/// The ordered farm with unpinned workers.
pub fn farm_unpinned(job: &Farm) -> Outcome {
    farm_with(job, &Options::new().threads(job.threads))
}

/// The ordered farm with these options.
pub fn farm_with(job: &Farm, options: &Options) -> Outcome {
    let work = &*job.work;
    run(options, |options| {
        from_iter(0..job.items)
            .par_map(|i| work.run(i))
            .fold(0, fold)
            .run_with(options)
            .map(Run::into_parts)
            .map_err(Error::from)
    })
}

/// The ordered farm as an iterator adaptor: the caller reads the results, and the iterator has a thread of its own.
pub fn farm_adaptor(job: &Farm) -> Outcome {
    let (work, options) = (job.work.clone(), Options::new().threads(job.threads));
    Ok(Some(timed(|| (0..job.items).par_map(move |i| work.run(i)).options(options).fold(0, fold))))
}

/// A short farm as a chain: the time from the built graph to the report.
pub fn small_chain(job: &Small) -> Outcome {
    small_chains(job, job.farm.threads, |built, run| run - built)
}

/// A short farm as a chain on one thread: the time from the built graph to the report.
pub fn small_chain_alone(job: &Small) -> Outcome {
    small_chains(job, 1, |built, run| run - built)
}

/// A short farm as a chain: the time of building the graph and of its run.
pub fn small_chain_built(job: &Small) -> Outcome {
    small_chains(job, job.farm.threads, |_, run| run)
}

/// Runs a short farm as a chain many times. `count` computes the time that counts from two times since the start: when
/// the graph is built and when its run has ended.
fn small_chains(job: &Small, threads: usize, count: impl Fn(Duration, Duration) -> Duration) -> Outcome {
    let (work, options, mut outcome) = (&*job.farm.work, Options::new().threads(threads), Ok(()));
    let row = median_of(job.jobs, || {
        let start = Instant::now();
        let sum = from_iter(0..job.farm.items).par_map(|i| work.run(i)).fold(0, fold);
        let built = sum.graph().build();
        let before = start.elapsed();
        let ran = built.map_err(Error::from).and_then(|graph| graph.run_with(&options).map_err(Error::from));
        let time = count(before, start.elapsed());
        let sum = ran.and_then(|run| run.take(sum)).map_err(|error| outcome = Err(error.to_string()));
        (time, sum.unwrap_or_default())
    });
    outcome.map(|()| Some(row))
}

/// A short farm as an iterator adaptor, from its creation to its end.
pub fn small_adaptor(job: &Small) -> Outcome {
    small_adaptors(job, &Options::new())
}

/// A short farm as an iterator adaptor with long channels, so that source and caller sleep less often.
pub fn small_adaptor_long_channels(job: &Small) -> Outcome {
    small_adaptors(job, &Options::new().capacity(1 << 14))
}

fn small_adaptors(job: &Small, options: &Options) -> Outcome {
    let options = options.clone().threads(job.farm.threads);
    Ok(Some(median_of(job.jobs, || {
        let work = job.farm.work.clone();
        once(|| {
            let results = (0..job.farm.items).par_map(move |i| work.run(i));
            results.options(options.clone()).fold(0, fold)
        })
    })))
}

/// The time to drop an adaptor after the first of many items.
pub fn small_drop(job: &Small) -> Outcome {
    let options = Options::new().threads(job.farm.threads);
    Ok(Some(median_of(job.jobs, || {
        let work = job.farm.work.clone();
        let mut results = (0..u64::MAX).par_map(move |i| work.run(i)).options(options.clone());
        let first = results.next().unwrap_or_default();
        (once(|| drop_all(results)).0, first)
    })))
}

fn drop_all(results: impl Iterator) -> u64 {
    drop(results);
    0
}

/// The farm with 0 to 3 outputs per item; see [`crate::variants::outputs`].
pub fn farm_outputs(job: &Farm) -> Outcome {
    let work = &*job.work;
    run(&pinned(job.threads), |options| {
        from_iter(0..job.items)
            .par_flat_map(|i| outputs(work, i))
            .fold(0, fold)
            .run_with(options)
            .map(Run::into_parts)
            .map_err(Error::from)
    })
}

/// The farm as a loop in which each item makes 1 to 3 rounds; see [`crate::variants::rounds`].
pub fn farm_rounds(job: &Farm) -> Outcome {
    let work = &*job.work;
    run(&pinned(job.threads), |options| {
        let once = |item| match round(work, item) {
            done if done.left == 0 => ControlFlow::Break(done.value),
            item => ControlFlow::Continue(item),
        };
        from_iter((0..job.items).map(first_round))
            .par_iterate(IN_FLIGHT, once)
            .fold(0, fold)
            .run_with(options)
            .map(Run::into_parts)
            .map_err(Error::from)
    })
}

/// The farm with a parallel stage that peeks a window of 64 items; see [`crate::variants::peek`].
pub fn farm_peek(job: &Farm) -> Outcome {
    let work = &*job.work;
    run(&pinned(job.threads), |options| {
        from_iter(0..job.items)
            .par_windows(WINDOW as u32, 1, |window| peek(work, window.as_slice()))
            .fold(0, fold)
            .run_with(options)
            .map(Run::into_parts)
            .map_err(Error::from)
    })
}

/// A run in which the source waits for `seconds` before its only item.
pub fn idle(seconds: f64, threads: usize) -> Outcome {
    run(&Options::new().threads(threads), |options| {
        from_iter(std::iter::once_with(move || thread::sleep(Duration::from_secs_f64(seconds))))
            .blocking()
            .fold(0, |_, ()| 1)
            .run_with(options)
            .map(Run::into_parts)
            .map_err(Error::from)
    })
}

/// Options with pinned workers.
/// Pinned workers, and activations that end by their firings.
pub fn measured(threads: usize) -> Options {
    pinned(threads).repeatable()
}

/// [`measured`], without time stamps and measurements.
pub fn unmeasured(threads: usize) -> Options {
    pinned(threads).untimed()
}

/// Pinned workers.
pub fn pinned(threads: usize) -> Options {
    Options::new().threads(threads).pinned()
}

/// Times building a graph and running it to its end; `body` returns the checksum.
pub fn run(options: &Options, body: impl FnOnce(&Options) -> Result<(u64, Report), Error>) -> Outcome {
    let mut outcome = Ok(());
    let row = timed(|| match body(options) {
        Ok((sum, _report)) => sum,
        Err(error) => {
            outcome = Err(error.to_string());
            0
        }
    });
    outcome.map(|()| Some(row))
}

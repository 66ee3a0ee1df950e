//! The jobs on this engine.

use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use thalweg::{Error, Options, ParallelExt, Sender, channel, from_blocking_iter, from_iter};

use crate::jobs::{Chain, Farm, Small};
use crate::peers::CAPACITY;
use crate::race::Outcome;
use crate::row::{Row, median_of, once, timed};
use crate::variants::{WINDOW, first_round, outputs, peek, round};
use crate::wait::until;
use crate::work::fold;

/// Items that may be on their way round at once.
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

/// A chain of serial in-order stages, its workers pinned as the perfect split's threads are.
pub fn chain(job: &Chain) -> Outcome {
    chain_with(job, &pinned(job.threads))
}

/// The same with workers that the system places.
pub fn chain_unpinned(job: &Chain) -> Outcome {
    chain_with(job, &Options::new().threads(job.threads))
}

/// The same with activations of four firings, by count, so that what each costs shows.
pub fn chain_by_fours(job: &Chain) -> Outcome {
    chain_with(job, &pinned(job.threads).counted().run_length(1))
}

/// The same without a time stamp for each activation.
pub fn chain_by_fours_unstamped(job: &Chain) -> Outcome {
    chain_with(job, &pinned(job.threads).unaccounted().run_length(1))
}

fn chain_with(job: &Chain, options: &Options) -> Outcome {
    let (work, items) = (job.work, job.items);
    run(options, |sum, options| {
        let mut stage = work.stage();
        let mut chain = from_iter((0..items).map(move |i| stage.run(i)));
        for _ in 0..job.stages - 2 {
            chain = chain.map(move |x| stage.run(x));
        }
        chain.for_each(move |x| *sum = fold(*sum, stage.run(x))).run(options)
    })
}

/// The ordered farm.
pub fn farm(job: &Farm) -> Outcome {
    farm_with(job, &pinned(job.threads))
}

/// The same with workers that the system places.
pub fn farm_unpinned(job: &Farm) -> Outcome {
    farm_with(job, &Options::new().threads(job.threads))
}

fn farm_with(job: &Farm, options: &Options) -> Outcome {
    let work = &*job.work;
    run(options, |sum, options| {
        from_iter(0..job.items).par_map(|i| work.run(i)).for_each(|x| *sum = fold(*sum, x)).run(options)
    })
}

/// The same as an adaptor of an iterator: the caller takes the results, and the iterator has a
/// thread of its own.
pub fn farm_adaptor(job: &Farm) -> Outcome {
    let work = job.work.clone();
    run(&Options::new().threads(job.threads), |sum, options| {
        let mut results = (0..job.items).par_map(move |i| work.run(i)).options(options.clone());
        results.try_for_each(|x| x.map(|x| *sum = fold(*sum, x)))
    })
}

/// A short farm as a chain: the time from the built graph to the report.
pub fn small_chain(job: &Small) -> Outcome {
    small_chains(job, job.farm.threads, |built, run| run - built)
}

/// The same on one thread.
pub fn small_chain_alone(job: &Small) -> Outcome {
    small_chains(job, 1, |built, run| run - built)
}

/// Its time together with that of building the graph.
pub fn small_chain_built(job: &Small) -> Outcome {
    small_chains(job, job.farm.threads, |_, run| run)
}

/// `count` makes the time that counts of the time until the graph is built and that until its run is over.
fn small_chains(job: &Small, threads: usize, count: impl Fn(Duration, Duration) -> Duration) -> Outcome {
    let (work, options, mut outcome) = (&*job.farm.work, Options::new().threads(threads), Ok(()));
    let row = median_of(job.jobs, || {
        let (start, mut sum) = (Instant::now(), 0);
        let chain = from_iter(0..job.farm.items).par_map(|i| work.run(i));
        let built = chain.for_each(|x| sum = fold(sum, x)).build();
        let before = start.elapsed();
        if let Err(error) = built.and_then(|graph| graph.run(&options)) {
            outcome = Err(error.to_string());
        }
        (count(before, start.elapsed()), sum)
    });
    outcome.map(|()| Some(row))
}

/// A short farm as an adaptor of an iterator, from its making to its end.
pub fn small_adaptor(job: &Small) -> Outcome {
    let (options, mut outcome) = (Options::new().threads(job.farm.threads), Ok(()));
    let row = median_of(job.jobs, || {
        let work = job.farm.work.clone();
        once(|| {
            let (mut sum, results) = (0, (0..job.farm.items).par_map(move |i| work.run(i)));
            for result in results.options(options.clone()) {
                match result {
                    Ok(x) => sum = fold(sum, x),
                    Err(error) => outcome = Err(error.to_string()),
                }
            }
            sum
        })
    });
    outcome.map(|()| Some(row))
}

/// The time to drop an adaptor after its first item, of many.
pub fn small_drop(job: &Small) -> Outcome {
    let options = Options::new().threads(job.farm.threads);
    Ok(Some(median_of(job.jobs, || {
        let work = job.farm.work.clone();
        let mut results = (0..u64::MAX).par_map(move |i| work.run(i)).options(options.clone());
        let first = results.next().and_then(Result::ok).unwrap_or_default();
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
    run(&pinned(job.threads), |sum, options| {
        from_iter(0..job.items)
            .par_flat_map(|i| outputs(work, i))
            .for_each(|x| *sum = fold(*sum, x))
            .run(options)
    })
}

/// The farm where each item goes round 1 to 3 times; see [`crate::variants::rounds`].
pub fn farm_rounds(job: &Farm) -> Outcome {
    let work = &*job.work;
    run(&pinned(job.threads), |sum, options| {
        let once = |item| match round(work, item) {
            done if done.left == 0 => ControlFlow::Break(done.value),
            item => ControlFlow::Continue(item),
        };
        from_iter((0..job.items).map(first_round))
            .par_round(IN_FLIGHT, once)
            .for_each(|x| *sum = fold(*sum, x))
            .run(options)
    })
}

/// The farm whose parallel stage peeks at a window of 64 items; see [`crate::variants::peek`].
pub fn farm_peek(job: &Farm) -> Outcome {
    let work = &*job.work;
    run(&pinned(job.threads), |sum, options| {
        from_iter(0..job.items)
            .par_windows(WINDOW as u32, 1, |window| peek(work, window.as_slice()))
            .for_each(|x| *sum = fold(*sum, x))
            .run(options)
    })
}

/// A run whose source waits for `seconds` before its only item.
pub fn idle(seconds: f64, threads: usize) -> Outcome {
    run(&Options::new().threads(threads), |sum, options| {
        from_blocking_iter(std::iter::once_with(move || thread::sleep(Duration::from_secs_f64(seconds))))
            .for_each(|()| *sum = 1)
            .run(options)
    })
}

/// Workers on cores of their own, as in the perfect split.
fn pinned(threads: usize) -> Options {
    Options::new().threads(threads).pinned()
}

/// Times a run that leaves its checksum behind: building the graph, running it and ending.
fn run<T>(options: &Options, body: impl FnOnce(&mut u64, &Options) -> Result<T, Error>) -> Outcome {
    let (mut sum, mut outcome) = (0, Ok(()));
    let row = timed(|| {
        outcome = body(&mut sum, options).map(drop);
        sum
    });
    outcome.map(|()| Some(row)).map_err(|error| error.to_string())
}

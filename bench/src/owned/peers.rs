//! The jobs on other libraries.

use std::iter::from_fn;
use std::thread::{Scope, scope};

use ::pariter::{IteratorExt, Readahead};
use ::rayon::ThreadPoolBuilder;
use ::rayon::prelude::*;
use crossbeam_channel::{IntoIter, bounded};

use super::jobs::{Upper, capital, length, underscored};
use super::{Job, Size, Sum, source, total};
use crate::peers::CAPACITY;
use crate::peers::crossbeam::ordered;
use crate::row::{Row, confined, timed};

/// The items of a task of `rayon(chunks)`.
const CHUNK: usize = 256;

/// rayon's bridge from an iterator, which has no order: each thread has a sum of its own.
pub fn rayon_bridge<J: Job>(job: J, size: Size) -> Row {
    let add = |mut sum: Sum, (index, item)| {
        sum.next = index;
        job.add(&mut sum, job.map(item));
        sum
    };
    let items = (0..).zip(source(job, size));
    in_pool(size, || items.par_bridge().fold(Sum::default, add).reduce(Sum::default, Sum::merge).checksum())
}

/// All items collected, mapped by rayon in chunks, and added up.
pub fn rayon_chunks<J: Job>(job: J, size: Size) -> Row {
    let map = |chunk: Vec<J::Item>| chunk.into_iter().map(|item| job.map(item)).collect::<Vec<_>>();
    in_pool(size, || {
        let items: Vec<_> = source(job, size).collect();
        let results: Vec<_> = items.into_par_iter().chunks(CHUNK).map(map).collect();
        total(job, results.into_iter().flatten())
    })
}

fn in_pool(size: Size, run: impl FnOnce() -> u64 + Send) -> Row {
    let pool =
        ThreadPoolBuilder::new().num_threads(size.threads).build().expect("the system can start threads");
    timed(|| pool.install(run))
}

/// A thread for the source, `threads` workers, and a window that restores the order, in batches of `batch` items.
pub fn crossbeam<J: Job>(job: J, size: Size, batch: usize) -> Row {
    let map = |item| job.map(item);
    let (items, capacity) = (source(job, size), CAPACITY.div_ceil(batch));
    confined(size.threads, || {
        timed(|| match batch {
            1 => ordered(items, map, size.threads, capacity, |results| total(job, results)),
            _ => {
                let map = |batch: Vec<_>| batch.into_iter().map(map).collect::<Vec<_>>();
                let batches = batches(items, batch);
                ordered(batches, map, size.threads, capacity, |results| total(job, results.flatten()))
            }
        })
    })
}

/// A thread for each stage of `Upper`.
pub fn crossbeam_stages(size: Size, batch: usize) -> Row {
    confined(size.threads, || {
        timed(|| {
            scope(|threads| {
                let lines = source(Upper, size);
                if batch == 1 {
                    let lines = stage(threads, lines, 1).map(capital);
                    let lines = stage(threads, lines, 1).map(underscored);
                    return sum(stage(threads, lines, 1).map(length));
                }
                let lines = stage(threads, batches(lines, batch), batch).map(|lines| each(lines, capital));
                let lines = stage(threads, lines, batch).map(|lines| each(lines, underscored));
                sum(stage(threads, lines, batch).flat_map(|lines| each(lines, length)))
            })
        })
    })
}

/// Starts a thread that sends all items; returns what receives them.
fn stage<'scope, T: Send + 'scope>(
    threads: &'scope Scope<'scope, '_>,
    mut items: impl Iterator<Item = T> + Send + 'scope,
    batch: usize,
) -> IntoIter<T> {
    let (to, from) = bounded(CAPACITY.div_ceil(batch));
    threads.spawn(move || items.all(|item| to.send(item).is_ok()));
    from.into_iter()
}

/// pariter's ordered parallel map.
pub fn pariter<J: Job>(job: J, size: Size) -> Row {
    confined(size.threads, || {
        let map = move |item| job.map(item);
        timed(|| {
            total(
                job,
                source(job, size)
                    .parallel_map_custom(|pariter| pariter.threads(size.threads).buffer_size(64), map),
            )
        })
    })
}

/// A thread of pariter for each stage of `Upper`.
pub fn pariter_stages(size: Size) -> Row {
    confined(size.threads, || {
        timed(|| {
            let lines = ahead(ahead(source(Upper, size)).map(capital));
            sum(ahead(lines.map(underscored)).map(length))
        })
    })
}

/// The same items, made on a thread of their own.
fn ahead<I>(items: I) -> Readahead<I>
where
    I: Iterator<Item: Send> + Send + 'static,
{
    items.readahead_custom(|pariter| pariter.buffer_size(CAPACITY))
}

fn each<T, U>(batch: Vec<T>, map: fn(T) -> U) -> Vec<U> {
    batch.into_iter().map(map).collect()
}

/// The checksum of these values.
fn sum(values: impl Iterator<Item = u64>) -> u64 {
    let mut sum = Sum::default();
    values.for_each(|value| sum.value(value));
    sum.checksum()
}

fn batches<T>(
    mut items: impl Iterator<Item = T> + Send,
    length: usize,
) -> impl Iterator<Item = Vec<T>> + Send {
    from_fn(move || Some(items.by_ref().take(length).collect::<Vec<_>>()).filter(|batch| !batch.is_empty()))
}

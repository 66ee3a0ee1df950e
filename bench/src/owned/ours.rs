//! The jobs on this engine.

use thalweg::{Error, Options, ParallelExt, Rx, Tx, from_iter, input, output};

use super::jobs::{Upper, capital, length, underscored};
use super::{Job, Size, Sum, source, total};
use crate::ours::run;
use crate::race::Outcome;
use crate::row::{Row, timed};

/// The job as a graph, whose source is blocking if `blocks`.
pub fn farm<J: Job>(job: J, size: Size, blocks: bool) -> Outcome {
    run(&options(size), |options| {
        let items = from_iter(source(job, size));
        let results = job.stage(if blocks { items.blocking() } else { items });
        let sum = results.fold(Sum::default(), move |mut sum, result| {
            job.add(&mut sum, result);
            sum
        });
        sum.run_with(options).map(|run| (run.checksum(), run.into_report())).map_err(Error::from)
    })
}

/// The job as an iterator adaptor.
pub fn adaptor<J: Job>(job: J, size: Size) -> Row {
    let map = move |item| job.map(item);
    timed(|| total(job, source(job, size).par_map(map).options(options(size))))
}

/// The job `Upper` as three sequential maps.
pub fn chain(size: Size) -> Outcome {
    run(&options(size), |options| {
        let lengths = from_iter(source(Upper, size)).map(capital).map(underscored).map(length);
        lengths
            .fold(Sum::default(), add)
            .run_with(options)
            .map(|run| (run.checksum(), run.into_report()))
            .map_err(Error::from)
    })
}

/// The job `Upper` as three processes.
pub fn processes(size: Size) -> Outcome {
    run(&options(size), |options| {
        let lines = from_iter(source(Upper, size));
        let graph = lines.graph();
        let capitals =
            graph.process("capital", input("in", lines), output("out"), |from, to| each(from, to, capital));
        let words = graph.process("underscored", input("in", capitals), output("out"), |from, to| {
            each(from, to, underscored)
        });
        let lengths =
            graph.process("length", input("in", words), output("out"), |from, to| each(from, to, length));
        lengths
            .fold(Sum::default(), add)
            .run_with(options)
            .map(|run| (run.checksum(), run.into_report()))
            .map_err(Error::from)
    })
}

async fn each<T: Send, U: Send>(mut from: Rx<T>, mut to: Tx<U>, map: fn(T) -> U) {
    while let Some(item) = from.recv().await {
        to.send(map(item)).await;
    }
}

fn add(mut sum: Sum, value: u64) -> Sum {
    sum.value(value);
    sum
}

fn options(size: Size) -> Options {
    Options::new().threads(size.threads)
}

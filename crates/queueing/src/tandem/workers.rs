//! Threads that work at all stages, with channels of limited capacity.
//!
//! Without waits the threads finish `P / sum of T` items a second. A thread waits where no stage has both input and room. So
//! the model joins two halves by the chain of [`pair`]: upstream, the pipeline with as many threads at each stage as it can
//! use, which passes on what stages and channels allow ([`decompose`](super::decompose)); downstream, `P` threads that each take an item
//! through all stages; between them, the places of all channels. A thread does not hold a result: a firing begins where its
//! result has room, so a stage without a reorder window uses at most as many threads as the channel behind it has places.

use super::flow;
use super::line::{Line, NO_LIMIT};
use super::pair::{self, Side};
use crate::{Error, Pipeline};

/// The throughput of `p` threads, and those that stages have for themselves, in items of the source per second, where stage `i` can use `usable[i]` of them.
///
/// # Errors
/// A number that leaves the accepted range where times and firings are multiplied.
pub fn throughput(pipeline: &Pipeline, p: u32, usable: &[u32]) -> Result<f64, Error> {
    let reserved = reserve(pipeline, usable);
    let mut line = Line::new(pipeline, &reserved)?;
    let places: f64 = line.buffers.iter().map(|buffer| buffer.room / buffer.units).sum();
    for buffer in &mut line.buffers {
        let producer = &line.stations[buffer.from];
        if !producer.ordered && !buffer.in_place {
            buffer.room = (buffer.room - producer.threads * buffer.units / producer.firings).max(0.0);
        }
    }
    let structure = flow(&line).throughput;
    if line.active().all(|(_, station)| station.own_thread) {
        return Ok(structure);
    }
    let (work, squared) = item(&line);
    let up = Side { threads: 1, time: 1.0 / structure, squared };
    let down = Side { threads: p, time: work, squared };
    let room = (places.min(NO_LIMIT) - f64::from(p)).max(0.0);
    let throughput = pair::solve(&up, &down, room).throughput;
    // One thread for all stages always finds one with input and room.
    let is_alone = line.active().all(|(_, station)| !station.own_thread);
    Ok(if is_alone { throughput.max(1.0 / work) } else { throughput })
}

/// The threads of each stage, limited to the places for results where a thread must reserve one.
fn reserve(pipeline: &Pipeline, usable: &[u32]) -> Vec<u32> {
    let mut threads = usable.to_vec();
    for edge in pipeline.edges() {
        let per_firing = edge.pushes.max(1.0);
        let places = edge.capacity.map_or(f64::INFINITY, |capacity| capacity as f64 / per_firing);
        if pipeline.stages()[edge.from].window.is_none() {
            let c = &mut threads[edge.from];
            *c = (*c).min(places.min(1e9) as u32).max(1);
        }
    }
    threads
}

/// Mean, in seconds, and squared coefficient of variation of an item's time in all stages that share threads.
fn item(line: &Line) -> (f64, f64) {
    let (mut mean, mut variance) = (0.0, 0.0);
    for (_, station) in line.active().filter(|(_, station)| !station.own_thread) {
        mean += station.work;
        variance += station.work.powi(2) * station.squared / station.firings;
    }
    (mean, variance / mean / mean)
}

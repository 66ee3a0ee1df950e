//! What a mapping costs each worker, as predicted.

use super::{Mapping, Pipeline};
use std::fmt;
use thalweg_graph::data;

data! {
    /// The predicted load of a worker.
    #[derive(Clone, Copy, Default, Debug, PartialEq)]
    pub struct Load {
        /// Nanoseconds of its firings, for an item of the source.
        copy work: f64;
        /// Bytes that enter or leave its segments through channels to others, for an item of the source.
        copy traffic: f64;
        /// Bytes of the traffic that come from or go to workers of other groups, counted as often as such a miss takes longer.
        copy far: f64;
        /// Bytes of state that it loads again, for an item of the source: what does not fit into the cache is loaded again at
        /// each firing, and where a worker's segments do not fit together, each is loaded again whenever it is entered.
        copy reloads: f64;
        /// The bytes that its stages use again and again, with the buffers inside its segments.
        copy state: u64;
    }
}

/// The predicted loads of all workers.
#[derive(Clone, Debug, PartialEq)]
pub struct Loads {
    loads: Vec<Load>,
    miss_per_byte: f64,
}

impl Load {
    /// Its time for an item of the source, in nanoseconds, if each byte costs this much. Reloads are not in it: the measured times
    /// of firings have those of their run. With them `best` was no nearer to the best of the figures `map.*`.
    fn time(&self, miss_per_byte: f64) -> f64 {
        self.work + (self.traffic + self.far) * miss_per_byte
    }
}

impl Loads {
    /// The loads, by worker.
    pub fn of_workers(&self) -> &[Load] {
        &self.loads
    }

    /// The predicted time for an item of the source, in nanoseconds: that of the worker with the greatest load.
    pub fn time(&self) -> f64 {
        self.loads.iter().map(|load| load.time(self.miss_per_byte)).fold(0.0, f64::max)
    }
}

impl fmt::Display for Loads {
    /// A line for each worker.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (worker, load) in self.loads.iter().enumerate() {
            writeln!(
                f,
                "worker {worker}: {:.1} ns of work, {:.1} bytes from and to others, {:.1} bytes of state loaded again, for an \
                 item of the source; {} bytes of state",
                load.work, load.traffic, load.reloads, load.state
            )?;
        }
        write!(f, "predicted: {:.1} ns for an item of the source", self.time())
    }
}

impl Mapping {
    /// The loads that are to be expected of each worker.
    pub fn loads(&self, pipeline: &Pipeline) -> Loads {
        let mut loads = vec![Load::default(); pipeline.workers()];
        let (items, cache) = (pipeline.items(), pipeline.target().cache());
        let mut worker_of = vec![None; pipeline.stages().len()];
        for segment in self.segments() {
            worker_of[segment.stages().clone()].fill(Some(segment.worker()));
            let piece = pipeline.piece(segment.stages().clone());
            let load = &mut loads[segment.worker()];
            load.work += piece.work() / items;
            load.traffic += piece.traffic() / items;
            load.state = load.state.saturating_add(piece.state());
            if !piece.fits() {
                let stages = &pipeline.stages()[segment.stages().clone()];
                let reloads = |stage: &super::Stage| stage.state() as f64 * stage.firings();
                load.reloads += stages.iter().map(reloads).sum::<f64>() / items;
            }
        }
        for copies in self.copies() {
            let stage = &pipeline.stages()[copies.stage()];
            let into = pipeline.into(copies.stage()).map(|edge| (edge.from(), edge.bytes()));
            let ends = into.chain(pipeline.out_of(copies.stage()).map(|edge| (edge.to(), edge.bytes())));
            let ends: Vec<_> = ends.map(|(other, bytes)| (worker_of[other], bytes)).collect();
            let all: f64 = copies.workers().iter().map(|(_, share)| f64::from(*share)).sum();
            for (worker, share) in copies.workers() {
                let (load, part) = (&mut loads[*worker], f64::from(*share) / all);
                load.work += part * stage.work() / items;
                // What a worker passes to itself crosses neither here nor in its segment.
                let bytes =
                    ends.iter().map(|(other, bytes)| if *other == Some(*worker) { -bytes } else { *bytes });
                load.traffic += part * bytes.sum::<f64>() / items;
                load.state = load.state.saturating_add(stage.state());
            }
        }
        for segment in self.segments() {
            let piece = pipeline.piece(segment.stages().clone());
            let load = &mut loads[segment.worker()];
            if load.state > cache && piece.fits() {
                // A buffer of half the cache is emptied before the segment is left.
                let visits = piece.traffic() / 2.0 / (cache as f64 / 2.0);
                load.reloads += piece.state() as f64 * visits / items;
            }
        }
        let levels = pipeline.target().levels(pipeline.workers());
        for edge in pipeline.edges().iter().filter(|_| !levels.is_empty()) {
            // Of a shared stage each worker has a part, of which some is as near as the others: left out.
            let Some((from, to)) = worker_of[edge.from()].zip(worker_of[edge.to()]) else { continue };
            let far = edge.bytes() / items * (super::levels::factor(&levels, from, to) - 1.0);
            loads[from].far += far;
            loads[to].far += far;
        }
        Loads { loads, miss_per_byte: pipeline.target().miss_per_byte() }
    }
}

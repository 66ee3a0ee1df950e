//! A pipeline as stations and buffers in the units that the decomposition uses.
//!
//! Times are a stage's per item of the source. Where the firings of two neighbours differ, one *unit* of the buffer between
//! them is a firing of the rarer one: a stage that fires eight times for it counts as one service of eight times the length,
//! with an eighth of the squared variation, by an eighth of the threads each eight times as fast.

use super::window;
use crate::{Edge, Error, Pipeline};

/// A stage with its threads.
#[derive(Clone, Copy, Debug)]
pub struct Station {
    /// The threads that work at it.
    pub threads: f64,
    /// The mean thread time for an item of the source, in seconds, without waits; with the loss by a full reorder window.
    pub demand: f64,
    /// The same time without that loss.
    pub work: f64,
    /// The squared coefficient of variation of a firing's time.
    pub squared: f64,
    /// Firings per item of the source.
    pub firings: f64,
    /// The results that may wait in the reorder window while all threads work.
    pub spare: f64,
    /// Whether the stage has a reorder window.
    pub ordered: bool,
    /// See [`Stage::own_thread`](crate::Stage::own_thread).
    pub own_thread: bool,
}

impl Station {
    /// The highest throughput, in items of the source per second.
    pub fn rate(&self) -> f64 {
        self.threads / self.demand
    }
}

/// A channel, between stations by their numbers.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// The producing station.
    pub from: usize,
    /// The consuming station.
    pub to: usize,
    /// Units per item of the source.
    pub units: f64,
    /// The places, in units, besides those of firings at either end; those of the reorder window before it included.
    /// Negative where the channel is in place and has fewer than both ends have threads.
    pub room: f64,
    /// What random choice of the firings that push adds to the squared variation of a unit's time upstream.
    pub choice: f64,
    /// See [`Edge::in_place`].
    pub in_place: bool,
}

/// Stations, and buffers in order of their producers.
pub struct Line {
    /// One for each stage.
    pub stations: Vec<Station>,
    /// Those of the channels that carry items.
    pub buffers: Vec<Buffer>,
}

/// The items that a channel without a limit holds for the models, far above what a queue reaches.
pub const NO_LIMIT: f64 = 1e15;

impl Line {
    /// Stations and buffers of `pipeline`, where stage `i` has `threads[i]` threads.
    ///
    /// # Errors
    /// A number that leaves the accepted range where times and firings are multiplied.
    pub fn new(pipeline: &Pipeline, threads: &[u32]) -> Result<Self, Error> {
        let stations: Vec<Station> =
            threads.iter().enumerate().map(|(i, c)| station(pipeline, i, *c)).collect();
        for station in stations.iter().filter(|station| station.firings > 0.0) {
            crate::error::positive("time of an item in a stage", station.demand)?;
        }
        let mut edges: Vec<&Edge> = pipeline.edges().iter().filter(|edge| carries(&stations, edge)).collect();
        edges.sort_by_key(|edge| edge.from);
        let buffers = edges.into_iter().map(|edge| buffer(&stations, edge)).collect();
        Ok(Self { stations, buffers })
    }

    /// The stations that fire at all, and their numbers.
    pub fn active(&self) -> impl Iterator<Item = (usize, &Station)> {
        self.stations.iter().enumerate().filter(|(_, station)| station.firings > 0.0)
    }
}

fn station(pipeline: &Pipeline, i: usize, c: u32) -> Station {
    let (stage, firings, window) = (&pipeline.stages()[i], pipeline.firings()[i], pipeline.window(i));
    let work = stage.service * firings;
    let spare = window.map_or(0.0, |tickets| tickets as f64 - f64::from(c));
    Station {
        threads: c.into(),
        demand: work / window::kept_throughput(stage.variation, window, c),
        work,
        squared: stage.variation.powi(2),
        firings,
        spare: spare.max(0.0),
        ordered: window.is_some(),
        own_thread: stage.own_thread,
    }
}

impl Station {
    /// The threads that work at it as buffers count them, where `units` are a buffer's per item of the source.
    pub fn threads_for(&self, units: f64) -> f64 {
        (self.threads / (self.firings / units).max(1.0)).ceil().max(1.0)
    }
}

fn carries(stations: &[Station], edge: &Edge) -> bool {
    edge.pushes > 0.0 && stations[edge.from].firings > 0.0 && stations[edge.to].firings > 0.0
}

fn buffer(stations: &[Station], edge: &Edge) -> Buffer {
    let (producer, consumer) = (&stations[edge.from], &stations[edge.to]);
    let items = producer.firings * edge.pushes;
    let units = producer.firings.min(items / edge.pops);
    let places = edge.capacity.map_or(NO_LIMIT, |capacity| capacity as f64) * units / items;
    let room = match edge.in_place {
        true => places.max(1.0) - producer.threads_for(units) - consumer.threads_for(units),
        false => places + producer.spare * units / producer.firings,
    };
    let choice = if edge.pushes < 1.0 { 1.0 - edge.pushes } else { 0.0 };
    Buffer { from: edge.from, to: edge.to, units, room, choice, in_place: edge.in_place }
}

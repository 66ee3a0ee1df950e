//! A small discrete-event simulation of pipelines, as the reference of the models: chains of stages with blocking after
//! service, ordered output through a window, and pools of threads or threads for all stages.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A generator of random numbers that repeats with its seed (S. Vigna's SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1).
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Gamma with mean 1 (G. Marsaglia and W. W. Tsang, 2000).
    fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape.max(1.0) - 1.0 / 3.0 + if shape < 1.0 { shape } else { 0.0 };
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.unit().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                let boost = if shape < 1.0 { self.unit().powf(1.0 / shape) } else { 1.0 };
                return d * v * boost / shape;
            }
        }
    }

    /// A time with mean 1: constant, gamma up to 1, lognormal above.
    pub fn time(&mut self, variation: f64) -> f64 {
        if variation == 0.0 {
            1.0
        } else if variation == 1.0 {
            -self.unit().ln()
        } else if variation < 1.0 {
            self.gamma(1.0 / variation.powi(2))
        } else {
            let squared = (1.0 + variation.powi(2)).ln();
            (squared.sqrt() * self.normal() - 0.5 * squared).exp()
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Stage {
    pub service: f64,
    pub variation: f64,
    pub threads: usize,
    /// Tickets of ordered output; `None`: a thread keeps its result until there is room.
    pub window: Option<usize>,
}

/// A chain: `capacities[i]` is that of the channel behind stage `i`.
#[derive(Clone, Debug)]
pub struct Chain {
    pub stages: Vec<Stage>,
    pub capacities: Vec<usize>,
    /// Threads for all stages; `None`: each stage has its own.
    pub shared: Option<usize>,
    pub tokens: Option<usize>,
    /// Items in service and results under way take places of the channels.
    pub in_place: bool,
}

pub struct Measured {
    /// Items per second.
    pub throughput: f64,
    /// The mean number of working threads of each stage.
    pub busy: Vec<f64>,
    /// The mean number of items in the channel before each stage.
    pub queues: Vec<f64>,
}

struct Station {
    /// Tickets out: finished (true) or in service, oldest first.
    tickets: VecDeque<bool>,
    first: u64,
    busy: usize,
    /// Finished results that hold their threads, without order.
    held: usize,
    worked: f64,
}

struct Simulation<'a> {
    chain: &'a Chain,
    random: Random,
    now: f64,
    events: BinaryHeap<Reverse<(u64, usize, u64)>>,
    stations: Vec<Station>,
    /// Items before each stage.
    channels: Vec<usize>,
    areas: Vec<f64>,
    changed: Vec<f64>,
    working: usize,
    under_way: usize,
    left: usize,
}

/// Runs until `items` have left, and measures after the first tenth.
pub fn run(chain: &Chain, items: usize, seed: u64) -> Measured {
    let count = chain.stages.len();
    let station = || Station { tickets: VecDeque::new(), first: 0, busy: 0, held: 0, worked: 0.0 };
    let mut simulation = Simulation {
        chain,
        random: Random(seed),
        now: 0.0,
        events: BinaryHeap::new(),
        stations: (0..count).map(|_| station()).collect(),
        channels: vec![0; count],
        areas: vec![0.0; count],
        changed: vec![0.0; count],
        working: 0,
        under_way: 0,
        left: 0,
    };
    simulation.start_all();
    simulation.until(items / 10);
    let (begin, left) = (simulation.now, simulation.left);
    for i in 0..count {
        simulation.count(i);
        simulation.areas[i] = 0.0;
        simulation.stations[i].worked = 0.0;
    }
    simulation.until(items);
    (0..count).for_each(|i| simulation.count(i));
    let time = simulation.now - begin;
    Measured {
        throughput: (simulation.left - left) as f64 / time,
        busy: simulation.stations.iter().map(|station| station.worked / time).collect(),
        queues: simulation.areas.iter().map(|area| area / time).collect(),
    }
}

impl Simulation<'_> {
    fn until(&mut self, items: usize) {
        while self.left < items {
            let Reverse((time, stage, ticket)) = self.events.pop().expect("a pipeline that goes on");
            self.now = f64::from_bits(time);
            self.finish(stage, ticket);
            self.start_all();
        }
    }

    fn count(&mut self, i: usize) {
        self.areas[i] += self.channels[i] as f64 * (self.now - self.changed[i]);
        self.changed[i] = self.now;
    }

    fn has_room(&self, i: usize) -> bool {
        // A result in place has had its room since its firing began.
        self.chain.in_place
            || i + 1 == self.chain.stages.len()
            || self.channels[i + 1] < self.chain.capacities[i]
    }

    fn finish(&mut self, i: usize, ticket: u64) {
        self.working -= 1;
        let station = &mut self.stations[i];
        station.busy -= 1;
        if self.chain.stages[i].window.is_some() {
            let place = (ticket - station.first) as usize;
            station.tickets[place] = true;
        } else {
            station.held += 1;
        }
        self.publish(i);
    }

    fn publish(&mut self, i: usize) {
        loop {
            let ready = self.stations[i].tickets.front() == Some(&true) || self.stations[i].held > 0;
            // A channel without places passes items on to free threads.
            if !ready || !(self.has_room(i) || self.chain.capacities[i] == 0 && self.can_take(i + 1)) {
                return;
            }
            let station = &mut self.stations[i];
            if station.held > 0 {
                station.held -= 1;
            } else {
                station.tickets.pop_front();
                station.first += 1;
            }
            self.put(i + 1);
        }
    }

    fn put(&mut self, i: usize) {
        if i == self.chain.stages.len() {
            self.left += 1;
            self.under_way -= 1;
            return;
        }
        self.count(i);
        self.channels[i] += 1;
        if self.chain.capacities[i - 1] == 0 {
            self.start(i);
        }
    }

    /// Whether a thread of stage `i` could take an item.
    fn can_take(&self, i: usize) -> bool {
        let (stage, station) = (&self.chain.stages[i], &self.stations[i]);
        let out = station.busy + station.held;
        let window = stage.window.is_none_or(|window| station.tickets.len() < window);
        // Shared threads do not hold results: they start a firing where its result has room.
        let shared = self.chain.shared.is_none_or(|p| self.working < p && self.has_reserve(i));
        let place = !self.chain.in_place || self.has_place(i);
        out < stage.threads && window && shared && place
    }

    /// Whether a result of stage `i` has a place now: items in service there, and results under way, keep theirs.
    fn has_place(&self, i: usize) -> bool {
        let out = |i: usize| self.stations[i].tickets.len().max(self.stations[i].busy);
        i + 1 == self.chain.stages.len()
            || self.channels[i + 1] + out(i) + out(i + 1) < self.chain.capacities[i]
    }

    fn has_reserve(&self, i: usize) -> bool {
        if self.chain.in_place {
            return self.has_place(i);
        }
        let station = &self.stations[i];
        let reserved = station.busy + station.held;
        self.chain.stages[i].window.is_some()
            || i + 1 == self.chain.stages.len()
            || self.channels[i + 1] + reserved < self.chain.capacities[i]
    }

    fn can_start(&self, i: usize) -> bool {
        let input = match i {
            0 => self.chain.tokens.is_none_or(|tokens| self.under_way < tokens),
            _ => self.channels[i] > 0,
        };
        input && self.can_take(i)
    }

    /// Starts what can start, downstream stages first: each start makes room upstream.
    fn start_all(&mut self) {
        for i in (0..self.chain.stages.len()).rev() {
            while self.can_start(i) {
                self.start(i);
            }
            if i > 0 {
                self.publish(i - 1);
                while self.can_start(i) {
                    self.start(i);
                    self.publish(i - 1);
                }
            }
        }
    }

    fn start(&mut self, i: usize) {
        if i == 0 {
            self.under_way += 1;
        } else {
            self.count(i);
            self.channels[i] -= 1;
        }
        let stage = &self.chain.stages[i];
        let time = stage.service * self.random.time(stage.variation);
        let station = &mut self.stations[i];
        let ticket = station.first + station.tickets.len() as u64;
        if stage.window.is_some() {
            station.tickets.push_back(false);
        }
        station.busy += 1;
        station.worked += time;
        self.working += 1;
        self.events.push(Reverse(((self.now + time).to_bits(), i, ticket)));
    }
}

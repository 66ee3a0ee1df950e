//! More than two stations: one two-station line for each buffer, made to agree.
//!
//! After S. B. Gershwin (1987) and Y. Dallery, R. David and X.-L. Xie (1988), with two moments as in the survey of Y.
//! Dallery and S. B. Gershwin (1992). The line of a buffer ([`pair`]) sees a producer whose time for an item contains its
//! starvation, and a consumer whose time contains its blocking. Both follow from the neighbouring lines: a station of `c`
//! threads that finishes `X` items a second spends `c / X` of thread time on an item, so what the line does not count as
//! time is starvation (downstream) or blocking (upstream). Sweeps forward and backward repeat until all lines have one
//! throughput. A station with several inputs or outputs adds their waits up.
//!
//! Differences from the sources: stations have several threads and general times, as [`pair`] has them. The variation of a
//! time with waits is `w² s + (1 - w²) s'`, where `w` is the share of the time that is service, `s` the service's squared
//! coefficient of variation and `s'` that of the neighbours waited for: what K. T. Marshall (1968) and W. Whitt (1983)
//! have for the departures of a queue. A mean of the neighbours' values, it keeps the sweeps stable.
//!
//! Where channels are in place ([`Edge::in_place`](crate::Edge::in_place)), a station waits for input and for room at the
//! same time. Of independent exponential waits `a` and `b` the shorter is `a b / (a + b)` in the mean, and by that the
//! waits beyond a buffer are shorter as its line sees them. Without it, chains of channels with one place were up to 40 %
//! too slow (median error over 200 random chains 3.2 %, 95th percentile 29 %; with it 2.3 % and 22 %).

use super::line::Line;
use super::pair::{self, Side};
use std::ops::Range;

/// The relative difference of throughputs at which the sweeps end.
const TOLERANCE: f64 = 1e-7;
/// The maximum number of levels visited, which bounds the time where a line does not settle.
const MAX_LEVELS: f64 = 8e6;
/// The number of buffers that are settled alone before the sweeps over a longer line, and their pairs of sweeps. Sweeps
/// over a line of `n` buffers need about `n²` steps to settle from nothing, and few from settled parts.
const BLOCK: usize = 16;
const BLOCK_SWEEPS: usize = 12;
/// The maximum number of pairs of sweeps.
const MAX_SWEEPS: usize = 400;

/// What the lines agree on.
pub struct Flow {
    /// Items of the source per second.
    pub throughput: f64,
    /// Thread time for an item that each station waits for input, in seconds.
    pub starved: Vec<f64>,
    /// Thread time for an item that each station waits for room, in seconds.
    pub blocked: Vec<f64>,
    /// The mean number of items in each buffer, in units.
    pub queues: Vec<f64>,
}

/// Computes the flow of a line with at least one buffer, in time linear in the buffers and threads.
pub fn solve(line: &Line) -> Flow {
    let mut state = State::new(line);
    let count = line.buffers.len();
    if count > BLOCK {
        state.settle_blocks();
    }
    for _ in 0..state.max_sweeps() {
        state.sweep(0..count);
        if state.spread() < TOLERANCE {
            break;
        }
    }
    state.flow()
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Up,
    Down,
}

/// The waits of one end of a buffer.
#[derive(Clone, Copy, Default)]
struct Wait {
    /// Thread time for an item of the source, in seconds.
    time: f64,
    /// The time multiplied by the squared coefficient of variation of the neighbour waited for.
    varied: f64,
}

struct State<'a> {
    line: &'a Line,
    /// For each buffer, how long its consumer starves and its producer is blocked.
    starve: Vec<Wait>,
    block: Vec<Wait>,
    /// For each buffer, its two stations as the line sees them.
    up: Vec<Side>,
    down: Vec<Side>,
    throughput: Vec<f64>,
    queues: Vec<f64>,
    /// Sums of the above over the inputs and the outputs of each station.
    starved: Vec<Wait>,
    blocked: Vec<Wait>,
}

impl<'a> State<'a> {
    fn new(line: &'a Line) -> Self {
        let (buffers, stations) = (line.buffers.len(), line.stations.len());
        let side = Side { threads: 1, time: 1.0, squared: 1.0 };
        let mut state = Self {
            line,
            starve: vec![Wait::default(); buffers],
            block: vec![Wait::default(); buffers],
            up: vec![side; buffers],
            down: vec![side; buffers],
            throughput: vec![0.0; buffers],
            queues: vec![0.0; buffers],
            starved: vec![Wait::default(); stations],
            blocked: vec![Wait::default(); stations],
        };
        for e in 0..buffers {
            state.up[e] = state.side(e, End::Up);
            state.down[e] = state.side(e, End::Down);
        }
        state
    }

    /// Settles blocks of neighbouring buffers as if each were alone. From the last block to the first, so that no block sees
    /// starvation from an earlier one; the blocking by the later one is taken away for the time.
    fn settle_blocks(&mut self) {
        let count = self.line.buffers.len();
        for first in (0..count).step_by(BLOCK).rev() {
            let block = first..(first + BLOCK).min(count);
            let end = self.line.buffers[block.end - 1].to;
            let later = self.blocked[end];
            self.blocked[end] = Wait::default();
            (0..BLOCK_SWEEPS).for_each(|_| self.sweep(block.clone()));
            self.blocked[end].time += later.time;
            self.blocked[end].varied += later.varied;
        }
    }

    /// One sweep forward and one backward.
    fn sweep(&mut self, buffers: Range<usize>) {
        buffers.clone().for_each(|e| self.update(e, End::Up));
        buffers.rev().for_each(|e| self.update(e, End::Down));
    }

    /// Computes one end of a buffer from its neighbours, then the waits at both ends.
    fn update(&mut self, e: usize, end: End) {
        match end {
            End::Up => self.up[e] = self.side(e, End::Up),
            End::Down => self.down[e] = self.side(e, End::Down),
        }
        let buffer = &self.line.buffers[e];
        let state = pair::solve(&self.up[e], &self.down[e], buffer.room);
        self.throughput[e] = state.throughput / buffer.units;
        self.queues[e] = state.queue;
        let starve = self.wait(e, &self.down[e], &self.up[e], buffer.to);
        let block = self.wait(e, &self.up[e], &self.down[e], buffer.from);
        replace(&mut self.starved[buffer.to], &mut self.starve[e], starve);
        replace(&mut self.blocked[buffer.from], &mut self.block[e], block);
    }

    /// How long a thread of `here` waits for an item, because of `there`.
    fn wait(&self, e: usize, here: &Side, there: &Side, station: usize) -> Wait {
        let (station, units) = (&self.line.stations[station], self.line.buffers[e].units);
        let served = here.time * units * station.threads / f64::from(here.threads);
        let time = (station.threads / self.throughput[e] - served).max(0.0);
        Wait { time, varied: time * there.squared }
    }

    /// A station as buffer `e` sees it: with all waits but those at this buffer.
    fn side(&self, e: usize, end: End) -> Side {
        let buffer = &self.line.buffers[e];
        let at = if end == End::Up { buffer.from } else { buffer.to };
        let station = &self.line.stations[at];
        let (starved, blocked) = (self.starved[at], self.blocked[at]);
        let own = if end == End::Up { self.block[e] } else { self.starve[e] };
        let mut time = (starved.time + blocked.time - own.time).max(0.0);
        if buffer.in_place && time > 0.0 {
            time -= time * own.time / (time + own.time);
        }
        let varied = (starved.varied + blocked.varied - own.varied).max(0.0);
        let firings = (station.firings / buffer.units).max(1.0);
        let choice = if end == End::Up { buffer.choice } else { 0.0 };
        let served = station.squared / firings + choice;
        let total = station.demand + time;
        let share = (station.demand / total).powi(2);
        let waited = if time > 0.0 { varied / time } else { 0.0 };
        let threads = station.threads_for(buffer.units);
        Side {
            threads: threads as u32,
            time: total / buffer.units * threads / station.threads,
            squared: share * served + (1.0 - share) * waited,
        }
    }

    /// The number of pairs of sweeps that the limit of levels allows.
    fn max_sweeps(&self) -> usize {
        let levels: f64 = self.up.iter().chain(&self.down).map(|side| f64::from(side.threads) + 0.5).sum();
        ((MAX_LEVELS / (2.0 * levels)) as usize).clamp(4, MAX_SWEEPS)
    }

    /// The relative difference between the throughputs of the lines.
    fn spread(&self) -> f64 {
        let (low, high) = self
            .throughput
            .iter()
            .fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(*x), high.max(*x)));
        high / low - 1.0
    }

    fn flow(self) -> Flow {
        let throughput = self.throughput.iter().copied().fold(f64::INFINITY, f64::min);
        let times = |waits: Vec<Wait>| waits.into_iter().map(|wait| wait.time.max(0.0)).collect();
        Flow { throughput, starved: times(self.starved), blocked: times(self.blocked), queues: self.queues }
    }
}

/// Replaces one summand of a sum.
fn replace(sum: &mut Wait, summand: &mut Wait, value: Wait) {
    sum.time += value.time - summand.time;
    sum.varied += value.varied - summand.varied;
    *summand = value;
}

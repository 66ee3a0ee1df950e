//! A worker's account of its time: the five categories of DANBI's Figure 4.
//!
//! An activation costs one time stamp. One in [`crate::measure::clock::SAMPLE`] also has stamps inside,
//! and the proportions found there split the time of all.

use crate::measure::clock::{Laps, Ticks, ticks, ticks_per_ns};
use std::time::{Duration, Instant};
use thalweg_graph::ChannelId;
use thalweg_trace::WorkerReport;

/// Occupancy seen at sampled activations.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Seen {
    pub(crate) sum: u64,
    pub(crate) count: u64,
    pub(crate) peak: usize,
}

/// What one worker did.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) busy: Ticks,
    /// Idle time, parked or spinning.
    pub(crate) stall: Ticks,
    pub(crate) parked: Ticks,
    pub(crate) activations: u64,
    pub(crate) refused: u64,
    pub(crate) steals: u64,
    pub(crate) spins: u64,
    pub(crate) parks: u64,
    pub(crate) seen: Vec<Seen>,
    samples: [Ticks; 3],
    started: Option<(Instant, Duration)>,
    off_cpu: Duration,
}

fn thread_cpu_time() -> Duration {
    if cfg!(miri) {
        return Duration::ZERO;
    }
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

impl Account {
    pub(crate) fn new(channels: usize) -> Account {
        Account {
            busy: 0,
            stall: 0,
            parked: 0,
            activations: 0,
            refused: 0,
            steals: 0,
            spins: 0,
            parks: 0,
            seen: vec![Seen::default(); channels],
            samples: [0; 3],
            started: None,
            off_cpu: Duration::ZERO,
        }
    }

    pub(crate) fn start(&mut self) {
        self.started = Some((Instant::now(), thread_cpu_time()));
    }

    /// The same for a worker that no thread was needed for until now: it was parked.
    pub(crate) fn start_late(&mut self, (began, at): (Instant, Ticks)) {
        let parked = ticks().saturating_sub(at);
        (self.stall, self.parked, self.parks) = (parked, parked, 1);
        self.started = Some((began, thread_cpu_time()));
    }

    /// Of a worker that no thread was ever needed for.
    pub(crate) fn absent(at: Ticks) -> Account {
        let parked = ticks().saturating_sub(at);
        Account { stall: parked, parked, parks: 1, ..Account::new(0) }
    }

    /// Finds the time the operating system kept the thread off its core against its will.
    pub(crate) fn finish(&mut self) {
        if let Some((start, cpu)) = self.started {
            let parked = duration(self.parked);
            let wanted = start.elapsed().saturating_sub(parked);
            self.off_cpu = wanted.saturating_sub(thread_cpu_time().saturating_sub(cpu));
        }
    }

    pub(crate) fn scheduler_sample(&mut self, spent: Ticks) {
        self.samples[2] += spent;
    }

    pub(crate) fn lap_sample(&mut self, laps: &Laps) {
        self.samples[0] += laps.application;
        self.samples[1] += laps.queue;
    }

    pub(crate) fn occupancy(&mut self, channel: ChannelId, items: usize) {
        let Some(seen) = self.seen.get_mut(channel.index()) else { return };
        seen.sum += items as u64;
        seen.count += 1;
        seen.peak = seen.peak.max(items);
    }

    /// The account in the report's terms.
    pub(crate) fn report(&self) -> WorkerReport {
        let total: Ticks = self.samples.iter().sum();
        let on_cpu = duration(self.busy).saturating_sub(self.off_cpu);
        let part = |i: usize| {
            let share =
                if total == 0 { f64::from(u8::from(i == 0)) } else { self.samples[i] as f64 / total as f64 };
            on_cpu.mul_f64(share)
        };
        let mut report = WorkerReport::default();
        (report.app, report.queue, report.scheduler) = (part(0), part(1), part(2));
        (report.stall, report.os) = (duration(self.stall), self.off_cpu);
        (report.activations, report.refused) = (self.activations, self.refused);
        (report.steals, report.spins, report.parks) = (self.steals, self.spins, self.parks);
        report
    }
}

/// Ticks as time.
pub(crate) fn duration(ticks: Ticks) -> Duration {
    Duration::from_nanos((ticks as f64 / ticks_per_ns()) as u64)
}

//! A worker's account of its time: its five categories, after DANBI's Figure 4.
//!
//! | category | time | measured |
//! |---|---|---|
//! | application, queue, scheduler | in activations, and between two of them, without stalls | the proportions in the sampled activations, applied to the busy time of all |
//! | queue | of it, stalls: the waits of firings for their tickets | two stamps for each stall ([`tickets`](super::tickets)) |
//! | idle | spinning and parked | two stamps for each idle period |
//! | preempted | off the core | wall time less parked time less the thread's processor time; the other categories lose as much, in proportion |
//!
//! An activation costs one time stamp. A sample of them ([`sampler`](super::sampler)) has stamps inside as well.
//!
//! Invariant: an account has one writer, its worker's thread, and is read after that thread has left the run.

use crate::measure::clock::{Laps, Scale, Ticks, ticks};
use crate::measure::cpu_time::Measurement;
use crate::measure::dilation;
use crate::measure::recorder::Recorder;
use crate::measure::service::Services;
use crate::measure::tickets;
use std::time::{Duration, Instant};
use thalweg_graph::NodeId;
use thalweg_trace::{Service, WorkerReport};

/// The measurements of a dedicated node's thread, except those in the node's state.
#[derive(Debug)]
pub(crate) struct DedicatedAccount {
    pub(crate) node: NodeId,
    pub(crate) service: Box<Service>,
    /// The thread's timeline, if the run records one.
    pub(crate) recorder: Option<Recorder>,
}

/// The times and counts of one worker.
#[derive(Debug)]
pub(crate) struct Account {
    /// Time in stamped activations, without stalls.
    pub(crate) busy: Ticks,
    /// Time without work, parked or spinning.
    pub(crate) idle: Ticks,
    /// The part of `idle` in which the worker slept, or had no thread.
    pub(crate) parked: Ticks,
    /// Activations, refused ones included.
    pub(crate) activations: u64,
    /// Activations that were refused, because another thread held the node.
    pub(crate) refused: u64,
    /// Tries to steal a token from another worker, and those that did.
    pub(crate) steal_attempts: u64,
    pub(crate) steals: u64,
    /// Idle periods.
    pub(crate) spins: u64,
    /// The idle periods in which the worker slept.
    pub(crate) parks: u64,
    /// The time of sampled activations: application, queue, scheduler.
    samples: [Ticks; 3],
    /// The part of the scheduler's in tries to steal.
    stealing: Ticks,
    /// How long activations and firings took.
    pub(crate) services: Services,
    /// The worker's timeline, if the run records one.
    pub(crate) recorder: Option<Recorder>,
    /// The claims of a dilated run.
    pub(crate) dilation: dilation::Totals,
    /// The waits of its firings for their tickets.
    pub(crate) tickets: tickets::Totals,
    /// The start, on the clock and in processor time of the worker's thread.
    started: Option<(Instant, Measurement)>,
    /// The time for which the system kept the thread off its core. Set by [`Account::finish`].
    off_cpu: Duration,
    /// The part of the thread's processor time in the kernel. Set by [`Account::finish`].
    kernel: Duration,
}

impl Account {
    /// The empty account of a worker.
    pub(crate) fn new() -> Account {
        Account {
            busy: 0,
            idle: 0,
            parked: 0,
            activations: 0,
            refused: 0,
            steal_attempts: 0,
            steals: 0,
            spins: 0,
            parks: 0,
            samples: [0; 3],
            stealing: 0,
            services: Services::default(),
            recorder: None,
            dilation: dilation::Totals::default(),
            tickets: tickets::Totals::default(),
            started: None,
            off_cpu: Duration::ZERO,
            kernel: Duration::ZERO,
        }
    }

    /// Starts the account. Called by the worker's thread, as is [`Account::finish`], since both read its processor
    /// time.
    pub(crate) fn start(&mut self) {
        self.started = Some((Instant::now(), Measurement::start()));
    }

    /// Starts the account of a worker that has had no thread since the run began, at `began` and tick `at`. The time
    /// until now counts as parked.
    pub(crate) fn start_late(&mut self, (began, at): (Instant, Ticks)) {
        let parked = ticks().saturating_sub(at);
        (self.idle, self.parked, self.parks) = (parked, parked, 1);
        self.started = Some((began, Measurement::start()));
    }

    /// The account of a worker that never had a thread: parked since tick `at`.
    pub(crate) fn absent(at: Ticks) -> Account {
        let parked = ticks().saturating_sub(at);
        Account { idle: parked, parked, parks: 1, ..Account::new() }
    }

    /// Computes the time for which the operating system kept the thread off its core: wall time less parked and slept time less
    /// the thread's processor time.
    pub(crate) fn finish(&mut self) {
        if let Some((start, cpu)) = self.started {
            let parked = Scale::now().duration(self.parked + self.dilation.slept + self.tickets.slept);
            let wanted = start.elapsed().saturating_sub(parked);
            let cpu = cpu.elapsed();
            (self.off_cpu, self.kernel) = (wanted.saturating_sub(cpu.total), cpu.kernel);
        }
    }

    /// Adds the scheduler's time before a sampled activation, and the part of it in tries to steal.
    pub(crate) fn scheduler_sample(&mut self, spent: Ticks, stealing: Ticks) {
        self.samples[2] += spent;
        self.stealing += stealing.min(spent);
    }

    /// Adds the laps of a sampled activation.
    pub(crate) fn lap_sample(&mut self, laps: &Laps) {
        self.samples[0] += laps.application;
        self.samples[1] += laps.queue;
    }

    /// The account as the report has it. Without samples all busy time counts as the application's.
    pub(crate) fn report(&self, scale: Scale) -> WorkerReport {
        let total: Ticks = self.samples.iter().sum();
        let tickets::Totals { stalled, slept, .. } = self.tickets;
        let times = [self.busy, self.idle, self.parked, stalled, slept];
        let [busy, idle, parked, stalled, slept] = times.map(|ticks| scale.duration(ticks));
        let (spun, waited) = (idle.saturating_sub(parked), stalled.saturating_sub(slept));
        // Preemption takes the time of activations and of spinning in proportion.
        let awake = (busy + spun + waited).as_secs_f64();
        let kept = if awake > 0.0 { (1.0 - self.off_cpu.as_secs_f64() / awake).max(0.0) } else { 1.0 };
        let on_cpu = busy.mul_f64(kept);
        let of = |sample: Ticks| on_cpu.mul_f64(sample as f64 / total.max(1) as f64);
        let part = |i: usize| if total == 0 && i == 0 { on_cpu } else { of(self.samples[i]) };
        let mut report = WorkerReport::default();
        let stall = slept.min(stalled) + waited.mul_f64(kept);
        (*report.application_mut(), *report.queue_mut(), *report.scheduler_mut()) =
            (part(0), part(1) + stall, part(2));
        *report.stall_mut() = stall;
        (*report.idle_mut(), *report.preempted_mut()) = (parked.min(idle) + spun.mul_f64(kept), self.off_cpu);
        *report.stealing_mut() = of(self.stealing);
        (*report.activations_mut(), *report.refused_mut()) = (self.activations, self.refused);
        (*report.steal_attempts_mut(), *report.steals_mut()) = (self.steal_attempts, self.steals);
        (*report.spins_mut(), *report.parks_mut(), *report.kernel_mut()) =
            (self.spins, self.parks, self.kernel);
        report
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The scheduler's part of the samples stands for that of all activations, and the part of it in steals for all steals.
    #[test]
    fn time_in_steals_is_a_part_of_the_schedulers() {
        let mut account = Account::new();
        account.busy = 8_000_000;
        account.samples[0] = 2000;
        account.scheduler_sample(1500, 500);
        account.scheduler_sample(500, 900); // two clocks may disagree: no more than the decision took
        let report = account.report(Scale::now());
        let near = |time: Duration, share: f64| {
            let of_scheduler = time.as_secs_f64() / report.scheduler().as_secs_f64();
            assert!((of_scheduler - share).abs() < 1e-3, "{time:?} of {:?}", report.scheduler());
        };
        near(report.application(), 1.0);
        near(report.stealing(), 1000.0 / 2000.0);
        assert!(report.stealing() > Duration::ZERO);
    }
}

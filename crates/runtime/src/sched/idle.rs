//! What a worker does without work: it spins, announces sleep, and parks. See the states of
//! [`worker`](crate::sched::worker).
//!
//! # Work that the worker cannot take
//!
//! A worker may find work (`any_work`) that its policy does not find: `random` deals tokens once, and a claimable node
//! whose token is in the hand of another worker has none in a queue. The worker then neither sleeps nor searches on at
//! once: it yields its core and asks its policy again. It may stay awake, since the work does not stay out of reach:
//!
//! - The token of a sequential node is out of the queues from the decision for it until the next decision of the same
//!   worker. Meanwhile the node is held, and so not claimable, but for the steps before and after the activation.
//! - Of a parallel node there is a token for each worker, and a worker has one in its hand only in an activation. So a
//!   queue has one for a worker that is idle.
//!
//! No wake-up can be lost by this: the worker is not announced as asleep, and asks again by itself.

use crate::liveness::search;
use crate::measure::clock::{Ticks, ticks};
use crate::sched::look::Looker;
use crate::sched::make_ready::{any_node, any_work, found, make_all_ready, share_common, share_queue};
use crate::sched::sleep::ParkOutcome;
use crate::sched::worker::Worker;
use std::time::Instant;
use thalweg_policy::Policy;
use thalweg_trace::What;

/// The time for which an idle worker spins before it announces sleep, in nanoseconds.
pub(super) const SPIN_NS: u64 = 20_000;

impl<P: Policy> Worker<'_, P> {
    /// Joins a job that a firing has opened ([`team`](crate::team)), if one is left, until the job has no work, a node has
    /// work for this worker, or its timers are due. Returns the time; the time since `before` counts as work.
    #[cold]
    pub(super) fn help(&mut self, before: Ticks) -> Ticks {
        let net = self.host.net;
        if std::mem::take(&mut self.searching) {
            // Before the job, which may take long: while the mark is set no other worker is woken. The job's first act is to
            // wake one, so threads that have relied on this worker lose nothing.
            found(net, self.host.worker, None);
        }
        let (worker, due) = (self.host.worker, self.due());
        let recall = || !net.stopped() && (ticks() >= due || any_node(net, worker));
        self.running.begin_help();
        crate::team::help_run(&net.signals, worker, &recall);
        self.running.end();
        self.move_parts();
        let now = ticks();
        self.account.busy += now.saturating_sub(before);
        now
    }

    /// Sleeps until it is woken, if the worker is beyond the run's width, or `beyond` its limit: see [`sleep`](crate::sched::sleep). False, without an
    /// effect, if it is not. The time since `now` counts as idle.
    #[cold]
    pub(super) fn stand_down(&mut self, now: &mut Ticks, beyond: bool) -> bool {
        let net = self.host.net;
        if !net.sleep.stand_down(self.host.worker, self.searching, beyond) {
            return false;
        }
        self.searching = false;
        if self.notified {
            self.policy.stand_down(&mut self.local, &mut self.host);
            share_queue(net, self.host.worker);
        }
        self.suspects.clear(net); // as in `idle`
        self.park(*now);
        let after = ticks();
        self.account.idle += after.saturating_sub(*now);
        *now = after;
        true
    }

    /// Spins, and then sleeps, until there may be work. Returns the time, in ticks; the time since `before` counts as
    /// idle.
    ///
    /// The order matters: announce, fence (in `announce`), check for work, commit. See [`sleep`](crate::sched::sleep).
    #[cold]
    pub(super) fn idle(&mut self, before: Ticks) -> Ticks {
        let net = self.host.net;
        let affinity = net.sched.ready.affinity();
        affinity.inspect(|affinity| affinity.idle_begin(self.host.worker, before));
        self.account.spins += 1;
        let mut parked = false;
        if !self.spin_for_work() && !net.stopped() {
            // A sleeping worker searches from all suspects (`park`), so others may note these from now on.
            self.suspects.clear(net);
            let worker = self.host.worker;
            let has_searched = std::mem::take(&mut self.searching);
            net.sleep.announce(worker, has_searched);
            if any_work(net, worker) || net.stopped() {
                self.searching = net.sleep.withdraw(worker);
                if has_searched && !self.searching {
                    share_common(net, worker, None); // the check above stops at the first node with work
                }
            } else {
                self.park(before);
                parked = true;
            }
        } else if std::mem::take(&mut self.searching) {
            // There is work, and the policy may wait for a moment nevertheless. Others must not rely on this worker meanwhile.
            found(net, self.host.worker, None);
            if net.sleep.wants_waking() {
                net.sleep.wake_one();
            }
        }
        let now = ticks();
        affinity.inspect(|affinity| affinity.idle_end(self.host.worker, now));
        self.account.idle += now.saturating_sub(before);
        if !parked {
            self.record(before, What::Spin { ns: now.saturating_sub(before) });
        }
        now
    }

    /// Checks for work until there is some (true), the run stops (true), or the time for spinning is over (false). At
    /// least one check.
    fn spin_for_work(&self) -> bool {
        let net = self.host.net;
        if net.stopped() {
            return true;
        }
        if any_work(net, self.host.worker) {
            // The policy has just found none, so the work came meanwhile, or a worker between two activations has the
            // node's token. With more workers than cores that worker may be waiting for this core.
            std::thread::yield_now();
            return true;
        }
        if !self.config.spin {
            return false;
        }
        self.spin()
    }

    /// Spins for [`SPIN_NS`] at most; returns whether there is work or the run stops.
    fn spin(&self) -> bool {
        let net = self.host.net;
        let until = ticks() + (SPIN_NS as f64 * self.ticks_per_ns) as u64;
        loop {
            if self.config.yields {
                std::thread::yield_now();
            }
            for _ in 0..32 {
                std::hint::spin_loop();
            }
            if net.stopped() || any_work(net, self.host.worker) {
                return true;
            }
            if ticks() > until {
                return false;
            }
        }
    }

    /// Commits to sleep, after `announce` and a check that found no work; the worker has spun since `before`. If this thread is the last one active, it
    /// examines the graph, and makes ready what the examination has made claimable.
    fn park(&mut self, before: Ticks) {
        let net = self.host.net;
        let deadline = self.config.deadline.map(|(at, _)| at.saturating_duration_since(Instant::now()));
        let patience = (!self.has_searched).then_some(search::PATIENCE);
        let timeout = [deadline, patience].into_iter().flatten().min();
        self.account.parks += 1;
        let from = ticks();
        let (worker, last) = (self.host.worker, || crate::liveness::quiesce::examine(net));
        // Made when it is needed first, since it reads a clock.
        let mut looker = None;
        let look = || looker.get_or_insert_with(|| Looker::new(net, worker)).look();
        let woken = net.sleep.commit(worker, timeout, last, look);
        let parked = ticks().saturating_sub(from);
        self.account.parked += parked;
        self.record(before, What::Spin { ns: from.saturating_sub(before) });
        self.record(from, What::Park { ns: parked });
        match woken {
            ParkOutcome::Rung => (self.searching, self.is_beyond) = (true, !net.sched.roaming.is_empty()),
            ParkOutcome::Over => {}
            ParkOutcome::Resumed => make_all_ready(net),
            ParkOutcome::TimedOut => {
                self.check_deadline();
                if !self.has_searched {
                    self.has_searched = true;
                    search::sweep(net);
                }
            }
        }
    }
}

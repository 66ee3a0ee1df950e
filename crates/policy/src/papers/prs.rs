//! QES with PSS and probabilistic random scheduling (DANBI, section III-A4).
//!
//! When a run of firings of a parallel kernel ends and PSS does not move the worker, a random kernel is chosen with
//! probability `min(T / C, 1)`. In the paper `T` counts the consecutive waits of a thread for a commit or a ticket.
//!
//! | the host's firings | `T` |
//! |---|---|
//! | wait for their tickets | the waits of the firing that has just ended, as in the paper ([`ticket_waits`](crate::Measurements::ticket_waits)) |
//! | do not wait | the consecutive claims that ended in [`Event::Refused`] or [`Event::Waiting`] before that run. Any other end resets the count, as a new thread does in the paper |
//!
//! Not fair, like [`qes`].

use super::pss::{ran_parallel, speculate};
use super::walk::{chance, reselect};
use super::{Qes, qes};
use crate::{Decision, Event, Host, Policy, WorkerId};
use thalweg_graph::NodeId;

/// The paper's constant `C`: 10,000 "in our experiments".
pub const DEFAULT_C: u64 = 10_000;

/// The policy `prs`.
#[derive(Clone, Copy, Debug)]
pub struct Prs {
    c: u64,
}

impl Prs {
    /// The policy with another constant `C`; 0 counts as 1.
    pub fn new(c: u64) -> Prs {
        Prs { c: c.max(1) }
    }

    pub(crate) fn c(&self) -> u64 {
        self.c
    }

    fn probability(&self, waits: u64) -> f64 {
        (waits as f64 / self.c as f64).min(1.0)
    }
}

impl Default for Prs {
    fn default() -> Prs {
        Prs::new(DEFAULT_C)
    }
}

/// State of one worker.
#[derive(Clone, Debug)]
pub struct Local {
    qes: qes::Local,
    /// Consecutive refused or waiting claims: the paper's `T`.
    waits: u64,
    /// Whether the latest decision was an activation. A call of `next` after an idle decision repeats the end of an
    /// earlier activation, which must not be counted twice.
    activated: bool,
}

impl Local {
    /// Counts the end of an activation. Returns the number of waits before it.
    fn count(&mut self, event: Event) -> u64 {
        let before = self.waits;
        if self.activated {
            let waits = matches!(event, Event::Refused | Event::Waiting);
            self.waits = if waits { before + 1 } else { 0 };
        }
        before
    }
}

impl Policy for Prs {
    type Local = Local;
    type Shared = ();

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> Local {
        Local { qes: Qes.start(worker, host), waits: 0, activated: false }
    }

    fn next<H: Host>(&self, me: &mut Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        let refused = last.map_or(0, |(_, event)| me.count(event));
        let waits = host.ticket_waits().unwrap_or(refused);
        let decision = self.decide(me, waits, last, host);
        me.activated = decision != Decision::Idle;
        decision
    }
}

impl Prs {
    fn decide<H: Host>(
        &self,
        me: &mut Local,
        waits: u64,
        last: Option<(NodeId, Event)>,
        host: &mut H,
    ) -> Decision {
        if let Some(neighbour) = last.and_then(|last| speculate(last, host)) {
            return me.qes.claim(Some(neighbour), host);
        }
        let ran = last.is_some_and(|last| ran_parallel(last, host));
        if ran && chance(host, self.probability(waits)) {
            return reselect(host).map_or(Decision::Idle, Decision::Activate);
        }
        Qes.next(&mut me.qes, last, host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphs;
    use crate::mock::Mock;

    const FARM: NodeId = NodeId(1);

    /// The frequency with which the worker leaves the parallel kernel after `waits` waits.
    fn leaves(policy: Prs, waits: usize) -> f64 {
        const TRIALS: usize = 6_000;
        let mut host = Mock::new(graphs::farm());
        let mut me = policy.start(0, &mut host);
        let mut left = 0;
        policy.next(&mut me, None, &mut host);
        for _ in 0..TRIALS {
            for i in 0..waits {
                let wait = if i % 2 == 0 { Event::Refused } else { Event::Waiting };
                policy.next(&mut me, Some((FARM, wait)), &mut host);
            }
            let pick = policy.next(&mut me, Some((FARM, Event::Budget)), &mut host);
            left += usize::from(pick != Decision::Activate(FARM));
        }
        left as f64 / TRIALS as f64
    }

    #[test]
    fn a_random_kernel_is_taken_with_probability_t_over_c() {
        // Channels are half full, so PSS never moves the worker; a random pick is one of three nodes.
        for (c, waits) in [(10, 0), (10, 3), (10, 7), (10, 10), (10, 25), (2, 1)] {
            let expected = (waits as f64 / c as f64).min(1.0) * 2.0 / 3.0;
            let seen = leaves(Prs::new(c), waits);
            assert!((seen - expected).abs() < 0.026, "T {waits}, C {c}: {seen} for {expected}");
        }
    }

    /// The policy draws by the waits of the firing that has ended, and not by refused claims.
    #[test]
    fn waits_for_tickets_take_the_place_of_refused_claims() {
        let policy = Prs::new(10);
        for (waits, expected) in [(0, 0.0), (4, 0.4), (10, 1.0), (1000, 1.0)] {
            let mut host = Mock::new(graphs::farm());
            host.ticket_waits = Some(waits);
            let mut me = policy.start(0, &mut host);
            policy.next(&mut me, None, &mut host);
            let mut leaves = || {
                policy.next(&mut me, Some((FARM, Event::Refused)), &mut host);
                policy.next(&mut me, Some((FARM, Event::Budget)), &mut host) != Decision::Activate(FARM)
            };
            let left = (0..6_000).filter(|_| leaves()).count() as f64 / 6_000.0;
            let expected = expected * 2.0 / 3.0; // a random pick is one of three nodes
            assert!((left - expected).abs() < 0.026, "T {waits}: {left} for {expected}");
        }
    }

    #[test]
    fn other_ends_reset_the_count() {
        let mut host = Mock::new(graphs::farm());
        let policy = Prs::new(10);
        let mut me = policy.start(0, &mut host);
        policy.next(&mut me, None, &mut host);
        for reset in [Event::Budget, Event::Done, Event::Empty(thalweg_graph::ChannelId(0))] {
            policy.next(&mut me, Some((FARM, Event::Refused)), &mut host);
            assert_eq!(me.waits, 1);
            policy.next(&mut me, Some((FARM, reset)), &mut host);
            assert_eq!(me.waits, 0);
        }
    }

    #[test]
    fn an_end_counts_once_when_idle_decisions_follow() {
        let mut host = Mock::new(graphs::farm());
        let policy = Prs::default();
        let mut me = policy.start(0, &mut host);
        policy.next(&mut me, None, &mut host);
        host.only(&[]);
        for _ in 0..5 {
            policy.next(&mut me, Some((FARM, Event::Refused)), &mut host);
        }
        assert_eq!(me.waits, 1);
    }
}

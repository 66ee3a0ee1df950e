//! Whether a run still moves.
//!
//! A process counts the calls of users' functions, and those under way. A run in which no process has begun a call for a
//! long time, and none has one under way, waits for something that does not come: each stage for a batch, or for room. That
//! is a defect of this crate, and better an error than a hang.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// The calls of users' functions in this process: of iterators, stages, states, and what is behind the sink.
#[derive(Default)]
pub(crate) struct Watch {
    begun: AtomicU64,
    ended: AtomicU64,
}

/// A call under way, or a stretch of calls.
pub(crate) struct Call<'a>(&'a Watch);

impl Watch {
    pub fn call(&self) -> Call<'_> {
        self.begin();
        Call(self)
    }

    pub fn begin(&self) {
        self.begun.fetch_add(1, Relaxed);
    }

    pub fn end(&self) {
        self.ended.fetch_add(1, Relaxed);
    }

    /// The state now. `behind_sink`: the firings so far of nodes behind the sink, and whether one runs. `waits`: what the
    /// stages of the process wait for.
    pub fn pulse(&self, (firings, runs): (u64, bool), waits: String) -> Pulse {
        // In this order: a call that ends in between counts as under way.
        let ended = self.ended.load(Relaxed);
        let begun = self.begun.load(Relaxed) + u64::from(runs);
        Pulse { begun: begun + firings, ended: ended + firings, waits }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// What a process tells of itself with each sign of life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pulse {
    begun: u64,
    ended: u64,
    pub waits: String,
}

/// The pulses of all processes, and since when none has changed.
pub(crate) struct Pulses {
    last: Vec<Option<Pulse>>,
    since: Instant,
}

impl Pulses {
    pub fn new(processes: usize) -> Pulses {
        Pulses { last: vec![None; processes], since: Instant::now() }
    }

    /// Takes a pulse. What a process waits for changes nothing by itself.
    pub fn note(&mut self, process: usize, pulse: Pulse) {
        let last = &mut self.last[process];
        let still = last.as_ref().is_some_and(|last| (last.begun, last.ended) == (pulse.begun, pulse.ended));
        if !still || pulse.begun != pulse.ended {
            self.since = Instant::now();
        }
        *last = Some(pulse);
    }

    /// What the processes wait for, if none has moved for this time.
    pub fn stalled(&self, time: Duration, names: &[String]) -> Option<String> {
        if self.since.elapsed() < time || self.last.iter().any(Option::is_none) {
            return None;
        }
        let of = |(name, pulse): (&String, &Option<Pulse>)| {
            let waits = pulse.as_ref().map(|pulse| pulse.waits.as_str()).filter(|waits| !waits.is_empty());
            format!("{name}: {}", waits.unwrap_or("waits for nothing"))
        };
        let all: Vec<String> = names.iter().zip(&self.last).map(of).collect();
        Some(format!("no batch has moved for {time:?} and no function runs; {}", all.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_without_calls_under_way_is_stalled() {
        let (watch, names) = (Watch::default(), ["a".to_owned(), "b".to_owned()]);
        let mut pulses = Pulses::new(2);
        let long = Duration::from_millis(30);
        let go_on = |pulses: &mut Pulses, watch: &Watch| {
            pulses.note(0, watch.pulse((0, false), "sink waits for batch 3".to_owned()));
            pulses.note(1, Pulse::default());
        };
        let call = watch.call();
        go_on(&mut pulses, &watch);
        std::thread::sleep(2 * long);
        go_on(&mut pulses, &watch);
        assert_eq!(pulses.stalled(long, &names), None, "a function runs");
        drop(call);
        go_on(&mut pulses, &watch);
        assert_eq!(pulses.stalled(long, &names), None, "it has just ended");
        std::thread::sleep(2 * long);
        go_on(&mut pulses, &watch);
        let text = pulses.stalled(long, &names).unwrap();
        assert!(text.ends_with("a: sink waits for batch 3; b: waits for nothing"), "{text}");
    }
}

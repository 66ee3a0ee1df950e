//! Disturbances inside firings: yields, delays and failures.

use super::spec::{MOST_SOURCES, mix};
use std::panic::panic_any;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The kind of an injected fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The kernel panics.
    Panic,
    /// The kernel returns an error.
    Err,
}

/// A firing that fails: a node, and the number of its firings that succeed before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The node: see [`Inject::fire`].
    pub node: usize,
    /// The number of its firings that succeed.
    pub after: u64,
    /// The kind of failure of the next one.
    pub kind: Kind,
}

/// The noise in the firings of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Noise {
    /// None.
    Quiet,
    /// Some firings yield the core.
    Yields,
    /// Some firings take microseconds; in one node of four this happens more often.
    Slow,
}

/// Called by every kernel of a random graph at the start of every firing.
#[derive(Debug)]
pub struct Inject {
    seed: u64,
    noise: Noise,
    fault: Option<Fault>,
    count: AtomicU64,
    /// Firings so far of the node with the fault.
    fired: AtomicU64,
    /// Items that each source has pushed.
    pushed: [AtomicU64; MOST_SOURCES],
}

/// The first word of the message of every injected fault.
pub const INJECTED: &str = "injected";

impl Inject {
    /// Noise with this seed, and at most one fault.
    pub fn new(seed: u64, noise: Noise, fault: Option<Fault>) -> Inject {
        if fault.is_some() {
            silence();
        }
        Inject {
            seed,
            noise,
            fault,
            count: AtomicU64::new(0),
            fired: AtomicU64::new(0),
            pushed: Default::default(),
        }
    }

    /// Neither noise nor fault.
    pub fn nothing() -> Inject {
        Inject::new(0, Noise::Quiet, None)
    }

    /// Whether the fault has occurred.
    pub fn has_failed(&self) -> bool {
        self.fault.is_some_and(|fault| self.fired.load(Ordering::Relaxed) > fault.after)
    }

    /// Counts an item that a source pushes.
    pub fn count_push(&self, source: usize) {
        self.pushed[source].fetch_add(1, Ordering::Relaxed);
    }

    /// The number of items that each source has pushed.
    pub fn pushed(&self) -> [u64; MOST_SOURCES] {
        self.pushed.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// Called at the start of a firing of this node: may yield, spin or fail.
    pub fn fire(&self, node: usize) -> Result<(), String> {
        self.disturb(node);
        match self.fault {
            Some(fault) if fault.node == node => self.fail(fault),
            _ => Ok(()),
        }
    }

    fn disturb(&self, node: usize) {
        if self.noise == Noise::Quiet {
            return;
        }
        let chance = mix(self.seed, self.count.fetch_add(1, Ordering::Relaxed));
        let slow_node = mix(self.seed, node as u64).is_multiple_of(4);
        let one_in = if slow_node { 8 } else { 64 };
        match self.noise {
            Noise::Slow if chance.is_multiple_of(one_in) => spin(Duration::from_micros(chance >> 8 & 15)),
            _ if chance % 8 == 1 => std::thread::yield_now(),
            _ => {}
        }
    }

    fn fail(&self, fault: Fault) -> Result<(), String> {
        if self.fired.fetch_add(1, Ordering::Relaxed) < fault.after {
            return Ok(());
        }
        match fault.kind {
            Kind::Panic => panic_any(format!("{INJECTED} panic")),
            Kind::Err => Err(format!("{INJECTED} error")),
        }
    }
}

/// Spins for `time`.
pub fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Keeps injected panics out of the tests' output.
pub fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !thalweg_runtime::panic_message(info.payload()).starts_with(INJECTED) {
                before(info);
            }
        }));
    });
}

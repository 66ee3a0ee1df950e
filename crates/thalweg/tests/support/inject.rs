//! What tests do to a run from within its firings: give the core away, take long, fail.

use super::spec::{MOST_SOURCES, mix};
use std::panic::panic_any;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How a planted fault shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The kernel panics.
    Panic,
    /// The kernel returns an error.
    Err,
}

/// A firing that fails: the node by its number, the firing by its place in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The node: see [`Inject::fire`].
    pub node: usize,
    /// How many firings of it succeed.
    pub after: u64,
    /// What happens then.
    pub kind: Kind,
}

/// How a run is disturbed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Noise {
    /// Not at all.
    Quiet,
    /// Some firings give the core away.
    Yields,
    /// Some firings take microseconds, those of one node in four more often.
    Slow,
}

/// Called by every kernel of a random graph at the start of every firing.
#[derive(Debug)]
pub struct Inject {
    seed: u64,
    noise: Noise,
    fault: Option<Fault>,
    count: AtomicU64,
    /// Firings of the node that is to fail.
    fired: AtomicU64,
    /// Items that each source has given.
    given: [AtomicU64; MOST_SOURCES],
}

/// What the text of every planted fault begins with.
pub const PLANTED: &str = "planted";

impl Inject {
    /// Noise by a seed, and at most one fault.
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
            given: Default::default(),
        }
    }

    /// Neither noise nor fault.
    pub fn nothing() -> Inject {
        Inject::new(0, Noise::Quiet, None)
    }

    /// Whether the fault has happened.
    pub fn has_failed(&self) -> bool {
        self.fault.is_some_and(|fault| self.fired.load(Ordering::Relaxed) > fault.after)
    }

    /// A source gives an item.
    pub fn give(&self, source: usize) {
        self.given[source].fetch_add(1, Ordering::Relaxed);
    }

    /// Items that each source has given.
    pub fn given(&self) -> [u64; MOST_SOURCES] {
        self.given.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// A firing of this node begins.
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
            Kind::Panic => panic_any(format!("{PLANTED} panic")),
            Kind::Err => Err(format!("{PLANTED} error")),
        }
    }
}

/// Keeps a core busy.
pub fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Keeps planted panics out of the tests' output.
pub fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.payload_as_str().is_some_and(|text| text.starts_with(PLANTED)) {
                before(info);
            }
        }));
    });
}

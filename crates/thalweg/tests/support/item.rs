//! Items: plain numbers, and boxes whose ends are counted.

use super::inject::PLANTED;
use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Items made and not yet dropped, and the most there ever were.
#[derive(Debug, Default)]
pub struct Ledger {
    live: AtomicI64,
    most: AtomicI64,
    /// Drops until one panics; never, if that is not above 0.
    fuse: AtomicI64,
}

impl Ledger {
    /// A ledger that nothing is written in.
    pub fn new() -> Arc<Ledger> {
        Arc::default()
    }

    /// Adds items, or bytes, or whatever is counted.
    pub fn add(&self, count: i64) {
        let live = self.live.fetch_add(count, Ordering::Relaxed) + count;
        self.most.fetch_max(live, Ordering::Relaxed);
    }

    /// Makes the drop of an item panic, after `drops` others.
    pub fn arm(&self, drops: u32) {
        self.fuse.store(i64::from(drops) + 1, Ordering::Relaxed);
    }

    /// An item is dropped, and counted already.
    fn burn(&self) {
        if self.fuse.fetch_sub(1, Ordering::Relaxed) == 1 && !std::thread::panicking() {
            panic_any(format!("{PLANTED} panic of a drop"));
        }
    }

    /// What was made and is not dropped: negative where something was dropped twice.
    pub fn live(&self) -> i64 {
        self.live.load(Ordering::Relaxed)
    }

    /// The most that was live at one time.
    pub fn most(&self) -> i64 {
        self.most.load(Ordering::Relaxed)
    }
}

/// What a channel of a random graph carries.
pub trait Item: Send + Sync + 'static {
    /// An item of this value.
    fn make(value: u64, ledger: &Arc<Ledger>) -> Self;
    /// Its value.
    fn value(&self) -> u64;
}

impl Item for u64 {
    fn make(value: u64, _: &Arc<Ledger>) -> u64 {
        value
    }

    fn value(&self) -> u64 {
        *self
    }
}

/// A value on the heap, entered in a ledger for as long as it lives. Where the engine loses one the
/// ledger keeps it; where it drops one twice the allocator or the ledger tells.
#[derive(Debug)]
pub struct Counted {
    value: Box<u64>,
    ledger: Arc<Ledger>,
}

impl Item for Counted {
    fn make(value: u64, ledger: &Arc<Ledger>) -> Counted {
        ledger.add(1);
        Counted { value: Box::new(value), ledger: ledger.clone() }
    }

    fn value(&self) -> u64 {
        *self.value
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.ledger.add(-1);
        self.ledger.burn();
    }
}

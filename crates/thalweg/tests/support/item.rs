//! Items: plain numbers, and boxes that a ledger counts.

use super::inject::INJECTED;
use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// The number of live items, and its maximum.
#[derive(Debug, Default)]
pub struct Ledger {
    live: AtomicI64,
    most: AtomicI64,
    /// Drops until one panics; 0 or less: none panics.
    fuse: AtomicI64,
}

impl Ledger {
    /// An empty ledger.
    pub fn new() -> Arc<Ledger> {
        Arc::default()
    }

    /// Adds `count` items, or bytes where the caller counts bytes.
    pub fn add(&self, count: i64) {
        let live = self.live.fetch_add(count, Ordering::Relaxed) + count;
        self.most.fetch_max(live, Ordering::Relaxed);
    }

    /// Makes the drop of an item panic, after `drops` drops without a panic.
    pub fn panic_after(&self, drops: u32) {
        self.fuse.store(i64::from(drops) + 1, Ordering::Relaxed);
    }

    /// Called for each dropped item after it is counted; panics if the fuse says so.
    fn burn_fuse(&self) {
        if self.fuse.fetch_sub(1, Ordering::Relaxed) == 1 && !std::thread::panicking() {
            panic_any(format!("{INJECTED} panic of a drop"));
        }
    }

    /// Items created minus items dropped: negative if an item was dropped twice.
    pub fn live(&self) -> i64 {
        self.live.load(Ordering::Relaxed)
    }

    /// [`Ledger::live`] once a run has ended whose outlet was dropped. A dropped outlet waits for the run a tenth of a second only, which is too short
    /// on a busy machine; so this waits for the last drop, but not for ever.
    pub fn live_at_end(&self) -> i64 {
        let begun = Instant::now();
        while self.live() > 0 && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.live()
    }

    /// The maximum number of items that were live at once.
    pub fn most(&self) -> i64 {
        self.most.load(Ordering::Relaxed)
    }
}

/// An item of a random graph's channels.
pub trait Item: Clone + Send + Sync + 'static {
    /// Creates an item with this value.
    fn make(value: u64, ledger: &Arc<Ledger>) -> Self;
    /// The value of the item.
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

/// A value on the heap, counted in a ledger while it lives. If the engine leaks one, the ledger's count stays
/// above zero; if it drops one twice, the allocator or the ledger detects it.
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

impl Clone for Counted {
    fn clone(&self) -> Counted {
        Counted::make(*self.value, &self.ledger)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.ledger.add(-1);
        self.ledger.burn_fuse();
    }
}

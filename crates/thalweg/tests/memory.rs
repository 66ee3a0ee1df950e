//! Bytes that a run really takes from the allocator, whatever the size of a firing.

mod support;

use peak_alloc::PeakAlloc;
use support::watchdog::watch;
use thalweg::{Options, from_iter};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Items of one firing.
const ITEMS: u64 = 1_000_000;
/// Its bytes: 8 MB of items, in a chunk that has doubled to the next power of two, the last time from half.
const FIRING: usize = 8 * ITEMS.next_power_of_two() as usize * 3 / 2;

#[test]
fn large_firings_keep_the_budget_but_for_one_of_each_worker() {
    for threads in [1, 2, 4] {
        for unordered in [false, true] {
            let options = Options::new().threads(threads).budget(1 << 20);
            let before = ALLOCATOR.current_usage();
            ALLOCATOR.reset_peak_usage();
            let mut count = 0u64;
            let stage = from_iter(0..40u64).par_flat_map(|n| n * ITEMS..(n + 1) * ITEMS);
            let stage = if unordered { stage.unordered() } else { stage };
            let flow = stage.for_each(|_| count += 1);
            watch(format!("{options:?}"), || flow.run(&options)).unwrap();
            assert_eq!(count, 40 * ITEMS);
            let (peak, most) = (ALLOCATOR.peak_usage() - before, (1 << 20) + threads * FIRING + (1 << 20));
            assert!(peak <= most, "{threads} threads, unordered {unordered}: {peak} bytes, not {most}");
        }
    }
}

//! Bytes that a run takes from the allocator when a single firing pushes many items.

mod support;

use peak_alloc::PeakAlloc;
use support::watchdog::watch;
use thalweg::{Options, from_iter};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Items that one firing pushes.
const ITEMS: u64 = 1_000_000;
/// The peak bytes of one firing: 8 MB of items in a buffer that grows by doubling to the next power of two. During the
/// last doubling the old half is still allocated.
const FIRING: usize = 8 * ITEMS.next_power_of_two() as usize * 3 / 2;

#[test]
fn large_firings_exceed_the_budget_by_at_most_one_per_worker() {
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
            assert!(peak <= most, "{threads} threads, unordered {unordered}: {peak} bytes, limit {most}");
        }
    }
}

//! Bytes that a run takes from the allocator: with default options, when firings push many items, and for each task of a
//! graph.

#[path = "memory/blocks.rs"]
mod blocks;
#[path = "memory/programs.rs"]
mod programs;
mod support;

use peak_alloc::PeakAlloc;
use std::sync::{Mutex, PoisonError};
use support::watchdog::watch;
use thalweg::tasks::{self, OnDemand, TaskGraph};
use thalweg::{Options, Stream, from_iter, output};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Held by a test while it measures.
static MEASURING: Mutex<()> = Mutex::new(());

const MIB: usize = 1 << 20;

/// The result of a call, and the largest number of bytes that the process had allocated during it beyond those before.
fn peak_of<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let _measuring = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let result = call();
    (result, ALLOCATOR.peak_usage() - before)
}

/// Firings of a run.
const FIRINGS: u64 = 8;
/// Items that one firing pushes.
const ITEMS: u64 = 1_000_000;
/// The peak bytes of one firing: 8 MB of items in a buffer that grows by doubling to the next power of two. During the
/// last doubling the old half is still allocated.
const FIRING: usize = 8 * ITEMS.next_power_of_two() as usize * 3 / 2;
const BUDGET: usize = 1 << 20;

/// Checks that runs on 1, 2 and 4 threads, ordered and not, take at most `most(threads)` bytes. The stage that `build` adds
/// turns each number into [`ITEMS`] items.
fn takes_at_most(
    most: impl Fn(usize) -> usize,
    build: impl Fn(Stream<'static, u64>) -> Stream<'static, u64>,
) {
    let _measuring = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    for threads in [1, 2, 4] {
        for unordered in [false, true] {
            let options = Options::new().threads(threads).budget(BUDGET);
            let before = ALLOCATOR.current_usage();
            ALLOCATOR.reset_peak_usage();
            let stage = build(from_iter(0..FIRINGS));
            let stage = if unordered { stage.unordered() } else { stage };
            let flow = stage.fold(0u64, |count, _| count + 1);
            let (count, _) = watch(format!("{options:?}"), || flow.run_with(&options)).unwrap().into_parts();
            assert_eq!(count, FIRINGS * ITEMS);
            let (peak, most) = (ALLOCATOR.peak_usage() - before, most(threads));
            assert!(peak <= most, "{threads} threads, unordered {unordered}: {peak} bytes, limit {most}");
        }
    }
}

/// The items of one number.
fn items(n: u64) -> std::ops::Range<u64> {
    n * ITEMS..(n + 1) * ITEMS
}

/// The iterator of `par_flat_map` is interrupted.
#[test]
fn a_par_flat_map_with_large_firings_keeps_the_budget() {
    takes_at_most(|_| BUDGET + (1 << 19), |stage| stage.par_flat_map(items));
}

/// A kernel's own closure cannot be interrupted.
#[test]
fn large_firings_of_a_kernel_exceed_the_budget_by_at_most_one_per_worker() {
    takes_at_most(
        |threads| BUDGET + threads * FIRING + (1 << 20),
        |stage| {
            let kernel = stage.kernel("many", output("out"));
            kernel.parallel(|numbers, out| out.extend(items(numbers.pop())))
        },
    );
}

/// 10^7 tasks with keys of 8 bytes and results of 4 fit in 1 GiB, whether the graph is wide or deep. The bytes of one task
/// depend on how far its tables are filled, so several numbers of tasks are tried; a fixed part is allowed for.
#[test]
fn tiny_tasks_need_107_bytes_each() {
    let _measuring = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    for side in [200u64, 300, 400, 500] {
        let wavefront = OnDemand::new(
            |&key: &u64, needs: &mut Vec<u64>| {
                needs.extend(key.checked_sub(side));
                needs.extend((key % side > 0).then(|| key - 1));
            },
            |_: &u64, context| context.inputs().fold(1u32, |sum, input| sum.wrapping_add(*input)),
        );
        let chain = OnDemand::new(
            |&key: &u64, needs: &mut Vec<u64>| needs.extend(key.checked_sub(1)),
            |_: &u64, context| context.inputs().fold(1u32, |sum, input| sum.wrapping_add(*input)),
        );
        let tasks = side * side;
        for members in [1, 2] {
            let options = tasks::TaskOptions::new().members(members);
            let peak = |run: &dyn Fn() -> usize| {
                let before = ALLOCATOR.current_usage();
                ALLOCATOR.reset_peak_usage();
                assert_eq!(run() as u64, tasks);
                (ALLOCATOR.peak_usage() - before) as u64
            };
            let wide = peak(&|| wavefront.run_with(tasks - 1, &options).expect("no cycle").len());
            let deep = peak(&|| chain.run_with(tasks - 1, &options).expect("no cycle").len());
            let most = 107 * tasks + (1 << 16);
            assert!(
                wide <= most,
                "wavefront of {tasks} tasks, {members} members: {wide} bytes, limit {most}"
            );
            assert!(deep <= most, "chain of {tasks} tasks, {members} members: {deep} bytes, limit {most}");
        }
    }
}

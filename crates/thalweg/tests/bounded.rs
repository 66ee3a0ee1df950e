//! Bounded by default: channels of items that own memory begin narrow, and widen by the time of their items.

use crate::support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use support::watchdog::watch;
use thalweg::plan::Plan;
use thalweg::{Options, Output, from_iter};

/// Strings through a sequential stage that takes `time` for each.
fn strings(count: usize, time: Duration) -> Output<'static, usize> {
    let lines = from_iter((0..count).map(|n| n.to_string())).map(move |line| {
        if time > Duration::ZERO {
            std::thread::sleep(time);
        }
        line
    });
    lines.fold(0, |sum, line: String| sum + line.len())
}

fn on(threads: usize) -> Options {
    Options::new().threads(threads)
}

/// A channel between sequential stages begins with room for two firings of each.
const FIRST: usize = 4;

#[test]
fn channels_of_short_items_get_all_their_slots() {
    for threads in [1, 2] {
        let plan = strings(1, Duration::ZERO).graph().prepare(&on(threads)).unwrap().plan().clone();
        let report = strings(300_000, Duration::ZERO).run_with(&on(threads)).unwrap().into_report();
        for (id, slots) in plan.slots() {
            assert_eq!(plan.capacities()[id.index()], FIRST);
            let capacity = report.channels()[id.index()].capacity();
            // On a busy machine the time of an item includes that of other programs.
            assert!(capacity >= slots / 4 && capacity <= *slots, "{threads}: {capacity} of {slots}");
        }
        assert_eq!(plan.slots().len(), 2);
    }
}

#[test]
fn channels_of_slow_items_stay_narrow() {
    for threads in [1, 2] {
        let report = strings(300, Duration::from_millis(1)).run_with(&on(threads)).unwrap().into_report();
        let capacities: Vec<usize> = report.channels().iter().map(|channel| channel.capacity()).collect();
        assert_eq!(capacities, [FIRST, FIRST], "{threads}");
    }
}

/// The first item is short by chance. A measurement of it alone must not widen the channel.
#[test]
fn a_short_first_item_widens_nothing() {
    let mut first = true;
    let slow = move |line: String| {
        if !std::mem::take(&mut first) {
            std::thread::sleep(Duration::from_millis(1));
        }
        line
    };
    let flow = from_iter((0..200).map(|n: u32| n.to_string())).map(slow).for_each(drop);
    let report = flow.run_with(&on(2)).unwrap().into_report();
    assert_eq!(report.channels()[0].capacity(), FIRST);
}

/// Plain data, a stated capacity, and a run without a clock keep what they had.
#[test]
fn other_channels_begin_with_all_their_room() {
    let of = |flow: Output<'static, usize>, options: &Options| {
        let plan = flow.graph().prepare(options).unwrap().plan().clone();
        (plan.capacities().to_vec(), plan.slots().len())
    };
    let numbers = || from_iter(0..10usize).fold(0, |sum, n| sum + n);
    assert_eq!(of(numbers(), &on(2)), (vec![2048], 0));
    assert_eq!(of(strings(10, Duration::ZERO), &on(2).capacity(100)), (vec![100, 100], 0));
    assert_eq!(of(strings(10, Duration::ZERO), &on(2).repeatable()), (vec![680, 680], 0));
    let stated = from_iter(["a".to_owned()]).capacity(77).fold(0, |sum, line: String| sum + line.len());
    assert_eq!(of(stated, &on(2)), (vec![77], 0));
}

#[test]
fn a_plan_with_narrow_channels_is_replayed() {
    let network = strings(1000, Duration::ZERO).graph().build().unwrap();
    let graph = network.graph().clone();
    let plan = network.prepare(&on(2)).unwrap().plan().clone();
    let text = plan.on(&graph).to_string();
    assert!(text.contains("channel 0 capacity 4 slots 680  # "), "{text}");
    let read = Plan::read(&text, &graph).unwrap();
    assert_eq!(read, plan);
    let length: usize = (0..1000).map(|n: usize| n.to_string().len()).sum();
    assert_eq!(
        strings(1000, Duration::ZERO).run_with(&Options::new().plan(read)).unwrap().into_value(),
        length
    );
}

/// Also if its plan is that of a run with a clock, whose channels widen, and a thread measures the time of its own node.
#[test]
fn a_counted_run_widens_nothing() {
    let flow = || from_iter((0..100_000u32).map(|n| n.to_string())).for_each(drop).blocking();
    for threads in [1, 2] {
        let plan = flow().graph().prepare(&on(threads)).unwrap().plan().clone();
        let (capacities, slots) = (plan.capacities().to_vec(), plan.slots().len());
        let report = flow().run_with(&Options::new().plan(plan).repeatable()).unwrap().into_report();
        assert_eq!((capacities, slots), (vec![FIRST], 1), "{threads}");
        assert_eq!(report.channels()[0].capacity(), FIRST, "{threads}");
    }
}

const MIB: usize = 1 << 20;

/// Items that weigh 1 MiB each, a thousand of which have slots.
#[test]
fn weighed_channels_together_hold_64_mib() {
    for threads in [1, 2] {
        let items =
            from_iter(0..500u32).weigh(|_| MIB).capacity(1000).map(|n| n).weigh(|_| MIB).capacity(1000);
        let slow = items.for_each(|_| std::thread::sleep(Duration::from_micros(100)));
        let report = watch(format!("{threads}"), || slow.run_with(&on(threads))).unwrap().into_report();
        for channel in report.channels() {
            assert!(
                channel.peak_bytes() >= MIB as u64 && channel.peak_bytes() <= 33 * MIB as u64,
                "{channel:?}"
            );
        }
        assert!(report.to_string().contains(" held at most "), "{report}");
    }
}

/// Counts the bytes that live items weigh.
struct Heavy<'a>(&'a AtomicUsize, usize);

impl<'a> Heavy<'a> {
    fn new((live, most): &'a (AtomicUsize, AtomicUsize), bytes: usize) -> Self {
        let now = live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        most.fetch_max(now, Ordering::Relaxed);
        Heavy(live, bytes)
    }
}

impl Drop for Heavy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

/// Several channels, all of which would be full: the slowest stage comes last. Counted by the items themselves, so that items
/// in none of the channels count too: one in each stage, and that which `from_iter` has made.
#[test]
fn all_weighed_channels_of_a_graph_hold_64_mib_in_total() {
    const STAGES: usize = 5;
    for threads in [1, 2] {
        let counts = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut items =
            from_iter((0..400u32).map(|_| Heavy::new(&counts, MIB))).weigh(|item| item.1).capacity(1000);
        for _ in 1..STAGES {
            items = items.map(|item| item).weigh(|item| item.1).capacity(1000);
        }
        let slow = items.for_each(|_| std::thread::sleep(Duration::from_micros(200)));
        let report = watch(format!("{threads}"), || slow.run_with(&on(threads))).unwrap().into_report();
        let most = counts.1.load(Ordering::Relaxed);
        assert!(most <= (64 + STAGES + 1) * MIB, "{threads} threads: {} MiB live", most / MIB);
        let peaks: u64 = report.channels().iter().map(|channel| channel.peak_bytes()).sum();
        assert_eq!(report.channels().len(), STAGES);
        assert!(peaks <= ((64 + STAGES) * MIB) as u64, "{threads} threads: {} MiB", peaks / MIB as u64);
        // Each channel has its share, and uses it.
        let share = (64 * MIB / STAGES) as u64;
        assert!(report.channels().iter().all(|channel| channel.peak_bytes() >= share / 2), "{report}");
    }
}

/// A graph that needs more than that gets it: a firing that pops 200 MiB at once.
#[test]
fn weighed_channels_grow_where_the_graph_needs_it() {
    let items = from_iter(0..400u32).weigh(|_| MIB).capacity(1000);
    let frames = items
        .kernel("frame", thalweg::output("out"))
        .framed(|items| items.peek(199).map(|last| last.map(|_| 200)));
    let frames = frames.sequential(|items, out| out.push(std::iter::from_fn(|| items.try_pop()).count()));
    let flow = frames.fold(0, |sum, count: usize| sum + count);
    let (sum, report) = watch("frames", || flow.run_with(&on(2))).unwrap().into_parts();
    assert_eq!(sum, 400);
    assert!(!report.growths().is_empty());
}

//! Regression tests: safe programs that once corrupted memory, or had a result that depended on timing.

use crate::support;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::watchdog::watch;
use thalweg::{Error, Graph, Options, Report, Run, Stream, input, output, window};

/// How often each of a thousand items was dropped.
#[derive(Clone)]
struct Drops(Arc<Vec<AtomicU32>>);

impl Drops {
    fn new() -> Drops {
        Drops(Arc::new((0..1000).map(|_| AtomicU32::new(0)).collect()))
    }

    fn item(&self, number: usize) -> Item {
        Item { number, drops: self.clone(), made: true }
    }

    /// The items that were not dropped exactly once, with their counts. `optional` items may not have been created.
    fn wrong(&self, optional: impl Fn(usize) -> bool) -> BTreeMap<usize, u32> {
        let counts = self.0.iter().enumerate().map(|(number, count)| (number, count.load(Ordering::SeqCst)));
        counts.filter(|(number, count)| !(*count == 1 || *count == 0 && optional(*number))).collect()
    }
}

/// An item with counted drops; the first drop of number 500 panics.
struct Item {
    number: usize,
    drops: Drops,
    made: bool,
}

impl Drop for Item {
    fn drop(&mut self) {
        let before = self.drops.0[self.number].fetch_add(1, Ordering::SeqCst);
        assert!(before > 0 || self.number != 500 || !self.made, "a drop that fails");
    }
}

/// The kind of node that sends items to a consumer that has left.
#[derive(Clone, Copy, Debug)]
enum Producer {
    Sequential {
        push: bool,
    },
    Parallel {
        push: bool,
    },
    /// Pushes two items at a time into a channel with room for one.
    Overflow,
    Process,
}

const PRODUCERS: [Producer; 6] = [
    Producer::Sequential { push: true },
    Producer::Sequential { push: false },
    Producer::Parallel { push: true },
    Producer::Parallel { push: false },
    Producer::Overflow,
    Producer::Process,
];

/// A node that sends each item to a consumer that leaves after three, and the item's number to another.
fn split(
    graph: &Graph<'static>,
    numbers: Stream<'static, usize>,
    producer: Producer,
    drops: &Drops,
) -> (Stream<'static, Item>, Stream<'static, usize>) {
    let drops = drops.clone();
    let is_static =
        matches!(producer, Producer::Sequential { push: true } | Producer::Parallel { push: true });
    let items = if is_static { output("a").push(1) } else { output("a") };
    let kernel = graph.kernel("split", input("in", numbers), (items, output("b")));
    match producer {
        Producer::Sequential { .. } => kernel.sequential(move |i, (a, b)| {
            let i = i.pop();
            a.push(drops.item(i));
            b.push(i);
        }),
        Producer::Parallel { .. } => kernel.parallel(move |i, (a, b)| {
            let i = i.pop();
            a.push(drops.item(i));
            b.push(i);
        }),
        Producer::Overflow => kernel.sequential(move |i, (a, b)| {
            let i = i.pop();
            if i % 2 == 1 {
                a.extend([i - 1, i].map(|i| drops.item(i)));
            }
            b.push(i);
        }),
        Producer::Process => kernel.process(move |mut i, (mut a, mut b)| async move {
            while let Some(i) = i.recv().await {
                a.send(drops.item(i)).await;
                b.send(i).await;
            }
        }),
    }
}

#[test]
fn an_item_whose_drop_panics_after_its_consumer_has_left_is_dropped_once() {
    for producer in PRODUCERS {
        for (threads, capacity) in [(1, 1), (1, 300), (2, 1), (2, 300)] {
            let drops = Drops::new();
            let graph = Graph::new();
            let numbers = graph.source(0..1000usize).named("n");
            let (items, numbers) = split(&graph, numbers, producer, &drops);
            let mut seen = 0;
            items
                .capacity(capacity)
                .for_each(move |_| {
                    seen += 1;
                    if seen > 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                })
                .named("few");
            numbers.for_each(|_| ()).named("all");
            let options = Options::new().threads(threads);
            let what = format!("{producer:?}, {threads} threads, room for {capacity}");
            let end = watch(what.clone(), || graph.run_with(&options));
            let error = end.expect_err(&what).to_string();
            assert!(error.contains("`split` panicked: a drop that fails"), "{what}: {error}");
            // The failed run may not have created the items after number 4.
            assert_eq!(drops.wrong(|number| number > 4), BTreeMap::new(), "{what}");
        }
    }
}

#[test]
fn items_whose_weighing_panics_are_dropped_once() {
    for producer in PRODUCERS {
        for threads in [1, 2] {
            let drops = Drops::new();
            let graph = Graph::new();
            let numbers = graph.source(0..400usize).named("n");
            let (items, numbers) = split(&graph, numbers, producer, &drops);
            let heavy = items.weigh(|item| if item.number < 300 { 8 } else { panic!("no scale") });
            heavy.for_each(|_| ()).named("items");
            numbers.for_each(|_| ()).named("all");
            let end = watch(format!("{producer:?}"), || graph.run_with(&Options::new().threads(threads)));
            let error = end.unwrap_err().to_string();
            assert!(error.contains("no scale"), "{producer:?}: {error}");
            let optional = |number| number >= 300;
            assert_eq!(drops.wrong(optional), BTreeMap::new(), "{producer:?}, {threads} threads");
        }
    }
}

/// A value that is not `Clone`: each must be dropped once.
struct Token(Arc<AtomicU32>);

/// A zero-sized value; a static counts its drops.
struct ZeroSized;
static ZERO_SIZED_DROPS: AtomicU32 = AtomicU32::new(0);

impl Drop for ZeroSized {
    fn drop(&mut self) {
        ZERO_SIZED_DROPS.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Whether this is a kernel's fifth firing, which exchanges the cursors of two ports.
fn is_fifth(count: &AtomicU32) -> bool {
    count.fetch_add(1, Ordering::Relaxed) == 4
}

/// Whether this is a kernel's fifth or sixth firing.
fn is_fifth_or_sixth(count: &AtomicU32) -> bool {
    matches!(count.fetch_add(1, Ordering::Relaxed), 4 | 5)
}

/// Runs a kernel with two inputs and two outputs of one type that exchanges two of its cursors once: the run must
/// fail, and each item must be dropped once.
fn assert_exchange_fails<T: Send + 'static>(
    what: &str,
    make: impl Fn() -> T + Send + Clone + 'static,
    drops: impl Fn() -> u32,
    add: impl Fn(&Graph<'static>, Stream<'static, T>, Stream<'static, T>) -> Vec<Stream<'static, T>>,
) {
    let long = || Options::new().repeatable().claim_length(16);
    for options in
        [Options::new().threads(1), Options::new().threads(2), long().threads(1), long().threads(2)]
    {
        let before = drops();
        let made = Arc::new(AtomicU32::new(0));
        let graph = Graph::new();
        let source = |name| {
            let (make, made) = (make.clone(), made.clone());
            graph
                .source((0..1000).map(move |_| {
                    made.fetch_add(1, Ordering::SeqCst);
                    make()
                }))
                .named(name)
        };
        let (a, b) = (source("a"), source("b"));
        for (i, stream) in add(&graph, a, b).into_iter().enumerate() {
            stream.for_each(drop).named(&format!("sink{i}"));
        }
        let end = watch(what.to_owned(), || graph.run_with(&options));
        let error = end.expect_err(what).to_string();
        assert!(error.contains("exchanged the cursors of two ports"), "{what}: {error}");
        assert_eq!(drops() - before, made.load(Ordering::SeqCst), "{what}, {options:?}");
    }
}

/// Exchanges the cursors of each kind of kernel and of port.
fn exchanges<T: Send + Sync + 'static>(
    make: impl Fn() -> T + Send + Sync + Clone + 'static,
    drops: impl Fn() -> u32 + Clone,
) {
    let fresh = || AtomicU32::new(0);
    assert_exchange_fails("two inputs", make.clone(), drops.clone(), |graph, a, b| {
        let count = fresh();
        graph.kernel("k", (input("a", a), input("b", b)), ()).sequential(move |(a, b), ()| {
            if is_fifth(&count) {
                std::mem::swap(a, b);
            }
        });
        Vec::new()
    });
    assert_exchange_fails("two inputs, parallel", make.clone(), drops.clone(), |graph, a, b| {
        let count = fresh();
        graph.kernel("k", (input("a", a), input("b", b).pop(3)), ()).parallel(move |(a, b), ()| {
            if is_fifth(&count) {
                std::mem::swap(a, b);
            }
        });
        Vec::new()
    });
    assert_exchange_fails("two windows", make.clone(), drops.clone(), |graph, a, b| {
        let count = fresh();
        graph.kernel("k", (window("a", a).peek(4), window("b", b).pop(2)), ()).sequential(
            move |(a, b), ()| {
                if is_fifth(&count) {
                    std::mem::swap(a, b);
                }
            },
        );
        Vec::new()
    });
    assert_exchange_fails("a vector of inputs", make.clone(), drops.clone(), |graph, a, b| {
        let count = fresh();
        graph.kernel("k", vec![input("a", a), input("b", b)], ()).parallel(move |ins, ()| {
            if is_fifth(&count) {
                ins.swap(0, 1);
            }
        });
        Vec::new()
    });
    for push in [false, true] {
        let out = move |name| if push { output::<T>(name).push(1) } else { output::<T>(name) };
        assert_exchange_fails(&format!("two outputs, {push}"), make.clone(), drops.clone(), |graph, a, b| {
            let count = fresh();
            let kernel = graph.kernel("k", (input("a", a), input("b", b)), (out("x"), out("y")));
            let (x, y) = kernel.sequential(move |(a, b), (x, y)| {
                x.push(a.pop());
                y.push(b.pop());
                if is_fifth(&count) {
                    std::mem::swap(x, y);
                }
            });
            vec![x, y]
        });
        assert_exchange_fails(
            &format!("outputs, parallel, {push}"),
            make.clone(),
            drops.clone(),
            |graph, a, b| {
                let count = fresh();
                let kernel = graph.kernel("k", (input("a", a), input("b", b)), (out("x"), out("y")));
                let (x, y) = kernel.parallel(move |(a, b), (x, y)| {
                    x.push(a.pop());
                    y.push(b.pop());
                    if is_fifth(&count) {
                        std::mem::swap(x, y);
                    }
                });
                vec![x, y]
            },
        );
    }
    assert_exchange_fails("framed inputs", make.clone(), drops.clone(), |graph, a, b| {
        let count = fresh();
        let kernel = graph.kernel("k", (input("a", a), input("b", b)), ());
        kernel
            .framed(|(a, b)| Ok((a.peek(0)?.is_some() && b.peek(1)?.is_some()).then_some([1, 2])))
            .sequential(move |(a, b), ()| {
                if is_fifth(&count) {
                    std::mem::swap(a, b);
                }
            });
        Vec::new()
    });
    // Swapped, and swapped back in the next firing: then only the positions of the cursors differ.
    assert_exchange_fails("framed inputs, and back", make.clone(), drops.clone(), |graph, a, b| {
        let count = fresh();
        let kernel = graph.kernel("k", (input("a", a), input("b", b)), ());
        kernel
            .framed(|(a, b)| Ok((a.peek(0)?.is_some() && b.peek(1)?.is_some()).then_some([1, 2])))
            .sequential(move |(a, b), ()| {
                if is_fifth_or_sixth(&count) {
                    std::mem::swap(a, b);
                }
            });
        Vec::new()
    });
    assert_exchange_fails("framed windows, and back", make.clone(), drops.clone(), |graph, a, b| {
        let count = fresh();
        let kernel = graph.kernel("k", (window("a", a), window("b", b)), ());
        kernel
            .framed(|(a, b)| Ok((a.peek(0)?.is_some() && b.peek(1)?.is_some()).then_some([1, 2])))
            .parallel(move |(a, b), ()| {
                if is_fifth_or_sixth(&count) {
                    std::mem::swap(a, b);
                }
            });
        Vec::new()
    });
    assert_exchange_fails("windows, parallel, and back", make.clone(), drops.clone(), |graph, a, b| {
        let count = fresh();
        graph.kernel("k", (window("a", a).pop(1), window("b", b).pop(3)), ()).parallel(move |(a, b), ()| {
            if is_fifth_or_sixth(&count) {
                std::mem::swap(a, b);
            }
        });
        Vec::new()
    });
    assert_exchange_fails("inputs, parallel, and back", make.clone(), drops.clone(), |graph, a, b| {
        let count = fresh();
        graph.kernel("k", (input("a", a), input("b", b).pop(3)), ()).parallel(move |(a, b), ()| {
            if is_fifth_or_sixth(&count) {
                std::mem::swap(a, b);
            }
        });
        Vec::new()
    });
    assert_exchange_fails("outputs as the node ends", make, drops, |graph, a, b| {
        let kernel = graph.kernel("k", (input("a", a), input("b", b)), (output("x"), output("y")));
        let (x, y) = kernel.finish(|(x, y)| std::mem::swap(x, y)).sequential(|(a, b), (x, y)| {
            x.push(a.pop());
            y.push(b.pop());
        });
        vec![x, y]
    });
}

#[test]
fn two_ports_of_one_firing_cannot_be_exchanged() {
    let dropped = Arc::new(AtomicU32::new(0));
    let count = dropped.clone();
    exchanges(move || Token(count.clone()), move || dropped.load(Ordering::SeqCst));
}

#[test]
fn two_ports_of_zero_sized_items_cannot_be_exchanged() {
    exchanges(|| ZeroSized, || ZERO_SIZED_DROPS.load(Ordering::SeqCst));
}

/// The closure of `send_with` must return the slot that it was called with, also for zero-sized values, which may
/// all have the same address.
#[test]
fn a_zero_sized_value_of_another_place_is_not_sent() {
    #[derive(Clone, Copy)]
    struct Empty;
    let graph = Graph::new();
    let items = graph.process("send", (), output("out"), |(), mut tx| async move {
        let others: &'static mut [Empty] = Box::leak(Box::new([Empty; 2]));
        let mut places = others.iter_mut();
        tx.send_with(|place| place.write(Empty)).await;
        tx.send_with(move |_| places.next().unwrap()).await;
    });
    items.for_each(|_| ()).named("sink");
    let error = graph.run_with(&Options::new().threads(1)).unwrap_err().to_string();
    assert!(error.contains("another reference"), "{error}");
}

/// A loop with a process that panics if its feedback ends, and a sink that leaves. The feedback must never end.
fn abandoned_loop(kind: usize, options: &Options, leave_after: u64) -> Result<Report, Error> {
    const EARLY: &str = "the loop ended";
    let graph = Graph::new();
    let source = graph.source(0..1000u64).named("source");
    let (end, back) = graph.feedback([1u64, 2]);
    let (ins, outs) = ((input("a", source), input("b", back)), (output("o"), output("l")));
    let (out, round) = match kind % 3 {
        0 => graph.process("add", ins, outs, |(mut a, mut b), (mut o, mut l)| async move {
            while let Some(x) = a.recv().await {
                let y = b.recv().await.expect(EARLY);
                o.send(x + y).await;
                l.send(y).await;
            }
        }),
        1 => graph.coroutine("add", ins, outs, |(a, mut b), (mut o, mut l)| {
            for x in a {
                // While the coroutine is unwound its ends return `None`, but this line does not run then.
                let y = b.recv().expect(EARLY);
                o.send(x + y);
                l.send(y);
            }
        }),
        _ => graph
            .kernel("add", ins, outs)
            .framed(|(a, b)| {
                let Some(_) = a.peek(0)? else { return Ok(None) };
                b.peek(0)?.expect(EARLY);
                Ok(Some([1, 1]))
            })
            .sequential(|(a, b), (o, l)| {
                let y = b.pop();
                o.push(a.pop() + y);
                l.push(y);
            }),
    };
    let round = match kind % 2 {
        0 => graph.process("pass", input("i", round), output("o"), |mut r, mut t| async move {
            while let Some(x) = r.recv().await {
                t.send(x).await;
            }
        }),
        _ => graph.kernel("pass", input("i", round), output("o")).parallel(|i, o| o.push(i.pop())),
    };
    round.feed(end);
    let mut seen = 0;
    out.for_each(move |_| {
        seen += 1;
        if seen > leave_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .named("some");
    graph.run_with(options).map(Run::into_report).map_err(Error::from)
}

#[test]
fn a_cancelled_node_does_not_observe_that_another_has_ended() {
    // The race is rare in a single run, hence many runs under every policy.
    for kind in 0..6 {
        for policy in thalweg::embed::policy::registry::names() {
            let options = Options::new().threads(2 + kind % 2).policy(policy);
            for round in 0..support::runner::count(1) {
                let what = format!("kind {kind}, {policy}, round {round}");
                watch(what.clone(), || abandoned_loop(kind, &options, round % 300))
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
            }
        }
    }
}

/// A loop with one item in flight. Its second process drops the seventeenth item.
fn swallowing(items: u64, capacity: usize, options: &Options) -> (u64, Result<Report, Error>) {
    let got = Arc::new(Mutex::new(0));
    let graph = Graph::new();
    let source = graph.source(0..items).named("source");
    let (end, back) = graph.feedback::<u64>([]);
    let ins = (input("in", source.capacity(capacity)), input("back", back));
    let (round, results) =
        graph.process("gate", ins, (output("o"), output("r")), |(mut i, mut b), (mut o, mut r)| async move {
            while let Some(x) = i.recv().await {
                o.send(x).await;
                let Some(y) = b.recv().await else { break };
                r.send(y).await;
            }
        });
    let round = graph.process("swallow", input("in", round), output("out"), |mut r, mut t| async move {
        let mut count = 0;
        while let Some(x) = r.recv().await {
            count += 1;
            if count != 17 {
                t.send(x).await;
            }
        }
    });
    round.feed(end);
    let count = got.clone();
    results.for_each(move |_| *count.lock().unwrap() += 1).named("end");
    let end = watch(format!("{items}, {capacity}, {options:?}"), || graph.run_with(options));
    let end = end.map(Run::into_report);
    let got = *got.lock().unwrap();
    (got, end.map_err(Error::from))
}

#[test]
fn a_loop_that_loses_an_item_fails_at_any_budget() {
    for policy in ["auto", "ws-last", "random"] {
        for (items, capacity) in [(18, 2), (1000, 2), (1000, 100_000), (200_000, 2)] {
            for budget in [None, Some(1000), Some(100_000)] {
                let mut options = Options::new().threads(2).policy(policy);
                if let Some(budget) = budget {
                    options = options.budget(budget);
                }
                let (got, end) = swallowing(items, capacity, &options);
                let what = format!("{items} items, room for {capacity}, budget {budget:?}, {policy}");
                let error = end.expect_err(&what).to_string();
                assert_eq!(got, 16, "{what}");
                assert!(
                    error.contains("`source.out -> gate.in` holds items for node `gate`"),
                    "{what}: {error}"
                );
                assert!(
                    error.contains("node `gate` waits for items on `swallow.out -> gate.back`"),
                    "{error}"
                );
                // With `close_starved_loops` the loop ends instead.
                let (got, end) = swallowing(items, capacity, &options.close_starved_loops());
                end.unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_eq!(got, 16, "{what}");
            }
        }
    }
}

#[test]
fn a_loop_that_loses_its_last_item_ends() {
    for budget in [1000, 100_000] {
        let (got, end) = swallowing(17, 2, &Options::new().threads(2).budget(budget));
        assert_eq!((got, end.is_ok()), (16, true));
    }
}

/// A kernel that pops two items from outside and one of its feedback, and drops the feedback item the third time.
fn pairing(items: u64, options: &Options) -> Result<Report, Error> {
    let graph = Graph::new();
    let source = graph.source(0..items).named("source");
    let (end, back) = graph.feedback([0u64]);
    let mut count = 0;
    let (sums, round) = graph
        .kernel("pair", (input("in", source).pop(2), input("back", back)), (output("sum"), output("round")))
        .sequential(move |(items, back), (sums, round)| {
            sums.push(items.pop() + items.pop());
            count += 1;
            let item = back.pop();
            round.extend((count != 3).then_some(item));
        });
    let round = graph.kernel("pass", input("in", round), output("out")).sequential(|i, o| o.push(i.pop()));
    round.feed(end);
    sums.for_each(|_: u64| ()).named("sums");
    watch(format!("{items}"), || graph.run_with(options)).map(Run::into_report).map_err(Error::from)
}

#[test]
fn items_too_few_for_a_firing_are_left_over() {
    for (items, left) in [(6, Some(0)), (7, Some(1)), (8, None), (100, None)] {
        for budget in [1000, 100_000] {
            let end = pairing(items, &Options::new().threads(2).budget(budget));
            assert_eq!(end.ok().map(|report| report.channels()[0].leftover()), left, "{items} items");
        }
    }
}

/// Feedback channels of two graphs cannot be exchanged: neither of the two can be built.
#[test]
fn a_feedback_channel_is_closed_in_its_own_graph() {
    let (one, two) = (Graph::new(), Graph::new());
    let (end, _back) = one.feedback([1u64]);
    let items = two.source(0..9u64).named("items");
    items.feed(end);
    let error = one.build().unwrap_err().to_string();
    let expected = "a feedback channel cannot be closed: it was given a stream of another graph";
    assert!(error.contains(expected), "{error}");
    let error = two.build().unwrap_err().to_string();
    assert!(error.contains("output `items.out` is connected to nothing"), "{error}");
}

/// A drop that blocks, once `over` is set, until `y` has fired again or a while has passed.
struct Slow(Arc<[AtomicU32; 3]>);

impl Drop for Slow {
    fn drop(&mut self) {
        let [over, blocked, fired] = &*self.0;
        if over.load(Ordering::SeqCst) == 1 && blocked.fetch_add(1, Ordering::SeqCst) == 0 {
            let before = fired.load(Ordering::SeqCst);
            for _ in 0..100 {
                std::thread::sleep(Duration::from_millis(1));
                if fired.load(Ordering::SeqCst) > before {
                    break;
                }
            }
        }
    }
}

/// A starved loop is closed and its outside input cut, while a parallel node in the loop has read the input's tail. One
/// worker takes the node's alert and blocks in the drop of an item; another fires the node meanwhile.
#[test]
fn a_node_fires_on_no_items_beyond_a_cut() {
    // Where the input is cut depends on the graph and the budget: the small one has no room for the growth of channel
    // `a`, so `y` stops at its capacity; by default `y` pops all input before the loop ends.
    for (budget, popped) in [(20, 2), (1 << 20, 40)] {
        fires_before_a_cut(budget, popped);
    }
}

/// The case above under all policies: `y` pops `popped` items before the cut.
fn fires_before_a_cut(budget: usize, popped: usize) {
    for policy in ["auto", "random", "ws-last", "qes"] {
        let (drops, state) = (Drops::new(), Arc::new([const { AtomicU32::new(0) }; 3]));
        let graph = Graph::new();
        let made = drops.clone();
        let outside = graph.source((0..40).map(move |number| made.item(number))).capacity(8);
        let (from_end, first) = graph.feedback([0u64]);
        let (own, own_back) = graph.feedback::<u64>([]);
        let many = graph.kernel("many", input("in", first), output::<u64>("out")).sequential(|first, out| {
            first.pop();
            (0..64).for_each(|i| out.push(i));
        });
        let outputs = (output::<u64>("a").push(1), output::<Slow>("b").push(1), output::<usize>("c").push(1));
        let shared = state.clone();
        let (a, b, c) = graph
            .kernel("y", (input("many", many.capacity(128)), input("outside", outside)), outputs)
            .parallel(move |(many, outside), (a, b, c)| {
                a.push(many.pop());
                let item: Item = outside.pop();
                b.push(Slow(shared.clone()));
                c.push(item.number);
                shared[2].fetch_add(1, Ordering::SeqCst);
            });
        let over = state.clone();
        let inputs = (input("a", a.capacity(2)), input("b", b.capacity(16)), input("own", own_back));
        let (back, again) = graph
            .kernel("end", inputs, (output::<u64>("back"), output::<u64>("again")))
            .finish(move |_| over[0].store(1, Ordering::SeqCst))
            .sequential(|(a, b, own), (back, again)| {
                back.push(a.pop());
                drop(b.pop());
                again.push(own.pop());
            });
        back.feed(from_end);
        again.feed(own);
        let numbers = c.collect();
        let options =
            Options::new().threads(2).claim_length(1).policy(policy).budget(budget).close_starved_loops();
        let what = format!("{policy}, {budget} bytes");
        let run = watch(&what, || graph.run_with(&options)).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(run.take(numbers).unwrap(), (0..popped).collect::<Vec<_>>(), "{what}");
        assert_eq!(drops.wrong(|_| true), BTreeMap::new(), "{what}");
    }
}

/// A panic's payload whose own drop panics.
struct Payload;

impl Drop for Payload {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("the payload");
        }
    }
}

#[test]
fn a_payload_that_panics_in_its_drop_is_an_error_of_the_run() {
    for threads in [1, 2] {
        let graph = Graph::new();
        let items = graph.source((0..10u64).inspect(|item| {
            if *item == 5 {
                std::panic::panic_any(Payload);
            }
        }));
        items.for_each(|_| ());
        let error = graph.run_with(&Options::new().threads(threads)).unwrap_err().into_error();
        assert!(matches!(error, Error::Panic { .. }), "{error}");
    }
}

#[test]
fn an_operation_inside_another_is_refused() {
    let graph = Graph::new();
    let items = graph.source(0..3u64);
    let copies = graph.coroutine("copy", items, output::<u64>("out"), |mut rx, mut tx| {
        tx.send_with(|place| place.write(rx.recv().unwrap()));
    });
    copies.for_each(|_| ());
    let error = graph.run_with(&Options::new().threads(1)).unwrap_err().to_string();
    assert!(error.contains("`copy` panicked: an operation of a channel began inside another one"), "{error}");
}

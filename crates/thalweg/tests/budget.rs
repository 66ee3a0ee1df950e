//! Bounded memory: a run with a byte budget keeps it while its last stage stalls.
//!
//! A ledger counts the bytes of live items, so its peak is the memory that the items of the run held: in
//! channels, in reorder windows, in firings. The peak may exceed the budget by the items of the firings in
//! progress: one firing of each sequential node, and for each worker one of each parallel node.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use support::item::Ledger;
use support::spec::mix;
use support::watchdog::watch;
use thalweg::embed::trace::Limit;
use thalweg::{Error, Options, Report, Stream, from_iter, input, output};

/// Bytes of the largest item.
const MOST: usize = 4000;

/// An item that counts as `bytes` bytes.
struct Heavy {
    bytes: usize,
    ledger: Arc<Ledger>,
}

impl Heavy {
    fn new(bytes: usize, ledger: &Arc<Ledger>) -> Heavy {
        ledger.add(bytes as i64);
        Heavy { bytes, ledger: ledger.clone() }
    }
}

impl Drop for Heavy {
    fn drop(&mut self) {
        self.ledger.add(-(self.bytes as i64));
    }
}

fn weight(item: &Heavy) -> usize {
    item.bytes
}

/// Items of a hundred bytes to [`MOST`].
fn heavy(count: u64, ledger: &Arc<Ledger>) -> Stream<'static, Heavy> {
    let ledger = ledger.clone();
    let bytes = |item| 100 + (mix(9, item) % (MOST as u64 - 99)) as usize;
    from_iter((0..count).map(move |item| Heavy::new(bytes(item), &ledger))).weigh(weight)
}

/// Replaces an item by a new one of the same weight.
fn renew(ledger: &Arc<Ledger>) -> impl Fn(Heavy) -> Heavy + Send + Sync + Clone + 'static {
    let ledger = ledger.clone();
    move |item| Heavy::new(item.bytes, &ledger)
}

/// Runs a chain. Its last stage blocks at the first item until the ledger does not change any more.
fn stall(chain: Stream<'static, Heavy>, ledger: &Arc<Ledger>, options: &Options) -> Report {
    let (seen, mut stalled) = (ledger.clone(), false);
    let flow = chain.for_each(move |item| {
        while !std::mem::replace(&mut stalled, true) {
            let mut before = -1;
            while before != seen.live() {
                before = seen.live();
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        drop(item);
    });
    watch(format!("{options:?}"), || flow.blocking().run_with(options).unwrap().into_report())
}

/// The bytes by which a run may exceed its budget: a firing of each sequential node and, for each worker, one of each
/// parallel node. A firing pops `pops` items and pushes `pushes`.
fn excess(sequential: usize, parallel: usize, threads: usize, pops: usize, pushes: usize) -> usize {
    (sequential + parallel * threads) * (pops + pushes) * MOST
}

fn everywhere(check: impl Fn(&Options, usize)) {
    for policy in thalweg::embed::policy::registry::names() {
        for threads in [1, 2, 4] {
            check(&Options::new().policy(policy).threads(threads), threads);
        }
    }
}

const BUDGET: usize = 200_000;

#[test]
fn a_chain_of_sequential_stages_keeps_its_budget() {
    everywhere(|options, _| {
        let ledger = Ledger::new();
        let (f, g) = (renew(&ledger), renew(&ledger));
        let chain = heavy(600, &ledger).map(f).weigh(weight).flat_map(move |item| [g(item)]).weigh(weight);
        stall(chain, &ledger, &options.clone().budget(BUDGET));
        let most = BUDGET + excess(4, 0, 1, 1, 1);
        assert!(ledger.most() as usize <= most, "{} bytes of {most}", ledger.most());
        assert_eq!(ledger.live(), 0);
    });
}

#[test]
fn a_farm_keeps_its_budget() {
    everywhere(|options, threads| {
        let ledger = Ledger::new();
        let (f, g) = (renew(&ledger), renew(&ledger));
        let chain =
            heavy(600, &ledger).par_map(f).weigh(weight).par_flat_map(move |item| [g(item)]).weigh(weight);
        stall(chain, &ledger, &options.clone().budget(BUDGET));
        let most = BUDGET + excess(2, 2, threads, 1, 1);
        assert!(ledger.most() as usize <= most, "{} bytes of {most}", ledger.most());
        assert_eq!(ledger.live(), 0);
    });
}

/// Results that are larger than their items, by an undeclared factor.
#[test]
fn a_farm_whose_results_grow_keeps_its_budget() {
    everywhere(|options, threads| {
        let ledger = Ledger::new();
        let f = renew(&ledger);
        let chain = heavy(400, &ledger).par_flat_map(move |item| {
            let item = f(item);
            (0..4).map(|_| Heavy::new(item.bytes, &item.ledger)).collect::<Vec<_>>()
        });
        stall(chain.weigh(weight), &ledger, &options.clone().budget(BUDGET));
        let most = BUDGET + excess(2, 1, threads, 2, 4);
        assert!(ledger.most() as usize <= most, "{} bytes of {most}", ledger.most());
        assert_eq!(ledger.live(), 0);
    });
}

/// Firings of many large results, made one by one. A worker may exceed the budget by one result, whatever the number and the
/// size of the results of a firing.
#[test]
fn long_firings_with_large_results_keep_the_budget() {
    const LARGE: usize = BUDGET / 8;
    everywhere(|options, threads| {
        for results in [3, 40, usize::MAX] {
            let ledger = Ledger::new();
            let made = ledger.clone();
            let make = move |_| {
                let made = made.clone();
                std::iter::repeat_with(move || Heavy::new(LARGE, &made)).take(results)
            };
            let chain = from_iter(0..200).par_flat_map(make).weigh(weight).take(400).weigh(weight);
            stall(chain, &ledger, &options.clone().budget(BUDGET));
            // One result of each channel and of each sequential stage, one of each worker.
            let most = BUDGET + (4 + threads) * LARGE;
            assert!(ledger.most() as usize <= most, "{} bytes of {most}", ledger.most());
            assert_eq!(ledger.live(), 0);
        }
    });
}

/// A consumer that pops more bytes than its channel may hold gets a higher limit as long as the budget allows it, whichever of
/// the two operators produces them.
#[test]
fn a_long_firing_that_waits_for_bytes_is_part_of_a_deadlock() {
    const LARGE: usize = BUDGET / 8;
    everywhere(|options, _| {
        for pops in [1, 2, 3, 4, 5, 10] {
            let run = |parallel: bool| {
                let ledger = Ledger::new();
                let made = ledger.clone();
                let make = move |_| {
                    let made = made.clone();
                    std::iter::repeat_with(move || Heavy::new(LARGE, &made)).take(100)
                };
                let items = from_iter(0..3);
                let graph = items.graph();
                let items = if parallel { items.par_flat_map(make) } else { items.flat_map(make) };
                let frame = input("items", items.weigh(weight)).pop(pops);
                let counts = graph.kernel("count", frame, output("counts").push(1));
                let counts = counts.sequential(move |items, out| {
                    out.push((0..pops).map(|_| items.pop().bytes / LARGE).sum());
                });
                let frames = counts.fold(0, |sum, count: usize| sum + count);
                let run = watch(format!("{options:?} {pops}"), || {
                    frames.run_with(&options.clone().budget(BUDGET)).map(thalweg::Run::into_value)
                });
                assert_eq!(ledger.live(), 0);
                match run.map_err(Error::from) {
                    Ok(count) => Some(count),
                    Err(Error::Deadlock(_)) => None,
                    Err(error) => panic!("{error}"),
                }
            };
            let count = run(true);
            assert_eq!((count, pops), (run(false), pops), "{options:?}");
            let expected = |count: Option<usize>| match pops {
                1 | 2 => count == Some(300),
                10 => count.is_none(),
                _ => true, // the byte limits depend on the number of threads
            };
            assert!(expected(count), "{pops}: {count:?}");
        }
    });
}

/// A budget that has room for all items does not reduce parallelism.
#[test]
fn a_farm_with_a_budget_stays_parallel() {
    let ledger = Ledger::new();
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (f, peak) = (renew(&ledger), most.clone());
    let chain = heavy(200, &ledger).par_map(move |item| {
        peak.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_micros(500));
        now.fetch_sub(1, Ordering::Relaxed);
        f(item)
    });
    let flow = chain.weigh(weight).for_each(drop);
    flow.run_with(&Options::new().threads(4).budget(BUDGET)).unwrap();
    assert!(most.load(Ordering::Relaxed) >= 3, "{most:?} firings at a time");
}

/// Channels grow within the same budget. If one side of a split holds back its items, the other side's channel
/// grows as far as the budget allows; then the run fails with a cause.
#[test]
fn growth_keeps_the_budget() {
    everywhere(|options, _| {
        for hoard in [20, 40, 80, 400] {
            let ledger = Ledger::new();
            let items = heavy(400, &ledger);
            let graph = items.graph();
            let make = renew(&ledger);
            let (a, b) = graph.kernel("fan", input("in", items), (output("a"), output("b"))).sequential(
                move |items, (a, b)| {
                    let item = items.pop();
                    a.push(item.bytes);
                    b.push(make(item));
                },
            );
            let mut kept = Vec::new();
            let late = graph.kernel("hoard", input("in", a), output("out")).sequential(move |items, out| {
                kept.push(items.pop());
                if kept.len() == hoard {
                    out.extend(kept.drain(..));
                }
            });
            graph.kernel("meet", (input("late", late), input("soon", b.weigh(weight))), ()).sequential(
                |(late, soon), ()| {
                    assert_eq!(late.pop(), soon.pop().bytes);
                },
            );
            let options = options.clone().budget(BUDGET);
            let end = watch(format!("{options:?}"), || graph.run_with(&options));
            let most = BUDGET + excess(4, 0, 1, 1, 1);
            assert!(ledger.most() as usize <= most, "{hoard}: {} bytes of {most}", ledger.most());
            assert_eq!(ledger.live(), 0);
            match end.map_err(Error::from) {
                Ok(run) => {
                    assert!(hoard < 400, "400 items exceed the budget: they weigh about 800,000 bytes");
                    // The report lists the growth, with the limit that was raised.
                    let grew = run.report().growths().iter().map(|growth| growth.limit());
                    assert!(hoard < 80 || grew.into_iter().any(|limit| limit == Limit::Bytes));
                }
                Err(Error::Deadlock(deadlock)) => assert_eq!(deadlock.over_budget(), Some(BUDGET)),
                Err(error) => panic!("{error}"),
            }
        }
    });
}

//! Bounded memory: a run with a byte budget keeps it while its last stage stalls.
//!
//! Items enter their bytes in a ledger when they are made and take them out when they are dropped,
//! so the ledger's peak is what the run really held, wherever it was: in channels, in reorder
//! windows, in firings. It may be more than the budget by what firings hold that had begun: for
//! each node what one firing takes and gives, for a parallel node that for each worker.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use support::item::Ledger;
use support::spec::mix;
use support::watchdog::watch;
use thalweg::trace::Limit;
use thalweg::{Error, Options, Report, Stream, from_iter, input, output};

/// Bytes of the largest item.
const MOST: usize = 4000;

/// An item that stands for so many bytes.
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

/// The same item again, as a new one.
fn again(ledger: &Arc<Ledger>) -> impl Fn(Heavy) -> Heavy + Send + Sync + Clone + 'static {
    let ledger = ledger.clone();
    move |item| Heavy::new(item.bytes, &ledger)
}

/// Runs a chain whose last stage stalls at its first item until nothing moves any more.
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
    watch(format!("{options:?}"), || flow.blocking().run(options).unwrap().1)
}

/// What may come on top of the budget: a firing of each sequential node and, for each worker, one
/// of each parallel node. A firing takes `takes` items and gives `gives`.
fn on_top(sequential: usize, parallel: usize, threads: usize, takes: usize, gives: usize) -> usize {
    (sequential + parallel * threads) * (takes + gives) * MOST
}

fn everywhere(check: impl Fn(&Options, usize)) {
    for policy in thalweg::policy::registry::names() {
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
        let (f, g) = (again(&ledger), again(&ledger));
        let chain = heavy(600, &ledger).map(f).weigh(weight).flat_map(move |item| [g(item)]).weigh(weight);
        stall(chain, &ledger, &options.clone().budget(BUDGET));
        let most = BUDGET + on_top(4, 0, 1, 1, 1);
        assert!(ledger.most() as usize <= most, "{} bytes of {most}", ledger.most());
        assert_eq!(ledger.live(), 0);
    });
}

#[test]
fn a_farm_keeps_its_budget() {
    everywhere(|options, threads| {
        let ledger = Ledger::new();
        let (f, g) = (again(&ledger), again(&ledger));
        let chain =
            heavy(600, &ledger).par_map(f).weigh(weight).par_flat_map(move |item| [g(item)]).weigh(weight);
        stall(chain, &ledger, &options.clone().budget(BUDGET));
        let most = BUDGET + on_top(2, 2, threads, 1, 1);
        assert!(ledger.most() as usize <= most, "{} bytes of {most}", ledger.most());
        assert_eq!(ledger.live(), 0);
    });
}

/// Results that are larger than their items, by a factor nobody was told.
#[test]
fn a_farm_whose_results_grow_keeps_its_budget() {
    everywhere(|options, threads| {
        let ledger = Ledger::new();
        let f = again(&ledger);
        let chain = heavy(400, &ledger).par_flat_map(move |item| {
            let item = f(item);
            let again = |ledger: &Arc<Ledger>| Heavy::new(item.bytes, ledger);
            (0..4).map(|_| again(&item.ledger)).collect::<Vec<_>>()
        });
        stall(chain.weigh(weight), &ledger, &options.clone().budget(BUDGET));
        let most = BUDGET + on_top(2, 1, threads, 2, 4);
        assert!(ledger.most() as usize <= most, "{} bytes of {most}", ledger.most());
        assert_eq!(ledger.live(), 0);
    });
}

/// A budget bounds what waits, not what works: with room for all, all workers have work.
#[test]
fn a_farm_with_a_budget_is_still_a_farm() {
    let ledger = Ledger::new();
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (f, peak) = (again(&ledger), most.clone());
    let chain = heavy(200, &ledger).par_map(move |item| {
        peak.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_micros(500));
        now.fetch_sub(1, Ordering::Relaxed);
        f(item)
    });
    let flow = chain.weigh(weight).for_each(drop);
    flow.run(&Options::new().threads(4).budget(BUDGET)).unwrap();
    assert!(most.load(Ordering::Relaxed) >= 3, "{most:?} firings at a time");
}

/// Growth is paid from the same budget: a split whose one side hoards gets as much room on the
/// other as the budget has, and then a cause.
#[test]
fn growth_keeps_the_budget() {
    everywhere(|options, _| {
        for hoard in [20, 40, 80, 400] {
            let ledger = Ledger::new();
            let items = heavy(400, &ledger);
            let graph = items.graph();
            let make = again(&ledger);
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
            let end = watch(format!("{options:?}"), || graph.run(&options));
            let most = BUDGET + on_top(4, 0, 1, 1, 1);
            assert!(ledger.most() as usize <= most, "{hoard}: {} bytes of {most}", ledger.most());
            assert_eq!(ledger.live(), 0);
            match end {
                Ok(run) => {
                    assert!(hoard < 400, "400 items are a million bytes");
                    // What grew is in the report, by its own measure.
                    let grew = run.report().growths.iter().map(|growth| growth.limit);
                    assert!(hoard < 80 || grew.into_iter().any(|limit| limit == Limit::Bytes));
                }
                Err(Error::Deadlock(deadlock)) => assert_eq!(deadlock.over_budget, Some(BUDGET)),
                Err(error) => panic!("{error}"),
            }
        }
    });
}

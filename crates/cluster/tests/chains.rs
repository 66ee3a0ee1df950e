//! The same answer at any number of processes, threads and batches.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use thalweg::Options;
use thalweg_cluster::{Chain, Cluster, Error};

use crate::support::{clusters, result};

/// A stage of a random chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Map,
    FilterMap,
    FlatMap,
    TryMap,
    /// Keyed by the item modulo the number of keys; with states that are weighed or not.
    Scan(u64, bool),
    Fold(u64, bool),
    Combine(u64, bool),
}

/// How a random chain ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    Collect,
    /// A function with state in process 0.
    Map,
    Scan(u64),
    Fold(u64),
    Combine(u64),
}

/// A random chain over numbers.
#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    /// The lengths of the parts; `None`: an iterator that process 0 reads.
    pub parts: Option<Vec<usize>>,
    pub items: usize,
    /// The items of the source are weighed.
    is_weighed: bool,
    pub ops: Vec<Op>,
    pub end: End,
}

/// A generator of numbers (splitmix64), the same everywhere.
pub fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Case {
    pub fn new(seed: u64) -> Case {
        let mut state = seed;
        let mut below = |n: u64| next(&mut state) % n;
        let lengths = [0, 1, 3, 40, 500];
        let count = [0, 1, 2, 5, 9][below(5) as usize];
        let parts =
            (below(3) > 0).then(|| (0..count).map(|_| lengths[below(5) as usize]).collect::<Vec<_>>());
        let items = lengths[below(5) as usize] * 3;
        let is_weighed = below(2) == 0;
        let (mut ops, mut is_keyed, mut has_ties) = (Vec::new(), false, false);
        for _ in 0..below(6) {
            let (keys, weighed) = ([1, 3, 100][below(3) as usize], below(2) == 0);
            let op = match below(9) {
                0 | 1 => Op::Map,
                2 => Op::FilterMap,
                3 => Op::FlatMap,
                4 => Op::TryMap,
                // Refused behind `par_flat_map` behind a keyed stage.
                _ if has_ties => Op::Map,
                5 | 6 => Op::Scan(keys, weighed),
                7 => Op::Fold(keys, weighed),
                _ => Op::Combine(keys, weighed),
            };
            is_keyed |= matches!(op, Op::Scan(..) | Op::Fold(..) | Op::Combine(..));
            has_ties |= is_keyed && op == Op::FlatMap;
            ops.push(op);
        }
        let keys = [1, 3, 100][below(3) as usize];
        let end = match below(5) {
            0 => End::Collect,
            1 => End::Map,
            _ if has_ties => End::Map,
            2 => End::Scan(keys),
            3 => End::Fold(keys),
            _ => End::Combine(keys),
        };
        Case { seed, parts, items, is_weighed, ops, end }
    }

    fn item(&self, part: usize, number: usize) -> u64 {
        next(&mut (self.seed ^ (part as u64) << 32 ^ number as u64)) % 10_000
    }

    /// The input, in order.
    fn input(&self) -> Vec<u64> {
        let lengths = self.parts.clone().unwrap_or(vec![self.items]);
        let part = |(part, length): (usize, usize)| (0..length).map(move |number| self.item(part, number));
        lengths.into_iter().enumerate().flat_map(part).collect()
    }

    /// What the chain should return.
    pub fn expected(&self) -> Vec<String> {
        let mut items = self.input();
        for op in &self.ops {
            items = match *op {
                Op::Map | Op::TryMap => items.into_iter().map(map).collect(),
                Op::FilterMap => items.into_iter().filter_map(filter_map).collect(),
                Op::FlatMap => items.into_iter().flat_map(flat_map).collect(),
                Op::Scan(keys, _) => scanned(&items, keys).into_iter().map(f64::to_bits).collect(),
                Op::Fold(keys, _) => folded(&items, keys).into_iter().map(fold_value).collect(),
                Op::Combine(keys, _) => combined(&items, keys).into_iter().map(combine_value).collect(),
            };
        }
        match self.end {
            End::Collect => items.iter().map(u64::to_string).collect(),
            End::Map => {
                let mut sum = 0u64;
                items.into_iter().map(|item| chained(&mut sum, item)).collect()
            }
            End::Scan(keys) => scanned(&items, keys).iter().map(f64::to_string).collect(),
            End::Fold(keys) => folded(&items, keys).iter().map(|(key, sum)| format!("{key} {sum}")).collect(),
            End::Combine(keys) => {
                combined(&items, keys).iter().map(|(key, sum)| format!("{key} {sum}")).collect()
            }
        }
    }

    pub fn source(&self, cluster: &Cluster) -> Chain<'_, u64> {
        let chain = match &self.parts {
            Some(lengths) => cluster.from_parts(lengths.len(), move |part| {
                (0..lengths[part]).map(move |number| self.item(part, number))
            }),
            None => cluster.from_iter((0..self.items).map(|number| self.item(0, number))),
        };
        if self.is_weighed { chain.weigh(|item| (*item % 50) as usize) } else { chain }
    }

    pub fn stages<'env>(&self, chain: Chain<'env, u64>) -> Chain<'env, u64> {
        self.ops.iter().fold(chain, |chain, op| with(chain, *op))
    }

    /// The chain.
    fn run(&self, cluster: Cluster, options: &Options) -> Result<Option<Vec<String>>, Error> {
        let chain = self.stages(self.source(&cluster));
        let mut sum = 0u64;
        let output = match self.end {
            End::Collect => chain.map(|item| item.to_string()).collect(),
            End::Map => chain.map(move |item| chained(&mut sum, item)).collect(),
            End::Scan(keys) => {
                chain.key_by(move |item| item % keys).scan(|_| 0.1, scan).map(|sum| sum.to_string()).collect()
            }
            End::Fold(keys) => {
                let sums =
                    chain.key_by(move |item| item % keys).fold(|| 0.1, |sum, item| _ = scan(sum, item));
                sums.par_map(|(key, sum)| format!("{key} {sum}")).collect()
            }
            End::Combine(keys) => {
                let sums = chain.key_by(move |item| item % keys).combine(|| 0, add, add);
                sums.map(|(key, sum)| format!("{key} {sum}")).collect()
            }
        };
        output.run_with(options)
    }
}

fn with(chain: Chain<'_, u64>, op: Op) -> Chain<'_, u64> {
    // 24 bytes of a state: it has more than its type says.
    let (weigh, weigh_sum) = (|_: &f64| 24, |_: &u64| 24);
    match op {
        Op::Map => chain.par_map(map),
        Op::FilterMap => chain.par_filter_map(filter_map),
        Op::FlatMap => chain.par_flat_map(flat_map),
        Op::TryMap => chain.try_par_map(|item| Ok::<_, Error>(map(item))),
        Op::Scan(keys, false) => {
            chain.key_by(move |item| item % keys).scan(|_| 0.1, scan).par_map(f64::to_bits)
        }
        Op::Scan(keys, true) => {
            let step = |sum: &mut f64, item| scan(sum, item).to_bits();
            chain.key_by(move |item| item % keys).weigh(weigh).scan(|_| 0.1, step)
        }
        Op::Fold(keys, weighed) => {
            let keyed = chain.key_by(move |item| item % keys);
            let step = |sum: &mut f64, item| _ = scan(sum, item);
            match weighed {
                true => keyed.weigh(weigh).fold(|| 0.1, step).par_map(fold_value),
                false => keyed.fold(|| 0.1, step).par_map(fold_value),
            }
        }
        Op::Combine(keys, weighed) => {
            let keyed = chain.key_by(move |item| item % keys);
            match weighed {
                true => keyed.weigh(weigh_sum).combine(|| 0, add, add).par_map(combine_value),
                false => keyed.combine(|| 0, add, add).par_map(combine_value),
            }
        }
    }
}

fn map(item: u64) -> u64 {
    item.wrapping_mul(7) % 10_007
}

fn filter_map(item: u64) -> Option<u64> {
    (!item.is_multiple_of(3)).then_some(item.wrapping_add(1))
}

fn flat_map(item: u64) -> impl Iterator<Item = u64> {
    (0..item % 4).map(move |n| item.wrapping_add(n))
}

/// A sum whose value depends on the order of the items.
pub fn scan(state: &mut f64, item: u64) -> f64 {
    *state = *state * 0.7 + item as f64 / 3.0;
    *state
}

pub fn add(sum: &mut u64, more: u64) {
    *sum = sum.wrapping_add(more);
}

pub fn chained(sum: &mut u64, item: u64) -> String {
    *sum = sum.wrapping_mul(31).wrapping_add(item);
    sum.to_string()
}

fn fold_value((key, sum): (u64, f64)) -> u64 {
    sum.to_bits().wrapping_add(key)
}

fn combine_value((key, sum): (u64, u64)) -> u64 {
    sum.wrapping_mul(3).wrapping_add(key)
}

fn scanned(items: &[u64], keys: u64) -> Vec<f64> {
    let mut states: HashMap<u64, f64> = HashMap::new();
    items.iter().map(|item| scan(states.entry(item % keys).or_insert(0.1), *item)).collect()
}

/// One value for each key, in the order of first items.
fn by_key<A>(items: &[u64], keys: u64, init: impl Fn() -> A, f: impl Fn(&mut A, u64)) -> Vec<(u64, A)> {
    let mut values: Vec<(u64, A)> = Vec::new();
    for item in items {
        let key = item % keys;
        let at = values.iter().position(|(of, _)| *of == key).unwrap_or_else(|| {
            values.push((key, init()));
            values.len() - 1
        });
        f(&mut values[at].1, *item);
    }
    values
}

fn folded(items: &[u64], keys: u64) -> Vec<(u64, f64)> {
    by_key(items, keys, || 0.1, |sum, item| _ = scan(sum, item))
}

fn combined(items: &[u64], keys: u64) -> Vec<(u64, u64)> {
    by_key(items, keys, || 0, add)
}

/// Runs a case with settings that follow from its seed.
fn check(seed: u64) {
    let case = Case::new(seed);
    let expected = case.expected();
    let mut state = seed ^ 0xabcd;
    let mut below = |n: u64| next(&mut state) % n;
    let (processes, threads) = (1 + below(4) as usize, 1 + below(2) as usize);
    let (window, epoch) = (1 + below(64) as usize, 1 + below(16) as u32);
    let batch = [1, 2, 16, 1024][below(4) as usize];
    let bytes = [0, 7, 40, 64 << 10][below(4) as usize];
    // Enough for the states of six stages, and little for batches.
    let budget = (below(3) == 0).then_some(20_000);
    let with = |it: Cluster| {
        let it = it.window(window).epoch(epoch).batch(batch).batch_bytes(bytes);
        budget.map_or(it.clone(), |bytes| it.budget(bytes))
    };
    let all = clusters(processes).into_iter().map(with).collect();
    let got = result(all, |cluster| case.run(cluster, &Options::new().threads(threads)));
    assert!(
        got == expected,
        "seed {seed}: {processes} processes, {threads} threads, window {window}, epoch {epoch}, \
         batch {batch}, {bytes} bytes, budget {budget:?}: {case:?}\n{got:?}\n{expected:?}"
    );
}

/// 60 cases; `THALWEG_CASES=N` runs N, `THALWEG_SEED=N` begins with seed N.
#[test]
fn random_chains_have_one_answer_on_any_number_of_processes() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("THALWEG_SEED").unwrap_or(1);
    for seed in first..first + number("THALWEG_CASES").unwrap_or(60) {
        check(seed);
    }
}

#[test]
fn large_items_arrive_whole() {
    let expected: Vec<Vec<u8>> = (0..20).map(|n| vec![n as u8; 100_003 * (n % 4)]).collect();
    let all = clusters(3).into_iter().map(|it| it.batch(1).window(4)).collect();
    let got = result(all, |cluster| {
        cluster.from_parts(20, |n| [vec![n as u8; 100_003 * (n % 4)]]).par_map(|block| block).collect().run()
    });
    assert!(got == expected);
}

#[test]
fn a_sink_that_needs_no_more_ends_endless_sources() {
    for processes in [1, 3] {
        let first = |all: Vec<Cluster>, read: bool| {
            result(all, |cluster| {
                let endless = match read {
                    true => cluster.from_iter(0u64..),
                    false => cluster.from_parts(5, |part| (1000 * part as u64)..),
                };
                endless
                    .par_map(|n| n + 1)
                    .key_by(|n| n % 7)
                    .scan(|_| (), |_, n| n)
                    .then(|stream| stream.take(3000))
                    .collect()
                    .run()
            })
        };
        for read in [true, false] {
            let all = clusters(processes).into_iter().map(|it| it.batch(10)).collect();
            assert_eq!(first(all, read), (1..=3000).collect::<Vec<u64>>());
        }
    }
}

#[test]
fn a_budget_bounds_what_is_under_way() {
    let (made, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let most = AtomicUsize::new(0);
    let all = clusters(2).into_iter().map(|it| it.batch(1).budget(40_000)).collect();
    let got = result(all, |cluster| {
        cluster
            .from_parts(100, |part| [part])
            .par_map(|n| {
                let under_way = made.fetch_add(1, Relaxed) - taken.load(Relaxed).min(made.load(Relaxed));
                most.fetch_max(under_way, Relaxed);
                vec![n as u8; 10_000]
            })
            .map(|block| {
                // Slower than the stages, so that these fill the window.
                std::thread::sleep(Duration::from_millis(1));
                taken.fetch_add(1, Relaxed);
                block.len()
            })
            .collect()
            .run()
    });
    assert_eq!(got, [10_000; 100]);
    // 2 of each process in the window once a batch was measured; the first ones are a window of 32 for each, which the
    // threads of the stages hardly begin, and what the graph behind the sink holds.
    let most = most.into_inner();
    assert!(most < 64, "{most} blocks under way");
}

#[test]
fn a_shared_value_is_made_once_and_read_everywhere() {
    let made = AtomicUsize::new(0);
    let made: &'static AtomicUsize = Box::leak(Box::new(made));
    let got = result(clusters(3), |cluster| {
        let long = cluster.shared(|| {
            made.fetch_add(1, Relaxed);
            vec!["x".repeat(300_000), "y".to_owned()]
        });
        let short = cluster.shared(|| 7u64);
        cluster
            .from_parts(9, |part| [part])
            .par_map(move |n| long[n % 2].len() as u64 + *short)
            .collect()
            .run()
    });
    assert_eq!((got, made.load(Relaxed)), ((0..9).map(|n| [300_007, 8][n % 2]).collect(), 1));
}

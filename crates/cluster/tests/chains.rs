//! The same answer at any number of processes, threads and batches.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use thalweg::Options;
use thalweg_cluster::{Chain, Cluster, Error};

use crate::support::{clusters, result};

/// A random chain over numbers.
#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    /// The lengths of the parts; `None`: an iterator that process 0 reads.
    parts: Option<Vec<usize>>,
    items: usize,
    stages: Vec<u64>,
    end: u64,
    keys: u64,
}

/// A generator of numbers (splitmix64), the same everywhere.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut state = seed;
        let mut below = |n: u64| next(&mut state) % n;
        let lengths = [0, 1, 3, 40, 500];
        let count = [0, 1, 2, 5, 9][below(5) as usize];
        let parts =
            (below(3) > 0).then(|| (0..count).map(|_| lengths[below(5) as usize]).collect::<Vec<_>>());
        let items = lengths[below(5) as usize] * 3;
        let stages = (0..below(4)).map(|_| below(3)).collect();
        Case { seed, parts, items, stages, end: below(5), keys: [1, 3, 100][below(3) as usize] }
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
    fn expected(&self) -> Vec<String> {
        let mut items = self.input();
        for stage in &self.stages {
            items = match stage {
                0 => items.into_iter().map(map).collect(),
                1 => items.into_iter().filter_map(filter_map).collect(),
                _ => items.into_iter().flat_map(flat_map).collect(),
            };
        }
        let mut states: HashMap<u64, f64> = HashMap::new();
        let mut first = Vec::new();
        let mut scanned = Vec::new();
        for item in items.iter().copied() {
            let key = item % self.keys;
            let state = states.entry(key).or_insert_with(|| {
                first.push(key);
                0.1
            });
            scanned.push(scan(state, item));
        }
        let mut counts: Vec<(u64, u64)> = Vec::new();
        for item in &items {
            let key = item % self.keys;
            match counts.iter_mut().find(|(of, _)| *of == key) {
                Some((_, sum)) => *sum = sum.wrapping_add(*item),
                None => counts.push((key, *item)),
            }
        }
        match self.end {
            4 => counts.into_iter().map(|(key, sum)| format!("{key} {sum}")).collect(),
            0 => items.into_iter().map(|item| item.to_string()).collect(),
            1 => {
                let mut sum = 0u64;
                let mut add = |item| {
                    sum = sum.wrapping_mul(31).wrapping_add(item);
                    sum.to_string()
                };
                items.into_iter().map(&mut add).collect()
            }
            2 => scanned,
            _ => first.into_iter().map(|key| format!("{key} {}", states[&key])).collect(),
        }
    }

    /// The chain.
    fn run(&self, cluster: Cluster, options: &Options) -> Result<Option<Vec<String>>, Error> {
        let mut chain: Chain<'_, u64> = match &self.parts {
            Some(lengths) => cluster.from_parts(lengths.len(), |part| {
                (0..lengths[part]).map(move |number| self.item(part, number))
            }),
            None => cluster.from_iter((0..self.items).map(|number| self.item(0, number))),
        };
        for stage in &self.stages {
            chain = match stage {
                0 => chain.par_map(map),
                1 => chain.par_filter_map(filter_map),
                _ => chain.par_flat_map(flat_map),
            };
        }
        let key = |item: &u64| item % self.keys;
        let mut sum = 0u64;
        let output = match self.end {
            0 => chain.map(|item| item.to_string()).collect(),
            1 => chain
                .map(move |item| {
                    sum = sum.wrapping_mul(31).wrapping_add(item);
                    sum.to_string()
                })
                .collect(),
            4 => {
                let add = |sum: &mut u64, more: u64| *sum = sum.wrapping_add(more);
                chain.key_by(key).combine(|| 0, add, add).map(|(key, sum)| format!("{key} {sum}")).collect()
            }
            2 => chain.key_by(key).scan(|_| 0.1, scan).collect(),
            _ => {
                let sums = chain.key_by(key).fold(|| 0.1, |state, item| _ = scan(state, item));
                sums.map(|(key, sum): (u64, f64)| format!("{key} {sum}")).collect()
            }
        };
        output.run_with(options)
    }
}

fn map(item: u64) -> u64 {
    item.wrapping_mul(7) % 10_007
}

fn filter_map(item: u64) -> Option<u64> {
    (!item.is_multiple_of(3)).then_some(item + 1)
}

fn flat_map(item: u64) -> impl Iterator<Item = u64> {
    (0..item % 4).map(move |n| item + n)
}

/// A sum whose value depends on the order of the items.
fn scan(state: &mut f64, item: u64) -> String {
    *state = *state * 0.7 + item as f64 / 3.0;
    state.to_string()
}

/// Runs a case with settings that follow from its seed.
fn check(seed: u64) {
    let case = Case::new(seed);
    let expected = case.expected();
    let mut state = seed ^ 0xabcd;
    let mut pick = |of: &[usize]| of[(next(&mut state) % of.len() as u64) as usize];
    let (processes, threads) = (pick(&[1, 2, 3, 4]), pick(&[1, 2]));
    let (window, epoch, batch) = (pick(&[1, 2, 7, 64]), pick(&[1, 2, 16]), pick(&[1, 2, 16, 1024]));
    let all = clusters(processes)
        .into_iter()
        .map(|it| it.window(window).epoch(epoch as u32).batch(batch))
        .collect();
    let got = result(all, |cluster| case.run(cluster, &Options::new().threads(threads)));
    assert!(
        got == expected,
        "seed {seed}: {processes} processes, {threads} threads, window {window}, epoch {epoch}, batch {batch}: {case:?}\n{got:?}\n{expected:?}"
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

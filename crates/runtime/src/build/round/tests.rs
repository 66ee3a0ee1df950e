//! Compares fork-joins with a plain recursion, which computes what the depth-first order holds: whether they fail, and
//! their results. `THALWEG_CASES` sets the number of random cases, `THALWEG_SEED` the first seed.

use super::gate::Gate;
use super::splits::{Weights, part_size};
use super::{Fork, Placed, Task, Verdict};
use crate::{Error, Graph, Options};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use thalweg_policy::registry;

/// An item or part, by what `step` makes of it.
#[derive(Clone, Debug)]
struct Tree {
    weight: usize,
    next: Next,
}

#[derive(Clone, Debug)]
enum Next {
    Leaf(Leaf),
    Again(Box<Tree>),
    Split(Vec<Tree>),
}

/// A result.
#[derive(Clone, PartialEq, Debug)]
struct Leaf {
    weight: usize,
    value: u64,
}

fn step(tree: Tree) -> Fork<Tree, Leaf> {
    match tree.next {
        Next::Leaf(leaf) => Fork::Done(leaf),
        Next::Again(state) => Fork::Again(*state),
        Next::Split(parts) => Fork::Split(parts),
    }
}

/// The value depends on the order of the parts. The weight is any function of it.
fn join(parts: Vec<Leaf>) -> Leaf {
    let mix =
        |hash: u64, leaf: &Leaf| (hash ^ leaf.value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
    let value = parts.iter().fold(7, mix);
    Leaf { weight: value as usize % 300, value }
}

/// The bytes that the recursion holds, and their maximum.
#[derive(Default)]
struct Held {
    now: usize,
    peak: usize,
}

impl Held {
    fn replace(&mut self, before: usize, after: usize) {
        self.now = self.now - before + after;
        self.peak = self.peak.max(self.now);
    }

    /// The result of a part, whose weight `now` includes.
    fn recurse(&mut self, part: Tree, weight: usize) -> Leaf {
        match step(part) {
            Fork::Done(leaf) => {
                self.replace(weight, leaf.weight);
                leaf
            }
            Fork::Again(state) => {
                let next = state.weight;
                self.replace(weight, next);
                self.recurse(state, next)
            }
            Fork::Split(parts) => {
                let (joined, kept) = self.split(parts, weight);
                self.replace(kept, joined.weight);
                joined
            }
        }
    }

    /// The result of a split, and the bytes that are held until its join has returned.
    fn split(&mut self, parts: Vec<Tree>, weight: usize) -> (Leaf, usize) {
        let record = Weights::<Tree, Leaf>::record(parts.len());
        self.replace(weight, record + parts.iter().map(|part| part.weight).sum::<usize>());
        let recurse = |part: Tree| {
            let weight = part.weight;
            self.recurse(part, weight)
        };
        let results: Vec<Leaf> = parts.into_iter().map(recurse).collect();
        let kept = record + results.iter().map(|result| result.weight).sum::<usize>();
        (join(results), kept)
    }
}

/// The result of an item, and the bytes that its parts take. The item itself weighs nothing, nor does its result.
fn reference(item: Tree) -> (Leaf, usize) {
    match step(item) {
        Fork::Done(leaf) => (leaf, 0),
        Fork::Again(state) => reference(state),
        Fork::Split(parts) => {
            let mut held = Held::default();
            let (result, _) = held.split(parts, 0);
            (result, held.peak)
        }
    }
}

/// A generator of numbers (splitmix64).
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn pick<'a, X>(&mut self, from: &'a [X]) -> &'a X {
        &from[self.below(from.len())]
    }

    fn weight(&mut self) -> usize {
        let most = *self.pick(&[1, 10, 100, 1000, 10_000]);
        self.below(most)
    }

    fn leaf(&mut self) -> Tree {
        let leaf = Leaf { weight: self.weight(), value: self.next() };
        Tree { weight: self.weight(), next: Next::Leaf(leaf) }
    }

    fn node(&mut self, parts: Vec<Tree>) -> Tree {
        Tree { weight: self.weight(), next: Next::Split(parts) }
    }

    /// A tree that splits at one path only, the first or the last part of each split.
    fn deep(&mut self, depth: usize, first: bool) -> Tree {
        (0..depth).fold(self.leaf(), |inner, _| {
            let mut parts: Vec<Tree> = (0..1 + self.below(3)).map(|_| self.leaf()).collect();
            let at = if first { 0 } else { parts.len() };
            parts.insert(at, inner);
            self.node(parts)
        })
    }

    fn wide(&mut self, parts: usize) -> Tree {
        let parts = (0..parts).map(|_| self.leaf()).collect();
        self.node(parts)
    }

    fn random(&mut self, depth: usize) -> Tree {
        let tree = match self.below(6) {
            0..3 if depth > 0 => {
                let parts = (0..self.below(5)).map(|_| self.random(depth - 1)).collect();
                self.node(parts)
            }
            3 if depth > 0 => Tree { weight: 0, next: Next::Again(Box::new(self.random(depth - 1))) },
            _ => self.leaf(),
        };
        Tree { weight: self.weight(), ..tree }
    }

    fn tree(&mut self) -> Tree {
        let size = 1 + self.below(12);
        match self.below(5) {
            0 => self.deep(size, true),
            1 => self.deep(size, false),
            2 => self.wide(size * 4),
            _ => self.random(5),
        }
    }

    fn trees(&mut self) -> Vec<Tree> {
        (0..1 + self.below(4)).map(|_| self.tree()).collect()
    }
}

/// Items, their results, and what each takes.
struct Case {
    items: Vec<Tree>,
    results: Vec<Leaf>,
    peaks: Vec<usize>,
}

impl Case {
    fn new(items: Vec<Tree>) -> Self {
        let (results, peaks) = items.iter().cloned().map(reference).unzip();
        Case { items, results, peaks }
    }

    /// The limits at which the verdict changes, and those beside them.
    fn limits(&self) -> Vec<usize> {
        let most = self.peaks.iter().copied().max().unwrap_or(0);
        let one = self.peaks[most % self.peaks.len()];
        [most, one].iter().flat_map(|peak| [peak.saturating_sub(1), *peak, peak + 1]).collect()
    }

    /// The first item that takes more than the limit.
    fn exceeding(&self, limit: usize) -> Option<usize> {
        self.peaks.iter().position(|peak| *peak > limit)
    }

    /// Compares the results that were delivered and the error.
    fn check(&self, limit: usize, delivered: &[Leaf], error: Option<&str>) {
        let Some(exceeding) = self.exceeding(limit) else {
            assert_eq!(error, None);
            assert_eq!(delivered, self.results);
            return;
        };
        let error = error.unwrap_or_else(|| panic!("item {exceeding} takes more than {limit} bytes"));
        assert!(error.contains(&format!("parts of item {exceeding} ")), "{error}");
        assert!(error.contains(&format!("more than the {limit} bytes")), "{error}");
        assert!(self.results[..exceeding].starts_with(delivered));
    }

    /// Runs it on threads.
    fn run(&self, limit: usize, in_flight: usize, unordered: bool, options: &Options) {
        let delivered = Arc::new(Mutex::new(Vec::new()));
        let sink = delivered.clone();
        let graph = Graph::new();
        let items = graph.source(self.items.clone()).weigh(|item: &Tree| item.weight);
        let done = items.par_fork_join(in_flight, step, join).named("fork");
        let done = if unordered { done.unordered() } else { done };
        done.weigh(|leaf| leaf.weight).for_each(move |leaf| sink.lock().unwrap().push(leaf)).named("sink");
        let error = graph.run_with(&options.clone().budget(2 * limit)).err();
        let error = error.map(|error| match error.into_error() {
            Error::Node { node, cause } if node == "fork.gate" => cause.to_string(),
            other => panic!("{other}"),
        });
        self.check(limit, &delivered.lock().unwrap(), error.as_deref());
    }

    /// Fires the gate by hand, with verdicts in the order that `rng` chooses, and checks that some task is under way until
    /// all is done, and how much the gate holds.
    fn simulate(&self, limit: usize, in_flight: usize, rng: &mut Rng) {
        let weights = Weights(
            Some(Arc::new(|tree: &Tree| tree.weight) as _),
            Some(Arc::new(|leaf: &Leaf| leaf.weight) as _),
        );
        let mut gate = Gate::new(in_flight, limit, weights);
        let (mut waiting, mut tasks) = (self.items.iter().cloned(), Vec::new());
        let mut delivered = Vec::new();
        let (mut room, mut largest) = (in_flight, 0);
        let newest_first = rng.below(3) == 0;
        let error = loop {
            let back: Vec<_> = (0..rng.below(tasks.len() + 1).min(rng.below(9)))
                .map(|_| {
                    let at = if newest_first { tasks.len() - 1 } else { rng.below(tasks.len()) };
                    verdict(tasks.swap_remove(at))
                })
                .collect();
            largest = back.iter().map(adds).fold(largest, usize::max);
            let new = rng.below(room + 1);
            let items = waiting.by_ref().take(new);
            if let Err(error) = gate.fire(back.into_iter(), items, &mut tasks, &mut delivered) {
                break Some(error);
            }
            room = gate.room();
            assert_eq!(gate.under_way(), tasks.len());
            assert!(gate.bytes() <= 2 * limit + (in_flight - 1) * largest + part_size::<Leaf>(), "{largest}");
            if tasks.is_empty() {
                assert_eq!((room, gate.bytes()), (in_flight, 0), "the gate waits for nothing");
                if waiting.len() == 0 {
                    break None;
                }
            }
        };
        self.check(limit, &delivered, error.as_deref());
    }
}

fn verdict(task: Placed<Task<Tree, Leaf>>) -> Verdict<Tree, Leaf> {
    let content = match task.content {
        Task::Step(tree) => step(tree),
        Task::Join(parts) => Fork::Done(join(parts.into_inner())),
    };
    Placed { place: task.place, weight: task.weight, content }
}

/// The bytes by which the gate's grow at most when it acts on a verdict.
fn adds(verdict: &Verdict<Tree, Leaf>) -> usize {
    match &verdict.content {
        Fork::Done(leaf) => leaf.weight,
        Fork::Again(state) => state.weight,
        Fork::Split(parts) => {
            Weights::<Tree, Leaf>::record(parts.len()) + parts.iter().map(|part| part.weight).sum::<usize>()
        }
    }
}

/// The seeds of `cases` random cases, or of as many as `THALWEG_CASES` says.
fn seeds(cases: u64) -> Range<u64> {
    let setting = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let first = setting("THALWEG_SEED").unwrap_or_else(|| u64::from(std::process::id()) << 20);
    let cases = if cfg!(miri) { 2 } else { setting("THALWEG_CASES").unwrap_or(cases) };
    first..first + cases
}

/// Calls `test` with the generator of each seed. A failure names the seed.
fn for_each_seed(cases: u64, test: impl Fn(&mut Rng)) {
    for seed in seeds(cases) {
        let passed = catch_unwind(AssertUnwindSafe(|| test(&mut Rng(seed))));
        assert!(passed.is_ok(), "repeat with THALWEG_CASES=1 THALWEG_SEED={seed}");
    }
}

#[test]
fn the_depth_first_order_decides_in_any_order_of_verdicts() {
    for_each_seed(2000, |rng| {
        let case = Case::new(rng.trees());
        for limit in case.limits() {
            let in_flight = *rng.pick(&[1, 2, 3, 8, 50]);
            case.simulate(limit, in_flight, rng);
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "hundreds of runs on threads")]
fn the_depth_first_order_decides_on_any_threads() {
    for_each_seed(2000, |rng| {
        let case = Case::new(rng.trees());
        let limits = case.limits();
        let limit = *rng.pick(&limits);
        let policies: Vec<_> = registry::names().collect();
        let options = Options::new().threads(*rng.pick(&[1, 2, 4])).policy(rng.pick(&policies));
        case.run(limit, *rng.pick(&[1, 2, 8]), rng.below(2) == 0, &options);
    });
}

/// Each shape of tree with each number of threads and of calls in flight, at the limit and beside it.
#[test]
#[cfg_attr(miri, ignore = "hundreds of runs on threads")]
fn shapes_fail_exactly_beyond_their_depth_first_order() {
    let rng = &mut Rng(1);
    let sizes = [1, 2, 9];
    let mut shapes: Vec<Vec<Tree>> = Vec::new();
    for size in sizes {
        shapes.push(vec![rng.deep(size, true)]);
        shapes.push(vec![rng.deep(size, false)]);
        shapes.push(vec![rng.wide(size * 10)]);
        shapes.push(vec![rng.leaf(), rng.random(6), rng.deep(size, false), rng.wide(0), rng.random(6)]);
    }
    for items in shapes {
        let case = Case::new(items);
        for limit in case.limits() {
            for threads in [1, 2, 4] {
                for in_flight in [1, 2, 8] {
                    case.run(limit, in_flight, false, &Options::new().threads(threads));
                }
            }
        }
    }
}

/// The left part weighs 1000, and the next state of the right part too: together more than the limit.
#[test]
fn a_part_that_comes_back_beyond_the_limit_waits_for_its_turn() {
    let leaf = |weight| Tree { weight, next: Next::Leaf(Leaf { weight: 1, value: weight as u64 }) };
    let right = Tree { weight: 10, next: Next::Again(Box::new(leaf(1000))) };
    let case = Case::new(vec![Tree { weight: 0, next: Next::Split(vec![leaf(1000), right]) }]);
    let limit = case.peaks[0];
    let weigh_tree = Arc::new(|tree: &Tree| tree.weight);
    let mut gate = Gate::new(2, limit, Weights(Some(weigh_tree), Some(Arc::new(|leaf: &Leaf| leaf.weight))));
    let (mut tasks, mut results) = (Vec::new(), Vec::new());
    let mut fire = |back: Vec<_>, new: Vec<_>| {
        gate.fire(back.into_iter(), new.into_iter(), &mut tasks, &mut results).unwrap();
        std::mem::take(&mut tasks)
    };
    let mut item = fire(vec![], case.items.clone());
    let mut parts = fire(vec![verdict(item.remove(0))], vec![]);
    assert_eq!(parts.len(), 2);
    let right = verdict(parts.pop().unwrap());
    assert_eq!(fire(vec![right], vec![]).len(), 0, "it is parked");
    let mut right = fire(vec![verdict(parts.pop().unwrap())], vec![]);
    let mut join = fire(vec![verdict(right.pop().unwrap())], vec![]);
    fire(vec![verdict(join.pop().unwrap())], vec![]);
    assert_eq!(results, case.results);
}

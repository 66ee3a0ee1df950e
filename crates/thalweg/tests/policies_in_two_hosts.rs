//! The law of policies: one worker with counted budgets makes the same decisions in the engine and
//! in the virtual-time host, entry by entry, with the event that each decision answers, from the
//! first to the last.
//!
//! It holds for graphs whose rates are all static. With dynamic ones the hosts know different
//! things: the virtual one what the next firing will move, the engine what the latest one lacked.

mod support;

use support::realised;
use support::watchdog::watch;
use thalweg::graph::Graph;
use thalweg::policy::record::{Entry, Log};
use thalweg::policy::virtual_host::{self, Cost, Model, Settings, shapes};
use thalweg::policy::{Event, Policy, Recorded, registry};
use thalweg::{Builder, Options};

/// Sizes that both worlds share.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    run: usize,
    seed: u64,
}

fn in_the_engine<P: Policy>(policy: &P, model: &Model, sizes: Sizes) -> Vec<Entry> {
    let graph: Builder<'_> = realised::build(model);
    let options = Options::new().threads(1).counted().run_length(sizes.run).seed(sizes.seed);
    let log = Log::new();
    let network = graph.build().unwrap();
    let built = network.graph().clone();
    let prepared = network.prepare(&options).unwrap();
    watch(format!("{sizes:?}"), || prepared.run_under(&Recorded::new(policy, &log)).unwrap());
    log.take().into_iter().map(|entry| in_model(entry, &model.graph, &built)).collect()
}

/// The entry with the model's names for its channels.
fn in_model(mut entry: Entry, model: &Graph, built: &Graph) -> Entry {
    if let Some((_, Event::Empty(channel) | Event::Full(channel))) = &mut entry.last {
        *channel = realised::in_model(model, built, *channel);
    }
    entry
}

fn in_virtual_time<P: Policy>(policy: &P, model: &Model, sizes: Sizes) -> Vec<Entry> {
    let run = sizes.run as u64;
    // What the engine does where budgets are counted; its window has 32 tickets at least.
    let shared = Settings { budget: 4 * run, slice: run, run, window: 32, ..Settings::default() };
    virtual_host::run(policy, model, &Settings { seed: sizes.seed, ..shared }).unwrap().decisions
}

/// A comparison as a visit of the registry.
struct Compare<'a>(&'a Model, Sizes);

impl registry::Visit for Compare<'_> {
    type Out = Result<usize, String>;

    fn visit<P: Policy>(self, policy: &P) -> Self::Out {
        let real = in_the_engine(policy, self.0, self.1);
        let imagined = in_virtual_time(policy, self.0, self.1);
        let same = real.iter().zip(&imagined).take_while(|(a, b)| a == b).count();
        match real == imagined {
            true => Ok(same),
            false => Err(format!("entry {same}: {:?} and {:?}", real.get(same), imagined.get(same))),
        }
    }
}

/// Every policy and several sizes, batches that fit the channels and others.
fn compare(model: &Model) {
    for name in registry::names().chain(["prs:C=3"]) {
        for (run, capacity) in [(1, 2), (4, 16), (16, 40), (7, 9), (64, 256)] {
            for seed in 1..4 {
                let sizes = Sizes { run, seed };
                let model = model.clone().capacity(capacity);
                let compared = registry::dispatch(name, Compare(&model, sizes)).unwrap();
                let same = compared.unwrap_or_else(|why| {
                    panic!("{name}, {sizes:?}, capacity {capacity}: {why}\n{}", model.graph)
                });
                assert!(same > 10, "{name}, {sizes:?}: only {same} decisions");
            }
        }
    }
}

/// Firings of a source: no multiple of a budget, so that its end comes within one.
const FIRINGS: u64 = 5003;
const COST: Cost = Cost::Fixed(100);

#[test]
fn on_a_chain() {
    compare(&shapes::chain_of(2, FIRINGS, 100));
    compare(&shapes::chain_of(7, FIRINGS, 100));
}

#[test]
fn on_strangers() {
    compare(&shapes::strangers(FIRINGS, 100));
}

#[test]
fn on_a_farm() {
    compare(&shapes::farm(FIRINGS, 30, 300));
}

#[test]
fn on_a_farm_that_peeks() {
    compare(&shapes::peeking_farm(FIRINGS, 30, 300, 8));
}

#[test]
fn on_a_diamond() {
    let mut model = Model::new();
    let first = model.source("source", FIRINGS, COST);
    let split = model.sequential("split", COST);
    let left = model.parallel("left", COST);
    let right = model.sequential("right", COST);
    let meet = model.sequential("meet", COST);
    for (from, to) in [(first, split), (split, left), (split, right), (left, meet), (right, meet)] {
        model.join(from, to);
    }
    compare(&model);
}

#[test]
fn on_a_loop() {
    let mut model = shapes::feedback(100);
    model.nodes[0].firings = FIRINGS;
    compare(&model);
}

#[test]
fn on_a_fan_and_a_hub() {
    for mut model in [shapes::fan(5, 100), shapes::two_sources()] {
        for node in model.nodes.iter_mut().filter(|node| node.firings > 0) {
            node.firings = FIRINGS;
        }
        compare(&model);
    }
}

//! A policy decides the same in both hosts: one worker with counted budgets makes the same decisions in the engine
//! and in the virtual-time host, entry by entry, after the same events, from the first to the last activation.
//!
//! This holds for
//!
//! - static rates,
//! - graphs of StreamIt programs, with splitters, joiners, windows and feedback loops; see [`streamit`] for what stands
//!   for dynamic rates,
//! - sequential nodes with dynamic rates, if the virtual host has no foresight ([`Settings::foresight`]): then it
//!   knows, as the engine does, only what the latest activation lacked,
//! - sources on threads of their own that push items in bursts, so that the worker idles in between. The next
//!   burst arrives while the policy answers `Idle` and is published before the worker continues, so in both hosts
//!   one idle decision precedes each arrival; see [`FeedWhenIdle`].
//!
//! It is not claimed for
//!
//! - firings that push more than one item to a dynamic output: the engine spills the items that do not fit, which
//!   the virtual host does not model,
//! - parallel nodes with dynamic rates: the engine counts room by the firings in progress,
//! - arrivals while the worker is busy: the first decision that observes them depends on timing,
//! - the number of idle decisions after the last activation, while the threads of sources end,
//! - decisions after the end of a node of several inputs, if nodes before it still run: the engine cancels those that
//!   no longer reach the end of a stream, which the virtual host does not model; see [`Extent`],
//! - processes and growing channels, which the virtual host does not have.

// A part of the support of the tests in `crates/thalweg`, which use more of it.
#[allow(dead_code)]
#[path = "../../../thalweg/tests/support/realised.rs"]
mod realised;
mod streamit;
#[path = "../../../thalweg/tests/support/watchdog.rs"]
mod watchdog;

use realised::Gates;
use thalweg::embed::graph::{Link, NodeId};
use thalweg::embed::policy::record::{Entry, Log};
use thalweg::embed::policy::{Recorded, Static, WorkerId, registry};
use thalweg::graph::GraphData;
use thalweg::plan::{Plan, Wishes};
use thalweg::policy::{Decision, Event, Host, Needs, Policy};
use thalweg::{Graph, Options};
use thalweg_lang::{Compiled, Sources, compile};
use thalweg_lang_testgen::{Choices, generate};
use thalweg_sim::{Cost, Model, Ratio, Settings, shapes};
use watchdog::watch;

/// Sizes used in both hosts.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    run: usize,
    seed: u64,
}

/// The policies that run on one worker: all but `pools`, which has one for each node.
fn policies() -> impl Iterator<Item = &'static str> {
    registry::names().filter(|name| *name != "pools")
}

fn in_the_engine<P: Policy>(policy: &P, model: &Model, sizes: Sizes) -> Vec<Entry> {
    under_options(policy, model, options(sizes))
}

fn options(sizes: Sizes) -> Options {
    Options::new().threads(1).repeatable().claim_length(sizes.run).seed(sizes.seed)
}

fn under_options<P: Policy>(policy: &P, model: &Model, options: Options) -> Vec<Entry> {
    let gates = Gates::new(model, 0);
    let graph: Graph<'_> = realised::build_gated(model, &gates);
    let log = Log::new();
    let network = graph.build().unwrap();
    let built = network.graph().clone();
    let prepared = network.prepare(&options).unwrap();
    let fed = FeedWhenIdle { policy, model, gates: &gates, rounds: model.arrivals() };
    watch(format!("{options:?}"), || prepared.run_under(&Recorded::new(&fed, &log)).unwrap());
    to_last_activation(log.take().into_iter().map(|entry| in_model(entry, &model.graph, &built)).collect())
}

/// A decorator for one worker. When the policy decides `Idle`, it lets the starving sources push rounds of arrivals
/// until some node is claimable, and waits until all items are published: see [`Model::starving`].
struct FeedWhenIdle<'a, P> {
    policy: &'a P,
    model: &'a Model,
    gates: &'a Gates,
    rounds: Vec<Vec<(NodeId, u64)>>,
}

/// State of the worker: the policy's state, the number of rounds that have arrived, and the nodes that have ended.
struct Feeder<L> {
    policy: L,
    round: usize,
    ended: Vec<NodeId>,
}

impl<P: Policy> FeedWhenIdle<'_, P> {
    fn feed<H: Host<P::Shared>>(&self, me: &mut Feeder<P::Local>, host: &H) {
        let starves = |host: &H| !host.graph().node_ids().any(|node| host.claimable(node));
        while me.round < self.rounds.len() && starves(host) {
            for &(source, firings) in &self.rounds[me.round] {
                self.gates.of(source).open();
                match firings {
                    0 => self.wait_for_end(source, me, host),
                    _ => self.gates.of(source).wait(),
                }
            }
            me.round += 1;
        }
    }

    /// Waits until the end of a source has made its consumer claimable, unless the consumer has ended already.
    fn wait_for_end<H: Host<P::Shared>>(&self, source: NodeId, me: &Feeder<P::Local>, host: &H) {
        for channel in self.model.graph.node(source).outputs().iter().filter_map(|port| port.channel()) {
            let consumer = self.model.graph.channel(channel).to().0;
            while !host.claimable(consumer) && !me.ended.contains(&consumer) {
                std::thread::yield_now();
            }
        }
    }
}

impl<P: Policy> Policy for FeedWhenIdle<'_, P> {
    type Local = Feeder<P::Local>;
    type Shared = P::Shared;

    fn needs(&self, graph: &GraphData) -> Needs {
        self.policy.needs(graph)
    }

    fn adapts(&self) -> bool {
        self.policy.adapts()
    }

    fn start<H: Host<P::Shared>>(&self, worker: WorkerId, host: &mut H) -> Self::Local {
        Feeder { policy: self.policy.start(worker, host), round: 0, ended: Vec::new() }
    }

    fn ready<H: Host<P::Shared>>(&self, me: &mut Self::Local, node: NodeId, host: &mut H) {
        self.policy.ready(&mut me.policy, node, host);
    }

    fn next<H: Host<P::Shared>>(
        &self,
        me: &mut Self::Local,
        last: Option<(NodeId, Event)>,
        host: &mut H,
    ) -> Decision {
        me.ended.extend(last.filter(|last| last.1 == Event::Done).map(|last| last.0));
        let decision = self.policy.next(&mut me.policy, last, host);
        if decision == Decision::Idle {
            self.feed(me, host);
        }
        decision
    }
}

/// Removes the idle decisions at the end.
fn to_last_activation(mut entries: Vec<Entry>) -> Vec<Entry> {
    let last = entries.iter().rposition(|entry| entry.decision != Decision::Idle);
    entries.truncate(last.map_or(0, |last| last + 1));
    entries
}

/// The entry with the model's channel ids.
fn in_model(mut entry: Entry, model: &GraphData, built: &GraphData) -> Entry {
    if let Some((_, Event::Empty(channel) | Event::Full(channel))) = &mut entry.last {
        *channel = realised::in_model(model, built, *channel);
    }
    entry
}

fn in_virtual_time<P: Policy>(policy: &P, model: &Model, sizes: Sizes) -> Vec<Entry> {
    let report = thalweg_sim::run(policy, model, &virtual_settings(sizes)).unwrap();
    to_last_activation(report.decisions)
}

/// The settings of the engine with counted budgets; its reorder window has at least 32 tickets.
fn virtual_settings(Sizes { run, seed }: Sizes) -> Settings {
    let run = run as u64;
    let engine = Settings { foresight: false, patience: 1, ..Settings::default() };
    Settings { seed, budget: 4 * run, slice: run, run, window: 32, ..engine }
}

/// The decisions that are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// All.
    Whole,
    /// Those before a node of several inputs ends.
    UntilAJoinerEnds,
}

impl Extent {
    fn of(self, mut entries: Vec<Entry>, graph: &GraphData) -> Vec<Entry> {
        let ends = |entry: &Entry| matches!(entry.last, Some((node, Event::Done)) if graph.node(node).inputs().len() > 1);
        if self == Extent::UntilAJoinerEnds {
            entries.truncate(entries.iter().position(ends).unwrap_or(entries.len()));
        }
        entries
    }
}

/// Compares both hosts with the policy that the registry dispatches to; returns the number of decisions.
struct Compare<'a>(&'a Model, Sizes, Extent);

impl registry::Visit for Compare<'_> {
    type Out = Result<usize, String>;

    fn visit<P: Policy>(self, policy: &P) -> Self::Out {
        let Compare(model, sizes, extent) = self;
        let real = extent.of(in_the_engine(policy, model, sizes), &model.graph);
        let simulated = extent.of(in_virtual_time(policy, model, sizes), &model.graph);
        let same = real.iter().zip(&simulated).take_while(|(a, b)| a == b).count();
        match real == simulated {
            true => Ok(same),
            false => Err(format!(
                "entry {same} of {} and {}: engine {:?}, virtual host {:?}, after {:?}",
                real.len(),
                simulated.len(),
                real.get(same),
                simulated.get(same),
                &real[same.saturating_sub(3)..same],
            )),
        }
    }
}

/// Every policy and several sizes: claims that divide the channels' capacities and claims that do not.
fn compare(model: &Model) {
    for name in policies().chain(["prs:C=3", "static:spare=help"]) {
        for (run, capacity) in [(1, 2), (4, 16), (16, 40), (7, 9), (64, 256)] {
            for seed in 1..4 {
                let sizes = Sizes { run, seed };
                let same = compare_under(name, &model.clone().capacity(capacity), sizes, Extent::Whole);
                assert!(same > 10, "{name}, {sizes:?}: only {same} decisions");
            }
        }
    }
}

/// One policy, with these sizes; returns the number of decisions.
fn compare_under(name: &str, model: &Model, sizes: Sizes, extent: Extent) -> usize {
    let compared = registry::dispatch(name, Compare(model, sizes, extent)).unwrap();
    compared.unwrap_or_else(|difference| {
        panic!("{name}, {sizes:?}, capacity {}: {difference}\n{}", model.capacity, model.graph)
    })
}

/// Firings of a source.
const FIRINGS: u64 = 5003;
const COST: Cost = Cost::Fixed(100);

#[test]
fn on_a_chain() {
    compare(&shapes::chain_of(2, FIRINGS, 100));
    compare(&shapes::chain_of(7, FIRINGS, 100));
}

#[test]
fn on_strangers() {
    compare(&shapes::two_chains(FIRINGS, 100));
}

#[test]
fn on_a_farm() {
    compare(&shapes::farm(FIRINGS, 30, 300));
}

/// One worker carries its items on too.
#[test]
fn on_a_farm_of_heavy_items() {
    compare(&shapes::farm(FIRINGS, 30, 300).heavy());
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

/// Nodes with dynamic rates, from `shapes`, with more firings.
#[test]
fn on_dynamic_rates() {
    for (mut model, firings) in [(shapes::diamond(100), FIRINGS), (shapes::dedup(1, 100), 1003)] {
        model.nodes[0].firings = firings;
        compare(&model);
    }
}

/// Room for all items that the bursts of a test leave in front of a consumer.
const BURST: usize = 1000;

/// A starving source in front of `to`.
fn starve(model: &mut Model, to: NodeId, pop: Ratio, bursts: &[u64]) {
    let source = model.starving(&format!("bursts{}", model.nodes.len()), bursts);
    model.join_rated((source, Ratio::ONE), (to, pop), Link::default().with_capacity(BURST));
}

/// One worker under `static` makes the same choices among the same segments: the plan's, with those of the engine's sizes.
fn compare_segments(model: &Model, segments: &[&[u32]]) {
    let ids = |nodes: &&[u32]| nodes.iter().map(|node| NodeId(*node)).collect::<Vec<_>>();
    let segments: Vec<Vec<NodeId>> = segments.iter().map(ids).collect();
    for (run, capacity) in [(1, 2), (4, 16), (7, 9), (16, 40), (64, 256)] {
        let (model, sizes) = (model.clone().capacity(capacity), Sizes { run, seed: 1 });
        let wishes = Wishes::default().threads(1).claim_length(run);
        let mut plan = Plan::new(&model.graph, &wishes);
        *plan.segments_mut() = segments.clone();
        *plan.capacities_mut() = model.graph.channel_ids().map(|id| model.capacity_of(id)).collect();
        let simulated =
            thalweg_sim::run_planned(&Static::default(), &model, &virtual_settings(sizes), plan).unwrap();
        let simulated = to_last_activation(simulated.decisions);
        let segments = segments.clone();
        let options = options(sizes).plan_with(move |_, mut plan| {
            *plan.segments_mut() = segments.clone();
            Ok(plan)
        });
        let real = under_options(&Static::default(), &model, options);
        let same = real.iter().zip(&simulated).take_while(|(a, b)| a == b).count();
        let next = (real.get(same), simulated.get(same));
        assert!(real == simulated, "{run}, {capacity}: entry {same}, {next:?}\n{}", model.graph);
        assert!(same > 10, "{run}, {capacity}: only {same} decisions");
    }
}

#[test]
fn on_segments_of_a_plan() {
    compare_segments(&shapes::chain_of(7, FIRINGS, 100), &[&[0, 1], &[2, 3, 4], &[5]]);
    compare_segments(&shapes::farm(FIRINGS, 30, 300), &[&[0, 1], &[2]]);
    let mut looped = shapes::feedback(100);
    looped.nodes[0].firings = FIRINGS;
    compare_segments(&looped, &[&[0], &[1, 2, 3], &[4]]);
    let mut hub = shapes::two_sources();
    for node in hub.nodes.iter_mut().filter(|node| node.firings > 0) {
        node.firings = FIRINGS;
    }
    compare_segments(&hub, &[&[0], &[1, 2], &[3, 4, 5]]);
}

/// The worker idles between bursts, some of which are too short for a firing.
#[test]
fn on_a_farm_that_starves() {
    for (pop, bursts) in [(1, vec![1, 100, 3, 64, 333, 7, 7, 90]), (3, vec![1, 1, 100, 3, 64, 333, 2, 91])] {
        let mut model = Model::new();
        let first = model.sequential("first", COST);
        let farm = model.parallel("farm", COST);
        let sink = model.sequential("sink", COST);
        model.join(first, farm);
        model.join(farm, sink);
        starve(&mut model, first, Ratio::new(pop, 1), &bursts);
        compare(&model);
    }
}

/// Bursts into a parallel node that has a second input, from a source that workers run.
#[test]
fn on_a_hub_that_starves_on_one_side() {
    let bursts = [70, 1, 1, 400, 30, 500, 1];
    let mut model = Model::new();
    let source = model.source("source", bursts.iter().sum(), COST);
    let hub = model.parallel("hub", COST);
    let left = model.sequential("left", COST);
    let right = model.parallel("right", COST);
    let end = model.sequential("end", COST);
    for (from, to) in [(source, hub), (hub, left), (hub, right), (left, end), (right, end)] {
        model.join(from, to);
    }
    starve(&mut model, hub, Ratio::ONE, &bursts);
    compare(&model);
}

/// Two starving sources into one node, and a third into a chain of its own.
#[test]
fn on_three_sources_that_starve() {
    let mut model = Model::new();
    let meet = model.sequential("meet", COST);
    let work = model.parallel("work", COST);
    let sink = model.sequential("sink", COST);
    let alone = model.sequential("alone", COST);
    let last = model.sequential("last", COST);
    for (from, to) in [(meet, work), (work, sink), (alone, last)] {
        model.join(from, to);
    }
    starve(&mut model, meet, Ratio::ONE, &[5, 200, 1, 1, 60]);
    starve(&mut model, meet, Ratio::ONE, &[100, 7, 100, 60]);
    starve(&mut model, alone, Ratio::ONE, &[1, 2, 300, 4, 5, 6]);
    compare(&model);
}

/// Dynamic rates behind bursts: the host's knowledge of a node outlives the idle time.
#[test]
fn on_dynamic_rates_that_starve() {
    let third = Ratio::new(1, 3);
    let mut model = Model::new();
    let split = model.sequential("split", COST);
    let left = model.parallel("left", COST);
    let right = model.sequential("right", COST);
    let meet = model.sequential("meet", COST);
    for (from, to) in [(split, left), (split, right), (left, meet)] {
        model.join(from, to);
    }
    model.join_rated((right, third), (meet, third), Link::default());
    starve(&mut model, split, Ratio::ONE, &[1, 1, 1, 100, 2, 333, 65, 4, 4, 90]);
    starve(&mut model, meet, Ratio::new(1, 2), &[100, 3, 40, 99, 1, 57]);
    compare(&model);
}

/// Firings of the graph of a StreamIt program, but for those behind dynamic rates.
const PROGRAM: u64 = 4000;

/// The most events of a program in the virtual host: a loop without input never ends.
const EVENTS: u64 = 100_000;

/// Compares both hosts on the graph of a program, under each policy. Returns whether there was anything to compare: the
/// program has a model, which ends in the virtual host. (The channels of others would have to grow.)
fn compare_program(program: &Compiled, (run, capacity): (usize, usize)) -> bool {
    let sizes = Sizes { run, seed: 1 };
    let Some(model) = streamit::model(program, PROGRAM, capacity) else { return false };
    if !registry::dispatch("auto", Ends(&model, sizes)).unwrap() {
        return false;
    }
    for name in policies() {
        let same = compare_under(name, &model, sizes, Extent::UntilAJoinerEnds);
        assert!(same > 10, "{name}: only {same} decisions\n{}", model.graph);
    }
    true
}

/// Whether a model ends in the virtual host.
struct Ends<'a>(&'a Model, Sizes);

impl registry::Visit for Ends<'_> {
    type Out = bool;

    fn visit<P: Policy>(self, policy: &P) -> bool {
        let settings = Settings { steps: EVENTS, ..virtual_settings(self.1) };
        thalweg_sim::run(policy, self.0, &settings).is_ok()
    }
}

#[test]
fn on_the_streamit_programs_of_the_suite() {
    for program in thalweg_str::PROGRAMS {
        let compiled = compile(&program.sources(&[]).unwrap()).unwrap();
        assert!(compare_program(&compiled, (4, 16)), "{}: not compared", program.name);
    }
}

#[test]
fn on_random_streamit_programs() {
    let (seeds, mut compared) = (0..30, 0);
    for seed in seeds.clone() {
        let program = generate(&mut Choices::seeded(seed), &thalweg_lang_testgen::Options::default());
        let compiled = compile(&Sources::of("random.str", program.to_string())).unwrap();
        compared += usize::from(compare_program(&compiled, (7, 40)));
    }
    assert!(compared * 2 > seeds.count(), "only {compared} compared");
}

//! The conformance suite: laws that every policy of the registry must satisfy, in virtual time.
//!
//! The host itself fails a run in which the policy names a node that does not exist, or in which all workers sleep
//! while some node is claimable (the liveness law of `thalweg-policy`).

use std::sync::Mutex;
use thalweg_graph::{Kind, Link, NodeId};
use thalweg_plan::{Plan, Wishes};
use thalweg_policy::{Decision, Event, Host, Policy, Pss, WorkerId, auto, registry, static_plan};
use thalweg_sim::{Cost, Failure, Model, Ratio, Report, Settings, run, run_planned, shapes};

/// A run under the policy that the registry passes.
struct Run<'a>(&'a Model, Settings);

impl registry::Visit for Run<'_> {
    type Out = Result<Report, Failure>;

    fn visit<P: Policy>(self, policy: &P) -> Self::Out {
        run(policy, self.0, &self.1)
    }
}

fn play(name: &str, model: &Model, settings: Settings) -> Report {
    let report = registry::dispatch(name, Run(model, settings)).unwrap();
    report.unwrap_or_else(|failure| panic!("{name}, {settings:?}: {failure}"))
}

/// Every registered policy, and some with settings that change their decisions.
fn policies() -> impl Iterator<Item = &'static str> {
    registry::names().chain(["prs:C=1", "partition:tau=0,apart=1", "static:spare=help"])
}

/// One model of each shape, by name; under `auto`, of which workers carry heavy items on, also with heavy items.
fn models(policy: &str) -> Vec<(&'static str, Model)> {
    let mut models = shapes::all();
    if policy == "auto" {
        models.extend(shapes::all().into_iter().map(|(shape, model)| (shape, model.heavy())));
    }
    models
}

/// Calls `check` for every policy, model, capacity, number of workers and seed.
fn everywhere(check: impl Fn(&str, &str, &Model, Settings)) {
    for name in policies() {
        for (shape, model) in models(name) {
            for capacity in [12, 256] {
                let model = model.clone().capacity(capacity);
                for workers in [1, 2, 3, 5, 8, 16] {
                    for seed in 1..=2 {
                        check(name, shape, &model, Settings { workers, seed, ..Settings::default() });
                    }
                }
            }
        }
    }
}

/// By node: the firings, which depend on the graph and its input alone.
fn expected_firings(model: &Model) -> Vec<u64> {
    let settings = Settings { slice: 1, run: 1, budget: 1, ..Settings::default() };
    play("random", model, settings).firings
}

/// A run that follows a plan for 64 workers, the last of which has all nodes.
struct Planned<'a>(&'a Model, Settings);

impl registry::Visit for Planned<'_> {
    type Out = Result<Report, Failure>;

    fn visit<P: Policy>(self, policy: &P) -> Self::Out {
        let graph = &self.0.graph;
        let mut plan = Plan::new(graph, &Wishes::default().threads(64));
        plan.affinity_mut().extend(graph.node_ids().map(|node| (node, 63)));
        *plan.segments_mut() = vec![graph.node_ids().collect()];
        run_planned(policy, self.0, &self.1, plan)
    }
}

/// The policies that run on any number of workers: all but `pools`, of which the plan decides it.
fn policies_on_any_workers() -> impl Iterator<Item = &'static str> {
    policies().filter(|name| *name != "pools")
}

#[test]
fn workers_of_a_plan_that_the_settings_lack_are_replaced() {
    for (shape, model) in shapes::all() {
        for name in policies_on_any_workers() {
            let settings = Settings { workers: 3, ..Settings::default() };
            let report = registry::dispatch(name, Planned(&model, settings)).unwrap();
            let firings = report.map(|report| report.firings);
            assert_eq!(firings, Ok(play(name, &model, settings).firings), "{name}, {shape}");
        }
    }
}

#[test]
fn all_firings_happen_under_every_policy() {
    let firings: Vec<Vec<u64>> =
        shapes::all().iter().map(|(_, model)| expected_firings(&model.clone().capacity(1000))).collect();
    let expected = |shape: &str| &firings[shapes::all().iter().position(|(name, _)| *name == shape).unwrap()];
    assert_eq!(expected("chain"), &[300; 6]);
    assert_eq!(expected("dedup"), &[48, 48, 384, 384, 256, 384]);
    assert_eq!(expected("feedback"), &[300; 5]);
    everywhere(|name, shape, model, settings| {
        let report = play(name, model, settings);
        assert_eq!(&report.firings, expected(shape), "{name} on {shape}, {settings:?}");
        assert!(report.stall.iter().all(|stall| *stall == 0), "no firing waits for its ticket");
    });
}

#[test]
fn firings_that_wait_for_their_tickets_are_the_same() {
    let firings: Vec<Vec<u64>> =
        shapes::all().iter().map(|(_, model)| expected_firings(&model.clone().capacity(1000))).collect();
    let shape_of = |shape: &str| shapes::all().iter().position(|(name, _)| *name == shape).unwrap();
    let stalled = Mutex::new(0);
    everywhere(|name, shape, model, settings| {
        let report = play(name, model, Settings { ticket_wait: 10, ..settings });
        assert_eq!(report.firings, firings[shape_of(shape)], "{name} on {shape}, {settings:?}");
        let stall: u64 = report.stall.iter().sum();
        assert!(
            settings.workers > 1 || name == "pools" || stall == 0,
            "{name} on {shape}: one worker stalls"
        );
        *stalled.lock().unwrap() += stall;
    });
    assert!(stalled.into_inner().unwrap() > 0);
}

#[test]
fn the_same_seed_makes_the_same_decisions() {
    for name in policies() {
        for (shape, model) in models(name) {
            let settings = Settings { workers: 4, seed: 9, ..Settings::default() };
            let (one, two) = (play(name, &model, settings), play(name, &model, settings));
            assert_eq!(one, two, "{name} on {shape}");
        }
    }
}

#[test]
fn seeds_matter_where_a_policy_draws() {
    let settings = |seed| Settings { workers: 4, seed, ..Settings::default() };
    let is_fixed =
        |name: &str| ["auto", "pools", "static", "partition"].iter().any(|fixed| name.starts_with(fixed));
    let draws = |name: &&str| !is_fixed(name);
    for name in policies().filter(draws) {
        let decisions = |model: &Model, seed| play(name, model, settings(seed)).decisions;
        let differs = |model: &Model| (2..5).any(|seed| decisions(model, 1) != decisions(model, seed));
        assert!(shapes::all().iter().any(|(_, model)| differs(model)), "{name}");
    }
}

/// With tiny slices, budgets and windows, slow claims and workers that sleep at once, [`Event::Refused`] and
/// [`Event::Waiting`] are common.
#[test]
fn the_liveness_law_holds_when_claims_are_slow_and_windows_short() {
    let (mut refused, mut waiting) = (0, 0);
    for name in policies() {
        for (_, model) in models(name) {
            for workers in [2, 7, 16] {
                let small =
                    Settings { decide: 500, patience: 1, wake: 1, slice: 3, run: 2, ..Settings::default() };
                let settings = Settings { workers, budget: 5, window: 2, ..small };
                let report = play(name, &model, settings);
                let ends = report.decisions.iter().filter_map(|entry| entry.last);
                refused += ends.clone().filter(|last| last.1 == Event::Refused).count();
                waiting += ends.filter(|last| last.1 == Event::Waiting).count();
            }
        }
    }
    assert!(refused > 100 && waiting > 100, "{refused} refused, {waiting} waiting");
}

#[test]
fn one_worker_never_idles_while_it_runs() {
    for name in policies_on_any_workers() {
        for (shape, model) in models(name) {
            let report = play(name, &model, Settings::default());
            let last = report.decisions.iter().rposition(|e| matches!(e.decision, Decision::Activate(_)));
            let idle = report.decisions[..last.unwrap()].iter().filter(|e| e.decision == Decision::Idle);
            assert_eq!(idle.count(), 0, "{name} on {shape}");
            assert_eq!(report.fruitless, 0, "{name} on {shape}: claims without work");
        }
    }
}

/// A farm behind a source with bursts that leave the workers idle in between, and a second source that ends later.
fn starving() -> Model {
    let cost = Cost::Fixed(100);
    let mut model = Model::new();
    let bursts = [model.starving("bursts", &[1, 40, 3, 90]), model.starving("others", &[7, 7])];
    let farm = model.parallel("farm", cost);
    let (sink, other) = (model.sequential("sink", cost), model.sequential("other", cost));
    let large = Link::default().with_capacity(200);
    model.join_rated((bursts[0], Ratio::ONE), (farm, Ratio::ONE), large);
    model.join_rated((bursts[1], Ratio::ONE), (other, Ratio::ONE), large);
    model.join(farm, sink);
    model
}

#[test]
fn every_policy_runs_bursts_after_idle_time() {
    for name in policies() {
        for workers in [1, 2, 5] {
            let settings = Settings { workers, ..Settings::default() };
            let report = play(name, &starving(), settings);
            assert_eq!(report.firings, [134, 14, 134, 134, 14], "{name}, {workers} workers");
            let idle = report.decisions.iter().filter(|entry| entry.decision == Decision::Idle);
            assert!(idle.count() >= 6, "{name}: the workers are idle before four bursts and two ends");
        }
    }
}

/// A run ends although the host knows of dynamic rates only what the engine knows.
#[test]
fn every_policy_runs_without_foresight() {
    for name in policies() {
        for (shape, model) in models(name) {
            let report = play(name, &model, Settings { foresight: false, workers: 3, ..Settings::default() });
            assert_eq!(report.firings, expected_firings(&model), "{name} on {shape}");
        }
    }
}

/// The number of decisions, of all workers, within which a fair policy activates a claimable node. Each worker
/// skips a node for at most one round, and a round is all tokens (`random`), or all nodes with one node in
/// [`auto::FAIR_EVERY`] decisions (`auto`; `static` has its own number).
fn fair_bound(name: &str, model: &Model, workers: usize) -> u64 {
    let nodes = model.graph.nodes();
    let parallel = nodes.iter().filter(|node| node.kind() == Kind::Parallel).count();
    let tokens = (nodes.len() - parallel) + parallel * workers;
    let interval = if name == "static" { static_plan::FAIR_EVERY } else { auto::FAIR_EVERY };
    let rounds = nodes.len() * interval as usize;
    (workers * tokens.max(rounds)) as u64
}

#[test]
fn fair_policies_starve_no_node() {
    for name in registry::names().filter(|name| registry::is_fair(name) == Some(true)) {
        let mut models = shapes::all();
        models.push(("two long chains", shapes::two_chains(60_000, 100)));
        for (shape, model) in models {
            for workers in [1, 2, 5] {
                let settings = Settings { workers, ..Settings::default() };
                let report = play(name, &model, settings);
                let bound = fair_bound(name, &model, workers);
                let longest = report.longest_wait;
                assert!(longest <= bound, "{name} on {shape}, {workers} workers: {longest} > {bound}");
            }
        }
    }
}

/// The reason why `qes`, `pss` and `prs` are not fair.
#[test]
fn queue_events_alone_can_starve_an_unconnected_chain() {
    let model = shapes::two_chains(60_000, 100);
    let report = play("qes", &model, Settings::default());
    assert!(report.longest_wait > fair_bound("qes", &model, 1));
}

#[test]
fn a_violation_of_the_liveness_law_is_reported() {
    struct Lazy;
    impl Policy for Lazy {
        type Local = ();
        type Shared = ();
        fn start<H: thalweg_policy::Host>(&self, _: usize, _: &mut H) {}
        fn next<H: thalweg_policy::Host>(
            &self,
            _: &mut (),
            last: Option<(NodeId, Event)>,
            _: &mut H,
        ) -> Decision {
            if last.is_none() { Decision::Activate(NodeId(0)) } else { Decision::Idle }
        }
    }
    let failure = run(&Lazy, &shapes::chain(2, 100), &Settings::default()).unwrap_err();
    assert!(matches!(failure, Failure::Stalled { .. }), "{failure}");
}

#[test]
fn auto_is_efficient_on_chains_and_farms() {
    let cases = [
        ("chain", shapes::chain_of(8, 40_000, 100).capacity(1024), 4, 0.9),
        ("farm", shapes::farm(40_000, 20, 200).capacity(1024), 4, 0.9),
        ("dedup", shapes::dedup(2_000, 500), 4, 0.9),
    ];
    for (shape, model, workers, least) in cases {
        let report = play("auto", &model, Settings { workers, ..Settings::default() });
        let efficiency = report.efficiency(&model);
        assert!(efficiency >= least, "{shape}: {efficiency}");
    }
}

/// Sums the fill of each channel over time, between two points in time. One thread runs all workers.
struct MeasureFill<'a, P> {
    policy: &'a P,
    window: std::ops::Range<u64>,
    fills: &'a Mutex<Fills>,
}

#[derive(Default)]
struct Fills {
    /// The time up to which the fills are summed.
    until: u64,
    /// By channel: the fill, times the time for which it lasted.
    sums: Vec<f64>,
}

impl<P: Policy> Policy for MeasureFill<'_, P> {
    type Local = P::Local;
    type Shared = P::Shared;

    fn start<H: Host<P::Shared>>(&self, worker: WorkerId, host: &mut H) -> P::Local {
        self.policy.start(worker, host)
    }

    fn next<H: Host<P::Shared>>(
        &self,
        me: &mut P::Local,
        last: Option<(NodeId, Event)>,
        host: &mut H,
    ) -> Decision {
        let mut fills = self.fills.lock().unwrap();
        let now = host.now().clamp(self.window.start, self.window.end);
        let since = now - std::mem::replace(&mut fills.until, now).max(self.window.start);
        fills.sums.resize(host.graph().channels().len(), 0.0);
        for (channel, sum) in host.graph().channel_ids().zip(&mut fills.sums) {
            *sum += host.occupancy(channel).fill() * since as f64;
        }
        self.policy.next(me, last, host)
    }
}

/// By channel: the mean fill under `pss`, without the first quarter of the run and the last.
fn mean_fills(model: &Model, settings: Settings) -> Vec<f64> {
    let makespan = run(&Pss, model, &settings).unwrap().makespan;
    let (window, fills) = (makespan / 4..makespan / 4 * 3, Mutex::default());
    run(&MeasureFill { policy: &Pss, window: window.clone(), fills: &fills }, model, &settings).unwrap();
    fills.into_inner().unwrap().sums.iter().map(|sum| sum / (window.end - window.start) as f64).collect()
}

/// DANBI, section III-A3: "PSS iteratively attempts to assign threads to kernels for filling all the data queues in a
/// graph by half". The channels hold several times the items of all claims under way, which no channel counts.
#[test]
fn speculation_keeps_the_channels_between_parallel_kernels_half_full() {
    for kernels in [2, 3, 5, 8] {
        for (capacity, run) in [(256, 4), (1024, 16)] {
            let model = shapes::parallel_chain(kernels, 60_000, 10, 1_000).capacity(capacity);
            let settings = Settings { workers: 16, run, ..Settings::default() };
            let is_half = |fill: &f64| (0.4..0.6).contains(fill);
            let fills = mean_fills(&model, settings);
            assert!(fills[1..kernels].iter().all(is_half), "{kernels} kernels, {capacity}: {fills:.2?}");
        }
    }
}

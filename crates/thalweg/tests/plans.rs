//! Runs that follow a plan: what comes out is the same under every legal plan, and every decision acts.
//!
//! ```text
//! THALWEG_CASES=100000 cargo test -p thalweg --release --test all plans
//! ```

use crate::support;

use proptest::prelude::*;
use std::collections::HashSet;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::case::{Disturbance, case, run};
use support::item::Counted;
use support::network::{Expected, RunEnd, expected, net};
use support::planning::legal;
use support::realised;
use support::reference::reference;
use support::runner::for_each;
use support::watchdog::watch;
use thalweg::embed::graph::NodeId;
use thalweg::embed::plan::Fingerprint;
use thalweg::embed::policy::record::{Entry, Log};
use thalweg::embed::policy::{Recorded, WorkerId, registry};
use thalweg::embed::runtime::EmbedOptions;
use thalweg::graph::GraphData;
use thalweg::plan::{Plan, Wishes};
use thalweg::policy::{Decision, Event, Host, Needs, Policy};
use thalweg::{Error, Options, Output, Prepared};
use thalweg_sim::{Model, shapes};

/// Options with which every run follows a random legal plan, which also survives printing and reading.
fn replanned(options: Options, seed: u64) -> Options {
    options.plan_with(move |graph, made| {
        assert_eq!(Plan::read(&made.to_string(), graph).as_ref(), Ok(&made));
        let plan = legal(graph, &made, seed);
        assert_eq!(Plan::read(&plan.on(graph).to_string(), graph).as_ref(), Ok(&plan));
        Ok(plan)
    })
}

/// Every policy, 1 to 3 workers. A budget may be too small for the plan: then the items so far are checked.
#[test]
fn random_plans_change_nothing_in_what_comes_out() {
    for_each(15, (case(), any::<u64>()), |(case, seed)| {
        let Some(expected) = reference(&case.spec) else { return Ok(()) };
        let options = replanned(case.config.options(), seed);
        let outcome = watch(format!("plan {seed}, {case:#?}"), || {
            run::<Counted>(&case, Disturbance::default(), &options)
        });
        let whole = outcome.end.is_ok();
        prop_assert!(whole || outcome.is_over_budget(), "the run failed: {:?}", outcome.end.err());
        for (sink, (got, expected)) in outcome.got.iter().zip(&expected).enumerate() {
            let same = got.len() <= expected.len() && got[..] == expected[..got.len()];
            prop_assert!(same && (!whole || got.len() == expected.len()), "sink {}", sink);
        }
        prop_assert_eq!(outcome.lost, 0);
        Ok(())
    });
}

#[test]
fn random_plans_change_nothing_in_networks_of_processes() {
    let names: Vec<&str> = registry::names().collect();
    for_each(10, (net(), prop::sample::select(names), any::<u64>()), |(net, policy, seed)| {
        let Expected { end: expected, .. } = expected(&net);
        let options = replanned(Options::new().policy(policy), seed);
        let ran =
            watch(format!("plan {seed}, {policy} {net:#?}"), || support::network::run::<u64>(&net, &options));
        match (ran, expected) {
            ((Ok(_), got), RunEnd::Completes(states)) => {
                for (got, state) in got.iter().zip(&states).filter(|(_, state)| state.is_some()) {
                    prop_assert_eq!(got, state);
                }
            }
            ((Err(Error::Deadlock(_)), _), RunEnd::Deadlocks(_)) => {}
            ((end, _), expected) => {
                return Err(TestCaseError::fail(format!("expected {expected:?}, got {end:?}")));
            }
        }
        Ok(())
    });
}

/// A blocking source, a parallel node and a sequential one.
fn squares() -> Output<'static, Vec<u64>> {
    let source = thalweg::from_iter(0..3000u64).named("read").blocking();
    source.par_map(|n| n * n).named("square").map(|n| n + 1).named("add").collect()
}

fn prepared(options: &Options) -> Prepared<'static> {
    squares().graph().build().unwrap().prepare(options).unwrap()
}

fn graph() -> GraphData {
    squares().graph().build().unwrap().graph().clone()
}

#[test]
fn a_saved_plan_replays() {
    let options = Options::new().threads(2).policy("ws-last").budget(1 << 20).claim_length(7);
    let plan = prepared(&options).plan().clone();
    let read = Plan::read(&plan.on(&graph()).to_string(), &graph()).unwrap();
    let again = Options::new().plan(read);
    assert_eq!(prepared(&again).plan(), &plan);
    assert_eq!(again.workers(), 2);
    let (items, report) = squares().run_with(&again).unwrap().into_parts();
    assert!(items.into_iter().eq((0..3000).map(|n| n * n + 1)));
    assert_eq!((report.threads(), report.policy()), (2, "ws-last"));
}

#[test]
fn a_plan_and_an_option_that_it_decides_are_refused_with_both_names() {
    let plan = || Options::new().plan(prepared(&Options::new()).plan().clone());
    assert!(plan().check().is_ok());
    assert!(plan().seed(3).repeatable().pinned().deadline(Duration::from_secs(9)).check().is_ok());
    let wishes = [
        ("threads", plan().threads(1)),
        ("policy", plan().policy("auto")),
        ("budget", plan().budget(1 << 30)),
        ("capacity", plan().capacity(9)),
        ("claim_length", plan().claim_length(9)),
        ("thread_per_node", plan().thread_per_node()),
        ("plan_with", plan().plan_with(|_, plan| Ok(plan))),
    ];
    for (wish, options) in wishes {
        let Err(Error::Options(what)) = squares().run_with(&options).map_err(Error::from) else {
            panic!("{wish} is accepted")
        };
        assert!(what.starts_with(&format!("`Options::plan` and `Options::{wish}` are both set")), "{what}");
    }
}

#[test]
fn a_plan_that_does_not_fit_is_refused() {
    let change = |change: fn(&mut Plan)| {
        let mut plan = prepared(&Options::new().threads(2)).plan().clone();
        change(&mut plan);
        squares().run_with(&Options::new().plan(plan)).unwrap_err()
    };
    let message = |error: Error| match error {
        Error::Plan(why) => why.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(
        message(change(|plan| plan.claim_lengths_mut()[2] = 0).into_error())
            .contains("node `add` has `claim 0`")
    );
    assert!(
        message(change(|plan| plan.own_threads_mut().clear()).into_error()).contains("node `read` blocks")
    );
    assert!(
        message(change(|plan| *plan.graph_mut() = Fingerprint::new(4, 3, 1)).into_error())
            .contains("the plan is for another graph")
    );
    let unknown = message(change(|plan| *plan.policy_mut() = "fifo".to_owned()).into_error());
    assert!(unknown.starts_with("the plan names policy `fifo`: unknown policy `fifo`\n"), "{unknown}");
    let refuse = Options::new().plan_with(|_, _| Err("not today".into()));
    assert_eq!(message(squares().run_with(&refuse).unwrap_err().into_error()), "not today");
}

#[test]
fn functions_for_the_plan_and_for_the_start_are_called_in_order() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let noted = |options: Options, n: usize| {
        let (at_plan, at_start) = (calls.clone(), calls.clone());
        let options = options.plan_with(move |_, mut plan| {
            at_plan.lock().unwrap().push(("plan", n, plan.batch()));
            *plan.batch_mut() = n;
            if n == 9 { Err("nine".into()) } else { Ok(plan) }
        });
        options.on_start(move |_| at_start.lock().unwrap().push(("start", n, 0)))
    };
    let options = noted(noted(Options::new().threads(1), 5), 7);
    squares().run_with(&options).unwrap();
    let batch = prepared(&Options::new().threads(1)).plan().batch();
    let expected = [("plan", 5, batch), ("plan", 7, 5), ("start", 5, 0), ("start", 7, 0)];
    assert_eq!(std::mem::take(&mut *calls.lock().unwrap()), expected);

    let failing = noted(noted(noted(Options::new().threads(1), 5), 9), 7);
    assert!(matches!(squares().run_with(&failing).map_err(Error::from), Err(Error::Plan(_))));
    assert_eq!(*calls.lock().unwrap(), [("plan", 5, batch), ("plan", 9, 5)]);
}

#[test]
fn options_can_be_shared_and_survive_panics() {
    const fn has_traits<T: Send + Sync + UnwindSafe + RefUnwindSafe + 'static>() {}
    const { has_traits::<Options>() };
}

#[test]
fn one_worker_decides_the_same_under_the_same_plan() {
    // Under `pools` a run has a worker for each node.
    for (name, seed) in registry::names().filter(|name| *name != "pools").zip(1..) {
        for model in [shapes::chain_of(5, 2000, 10), shapes::farm(2000, 3, 30)] {
            let entries = || registry::dispatch(name, Decide { model: &model, seed }).unwrap();
            let first = entries();
            assert!(first.len() > 100, "{name}: {} decisions", first.len());
            assert!(first == entries(), "{name}, plan {seed}");
        }
    }
}

/// The decisions of a run of the model under a random plan for one worker.
struct Decide<'a> {
    model: &'a Model,
    seed: u64,
}

impl registry::Visit for Decide<'_> {
    type Out = Vec<Entry>;

    fn visit<P: Policy>(self, policy: &P) -> Vec<Entry> {
        let seed = self.seed;
        let options = Options::new().repeatable().seed(seed).plan_with(move |graph, made| {
            let mut plan = legal(graph, &made, seed);
            (*plan.threads_mut(), *plan.affinity_mut()) = (1, Default::default());
            (*plan.segments_mut(), *plan.regions_mut()) = Default::default();
            (*plan.pools_mut(), *plan.shares_mut()) = Default::default();
            *plan.own_threads_mut() = made.own_threads().clone();
            plan.slots_mut().clear();
            Ok(plan)
        });
        let log = Log::new();
        let prepared = realised::build(self.model).build().unwrap().prepare(&options).unwrap();
        watch(name(policy), || prepared.run_under(&Recorded::new(policy, &log)).unwrap());
        log.take()
    }
}

fn name<P>(_: &P) -> String {
    std::any::type_name::<P>().to_owned()
}

/// The plan that the engine makes for two or more workers, changed.
fn with(threads: usize, change: impl Fn(&mut Plan) + Send + Sync + 'static) -> Options {
    Options::new().threads(threads).plan_with(move |_, mut plan| {
        change(&mut plan);
        Ok(plan)
    })
}

#[test]
fn replicas_limit_the_workers_of_a_parallel_node() {
    let run = |replicas: u32| {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let peak = most.clone();
        let items = thalweg::from_iter(0..300u64).par_map(move |n| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_micros(200));
            now.fetch_sub(1, Ordering::SeqCst);
            n
        });
        let options = with(3, move |plan| {
            plan.claim_lengths_mut().fill(1);
            plan.replicas_mut().insert(NodeId(1), replicas);
        });
        let items = items.collect().run_with(&options).unwrap().into_value();
        assert_eq!(items.len(), 300);
        peak.load(Ordering::SeqCst)
    };
    assert_eq!(run(1), 1);
    assert!((2..=3).contains(&run(3)), "sleeping firings of three workers overlap");
}

#[test]
fn the_batch_limits_the_firings_of_an_activation() {
    let activations = |batch: usize| {
        let options = with(1, move |plan| *plan.batch_mut() = batch).repeatable();
        squares().run_with(&options).unwrap().into_report().nodes()[2].activations()
    };
    assert!(activations(5) >= 600, "3000 firings, of which an activation has 5");
    assert!(activations(1 << 14) < 300);
}

#[test]
fn a_node_with_a_thread_of_its_own_runs_on_no_worker() {
    let names = Arc::new(Mutex::new(HashSet::new()));
    let seen = names.clone();
    let items = thalweg::from_iter(0..100u64).map(move |n| {
        seen.lock().unwrap().insert(std::thread::current().id());
        n
    });
    let options = with(2, |plan| _ = plan.own_threads_mut().insert(NodeId(1)));
    let (items, report) = items.named("alone").collect().run_with(&options).unwrap().into_parts();
    assert_eq!((items.len(), names.lock().unwrap().len()), (100, 1));
    // The workers have not activated the node.
    let by_workers: u64 = report.workers().iter().map(|worker| worker.activations() - worker.refused()).sum();
    let of_others = report.nodes()[0].activations() + report.nodes()[2].activations();
    assert!(by_workers <= of_others + 3, "{by_workers} activations by workers, {of_others} of other nodes");
}

/// A policy that notes the worker of each node at the start, and runs each node there.
struct Places<'a>(&'a Mutex<Vec<Option<WorkerId>>>);

impl Policy for Places<'_> {
    type Local = Vec<NodeId>;
    type Shared = ();

    fn needs(&self, _graph: &GraphData) -> Needs {
        Needs::Affinity
    }

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> Vec<NodeId> {
        assert_eq!(host.plan().threads(), host.workers());
        *self.0.lock().unwrap() = host.graph().node_ids().map(|node| host.affinity(node)).collect();
        for node in host.graph().node_ids() {
            if host.claimable(node) && host.affinity(node).unwrap_or(0) == worker {
                host.push(worker, node);
            }
        }
        Vec::new()
    }

    fn ready<H: Host>(&self, me: &mut Vec<NodeId>, node: NodeId, host: &mut H) {
        match host.affinity(node) {
            Some(owner) => host.push(owner, node),
            None => me.push(node),
        }
    }

    fn next<H: Host>(&self, me: &mut Vec<NodeId>, _last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        let node = me.pop().or_else(|| host.pop(thalweg::embed::policy::End::Oldest));
        node.map_or(Decision::Idle, Decision::Activate)
    }
}

#[test]
fn affinity_segments_and_regions_place_nodes_at_the_start() {
    let chain = || {
        let source = thalweg::from_iter(0..500u64).map(|n| n + 1).map(|n| n + 2).par_map(|n| n);
        source.map(|n| n + 3).collect()
    };
    let places = |change: fn(&mut Plan)| {
        let places = Mutex::new(Vec::new());
        let options = with(3, change);
        watch("a chain".to_owned(), || chain().graph().run_under(&Places(&places), &options).unwrap());
        places.into_inner().unwrap()
    };
    // Six nodes are dealt to three workers; the fourth is parallel.
    let dealt = places(|_| ());
    assert_eq!(dealt, [Some(0), Some(0), Some(1), None, Some(2), Some(2)]);
    let affine = places(|plan| *plan.affinity_mut() = [(NodeId(0), 2), (NodeId(5), 0)].into());
    assert_eq!(affine, [Some(2), Some(0), Some(1), None, Some(2), Some(0)]);
    let segments: fn(&mut Plan) =
        |plan| *plan.segments_mut() = vec![vec![NodeId(0)], vec![NodeId(1), NodeId(2), NodeId(3), NodeId(4)]];
    assert_eq!(places(segments), [Some(0), Some(1), Some(1), None, Some(1), Some(2)]);
    let region = |plan: &mut Plan| {
        *plan.regions_mut() = vec![vec![NodeId(1), NodeId(2)]];
        plan.affinity_mut().insert(NodeId(2), 2);
    };
    assert_eq!(places(region), [Some(0), Some(2), Some(2), None, Some(2), Some(2)]);
}

#[test]
fn a_profile_of_a_run_makes_the_next_plan() {
    let report = squares().run_with(&Options::new().threads(2)).unwrap().into_report();
    let wishes = Wishes::default().threads(2);
    let plan = Plan::with_profile(report.graph(), &report.profile(), &wishes);
    assert!(!plan.segments().is_empty() && !plan.affinity().is_empty());
    // A plan for `pools` lists the workers of each node, which this one does not.
    for policy in registry::names().filter(|name| *name != "pools") {
        let mut plan = plan.clone();
        *plan.policy_mut() = policy.to_owned();
        let items =
            watch(policy.to_owned(), || squares().run_with(&Options::new().plan(plan)).unwrap()).into_value();
        assert!(items.into_iter().eq((0..3000).map(|n| n * n + 1)), "{policy}");
    }
}

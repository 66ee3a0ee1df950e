//! Conformance of the policies in the engine: the suite of `crates/sim/tests/conformance.rs` on the same models,
//! run by real threads.

use crate::support;

use support::realised;
use support::watchdog::watch;
use thalweg::embed::graph::NodeId;
use thalweg::embed::policy::record::{Entry, Log};
use thalweg::embed::policy::{Recorded, WorkerId, auto, registry, static_plan};
use thalweg::graph::GraphData;
use thalweg::policy::{Decision, Event, Host, Needs, Policy};
use thalweg::{Options, Report};
use thalweg_sim::{Model, Settings, shapes};

/// Every registered policy, and some with settings that change their decisions.
fn policies() -> impl Iterator<Item = &'static str> {
    registry::names().chain(["prs:C=1", "partition:tau=0,apart=1", "static:spare=help"])
}

/// The policies that run on one worker: all but `pools`, which has one for each node.
fn policies_on_one_worker() -> impl Iterator<Item = &'static str> {
    policies().filter(|name| *name != "pools")
}

/// Counts, for each node, the consecutive decisions that did not activate it although it was claimable.
struct CountWaits<'a, P>(&'a P, &'a std::sync::atomic::AtomicU64);

impl<P: Policy> Policy for CountWaits<'_, P> {
    type Local = (P::Local, Vec<u64>);
    type Shared = P::Shared;

    fn needs(&self, graph: &GraphData) -> Needs {
        self.0.needs(graph)
    }

    fn start<H: Host<P::Shared>>(&self, worker: WorkerId, host: &mut H) -> Self::Local {
        (self.0.start(worker, host), vec![0; host.graph().nodes().len()])
    }

    fn ready<H: Host<P::Shared>>(&self, me: &mut Self::Local, node: NodeId, host: &mut H) {
        self.0.ready(&mut me.0, node, host);
    }

    fn next<H: Host<P::Shared>>(
        &self,
        me: &mut Self::Local,
        last: Option<(NodeId, Event)>,
        host: &mut H,
    ) -> Decision {
        let decision = self.0.next(&mut me.0, last, host);
        for node in host.graph().node_ids() {
            let waits = host.claimable(node) && decision != Decision::Activate(node);
            let wait = &mut me.1[node.index()];
            *wait = if waits { *wait + 1 } else { 0 };
            self.1.fetch_max(*wait, std::sync::atomic::Ordering::Relaxed);
        }
        decision
    }
}

/// The outcome of a run in the engine.
struct Outcome {
    report: Report,
    decisions: Vec<Entry>,
    longest_wait: u64,
}

/// Runs the engine with the policy that the registry dispatches to.
struct EngineRun<'a> {
    model: &'a Model,
    options: Options,
    what: String,
    recorded: bool,
}

impl registry::Visit for EngineRun<'_> {
    type Out = Outcome;

    fn visit<P: Policy>(self, policy: &P) -> Outcome {
        let prepared = realised::build(self.model).build().unwrap().prepare(&self.options).unwrap();
        let (log, longest) = (Log::new(), std::sync::atomic::AtomicU64::new(0));
        let report = watch(self.what, || match self.recorded {
            true => prepared.run_under(&Recorded::new(CountWaits(policy, &longest), &log)),
            false => prepared.run_under(&policy),
        });
        Outcome {
            report: report.unwrap().into_report(),
            decisions: log.take(),
            longest_wait: longest.into_inner(),
        }
    }
}

fn run(name: &str, model: &Model, options: &Options, recorded: bool) -> Outcome {
    let what = format!("{name}: {options:?} on\n{}", model.graph);
    // The plan lists the workers of `pools`.
    let options = if name == "pools" { options.clone().policy(name) } else { options.clone() };
    registry::dispatch(name, EngineRun { model, options, what, recorded }).unwrap()
}

/// The number of firings of each node, which graph and input determine: counted in the virtual host.
struct VirtualFirings<'a>(&'a Model);

impl registry::Visit for VirtualFirings<'_> {
    type Out = Vec<u64>;

    fn visit<P: Policy>(self, policy: &P) -> Vec<u64> {
        thalweg_sim::run(policy, self.0, &Settings::default()).unwrap().firings
    }
}

fn firings(report: &Report) -> Vec<u64> {
    report.nodes().iter().map(|node| node.firings()).collect()
}

#[test]
fn every_node_fires_as_often_under_every_policy() {
    for (shape, model) in shapes::all() {
        let expected = registry::dispatch("random", VirtualFirings(&model)).unwrap();
        for name in policies() {
            for capacity in [12, 256] {
                let model = model.clone().capacity(capacity);
                for (threads, seed) in [(1, 1), (2, 1), (2, 2), (3, 1), (5, 2), (8, 1), (16, 1)] {
                    let options = Options::new().threads(threads).seed(seed);
                    let report = run(name, &model, &options, false).report;
                    assert_eq!(firings(&report), expected, "{name} on {shape}, {threads} threads");
                }
            }
        }
    }
}

/// Tiny claims and channels, so that refused claims and full windows are common.
#[test]
fn runs_of_tiny_claims_end() {
    for (shape, model) in shapes::all() {
        let expected = registry::dispatch("random", VirtualFirings(&model)).unwrap();
        let model = model.capacity(1);
        for name in policies() {
            for threads in [2, 7, 16] {
                let options = Options::new().threads(threads).claim_length(2).repeatable();
                let report = run(name, &model, &options, false).report;
                assert_eq!(firings(&report), expected, "{name} on {shape}, {threads} threads");
            }
        }
    }
}

#[test]
fn the_same_seed_makes_the_same_decisions() {
    for name in policies_on_one_worker() {
        for (shape, model) in shapes::all() {
            let options = Options::new().threads(1).claim_length(8).repeatable().seed(9);
            let decisions = || run(name, &model, &options, true).decisions;
            assert_eq!(decisions(), decisions(), "{name} on {shape}");
        }
    }
}

/// The seed changes the decisions of a single worker, for policies that draw random numbers with one worker.
/// `random` is not among them: it draws only to choose a victim.
#[test]
fn seeds_change_the_decisions_of_a_single_worker() {
    let options = |seed| Options::new().threads(1).claim_length(8).repeatable().seed(seed);
    for name in ["pss", "prs", "prs:C=1"] {
        let decisions = |model: &Model, seed| run(name, model, &options(seed), true).decisions;
        let differs = |model: &Model| (2..5).any(|seed| decisions(model, 1) != decisions(model, seed));
        assert!(shapes::all().iter().any(|(_, model)| differs(model)), "{name}");
    }
}

#[test]
fn one_worker_never_idles_while_it_runs() {
    for name in policies_on_one_worker() {
        for (shape, model) in shapes::all() {
            let options = Options::new().threads(1).claim_length(8).repeatable();
            let decisions = run(name, &model, &options, true).decisions;
            let last = decisions.iter().rposition(|e| matches!(e.decision, Decision::Activate(_))).unwrap();
            let idle = decisions[..last].iter().filter(|e| e.decision == Decision::Idle);
            assert_eq!(idle.count(), 0, "{name} on {shape}");
        }
    }
}

/// The same bound as in the suite in virtual time, for one worker.
#[test]
fn fair_policies_starve_no_node() {
    let one_worker = policies_on_one_worker().filter(|name| registry::names().any(|known| known == *name));
    for name in one_worker.filter(|name| registry::is_fair(name) == Some(true)) {
        let mut models = shapes::all();
        models.push(("long strangers", shapes::two_chains(60_000, 100)));
        for (shape, model) in models {
            let options = Options::new().threads(1).claim_length(16).repeatable();
            let nodes = model.graph.nodes().len();
            let interval = if name == "static" { static_plan::FAIR_EVERY } else { auto::FAIR_EVERY };
            let bound = (nodes * interval as usize) as u64;
            let longest = run(name, &model, &options, true).longest_wait;
            assert!(longest <= bound, "{name} on {shape}: {longest} > {bound}");
        }
    }
}

#[test]
fn queue_events_alone_can_starve_a_stranger() {
    let model = shapes::two_chains(60_000, 100);
    // Budgets longer than the channels, so that every activation ends with a queue event.
    let options = Options::new().threads(1).claim_length(128).repeatable();
    let nodes = model.graph.nodes().len() as u64;
    let longest = run("qes", &model, &options, true).longest_wait;
    assert!(longest > nodes * u64::from(auto::FAIR_EVERY), "{longest}");
}

//! The laws of policies in the engine: the suite of `crates/sim/tests/conformance.rs`, in which
//! real threads run the same models.

mod support;

use support::realised;
use support::watchdog::watch;
use thalweg::graph::{GraphData, NodeId};
use thalweg::policy::record::{Entry, Log};
use thalweg::policy::{Decision, Event, Host, Needs, Policy, Recorded, WorkerId, registry};
use thalweg::{Options, Report};
use thalweg_sim::{Model, Settings, shapes};

/// Every registered policy, and settings of theirs that change what they do.
fn policies() -> impl Iterator<Item = &'static str> {
    registry::names().chain(["prs:C=1", "partition:tau=0,apart=1"])
}

/// Counts, for each node, the decisions in a row that passed it over though it was claimable.
struct Watchful<'a, P>(&'a P, &'a std::sync::atomic::AtomicU64);

impl<P: Policy> Policy for Watchful<'_, P> {
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

/// What a run in the engine leaves: the report, and what was decided.
struct Played {
    report: Report,
    decisions: Vec<Entry>,
    longest_wait: u64,
}

/// A run in the engine as a visit of the registry.
struct Play<'a> {
    model: &'a Model,
    options: Options,
    what: String,
    recorded: bool,
}

impl registry::Visit for Play<'_> {
    type Out = Played;

    fn visit<P: Policy>(self, policy: &P) -> Played {
        let prepared = realised::build(self.model).build().unwrap().prepare(&self.options).unwrap();
        let (log, longest) = (Log::new(), std::sync::atomic::AtomicU64::new(0));
        let report = watch(self.what, || match self.recorded {
            true => prepared.run_under(&Recorded::new(Watchful(policy, &longest), &log)),
            false => prepared.run_under(&policy),
        });
        Played {
            report: report.unwrap().into_report(),
            decisions: log.take(),
            longest_wait: longest.into_inner(),
        }
    }
}

fn play(name: &str, model: &Model, options: &Options, recorded: bool) -> Played {
    let what = format!("{name}: {options:?} on\n{}", model.graph);
    registry::dispatch(name, Play { model, options: options.clone(), what, recorded }).unwrap()
}

/// The firings that the graph and its input make, by the virtual host.
struct Law<'a>(&'a Model);

impl registry::Visit for Law<'_> {
    type Out = Vec<u64>;

    fn visit<P: Policy>(self, policy: &P) -> Vec<u64> {
        thalweg_sim::run(policy, self.0, &Settings::default()).unwrap().firings
    }
}

fn firings(report: &Report) -> Vec<u64> {
    report.nodes.iter().map(|node| node.firings).collect()
}

#[test]
fn everything_fires_under_every_policy() {
    for (shape, model) in shapes::all() {
        let law = registry::dispatch("random", Law(&model)).unwrap();
        for name in policies() {
            for capacity in [12, 256] {
                let model = model.clone().capacity(capacity);
                for (threads, seed) in [(1, 1), (2, 1), (2, 2), (3, 1), (5, 2), (8, 1), (16, 1)] {
                    let options = Options::new().threads(threads).seed(seed);
                    let report = play(name, &model, &options, false).report;
                    assert_eq!(firings(&report), law, "{name} on {shape}, {threads} threads");
                }
            }
        }
    }
}

/// Tiny claims and channels, so that refused claims and full windows are common.
#[test]
fn runs_of_tiny_claims_end() {
    for (shape, model) in shapes::all() {
        let law = registry::dispatch("random", Law(&model)).unwrap();
        let model = model.capacity(1);
        for name in policies() {
            for threads in [2, 7, 16] {
                let options = Options::new().threads(threads).run_length(2).counted();
                let report = play(name, &model, &options, false).report;
                assert_eq!(firings(&report), law, "{name} on {shape}, {threads} threads");
            }
        }
    }
}

#[test]
fn the_same_seed_makes_the_same_decisions() {
    for name in policies() {
        for (shape, model) in shapes::all() {
            let options = Options::new().threads(1).run_length(8).counted().seed(9);
            let decisions = || play(name, &model, &options, true).decisions;
            assert_eq!(decisions(), decisions(), "{name} on {shape}");
        }
    }
}

/// One worker's decisions can be repeated; where it alone has nothing to draw for, as under
/// `random`, whose draws choose victims, seeds make no difference to it.
#[test]
fn seeds_matter_where_a_worker_alone_draws() {
    let options = |seed| Options::new().threads(1).run_length(8).counted().seed(seed);
    for name in ["pss", "prs", "prs:C=1"] {
        let decisions = |model: &Model, seed| play(name, model, &options(seed), true).decisions;
        let differs = |model: &Model| (2..5).any(|seed| decisions(model, 1) != decisions(model, seed));
        assert!(shapes::all().iter().any(|(_, model)| differs(model)), "{name}");
    }
}

#[test]
fn one_worker_never_idles_while_it_runs() {
    for name in policies() {
        for (shape, model) in shapes::all() {
            let options = Options::new().threads(1).run_length(8).counted();
            let decisions = play(name, &model, &options, true).decisions;
            let last = decisions.iter().rposition(|e| matches!(e.decision, Decision::Activate(_))).unwrap();
            let idle = decisions[..last].iter().filter(|e| e.decision == Decision::Idle);
            assert_eq!(idle.count(), 0, "{name} on {shape}");
        }
    }
}

/// The bound of the suite in virtual time, for one worker.
#[test]
fn fair_policies_starve_no_node() {
    for name in registry::names().filter(|name| registry::is_fair(name) == Some(true)) {
        let mut models = shapes::all();
        models.push(("long strangers", shapes::strangers(60_000, 100)));
        for (shape, model) in models {
            let options = Options::new().threads(1).run_length(16).counted();
            let nodes = model.graph.nodes().len();
            let bound = (nodes * thalweg::policy::auto::FAIR_EVERY as usize) as u64;
            let longest = play(name, &model, &options, true).longest_wait;
            assert!(longest <= bound, "{name} on {shape}: {longest} > {bound}");
        }
    }
}

#[test]
fn queue_events_alone_can_starve_a_stranger() {
    let model = shapes::strangers(60_000, 100);
    // Budgets longer than the channels, so that every activation ends with a queue event.
    let options = Options::new().threads(1).run_length(128).counted();
    let nodes = model.graph.nodes().len() as u64;
    let longest = play("qes", &model, &options, true).longest_wait;
    assert!(longest > nodes * u64::from(thalweg::policy::auto::FAIR_EVERY), "{longest}");
}

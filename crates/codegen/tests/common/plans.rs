//! Plans of native runs: saved ones, and random ones.

use super::{Memory, Seen, difference, see};
use std::sync::Arc;
use std::time::Duration;
use thalweg::Report;
use thalweg::embed::graph::NodeId;
use thalweg::embed::plan::{Body, NoNextPlan, Program, Unit};
use thalweg::embed::report::Unpredictable;
use thalweg::plan::Plan;
use thalweg::plan::mappers::{self, Target};
use thalweg::trace::ReportExt;
use thalweg_codegen::{Native, Split, Threads};
use thalweg_lang::interpret::Options;
use thalweg_lang_testgen::Choices;

pub const SPLITS: [Split; 4] = [Split::Auto, Split::Filters, Split::Pipeline, Split::DataParallel];

/// A run on threads, and its report.
fn reported(
    native: &Native,
    threads: &Threads,
    files: &Memory,
    iterations: Option<u64>,
) -> (Seen, Option<Report>) {
    let (options, mut report) = (Options { iterations, ..Options::default() }, None);
    let seen = see(files, |around| {
        let (end, of_run) = native.run_reported(threads, options, around);
        report = of_run;
        end
    });
    (seen, report)
}

fn text(program: &Program) -> String {
    program.plan().on(program.graph()).to_string()
}

/// Checks that the plan of a run, saved and read, leads to a run with the same output and the same plan, and so does the plan
/// that follows from times, by the engine's own division and by a mapper.
pub fn replays(native: &Native, files: &Memory, iterations: Option<u64>, meant: &Seen, name: &str) {
    for split in SPLITS {
        let threads = Threads::new(2).split(split);
        let (seen, report) = reported(native, &threads, files, iterations);
        assert!(*meant == seen, "{split:?}:\n{name}\n{}", difference(meant, &seen));
        // A failure before the engine begins has no report.
        let Some(report) = report else {
            assert!(seen.end.is_err(), "{split:?}:\n{name}: no report");
            continue;
        };
        let program = report.program().expect("a compiled program has a plan");
        bodies_execute_all_units(&report, program, name);
        is_no_loop_to_the_models(&report, name);
        let mut plans = vec![text(program)];
        if split == Split::Pipeline {
            plans.extend(next_plan(report.clone(), name).filter(|next| *next != plans[0]));
            plans.extend(mapped(&report, program, name));
        }
        for text in plans {
            let plan =
                Plan::read(&text, native.graph()).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
            let threads = Threads::of(thalweg::Options::new().plan(plan)).split(split);
            let (seen, again) = reported(native, &threads, files, iterations);
            assert!(*meant == seen, "{split:?}, replayed:\n{name}\n{}", difference(meant, &seen));
            let again = again.map(|again| self::text(again.program().unwrap())).unwrap_or_default();
            assert!(again == text || seen.end.is_err(), "{split:?}:\n{name}: another plan\n{text}\n{again}");
        }
    }
}

/// Checks that a report says which node executes each unit: each unit once, and nodes that bear the names of their units.
fn bodies_execute_all_units(report: &Report, program: &Program, name: &str) {
    let executed = program.bodies().iter().flat_map(|(_, units)| units.clone());
    assert!(executed.eq(0..program.units().all().len()), "{name}: {:?}", program.bodies());
    let root = report.graph().node(NodeId(0)).name().to_string();
    for (node, units) in program.bodies() {
        let nodes = || program.units().all()[units.clone()].iter().flat_map(Unit::nodes);
        let of_graph = |node: &NodeId| {
            let name = program.graph().node(*node).name();
            name.strip_prefix(&format!("{root}.")).unwrap_or(name).to_owned()
        };
        let body = report.graph().node(*node).name();
        let names: Vec<_> = body.split(" .. ").map(|name| name.split('#').next().unwrap().trim()).collect();
        let has = |name: &str| nodes().any(|node| of_graph(node) == name);
        assert!(*node == NodeId(0) || names.iter().all(|name| has(name)), "{name}: {body}: {names:?}");
    }
}

/// Checks that models have no loop where a driver sends batches to the bodies and gets them back: where time was measured they
/// count the operations of the driver, with its batches as tokens, and no more than the threads and the work allow.
fn is_no_loop_to_the_models(report: &Report, name: &str) {
    let prediction = match report.prediction() {
        Err(Unpredictable::Unmeasured) => return,
        prediction => prediction.unwrap_or_else(|error| panic!("{name}: {error}")),
    };
    let (throughput, bound) = (prediction.throughput(), prediction.bound());
    assert!(throughput.predicted() > 0.0 && throughput.predicted() <= 1.001 * bound, "{name}: {prediction}");
    let graph = report.graph();
    let is_driver = |node: &NodeId| {
        let back = graph.node(*node).inputs().iter().filter_map(|port| port.channel());
        back.clone().count() > 0 && back.into_iter().all(|id| graph.channel(id).link().feedback())
    };
    if let Some(driver) = graph.node_ids().find(is_driver) {
        let firings = report.nodes()[driver.index()].firings() as f64;
        let measured = firings / report.wall().as_secs_f64();
        assert!((throughput.measured() / measured - 1.0).abs() < 1e-9, "{name}: {prediction}");
        assert!(prediction.to_string().contains("the run's tokens"), "{name}: {prediction}");
    }
}

/// The plan after a run in which the last body took nearly all of the time: it never gains units. `None` if the
/// run had fewer than two bodies or measured no units.
fn next_plan(mut report: Report, name: &str) -> Option<String> {
    let program = Arc::new(report.program()?.clone());
    let [.., (last, units)] = program.bodies() else { return None };
    if program.bodies().len() < 2 {
        return None;
    }
    for (node, of_node) in report.nodes_mut().iter_mut().enumerate() {
        *of_node.busy_mut() = Duration::from_millis(if node == last.index() { 100_000 } else { 1 });
    }
    let next = match Program::next_plan(&[(&*program, report.profile())]) {
        Ok(next) => next,
        Err(NoNextPlan::Unmeasured) => return None,
        Err(other) => panic!("{name}: {other}"),
    };
    let bodies = next.bodies(program.graph(), program.units().all()).unwrap();
    let of_last = bodies.last().unwrap().units().len();
    assert!(of_last <= units.len(), "{name}: {bodies:?} after {:?}", program.bodies());
    Some(next.on(program.graph()).to_string())
}

/// The plan by one of the mappers, another one for each program. `None` if the run measured no units.
fn mapped(report: &Report, program: &Program, name: &str) -> Option<String> {
    let (mapper, _) = mappers::names().nth(name.len() % mappers::names().count())?;
    let target = Target::default().with_miss(1e-3);
    let pipeline = Program::pipeline(&[(program, report.profile())], &target).ok()?;
    let mapping = mappers::named(mapper).unwrap().map(&pipeline);
    let (graph, units) = (program.graph(), program.units().all());
    let mut plan = program.plan().mapped_units(graph, &pipeline, mapper, &mapping).unwrap();
    *plan.policy_mut() = mapping.policy().to_owned();
    plan.check(graph).unwrap_or_else(|error| panic!("{name}: {mapper}: {error}"));
    let bodies = plan.bodies(graph, units).unwrap_or_else(|error| panic!("{name}: {mapper}: {error}"));
    let copies = mapping.copies().iter().map(|copies| copies.workers().len()).max().unwrap_or(1);
    assert_eq!(bodies.iter().map(Body::copies).max(), Some(copies), "{name}: {mapper}");
    Some(plan.on(graph).to_string())
}

/// A random plan that can run the program: stretches of its pieces of code as segments, with random numbers of workers,
/// batches and policies.
pub fn random(native: &Native, choices: &mut Choices) -> Plan {
    let workers = 1 + choices.weighted(&[2, 6, 4, 1, 1]);
    let each = Threads::new(workers).split(Split::Filters);
    let mut plan = native.plan(&each).expect("no plan is given");
    let mut segments: Vec<Vec<_>> = Vec::new();
    let cuts = [10, 50, 90][choices.weighted(&[1, 1, 1])];
    for nodes in std::mem::take(plan.segments_mut()) {
        match segments.last_mut().filter(|_| !choices.chance(cuts)) {
            Some(last) => last.extend(nodes),
            None => segments.push(nodes),
        }
    }
    *plan.segments_mut() = segments;
    let copied = [0, 50, 100][choices.weighted(&[1, 2, 2])];
    for replicas in plan.replicas_mut().values_mut() {
        *replicas = if choices.chance(copied) { 1 + choices.weighted(&[1, 3, 2]) as u32 } else { 1 };
    }
    let policies: Vec<&str> = thalweg::embed::policy::registry::names().collect();
    *plan.policy_mut() = policies[choices.weighted(&vec![1; policies.len()])].to_owned();
    *plan.batch_mut() = [1, 2, 5, 64, 5000][choices.weighted(&[1; 5])];
    plan
}

//! Table 4.1: speed-ups of DES, LZ77 and DNN by the virtual host, to 32 workers; and Figure 4.10, their plans for 8.
//!
//! A run on one thread measures how long firings last. Nodes that differ in their number alone do the same work, and get the mean of
//! their times. The cache is the L2 of the thesis' machine, with 3 ns for a miss, as the thesis has measured it. Ferret has the times of
//! [`FERRET`], since the thesis does not print its own.

use std::collections::BTreeMap;
use std::time::Duration;

use thalweg::embed::graph::{GraphData, NodeId};
use thalweg::plan::mappers::Target;
use thalweg::plan::{NodeProfile, Plan, Profile};
use thalweg::{Options, from_iter};
use thalweg_pipelines::chain_profile;
use thalweg_sim::caches::CacheModel;

use super::{Known, MAPPERS};
use crate::figures::FERRET;
use crate::figures::map::{Program, Sizes, programs};
use crate::line::Measure;
use crate::session::Session;

const CACHE: CacheModel = CacheModel { bytes: 256 << 10, block: 64, ways: 8, pages: 0, record: 0, miss: 3 };
const WORKERS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// Some hundred thousand firings, or some hundred long ones.
const SIZES: Sizes = Sizes { blocks: 10_000, text: 2 << 20, inputs: 200 };
/// The workers of Figure 4.10.
const PLANNED: usize = 8;
/// The names of workers in a figure of a plan.
const NUMBERS: [&str; PLANNED] = ["0", "1", "2", "3", "4", "5", "6", "7"];

pub(super) fn run(session: &mut Session) {
    for (name, program) in programs(SIZES) {
        figures(session, name, || measured(&program));
    }
    figures(session, "ferret", || Ok(ferret()));
}

/// The figures of a program.
fn figures(session: &mut Session, program: &str, known: impl FnOnce() -> Result<Known, String>) {
    let speed_ups = WORKERS.map(|workers| (workers, format!("map.model.speedup.{program}.p{workers}")));
    let plans = MAPPERS.map(|(short, mapper)| (mapper, format!("map.model.plan.{program}.{short}")));
    let mut names = speed_ups.iter().map(|(_, name)| name).chain(plans.iter().map(|(_, name)| name));
    if !names.any(|name| session.selects(name)) {
        return;
    }
    if let Err(error) = known().and_then(|known| computed(session, &known, &speed_ups, &plans)) {
        session.errors.push(format!("map.model.*.{program}: {error}"));
    }
}

fn computed(
    session: &mut Session,
    known: &Known,
    speed_ups: &[(usize, String)],
    plans: &[(&str, String)],
) -> Result<(), String> {
    let target = Target::default();
    let time = |mapper: &str, workers| {
        known.play(mapper, workers, &target, CACHE).map(|report| report.makespan as f64)
    };
    let serial = time("seg-runtime", 1)?;
    for (workers, name) in speed_ups.iter().filter(|(_, name)| session.selects(name)).collect::<Vec<_>>() {
        let speed_up = |(short, mapper)| Ok((short, serial / time(mapper, *workers)?));
        let values = MAPPERS.into_iter().map(speed_up).collect::<Result<Vec<_>, String>>()?;
        session.counted(name, Measure::Speed, &values);
    }
    for (mapper, name) in plans {
        if session.selects(name) {
            let plan = known.plan(mapper, PLANNED, &target)?;
            let values: Vec<_> = NUMBERS.into_iter().zip(nodes(&known.graph, &plan)).collect();
            session.counted(name, Measure::Counted("nodes"), &values);
        }
    }
    Ok(())
}

/// The six stages of ferret, without what they compute.
fn ferret() -> Known {
    const ITEMS: u64 = 2000;
    let read = from_iter(0..ITEMS);
    let ranked = read.par_map(|item| item).par_map(|item| item).par_map(|item| item).par_map(|item| item);
    let graph = ranked.fold(0, |sum, item| sum ^ item).graph().data();
    let profile = chain_profile(&graph, ITEMS, |node| Duration::from_secs_f64(FERRET[node]));
    Known { graph, profile }
}

/// A program with the times of a run on one thread.
fn measured(program: &Program) -> Result<Known, String> {
    let (_, report) = program(&Options::new().threads(1))?;
    let profile = evened(report.graph(), &report.profile());
    Ok(Known { graph: report.graph().clone(), profile })
}

/// The profile in which nodes whose names differ in digits alone have the same times.
fn evened(graph: &GraphData, profile: &Profile) -> Profile {
    let kind = |id: NodeId| graph.node(id).name().trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    let mut sums: BTreeMap<String, (u64, Duration)> = BTreeMap::new();
    for (id, node) in graph.node_ids().zip(profile.nodes()) {
        let (firings, busy) = sums.entry(kind(id)).or_default();
        (*firings, *busy) = (*firings + node.firings(), *busy + node.busy());
    }
    let even = |(id, node): (NodeId, &NodeProfile)| {
        let (firings, busy) = sums[&kind(id)];
        let busy = busy.mul_f64(node.firings() as f64 / firings.max(1) as f64);
        NodeProfile::new(node.firings(), busy).with_state(node.state())
    };
    let nodes = graph.node_ids().zip(profile.nodes()).map(even).collect();
    Profile::new(profile.wall(), nodes, profile.channels().to_vec()).of_graph(graph)
}

/// The nodes of each worker. Of a shared node each of its workers has a part.
fn nodes(graph: &GraphData, plan: &Plan) -> Vec<f64> {
    let assignment = plan.assignment(graph);
    let mut nodes = vec![0.0; plan.threads()];
    for node in graph.node_ids() {
        let workers = assignment.workers_of(node);
        let shares = plan.shares().get(&node);
        let share =
            |at: usize| shares.and_then(|shares| shares.get(at)).map_or(1.0, |share| f64::from(*share));
        let all: f64 = (0..workers.len()).map(share).sum();
        workers.iter().enumerate().for_each(|(at, worker)| nodes[*worker as usize] += share(at) / all);
    }
    nodes
}

//! `map.*`: mappers under the policy `static`, beside the policies that choose at run time.
//!
//! | figure | programs |
//! |---|---|
//! | `map.program.NAME` | `des`, `lz77` and `dnn` of `apps/pipelines`, on input of about a third of a second |
//! | `map.random.I` | random pipelines by the generator of the locality thesis (section 3.3.1): gains and times of both distributions in turn; in the sweep |
//! | `map.again.FIGURE` | `best` and the fastest of a figure in which `best` was more than 5 % behind, by themselves |
//!
//! A run under `auto` makes the profile from which every mapper plans, with measured costs of this machine. `best` is the mapper of that
//! name, with its policy; `auto` is what a user has without a plan. All run on the same input in every round. Modules of random pipelines
//! compute for as long as they were drawn, and touch all of their state.

use std::sync::OnceLock;
use thalweg::machine::{self, Machine};
use thalweg::plan::Plan;
use thalweg::plan::mappers::{self, Target};
use thalweg::{Options, Output, Report};
use thalweg_pipelines::synthetic::{self, Distribution, Loads, Pace, Parameters, Times};
use thalweg_pipelines::{des, dnn, lz77};

use crate::line::{Line, Measure};
use crate::race::{Contestant, Outcome, Role};
use crate::row::timed;
use crate::session::Session;

/// The random pipelines.
const PIPELINES: u64 = 100;
/// Their modules: as many as let a run last a third of a second with some hundred firings of each.
const MODULES: u32 = 40;
/// Seconds of a run on one thread.
const SECONDS: f64 = 0.6;
/// The part of the fastest time of a figure over that of `best` below which both run again: the fastest of many is partly luck.
const NEAR: f64 = 0.95;
/// The rounds of the second race, in times of the first.
const AGAIN: usize = 3;
/// The policies that choose at run time.
const POLICIES: [&str; 6] = ["auto", "qes", "pss", "prs", "random", "ws-last"];

/// Runs the selected programs.
pub fn run(session: &mut Session) {
    for (name, program) in programs(Sizes { blocks: 3_500_000, text: 28 << 20, inputs: 3000 }) {
        let name = format!("map.program.{name}");
        if session.selects(&name) {
            figure(session, &name, &*program);
        }
    }
}

/// Runs the selected random pipelines.
pub fn random_pipelines(session: &mut Session) {
    let pace = std::cell::OnceCell::new();
    for seed in 0..PIPELINES {
        let name = format!("map.random.{seed}");
        if session.selects(&name) {
            let pace = *pace.get_or_init(Pace::measured);
            figure(session, &name, &*random(seed, pace));
        }
    }
}

/// The checksum and the report of a run.
type Ran = Result<(u64, Report), String>;

/// A program that can be run again and again.
pub(super) type Program = Box<dyn Fn(&Options) -> Ran>;

fn ran<T>(output: Output<'_, T>, options: &Options, sum: impl Fn(&T) -> u64) -> Ran {
    let (value, report) = output.run_with(options).map_err(|error| format!("{error:?}"))?.into_parts();
    Ok((sum(&value), report))
}

/// The sizes of the programs' inputs.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// Blocks of DES.
    pub(super) blocks: usize,
    /// Bytes of LZ77's text.
    pub(super) text: usize,
    /// Inputs of the network.
    pub(super) inputs: u64,
}

pub(super) fn programs(sizes: Sizes) -> [(&'static str, Program); 3] {
    let Sizes { inputs, .. } = sizes;
    let blocks = des::input(sizes.blocks, 1);
    let text = lz77::input(sizes.text, 1);
    let network = dnn::Parameters::default().network();
    let words = |blocks: &Vec<u64>| blocks.iter().fold(0, |sum: u64, block| sum.rotate_left(5) ^ block);
    [
        (
            "des",
            Box::new(move |options| ran(des::graph(&blocks, &des::Parameters::default()), options, words)),
        ),
        (
            "lz77",
            Box::new(move |options| {
                let mut packed = Vec::new();
                let (_, report) =
                    ran(lz77::compressor(&text[..], &mut packed), options, |sizes| sizes.packed)?;
                Ok((u64::from(thalweg_pipelines::checksum(&packed)), report))
            }),
        ),
        ("dnn", Box::new(move |options| ran(network.graph(inputs, 1), options, |sum| *sum))),
    ]
}

/// A random pipeline for the private cache of this machine, and as many periods as last [`SECONDS`] on one thread.
fn random(seed: u64, pace: Pace) -> Program {
    let uniform_or_zipf = |zipf: bool| if zipf { Distribution::Zipf } else { Distribution::Uniform };
    let times = match seed / 2 % 4 {
        0 => Times::Drawn(Distribution::Uniform),
        1 => Times::Drawn(Distribution::Zipf),
        2 => Times::Correlated,
        _ => Times::Off,
    };
    let cache = Machine::here().private_cache().unwrap_or(256 << 10).clamp(64 << 10, 4 << 20) as u32;
    let loads = Loads::Drawn(Distribution::Uniform, times);
    let gains = uniform_or_zipf(seed % 2 == 1);
    let pipeline = Parameters { modules: MODULES, cache, gains, loads, seed }.pipeline();
    let once = timed(|| synthetic::sequential(&pipeline, 1, seed, pace)).seconds;
    let periods = (SECONDS / once).ceil().clamp(1.0, 1e6) as u64;
    Box::new(move |options| ran(synthetic::graph(&pipeline, periods, seed, pace), options, |sum| *sum))
}

/// This machine with its costs, which are measured once.
fn target() -> &'static Target {
    static HERE: OnceLock<Target> = OnceLock::new();
    HERE.get_or_init(|| {
        let machine = Machine::here();
        let costs = machine::measure(&machine);
        Target::of(&machine.with_costs(costs))
    })
}

fn figure(session: &mut Session, name: &str, program: &dyn Fn(&Options) -> Ran) {
    let threads = session.options.threads;
    let plain = Options::new().threads(threads);
    let (expected, report) = match program(&plain) {
        Ok(ran) => ran,
        Err(error) => {
            session.errors.push(format!("{name}: {error}"));
            return;
        }
    };
    let target = target();
    let planned = |mapper: &str| -> Option<Plan> {
        let (mapper, plan, graph) = (mappers::named(mapper).ok()?, report.plan()?, report.graph());
        let pipeline = plan.pipeline(graph, &report.profile(), target);
        let mapping = mapper.map(&pipeline);
        let mut plan = plan.with_mapping(graph, &pipeline, mapper.name(), &mapping).ok()?;
        *plan.policy_mut() = mapping.policy().to_owned();
        Some(plan)
    };
    let contestant = |name: &'static str, role, options: Options| {
        let run = move || -> Outcome {
            let mut outcome = Ok(());
            let row = timed(|| match program(&options) {
                Ok((sum, _)) => sum,
                Err(error) => {
                    outcome = Err(error);
                    0
                }
            });
            outcome.map(|()| Some(row))
        };
        Contestant::new(name, role, 1, run).expecting(expected)
    };
    let of_mapper = |name: &'static str| {
        let role = if name == "best" { Role::Ours } else { Role::Aside };
        planned(name).map(|plan| contestant(name, role, Options::new().plan(plan)))
    };
    let named = |name: &'static str| match POLICIES.contains(&name) {
        true => Some(contestant(name, Role::Aside, plain.clone().policy(name))),
        false => of_mapper(name),
    };
    let names = mappers::names().map(|(name, _)| name).chain(POLICIES);
    let name = format!("{name}.t{threads}");
    let (entries, records) = session.race(&name, threads, names.filter_map(named).collect());
    let line = Line::new(&name, Measure::Ms, &entries, &records);
    session.show(&line, &records);
    if let Some(fastest) = far_ahead(&line) {
        let both: Vec<_> = ["best", fastest].into_iter().filter_map(named).collect();
        let runs = session.options.runs;
        session.options.runs = runs * AGAIN;
        session.figure(&name.replacen("map.", "map.again.", 1), Measure::Ms, threads, both);
        session.options.runs = runs;
    }
}

/// The fastest of a figure, if `best` is far behind it.
fn far_ahead(line: &Line) -> Option<&'static str> {
    let (fastest, time) = line.values.iter().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (*time < NEAR * line.ours?).then_some(fastest.name)
}

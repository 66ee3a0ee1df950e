//! The cache model of `thalweg-sim` beside Valgrind's cachegrind, on one worker.
//!
//! Cachegrind simulates the caches of a real run, here of this test's own program, which it runs again. Its cache before memory has the
//! size of the model's, and is of one set as the model's, so no place of memory matters; that before it holds a few blocks, so nearly
//! all accesses reach the other. The run reads no clock, so its claims are those of the virtual host, one after the other. Two runs of
//! different length are subtracted, so that the misses of start and end fall away.
//!
//! Takes half a minute, so it runs with `THALWEG_LONG=1` alone, as in `ci/long.sh`, and only where Valgrind is installed.

use std::path::Path;
use std::process::Command;
use thalweg::Options;
use thalweg::embed::graph::GraphData;
use thalweg::embed::policy::Static;
use thalweg::plan::mappers::{self, Buffers, Target};
use thalweg::plan::{Plan, Wishes};
use thalweg_pipelines::synthetic::{Distribution, Loads, Pace, Parameters, Pipeline, Times, graph, profile};
use thalweg_sim::caches::CacheModel;
use thalweg_sim::{Model, Settings, run_planned};

/// The thesis' cache. A claim touches 24 blocks of the engine's own, which was found with the first of the cases; the others check it.
const CACHE: CacheModel =
    CacheModel { bytes: 256 << 10, block: 64, ways: 0, pages: 0, record: 24 * 64, miss: 1 };
/// The greatest difference, as a part of what cachegrind counts.
const MOST: f64 = 0.05;
/// The variables of the run under cachegrind: the case, and its periods.
const CASE: &str = "THALWEG_CACHEGRIND_CASE";
const PERIODS: &str = "THALWEG_CACHEGRIND_PERIODS";

/// A mapper, the items that cross the edges of a period in turn, and the periods of both runs.
type Case = (&'static str, [u32; 2], [u64; 2]);

/// One segment, whose every firing loads its state again; segments that fit into the cache; and firings that move several items.
const CASES: [Case; 3] =
    [("seg-runtime", [8, 8], [10, 30]), ("seg-cache", [8, 8], [20, 60]), ("seg-runtime", [12, 8], [10, 30])];

/// Modules with four to five times the state that a cache holds.
fn pipeline(gains: [u32; 2]) -> Pipeline {
    let loads = Loads::Drawn(Distribution::Uniform, Times::Off);
    let cache = CACHE.bytes as u32;
    let drawn = Parameters { modules: 70, cache, gains: Distribution::Uniform, loads, seed: 3 }.pipeline();
    let loads: Vec<(u64, u64)> = drawn.modules().iter().map(|module| (module.state_bytes, 0)).collect();
    Pipeline::new(gains.into_iter().cycle().take(71).collect(), &loads)
}

fn plan(pipeline: &Pipeline, graph: &GraphData, mapper: &str, periods: u64) -> Plan {
    let plan = Plan::new(graph, &Wishes::default().threads(1).policy("static"));
    // Buffers by the gain would hold the whole run.
    let target = Target::default().with_cache(CACHE.bytes).with_buffers(Buffers::Hundred);
    let mapper = mappers::named(mapper).unwrap();
    plan.mapped(graph, &profile(pipeline, graph, periods), mapper, &target).unwrap()
}

/// The run that cachegrind observes.
#[test]
fn observed() {
    let (Ok(case), Ok(periods)) = (std::env::var(CASE), std::env::var(PERIODS)) else { return };
    let (mapper, gains, _) = CASES[case.parse::<usize>().unwrap()];
    let (pipeline, periods) = (pipeline(gains), periods.parse().unwrap());
    let output = graph(&pipeline, periods, 1, Pace::OFF);
    let plan = plan(&pipeline, &output.graph().data(), mapper, periods);
    output.run_with(&Options::new().plan(plan).repeatable()).unwrap();
}

/// The misses that the model counts.
fn predicted((mapper, gains, _): Case, periods: u64) -> u64 {
    let pipeline = pipeline(gains);
    let data = graph(&pipeline, periods, 1, Pace::OFF).graph().data();
    let model = Model::of_profile(&data, &profile(&pipeline, &data, periods));
    let settings = Settings { cache: Some(CACHE), ..Settings::default() };
    let plan = plan(&pipeline, &data, mapper, periods);
    run_planned(&Static::default(), &model, &settings, plan).unwrap().misses[0].all()
}

/// The misses of data that cachegrind counts.
fn counted(case: usize, periods: u64, folder: &Path) -> u64 {
    let out = folder.join("out");
    let run = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=yes", "--I1=1048576,8,64", "--D1=1024,2,64"])
        .arg(format!("--LL={},{},{}", CACHE.bytes, CACHE.bytes / CACHE.block, CACHE.block))
        .arg(format!("--cachegrind-out-file={}", out.display()))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "cachegrind::observed", "--test-threads=1"])
        .envs([(CASE, case.to_string()), (PERIODS, periods.to_string())])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = std::fs::read_to_string(out).unwrap();
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
    let (events, summary) = (line("events:"), line("summary:"));
    let columns = events.split_whitespace().zip(summary.split_whitespace());
    columns
        .filter(|(event, _)| ["DLmr", "DLmw"].contains(event))
        .map(|(_, count)| count.parse::<u64>().unwrap())
        .sum()
}

#[test]
fn the_model_counts_the_misses_of_cachegrind() {
    if std::env::var_os("THALWEG_LONG").is_none() {
        return;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no valgrind, with which the cache model is compared");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (number, case) in CASES.into_iter().enumerate() {
        let between = |count: &dyn Fn(u64) -> u64| (count(case.2[1]) - count(case.2[0])) as f64;
        let predicted = between(&|periods| predicted(case, periods));
        let counted = between(&|periods| counted(number, periods, folder.path()));
        let off = predicted / counted - 1.0;
        eprintln!(
            "{case:?}: {predicted} misses by the model, {counted} by cachegrind: {:+.1} %",
            100.0 * off
        );
        assert!(off.abs() <= MOST, "{case:?}: {predicted} misses by the model, {counted} by cachegrind");
    }
}

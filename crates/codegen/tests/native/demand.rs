//! Scheduling on demand: a body for each region, without copies, on the workers of the engine.

use crate::common::{Memory, compiled, has_compiler};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use thalweg::Report;
use thalweg_codegen::{Cache, Config, Level, Mode, Threads, build};
use thalweg_lang::interpret::{Options, Surroundings};

/// The report of a run in mode [`Mode::Demand`] for some steady states on some threads.
fn report(text: &str, iterations: u64, threads: &Threads) -> Report {
    let config = Config { level: Level::Vectors, cache: Cache::None, compiler: None };
    let native = build(&compiled(text), &config).unwrap().in_mode(Mode::Demand);
    let mut files = Memory { written: Arc::<Mutex<BTreeMap<_, _>>>::default(), ..Memory::default() };
    let around = Surroundings {
        files: &mut files,
        out: Box::new(std::io::sink()),
        interrupted: Box::new(|| false),
        progress: &mut |_| {},
    };
    let options = Options { iterations: Some(iterations), ..Options::default() };
    let (ended, report) = native.run_reported(threads, options, around);
    ended.unwrap();
    report.unwrap()
}

/// Three regions with this much work, of which the last has no state.
fn three_regions(work: u32) -> String {
    let busy = format!("for (int i = 0; i < {work}; i++) x = x * 3 + i;");
    format!(
        "void->void pipeline Main {{ add Count(); add Same(); add Last(); add FileWriter<int>(\"out\"); }}
        void->int filter Count {{ work push 1 {{ int x = iter(); {busy} push(x); }} }}
        int->int filter Same {{ work pop * push * {{ push(pop()); }} }}
        int->int filter Last {{ work pop 64 push 1 {{ int s = 0; for (int k = 0; k < 64; k++) {{ int x = pop(); {busy} s += x; }} push(s); }} }}"
    )
}

#[test]
fn each_region_is_a_body_without_copies_and_two_threads_work() {
    if !has_compiler("each_region_is_a_body_without_copies") {
        return;
    }
    // Under `auto` a run on a loaded machine may use one of its threads.
    let threads = Threads::of(thalweg::Options::new().threads(2).policy("pss"));
    let report = report(&three_regions(1000), 1_000_000, &threads);
    let names: Vec<_> = report.graph().nodes().iter().map(|node| node.name().to_string()).collect();
    assert_eq!(names.len(), 1 + 3, "{names:?}");
    let busy = report.workers()[..2].iter().map(|worker| worker.application());
    assert!(busy.clone().all(|busy| busy > Duration::from_millis(1)), "{:?}", report.workers());
}

#[test]
fn one_region_uses_one_thread() {
    if !has_compiler("one_region_uses_one_thread") {
        return;
    }
    let text = "void->void pipeline Main { add Count(); add FileWriter<int>(\"out\"); }
        void->int filter Count { work push 1 { push(iter()); } }";
    let report = report(text, 400_000, &Threads::new(2));
    assert_eq!(report.nodes().len(), 1);
}

//! Plans of native runs: saved ones, and random ones.

use super::{Memory, Seen, difference, see};
use thalweg::plan::Plan;
use thalweg_codegen::{Native, Split, Threads};
use thalweg_lang::interpret::Options;
use thalweg_lang_testgen::Choices;

pub const SPLITS: [Split; 4] = [Split::Auto, Split::Filters, Split::Pipeline, Split::DataParallel];

/// A run on threads, and the text of its plan.
fn planned(native: &Native, threads: &Threads, files: &Memory, iterations: Option<u64>) -> (Seen, String) {
    let (options, mut plan) = (Options { iterations, ..Options::default() }, None);
    let seen = see(files, |around| {
        let (end, report) = native.run_reported(threads, options, around);
        plan = report.and_then(|report| report.program_plan().map(str::to_owned));
        end
    });
    (seen, plan.unwrap_or_default())
}

/// Checks that the plan of a run, saved and read, leads to a run with the same output and the same plan.
pub fn replays(native: &Native, files: &Memory, iterations: Option<u64>, meant: &Seen, name: &str) {
    for split in SPLITS {
        let threads = Threads::new(2).split(split);
        let (seen, text) = planned(native, &threads, files, iterations);
        assert!(*meant == seen, "{split:?}:\n{name}\n{}", difference(meant, &seen));
        // A failure before the engine begins has no report.
        if text.is_empty() {
            assert!(seen.end.is_err(), "{split:?}:\n{name}: no plan");
            continue;
        }
        let plan =
            Plan::read(&text, native.graph()).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        let threads = Threads::of(thalweg::Options::new().plan(plan)).split(split);
        let (seen, again) = planned(native, &threads, files, iterations);
        assert!(*meant == seen, "{split:?}, replayed:\n{name}\n{}", difference(meant, &seen));
        assert!(again == text || seen.end.is_err(), "{split:?}:\n{name}: another plan\n{text}\n{again}");
    }
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

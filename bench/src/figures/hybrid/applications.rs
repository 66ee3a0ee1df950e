//! Figures 8a to 8c: whole programs.
//!
//! The paper does not say how much work its operators do. Here an operator of Figure 8a does 100 computations for each
//! bit, and one of Figures 8b and 8c does 1000 for each window or significant event.

use thalweg_lang::Sources;
use thalweg_str::{Program, generate, reference};

use super::super::dynamic::row;
use super::pipelines::busy;
use super::{figure, thread_counts};
use crate::line::Measure;
use crate::native::{Cells, Compiler, Ours, Schedule, Scheduler};
use crate::race::{Contestant, Role};
use crate::session::Session;
use crate::suite::checksum;

/// Computations for each bit of Figure 8a.
const BIT: u64 = 100;

/// Computations of an operator of Figures 8b and 8c.
const EVENT: u64 = 1000;

/// The x axis of Figures 8b and 8c: the ticks of a window, and the heights among which one is significant.
const ONE_IN: [u64; 5] = [1, 10, 100, 1000, 10_000];

/// The most bytes of input, and those of a quick look.
const MOST: u64 = 200 << 20;
const QUICK: u64 = 20 << 20;

/// The average distance of two ticks in milliseconds.
const GAP: u64 = 10;

/// A version of a program, and its schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Version {
    /// Dynamic rates, under the hybrid scheduler.
    Hybrid,
    /// The same, on demand.
    Demand,
    /// Static rates in the no-op scheme: operators pass nonces on.
    NoOp,
    /// The same, but operators compute for nonces too, in the lanes of vectors.
    NoOpInVectors,
}

impl Version {
    fn contestant(self) -> (&'static str, Role) {
        match self {
            Version::Hybrid => ("ours", Role::Ours),
            Version::Demand => ("demand", Role::Peer),
            Version::NoOp => ("no-op", Role::Peer),
            Version::NoOpInVectors => ("no-op in vectors", Role::Peer),
        }
    }

    fn has_nonces(self) -> bool {
        matches!(self, Version::NoOp | Version::NoOpInVectors)
    }

    /// The text of a program with other constants.
    fn sources(self, program: &str, changes: &[(&str, String)]) -> Result<Sources, String> {
        let mut changes: Vec<(&str, &str)> = changes.iter().map(|(name, value)| (*name, &**value)).collect();
        if self == Version::NoOpInVectors {
            changes.push(("SKIP", "false"));
        }
        let program = if self.has_nonces() { format!("{program}_no_op") } else { program.to_owned() };
        Program::named(&program).ok_or("no such program")?.sources(&changes)
    }

    /// The native code of a job on this many threads.
    fn native(self, compiler: &Compiler, job: &Job, threads: usize) -> Result<Ours, String> {
        let demand = self == Version::Demand;
        let scheduler = if demand { Scheduler::Demand } else { Scheduler::Hybrid };
        let schedule = Schedule { threads, ..Schedule::of(scheduler) };
        let ours = compiler.program(&job.sources, &Cells::new(&job.input), schedule)?;
        Ok(if self.has_nonces() { ours.with_nonces() } else { ours })
    }
}

/// A program with its input and its result.
struct Job {
    sources: Sources,
    input: Vec<u32>,
    expected: u64,
}

/// Makes a version of a program for an x and a number of items.
type Make = fn(u64, Version, u64) -> Result<Job, String>;

/// Runs the selected figures.
pub fn run(session: &mut Session, compiler: &Compiler) {
    for threads in thread_counts() {
        let versions = [(Version::Hybrid, 60.0), (Version::Demand, 60.0)];
        figure(session, &format!("hybrid.8a.t{threads}"), |session, name| {
            programs(session, compiler, (name, threads), (&versions, 4), &huffman)
        });
    }
    for (number, key, bytes, make) in [("8b", "f", 12, vwap as Make), ("8c", "i", 4, predicate)] {
        for one_in in ONE_IN {
            let work = 2.0 * EVENT as f64 / one_in as f64;
            let versions = [
                (Version::Hybrid, 1.0 + work / 32.0),
                (Version::NoOp, 5.0 + 0.7 * work),
                (Version::NoOpInVectors, 35.0),
            ];
            for threads in thread_counts() {
                figure(session, &format!("hybrid.{number}.{key}{one_in}.t{threads}"), |session, name| {
                    let make = |version, items| make(one_in, version, items);
                    programs(session, compiler, (name, threads), (&versions, bytes), &make)
                });
            }
        }
    }
}

/// Versions of a program: nanoseconds per item of input. Each has an estimate of that, which determines the size of its
/// input; an item has this many bytes.
fn programs(
    session: &mut Session,
    compiler: &Compiler,
    (name, threads): (&str, usize),
    (versions, bytes): (&[(Version, f64)], u64),
    make: &dyn Fn(Version, u64) -> Result<Job, String>,
) -> Result<(), String> {
    let most = if session.options.quick { QUICK } else { MOST } / bytes;
    let mut contestants = Vec::new();
    for (version, cost) in versions {
        let items = session.items(*cost, threads).min(most);
        let job = make(*version, items)?;
        let mut ours = version.native(compiler, &job, threads)?;
        let (contestant, role) = version.contestant();
        let run = move || row(&mut ours, None, 1);
        contestants.push(Contestant::new(contestant, role, items, run).expecting(job.expected));
    }
    session.figure(name, Measure::NsPerItem, threads, contestants);
    Ok(())
}

/// A Huffman coder and decoder; an item is a symbol.
fn huffman(version: Version, items: u64) -> Result<Job, String> {
    let sources = version.sources("huffman_channel", &[("WORK", BIT.to_string())])?;
    let input = bits_of_integers(&generate::text(6, items as usize));
    Ok(Job { sources, expected: checksum(&input), input })
}

/// The milliseconds of a window that has this many ticks on average. The tick after a window is some milliseconds late.
fn window(ticks: u64) -> u64 {
    GAP * ticks - 9
}

/// The bargain finder with this many ticks in a window; an item is a tick.
fn vwap(ticks: u64, version: Version, items: u64) -> Result<Job, String> {
    let window = window(ticks);
    let changes = [("WORK", EVENT.to_string()), ("WINDOW", window.to_string())];
    let sources = version.sources("bargain_finder", &changes)?;
    let input = generate::ticks(7, items as usize, GAP as u32);
    let mut results = reference::events::bargains(&input, window as i32, 0);
    (0..2).for_each(|_| busy(&mut results, EVENT));
    Ok(Job { sources, input: bits_of_integers(&input), expected: checksum(&bits(&results)) })
}

/// The predicate filter that selects one of this many heights; an item is a height.
fn predicate(one_in: u64, version: Version, items: u64) -> Result<Job, String> {
    let threshold = 1.0 - 1.0 / one_in as f32;
    let changes = [("WORK", EVENT.to_string()), ("THRESHOLD", format!("{threshold:?}"))];
    let sources = version.sources("predicate_filter", &changes)?;
    let input = generate::heights(8, items as usize);
    let mut results = reference::events::significant(&input, threshold, 4, 0);
    (0..2).for_each(|_| busy(&mut results, EVENT));
    Ok(Job { sources, input: bits(&input), expected: checksum(&bits(&results)) })
}

fn bits(items: &[f32]) -> Vec<u32> {
    items.iter().map(|item| item.to_bits()).collect()
}

fn bits_of_integers(items: &[i32]) -> Vec<u32> {
    items.iter().map(|item| item.cast_unsigned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_the_ticks_of_their_names() {
        for (ticks, most) in [(1, 0.1), (10, 0.05), (100, 0.05)] {
            let window = window(ticks) as i32;
            let input = generate::ticks(7, 100_000, GAP as u32);
            let windows = reference::events::bargains(&input, window, 0).len() as f64;
            let mean = 100_000.0 / windows;
            assert!((mean / ticks as f64 - 1.0).abs() < most, "{mean} ticks, not {ticks}");
        }
    }

    #[test]
    fn one_in_ten_heights_is_significant() {
        let job = predicate(10, Version::Hybrid, 100_000).unwrap();
        let above = job.input.iter().filter(|bits| f32::from_bits(**bits) > 0.9).count();
        assert!((9_500..10_500).contains(&above), "{above}");
    }

    #[test]
    fn computed_results_equal_the_programs() {
        let compiler = Compiler::new().unwrap();
        let jobs = [Version::Hybrid, Version::Demand].map(|version| (version, huffman(version, 500)));
        let no_op = [Version::Hybrid, Version::NoOp, Version::NoOpInVectors];
        let jobs = jobs.into_iter().chain(no_op.map(|version| (version, vwap(10, version, 500))));
        for (version, job) in jobs.chain(no_op.map(|version| (version, predicate(10, version, 500)))) {
            let job = job.unwrap();
            for threads in [1, 2] {
                let mut ours = version.native(&compiler, &job, threads).unwrap();
                let row = row(&mut ours, None, 1).unwrap().unwrap();
                assert_eq!(row.checksum, job.expected, "{version:?}, {threads} threads");
            }
        }
    }
}

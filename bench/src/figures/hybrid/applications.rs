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
use crate::native::{Cells, Compiler, Schedule, Scheduler};
use crate::race::{Contestant, Role};
use crate::session::Session;
use crate::suite::checksum;

/// Computations for each bit of Figure 8a.
const BIT: u64 = 100;

/// Computations of an operator of Figures 8b and 8c.
const EVENT: u64 = 1000;

/// The x axis of Figures 8b and 8c: the ticks of a window, and the heights among which one is significant.
const ONE_IN: [u64; 5] = [1, 10, 100, 1000, 10_000];

/// What is behind the name of a program in the no-op scheme.
const NO_OP: &str = "_no_op";

/// The most bytes of input, and those of a quick look.
const MOST: u64 = 200 << 20;
const QUICK: u64 = 20 << 20;

/// The average distance of two ticks in milliseconds.
const GAP: u64 = 10;

/// What the hybrid scheduler is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Peer {
    /// The same program on demand.
    Demand,
    /// The program in the no-op scheme: static rates, with nonces.
    NoOp,
}

/// The estimated costs of an item, which determine the size of the input.
struct Costs {
    /// Nanoseconds under the hybrid scheduler.
    hybrid: f64,
    /// Nanoseconds of the peer.
    peer: f64,
    /// Bytes of input.
    bytes: u64,
}

/// Runs the selected figures.
pub fn run(session: &mut Session, compiler: &Compiler) {
    for threads in thread_counts() {
        let costs = Costs { hybrid: 60.0, peer: 60.0, bytes: 4 };
        figure(session, &format!("hybrid.8a.t{threads}"), |session, name| {
            programs(session, compiler, (name, threads), (Peer::Demand, costs), huffman)
        });
    }
    for (number, key, bytes, job) in
        [("8b", "f", 12, vwap as fn(u64, &str, u64) -> Result<Job, String>), ("8c", "i", 4, predicate)]
    {
        for one_in in ONE_IN {
            for threads in thread_counts() {
                // The no-op version does the computations of one item at a time.
                let work = 2.0 * EVENT as f64 / one_in as f64;
                let costs = Costs { hybrid: 1.0 + work / 32.0, peer: 5.0 + 0.7 * work, bytes };
                figure(session, &format!("hybrid.{number}.{key}{one_in}.t{threads}"), |session, name| {
                    let job = |version: &str, items| job(one_in, version, items);
                    programs(session, compiler, (name, threads), (Peer::NoOp, costs), job)
                });
            }
        }
    }
}

/// A program with its input and its result.
struct Job {
    sources: Sources,
    input: Vec<u32>,
    expected: u64,
}

/// The hybrid scheduler and its peer: nanoseconds per item of input. `job` makes a version of the program, by what is
/// behind its name, for a number of items.
fn programs(
    session: &mut Session,
    compiler: &Compiler,
    (name, threads): (&str, usize),
    (peer, costs): (Peer, Costs),
    job: impl Fn(&str, u64) -> Result<Job, String>,
) -> Result<(), String> {
    let (other, scheduler, version) = match peer {
        Peer::Demand => ("demand", Scheduler::Demand, ""),
        Peer::NoOp => ("no-op", Scheduler::Hybrid, NO_OP),
    };
    let most = if session.options.quick { QUICK } else { MOST } / costs.bytes;
    let mut contestants = Vec::new();
    for (contestant, role, scheduler, version, cost) in [
        ("ours", Role::Ours, Scheduler::Hybrid, "", costs.hybrid),
        (other, Role::Peer, scheduler, version, costs.peer),
    ] {
        let items = session.items(cost, threads).min(most);
        let Job { sources, input, expected } = job(version, items)?;
        let schedule = Schedule { threads, ..Schedule::of(scheduler) };
        let ours = compiler.program(&sources, &Cells::new(&input), schedule)?;
        let mut ours = if version == NO_OP { ours.with_nonces() } else { ours };
        let run = move || row(&mut ours, None, 1);
        contestants.push(Contestant::new(contestant, role, items, run).expecting(expected));
    }
    session.figure(name, Measure::NsPerItem, threads, contestants);
    Ok(())
}

/// A program of `apps/str` with other constants.
fn sources(program: &str, changes: &[(&str, String)]) -> Result<Sources, String> {
    let changes: Vec<(&str, &str)> = changes.iter().map(|(name, value)| (*name, &**value)).collect();
    Program::named(program).ok_or("no such program")?.sources(&changes)
}

/// A Huffman coder and decoder; an item is a symbol.
fn huffman(_version: &str, items: u64) -> Result<Job, String> {
    let sources = sources("huffman_channel", &[("WORK", BIT.to_string())])?;
    let input = bits_of_integers(&generate::text(6, items as usize));
    Ok(Job { sources, expected: checksum(&input), input })
}

/// The milliseconds of a window that has this many ticks on average. The tick after a window is some milliseconds late.
fn window(ticks: u64) -> u64 {
    GAP * ticks - 9
}

/// The bargain finder with this many ticks in a window; an item is a tick.
fn vwap(ticks: u64, version: &str, items: u64) -> Result<Job, String> {
    let window = window(ticks);
    let changes = [("WORK", EVENT.to_string()), ("WINDOW", window.to_string())];
    let sources = sources(&format!("bargain_finder{version}"), &changes)?;
    let input = generate::ticks(7, items as usize, GAP as u32);
    let mut results = reference::events::bargains(&input, window as i32, 0);
    (0..2).for_each(|_| busy(&mut results, EVENT));
    Ok(Job { sources, input: bits_of_integers(&input), expected: checksum(&bits(&results)) })
}

/// The predicate filter that selects one of this many heights; an item is a height.
fn predicate(one_in: u64, version: &str, items: u64) -> Result<Job, String> {
    let threshold = 1.0 - 1.0 / one_in as f32;
    let changes = [("WORK", EVENT.to_string()), ("THRESHOLD", format!("{threshold:?}"))];
    let sources = sources(&format!("predicate_filter{version}"), &changes)?;
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
        let job = predicate(10, "", 100_000).unwrap();
        let above = job.input.iter().filter(|bits| f32::from_bits(**bits) > 0.9).count();
        assert!((9_500..10_500).contains(&above), "{above}");
    }

    #[test]
    fn computed_results_equal_the_programs() {
        let compiler = Compiler::new().unwrap();
        for (scheduler, version, job) in [
            (Scheduler::Demand, "", huffman("", 500).unwrap()),
            (Scheduler::Hybrid, "", vwap(10, "", 500).unwrap()),
            (Scheduler::Hybrid, NO_OP, vwap(10, NO_OP, 500).unwrap()),
            (Scheduler::Hybrid, "", predicate(10, "", 500).unwrap()),
            (Scheduler::Hybrid, NO_OP, predicate(10, NO_OP, 500).unwrap()),
        ] {
            let Job { sources, input, expected } = job;
            for threads in [1, 2] {
                let schedule = Schedule { threads, ..Schedule::of(scheduler) };
                let ours = compiler.program(&sources, &Cells::new(&input), schedule).unwrap();
                let mut ours = if version == NO_OP { ours.with_nonces() } else { ours };
                assert_eq!(row(&mut ours, None, 1).unwrap().unwrap().checksum, expected);
            }
        }
    }
}

//! Figures 3, 4 and 6: the policies in rounds on one input.

use thalweg::Options;

use super::rounds::{Entrant, Facts, PARTS, Rounds};
use super::size::{Size, problem};
use super::{COMPUTING, MAX_WORKERS, Measured, POLICIES, options};
use crate::line::{Entry, Line, Measure, median};
use crate::race::Role;
use crate::session::Session;

/// The run of one worker, whose time in kernels is the yardstick of computing workers.
const ONE: &str = "one worker";

/// The family of figures for the parts of the time, if the runs of this number of workers have one.
pub fn parts_of(what: &str, workers: usize) -> Option<&'static str> {
    match what {
        "computing" => (workers == COMPUTING[1]).then_some("costs"),
        _ => (workers == MAX_WORKERS).then_some("parts"),
    }
}

/// The figures of workers that compute.
pub fn computing(session: &mut Session, measured: &Measured, size: &Size, workers: usize) {
    let name = measured.name("computing", &format!("n{workers}"));
    let one = Entrant { name: ONE, role: Role::Yardstick, yardstick: "", options: options("auto", 1) };
    let entrants = [one].into_iter().chain(policies(|policy| options(policy, workers)));
    let share = size.computed_share(workers);
    let rounds = Rounds::run(session, &name, &problem(measured, share), workers, entrants.collect());
    // That of the same round.
    let one = |round| Some(rounds.of(ONE).find(|(of, _)| *of == round)?.1.claims);
    show(session, &name, share, &rounds, |round, facts| Some(one(round)? / facts.wall));
    parts(session, measured, &rounds, parts_of("computing", workers));
}

/// The figures of workers in dilated time.
pub fn dilated(session: &mut Session, measured: &Measured, size: &Size, workers: usize) {
    let name = measured.name("speedup", &format!("n{workers}"));
    let entrants = policies(|policy| options(policy, workers).dilate(measured.dilation));
    let share = size.share(workers);
    let rounds = Rounds::run(session, &name, &problem(measured, share), workers, entrants.collect());
    show(session, &name, share, &rounds, |_, facts| Some(facts.claims / facts.wall));
    firings(session, &measured.name("size", &format!("n{workers}")), &rounds);
    parts(session, measured, &rounds, parts_of("speedup", workers));
    if workers == MAX_WORKERS {
        threads(session, &format!("danbi.threads.{}", measured.program.name()), &rounds);
    }
}

/// `auto`, which is ours, and the papers' policies.
fn policies(options: impl Fn(&str) -> Options) -> impl Iterator<Item = Entrant> {
    let ours = ("ours", "auto", Role::Ours);
    let papers = POLICIES.map(|policy| (policy, policy, Role::Peer));
    [ours].into_iter().chain(papers).map(move |(name, policy, role)| Entrant {
        name,
        role,
        yardstick: "",
        options: options(policy),
    })
}

/// Shows the median of each policy's speed-ups, and the paired ratios of `auto` to the others.
fn show(
    session: &mut Session,
    name: &str,
    share: f64,
    rounds: &Rounds,
    speed_up: impl Fn(usize, &Facts) -> Option<f64>,
) {
    if !session.selects(name) {
        return;
    }
    let value = |entry: &Entry| {
        let speed_ups = rounds.of(entry.name).filter_map(|(round, facts)| speed_up(round, facts));
        Some((*entry, median(speed_ups.collect())?))
    };
    let values = rounds.entries.iter().filter_map(value).collect();
    let line = Line::of(name, Measure::Speed, values)
        .paired(&rounds.records, &POLICIES.map(|policy| ("ours", policy)));
    session.show(&line, &rounds.records);
    session.note(&format!("{name}: {share:.3e} of the paper's input"));
}

/// The size of the runs: firings of the node with the fewest, and of all.
fn firings(session: &mut Session, name: &str, rounds: &Rounds) {
    let Some((_, facts)) = rounds.of("ours").next().filter(|_| session.selects(name)) else { return };
    let (fewest, all) = facts.firings;
    session.counted(name, Measure::Counted("firings"), &[("fewest", fewest), ("all", all)]);
}

/// Figure 4, with the times of the workers that have no name there, by policy.
fn parts(session: &mut Session, measured: &Measured, rounds: &Rounds, family: Option<&str>) {
    let Some(family) = family else { return };
    for (entrant, policy) in [("ours", "auto")].into_iter().chain(POLICIES.map(|policy| (policy, policy))) {
        let name = measured.name(family, policy);
        let part = |(at, part)| Some((part, rounds.median(entrant, |facts| Some(facts.parts[at]))?));
        let values: Vec<_> = PARTS.into_iter().enumerate().filter_map(part).collect();
        if !values.is_empty() && session.selects(&name) {
            session.counted(&name, Measure::Counted("%"), &values);
        }
    }
}

/// Figure 6.
fn threads(session: &mut Session, name: &str, rounds: &Rounds) {
    let mean = rounds.median("prs", |facts| facts.threads.map(|(mean, _)| mean));
    let most = rounds.median("prs", |facts| facts.threads.map(|(_, most)| most));
    let (Some(mean), Some(most)) = (mean, most) else { return };
    if session.selects(name) {
        session.counted(name, Measure::Counted("firings"), &[("mean", mean), ("most", most)]);
    }
}

//! `archives.*`: the command `thalweg dedup` beside `tar` with a compressor, borg and restic, on two trees of files and their
//! near-copies. All are whole processes; a figure is one of their costs: size, wall-clock time, processor time, memory.
//!
//! Files are in a temporary folder, and their pages in the system's cache. The first archive of each contestant is unpacked
//! and compared with the tree, and so is every unpacked tree.

mod fixture;
mod tools;

use fixture::Fixture;
use tools::Tool;

use crate::corpus::{sources, toolchain};
use crate::line::Measure;
use crate::peers::process::is_installed;
use crate::race::{Contestant, Role};
use crate::session::{Cost, Session};

/// The costs of packing; those of unpacking are the same without the size.
const COSTS: [Cost; 4] = [
    ("size", Measure::Bytes, |row| row.costs.size),
    ("time", Measure::Ms, |row| row.seconds),
    ("cpu", Measure::Ms, |row| row.costs.cpu),
    ("memory", Measure::Bytes, |row| row.costs.memory),
];

/// The levels of the curve of size against time.
const LEVELS: [u8; 4] = [1, 3, 6, 9];

/// The default of ours, which borg has on request; restic has no levels of this kind.
const LEVEL: u8 = 3;

/// The end of the names of contestants that add the near-copy to an archive of the original.
const SECOND: &str = "(second)";

/// A contestant: its name, its role, and its tool.
type Entrant = (&'static str, Role, Tool);

/// What a race measures of a tree, or of a tree with its near-copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Job {
    Pack,
    Unpack,
}

/// A race over one tree.
struct Race {
    operation: String,
    job: Job,
    is_of_pair: bool,
    entrants: Vec<Entrant>,
}

impl Race {
    fn costs(&self) -> &'static [Cost] {
        if self.job == Job::Pack { &COSTS } else { &COSTS[1..] }
    }
}

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for (tree, folder) in [("sources", sources()), ("toolchain", toolchain())] {
        let selected: Vec<_> = races().into_iter().filter(|race| selects(session, tree, race)).collect();
        if selected.is_empty() {
            continue;
        }
        let fixture = match Fixture::new(&folder, session.options.quick, session.options.threads) {
            Ok(fixture) => fixture,
            Err(error) => {
                eprintln!("error: archives.{tree}: {error}");
                session.errors.push(format!("archives.{tree}: {error}"));
                continue;
            }
        };
        session.note(&format!("archives.{tree}: {}", fixture.about));
        for race in selected {
            match fixture.clear() {
                Ok(()) => one(session, tree, &fixture, race),
                Err(error) => session.errors.push(format!("archives.{tree}: {error}")),
            }
        }
        session.folders.push(fixture.into_folder());
    }
}

fn selects(session: &Session, tree: &str, race: &Race) -> bool {
    let (operation, threads) = (&race.operation, session.options.threads);
    let name = |cost| format!("archives.{tree}.{operation}.{cost}.t{threads}");
    race.costs().iter().any(|(cost, ..)| session.selects(&name(cost)))
}

/// Runs a race of the contestants whose programs are installed, and names the others.
fn one(session: &mut Session, tree: &str, fixture: &Fixture, race: Race) {
    let (name, costs) = (format!("archives.{tree}.{}", race.operation), race.costs());
    let (entrants, left_out) = with_programs(race.entrants, is_installed);
    left_out.iter().for_each(|remark| session.note(&format!("{name}: {remark}")));
    let contestants = entrants.into_iter().enumerate().map(|(number, (contestant, role, tool))| {
        let mut archive = fixture.archive(number, tool);
        let input = if race.is_of_pair { &fixture.pair } else { &fixture.original };
        let mut run = move || match race.job {
            Job::Pack if contestant.ends_with(SECOND) => archive.add(&fixture.original, &fixture.near),
            Job::Pack => archive.pack(input),
            Job::Unpack => archive.unpack(input),
        };
        Contestant::new(contestant, role, 1, move || run().map(Some))
    });
    session.costs(&name, costs, session.options.threads, contestants.collect());
}

/// The entrants whose programs are installed, and a remark on each of the others.
fn with_programs(entrants: Vec<Entrant>, is_installed: impl Fn(&str) -> bool) -> (Vec<Entrant>, Vec<String>) {
    let (mut present, mut remarks) = (Vec::new(), Vec::new());
    for entrant in entrants {
        match entrant.2.programs().iter().find(|program| !is_installed(program)) {
            Some(program) => remarks.push(format!("{} is left out: {program} is not installed", entrant.0)),
            None => present.push(entrant),
        }
    }
    (present, remarks)
}

fn races() -> Vec<Race> {
    let race = |operation: &str, job, entrants| Race {
        operation: operation.into(),
        job,
        is_of_pair: false,
        entrants,
    };
    let of_pair = |race| Race { is_of_pair: true, ..race };
    let mut all = vec![race("copy", Job::Pack, vec![("cp", Role::Aside, Tool::Copy)])];
    all.extend(LEVELS.map(|level| race(&format!("level{level}"), Job::Pack, packing(level))));
    all.push(of_pair(race("pair", Job::Pack, pairs())));
    all.push(race("unpack", Job::Unpack, unpacking()));
    all.push(of_pair(race("unpack_pair", Job::Unpack, wide_windows())));
    all
}

/// Ours as a peer runs that does not wait for the disk.
const NO_SYNC: &[&str] = &["--no-sync"];

fn ours(more: &'static [&'static str]) -> Tool {
    Tool::Ours { codec: "zstd", level: LEVEL, more }
}

/// A tree at one level.
fn packing(level: u8) -> Vec<Entrant> {
    let mut all = vec![
        ("ours", Role::Ours, Tool::Ours { codec: "zstd", level, more: NO_SYNC }),
        ("tar|zstd-long", Role::Peer, Tool::Zstd { level, long: Some(27) }),
        ("tar|zstd", Role::Peer, Tool::Zstd { level, long: None }),
    ];
    match level {
        LEVEL => all.extend([
            ("ours(sync)", Role::Aside, ours(&[])),
            ("borg", Role::Peer, Tool::Borg),
            ("restic", Role::Peer, Tool::Restic),
        ]),
        6 => all.extend([
            ("ours(gzip)", Role::Aside, Tool::Ours { codec: "gzip", level, more: NO_SYNC }),
            ("tar|gzip", Role::Aside, Tool::Gzip { level }),
        ]),
        _ => {}
    }
    all
}

/// A tree and its near-copy, at once, and by borg and restic also one after the other.
fn pairs() -> Vec<Entrant> {
    let mut all = wide_windows();
    all.push(("borg(second)", Role::Aside, Tool::Borg));
    all.push(("restic(second)", Role::Aside, Tool::Restic));
    all
}

/// The near-copy is as far from its original as the tree is large, so those with windows have one of 512 MiB too.
fn wide_windows() -> Vec<Entrant> {
    vec![
        ("ours", Role::Ours, ours(NO_SYNC)),
        ("ours(512MiB)", Role::Aside, ours(&["--no-sync", "--window", "512MiB"])),
        ("tar|zstd-long", Role::Peer, Tool::Zstd { level: LEVEL, long: Some(27) }),
        ("tar|zstd-long29", Role::Aside, Tool::Zstd { level: LEVEL, long: Some(29) }),
        ("borg", Role::Peer, Tool::Borg),
        ("restic", Role::Peer, Tool::Restic),
    ]
}

fn unpacking() -> Vec<Entrant> {
    vec![
        ("ours", Role::Ours, ours(NO_SYNC)),
        ("ours(sync)", Role::Aside, ours(&[])),
        ("tar|zstd-long", Role::Peer, Tool::Zstd { level: LEVEL, long: Some(27) }),
        ("borg", Role::Peer, Tool::Borg),
        ("restic", Role::Peer, Tool::Restic),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contestants_without_their_programs_are_left_out_and_named() {
        let (present, remarks) =
            with_programs(packing(LEVEL), |program| !["zstd", "borg"].contains(&program));
        assert_eq!(
            present.iter().map(|entrant| entrant.0).collect::<Vec<_>>(),
            ["ours", "ours(sync)", "restic"]
        );
        let left_out = [("tar|zstd-long", "zstd"), ("tar|zstd", "zstd"), ("borg", "borg")];
        assert_eq!(
            remarks,
            left_out.map(|(name, tool)| format!("{name} is left out: {tool} is not installed"))
        );
    }
}

//! `str.*`: programs of `apps/str` compared with hand-written C, with input and output in memory: fused regions with
//! vectors across firings (`ours`), without vectors (`fused`), and a function for each filter with queues (`plain`).

use thalweg_codegen::Level;

use crate::line::Measure;
use crate::native::{Cells, Ours};
use crate::peers::written::{self, Written};
use crate::race::{Contestant, Role};
use crate::row::{Row, timed};
use crate::session::Session;
use crate::suite::{checksum, input};

/// Cells of input: 8 MB, and at most as much output, so that input and output do not fit into the second-level cache.
const CELLS: usize = 1 << 21;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    // Several implementations of one program are neighbours in the list.
    let mut programs: Vec<&str> = written::ALL.iter().map(|written| written.program).collect();
    programs.dedup();
    for program in programs {
        let name = format!("str.{program}.t1");
        if session.selects(&name) {
            one(session, &name, program);
        }
    }
}

/// One program: nanoseconds per item of input.
fn one(session: &mut Session, name: &str, program: &'static str) {
    let files = Cells::new(&input(program, CELLS));
    let (mut contestants, mut job) = (Vec::new(), None);
    for written in written::ALL.iter().filter(|written| written.program == program) {
        // The first implementation determines the job of all contestants.
        let job = *job.get_or_insert_with(|| Job::of(written, &files, session.row_seconds() / 3.0));
        let role = if contestants.is_empty() { Role::Peer } else { Role::Aside };
        let files = files.clone();
        let run = move || Ok(Some(rounds_of(written, &files, job.rounds)));
        contestants.push(Contestant::new(written.name, role, job.items, run).expecting(job.sum));
    }
    if let Some(job) = job {
        contestants.extend(LEVELS.iter().filter_map(|level| ours(session, program, *level, &files, job)));
    }
    session.figure(name, Measure::NsPerItem, 1, contestants);
}

/// The job of all contestants.
#[derive(Clone, Copy)]
struct Job {
    /// The number of passes over the input.
    rounds: usize,
    /// The items of input in all passes.
    items: u64,
    /// The checksum of the output.
    sum: u64,
}

impl Job {
    /// A job that takes a hand-written program about `seconds`.
    fn of(written: &Written, files: &Cells, seconds: f64) -> Job {
        let sum = rounds_of(written, files, 1).checksum;
        let rounds = (seconds / rounds_of(written, files, 1).seconds).ceil() as usize;
        Job { rounds, items: (files.cells() / written.cells_in * rounds) as u64, sum }
    }
}

/// The levels of native code: the contestant's name and its role.
const LEVELS: [(&str, Role, Level); 3] = [
    ("ours", Role::Ours, Level::Vectors),
    ("fused", Role::Aside, Level::Fused),
    ("plain", Role::Aside, Level::Plain),
];

/// The program as native code; `None`, and an error of the session, if it cannot be compiled.
fn ours(
    session: &mut Session,
    program: &str,
    (name, role, level): (&'static str, Role, Level),
    files: &Cells,
    Job { rounds, items, sum }: Job,
) -> Option<Contestant<'static>> {
    let mut ours = match Ours::with_files(program, level, files) {
        Ok(ours) => ours,
        Err(error) => {
            eprintln!("error: {program}: {name}: {error}");
            session.errors.push(format!("{program}: {name}: {error}"));
            return None;
        }
    };
    let run = move || {
        let mut failed = None;
        let row = timed(|| {
            failed = (0..rounds).find_map(|_| ours.run().err());
            0
        });
        failed.map_or_else(|| Ok(Some(Row { checksum: checksum(&ours.output()), ..row })), Err)
    };
    Some(Contestant::new(name, role, items, run).expecting(sum))
}

fn rounds_of(written: &Written, files: &Cells, rounds: usize) -> Row {
    let row = timed(|| {
        (0..rounds).for_each(|_| files.run(|from, to| written.run_in_bytes(from, to)));
        0
    });
    Row { checksum: checksum(&files.output()), ..row }
}

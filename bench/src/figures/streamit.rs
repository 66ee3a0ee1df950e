//! `str.*`: programs of `apps/str` beside hand-written C, with input and output in memory: regions fused and
//! vectors across firings (`ours`), without vectors (`fused`), and a function for each filter with queues (`plain`).

use std::time::Instant;

use thalweg_codegen::Level;

use crate::line::Measure;
use crate::native::Ours;
use crate::peers::written::{self, Written};
use crate::race::{Contestant, Role};
use crate::row::{Row, confined, timed};
use crate::session::Session;
use crate::suite::{checksum, input};

/// Cells of input: 8 MB, and as much output at most, so that data that only pass through come from beyond the
/// second-level cache.
const CELLS: usize = 1 << 21;

/// Runs the figures of this family that were asked for.
pub fn run(session: &mut Session) {
    // The first of a program is the one that counts.
    let mut programs: Vec<&str> = written::ALL.iter().map(|written| written.program).collect();
    programs.dedup();
    for program in programs {
        let name = format!("str.{program}.t1");
        if session.wants(&name) {
            one(session, &name, program);
        }
    }
}

/// One program: nanoseconds for an item of input.
fn one(session: &mut Session, name: &str, program: &'static str) {
    let (input, of_program) = (input(program, CELLS), |written: &&Written| written.program == program);
    let mut buffer = vec![0; input.len()];
    let (mut contestants, mut job) = (Vec::new(), None);
    for written in written::ALL.iter().filter(of_program) {
        // What all have to do is found with the first one.
        let (rounds, sum) =
            *job.get_or_insert_with(|| measure(written, &input, &mut buffer, session.row_seconds() / 3.0));
        let role = if contestants.is_empty() { Role::Peer } else { Role::Aside };
        let (items, input) = ((input.len() / written.cells_in * rounds) as u64, &input);
        let mut out = vec![0; input.len()];
        let run = move || Ok(Some(confined(1, || rounds_of(written, input, &mut out, rounds))));
        contestants.push(Contestant::new(written.name, role, items, run).expecting(sum));
    }
    // What all have to do was found with the first one.
    if let Some((rounds, sum)) = job {
        contestants
            .extend(LEVELS.iter().filter_map(|level| ours(session, program, *level, &input, rounds, sum)));
    }
    session.figure(name, Measure::NsPerItem, 1, contestants);
}

/// Native code at each level: what it is called, and what it is to the figure.
const LEVELS: [(&str, Role, Level); 3] = [
    ("ours", Role::Ours, Level::Vectors),
    ("fused", Role::Aside, Level::Fused),
    ("plain", Role::Aside, Level::Plain),
];

/// The program as native code; none, and an error of the session, where it cannot be made.
fn ours(
    session: &mut Session,
    program: &str,
    (name, role, level): (&'static str, Role, Level),
    input: &[u32],
    rounds: usize,
    sum: u64,
) -> Option<Contestant<'static>> {
    let cells = written::ALL.iter().find(|written| written.program == program)?.cells_in;
    let items = (input.len() / cells * rounds) as u64;
    let mut ours = match Ours::new(program, level, input) {
        Ok(ours) => ours,
        Err(why) => {
            eprintln!("error: {program}: {name}: {why}");
            session.errors.push(format!("{program}: {name}: {why}"));
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

/// How often the input is gone through so that it lasts so many seconds, and what must come out.
fn measure(written: &Written, input: &[u32], out: &mut [u32], seconds: f64) -> (usize, u64) {
    let sum = rounds_of(written, input, out, 1).checksum;
    let start = Instant::now();
    written.run(input, out);
    ((seconds / start.elapsed().as_secs_f64()).ceil() as usize, sum)
}

fn rounds_of(written: &Written, input: &[u32], out: &mut [u32], rounds: usize) -> Row {
    let mut made = 0;
    let row = timed(|| {
        for _ in 0..rounds {
            made = written.run(input, out);
        }
        0
    });
    Row { checksum: checksum(&out[..made]), ..row }
}

//! `str.*.t2`: programs of `apps/str` as native code on two threads against one, with input and output in
//! memory; beside it the ways of the paper to deal a program out to threads.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use thalweg_codegen::{Level, Split, Threads};

use crate::line::Measure;
use crate::native::Ours;
use crate::race::{Contestant, Outcome, Role};
use crate::row::{Row, timed};
use crate::session::Session;
use crate::suite::{checksum, input};

/// Cells of input: 64 MB, of which the quickest programs take 8 to 10 ms on one thread. The threads' beginning and
/// end, 0.3 to 0.5 ms (`crates/codegen/RECORD.md`), are in the figure.
const CELLS: usize = 1 << 24;

/// Programs that were named before anything was measured.
const PROGRAMS: [&str; 8] =
    ["fm_radio", "filter_bank", "time_delay_equaliser", "fft", "des", "dct", "beamformer", "channel_vocoder"];

/// Who does what, and what that is to the figure.
const SPLITS: [(&str, Role, Split); 4] = [
    ("ours", Role::Ours, Split::Auto),
    ("os-threads", Role::Aside, Split::Filters),
    ("pipeline", Role::Aside, Split::Pipeline),
    ("data-parallel", Role::Aside, Split::DataParallel),
];

/// Runs the figures of this family that were asked for.
pub fn run(session: &mut Session) {
    for program in PROGRAMS {
        let name = format!("str.{program}.t2");
        if session.wants(&name)
            && let Err(why) = one(session, &name, program)
        {
            eprintln!("error: {name}: {why}");
            session.errors.push(format!("{name}: {why}"));
        }
    }
}

/// One program: how many times as fast as on one thread.
fn one(session: &mut Session, name: &str, program: &str) -> Result<(), String> {
    let input = input(program, CELLS);
    let mut ours = Ours::new(program, Level::Vectors, &input)?;
    ours.run()?;
    let sum = checksum(&ours.output());
    let start = Instant::now();
    ours.run()?;
    let rounds = (session.row_seconds() / start.elapsed().as_secs_f64()).ceil() as usize;
    let ours = Rc::new(RefCell::new(ours));
    let with = |name, role, threads: Threads| {
        let ours = ours.clone();
        let items = (CELLS * rounds) as u64;
        let run = move || rounds_of(&mut ours.borrow_mut(), &threads, rounds);
        Contestant::new(name, role, items, run).against("one thread").expecting(sum)
    };
    let mut contestants = vec![with("one thread", Role::Yardstick, Threads::new(1))];
    for (name, role, split) in SPLITS {
        contestants.push(with(name, role, Threads { split, ..Threads::new(2) }));
    }
    session.figure(name, Measure::Speed, 2, contestants);
    Ok(())
}

fn rounds_of(ours: &mut Ours, threads: &Threads, rounds: usize) -> Outcome {
    let mut failed = None;
    let row = timed(|| {
        failed = (0..rounds).find_map(|_| ours.run_on(threads).err());
        0
    });
    failed.map_or_else(|| Ok(Some(Row { checksum: checksum(&ours.output()), ..row })), Err)
}

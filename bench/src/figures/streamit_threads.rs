//! `str.*.t2`: the speed-up of programs of `apps/str` as native code on two threads, with input and output in memory;
//! also with the paper's ways to divide a program among threads.

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

/// Cells of input: 64 MB, for which the fastest programs take 8 to 10 ms on one thread. The figure includes the start
/// and end of the threads, 0.3 to 0.5 ms (`crates/codegen/RECORD.md`).
const CELLS: usize = 1 << 24;

/// The programs, chosen before the first measurement.
const PROGRAMS: [&str; 8] =
    ["fm_radio", "filter_bank", "time_delay_equaliser", "fft", "des", "dct", "beamformer", "channel_vocoder"];

/// The ways to divide a program among threads: the contestant's name, its role, and the setting.
const SPLITS: [(&str, Role, Split); 4] = [
    ("ours", Role::Ours, Split::Auto),
    ("os-threads", Role::Aside, Split::Filters),
    ("pipeline", Role::Aside, Split::Pipeline),
    ("data-parallel", Role::Aside, Split::DataParallel),
];

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for program in PROGRAMS {
        figure(session, &format!("str.{program}.t2"), program);
    }
}

/// The figure of a program, if it is selected.
pub(super) fn figure(session: &mut Session, name: &str, program: &str) {
    if session.selects(name)
        && let Err(error) = one(session, name, program)
    {
        eprintln!("error: {name}: {error}");
        session.errors.push(format!("{name}: {error}"));
    }
}

/// One program: the speed-up over one thread.
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
        contestants.push(with(name, role, Threads::new(2).split(split)));
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

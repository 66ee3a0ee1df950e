//! Figures 1 and 8: StreamIt's barriers. The four programs that have StreamIt's form, compiled.
//!
//! | figure | time of | over that of |
//! |---|---|---|
//! | `danbi.barrier.PROGRAM.t1` | the graph of `apps/danbi` on one thread, with which the paper's Figure 8 begins | the compiled program on one thread, on as many bytes of input |
//! | `danbi.barrier.PROGRAM.t2` | the compiled program on one thread | that on two, divided among them as we do, and with a barrier behind each batch, as StreamIt's backend for shared memory does (`data-parallel`) |
//!
//! Cilk's form of MergeSort is in `danbi.peers`.

use thalweg::Options;
use thalweg_codegen::Level;
use thalweg_danbi::Program;

use super::dilation::{lasting, row};
use crate::figures::streamit_threads;
use crate::line::Measure;
use crate::native::Ours;
use crate::race::{Contestant, Role};
use crate::row::timed;
use crate::session::Session;
use crate::suite::input;

/// The programs that `apps/str` has, with their names there.
const PROGRAMS: [(Program, &str); 4] = [
    (Program::FilterBank, "danbi_filter_bank"),
    (Program::FmRadio, "danbi_fm_radio"),
    (Program::Fft2, "danbi_fft2"),
    (Program::Tde, "danbi_tde"),
];

/// The graph.
const GRAPH: &str = "graph";

/// Runs the selected figures.
pub(super) fn run(session: &mut Session) {
    for (program, compiled) in PROGRAMS {
        let name = format!("danbi.barrier.{}", program.name());
        let alone = format!("{name}.t1");
        if session.selects(&alone)
            && let Err(error) = on_one_thread(session, &alone, program, compiled)
        {
            session.errors.push(format!("{alone}: {error}"));
        }
        streamit_threads::figure(session, &format!("{name}.t2"), compiled);
    }
}

fn on_one_thread(session: &mut Session, name: &str, program: Program, compiled: &str) -> Result<(), String> {
    let problem = lasting(session.row_seconds(), |share| program.problem(share, 1))?;
    let input = input(compiled, problem.bytes() / size_of::<u32>());
    let mut ours = Ours::new(compiled, Level::Vectors, &input)?;
    let run = move || {
        let mut ran = Ok(());
        let row = timed(|| {
            ran = ours.run();
            0
        });
        ran.map(|()| Some(row))
    };
    let graph = || row(&problem, &Options::new().threads(1)).map(Some);
    let contestants = vec![
        Contestant::new(GRAPH, Role::Yardstick, 1, graph),
        Contestant::new("ours", Role::Ours, 1, run).against(GRAPH),
    ];
    session.figure(name, Measure::Speed, 1, contestants);
    Ok(())
}

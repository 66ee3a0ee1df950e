//! `loop.fib` and `loop.wavefront`: the costs of a join and of a task without work.

use crate::line::Measure;
use crate::peers::external::{self, Program};
use crate::peers::tasks;
use crate::race::{Contestant, Outcome, Role};
use crate::row::Row;
use crate::session::Session;

/// `fib` of this, and the side of the grid; and those of quick runs.
const FIB: (u64, u64) = (30, 22);
const SIDE: (u32, u32) = (1000, 100);

/// The peers' programs that execute tasks, with their names as contestants.
const PROGRAMS: [(&str, &str); 2] = [("tbb", "tbb-tasks"), ("taskflow", "taskflow")];

/// Runs the selected figures of this family.
pub(super) fn run(session: &mut Session) {
    let quick = session.options.quick;
    let (n, side) = if quick { (FIB.1, SIDE.1) } else { (FIB.0, SIDE.0) };
    let mut counts = vec![1, session.options.threads];
    counts.dedup();
    for threads in counts {
        let name = format!("loop.fib.t{threads}");
        if session.selects(&name) {
            let mut all = vec![
                ours(tasks::joins(n), move || tasks::fib(n, threads)),
                peer("rayon", tasks::joins(n), move || Ok(Some(tasks::rayon_fib(n, threads)))),
            ];
            all.extend(programs("fib", tasks::joins(n), [n, threads as u64]));
            all.iter_mut().for_each(|contestant| contestant.expected = Some(tasks::fib_alone(n)));
            session.figure(&name, Measure::NsPerItem, threads, all);
        }
        let (name, nodes) = (format!("loop.wavefront.t{threads}"), u64::from(side) * u64::from(side));
        if session.selects(&name) {
            let mut all = vec![
                ours(nodes, move || tasks::wavefront(side, threads, true)),
                aside("ours(uncounted)", nodes, move || tasks::wavefront(side, threads, false)),
                peer("rayon", nodes, move || Ok(Some(tasks::rayon_wavefront(side, threads)))),
            ];
            all.extend(programs("wavefront", nodes, [side.into(), threads as u64]));
            session.figure(&name, Measure::NsPerItem, threads, all);
        }
    }
    if session.selects("loop.wavefront.build") {
        let nodes = u64::from(side) * u64::from(side);
        let mut all = vec![ours(nodes, move || tasks::wavefront_build(side))];
        all.extend(programs("build", nodes, [side.into(), 1]));
        session.figure("loop.wavefront.build", Measure::NsPerItem, 1, all);
    }
}

fn ours(items: u64, run: impl Fn() -> Row + 'static) -> Contestant<'static> {
    Contestant::new("ours", Role::Ours, items, move || Ok(Some(run())))
}

fn aside(name: &'static str, items: u64, run: impl Fn() -> Row + 'static) -> Contestant<'static> {
    Contestant::new(name, Role::Aside, items, move || Ok(Some(run())))
}

fn peer(name: &'static str, items: u64, run: impl Fn() -> Outcome + 'static) -> Contestant<'static> {
    Contestant::new(name, Role::Peer, items, run)
}

/// The programs that were built and have this mode. Taskflow has no fork-join without a graph.
fn programs(mode: &'static str, items: u64, numbers: [u64; 2]) -> impl Iterator<Item = Contestant<'static>> {
    let has_mode = move |(name, _): &(&str, &str)| *name != "taskflow" || mode != "fib";
    PROGRAMS.into_iter().filter(has_mode).filter_map(move |(name, program)| {
        let program: Program = external::program(program, mode)?;
        Some(peer(name, items, move || program.tasks(numbers).map(Some)))
    })
}

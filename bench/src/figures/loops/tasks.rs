//! `loop.fib` and `loop.wavefront`: the costs of a join and of a task without work, and the memory of a task on demand.

use crate::line::Measure;
use crate::peers::external::{self, Program, own_loops};
use crate::peers::tasks;
use crate::race::{Contestant, Outcome, Role};
use crate::row::Row;
use crate::session::Session;

/// `fib` of this, and the side of the grid; and those of quick runs.
const FIB: (u64, u64) = (30, 22);
const SIDE: (u32, u32) = (1000, 100);

/// The side of the grid of which the memory is measured: 10^7 tasks.
const LARGE: (u32, u32) = (3162, 316);

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
            all.iter_mut().for_each(|contestant| contestant.expected = Some(0));
            session.figure(&name, Measure::NsPerItem, threads, all);
        }
    }
    keyed(session);
    if session.selects("loop.wavefront.build") {
        let nodes = u64::from(side) * u64::from(side);
        let mut all = vec![ours(nodes, move || tasks::wavefront_build(side))];
        all.extend(programs("build", nodes, [side.into(), 1]));
        all.iter_mut().for_each(|contestant| contestant.expected = Some(0));
        session.figure("loop.wavefront.build", Measure::NsPerItem, 1, all);
    }
}

/// The grid on demand: times, and the memory of a node, in a process of its own.
fn keyed(session: &mut Session) {
    let pick = |(full, quick)| if session.options.quick { quick } else { full };
    let (side, large) = (pick(SIDE), pick(LARGE));
    for threads in session.thread_counts() {
        let name = format!("loop.wavefront.keyed.t{threads}");
        if session.selects(&name) {
            let nodes = u64::from(side) * u64::from(side);
            let ours = ours(nodes, move || tasks::keyed_wavefront(side, threads)).expecting(nodes);
            session.figure(&name, Measure::NsPerItem, threads, vec![ours]);
        }
    }
    let (name, threads) = ("loop.wavefront.keyed.bytes", session.options.threads);
    if session.selects(name) {
        let program = own_loops("ours");
        let arguments = ["bytes".to_owned(), large.to_string(), threads.to_string()];
        let ours = move || program.as_ref()?.run(&arguments).map(Some);
        session.figure(name, Measure::Bytes, threads, vec![Contestant::new("ours", Role::Ours, 1, ours)]);
    }
}

/// The bytes of a node of a grid on demand, as the time of a row. The arguments are its side and the threads.
pub(super) fn bytes(arguments: &[String]) -> Result<Row, String> {
    let [side, threads] = arguments else { return Err("expected SIDE THREADS".into()) };
    let parse = |text: &String| text.parse::<u32>().map_err(|error| format!("{text}: {error}"));
    let seconds = tasks::keyed_bytes(parse(side)?, parse(threads)? as usize)?;
    Ok(Row::new(seconds, 0))
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

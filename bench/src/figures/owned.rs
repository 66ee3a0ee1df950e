//! `owned.*`: items that own memory, beside the plain loop over them.
//!
//! The value of `owned.<row>.t<threads>` is our time divided by the loop's, and so are those of `owned.<row>.adaptor` and of
//! `owned.<row>.blocking`.
//! `owned.<row>.peers` compares the same runs with those of other libraries; ns per item.

use crate::line::Measure;
use crate::owned::{self, Size};
use crate::peers::external;
use crate::race::{Contestant, Role};
use crate::row::Row;
use crate::session::{Session, View};
use crate::work::Work;

/// The contestants that this program executes, each in a process.
pub const CONTESTANTS: [&str; 9] =
    [LOOP, "ours", ADAPTOR, BLOCKING, BRIDGE, "rayon(chunks)", "crossbeam(1)", "crossbeam(64)", "pariter"];

const LOOP: &str = "loop";

/// As many loops at once as threads, each in a process: loops in one process share the cache lines of blocks that the
/// thread that started them has allocated.
const LOOPS: &str = "loops";

const ALONE: &str = "ours(t1)";
const ADAPTOR: &str = "adaptor";
const BLOCKING: &str = "blocking";
const BRIDGE: &str = "rayon(bridge)";

/// A row: a job over items that own memory.
#[derive(Debug)]
pub struct RowOf {
    /// Its name, with which [`owned::run`] finds it.
    pub name: &'static str,
    /// The items of a run.
    items: u64,
    /// Nanoseconds of calibrated work on each item.
    ns: u64,
    /// Whether rayon's bridge, which has no order, is a peer.
    has_bridge: bool,
    /// The mode of the peers in other languages.
    mode: Option<&'static str>,
}

const fn row(name: &'static str, items: u64) -> RowOf {
    RowOf { name, items, ns: 0, has_bridge: false, mode: None }
}

/// All rows.
pub const ROWS: [RowOf; 13] = [
    RowOf { mode: Some("owned-stages"), ..row("maps", 300_000) },
    RowOf { mode: Some("owned-map"), has_bridge: true, ..row("map", 300_000) },
    RowOf { mode: Some("owned-words"), ..row("words", 150_000) },
    RowOf { has_bridge: true, ..row("json", 200_000) },
    row("vectors", 150_000),
    row("keyed", 300_000),
    RowOf { mode: Some("owned-stages"), ..row("processes", 300_000) },
    RowOf { ns: 50, ..row("stage", 400_000) },
    RowOf { ns: 1_000, ..row("stage", 100_000) },
    RowOf { ns: 10_000, ..row("stage", 15_000) },
    row("blocks.k1", 20_000),
    row("blocks.k16", 2_500),
    row("blocks.k256", 200),
];

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for row in &ROWS {
        row.run(session);
    }
}

impl RowOf {
    /// The figure's name: `what` is empty, or the name of a view with a dot before it.
    fn figure(&self, what: &str, threads: usize) -> String {
        let work = if self.ns == 0 { String::new() } else { format!(".w{}", super::format_ns(self.ns)) };
        let allocator = if cfg!(feature = "mimalloc") { ".mimalloc" } else { "" };
        format!("owned.{}{work}{what}{allocator}.t{threads}", self.name)
    }

    fn run(&self, session: &mut Session) {
        let mut views = self.views(session.options.threads);
        views.retain(|view| session.selects(&view.name));
        if views.is_empty() {
            return;
        }
        let items = if session.options.quick { self.items / 5 } else { self.items };
        let steps = Work::lasting(self.ns, &session.calibration).steps;
        let size = Size { items, threads: session.options.threads, steps };
        let name = self.figure("", size.threads);
        let expected = match owned::run(self.name, LOOP, size) {
            Some(Ok(Some(row))) => row.checksum,
            _ => return session.errors.push(format!("{name}: no loop")),
        };
        session.views(&name, &views, size.threads, self.contestants(size, expected));
    }

    /// The figures of the row's race.
    fn views(&self, threads: usize) -> Vec<View> {
        let over_loop = |what, threads, ours| View {
            name: self.figure(what, threads),
            measure: Measure::Slowdown,
            of: |row| row.seconds,
            roles: vec![(LOOP, Role::Yardstick), (LOOPS, Role::Aside), (ours, Role::Ours)],
        };
        let mut views = vec![over_loop("", 1, ALONE)];
        if threads == 1 {
            return views;
        }
        views.push(over_loop("", threads, "ours"));
        if !self.is_in_stages() {
            views.push(over_loop(".adaptor", threads, ADAPTOR));
            views.push(over_loop(".blocking", threads, BLOCKING));
        }
        let bridge = if self.has_bridge { Role::Peer } else { Role::Aside };
        let mut roles =
            vec![("ours", Role::Ours), (LOOP, Role::Aside), (LOOPS, Role::Aside), (BRIDGE, bridge)];
        let ordered = ["rayon(chunks)", "crossbeam(1)", "crossbeam(64)", "pariter", "go", "tbb-pipeline"];
        roles.extend(ordered.map(|name| (name, Role::Peer)));
        let name = self.figure(".peers", threads);
        views.push(View { name, measure: Measure::NsPerItem, of: |row| row.seconds, roles });
        views
    }

    /// Whether the job is sequential stages, which no adaptor has, and whose source is not blocking.
    fn is_in_stages(&self) -> bool {
        self.mode == Some("owned-stages")
    }

    fn contestants(&self, size: Size, expected: u64) -> Vec<Contestant<'_>> {
        let contestant = |name, executed, threads| {
            let (size, program) = (Size { threads, ..size }, external::own_row(executed));
            let run = move || program.as_ref()?.run(&self.arguments(size)).map(Some);
            Contestant::new(name, Role::Aside, size.items, run).against(LOOP).expecting(expected)
        };
        let mut all: Vec<_> = CONTESTANTS.map(|name| contestant(name, name, size.threads)).into();
        all.retain(|contestant| !self.is_in_stages() || ![ADAPTOR, BLOCKING].contains(&contestant.name));
        all.push(contestant(ALONE, "ours", 1));
        let (program, arguments) = (external::own_row(LOOP), self.arguments(size));
        let loops = move || program.as_ref()?.at_once(size.threads, &arguments).map(Some);
        let items = size.items * size.threads as u64;
        all.push(Contestant::new(LOOPS, Role::Aside, items, loops).against(LOOP).expecting(expected));
        all.extend(self.programs(size).into_iter().map(|peer| peer.expecting(expected)));
        all
    }

    /// The peers in other languages. Go has an allocator of its own, and oneTBB has glibc's.
    fn programs(&self, size: Size) -> Vec<Contestant<'_>> {
        let Some(mode) = self.mode else { return Vec::new() };
        let has_allocator = |program: &str| program == "go" || !cfg!(feature = "mimalloc");
        let programs = [("go", "go"), ("tbb-pipeline", "tbb")].into_iter();
        let built = programs.filter(|&(_, program)| has_allocator(program)).filter_map(|(name, program)| {
            let program = external::program(program, mode)?;
            let arguments = [size.items.to_string(), size.threads.to_string()];
            Some(Contestant::new(name, Role::Peer, size.items, move || program.run(&arguments).map(Some)))
        });
        built.collect()
    }

    fn arguments(&self, size: Size) -> Vec<String> {
        let numbers = [size.items, size.threads as u64, size.steps].map(|number| number.to_string());
        [&[self.name.to_owned()], &numbers[..]].concat()
    }
}

/// The process of a contestant: executes a row, and prints its time and checksum.
///
/// # Errors
/// The arguments are not a contestant, a row and a size; or the run fails.
pub fn child(arguments: &[String]) -> Result<(), String> {
    let parsed = || {
        let [contestant, row, items, threads, steps] = arguments else { return None };
        let size =
            Size { items: items.parse().ok()?, threads: threads.parse().ok()?, steps: steps.parse().ok()? };
        owned::run(row, contestant, size)
    };
    match parsed() {
        Some(outcome) => {
            let Row { seconds, checksum, .. } = outcome?.ok_or("the contestant cannot execute the row")?;
            println!("{seconds} {checksum}");
            Ok(())
        }
        None => Err(format!("no contestant, or no row: {arguments:?}")),
    }
}

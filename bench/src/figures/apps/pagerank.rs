//! `app.pagerank.s<scale>.t<threads>`: iterations on an R-MAT graph; ns per link and iteration.

use std::ops::ControlFlow;

use thalweg_pagerank::{Graph, PageRank, Rmat, Schedule};

use super::{Folder, fastest};
use crate::line::Measure;
use crate::peers::external;
use crate::race::{Contestant, Role};
use crate::session::Session;

/// The iterations, all of which are done.
const ITERATIONS: usize = 10;

pub(super) fn run(session: &mut Session) {
    let scale = if session.options.quick { 16 } else { 20 };
    let figures = session
        .thread_counts()
        .into_iter()
        .map(|threads| (format!("app.pagerank.s{scale}.t{threads}"), threads));
    let figures: Vec<_> = figures.filter(|(name, _)| session.selects(name)).collect();
    if figures.is_empty() {
        return;
    }
    let graph = Rmat::new(scale).graph(|_| {}).expect("a scale from 1 to 31 without a limit of memory");
    let expected = ranks(&graph, Schedule::Loops, 1);
    let folder = match input(&graph, &expected) {
        Ok(folder) => folder,
        Err(error) => return session.errors.push(error),
    };
    for (name, threads) in figures {
        let all = contestants(&graph, &expected, &folder, threads);
        session.figure(&name, Measure::NsPerItem, threads, all);
    }
}

fn contestants<'a>(
    graph: &'a Graph,
    expected: &'a [f64],
    folder: &'a Folder,
    threads: usize,
) -> Vec<Contestant<'a>> {
    let items = (graph.links().len() * ITERATIONS) as u64;
    let ours = |name, role, schedule| {
        let run = move || fastest(|| u64::from(ranks(graph, schedule, threads) == expected));
        Contestant::new(name, role, items, move || Ok(Some(run()))).expecting(1)
    };
    let mut all =
        vec![ours("ours", Role::Ours, Schedule::Loops), ours("ours(tasks)", Role::Aside, Schedule::Tasks)];
    if let Some(program) = external::python("networkit", "pagerank") {
        let arguments = folder.arguments(&[], &[threads, ITERATIONS]);
        all.push(
            Contestant::new("networkit", Role::Peer, items, move || program.run(&arguments).map(Some))
                .expecting(1),
        );
    }
    all
}

fn ranks(graph: &Graph, schedule: Schedule, threads: usize) -> Vec<f64> {
    let settings =
        PageRank::new().tolerance(0.0).max_iterations(ITERATIONS).threads(threads).schedule(schedule);
    settings.run(graph, |_| ControlFlow::Continue(())).expect("all iterations are done").ranks
}

/// Sources, targets and ranks, as arrays of numbers.
fn input(graph: &Graph, ranks: &[f64]) -> Result<Folder, String> {
    let folder = Folder::new()?;
    let links = graph.links();
    let targets =
        (0..graph.pages()).flat_map(|page| std::iter::repeat_n(page as u32, links.sources_of(page).len()));
    folder.file("targets", &targets.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())?;
    folder.file(
        "sources",
        &links.sources.iter().flat_map(|source| source.to_le_bytes()).collect::<Vec<u8>>(),
    )?;
    folder.file("ranks", &ranks.iter().flat_map(|rank| rank.to_le_bytes()).collect::<Vec<u8>>())?;
    Ok(folder)
}

//! Tests of task graphs: one program for all.

mod colours;
mod cycles;
mod failures;
mod growing;
mod keys;
mod leaving;
mod random;
mod shapes;

/// Calls `test` in a firing of a run with four workers: graphs then have up to four members on any machine.
fn in_team(test: impl FnOnce() + Send) {
    let graph = thalweg_runtime::Graph::new();
    let mut test = Some(test);
    graph.source(0..1).for_each(move |_| test.take().expect("one item")());
    let run = graph.run(&thalweg_runtime::Options::new().threads(4));
    run.unwrap_or_else(|error| panic!("{error}"));
}

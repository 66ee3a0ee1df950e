//! What every program has, and what each feature adds.

use thalweg::prelude::*;
#[cfg(feature = "report")]
use thalweg::Report;
use thalweg::{output, par_for};

fn main() -> Result<(), thalweg::Error> {
    let lengths: Vec<usize> = ["a", "bb", "ccc"].into_iter().par_map(str::len).collect();
    assert_eq!(lengths, [1, 2, 3]);

    let evens = thalweg::from_iter(0..100u64).par_map(|n| n * n).filter(|n| n % 2 == 0).named("even");
    let (evens, report) = evens.collect().run_with(&Options::new().threads(2))?.into_parts();
    assert_eq!(evens[..3], [0, 4, 16]);
    assert!(report.to_string().contains("even"), "a report prints as text");

    let graph = Graph::new();
    let pairs = graph.process("pairs", graph.source(0..10u64), output("out"), |mut rx, mut tx| async move {
        while let (Some(a), Some(b)) = (rx.recv().await, rx.recv().await) {
            tx.send(a * b).await;
        }
    });
    let sum = pairs.fold(0, |sum, product| sum + product);
    assert_eq!(graph.run()?.take(sum)?, 6 + 20 + 42 + 72);

    let (sum, all) = (std::sync::atomic::AtomicU64::new(0), std::sync::atomic::Ordering::Relaxed);
    par_for(0..100, |n| _ = sum.fetch_add(n as u64, all));
    assert_eq!(sum.into_inner(), 4950);

    let unknown = thalweg::from_iter(0..1).discard_under("fifo");
    assert_eq!(unknown.contains("`policies`"), !cfg!(feature = "policies"), "{unknown}");

    #[cfg(feature = "coroutines")]
    coroutines()?;
    #[cfg(feature = "machine")]
    machine();
    #[cfg(feature = "policies")]
    policies()?;
    #[cfg(feature = "report")]
    reports(&report);
    #[cfg(feature = "tasks")]
    tasks();
    #[cfg(feature = "timeline")]
    timeline()?;
    #[cfg(feature = "tokens")]
    tokens()?;
    Ok(())
}

/// The error of a run under a policy that does not exist.
trait DiscardUnder {
    fn discard_under(self, policy: &str) -> String;
}

impl DiscardUnder for Stream<'static, i32> {
    fn discard_under(self, policy: &str) -> String {
        let ended = self.for_each(drop).run_with(&Options::new().policy(policy));
        format!("{:?}", ended.map(drop).expect_err("no such policy"))
    }
}

#[cfg(feature = "coroutines")]
fn coroutines() -> Result<(), thalweg::Error> {
    let graph = Graph::new();
    let numbers = graph.coroutine("count", (), output("out"), |(), mut out: thalweg::node::BlockingTx<u64>| {
        (0..10).for_each(|n| out.send(n));
    });
    let sum = numbers.fold(0, |sum, n| sum + n);
    assert_eq!(graph.run()?.take(sum)?, 45);
    Ok(())
}

#[cfg(feature = "machine")]
fn machine() {
    let here = thalweg::machine::Machine::here();
    let places = here.places(here.threads());
    let lengths = thalweg::from_iter(["a", "bb"]).par_map(str::len).collect();
    assert_eq!(lengths.run_with(&Options::new().pinned_at(&places)).expect("no function fails").into_value(), [1, 2]);
}

#[cfg(feature = "policies")]
fn policies() -> Result<(), thalweg::Error> {
    for policy in thalweg::embed::policy::registry::names() {
        let options = Options::new().policy(policy).threads(2);
        let count = thalweg::from_iter(0..100u64).par_map(|n| n).fold(0, |n, _| n + 1).run_with(&options)?.into_value();
        assert_eq!(count, 100);
    }
    Ok(())
}

#[cfg(feature = "report")]
fn reports(report: &Report) {
    let again = Report::from_json(&report.to_json()).expect("its own JSON");
    assert_eq!(again.nodes().len(), report.nodes().len());
    assert!(report.to_html().contains("<html") && report.plan_text().contains("threads 2"));
}

#[cfg(feature = "tasks")]
fn tasks() {
    use thalweg::tasks::StaticGraph;
    let done = std::sync::atomic::AtomicU32::new(0);
    let mut chain = StaticGraph::from_edges(20, (1..20).map(|n| (n - 1, n)));
    let count = |_| _ = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    chain.run(count).expect("no node fails");
    assert_eq!(done.into_inner(), 20);
}

#[cfg(feature = "timeline")]
fn timeline() -> Result<(), thalweg::Error> {
    let options = Options::new().threads(2).timeline(100);
    let report = thalweg::from_iter(0..100u64).par_map(|n| n).collect().run_with(&options)?.into_report();
    let timeline = report.timeline().expect("the options ask for one");
    let text = timeline.to_json(report.graph());
    assert_eq!(thalweg::trace::Timeline::from_json(&text, report.graph()).as_ref(), Ok(timeline));
    Ok(())
}

#[cfg(feature = "tokens")]
fn tokens() -> Result<(), thalweg::Error> {
    let squares = thalweg::from_iter(0..100u64).par_map(|n| n * n).collect();
    let (squares, report) = squares.run_with(&Options::new().threads(2).tokens(3))?.into_parts();
    assert_eq!((squares.len(), squares[99]), (100, 9801));
    assert!(report.graph().nodes().iter().any(|node| node.name() == "in_flight"));
    Ok(())
}

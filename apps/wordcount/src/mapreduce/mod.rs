//! Word count as MapReduce over processes (*KPN-MR* of the Nornir paper, section 5.4).
//!
//! ```text
//!             ┌─▶ mapper ─┐   runs    ┌─▶ reducer ─┐
//!  cut (text) ┼─▶ mapper ─┼──────────▶┼─▶ reducer ─┼─▶ collect
//!             └─▶ mapper ─┘           └─▶ reducer ─┘
//! ```
//!
//! A mapper makes pairs (word, 1) of a block, sorts them, adds up neighbours of the same word, and sends
//! each reducer its part of the sorted run. A reducer merges runs and adds up. What MapReduce wants and
//! word count does not need is the sorting: the network that suits the problem has none before the
//! result is in order.

mod plain;
mod run;

use thalweg::{Error, Graph, Options, Report, Rx, Tx, Value, input, output};

use crate::ranking::{Ranked, Ranking};
use crate::source::{memory, outputs};
use crate::words::{Case, Folded};
pub use plain::sort_based;
use run::{Merger, Pairs, Run};

/// How many processes there are, and what they get at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Mappers.
    pub mappers: usize,
    /// Reducers.
    pub reducers: usize,
    /// Bytes of a block, about.
    pub block: usize,
}

impl Shape {
    /// One mapper and one reducer for each worker.
    pub fn for_workers(workers: usize) -> Shape {
        Shape { mappers: workers, reducers: workers, block: BLOCK }
    }
}

/// Bytes of a block: sorted in the caches, and long enough for frequent words to come together.
const BLOCK: usize = 1 << 19;

/// Counts the words of a text as MapReduce would. The result depends neither on the shape nor on the
/// options.
///
/// ```
/// use thalweg::Options;
/// use thalweg_wordcount::{Case, Shape, map_reduce};
///
/// let (shape, options) = (Shape { mappers: 3, reducers: 2, block: 4 }, Options::new());
/// let (ranking, _report) = map_reduce(b"to be or not to be", Case::Kept, shape, &options)?;
/// assert_eq!(ranking.iter().next(), Some((&b"be"[..], 2)));
/// # Ok::<(), thalweg::Error>(())
/// ```
///
/// # Errors
/// [`Options`] make no sense.
///
/// # Panics
/// Without mappers or reducers.
pub fn map_reduce<'t>(
    text: &'t [u8],
    case: Case,
    shape: Shape,
    options: &Options,
) -> Result<(Ranking, Report), Error> {
    assert!(shape.mappers > 0 && shape.reducers > 0, "somebody must do it");
    let graph = Graph::new();
    let mut runs: Vec<Vec<_>> = (0..shape.reducers).map(|_| Vec::new()).collect();
    for (i, blocks) in memory(&graph, text, shape.block, shape.mappers).into_iter().enumerate() {
        let map = move |rx: Rx<&'t [u8]>, txs| mapper(rx, txs, case);
        let outs = outputs("run", shape.reducers);
        let given = graph.process(&format!("mapper{i}"), input("block", blocks), outs, map);
        runs.iter_mut().zip(given).for_each(|(to, stream)| to.push(stream));
    }
    let mut ranked = Vec::new();
    for (i, runs) in runs.into_iter().enumerate() {
        let ins: Vec<_> = runs.into_iter().enumerate().map(|(i, s)| input(&format!("run{i}"), s)).collect();
        let reduce = |rxs, tx: Tx<Vec<Ranked>>| reducer(rxs, tx);
        let part = graph.process(&format!("reducer{i}"), ins, output("ranked"), reduce);
        ranked.push(input(&format!("ranked{i}"), part));
    }
    let parts = graph.process("collect", ranked, (), |rxs: Vec<Rx<Vec<Ranked>>>, ()| async move {
        let mut parts = Vec::new();
        for mut rx in rxs {
            parts.extend(rx.recv().await);
        }
        Value(parts)
    });
    let (parts, report) = parts.run(options)?;
    Ok((Ranking::merge(parts), report))
}

/// Gives each reducer its part of each block's words.
async fn mapper(mut rx: Rx<&[u8]>, mut txs: Vec<Tx<Run>>, case: Case) {
    let (mut room, mut folded) = (Vec::new(), Folded::default());
    while let Some(block) = rx.recv().await {
        let run = Pairs::map(folded.text(block, case), &mut room).sort(&mut room);
        let parts = run.partition(txs.len());
        for (tx, part) in txs.iter_mut().zip(parts) {
            tx.send(part).await;
        }
    }
}

/// Adds up what all mappers send, one run of each in turn.
async fn reducer(mut rxs: Vec<Rx<Run>>, mut tx: Tx<Vec<Ranked>>) {
    let mut merger = Merger::default();
    let mut more = true;
    while more {
        more = false;
        for rx in &mut rxs {
            if let Some(run) = rx.recv().await {
                merger.add(run);
                more = true;
            }
        }
    }
    tx.send(merger.finish().ranked()).await;
}

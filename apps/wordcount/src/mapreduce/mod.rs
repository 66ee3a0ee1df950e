//! Word count as MapReduce over processes (*KPN-MR* of the Nornir paper, section 5.4).
//!
//! ```text
//!             ┌─▶ mapper ─┐   runs    ┌─▶ reducer ─┐
//!  cut (text) ┼─▶ mapper ─┼──────────▶┼─▶ reducer ─┼─▶ collect
//!             └─▶ mapper ─┘           └─▶ reducer ─┘
//! ```
//!
//! A mapper makes pairs (word, 1) of a block, sorts them, adds up pairs of the same word, and sends each reducer its
//! part of the sorted run. A reducer merges runs and adds up. MapReduce requires this sorting, but word count does not
//! need it: the other network only sorts the result.

mod plain;
mod run;

use std::io::{self, Read};

use thalweg::{Error, Graph, Options, Report, Rx, Stream, Tx, Value, input, output};

use crate::ranking::{Ranked, Ranking};
use crate::source::{files, memory, outputs};
use crate::words::{Case, CaseFolder};
pub use plain::sort_based;
use run::{Merger, Pairs, Run};

/// The numbers of processes, and the size of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The number of mappers.
    pub mappers: usize,
    /// The number of reducers.
    pub reducers: usize,
    /// The approximate bytes of a block.
    pub block: usize,
}

impl Shape {
    /// One mapper and one reducer for each worker, but at most 32 reducers: a channel leads from each mapper to each
    /// reducer, so memory is proportional to workers, and not to their square.
    pub fn for_workers(workers: usize) -> Shape {
        Shape { mappers: workers, reducers: workers.min(MOST_REDUCERS), block: BLOCK }
    }
}

/// Bytes of a block: small enough to sort in the caches, and large enough that frequent words repeat.
const BLOCK: usize = 1 << 19;

/// The most reducers of [`Shape::for_workers`].
const MOST_REDUCERS: usize = 32;

/// Counts the words of all inputs as MapReduce does, under the rules of [`count`](crate::count). The result does not depend
/// on the shape or the options.
///
/// # Errors
/// Opening or reading an input failed, or the options are invalid. The `io::Error` of an input is the cause of
/// [`Error::Node`].
///
/// # Panics
/// If the number of mappers or of reducers is 0.
pub fn map_reduce<I, R>(
    inputs: I,
    case: Case,
    shape: Shape,
    options: &Options,
) -> Result<(Ranking, Report), Error>
where
    I: IntoIterator<Item = io::Result<R>>,
    I::IntoIter: Send,
    R: Read + Send,
{
    let graph = Graph::new();
    let blocks = files(&graph, inputs.into_iter(), shape.block, shape.mappers);
    map_reduce_blocks(graph, blocks, case, shape, options)
}

/// Counts the words of a text in memory as MapReduce does, without copying the text. The result does not depend on the shape or the options.
///
/// ```
/// use thalweg::Options;
/// use thalweg_wordcount::{Case, Shape, map_reduce_text};
///
/// let (shape, options) = (Shape { mappers: 3, reducers: 2, block: 4 }, Options::new());
/// let (ranking, _report) = map_reduce_text(b"to be or not to be", Case::Kept, shape, &options)?;
/// assert_eq!(ranking.iter().next(), Some((&b"be"[..], 2)));
/// # Ok::<(), thalweg::Error>(())
/// ```
///
/// # Errors
/// The options are invalid.
///
/// # Panics
/// If the number of mappers or of reducers is 0.
pub fn map_reduce_text(
    text: &[u8],
    case: Case,
    shape: Shape,
    options: &Options,
) -> Result<(Ranking, Report), Error> {
    let graph = Graph::new();
    let blocks = memory(&graph, text, shape.block, shape.mappers);
    map_reduce_blocks(graph, blocks, case, shape, options)
}

/// Adds a mapper for each stream of blocks, and the reducers, and runs the graph.
fn map_reduce_blocks<'env, B: AsRef<[u8]> + Send + 'env>(
    graph: Graph<'env>,
    blocks: Vec<Stream<'env, B>>,
    case: Case,
    shape: Shape,
    options: &Options,
) -> Result<(Ranking, Report), Error> {
    assert!(shape.mappers > 0 && shape.reducers > 0, "at least one mapper and one reducer are needed");
    let mut runs: Vec<Vec<_>> = (0..shape.reducers).map(|_| Vec::new()).collect();
    for (i, blocks) in blocks.into_iter().enumerate() {
        let map = move |rx: Rx<B>, txs| mapper(rx, txs, case);
        let outs = outputs("run", shape.reducers);
        let parts = graph.process(&format!("mapper{i}"), input("block", blocks), outs, map);
        runs.iter_mut().zip(parts).for_each(|(to, stream)| to.push(stream));
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
    let (parts, report) = parts.run_with(options)?.into_parts();
    Ok((Ranking::merge(parts), report))
}

/// Sends each reducer its part of the words of each block.
async fn mapper<B: AsRef<[u8]> + Send>(mut rx: Rx<B>, mut txs: Vec<Tx<Run>>, case: Case) {
    let (mut buffer, mut folder) = (Vec::new(), CaseFolder::default());
    while let Some(block) = rx.recv().await {
        let run = Pairs::map(folder.fold(block.as_ref(), case), &mut buffer).sort(&mut buffer);
        let parts = run.partition(txs.len());
        for (tx, part) in txs.iter_mut().zip(parts) {
            tx.send(part).await;
        }
    }
}

/// Adds up the runs of all mappers, one run of each in turn.
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

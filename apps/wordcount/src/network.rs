//! The network of processes that suits the problem.

use std::io::{self, Read};
use std::sync::Arc;

use thalweg::{Error, Graph, Options, Report, Rx, Stream, Tx, Value, input};

use crate::blocks::BLOCK;
use crate::ranking::{Ranked, Ranking, sorted};
use crate::source::{files, memory, outputs};
use crate::table::Table;
use crate::words::{Case, Folded};

/// Blocks that wait at a counter.
const WAITING: usize = 4;

/// Counts the words of all inputs; a word ends with its input. Inputs are asked for one after
/// the other, each when the one before has ended. The result does not depend on the options.
///
/// # Errors
/// Opening or reading an input failed, or [`Options`] make no sense. An error of an input is
/// found in [`Error::Node`], as the `io::Error` that it was.
pub fn count<I, R>(inputs: I, case: Case, options: &Options) -> Result<(Ranking, Report), Error>
where
    I: IntoIterator<Item = io::Result<R>>,
    I::IntoIter: Send,
    R: Read + Send,
{
    let graph = Graph::new();
    let blocks = files(&graph, inputs.into_iter(), options.workers());
    counted(graph, blocks, case, options)
}

/// Counts the words of a text in memory, of which nothing is copied.
///
/// ```
/// use thalweg::Options;
/// use thalweg_wordcount::{Case, count_text};
///
/// let (ranking, _report) = count_text(b"to be or not to be", Case::Kept, &Options::new())?;
/// assert_eq!(ranking.iter().next(), Some((&b"be"[..], 2)));
/// # Ok::<(), thalweg::Error>(())
/// ```
///
/// # Errors
/// [`Options`] make no sense.
pub fn count_text(text: &[u8], case: Case, options: &Options) -> Result<(Ranking, Report), Error> {
    let graph = Graph::new();
    let blocks = memory(&graph, text, BLOCK, options.workers());
    counted(graph, blocks, case, options)
}

/// Runs a graph that gives blocks, with a counter for each stream of them. More counters than workers
/// would even out what the cores get, and have as many more tables merged.
fn counted<'env, B: AsRef<[u8]> + Send + 'env>(
    graph: Graph<'env>,
    blocks: Vec<Stream<'env, B>>,
    case: Case,
    options: &Options,
) -> Result<(Ranking, Report), Error> {
    let bits = blocks.len().next_power_of_two().trailing_zeros();
    let mut tables: Vec<Vec<_>> = (0..1 << bits).map(|_| Vec::new()).collect();
    for (i, stream) in blocks.into_iter().enumerate() {
        let ins = input("block", stream.capacity(WAITING));
        let count = move |rx: Rx<B>, txs| counter(rx, txs, case);
        let given = graph.process(&format!("counter{i}"), ins, outputs("table", 1 << bits), count);
        tables.iter_mut().zip(given).for_each(|(of, stream)| of.push(stream));
    }
    let merge = |(mine, streams): (usize, Vec<Stream<'env, _>>)| {
        let ins: Vec<_> =
            streams.into_iter().enumerate().map(|(i, s)| input(&format!("table{i}"), s)).collect();
        graph.process(&format!("merger{mine}"), ins, (), move |rxs, ()| merger(rxs, mine, bits))
    };
    let parts: Vec<_> = tables.into_iter().enumerate().map(merge).collect();
    let run = graph.run(options)?;
    Ok((Ranking::merge(run.take_all(parts)?), run.into_report()))
}

/// Counts what it is given, and tells all mergers.
async fn counter<B: AsRef<[u8]> + Send>(mut rx: Rx<B>, txs: Vec<Tx<Arc<Table>>>, case: Case) {
    let (mut table, mut folded) = (Table::new(), Folded::default());
    while let Some(block) = rx.recv().await {
        table.add_text(folded.text(block.as_ref(), case));
    }
    let table = Arc::new(table);
    for mut tx in txs {
        tx.send(table.clone()).await;
    }
}

/// Adds up its part, one in `2^bits`, of all tables, and puts it in order.
async fn merger(rxs: Vec<Rx<Arc<Table>>>, mine: usize, bits: u32) -> Value<Vec<Ranked>> {
    let mut tables = Vec::new();
    for mut rx in rxs {
        tables.extend(rx.recv().await);
    }
    if let ([table], 0) = (&tables[..], bits) {
        return Value(sorted(table));
    }
    let words: usize = tables.iter().map(|table| table.len()).sum();
    let mut all = Table::of_part(bits, words >> bits);
    tables.iter().for_each(|table| all.add_part(table, mine));
    Value(sorted(&all))
}

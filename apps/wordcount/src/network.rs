//! The network that counts locally and merges tables.

use std::io::{self, Read};
use std::sync::Arc;

use thalweg::{Error, Graph, Options, Report, Rx, Stream, Tx, Value, input};

use crate::blocks::BLOCK;
use crate::ranking::{Ranked, Ranking, sorted};
use crate::source::{files, memory, outputs};
use crate::table::Table;
use crate::words::{Case, CaseFolder};

/// The capacity of the channel to a counter, in blocks.
const BLOCKS_AHEAD: usize = 4;

/// Counts the words of all inputs. A word ends at the end of its input. The iterator is advanced when the previous input
/// has ended. The result does not depend on the options.
///
/// # Errors
/// Opening or reading an input failed, or the options are invalid. The `io::Error` of an input is the cause of
/// [`Error::Node`].
pub fn count<I, R>(inputs: I, case: Case, options: &Options) -> Result<(Ranking, Report), Error>
where
    I: IntoIterator<Item = io::Result<R>>,
    I::IntoIter: Send,
    R: Read + Send,
{
    let graph = Graph::new();
    let blocks = files(&graph, inputs.into_iter(), options.workers());
    count_blocks(graph, blocks, case, options)
}

/// Counts the words of a text in memory, without copying the text.
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
/// The options are invalid.
pub fn count_text(text: &[u8], case: Case, options: &Options) -> Result<(Ranking, Report), Error> {
    let graph = Graph::new();
    let blocks = memory(&graph, text, BLOCK, options.workers());
    count_blocks(graph, blocks, case, options)
}

/// Adds a counter for each stream of blocks, and the mergers, and runs the graph. (More counters than workers would
/// balance the load better, but there would be more tables to merge.)
fn count_blocks<'env, B: AsRef<[u8]> + Send + 'env>(
    graph: Graph<'env>,
    blocks: Vec<Stream<'env, B>>,
    case: Case,
    options: &Options,
) -> Result<(Ranking, Report), Error> {
    let bits = blocks.len().next_power_of_two().trailing_zeros();
    let mut tables: Vec<Vec<_>> = (0..1 << bits).map(|_| Vec::new()).collect();
    for (i, stream) in blocks.into_iter().enumerate() {
        let ins = input("block", stream.capacity(BLOCKS_AHEAD));
        let count = move |rx: Rx<B>, txs| counter(rx, txs, case);
        let streams = graph.process(&format!("counter{i}"), ins, outputs("table", 1 << bits), count);
        tables.iter_mut().zip(streams).for_each(|(to, stream)| to.push(stream));
    }
    let merge = |(part, streams): (usize, Vec<Stream<'env, _>>)| {
        let ins: Vec<_> =
            streams.into_iter().enumerate().map(|(i, s)| input(&format!("table{i}"), s)).collect();
        graph.process(&format!("merger{part}"), ins, (), move |rxs, ()| merger(rxs, part, bits))
    };
    let parts: Vec<_> = tables.into_iter().enumerate().map(merge).collect();
    let run = graph.run(options)?;
    Ok((Ranking::merge(run.take_all(parts)?), run.into_report()))
}

/// Counts the words of all blocks, and sends the table to all mergers.
async fn counter<B: AsRef<[u8]> + Send>(mut rx: Rx<B>, txs: Vec<Tx<Arc<Table>>>, case: Case) {
    let (mut table, mut folder) = (Table::new(), CaseFolder::default());
    while let Some(block) = rx.recv().await {
        table.add_text(folder.fold(block.as_ref(), case));
    }
    let table = Arc::new(table);
    for mut tx in txs {
        tx.send(table.clone()).await;
    }
}

/// Adds up part number `part` of `2^bits` of all tables, and sorts it.
async fn merger(rxs: Vec<Rx<Arc<Table>>>, part: usize, bits: u32) -> Value<Vec<Ranked>> {
    let mut tables = Vec::new();
    for mut rx in rxs {
        tables.extend(rx.recv().await);
    }
    if let ([table], 0) = (&tables[..], bits) {
        return Value(sorted(table));
    }
    let words: usize = tables.iter().map(|table| table.len()).sum();
    let mut all = Table::of_part(bits, words >> bits);
    tables.iter().for_each(|table| all.add_part(table, part));
    Value(sorted(&all))
}

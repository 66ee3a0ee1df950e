//! The network that counts locally and merges tables.

use std::io::{self, Read};
use std::sync::Arc;

use thalweg::embed::runtime::EmbedOptions;
use thalweg::{Error, Graph, Options, Report, Rx, Stream, Tx, Value, input, output};

use crate::blocks::BLOCK;
use crate::ranking::{Ranking, sorted};
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
    let (parts, report) = count_files(inputs, case, options, sorted)?;
    Ok((Ranking::merge(parts), report))
}

/// As [`count`], with what a function makes of the table of each part of the words, which have none in common.
pub(crate) fn count_files<I, R, X>(
    inputs: I,
    case: Case,
    options: &Options,
    end: impl Fn(&Table) -> X + Clone + Send,
) -> Result<(Vec<X>, Report), Error>
where
    I: IntoIterator<Item = io::Result<R>>,
    I::IntoIter: Send,
    R: Read + Send,
    X: Send,
{
    let graph = Graph::new();
    let blocks = files(&graph, inputs.into_iter(), BLOCK, options.workers());
    count_blocks(graph, blocks, case, options, end)
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
    let (parts, report) = count_blocks(graph, blocks, case, options, sorted)?;
    Ok((Ranking::merge(parts), report))
}

/// Adds a counter for each stream of blocks, and the mergers, and runs the graph. (More counters than workers would
/// balance the load better, but there would be more tables to merge.)
///
/// Each merger needs the tables of all counters. One process passes them on, so the number of channels is proportional
/// to that of workers, and not to its square. No time is lost: a merger can only begin when it has all tables.
fn count_blocks<'env, B: AsRef<[u8]> + Send + 'env, X: Send + 'env>(
    graph: Graph<'env>,
    blocks: Vec<Stream<'env, B>>,
    case: Case,
    options: &Options,
    end: impl Fn(&Table) -> X + Clone + Send + 'env,
) -> Result<(Vec<X>, Report), Error> {
    let bits = blocks.len().next_power_of_two().trailing_zeros();
    let count = |(i, stream): (usize, Stream<'env, B>)| {
        let ins = input("block", stream.capacity(BLOCKS_AHEAD));
        let count = move |rx: Rx<B>, tx| counter(rx, tx, case);
        input(&format!("table{i}"), graph.process(&format!("counter{i}"), ins, output("table"), count))
    };
    let tables: Vec<_> = blocks.into_iter().enumerate().map(count).collect();
    let all = graph.process("collect", tables, outputs("tables", 1 << bits), collect);
    let merge = |(part, tables): (usize, Stream<'env, _>)| {
        let end = end.clone();
        graph.process(&format!("merger{part}"), input("tables", tables), (), move |rx, ()| {
            merger(rx, part, bits, end)
        })
    };
    let parts: Vec<_> = all.into_iter().enumerate().map(merge).collect();
    let run = graph.run_with(options)?;
    Ok((run.take_all(parts)?, run.into_report()))
}

/// The tables of all counters.
type Tables = Arc<[Table]>;

/// Counts the words of all blocks, and sends the table.
async fn counter<B: AsRef<[u8]> + Send>(mut rx: Rx<B>, mut tx: Tx<Table>, case: Case) {
    let (mut table, mut folder) = (Table::new(), CaseFolder::default());
    while let Some(block) = rx.recv().await {
        table.add_text(folder.fold(block.as_ref(), case));
    }
    tx.send(table).await;
}

/// Sends the tables of all counters to all mergers.
async fn collect(rxs: Vec<Rx<Table>>, txs: Vec<Tx<Tables>>) {
    let mut tables = Vec::new();
    for mut rx in rxs {
        tables.extend(rx.recv().await);
    }
    let tables = Tables::from(tables);
    for mut tx in txs {
        tx.send(tables.clone()).await;
    }
}

/// Adds up part number `part` of `2^bits` of all tables.
async fn merger<X>(mut rx: Rx<Tables>, part: usize, bits: u32, end: impl Fn(&Table) -> X) -> Value<X> {
    let tables = rx.recv().await.unwrap_or_else(|| Tables::from([]));
    if let ([table], 0) = (&tables[..], bits) {
        return Value(end(table));
    }
    let words: usize = tables.iter().map(|table| table.len()).sum();
    let mut all = Table::of_part(bits, words >> bits);
    tables.iter().for_each(|table| all.add_part(table, part));
    Value(end(&all))
}

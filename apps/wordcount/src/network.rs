//! The network of processes.

use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use thalweg::{Builder, Error, Options, Report, Rx, Tx, input, output};

use crate::blocks::Blocks;
use crate::ranking::{Ranked, Ranking, sorted};
use crate::table::{Table, part};
use crate::words::Case;

/// Counters for each worker. More of them would even out what the cores get, and have as many more
/// tables merged.
const COUNTERS: usize = 1;
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
    let inputs = inputs.into_iter();
    let workers = options.workers();
    let (counters, mergers) = (workers * COUNTERS, workers);
    let parts: Mutex<Vec<Option<Vec<Ranked>>>> = Mutex::new((0..mergers).map(|_| None).collect());
    let report = {
        let mut graph = Builder::new();
        let blocks = graph
            .kernel("read", (), outputs("block", counters))
            .blocking()
            .process(move |(), txs: Vec<Tx<Vec<u8>>>| read(inputs, txs, case));
        let mut tables: Vec<Vec<_>> = (0..mergers).map(|_| Vec::new()).collect();
        for (i, stream) in blocks.into_iter().enumerate() {
            let name = format!("counter{i}");
            let ins = (input("block", stream.capacity(WAITING)),);
            let given = graph.process(&name, ins, outputs("table", mergers), |(rx,), txs| counter(rx, txs));
            tables.iter_mut().zip(given).for_each(|(of, stream)| of.push(stream));
        }
        for (mine, streams) in tables.into_iter().enumerate() {
            let ins: Vec<_> =
                streams.into_iter().enumerate().map(|(i, s)| input(&format!("table{i}"), s)).collect();
            let parts = &parts;
            graph.process(
                &format!("merger{mine}"),
                ins,
                (),
                move |rxs: Vec<Rx<Arc<Table>>>, ()| async move {
                    let part = merger(rxs, mine, mergers).await;
                    parts.lock().expect("nobody panics with it")[mine] = Some(part);
                },
            );
        }
        graph.build()?.run(options)?
    };
    let parts = parts.into_inner().expect("nobody panics with it");
    Ok((Ranking::merge(parts.into_iter().flatten().collect()), report))
}

/// So many ports of one kind.
fn outputs<T>(name: &str, count: usize) -> Vec<thalweg::GiveSpec<T>> {
    (0..count).map(|i| output(&format!("{name}{i}"))).collect()
}

/// Deals the blocks of all inputs to the counters in turn.
async fn read<I, R>(inputs: I, mut txs: Vec<Tx<Vec<u8>>>, case: Case) -> io::Result<()>
where
    I: Iterator<Item = io::Result<R>>,
    R: Read,
{
    let mut next = 0;
    for input in inputs {
        let mut blocks = Blocks::new(input?);
        while let Some(mut block) = blocks.next()? {
            if case == Case::Ignored {
                block.make_ascii_lowercase();
            }
            txs[next].send(block).await;
            next = (next + 1) % txs.len();
        }
    }
    Ok(())
}

/// Counts what it is given, and tells all mergers.
async fn counter(mut rx: Rx<Vec<u8>>, txs: Vec<Tx<Arc<Table>>>) {
    let mut table = Table::new();
    while let Some(block) = rx.recv().await {
        table.add_text(&block);
    }
    let table = Arc::new(table);
    for mut tx in txs {
        tx.send(table.clone()).await;
    }
}

/// Adds up its part of all tables, and puts it in order.
async fn merger(rxs: Vec<Rx<Arc<Table>>>, mine: usize, mergers: usize) -> Vec<Ranked> {
    let mut tables = Vec::new();
    for mut rx in rxs {
        tables.extend(rx.recv().await);
    }
    // Words that are frequent enough to matter are in all of them.
    let most = tables.iter().map(|table| table.len()).max().unwrap_or(0);
    let mut all = Table::with_room(most / mergers);
    tables.iter().for_each(|table| all.add_table(table, |hash| part(hash, mergers) == mine));
    sorted(&all)
}

//! The process that distributes the blocks of a text round-robin to several outputs.

use std::io::{self, Read};

use thalweg::node::PushSpec;
use thalweg::{Graph, Stream, Tx, output};

use crate::blocks::{Blocks, slices};

/// Distributes a text in memory to `to` streams, in blocks of about `size` bytes, which are slices of the text.
pub(crate) fn memory<'env>(
    graph: &Graph<'env>,
    text: &'env [u8],
    size: usize,
    to: usize,
) -> Vec<Stream<'env, &'env [u8]>> {
    graph.process("cut", (), outputs("block", to), move |(), mut txs: Vec<Tx<&'env [u8]>>| async move {
        for (block, to) in slices(text, size).zip((0..to).cycle()) {
            txs[to].send(block).await;
        }
    })
}

/// Reads the inputs one after the other and distributes their blocks of about `size` bytes to `to` streams.
pub(crate) fn files<'env, I, R>(
    graph: &Graph<'env>,
    inputs: I,
    size: usize,
    to: usize,
) -> Vec<Stream<'env, Vec<u8>>>
where
    I: Iterator<Item = io::Result<R>> + Send + 'env,
    R: Read + Send + 'env,
{
    graph
        .kernel("read", (), outputs("block", to))
        .blocking()
        .process(move |(), txs: Vec<Tx<Vec<u8>>>| read(inputs, size, txs))
}

async fn read<I, R>(inputs: I, size: usize, mut txs: Vec<Tx<Vec<u8>>>) -> io::Result<()>
where
    I: Iterator<Item = io::Result<R>>,
    R: Read,
{
    let mut next = 0;
    for input in inputs {
        let mut blocks = Blocks::new(input?, size);
        while let Some(block) = blocks.next()? {
            txs[next].send(block).await;
            next = (next + 1) % txs.len();
        }
    }
    Ok(())
}

/// `count` output ports with the names `name0`, `name1`, ...
pub(crate) fn outputs<T>(name: &str, count: usize) -> Vec<PushSpec<T>> {
    (0..count).map(|i| output(&format!("{name}{i}"))).collect()
}

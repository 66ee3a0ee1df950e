//! LZ77: compression by references to earlier bytes (J. Ziv and A. Lempel, 1977).
//!
//! ```text
//! read ─▶ compress ─▶ write          read ─▶ decompress ─▶ write
//! ```
//!
//! A reference leads to no byte before its block of [`BLOCK`] bytes, so blocks are compressed and decompressed in any order, and
//! the kernel between reader and writer is parallel. The writer has the blocks in their order. The format is that of
//! `src/lz77/format.rs`; the file depends on the text alone. Nothing is trusted that is read: a file that is not as the format
//! demands gives an [`Error`] with the byte, and no block takes more memory than its text.

use crate::Error;
use flate2::Compression;
use flate2::write::GzEncoder;
use format::{Blocks, Frame, HEADER, end, frame, read_up_to};
use matches::Matcher;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use thalweg::{Graph, Output, Stream, output};

mod bits;
mod block;
mod format;
mod matches;
mod text;

pub use text::input;

/// The bytes of a block, in which the window begins anew.
pub const BLOCK: usize = 16_384;

/// The bytes of a text, and those of its compressed file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The text.
    pub plain: u64,
    /// The compressed file.
    pub packed: u64,
}

impl Sizes {
    /// The bytes of the compressed file for each of the text.
    pub fn ratio(self) -> f64 {
        self.packed as f64 / self.plain as f64
    }
}

/// The compressor as a graph, which reads a text and writes a compressed file.
///
/// ```
/// use thalweg_pipelines::lz77;
///
/// let text = b"She sells sea shells by the sea shore. ".repeat(1000);
/// let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
/// let sizes = lz77::compressor(&text[..], &mut packed).run()?.into_value();
/// assert!(sizes.ratio() < 0.01);
/// lz77::decompressor(&packed[..], &mut unpacked).run()?;
/// assert!(unpacked == text);
/// # Ok::<(), thalweg::Error>(())
/// ```
pub fn compressor<'env>(
    mut from: impl Read + Send + 'env,
    mut to: impl Write + Send + 'env,
) -> Output<'env, Sizes> {
    let mut is_end = false;
    let blocks = reader(move || {
        if is_end {
            return Ok(None);
        }
        let block = next_block(&mut from)?;
        // An empty block is the end mark, for which the writer knows the number of bytes.
        is_end = block.is_empty();
        Ok(Some(block))
    });
    blocks
        .par_map_init(Matcher::new, |matcher, block: Vec<u8>| frame(&block, matcher))
        .named("compress")
        .for_each_with(Sizes::default(), move |sizes, frame| write_frame(sizes, &frame, &mut to))
        .named("write")
}

/// The decompressor as a graph, which reads a compressed file and writes its text. If the run fails, the text is not complete.
/// The error of a file that is not as the format demands is an [`Error`], as cause of the run's.
pub fn decompressor<'env>(
    from: impl Read + Send + 'env,
    mut to: impl Write + Send + 'env,
) -> Output<'env, Sizes> {
    let mut blocks = Blocks::new(from);
    let read = reader(move || blocks.next());
    read.kernel("decompress", output("block").push(1))
        .parallel(|blocks, out| {
            out.push(blocks.pop().unpack()?);
            Ok::<(), Error>(())
        })
        .for_each_with(UNPACKED, move |sizes, (block, takes)| write_block(sizes, &block, takes, &mut to))
        .named("write")
}

/// Adds a source of what a function reads, until it reads nothing.
fn reader<'env, T: Send + 'env>(
    mut next: impl FnMut() -> Result<Option<T>, Error> + Send + 'env,
) -> Stream<'env, T> {
    Graph::new().kernel("read", (), output("block").push(1)).sequential(move |(), out| {
        let Some(item) = next()? else { return Ok(ControlFlow::Break(())) };
        out.push(item);
        Ok::<_, Error>(ControlFlow::Continue(()))
    })
}

/// The next block of a text, which is empty at its end.
fn next_block(from: &mut impl Read) -> Result<Vec<u8>, Error> {
    let mut block = vec![0; BLOCK];
    let count = read_up_to(from, &mut block)?;
    block.truncate(count);
    Ok(block)
}

/// Writes a frame, or the end mark for that of an empty block.
fn write_frame(sizes: &mut Sizes, frame: &Frame, to: &mut impl Write) -> io::Result<()> {
    let mut write = |bytes: &[u8]| {
        sizes.packed += bytes.len() as u64;
        to.write_all(bytes)
    };
    if sizes.plain == 0 {
        write(&HEADER)?;
    }
    match frame.plain {
        0 => write(&end(sizes.plain)),
        plain => {
            sizes.plain += plain as u64;
            write(&frame.bytes)
        }
    }
}

/// The sizes before the first block of a compressed file.
const UNPACKED: Sizes = Sizes { plain: 0, packed: format::AROUND };

fn write_block(sizes: &mut Sizes, block: &[u8], takes: usize, to: &mut impl Write) -> io::Result<()> {
    sizes.plain += block.len() as u64;
    sizes.packed += takes as u64 + format::AROUND_BLOCK;
    to.write_all(block)
}

/// The compressor without a graph: block after block.
///
/// # Errors
/// [`Error::Io`] of the reader or the writer.
pub fn compress(mut from: impl Read, mut to: impl Write) -> Result<Sizes, Error> {
    let (mut sizes, mut matcher) = (Sizes::default(), Matcher::new());
    loop {
        let block = next_block(&mut from)?;
        write_frame(&mut sizes, &frame(&block, &mut matcher), &mut to)?;
        if block.is_empty() {
            return Ok(sizes);
        }
    }
}

/// The decompressor without a graph: block after block.
///
/// # Errors
/// [`Error::Format`] if the file is not as the format demands, [`Error::Io`] of the reader or the writer.
pub fn decompress(from: impl Read, mut to: impl Write) -> Result<Sizes, Error> {
    let (mut sizes, mut blocks) = (UNPACKED, Blocks::new(from));
    while let Some(packed) = blocks.next()? {
        let (block, takes) = packed.unpack()?;
        write_block(&mut sizes, &block, takes, &mut to)?;
    }
    Ok(sizes)
}

/// The bytes of a text in gzip's format at its default level, 6, by zlib-rs: to compare.
pub fn gzip_bytes(text: &[u8]) -> u64 {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(text).and_then(|()| encoder.finish()).expect("memory takes all bytes").len() as u64
}

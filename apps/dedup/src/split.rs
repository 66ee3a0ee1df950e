//! The first stage: cuts the input into coarse blocks.
//!
//! A block ends at the first content-defined cut at or after a minimum, at the first end of a file at or after that
//! minimum, or at a maximum. So after an insertion the block boundaries soon coincide again. Only the bytes after the
//! minimum are scanned, about one byte in 64 of default blocks, which keeps this sequential stage short.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use fastcdc::v2020::{Normalization, cut, select_masks};

use crate::block::{Block, Mark};
use crate::content::Content;
use crate::error::Doing;
use crate::observe::Observer;
use crate::params::BlockSizes;
use crate::pool::{Buffer, Pool};
use crate::walk::{Step, Walk};
use crate::{Params, Result};

/// Bytes read at a time after the minimum, and the average distance of content-defined cuts.
const STEP: usize = 64 << 10;
/// A block ends when the encodings of its entries take about this many bytes.
const ENTRY_BYTES: usize = 256 << 10;

/// What is being read.
enum Open<'a> {
    Stream(Box<dyn Read + Send + 'a>),
    File(Content),
}

/// An iterator over the blocks of the input.
pub struct Splitter<'a> {
    open: Option<Open<'a>>,
    walk: Option<Walk>,
    observer: Box<dyn Observer + 'a>,
    sizes: BlockSizes,
    mask: u64,
    pool: Arc<Pool>,
    records: Arc<Pool>,
    /// Bytes read after the last cut, which begin the next block.
    carry: Buffer,
    done: bool,
}

impl<'a> Splitter<'a> {
    /// Splits one stream of bytes.
    pub fn stream(input: impl Read + Send + 'a, params: &Params, observer: Box<dyn Observer + 'a>) -> Self {
        Self::new(Some(Open::Stream(Box::new(input))), None, params, observer)
    }

    /// Splits one regular file.
    pub(crate) fn file(content: Content, params: &Params, observer: Box<dyn Observer + 'a>) -> Self {
        Self::new(Some(Open::File(content)), None, params, observer)
    }

    /// Splits the files of the tree below `root`, one after the other. Skips the files with device and inode in
    /// `leave_out`, such as the archive being written. Reads extended attributes if `attributes` is set.
    pub fn tree(
        root: &Path,
        leave_out: Vec<(u64, u64)>,
        attributes: bool,
        params: &Params,
        observer: Box<dyn Observer + 'a>,
    ) -> Result<Self> {
        Ok(Self::new(None, Some(Walk::new(root, leave_out, attributes)?), params, observer))
    }

    fn new(
        open: Option<Open<'a>>,
        walk: Option<Walk>,
        params: &Params,
        observer: Box<dyn Observer + 'a>,
    ) -> Self {
        let pool = Pool::new();
        let (_, mask) = select_masks(STEP, Normalization::Level0);
        let carry = pool.take(0);
        let (sizes, records) = (params.block, Pool::new());
        Splitter { open, walk, observer, sizes, mask, pool, records, carry, done: false }
    }

    fn next_block(&mut self) -> Result<Option<Block>> {
        let (min, max) = (self.sizes.min as usize, self.sizes.max as usize);
        let mut bytes = self.pool.take(max.min(min + STEP));
        bytes.extend_from_slice(&self.carry);
        self.carry.clear();
        let mut block = Block { bytes, marks: Vec::new(), records: Arc::clone(&self.records) };
        let (mut entry_bytes, mut scanned) = (0, min);
        loop {
            let length = block.bytes.len();
            if self.open.is_none() {
                if length >= min || entry_bytes >= ENTRY_BYTES {
                    break;
                }
                let Some(size) = self.next_entry(&mut block)? else { break };
                entry_bytes += size;
            } else if let Some(at) = self.cut(&block.bytes, scanned) {
                self.carry.extend_from_slice(&block.bytes[at..]);
                block.bytes.truncate(at);
                break;
            } else if length >= max {
                break;
            } else {
                scanned = scanned.max(length);
                self.fill(&mut block.bytes, (length.max(min) + STEP).min(max))?;
            }
        }
        let empty = block.bytes.is_empty() && block.marks.is_empty();
        Ok((!empty).then_some(block))
    }

    /// The first content-defined cut at or after `from`.
    fn cut(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let scan = bytes.get(from..)?;
        let (_, at) = cut(scan, 0, 0, usize::MAX - 1, self.mask, self.mask, self.mask << 1, self.mask << 1);
        (at < scan.len()).then_some(from + at)
    }

    /// Reads what is open until `bytes` has length `target`, or to its end.
    fn fill(&mut self, bytes: &mut Vec<u8>, target: usize) -> Result<()> {
        let before = bytes.len();
        let want = target - before;
        bytes.reserve(want);
        let ended = match &mut self.open {
            None => return Ok(()),
            Some(Open::Stream(input)) => {
                let got = input.take(want as u64).read_to_end(bytes);
                got.doing(|| "reading the input".into())? < want
            }
            Some(Open::File(content)) => match content.read(want, bytes) {
                Ok(got) if got == want => false,
                Ok(_) => {
                    content.check().or_else(|changed| self.observer.failed(changed))?;
                    true
                }
                // Without a tree there is nothing else to pack.
                Err(error) if self.walk.is_none() => return Err(content.unreadable(error)),
                Err(error) => {
                    self.observer.failed(content.failed(error))?;
                    true
                }
            },
        };
        self.observer.bytes((bytes.len() - before) as u64);
        if ended {
            self.open = None;
        }
        Ok(())
    }

    /// Adds the next entry of the tree to `block` and opens its file. Returns the approximate size of the encoded
    /// entry, or `None` at the end of the tree.
    fn next_entry(&mut self, block: &mut Block) -> Result<Option<usize>> {
        let Some(walk) = &mut self.walk else { return Ok(None) };
        let Some(step) = walk.step(&mut *self.observer)? else { return Ok(None) };
        let Step { entry, content } = step;
        self.open = content.map(Open::File);
        let size = entry.weight();
        block.marks.push(Mark { at: block.bytes.len() as u32, entry });
        Ok(Some(size))
    }
}

impl Iterator for Splitter<'_> {
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let block = self.next_block().transpose();
        self.done = !matches!(block, Some(Ok(_)));
        block
    }
}

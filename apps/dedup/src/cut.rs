//! Cuts a block into content-defined chunks.
//!
//! A chunk never spans two files, so two copies of a file have the same chunks wherever they are. Small chunks cost
//! little, since the unique chunks of a block are compressed together.

use std::sync::Arc;

use fastcdc::v2020::FastCDC;

use crate::block::{Block, Chunk, Piece};
use crate::params::ChunkSizes;

/// Cuts one block into chunks: the second stage.
pub fn chunks(block: Block, sizes: &ChunkSizes) -> Vec<Chunk> {
    let pieces = pieces(&block, sizes);
    let block = Arc::new(block);
    pieces.into_iter().map(|piece| Chunk { block: Arc::clone(&block), piece }).collect()
}

/// Cuts one block into chunks, as ranges without a reference to the block.
pub(crate) fn pieces(block: &Block, sizes: &ChunkSizes) -> Vec<Piece> {
    let length = block.bytes.len() as u32;
    let mut pieces = Vec::with_capacity(block.marks.len() + (length / sizes.avg) as usize * 2);
    let (mut at, mut mark) = (0, 0);
    loop {
        let first = mark;
        while block.marks.get(mark as usize).is_some_and(|m| m.at == at) {
            mark += 1;
        }
        if at == length {
            if mark > first {
                pieces.push(Piece { range: at..at, marks: first..mark, last: false });
            }
            break;
        }
        let end = block.marks.get(mark as usize).map_or(length, |m| m.at);
        cut_file(block, at..end, first..mark, sizes, &mut pieces);
        at = end;
    }
    if let Some(piece) = pieces.last_mut() {
        piece.last = true;
    }
    pieces
}

/// Cuts the part of one file into chunks. The entries `marks` go with the first chunk.
fn cut_file(
    block: &Block,
    file: std::ops::Range<u32>,
    marks: std::ops::Range<u32>,
    sizes: &ChunkSizes,
    pieces: &mut Vec<Piece>,
) {
    let bytes = &block.bytes[file.start as usize..file.end as usize];
    let (min, avg, max) = (sizes.min as usize, sizes.avg as usize, sizes.max as usize);
    let mut marks = marks;
    for chunk in FastCDC::new(bytes, min, avg, max) {
        let start = file.start + chunk.offset as u32;
        pieces.push(Piece { range: start..start + chunk.length as u32, marks: marks.clone(), last: false });
        marks.start = marks.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Mark;
    use crate::entry::Entry;
    use crate::pool::Pool;

    fn block(length: usize, marks: &[u32]) -> Block {
        let mut bytes = Pool::new().take(length);
        bytes.extend((0..length).map(|i| (i * i / 7) as u8));
        let marks = marks.iter().map(|&at| Mark { at, entry: Entry::Up }).collect();
        Block { bytes, marks }
    }

    fn check(length: usize, marks: &[u32]) -> Vec<Piece> {
        let sizes = ChunkSizes { min: 64, avg: 256, max: 1024 };
        let block = block(length, marks);
        let pieces = pieces(&block, &sizes);
        let (mut at, mut mark) = (0, 0);
        for piece in &pieces {
            assert_eq!(piece.range.start, at);
            assert_eq!(piece.marks.start, mark);
            assert!(piece.marks.clone().all(|m| marks[m as usize] == at));
            assert!(!marks.iter().any(|m| piece.range.start < *m && *m < piece.range.end));
            (at, mark) = (piece.range.end, piece.marks.end);
        }
        assert_eq!((at as usize, mark as usize), (length, marks.len()));
        assert_eq!(pieces.iter().filter(|p| p.last).count(), usize::from(!pieces.is_empty()));
        pieces
    }

    #[test]
    fn chunks_cover_the_block_and_do_not_span_files() {
        check(0, &[]);
        check(1, &[]);
        check(10_000, &[]);
        assert_eq!(check(0, &[0, 0, 0]).len(), 1);
        check(10_000, &[0, 0, 1, 5000, 5000, 9999, 10_000, 10_000]);
    }
}

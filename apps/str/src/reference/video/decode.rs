//! Decodes bits to frames.

use super::Size;
use super::bits::Reader;
use super::block::{Block, put, reconstruct, zigzag};

/// The complete frames in `bits`.
pub fn decode(bits: &[bool], size: Size) -> Vec<i32> {
    let mut reader = Reader(bits);
    let mut film = Vec::new();
    let mut before = vec![0; size.width * size.height];
    while let Some(frame) = frame(&mut reader, size, &before) {
        film.extend(&frame);
        before = frame;
    }
    film
}

fn frame(reader: &mut Reader<'_>, size: Size, before: &[i32]) -> Option<Vec<i32>> {
    let mut frame = vec![0; before.len()];
    let intra = reader.fixed(1)? == 1;
    let quantiser = reader.fixed(5)? as i32;
    for (left, top) in size.blocks() {
        let block = block(reader, intra)?;
        put(&mut frame, size, left, top, &reconstruct(&block, quantiser, before, size, left, top));
    }
    Some(frame)
}

fn block(reader: &mut Reader<'_>, intra: bool) -> Option<Block> {
    let (across, down) = if intra { (0, 0) } else { (reader.signed()?, reader.signed()?) };
    let mut levels = [0; 64];
    let mut indices = zigzag().into_iter();
    loop {
        let run = reader.unsigned()?;
        if run == 0 {
            return Some(Block { intra, across, down, levels });
        }
        let level = reader.signed()?;
        if let Some(index) = indices.nth(run as usize - 1) {
            levels[index] = level;
        }
    }
}

//! Encodes frames to bits.

use super::Size;
use super::bits::Writer;
use super::block::{Block, pixel, put, reconstruct, wave, zigzag};

/// The range of the motion search in pixels.
const SEARCH_RANGE: i32 = 3;

/// The bits of a film, with an intra frame every `group` frames.
pub fn encode(film: &[i32], size: Size, quantiser: u32, group: usize) -> Vec<bool> {
    let mut writer = Writer::default();
    let mut before = vec![0; size.width * size.height];
    for (number, frame) in film.chunks_exact(size.width * size.height).enumerate() {
        let intra = number % group == 0;
        writer.fixed(1, u32::from(intra));
        writer.fixed(5, quantiser);
        let mut now = before.clone();
        for (left, top) in size.blocks() {
            let block = choose(frame, &before, size, (left, top), intra, quantiser as i32);
            write(&mut writer, &block);
            put(&mut now, size, left, top, &reconstruct(&block, quantiser as i32, &before, size, left, top));
        }
        before = now;
    }
    writer.0
}

fn choose(
    frame: &[i32],
    before: &[i32],
    size: Size,
    (left, top): (usize, usize),
    intra: bool,
    quantiser: i32,
) -> Block {
    let difference = |across: i32, down: i32| -> [i32; 64] {
        std::array::from_fn(|at| {
            let (x, y) = ((left + at % 8) as i32, (top + at / 8) as i32);
            let base = if intra { 128 } else { pixel(before, size, x + across, y + down) };
            pixel(frame, size, x, y) - base
        })
    };
    let cost = |(across, down): &(i32, i32)| difference(*across, *down).iter().map(|x| x.abs()).sum::<i32>();
    let motions = (-SEARCH_RANGE..=SEARCH_RANGE)
        .flat_map(|down| (-SEARCH_RANGE..=SEARCH_RANGE).map(move |across| (across, down)));
    let motion = if intra { None } else { motions.min_by_key(cost) };
    let (across, down) = motion.unwrap_or((0, 0));
    let coefficients = transform(&difference(across, down));
    let step = |at: usize| if intra && at == 0 { 8 } else { 2 * quantiser };
    let levels = std::array::from_fn(|at| (coefficients[at] / f64::from(step(at))).round() as i32);
    Block { intra, across, down, levels }
}

fn transform(pixels: &[i32; 64]) -> [f64; 64] {
    std::array::from_fn(|to| {
        let parts = pixels.iter().enumerate();
        parts.map(|(at, x)| f64::from(*x) * wave(to / 8, at / 8) * wave(to % 8, at % 8)).sum()
    })
}

fn write(writer: &mut Writer, block: &Block) {
    if !block.intra {
        writer.signed(block.across);
        writer.signed(block.down);
    }
    let mut run = 1;
    for index in zigzag() {
        if block.levels[index] == 0 {
            run += 1;
        } else {
            writer.unsigned(run);
            writer.signed(block.levels[index]);
            run = 1;
        }
    }
    writer.unsigned(0);
}

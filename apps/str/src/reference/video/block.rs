//! Blocks of a frame and their reconstruction.

use super::Size;
use std::f64::consts::PI;

/// A coded block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Block {
    pub(super) intra: bool,
    /// The horizontal component of the motion vector.
    pub(super) across: i32,
    /// The vertical component of the motion vector.
    pub(super) down: i32,
    /// The levels, line by line.
    pub(super) levels: [i32; 64],
}

/// The indices of the coefficients in zigzag order: along diagonals, in alternating direction.
pub(super) fn zigzag() -> Vec<usize> {
    let mut indices: Vec<usize> = (0..64).collect();
    indices.sort_by_key(|at| {
        let (down, across) = (at / 8, at % 8);
        (down + across, if (down + across) % 2 == 0 { across } else { down })
    });
    indices
}

pub(super) fn wave(k: usize, i: usize) -> f64 {
    let scale = if k == 0 { 0.125f64.sqrt() } else { 0.5 };
    scale * (PI * k as f64 * (2 * i + 1) as f64 / 16.0).cos()
}

/// The inverse cosine transform of integers.
fn inverse(coefficients: &[i32; 64]) -> [i32; 64] {
    let once = |from: &[i32; 64], from_step: usize, to_step: usize| {
        let mut to = [0; 64];
        for (line, i) in (0..64).map(|at| (at / 8, at % 8)) {
            let sum: i32 = (0..8)
                .map(|k| (4096.0 * wave(k, i)).round() as i32 * from[line * to_step + k * from_step])
                .sum();
            to[line * to_step + i * from_step] = (sum + 2048) >> 12;
        }
        to
    };
    once(&once(coefficients, 8, 1), 1, 8)
}

/// The pixel at (`x`, `y`). Outside the frame, the nearest pixel of its edge.
pub(super) fn pixel(frame: &[i32], size: Size, x: i32, y: i32) -> i32 {
    let x = x.clamp(0, size.width as i32 - 1) as usize;
    let y = y.clamp(0, size.height as i32 - 1) as usize;
    frame[y * size.width + x]
}

/// The reconstructed pixels of a block.
pub(super) fn reconstruct(
    block: &Block,
    quantiser: i32,
    before: &[i32],
    size: Size,
    left: usize,
    top: usize,
) -> [i32; 64] {
    let mut coefficients = block.levels.map(|level| level * 2 * quantiser);
    if block.intra {
        coefficients[0] = block.levels[0] * 8;
    }
    let difference = inverse(&coefficients);
    std::array::from_fn(|at| {
        let (x, y) = ((left + at % 8) as i32 + block.across, (top + at / 8) as i32 + block.down);
        let base = if block.intra { 128 } else { pixel(before, size, x, y) };
        (base + difference[at]).clamp(0, 255)
    })
}

/// Copies the pixels of a block into a frame.
pub(super) fn put(frame: &mut [i32], size: Size, left: usize, top: usize, pixels: &[i32; 64]) {
    for (line, pixels) in pixels.chunks(8).enumerate() {
        let start = (top + line) * size.width + left;
        frame[start..start + 8].copy_from_slice(pixels);
    }
}

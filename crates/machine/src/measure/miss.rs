//! The cost of a miss of the smallest cache of one core above the first level: of blocks read in order, and of blocks at random
//! of which each says where the next is.

use super::time_per_call;
use crate::Machine;
use std::hint::black_box;
use std::time::Duration;

/// The bytes of the cache where none is known.
const USUAL: u64 = 256 << 10;
/// The bytes of the largest cache for which it is measured, so that the buffers stay small.
const LARGEST: u64 = 8 << 20;
/// The words of a block of 64 bytes.
const BLOCK: usize = 8;
/// How many times the cache the buffer is that misses it. A larger one would also miss the cache behind it.
const TIMES: u64 = 4;

/// Nanoseconds of a miss, in order and at random; each measurement takes a quarter of the time. `None` for a cache that is too
/// large, or without memory.
pub(super) fn miss(machine: &Machine, time: Duration) -> Option<(f64, f64)> {
    let cache = machine.private_cache().unwrap_or(USUAL);
    if !(16 << 10..=LARGEST).contains(&cache) {
        return None;
    }
    let (small, large) = (ring(cache / 4)?, ring(cache * TIMES)?);
    let difference = |walk: fn(&[usize]) -> usize| {
        let each = |ring: &[usize]| {
            let blocks = (ring.len() / BLOCK) as f64;
            time_per_call(time / 4, || _ = black_box(walk(black_box(ring)))) / blocks
        };
        // What fits into the cache costs no miss.
        (each(&large) - each(&small)).max(0.1)
    };
    Some((difference(in_order), difference(at_random)))
}

/// Reads a word of every block, in order.
fn in_order(ring: &[usize]) -> usize {
    ring.iter().step_by(BLOCK).fold(0, |sum, word| sum.wrapping_add(*word))
}

/// Follows the words from block to block, through all of them.
fn at_random(ring: &[usize]) -> usize {
    (0..ring.len() / BLOCK).fold(0, |at, _| ring[at])
}

/// Words of which the first of each block is the index of another block's first, so that all blocks are one ring in an order
/// that no hardware guesses. `None` if there is no memory.
fn ring(bytes: u64) -> Option<Vec<usize>> {
    let blocks = usize::try_from(bytes).ok()? / (BLOCK * size_of::<usize>());
    let mut words = Vec::new();
    words.try_reserve_exact(blocks * BLOCK).ok()?;
    words.extend(0..blocks * BLOCK);
    // A shuffle that makes one cycle (Sattolo), with the numbers of Knuth's MMIX.
    let mut random = 1_u64;
    for last in (1..blocks).rev() {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = ((random >> 33) as usize) % last;
        words.swap(last * BLOCK, other * BLOCK);
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_visits_every_block_once() {
        let ring = ring(64 * 1000).unwrap();
        let (mut at, mut seen) = (0, vec![false; 1000]);
        for _ in 0..1000 {
            assert!(at % BLOCK == 0 && !std::mem::replace(&mut seen[at / BLOCK], true));
            at = ring[at];
        }
        assert_eq!((at, at_random(&ring)), (0, 0));
    }

    #[test]
    fn caches_that_are_too_large_are_not_measured() {
        let text = "thalweg-machine 1\ndomains 1\ncores 1\ncache 2 size 64 MiB per core\n";
        assert_eq!(miss(&Machine::read(text).unwrap(), Duration::ZERO), None);
    }
}

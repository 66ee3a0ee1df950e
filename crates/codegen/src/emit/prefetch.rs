//! Prefetching of input for lanes within a block (`across`).
//!
//! Such a block reads its input in order, but in bursts: the first of many instances loads all that they
//! share, and nothing is loaded while the others compute. So the hardware prefetcher comes too late where the
//! input is not in a near cache. The lines are prefetched one by one between operations, so that none waits
//! for the others; a prefetch beyond the end of memory has no effect.

use crate::unrolled::Border;
use crate::unrolled::parts::Class;

/// Cells that all entrances together are prefetched ahead: a quarter of a first-level cache of 32 KB.
const CELLS: u32 = 2048;

/// Cells of one entrance from which on they are prefetched into the second-level cache.
const MANY: u32 = 4096;

/// Cells of a cache line.
const LINE: u32 = 16;

/// The class that prefetches: the one with the most operations.
pub(super) fn busiest(classes: &[Class]) -> usize {
    let work = |at: &usize| classes[*at].instances * classes[*at].steps.len();
    (0..classes.len()).rev().max_by_key(work).unwrap_or(0)
}

/// The prefetches of an iteration, if there are `iterations` iterations in which `i` grows by `beside`; the
/// entrances are `r0` and so on.
pub(super) fn requests(entrances: &[Border], iterations: u32, beside: u32) -> Vec<String> {
    let mut requests = Vec::new();
    for (number, Border { advance, .. }) in entrances.iter().enumerate().filter(|(_, from)| from.advance > 0)
    {
        let far = (CELLS / entrances.len() as u32).max(1).next_multiple_of(*advance);
        let cache = if far > MANY { 2 } else { 3 };
        let lines = advance.div_ceil(LINE * iterations);
        let iteration = if lines > 1 { lines * LINE } else { advance / iterations };
        requests.extend((0..lines).map(|line| {
            format!(
                "__builtin_prefetch(r{number} + {} + i / {beside} * {iteration}, 0, {cache});",
                far + line * LINE
            )
        }));
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Kind;

    fn entrance(advance: u32) -> Border {
        Border { buffer: 0, kind: Kind::Float, first: 0, advance, cells: advance, offset: 0, before: 0 }
    }

    /// The distances from `r0` of the prefetches of all iterations, in cells.
    fn asked(entrances: &[Border], iterations: u32, beside: u32) -> Vec<u32> {
        let mut all = Vec::new();
        for iteration in 0..iterations {
            for text in requests(entrances, iterations, beside).iter().filter(|text| text.contains("(r0 ")) {
                let number = |from: &str| {
                    let rest = text.split_once(from).unwrap().1;
                    rest.split([' ', ',']).next().unwrap().parse::<u32>().unwrap()
                };
                all.push(number("r0 + ") + iteration * number(&format!("i / {beside} * ")));
            }
        }
        all
    }

    #[test]
    fn each_line_of_a_later_steady_state_is_prefetched_once() {
        let lines: Vec<u32> = (0..32).map(|line| 2048 + 16 * line).collect();
        assert_eq!(asked(&[entrance(512)], 2, 8), lines);
        assert_eq!(asked(&[entrance(512)], 32, 1), lines);
        assert_eq!(asked(&[entrance(64)], 1, 8), lines[..4]);
    }

    #[test]
    fn entrances_share_the_cache_and_large_ones_go_to_the_second_level() {
        assert_eq!(asked(&[entrance(64), entrance(64)], 1, 8)[0], 1024);
        assert_eq!(asked(&[entrance(8192)], 4, 8).len(), 512);
        assert!(requests(&[entrance(8192)], 4, 8)[0].ends_with(", 0, 2);"));
        assert!(asked(&[entrance(0)], 4, 8).is_empty());
    }
}

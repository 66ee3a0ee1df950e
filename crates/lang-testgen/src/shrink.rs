//! Shrinking: finds small programs that have a property.

use super::{Choices, Options, Program, generate};

/// The limit of programs tried.
const MAX_TRIES: u32 = 4000;

/// A small program for which `shows` holds, starting from the choices of one for which it does.
///
/// Drops ranges of choices or sets them to 0, with decreasing lengths, while that helps.
pub fn smallest(taken: &[u8], options: &Options, shows: &dyn Fn(&Program) -> bool) -> Program {
    let program = |bytes: &[u8]| {
        let mut choices = Choices::of(bytes);
        let program = generate(&mut choices, options);
        (program, choices.taken().to_vec())
    };
    let mut best = program(taken);
    let mut tries = 0;
    let mut length = best.1.len();
    while length > 0 {
        let mut at = 0;
        let mut helped = false;
        while at < best.1.len() && tries < MAX_TRIES {
            let end = (at + length).min(best.1.len());
            let without = [&best.1[..at], &best.1[end..]].concat();
            let zeroed: Vec<u8> =
                (0..).zip(&best.1).map(|(i, byte)| if (at..end).contains(&i) { 0 } else { *byte }).collect();
            let smaller = [without, zeroed].into_iter().map(|bytes| program(&bytes)).find(|candidate| {
                tries += 1;
                simpler(&candidate.1, &best.1) && shows(&candidate.0)
            });
            match smaller {
                Some(found) => (best, helped) = (found, true),
                None => at += length,
            }
        }
        length = if helped && length < 8 { length } else { length / 2 };
    }
    best.0
}

/// Whether a sequence is shorter, or of equal length and smaller.
fn simpler(candidate: &[u8], best: &[u8]) -> bool {
    (candidate.len(), candidate) < (best.len(), best)
}

//! Small programs that still show something.

use super::{Choices, Options, Program, generate};

/// How many programs are tried.
const TRIES: u32 = 4000;

/// A small program that `shows` still holds of, from the choices of one of which it does.
///
/// Stretches of the choices are left out or set to 0, shorter and shorter ones, as long as that helps.
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
        while at < best.1.len() && tries < TRIES {
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

/// Shorter, or as long and smaller.
fn simpler(candidate: &[u8], best: &[u8]) -> bool {
    (candidate.len(), candidate) < (best.len(), best)
}

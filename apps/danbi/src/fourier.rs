//! The fast Fourier transform of 64 numbers, by J. W. Cooley and J. W. Tukey with decimation in time: numbers in bit-reversed
//! order, then butterflies of 2, 4, ... 64 numbers.

use crate::Complex;
use crate::block::BLOCK;
use crate::single::{cos, sin};
use std::f32::consts::PI;

/// The items of a transform.
pub(crate) type Block = [Complex; BLOCK];

/// The lengths whose halves are put in the order of even and odd indices: 64, 32, ... 4.
pub(crate) const REORDERED: [usize; 5] = [64, 32, 16, 8, 4];

/// The lengths of the butterflies.
pub(crate) const COMBINED: [usize; 6] = [2, 4, 8, 16, 32, 64];

/// The place in a block that each of its items comes from.
pub(crate) type Order = [usize; BLOCK];

/// The order that puts each `length` items so that the even places are first, then the odd ones.
pub(crate) fn evens_first(length: usize) -> Order {
    std::array::from_fn(|at| {
        let (begin, place) = (at - at % length, at % length);
        begin + 2 * place % length + 2 * place / length
    })
}

/// A block in another order.
pub(crate) fn reorder<T: Copy>(block: &[T; BLOCK], order: &Order) -> [T; BLOCK] {
    order.map(|place| block[place % BLOCK]) // the remainder shows the compiler that there is such a place
}

/// The order that all five reorderings make.
pub(crate) fn bit_reversed() -> Order {
    let same = std::array::from_fn(|at| at);
    REORDERED.iter().fold(same, |order, length| reorder(&order, &evens_first(*length)))
}

/// The factors of butterflies of `length` numbers, of which there are half as many. The transform has `sign` in its exponent.
pub(crate) fn factors(length: usize, sign: f32) -> Vec<Complex> {
    let factor = |i: usize| {
        let angle = 2.0 * PI * i as f32 / length as f32;
        Complex::new(cos(angle), sign * sin(angle))
    };
    (0..length / 2).map(factor).collect()
}

/// Combines each two transforms of `factors.len()` numbers to one.
pub(crate) fn combine(block: &mut Block, factors: &[Complex]) {
    for part in block.chunks_exact_mut(2 * factors.len()) {
        let (evens, odds) = part.split_at_mut(factors.len());
        for ((even, odd), factor) in evens.iter_mut().zip(odds).zip(factors) {
            let turned = *factor * *odd;
            (*even, *odd) = (*even + turned, *even - turned);
        }
    }
}

/// The transform by its recursive definition, of any power of two of numbers.
pub(crate) fn transform(numbers: &[Complex], sign: f32) -> Vec<Complex> {
    if let [_] = numbers {
        return numbers.to_vec();
    }
    let half =
        |first: usize| transform(&numbers.iter().skip(first).step_by(2).copied().collect::<Vec<_>>(), sign);
    let (evens, odds) = (half(0), half(1));
    let turned = |i: usize| {
        let angle = 2.0 * PI * i as f32 / numbers.len() as f32;
        Complex::new(cos(angle), sign * sin(angle)) * odds[i]
    };
    let sums = (0..evens.len()).map(|i| evens[i] + turned(i));
    sums.chain((0..evens.len()).map(|i| evens[i] - turned(i))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reorderings_reverse_the_bits() {
        for (at, index) in bit_reversed().into_iter().enumerate() {
            assert_eq!(index, (at as u8).reverse_bits() as usize >> 2, "{at}");
        }
    }
}

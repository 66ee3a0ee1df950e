//! Coders and decoders, with exact results.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The run-length code of `numbers`: pairs of a number and the length of its run, at most `longest`.
pub fn encode_runs(numbers: &[i32], longest: usize) -> Vec<i32> {
    let runs = numbers.chunk_by(|a, b| a == b).flat_map(|run| run.chunks(longest));
    runs.flat_map(|run| [run[0], run.len() as i32]).collect()
}

/// The numbers of a run-length code.
pub fn decode_runs(pairs: &[i32]) -> Vec<i32> {
    pairs.chunks_exact(2).flat_map(|pair| std::iter::repeat_n(pair[0], pair[1] as usize)).collect()
}

/// The numbers of an LZ77 code: triples of distance, length and number. Returns `None` if a distance exceeds `window` or
/// a length exceeds `longest`.
pub fn decode_matches(triples: &[i32], window: usize, longest: usize) -> Option<Vec<i32>> {
    let mut numbers: Vec<i32> = Vec::new();
    for triple in triples.chunks_exact(3) {
        let (distance, length) = (usize::try_from(triple[0]).ok()?, usize::try_from(triple[1]).ok()?);
        if distance > window || length > longest || distance == 0 && length > 0 {
            return None;
        }
        for _ in 0..length {
            numbers.push(numbers[numbers.len().checked_sub(distance)?]);
        }
        numbers.push(triple[2]);
    }
    Some(numbers)
}

/// The LZ77 code of `numbers`, as triples, by another method than the program's: it takes the most distant match of at
/// least 3 numbers.
pub fn encode_matches(numbers: &[i32], window: usize, longest: usize) -> Vec<i32> {
    let mut triples = Vec::new();
    let mut at = 0;
    while at < numbers.len() {
        let found = (1..=at.min(window)).rev().find_map(|distance| {
            let rest = numbers[at..numbers.len() - 1].iter().zip(&numbers[at - distance..]);
            let length = rest.take(longest).take_while(|(a, b)| a == b).count();
            (length >= 3).then_some((distance, length))
        });
        let (distance, length) = found.unwrap_or((0, 0));
        triples.extend([distance as i32, length as i32, numbers[at + length]]);
        at += length + 1;
    }
    triples
}

/// A prefix code: for each symbol, the number of bits, and the bits as a number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code(pub Vec<(u32, u32)>);

impl Code {
    /// The canonical Huffman code for these weights. Of trees with equal weights, the one created first is merged first.
    pub fn huffman(weights: &[u32]) -> Code {
        let count = weights.len();
        let mut heap: BinaryHeap<_> = weights.iter().enumerate().map(|(i, w)| Reverse((*w, i))).collect();
        let mut parents = vec![0; 2 * count];
        for node in count..2 * count - 1 {
            let mut weight = 0;
            for Reverse((w, i)) in [heap.pop(), heap.pop()].into_iter().flatten() {
                weight += w;
                parents[i] = node;
            }
            heap.push(Reverse((weight, node)));
        }
        let depth = |leaf: usize| {
            std::iter::successors(Some(leaf), |node| (*node != 2 * count - 2).then(|| parents[*node])).count()
                - 1
        };
        Code::canonical(&(0..count).map(|leaf| depth(leaf) as u32).collect::<Vec<_>>())
    }

    fn canonical(lengths: &[u32]) -> Code {
        let mut symbols: Vec<usize> = (0..lengths.len()).collect();
        symbols.sort_by_key(|symbol| lengths[*symbol]);
        let mut codes = vec![(0, 0); lengths.len()];
        let (mut next, mut length) = (0, 0);
        for symbol in symbols {
            next <<= lengths[symbol] - length;
            length = lengths[symbol];
            codes[symbol] = (length, next);
            next += 1;
        }
        Code(codes)
    }

    /// The bits of symbols.
    pub fn encode(&self, symbols: &[i32]) -> Vec<bool> {
        let bits = |symbol: &i32| {
            let (length, code) = self.0[*symbol as usize];
            (0..length).rev().map(move |i| code >> i & 1 == 1)
        };
        symbols.iter().flat_map(bits).collect()
    }

    /// The symbols of bits, up to and including `end`.
    pub fn decode(&self, bits: &[bool], end: i32) -> Vec<i32> {
        let mut symbols = Vec::new();
        let mut read = (0, 0);
        for bit in bits {
            read = (read.0 + 1, read.1 << 1 | u32::from(*bit));
            if let Some(symbol) = self.0.iter().position(|code| *code == read) {
                symbols.push(symbol as i32);
                if symbol as i32 == end {
                    break;
                }
                read = (0, 0);
            }
        }
        symbols
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    #[test]
    fn codes_have_inverses() {
        let numbers = generate::runs(1, 500, 300);
        assert_eq!(decode_runs(&encode_runs(&numbers, 255)), numbers);
        let text = generate::text(2, 500);
        assert_eq!(decode_matches(&encode_matches(&text, 256, 32), 256, 32).unwrap(), text);
        let code = Code::huffman(&[3, 1, 4, 1, 5]);
        assert_eq!(code.decode(&code.encode(&[0, 1, 2, 3, 0, 4]), 4), [0, 1, 2, 3, 0, 4]);
    }

    #[test]
    fn a_huffman_code_is_optimal() {
        // The example of RFC 1951, section 3.2.2: lengths 2, 1, 3, 3.
        let code = Code::huffman(&[2, 4, 1, 1]);
        assert_eq!(code.0, [(2, 0b10), (1, 0b0), (3, 0b110), (3, 0b111)]);
    }
}

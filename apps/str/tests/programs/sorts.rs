//! Sorts, compared with the standard library.

use crate::run::run;
use thalweg_str::generate;

fn sorted(numbers: &[i32], size: usize) -> Vec<i32> {
    let mut numbers = numbers.to_vec();
    numbers.chunks_mut(size).for_each(<[i32]>::sort_unstable);
    numbers
}

#[test]
fn the_bitonic_network_sorts() {
    for size in [2, 4, 32] {
        let numbers = generate::integers(1, 5 * size);
        let result: Vec<i32> = run("bitonic_sort", &[("SIZE", size.to_string())], &numbers);
        assert_eq!(result, sorted(&numbers, size));
    }
}

#[test]
fn the_bitonic_network_sorts_all_blocks_of_bits() {
    // The 0-1 principle: a sorting network that sorts all blocks of zeros and ones sorts all blocks.
    let numbers: Vec<i32> = (0..256).flat_map(|bits| (0..8).map(move |i| bits >> i & 1)).collect();
    let result: Vec<i32> = run("bitonic_sort", &[("SIZE", "8".to_owned())], &numbers);
    assert_eq!(result, sorted(&numbers, 8));
}

#[test]
fn the_radix_sort_sorts() {
    for (size, bits) in [(64, 4), (10, 8), (33, 1)] {
        let mut numbers = generate::integers(2, 2 * size);
        numbers[1] = i32::MIN;
        numbers[2] = i32::MAX;
        numbers[3] = numbers[0];
        let changes = [("SIZE", size.to_string()), ("BITS", bits.to_string())];
        let result: Vec<i32> = run("radix_sort", &changes, &numbers);
        assert_eq!(result, sorted(&numbers, size));
    }
}

//! Sums of products.

/// The sums that are computed side by side, so that the processor need not wait for each addition.
const LANES: usize = 8;

/// The sum of the products of two vectors. The order of the additions depends on the length alone.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::dot;

    #[test]
    fn every_number_counts_once() {
        for length in 0..40 {
            let numbers: Vec<f64> = (1..=length).map(f64::from).collect();
            let expected: u32 = (1..=length as u32).map(|n| n * n).sum();
            assert_eq!(dot(&numbers, &numbers), f64::from(expected), "{length}");
        }
    }
}

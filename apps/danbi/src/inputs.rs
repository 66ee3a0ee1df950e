//! Inputs: their sizes, which are those of the paper's Table III times a scale, and noise.

/// The number of units of `bytes` bytes in an input of `megabytes` million bytes times `scale`, at least `least`.
///
/// # Panics
/// If `scale` is negative, or the input would be larger than the address space.
pub(crate) fn units(megabytes: u32, scale: f64, bytes: usize, least: usize) -> usize {
    let size = f64::from(megabytes) * 1e6 * scale;
    assert!((0.0..usize::MAX as f64).contains(&size), "no input has {scale} times {megabytes} MB");
    ((size / bytes as f64) as usize).max(least)
}

/// `count` items that `item` makes of numbers between -1 and 1.
pub(crate) fn noise<T>(
    count: usize,
    seed: u64,
    mut item: impl FnMut(&mut dyn FnMut() -> f32) -> T,
) -> Vec<T> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut number = || 2.0 * random.f32() - 1.0;
    (0..count).map(|_| item(&mut number)).collect()
}

#[cfg(test)]
mod tests {
    use super::units;

    #[test]
    fn sizes_are_those_of_the_table_times_the_scale() {
        assert_eq!(units(98, 1.0, 4, 1), 24_500_000);
        assert_eq!(units(98, 0.001, 4, 1), 24_500);
        assert_eq!(units(98, 0.0, 4, 1000), 1000);
    }

    #[test]
    #[should_panic(expected = "-1 times 98 MB")]
    fn a_negative_scale_is_refused() {
        units(98, -1.0, 4, 1);
    }
}

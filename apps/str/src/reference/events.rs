//! Event monitoring, with the arithmetic of the programs and exact results.

/// The output of `bargain_finder.str` for ticks (time, price and volume, interleaved) with windows of `window`
/// milliseconds and `work` computations in each of its two operators.
pub fn bargains(ticks: &[i32], window: i32, work: u32) -> Vec<f32> {
    let ticks: Vec<&[i32]> = ticks.chunks_exact(3).collect();
    let mut results = Vec::new();
    let mut first = 0;
    while let Some(length) = ticks[first..].iter().position(|tick| tick[0] - ticks[first][0] >= window) {
        let in_window = &ticks[first..first + length];
        let total = in_window.iter().fold(0.0f32, |sum, tick| sum + tick[1] as f32 * tick[2] as f32);
        let volume = in_window.iter().fold(0.0f32, |sum, tick| sum + tick[2] as f32);
        first += length;
        let saved = f32::max(0.0, total / volume - ticks[first][1] as f32) * ticks[first][2] as f32;
        results.push(busy(busy(saved, work), work));
    }
    results
}

/// The output of `predicate_filter.str` for heights.
pub fn significant(heights: &[f32], threshold: f32, last: usize, work: u32) -> Vec<f32> {
    let above: Vec<f32> = heights.iter().copied().filter(|height| *height > threshold).collect();
    let averages = above.windows(last).map(|heights| heights.iter().fold(0.0, |a, b| a + b) / last as f32);
    averages.map(|x| busy(busy(x, work), work)).collect()
}

/// The items of a no-op program's output that are no nonces. The output has a flag before each item; that of a nonce is
/// zero.
pub fn without_nonces<T: Copy + Default + PartialEq>(output: &[T]) -> Vec<T> {
    let pairs = output.as_chunks().0.iter();
    pairs.filter(|[real, _]| *real != T::default()).map(|[_, item]| *item).collect()
}

/// `work` computations of section 6 of the paper that both programs cite.
fn busy(x: f32, work: u32) -> f32 {
    (0..work).fold(x, |x, i| x + (i as f32 * 3.0 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trade_below_the_average_is_a_bargain() {
        // Trades at 100 (volume 3) and 200 (volume 1): 125 on average. The next trades are at 100 and 150.
        let ticks = [0, 100, 3, 9, 200, 1, 10, 100, 10, 25, 150, 10];
        assert_eq!(bargains(&ticks, 10, 0), [250.0, 0.0]);
        assert_eq!(bargains(&ticks, 10, 3), [262.0, 12.0]);
    }

    #[test]
    fn items_with_a_flag_are_kept() {
        assert_eq!(without_nonces(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 7.0]), [0.0, 7.0]);
    }

    #[test]
    fn heights_below_the_threshold_are_dropped() {
        assert_eq!(significant(&[0.5, 2.0, 0.25, 4.0, 8.0], 1.0, 2, 0), [3.0, 6.0]);
    }
}

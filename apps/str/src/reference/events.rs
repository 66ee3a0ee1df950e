//! Event monitoring, in the program's arithmetic: exact.

/// What `bargain_finder.str` gives for ticks (time, price, volume in turn), each window `window` milliseconds,
/// with `work` computations of each of its two operators.
pub fn bargains(ticks: &[i32], window: i32, work: u32) -> Vec<f32> {
    let ticks: Vec<&[i32]> = ticks.chunks_exact(3).collect();
    let mut results = Vec::new();
    let mut first = 0;
    while let Some(length) = ticks[first..].iter().position(|tick| tick[0] - ticks[first][0] >= window) {
        let held = &ticks[first..first + length];
        let total = held.iter().fold(0.0f32, |sum, tick| sum + tick[1] as f32 * tick[2] as f32);
        let volume = held.iter().fold(0.0f32, |sum, tick| sum + tick[2] as f32);
        first += length;
        let saved = f32::max(0.0, total / volume - ticks[first][1] as f32) * ticks[first][2] as f32;
        results.push(busy(busy(saved, work), work));
    }
    results
}

/// What `predicate_filter.str` gives for heights.
pub fn significant(heights: &[f32], threshold: f32, last: usize, work: u32) -> Vec<f32> {
    let above: Vec<f32> = heights.iter().copied().filter(|height| *height > threshold).collect();
    let averages = above.windows(last).map(|heights| heights.iter().fold(0.0, |a, b| a + b) / last as f32);
    averages.map(|x| busy(busy(x, work), work)).collect()
}

/// The unit of work of section 6 of the paper that both programs name.
fn busy(x: f32, work: u32) -> f32 {
    (0..work).fold(x, |x, i| x + (i as f32 * 3.0 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trade_below_the_average_is_a_bargain() {
        // Two trades at 100 and 200, 3 to 1: 125 on the average. Then 100 for 10, then 150 for 10 later.
        let ticks = [0, 100, 3, 9, 200, 1, 10, 100, 10, 25, 150, 10];
        assert_eq!(bargains(&ticks, 10, 0), [250.0, 0.0]);
        assert_eq!(bargains(&ticks, 10, 3), [262.0, 12.0]);
    }

    #[test]
    fn what_is_low_does_not_count() {
        assert_eq!(significant(&[0.5, 2.0, 0.25, 4.0, 8.0], 1.0, 2, 0), [3.0, 6.0]);
    }
}

//! Event monitoring, with exact results.

use crate::run::run;
use thalweg_str::generate;
use thalweg_str::reference::events::{bargains, significant, without_nonces};

#[test]
fn bargains_are_found() {
    for (gap, work) in [(10, 10), (1, 0), (300, 3)] {
        let ticks = generate::ticks(1, 1000, gap);
        let found: Vec<f32> = run("bargain_finder", &[("WORK", work.to_string())], &ticks);
        let expected = bargains(&ticks, 100, work);
        assert_eq!(found, expected);
        for skip in [true, false] {
            let changes = [("WORK", work.to_string()), ("SKIP", skip.to_string())];
            let with_nonces: Vec<f32> = run("bargain_finder_no_op", &changes, &ticks);
            assert_eq!(with_nonces.len(), 2 * ticks.len() / 3, "a flag and an item for each tick");
            assert_eq!(without_nonces(&with_nonces), expected);
        }
        let nothing = expected.iter().copied().fold(f32::MAX, f32::min);
        let saved = found.iter().filter(|x| **x > nothing).count();
        assert!(saved > 0 && saved < found.len(), "{saved} of {} windows", found.len());
    }
}

#[test]
fn significant_heights_pass() {
    for (threshold, work) in [(0.9, 10), (0.5, 0)] {
        let heights = generate::heights(2, 1000);
        let changes = [("THRESHOLD", threshold.to_string()), ("WORK", work.to_string())];
        let result: Vec<f32> = run("predicate_filter", &changes, &heights);
        assert_eq!(result, significant(&heights, threshold, 4, work));
        for skip in [true, false] {
            let changes = [&changes[..], &[("SKIP", skip.to_string())]].concat();
            let with_nonces: Vec<f32> = run("predicate_filter_no_op", &changes, &heights);
            assert_eq!(with_nonces.len(), 2 * heights.len(), "a flag and an item for each height");
            assert_eq!(without_nonces(&with_nonces), result);
        }
        assert!(result.len() > 50, "{}", result.len());
    }
}

//! Every contestant computes what the plain loop does.

use super::{Size, run};
use crate::figures::owned::{CONTESTANTS, ROWS};

/// More items than several batches, and a partial batch.
fn size(row: &str, threads: usize) -> Size {
    let items = if row == "blocks.k256" {
        9
    } else if row.starts_with("blocks") {
        70
    } else {
        1500
    };
    Size { items, threads, steps: 3 }
}

fn checksum(row: &str, contestant: &str, threads: usize) -> Option<u64> {
    let outcome = run(row, contestant, size(row, threads))?;
    Some(outcome.unwrap_or_else(|error| panic!("{row}, {contestant}: {error}")).expect("a row").checksum)
}

#[test]
fn contestants_agree_with_the_loop() {
    for row in ROWS {
        let expected = checksum(row.name, "loop", 1).expect("a loop for each row");
        for (contestant, threads) in
            CONTESTANTS.into_iter().flat_map(|name| [(name, 1), (name, 2), (name, 3)])
        {
            let Some(found) = checksum(row.name, contestant, threads) else {
                assert!(["adaptor", "blocking"].contains(&contestant), "{}: no {contestant}", row.name);
                continue;
            };
            assert_eq!(found, expected, "{}, {contestant}, {threads} threads", row.name);
        }
    }
}

#[test]
fn unknown_rows_and_contestants_are_refused() {
    for (row, contestant) in [("map", "other"), ("other", "loop"), ("blocks.16", "loop"), ("maps", "adaptor")]
    {
        assert!(run(row, contestant, size(row, 1)).is_none(), "{row}, {contestant}");
    }
}

/// The order is part of the checksum, also where words are counted.
#[test]
fn reordered_results_have_another_checksum() {
    use super::jobs::Words;
    use super::{Job, source, total};
    let size = size("words", 1);
    let mut results: Vec<_> = source(Words, size).map(|line| Words.map(line)).collect();
    let expected = total(Words, results.iter().cloned());
    results.swap(7, 100);
    assert_ne!(total(Words, results.into_iter()), expected);
}

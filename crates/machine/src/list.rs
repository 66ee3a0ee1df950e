//! Lists of numbers as Linux writes sets of CPUs: `0-3,8`. The order is kept.

use crate::words::quote;

/// The largest number in a list. Numbers of CPUs and nodes may have gaps, but stay below.
pub(crate) const LARGEST: u32 = 65_535;

/// Parses a list of at most `most` numbers. An empty text is an empty list.
///
/// The error says what was expected and what was found.
pub(crate) fn parse(text: &str, most: usize) -> Result<Vec<u32>, String> {
    let mut list = Vec::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("expected a range in ascending order, found {}", quote(part)));
        }
        if (last - first) as usize >= most - list.len() {
            return Err(format!("expected at most {most} numbers, found more in {}", quote(text)));
        }
        list.extend(first..=last);
    }
    Ok(list)
}

fn number(word: &str) -> Result<u32, String> {
    let found = word.parse().ok().filter(|n| *n <= LARGEST);
    found.ok_or_else(|| format!("expected a number from 0 to {LARGEST}, found {}", quote(word)))
}

/// Prints a list. The inverse of [`parse`].
pub(crate) fn show(list: &[u32]) -> String {
    let runs = list.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        one => one.iter().map(u32::to_string).collect(),
    });
    runs.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_printed_in_their_order() {
        assert_eq!(parse("0-3,8", 8), Ok(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse("8,0-1", 3), Ok(vec![8, 0, 1]));
        assert_eq!(parse("", 3), Ok(vec![]));
        assert_eq!(show(&[0, 1, 2, 3, 8]), "0-3,8");
        assert_eq!(show(&[8, 0, 1, 1]), "8,0-1,1");
        assert_eq!(show(&[]), "");
    }

    #[test]
    fn wrong_and_endless_lists_are_refused() {
        for text in ["1,", ",", "-", "3-", "x", "4-2", "0-65536", "0-4294967295", "-1", "1-2-3"] {
            assert!(parse(text, 1 << 20).is_err(), "{text}");
        }
        assert_eq!(parse("0-3", 3), Err("expected at most 3 numbers, found more in `0-3`".to_owned()));
        assert!(parse("0-2,0", 3).is_err());
        assert!(parse("0-2,0", 0).is_err());
    }
}

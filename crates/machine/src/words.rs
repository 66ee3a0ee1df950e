//! Parses and prints the words of a machine's lines. Errors say what was expected and what was found; the reader adds
//! the line.

use crate::costs::NANOSECONDS;

/// A text in a message, quoted: shortened, and with control characters escaped.
pub(crate) fn quote(text: &str) -> String {
    const SHOWN: usize = 60;
    let start: String = text.chars().take(SHOWN).collect();
    let rest = if start.len() < text.len() { ".." } else { "" };
    format!("`{}{rest}`", start.escape_debug())
}

pub(crate) fn between(word: &str, least: u64, most: u64) -> Result<u64, String> {
    let found = word.parse().ok().filter(|n| (least..=most).contains(n));
    found.ok_or_else(|| format!("expected a number from {least} to {most}, found {}", quote(word)))
}

/// The units of sizes, the largest first.
const UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("bytes", 1)];

/// Parses a size in bytes, from its number and its unit.
pub(crate) fn size(number: &str, unit: &str) -> Result<u64, String> {
    let Some((_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("expected `bytes`, `KiB`, `MiB` or `GiB`, found {}", quote(unit)));
    };
    Ok(between(number, 1, u64::MAX / factor)? * factor)
}

/// Prints a size in the largest unit that needs no fraction.
pub(crate) fn show_size(bytes: u64) -> String {
    let unit = UNITS.iter().find(|(_, factor)| bytes.is_multiple_of(*factor) && bytes > 0);
    let (name, factor) = unit.unwrap_or(&("bytes", 1));
    format!("{} {name}", bytes / factor)
}

/// Parses a number with at most three decimals, in thousandths.
pub(crate) fn thousandths(word: &str) -> Result<u64, String> {
    let (whole, decimals) = word.split_once('.').unwrap_or((word, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let fits = !whole.is_empty() && decimals.len() <= 3 && digits(whole) && digits(decimals);
    let number = format!("{whole}{decimals:0<3}").parse().ok().filter(|n| fits && *n > 0);
    number.ok_or_else(|| format!("expected a number of cores, as `1.5`, found {}", quote(word)))
}

/// Prints a number of thousandths. The inverse of [`thousandths`].
pub(crate) fn show_thousandths(n: u64) -> String {
    let text = format!("{}.{:03}", n / 1000, n % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub(crate) fn nanoseconds(word: &str) -> Result<f64, String> {
    let found = word.parse().ok().filter(|ns| NANOSECONDS.contains(ns));
    let (least, most) = (NANOSECONDS.start(), NANOSECONDS.end());
    found.ok_or_else(|| format!("expected a number from {least} to {most}, found {}", quote(word)))
}

pub(crate) fn once<T>(slot: &mut Option<T>, value: T, name: &str) -> Result<(), String> {
    match slot.replace(value) {
        Some(_) => Err(format!("duplicate `{name}`")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_printed_in_the_largest_unit() {
        for (bytes, text) in [
            (1, "1 bytes"),
            (1024, "1 KiB"),
            (1536, "1536 bytes"),
            (48 << 10, "48 KiB"),
            (64 << 30, "64 GiB"),
            (u64::MAX, "18446744073709551615 bytes"),
        ] {
            assert_eq!(show_size(bytes), text);
            let (number, unit) = text.split_once(' ').unwrap();
            assert_eq!(size(number, unit), Ok(bytes));
        }
        for (number, unit) in [("0", "bytes"), ("18014398509481984", "KiB"), ("1", "KB"), ("-1", "MiB")] {
            assert!(size(number, unit).is_err(), "{number} {unit}");
        }
    }

    #[test]
    fn cores_have_up_to_three_decimals() {
        for (n, text) in
            [(1500, "1.5"), (4000, "4"), (1, "0.001"), (10, "0.01"), (u64::MAX, "18446744073709551.615")]
        {
            assert_eq!(show_thousandths(n), text);
            assert_eq!(thousandths(text), Ok(n));
        }
        for word in ["0", "", ".", ".5", "1.2345", "-1", "+1", "1e3", "18446744073709552"] {
            assert!(thousandths(word).is_err(), "{word}");
        }
        assert_eq!(thousandths("2."), Ok(2000));
    }

    #[test]
    fn messages_quote_the_start_of_a_text() {
        assert_eq!(quote("a\x1b[2Jb"), "`a\\u{1b}[2Jb`");
        assert_eq!(quote(&"é".repeat(100)), format!("`{}..`", "é".repeat(60)));
    }
}

//! Parses and prints sizes in bytes.

/// Parses `4096`, `64K`, `64KiB` or `1.5G`. All spellings of a unit mean a power of 1024.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| format!("{text:?} is not a size; write it like 64MiB"))?;
    let shift = match suffix.trim().to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(format!("{suffix:?} is not a unit; use K, M, G or T")),
    };
    let bytes = number * (1u64 << shift) as f64;
    if bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(format!("{text} is too large")) }
}

pub(crate) use thalweg::embed::trace::{format_bytes as show, format_bytes_exactly as exact};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_with_and_without_units() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("64K", 65_536),
            ("64KiB", 65_536),
            ("1.5m", 3 << 19),
            ("2GB", 2 << 30),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for bytes in [0, 1000, 3 << 19, 2 << 30, 1 << 53] {
            assert_eq!(parse(&exact(bytes)), Ok(bytes), "{bytes}");
        }
        for text in ["", "K", "1X", "-1", "1e9T", "..", "99999999999T"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}

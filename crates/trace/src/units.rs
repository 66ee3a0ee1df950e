//! Human-readable quantities: about three significant digits and a unit.

use std::time::Duration;

/// Formats a duration in ns, us, ms or s.
pub fn time(duration: Duration) -> String {
    scaled(duration.as_nanos() as f64, 1000.0, &["ns", "us", "ms", "s"])
}

/// Formats a number of bytes with about three significant digits, in B, KiB, MiB, GiB, TiB, PiB or EiB.
///
/// ```
/// use thalweg_trace::format_bytes;
///
/// assert_eq!(format_bytes(1000), "1000 B");
/// assert_eq!(format_bytes(3 << 29), "1.50 GiB");
/// ```
pub fn format_bytes(count: u64) -> String {
    scaled(count as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"])
}

/// Formats a number of bytes without rounding, as options accept it: in the largest of B, KiB, MiB, GiB and TiB of which it
/// is a multiple.
///
/// ```
/// use thalweg_trace::format_bytes_exactly;
///
/// assert_eq!(format_bytes_exactly(1000), "1000B");
/// assert_eq!(format_bytes_exactly(3 << 29), "1536MiB");
/// ```
pub fn format_bytes_exactly(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let shifts = (count.trailing_zeros() as usize / 10).min(units.len() - 1);
    let shifts = if count == 0 { 0 } else { shifts };
    format!("{}{}", count >> (10 * shifts), units[shifts])
}

/// Formats a number of items per second.
pub fn rate(per_second: f64) -> String {
    scaled(per_second, 1000.0, &["/s", "k/s", "M/s", "G/s"])
}

/// Formats a fraction as a percentage.
pub fn percent(fraction: f64) -> String {
    format!("{:.1} %", 100.0 * fraction)
}

/// Formats a number of items, which may be a mean, with one decimal place.
pub fn items(count: f64) -> String {
    format!("{count:.1}")
}

/// Formats a ratio with about three significant digits.
pub fn ratio(ratio: f64) -> String {
    match ratio {
        r if r >= 99.95 => format!("{r:.0}"),
        r if r >= 9.995 => format!("{r:.1}"),
        r if r >= 0.005 || r == 0.0 => format!("{r:.2}"),
        _ => "< 0.01".to_owned(),
    }
}

fn scaled(value: f64, step: f64, units: &[&str]) -> String {
    let mut value = value;
    let mut units = units.iter();
    let mut unit = units.next().expect("at least one unit");
    // 999.5 and above would print as 1000 of the smaller unit.
    while value >= step - 0.5 {
        let Some(larger) = units.next() else { break };
        value /= step;
        unit = larger;
    }
    let whole = value.fract() == 0.0 || value >= 99.95;
    let digits = if whole {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let show = |nanos| time(Duration::from_nanos(nanos));
        assert_eq!(show(0), "0 ns");
        assert_eq!(show(999), "999 ns");
        assert_eq!(show(1_234), "1.23 us");
        assert_eq!(show(12_345_678), "12.3 ms");
        assert_eq!(show(999_600), "1.00 ms");
        assert_eq!(show(123_456_000_000), "123 s");
        assert_eq!(show(99_960_000), "100 ms");
    }

    #[test]
    fn ratios() {
        assert_eq!([0.0, 0.004, 0.005, 1.0].map(ratio), ["0.00", "< 0.01", "0.01", "1.00"]);
        assert_eq!([9.994, 9.996, 99.94, 1234.5].map(ratio), ["9.99", "10.0", "99.9", "1234"]);
    }

    #[test]
    fn rates() {
        assert_eq!(
            [0.0, 0.5, 999.6, 12_345.0, 2e6, 7e9].map(rate),
            ["0 /s", "0.50 /s", "1.00 k/s", "12.3 k/s", "2 M/s", "7 G/s"]
        );
    }

    #[test]
    fn byte_counts() {
        assert_eq!(format_bytes(0), "0 B");
        assert_eq!(format_bytes(1023), "1023 B");
        assert_eq!(format_bytes(1024), "1 KiB");
        assert_eq!(format_bytes(1536), "1.50 KiB");
        assert_eq!(format_bytes(u64::MAX), "16 EiB");
    }
}

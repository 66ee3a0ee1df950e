//! Fields of a line, separated by blanks and tabs.

/// The fields of a line.
pub(crate) fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|field| !field.is_empty())
}

/// Whether a line holds nothing but blanks and tabs.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// The decimal number in a field. The error is the violated rule.
pub(crate) fn number(field: &[u8]) -> Result<u64, String> {
    let mut value = 0u64;
    for byte in field {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err("expected a number from 0 to 18446744073709551615".into());
        }
        let next = value.checked_mul(10).and_then(|value| value.checked_add(digit.into()));
        value = next.ok_or("the number is larger than 18446744073709551615")?;
    }
    if field.is_empty() { Err("a number is missing".into()) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_up_to_64_bits() {
        assert_eq!(number(b"0"), Ok(0));
        assert_eq!(number(b"007"), Ok(7));
        assert_eq!(number(b"18446744073709551615"), Ok(u64::MAX));
        for field in ["18446744073709551616", "99999999999999999999999", "-1", "+1", "1.0", "", "\u{661}"] {
            assert!(number(field.as_bytes()).is_err(), "{field}");
        }
    }

    #[test]
    fn fields_are_separated_by_any_blanks() {
        assert!(fields(b" \t").next().is_none() && is_blank(b" \t\r"));
        assert_eq!(fields(b"\t1  22 ").collect::<Vec<_>>(), [&b"1"[..], b"22"]);
    }
}

//! The encoding of numbers and byte strings in an archive.
//!
//! Fields of fixed length are little-endian. Numbers in tables are unsigned LEB128 (seven bits a byte, lowest first)
//! in their shortest form, so each value has one encoding.

/// Appends `value` as LEB128.
pub(crate) fn put_number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends the length as LEB128, and the bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Maps signed numbers to unsigned numbers, small magnitudes to small numbers.
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The inverse of [`zigzag`].
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Reads fields from the front of a slice.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

/// A parsed value, or the error message.
pub(crate) type Parsed<T> = Result<T, String>;

impl<'a> Fields<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Fields { rest: bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The bytes not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn take(&mut self, count: usize) -> Parsed<&'a [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or("a field runs past the end of its record")?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        Ok(self.take(N)?.try_into().expect("`take` returns N bytes"))
    }

    pub fn u8(&mut self) -> Parsed<u8> {
        self.array::<1>().map(|b| b[0])
    }

    pub fn i16(&mut self) -> Parsed<i16> {
        self.array().map(i16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Parsed<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Parsed<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn hash(&mut self) -> Parsed<[u8; 32]> {
        self.array()
    }

    /// Reads a LEB128 number in its shortest form.
    pub fn number(&mut self) -> Parsed<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                let shortest = byte != 0 || shift == 0;
                return if shortest { Ok(value) } else { Err("a number is not in its shortest form".into()) };
            }
        }
        Err("a number exceeds 64 bits".into())
    }

    /// Reads a byte string: its length, at most `limit`, and the bytes.
    pub fn bytes(&mut self, limit: usize) -> Parsed<&'a [u8]> {
        let length = self.number()?;
        match usize::try_from(length) {
            Ok(length) if length <= limit => self.take(length),
            _ => Err(format!("a byte string has {length} bytes, the limit is {limit}")),
        }
    }
}

/// The checksum of headers, records and footers: the first eight bytes of blake3 over the parts.
pub(crate) fn check(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    let hash = hasher.finalize();
    u64::from_le_bytes(hash.as_bytes()[..8].try_into().expect("a hash has 32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_at_the_edges() {
        for value in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut out = Vec::new();
            put_number(&mut out, value);
            let mut fields = Fields::new(&out);
            assert_eq!(fields.number(), Ok(value));
            assert!(fields.is_empty());
        }
    }

    #[test]
    fn padded_and_overlong_numbers_are_refused() {
        assert!(Fields::new(&[0x80, 0x00]).number().is_err());
        assert!(Fields::new(&[0xff; 11]).number().is_err());
        assert!(Fields::new(&[0x80]).number().is_err());
    }

    #[test]
    fn zigzag_is_a_bijection_at_the_edges() {
        for value in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
    }
}

//! Streams of bits, the most significant bit of a byte first.

/// Bits behind one another. The last byte is filled with zeros.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// The bits that fill no byte yet, fewer than 8.
    rest: u64,
    /// Their number.
    count: u32,
}

impl BitWriter {
    /// Adds the `count` low bits of a value, at most 32. The other bits of the value are 0.
    pub(super) fn put(&mut self, value: u32, count: u32) {
        self.rest = self.rest << count | u64::from(value);
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.rest >> self.count) as u8);
        }
        self.rest &= (1 << self.count) - 1;
    }

    /// Adds a number above 0 in Elias' gamma code: as many zeros as bits follow the first one of the number, then the number.
    pub(super) fn put_gamma(&mut self, value: u32) {
        let follow = value.ilog2();
        self.put(0, follow);
        self.put(value, follow + 1);
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let missing = (8 - self.count) % 8;
        self.put(0, missing);
        self.bytes
    }
}

/// The bits of bytes.
#[derive(Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The next bit.
    at: usize,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, at: 0 }
    }

    /// The byte of the next bit.
    pub(super) fn byte(&self) -> usize {
        self.at / 8
    }

    /// The next `count` bits, at most 32, if there are as many.
    pub(super) fn take(&mut self, count: u32) -> Option<u32> {
        let end = self.at + count as usize;
        if end > 8 * self.bytes.len() {
            return None;
        }
        let mut value = 0u64;
        for byte in &self.bytes[self.at / 8..end.div_ceil(8)] {
            value = value << 8 | u64::from(*byte);
        }
        value >>= end.div_ceil(8) * 8 - end;
        self.at = end;
        Some((value & ((1 << count) - 1)) as u32)
    }

    /// The next number in Elias' gamma code, below 2^16.
    pub(super) fn take_gamma(&mut self) -> Option<u32> {
        let mut follow = 0;
        while self.take(1)? == 0 {
            follow += 1;
            if follow == 16 {
                return None;
            }
        }
        Some(1 << follow | self.take(follow)?)
    }

    /// Whether all that is left is the filling of the last byte.
    pub(super) fn is_at_end(&mut self) -> bool {
        let left = 8 * self.bytes.len() - self.at;
        left < 8 && self.take(left as u32) == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken() {
        let mut writer = BitWriter::default();
        let values = [(0, 0), (1, 1), (0, 3), (0x3FFF, 14), (5, 8), (u32::MAX, 32), (0, 32)];
        values.iter().for_each(|(value, count)| writer.put(*value, *count));
        let numbers = [1, 2, 3, 4, 255, 256, 16_384, 65_535];
        numbers.iter().for_each(|number| writer.put_gamma(*number));
        let bytes = writer.finish();
        let mut reader = BitReader::new(&bytes);
        values.iter().for_each(|(value, count)| assert_eq!(reader.take(*count), Some(*value)));
        numbers.iter().for_each(|number| assert_eq!(reader.take_gamma(), Some(*number)));
        assert!(reader.is_at_end());
        assert_eq!(reader.take(1), None);
    }

    #[test]
    fn long_gamma_codes_are_refused() {
        assert_eq!(BitReader::new(&[0; 100]).take_gamma(), None);
        assert_eq!(BitReader::new(&[0]).take_gamma(), None);
        assert!(!BitReader::new(&[0, 0]).is_at_end());
        assert!(!BitReader::new(&[1]).is_at_end());
    }
}

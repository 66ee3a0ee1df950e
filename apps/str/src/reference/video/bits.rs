//! Reads and writes bits and Exp-Golomb numbers.

#[derive(Default)]
pub(super) struct Writer(pub(super) Vec<bool>);

impl Writer {
    pub(super) fn fixed(&mut self, count: u32, value: u32) {
        self.0.extend((0..count).rev().map(|i| value >> i & 1 == 1));
    }

    pub(super) fn unsigned(&mut self, value: u32) {
        let length = 32 - (value + 1).leading_zeros();
        self.fixed(length - 1, 0);
        self.fixed(length, value + 1);
    }

    pub(super) fn signed(&mut self, value: i32) {
        self.unsigned(if value > 0 { 2 * value as u32 - 1 } else { 2 * value.unsigned_abs() });
    }
}

pub(super) struct Reader<'a>(pub(super) &'a [bool]);

impl Reader<'_> {
    pub(super) fn fixed(&mut self, count: usize) -> Option<u32> {
        let (bits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bits.iter().fold(0, |value, bit| 2 * value + u32::from(*bit)))
    }

    pub(super) fn unsigned(&mut self) -> Option<u32> {
        let zeros = self.0.iter().position(|bit| *bit)?;
        self.fixed(zeros)?;
        Some(self.fixed(zeros + 1)? - 1)
    }

    pub(super) fn signed(&mut self) -> Option<i32> {
        let value = self.unsigned()? as i32;
        Some(if value % 2 == 1 { value / 2 + 1 } else { -value / 2 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_match_the_standard() {
        // ITU-T H.264, tables 9-2 and 9-3.
        let mut writer = Writer::default();
        writer.unsigned(3);
        writer.signed(-1);
        assert_eq!(writer.0.iter().map(|bit| u8::from(*bit)).collect::<Vec<_>>(), [0, 0, 1, 0, 0, 0, 1, 1]);
        let mut reader = Reader(&writer.0);
        assert_eq!((reader.unsigned(), reader.signed(), reader.unsigned()), (Some(3), Some(-1), None));
    }
}

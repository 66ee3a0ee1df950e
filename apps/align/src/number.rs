//! The numbers that kernels compute with: narrow ones where all values of a block fit, since a vector holds more of
//! them.

use std::array::from_fn;

use pulp::bytemuck::cast;

/// Cells that are computed at once: with 8-bit values a vector register of 256 bits.
pub(crate) const LANES: usize = 32;

/// A number of a kernel. Values are relative to a base that the kernel chooses.
pub(crate) trait Number: Copy + Ord + Send + Sync + 'static {
    /// Below all values of cells, and lower still after any subtraction.
    const LOWEST: Self;
    /// The largest number, which stands for all above it if sums saturate.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only lanes compare with it"))]
    const HIGHEST: Self;

    /// The base of a block whose corner has this value.
    fn base(corner: i32) -> i32 {
        corner
    }

    /// `value - base`, or the nearest number that fits.
    fn relative(value: i32, base: i32) -> Self;

    /// A number to add to values or to subtract from them, or the nearest one that fits.
    fn difference(value: i32) -> Self {
        Self::relative(value, 0)
    }

    /// The values of each lane in the next one, and `first` in the first.
    #[inline(always)]
    fn moved(vector: [Self; LANES], first: Self) -> [Self; LANES] {
        from_fn(|lane| if lane == 0 { first } else { vector[lane - 1] })
    }

    /// The larger of a value and 0, which is `zero`.
    #[inline(always)]
    fn at_least(self, zero: Self) -> Self {
        self.max(zero)
    }

    /// The value that is `self` above `base`.
    fn absolute(self, base: i32) -> i32;

    /// `self + other`.
    fn plus(self, other: Self) -> Self;

    /// `self - other`.
    fn minus(self, other: Self) -> Self;
}

/// Values from 0 to 255, as -128 to 127. Saturates, so that no value is below 0.
impl Number for i8 {
    const LOWEST: i8 = i8::MIN;
    const HIGHEST: i8 = i8::MAX;

    fn base(_: i32) -> i32 {
        0
    }

    fn relative(value: i32, base: i32) -> i8 {
        (value.saturating_sub(base).clamp(0, 255) - 128) as i8
    }

    fn difference(value: i32) -> i8 {
        value.clamp(i32::from(i8::MIN), i32::from(i8::MAX)) as i8
    }

    #[inline(always)]
    fn moved(vector: [i8; LANES], first: i8) -> [i8; LANES] {
        // Words, since the compiler moves single lanes through memory.
        let words = cast::<_, [u64; 4]>(vector).map(u64::from_le);
        let first = u64::from(first.cast_unsigned());
        let before: [u64; 4] = from_fn(|at| if at == 0 { first } else { words[at - 1] >> 56 });
        let moved: [u64; 4] = from_fn(|at| (words[at] << 8 | before[at]).to_le());
        cast(moved)
    }

    #[inline(always)]
    fn absolute(self, base: i32) -> i32 {
        base + i32::from(self) + 128
    }

    #[inline(always)]
    fn plus(self, other: i8) -> i8 {
        self.saturating_add(other)
    }

    #[inline(always)]
    fn minus(self, other: i8) -> i8 {
        self.saturating_sub(other)
    }

    #[inline(always)]
    fn at_least(self, _: i8) -> i8 {
        self
    }
}

/// Saturates: an instruction of its own on most processors.
impl Number for i16 {
    const LOWEST: i16 = i16::MIN;
    const HIGHEST: i16 = i16::MAX;

    fn relative(value: i32, base: i32) -> i16 {
        value.saturating_sub(base).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
    }

    #[inline(always)]
    fn moved(vector: [i16; LANES], first: i16) -> [i16; LANES] {
        // Words, since the compiler moves single lanes through memory.
        let words = cast::<_, [u64; 8]>(vector).map(u64::from_le);
        let first = u64::from(first.cast_unsigned());
        let before: [u64; 8] = from_fn(|at| if at == 0 { first } else { words[at - 1] >> 48 });
        let moved: [u64; 8] = from_fn(|at| (words[at] << 16 | before[at]).to_le());
        cast(moved)
    }

    #[inline(always)]
    fn absolute(self, base: i32) -> i32 {
        base + i32::from(self)
    }

    #[inline(always)]
    fn plus(self, other: i16) -> i16 {
        self.saturating_add(other)
    }

    #[inline(always)]
    fn minus(self, other: i16) -> i16 {
        self.saturating_sub(other)
    }
}

/// Does not saturate, so what is subtracted from [`Number::LOWEST`] must not add up to 2^30 within a block.
impl Number for i32 {
    const LOWEST: i32 = i32::MIN / 2;
    const HIGHEST: i32 = i32::MAX;

    fn relative(value: i32, base: i32) -> i32 {
        value.saturating_sub(base).max(Self::LOWEST)
    }

    #[inline(always)]
    fn absolute(self, base: i32) -> i32 {
        base + self
    }

    #[inline(always)]
    fn plus(self, other: i32) -> i32 {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn minus(self, other: i32) -> i32 {
        self.wrapping_sub(other)
    }
}

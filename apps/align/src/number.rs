//! The numbers that kernels compute with: narrow ones where all values of a block fit, since a vector holds more of
//! them.

/// A number of a kernel. Values are relative to a base that the kernel chooses.
pub(crate) trait Number: Copy + Ord + Send + Sync + 'static {
    /// Below all values of cells, and lower still after any subtraction.
    const LOWEST: Self;

    /// `value - base`, or the nearest number that fits.
    fn relative(value: i32, base: i32) -> Self;

    /// The value that is `self` above `base`.
    fn absolute(self, base: i32) -> i32;

    /// `self + other`.
    fn plus(self, other: Self) -> Self;

    /// `self - other`.
    fn minus(self, other: Self) -> Self;
}

/// Saturates: an instruction of its own on most processors.
impl Number for i16 {
    const LOWEST: i16 = i16::MIN;

    fn relative(value: i32, base: i32) -> i16 {
        value.saturating_sub(base).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
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

//! Complex numbers.

use std::ops::{Add, AddAssign, Mul, Sub};

/// A complex number of single precision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// The real part.
    pub re: f32,
    /// The imaginary part.
    pub im: f32,
}

impl Complex {
    /// The number with these parts.
    pub const fn new(re: f32, im: f32) -> Complex {
        Complex { re, im }
    }
}

impl Add for Complex {
    type Output = Complex;

    fn add(self, other: Complex) -> Complex {
        Complex::new(self.re + other.re, self.im + other.im)
    }
}

impl AddAssign for Complex {
    fn add_assign(&mut self, other: Complex) {
        *self = *self + other;
    }
}

impl Sub for Complex {
    type Output = Complex;

    fn sub(self, other: Complex) -> Complex {
        Complex::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Complex {
    type Output = Complex;

    fn mul(self, other: Complex) -> Complex {
        let re = self.re * other.re - self.im * other.im;
        Complex::new(re, self.re * other.im + self.im * other.re)
    }
}

impl Mul<f32> for Complex {
    type Output = Complex;

    fn mul(self, factor: f32) -> Complex {
        Complex::new(self.re * factor, self.im * factor)
    }
}

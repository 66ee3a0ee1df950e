//! Draws a part of a world: as text for terminals and as PNG.

use super::Life;

/// A window on a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The first column.
    pub left: i64,
    /// The first row.
    pub top: i64,
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl View {
    /// A window of this size around the same centre.
    pub fn resized(self, width: usize, height: usize) -> Self {
        let centre = |start: i64, old: usize, new: usize| start + (old as i64 - new as i64).div_euclid(2);
        View {
            left: centre(self.left, self.width, width),
            top: centre(self.top, self.height, height),
            width,
            height,
        }
    }

    /// The window as lines of text. A character shows two cells, one above the other.
    ///
    /// ```
    /// use thalweg_stencils::life::{Life, Pattern, View};
    /// let glider = Pattern::named("glider").expect("a built-in pattern");
    /// let life = Life::plane(&glider, 1 << 20)?;
    /// assert_eq!(View { left: 0, top: 0, width: 3, height: 4 }.lines(&life), [" ▀▄", "▀▀▀"]);
    /// # Ok::<(), thalweg_stencils::life::Error>(())
    /// ```
    pub fn lines(self, life: &Life) -> Vec<String> {
        let bottom = self.top + self.height as i64;
        let character =
            |x: i64, y: i64| match (life.is_alive(x, y), y + 1 < bottom && life.is_alive(x, y + 1)) {
                (false, false) => ' ',
                (true, false) => '▀',
                (false, true) => '▄',
                (true, true) => '█',
            };
        let columns = || self.left..self.left + self.width as i64;
        (self.top..bottom).step_by(2).map(|y| columns().map(|x| character(x, y)).collect()).collect()
    }

    /// The bytes that [`View::png`] needs for the pixels of a picture, at most `u128::MAX`.
    pub fn png_bytes(self, side: usize) -> u128 {
        let pixels = |cells: usize| (cells as u128).saturating_mul(side as u128);
        pixels(self.width).div_ceil(8).saturating_mul(pixels(self.height))
    }

    /// The window as a PNG file in black and white: living cells are black squares of `side` pixels.
    ///
    /// # Errors
    /// If the picture has no pixels, or more than the format can have.
    pub fn png(self, life: &Life, side: usize) -> Result<Vec<u8>, String> {
        let pixels = |cells: usize| {
            cells.checked_mul(side).and_then(|pixels| u32::try_from(pixels).ok()).filter(|pixels| *pixels > 0)
        };
        let size = pixels(self.width).zip(pixels(self.height));
        let (width, height) = size.ok_or_else(|| {
            format!(
                "no picture has {} x {} cells of {side} pixels\nhelp: choose another --view",
                self.width, self.height
            )
        })?;
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::One);
        let write = |mut encoder: png::Writer<_>| {
            encoder.write_image_data(&self.bits(life, side))?;
            encoder.finish()
        };
        encoder.write_header().and_then(write).map_err(|error| format!("encoding a picture: {error}"))?;
        Ok(file)
    }

    /// Rows of pixels as bits, the first in the highest bit; 1 is white.
    fn bits(self, life: &Life, side: usize) -> Vec<u8> {
        let stride = (self.width * side).div_ceil(8);
        let mut bits = Vec::with_capacity(stride * self.height * side);
        for y in self.top..self.top + self.height as i64 {
            let mut row = vec![0xFF; stride];
            for (start, count) in life.runs(y) {
                let inside = |x: i64| (x - self.left).clamp(0, self.width as i64) as usize * side;
                for pixel in inside(start)..inside(start + count) {
                    row[pixel / 8] &= !(0x80 >> (pixel % 8));
                }
            }
            (0..side).for_each(|_| bits.extend_from_slice(&row));
        }
        bits
    }
}

//! Images, and their PNG files.

use crate::inputs;
use std::f32::consts::PI;
use std::io::{BufRead, Seek, Write};

/// The bytes of a pixel: red, green, blue and opacity. Grey pixels have three equal colours.
pub type Pixel = [u8; 4];

/// The colours of an image, as the file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Grey.
    Grey,
    /// Grey with opacity.
    GreyAlpha,
    /// Red, green and blue.
    Rgb,
    /// Red, green and blue with opacity.
    Rgba,
}

impl Colour {
    /// Whether there is no other colour than grey.
    pub fn is_grey(self) -> bool {
        matches!(self, Colour::Grey | Colour::GreyAlpha)
    }

    /// The values of a pixel in a file.
    fn samples(self) -> usize {
        match self {
            Colour::Grey => 1,
            Colour::GreyAlpha => 2,
            Colour::Rgb => 3,
            Colour::Rgba => 4,
        }
    }

    fn of(colour: png::ColorType) -> Option<Colour> {
        match colour {
            png::ColorType::Grayscale => Some(Colour::Grey),
            png::ColorType::GrayscaleAlpha => Some(Colour::GreyAlpha),
            png::ColorType::Rgb => Some(Colour::Rgb),
            png::ColorType::Rgba => Some(Colour::Rgba),
            png::ColorType::Indexed => None,
        }
    }

    fn png(self) -> png::ColorType {
        match self {
            Colour::Grey => png::ColorType::Grayscale,
            Colour::GreyAlpha => png::ColorType::GrayscaleAlpha,
            Colour::Rgb => png::ColorType::Rgb,
            Colour::Rgba => png::ColorType::Rgba,
        }
    }

    /// The pixel that a file's values stand for.
    fn read(self, samples: &[u8]) -> Pixel {
        match *samples {
            [grey] => [grey, grey, grey, u8::MAX],
            [grey, alpha] => [grey, grey, grey, alpha],
            [red, green, blue] => [red, green, blue, u8::MAX],
            [red, green, blue, alpha, ..] => [red, green, blue, alpha],
            [] => Pixel::default(),
        }
    }

    /// The values of a pixel in a file.
    fn write(self, [red, green, blue, alpha]: Pixel, samples: &mut Vec<u8>) {
        match self {
            Colour::Grey => samples.push(red),
            Colour::GreyAlpha => samples.extend([red, alpha]),
            Colour::Rgb => samples.extend([red, green, blue]),
            Colour::Rgba => samples.extend([red, green, blue, alpha]),
        }
    }
}

/// Bytes that the decoder of a file may need beside its pixels.
const DECODER: usize = 1 << 20;

/// The width and height that all of these have; 1 by 1 if there are none.
///
/// # Panics
/// If they are different.
pub(crate) fn common_size(sizes: impl Iterator<Item = (usize, usize)>) -> (usize, usize) {
    let same = |size, next| {
        assert!(size == next, "images of different sizes: {size:?} and {next:?}");
        size
    };
    sizes.reduce(same).unwrap_or((1, 1))
}

/// Test images for an input of `megabytes` million bytes times `scale`, where a pixel has `bytes` bytes: as many of 1024 by 1024
/// pixels as that is; if that is fewer than two, of 64 by 48 pixels, and at least two.
pub(crate) fn test_images(megabytes: u32, scale: f64, bytes: usize, seed: u64) -> Vec<Image> {
    let count = |pixels: usize| inputs::units(megabytes, scale, pixels * bytes, 0);
    let (width, height, count) = match count(1 << 20) {
        0 | 1 => (64, 48, count(64 * 48).max(2)),
        large => (1024, 1024, large),
    };
    (0..count as u64).map(|i| Image::speckled(width, height, seed.wrapping_add(i))).collect()
}

/// An image of at least one pixel, with 8 bits a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<Pixel>,
    /// The colours of its file.
    pub colour: Colour,
}

impl Image {
    /// An image of rows of `width` pixels.
    ///
    /// # Panics
    /// If there are no pixels, or the last row is not full.
    pub fn new(width: usize, pixels: Vec<Pixel>, colour: Colour) -> Image {
        let rows = pixels.len().checked_div(width).unwrap_or(0);
        assert!(rows > 0 && rows * width == pixels.len(), "{} pixels are no rows of {width}", pixels.len());
        Image { width, height: rows, pixels, colour }
    }

    /// The pixels of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// All pixels, row by row.
    pub fn pixels(&self) -> &[Pixel] {
        &self.pixels
    }

    /// The rows, from the top.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Pixel]> + Send + use<'_> {
        self.pixels.chunks_exact(self.width)
    }

    /// An image of the same size and opacity with other colours: those that `value` makes of the number of a pixel and that of a
    /// colour, 0 for red to 2 for blue.
    pub fn with_colours(&self, value: impl Fn(usize, usize) -> u8) -> Image {
        let pixel = |(at, pixel): (usize, &Pixel)| [value(at, 0), value(at, 1), value(at, 2), pixel[3]];
        Image { pixels: self.pixels.iter().enumerate().map(pixel).collect(), ..*self }
    }

    /// A test image: discs of several sizes on a slope of grey, with the noise of a coherent imager, which is proportional to
    /// the brightness. Values are a function of the size and the seed.
    ///
    /// # Panics
    /// If it would have no pixels.
    pub fn speckled(width: usize, height: usize, seed: u64) -> Image {
        let mut noise = inputs::noise(width * height, seed, |number| 1.0 + 0.4 * number()).into_iter();
        let disc = |x: usize, y: usize| {
            let (x, y) = (x as f32 / 48.0, y as f32 / 48.0);
            let radius = 0.2 + 0.15 * (x.floor() + 2.0 * y.floor()).sin();
            (x.fract() - 0.5).hypot(y.fract() - 0.5) < radius
        };
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            for (x, noise) in (0..width).zip(&mut noise) {
                let slope = 60.0 + 30.0 * (PI * x as f32 / width as f32).sin();
                let grey = (if disc(x, y) { slope + 80.0 } else { slope } * noise) as u8;
                pixels.push([grey, grey, grey, u8::MAX]);
            }
        }
        Image::new(width, pixels, Colour::Grey)
    }

    /// Reads a PNG file. Palettes become colours, and values of other widths than 8 bits become such.
    ///
    /// # Errors
    /// The file is no PNG file, cannot be read, or has more than `most` pixels.
    pub fn read_png(file: impl BufRead + Seek, most: usize) -> Result<Image, String> {
        // Values have at most 16 bits.
        let bytes = most.saturating_mul(2 * size_of::<Pixel>()).saturating_add(DECODER);
        let mut decoder = png::Decoder::new_with_limits(file, png::Limits { bytes });
        decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
        let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
        let too_large = || {
            let info = reader.info();
            format!("{} x {} pixels are more than {most}", info.width, info.height)
        };
        let pixels = u64::from(reader.info().width) * u64::from(reader.info().height);
        if pixels > most as u64 {
            return Err(too_large());
        }
        let size = reader.output_buffer_size().ok_or_else(too_large)?;
        let mut samples = vec![0; size];
        let frame = reader.next_frame(&mut samples).map_err(|error| error.to_string())?;
        let colour = Colour::of(frame.color_type).ok_or("a palette was not replaced by its colours")?;
        let row = |row: &'_ [u8]| -> Vec<Pixel> {
            row.chunks_exact(colour.samples()).map(|samples| colour.read(samples)).collect()
        };
        let pixels = samples[..frame.buffer_size()].chunks_exact(frame.line_size).flat_map(row).collect();
        Ok(Image::new(frame.width as usize, pixels, colour))
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    /// Writing failed, or the image has more rows or columns than a PNG file can have.
    pub fn write_png(&self, file: impl Write) -> Result<(), String> {
        let side = |pixels: usize| {
            u32::try_from(pixels).map_err(|_| format!("{pixels} pixels are too many for a PNG file"))
        };
        let mut encoder = png::Encoder::new(file, side(self.width)?, side(self.height)?);
        encoder.set_color(self.colour.png());
        encoder.set_depth(png::BitDepth::Eight);
        let mut samples = Vec::with_capacity(self.pixels.len() * self.colour.samples());
        self.pixels.iter().for_each(|pixel| self.colour.write(*pixel, &mut samples));
        let write = |mut writer: png::Writer<_>| {
            writer.write_image_data(&samples)?;
            writer.finish()
        };
        encoder.write_header().and_then(write).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn written(image: &Image) -> Vec<u8> {
        let mut file = Vec::new();
        image.write_png(&mut file).expect("a small image");
        file
    }

    #[test]
    fn files_have_the_pixels_of_the_image() {
        for colour in [Colour::Grey, Colour::GreyAlpha, Colour::Rgb, Colour::Rgba] {
            let pixel = |i: u8| colour.read(&[i, 255 - i, i / 2, 7 * (i % 8)][..colour.samples()]);
            let image = Image::new(7, (0..35).map(pixel).collect(), colour);
            assert_eq!(Image::read_png(Cursor::new(written(&image)), 1 << 20).as_ref(), Ok(&image));
        }
    }

    /// An image of one row as a file, without this module.
    fn encoded(width: u32, colour: png::ColorType, depth: png::BitDepth, values: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, 1);
        encoder.set_color(colour);
        encoder.set_depth(depth);
        if colour == png::ColorType::Indexed {
            encoder.set_palette([1, 2, 3, 4, 5, 6].as_slice());
        }
        encoder.write_header().and_then(|mut file| file.write_image_data(values)).expect("a file");
        file
    }

    #[test]
    fn all_kinds_of_files_become_pixels() {
        use png::BitDepth::{Eight, One, Sixteen};
        use png::ColorType::{Grayscale, GrayscaleAlpha, Indexed, Rgb, Rgba};
        let grey = |value, alpha| [value, value, value, alpha];
        for (colour, depth, values, pixels, kept) in [
            (Grayscale, Eight, &[7, 9][..], [grey(7, 255), grey(9, 255)], Colour::Grey),
            (Grayscale, One, &[0x40], [grey(0, 255), grey(255, 255)], Colour::Grey),
            (Grayscale, Sixteen, &[0xAB, 0xCD, 1, 2], [grey(0xAB, 255), grey(1, 255)], Colour::Grey),
            (GrayscaleAlpha, Eight, &[7, 1, 9, 2], [grey(7, 1), grey(9, 2)], Colour::GreyAlpha),
            (Rgb, Eight, &[1, 2, 3, 4, 5, 6], [[1, 2, 3, 255], [4, 5, 6, 255]], Colour::Rgb),
            (Rgba, Eight, &[1, 2, 3, 4, 5, 6, 7, 8], [[1, 2, 3, 4], [5, 6, 7, 8]], Colour::Rgba),
            (Indexed, Eight, &[1, 0], [[4, 5, 6, 255], [1, 2, 3, 255]], Colour::Rgb),
        ] {
            let image = Image::read_png(Cursor::new(encoded(2, colour, depth, values)), 1 << 20);
            assert_eq!(image, Ok(Image::new(2, pixels.to_vec(), kept)), "{colour:?} {depth:?}");
        }
    }

    #[test]
    fn what_is_no_image_or_too_large_is_refused() {
        let file = written(&Image::speckled(100, 100, 1));
        let read = |file: &[u8], memory| Image::read_png(Cursor::new(file), memory);
        assert!(read(&file, 10_000).is_ok());
        assert_eq!(read(&file, 9999), Err("100 x 100 pixels are more than 9999".to_owned()));
        for length in [0, 10, 40, file.len() / 2] {
            assert!(read(&file[..length], 1 << 20).is_err(), "{length} bytes");
        }
        assert!(read(b"GIF89a, no PNG file", 1 << 20).is_err());
    }
}

//! A coder and a decoder for the video format of `video_decoder.str`. The decoder uses integers, so its results are
//! exact.

mod bits;
mod block;
mod decode;
mod encode;

pub use decode::decode;
pub use encode::encode;

/// The size of the frames of a film.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Pixels in a line, a multiple of 8.
    pub width: usize,
    /// Lines in a frame, a multiple of 8.
    pub height: usize,
}

impl Size {
    /// The left and top coordinates of each block, in order.
    fn blocks(self) -> impl Iterator<Item = (usize, usize)> {
        let across = self.width / 8;
        (0..across * self.height / 8).map(move |block| (block % across * 8, block / across * 8))
    }
}

/// The peak signal-to-noise ratio of two films in decibels.
pub fn psnr(a: &[i32], b: &[i32]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| f64::from((a - b).pow(2)));
    10.0 * (255.0f64.powi(2) * a.len() as f64 / squares.sum::<f64>()).log10()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    #[test]
    fn decoded_films_resemble_the_original() {
        let size = Size { width: 32, height: 16 };
        let film: Vec<i32> = (0..6).flat_map(|i| generate::picture(32, 16, i)).collect();
        for (quantiser, min_psnr) in [(1, 45.0), (4, 35.0), (16, 25.0)] {
            let bits = encode(&film, size, quantiser, 4);
            let again = decode(&bits, size);
            assert_eq!(again.len(), film.len());
            assert!(psnr(&film, &again) > min_psnr, "{}", psnr(&film, &again));
            assert!(bits.len() < 8 * film.len());
        }
    }
}

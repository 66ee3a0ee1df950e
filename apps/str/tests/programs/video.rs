//! The video decoder: exact results, which resemble the original film.

use crate::run::run;
use thalweg_str::generate;
use thalweg_str::reference::video::{Size, decode, encode, psnr};

#[test]
fn frames_match_the_reference_and_resemble_the_film() {
    for (width, height) in [(32, 16), (16, 24)] {
        let film: Vec<i32> = (0..5).flat_map(|i| generate::picture(width, height, i)).collect();
        let size = Size { width, height };
        let changes = [("WIDTH", width.to_string()), ("HEIGHT", height.to_string())];
        for quantiser in [2, 9] {
            let mut bits = encode(&film, size, quantiser, 3);
            // Padded to whole bytes, as in a file.
            bits.resize(bits.len().next_multiple_of(8), false);
            let frames: Vec<i32> = run("video_decoder", &changes, &bits);
            assert_eq!(frames, decode(&bits, size));
            assert_eq!(frames.len(), film.len());
            assert!(psnr(&frames, &film) > 28.0, "{}", psnr(&frames, &film));
        }
    }
}

#[test]
fn noise_is_decoded_like_the_reference() {
    let size = Size { width: 8, height: 8 };
    let numbers = generate::integers(6, 200);
    let bits: Vec<bool> =
        numbers.iter().flat_map(|number| (0..32).map(move |i| number >> i & 1 == 1)).collect();
    let changes = [("WIDTH", "8".to_owned()), ("HEIGHT", "8".to_owned())];
    let frames: Vec<i32> = run("video_decoder", &changes, &bits);
    assert_eq!(frames, decode(&bits, size));
    assert!(frames.len() > 64);
}

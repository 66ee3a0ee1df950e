//! Input for the programs of `apps/str`, for the figures and the tests.
//!
//! An item is one or two 32-bit cells: the bits of a float, an integer, or the two parts of a complex number.

use thalweg_str::{Complex, generate};

/// Input of about `cells` cells for a program, the same in every call.
///
/// # Panics
/// If there is no input for a program of that name.
pub fn input(program: &str, cells: usize) -> Vec<u32> {
    match program {
        "fm_radio" => floats(generate::fm_signal(1, 1e6, 75e3, cells / 2)),
        "channel_vocoder" => floats(generate::speech(8000.0, 125.0, cells)),
        "filter_bank" | "danbi_filter_bank" | "dct" | "matrix_multiply" => floats(generate::noise(2, cells)),
        "time_delay_equaliser" | "fft" | "danbi_fft2" | "danbi_fm_radio" | "danbi_tde" => {
            complex(generate::complex_noise(3, cells / 2))
        }
        "beamformer" => complex(generate::pulses(4, 12, 0.25, (32, 4), 200, cells / 24)),
        "huffman_channel" => integers(generate::text(6, cells)),
        "bargain_finder" => integers(generate::ticks(7, cells / 3, 10)),
        "predicate_filter" => floats(generate::heights(8, cells)),
        "des" | "bitonic_sort" => integers(generate::integers(5, cells)),
        _ => panic!("{program}: no input"),
    }
}

fn floats(items: Vec<f32>) -> Vec<u32> {
    items.into_iter().map(f32::to_bits).collect()
}

fn integers(items: Vec<i32>) -> Vec<u32> {
    items.into_iter().map(i32::cast_unsigned).collect()
}

fn complex(items: Vec<Complex>) -> Vec<u32> {
    items.into_iter().flat_map(|(re, im)| [re.to_bits(), im.to_bits()]).collect()
}

/// A checksum of cells in their order.
pub fn checksum(cells: &[u32]) -> u64 {
    cells
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |sum, &cell| (sum ^ u64::from(cell)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests;

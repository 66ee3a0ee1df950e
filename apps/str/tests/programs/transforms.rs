//! Transforms, compared with their definitions in double precision, and products of matrices, which are exact.

use crate::run::{assert_close, run};
use thalweg_str::reference::transform::{dct, dft, products};
use thalweg_str::{Complex, generate};

#[test]
fn the_fast_fourier_transform_is_the_discrete_one() {
    for size in [4, 8, 64] {
        let signal = generate::complex_noise(1, 3 * size);
        let result: Vec<Complex> = run("fft", &[("SIZE", size.to_string())], &signal);
        let parts: Vec<f32> = result.iter().flat_map(|x| [x.0, x.1]).collect();
        let expected: Vec<f64> = dft(&signal, size).iter().flat_map(|x| [x.0, x.1]).collect();
        // Sums of 64 numbers below 1.5 with a rounding in each of 6 stages: below 64 * 1.5 * 6 * 6e-8.
        assert_close(&parts, &expected, 4e-5);
    }
}

#[test]
fn the_cosine_transform_is_its_double_sum() {
    for size in [8, 5] {
        let pixels = generate::noise(2, 3 * size * size);
        let result: Vec<f32> = run("dct", &[("SIZE", size.to_string())], &pixels);
        // Coefficients are below 8, from two sums of 8 products.
        assert_close(&result, &dct(&pixels, size), 1e-5);
    }
}

#[test]
fn products_of_matrices_are_exact() {
    for (n, m, p) in [(16, 16, 16), (2, 3, 5)] {
        let sizes = [("N", n.to_string()), ("M", m.to_string()), ("P", p.to_string())];
        let pairs = generate::noise(3, 2 * (n * m + m * p));
        let expected = products(&pairs, n, m, p);
        for program in ["matrix_multiply", "matrix_multiply_blocks"] {
            let result: Vec<f32> = run(program, &sizes, &pairs);
            assert_eq!(result, expected, "{program}");
        }
    }
}

//! RG beside a filter along rows and columns, bit by bit, and beside convolutions in double precision.

use crate::support::{assert_counts, assert_everywhere};
use thalweg_danbi::rg::{Parameters, graph, input, sequential};
use thalweg_danbi::{Colour, Image, Pixel};

#[test]
fn the_graph_is_that_of_table_2() {
    assert_counts(&graph(&input(0.0, 1), &Parameters::default()), 6, 5);
}

/// An image of all colours and opacities.
fn coloured(width: usize, height: usize) -> Image {
    let value = |i: usize, factor: usize| (i * factor % 256) as u8;
    let pixel = |i: usize| [value(i, 7), value(i, 131), value(i / 5, 89), value(i / width, 53)];
    Image::new(width, (0..width * height).map(pixel).collect(), Colour::Rgba)
}

#[test]
fn images_are_those_of_the_sequential_program() {
    let lines = [coloured(1, 9), coloured(9, 1), coloured(1, 1)];
    let several = [coloured(30, 21), Image::speckled(30, 21, 3), coloured(30, 21)];
    for images in lines.chunks(1).chain([&several[..], &[]]) {
        for sigma in [0.5, 4.0] {
            let expected = sequential(images, &Parameters { sigma });
            assert_everywhere(&expected, || graph(images, &Parameters { sigma }), |images| images);
        }
    }
}

/// The line convolved with the response of the filter. Beyond its ends it continues with its last value.
fn convolved(line: &[f64], response: impl Fn(f64) -> f64) -> Vec<f64> {
    let length = line.len() as i64;
    let weights: Vec<f64> = (-400..=400).map(|n| response(f64::from(n))).collect();
    let sum: f64 = weights.iter().sum();
    let value = |at: i64| {
        let term =
            |(n, weight): (i64, &f64)| weight / sum * line[(at + n - 400).clamp(0, length - 1) as usize];
        (0..).zip(&weights).map(term).sum()
    };
    (0..length).map(value).collect()
}

/// A grey image, convolved along its rows and its columns.
fn blurred(image: &Image, response: impl Fn(f64) -> f64) -> Vec<f64> {
    let (width, height) = (image.width(), image.height());
    let grey = |row: &[Pixel]| row.iter().map(|pixel| f64::from(pixel[0])).collect::<Vec<_>>();
    let rows: Vec<_> = image.rows().map(|row| convolved(&grey(row), &response)).collect();
    let column = |x: usize| convolved(&rows.iter().map(|row| row[x]).collect::<Vec<_>>(), &response);
    let columns: Vec<_> = (0..width).map(column).collect();
    (0..height).flat_map(|y| columns.iter().map(move |column| column[y])).collect()
}

fn greatest_error(image: &Image, expected: &[f64]) -> f64 {
    let errors =
        image.pixels().iter().zip(expected).map(|(pixel, value)| (f64::from(pixel[0]) - value).abs());
    errors.fold(0.0, f64::max)
}

#[test]
fn the_filter_is_a_convolution_close_to_that_with_a_gauss_function() {
    let images = [Image::speckled(61, 47, 5)];
    let sigma = 3.0;
    let result = graph(&images, &Parameters { sigma }).run().expect("a run").into_value();
    let alpha = 1.695 / f64::from(sigma);
    let exact = blurred(&images[0], |n| (alpha * n.abs() + 1.0) * (-alpha * n.abs()).exp());
    // Half a unit for the bytes, and rounding.
    assert!(greatest_error(&result[0], &exact) < 0.51);
    let gauss = blurred(&images[0], |n| (-n * n / (2.0 * f64::from(sigma).powi(2))).exp());
    assert!(greatest_error(&result[0], &gauss) < 6.0, "{}", greatest_error(&result[0], &gauss));
}

#[test]
fn even_images_stay_as_they_are() {
    for pixel in [[0; 4], [255; 4], [10, 20, 30, 255], [100, 200, 50, 128], [1, 2, 3, 1]] {
        let images = [Image::new(20, vec![pixel; 300], Colour::Rgba)];
        let result = graph(&images, &Parameters { sigma: 2.0 }).run().expect("a run").into_value();
        assert_eq!(result, images, "{pixel:?}");
    }
}

#[test]
#[should_panic(expected = "images of different sizes: (3, 4) and (4, 3)")]
fn images_of_different_sizes_are_refused() {
    let images = [coloured(3, 4), coloured(4, 3)];
    let _output = graph(&images, &Parameters::default());
}

//! RG: the recursive Gaussian filter, which blurs images at a cost that does not depend on the radius.
//!
//! ```text
//! source ─▶ gauss ─▶ transpose ─▶ gauss ─▶ transpose ─▶ sink
//! ```
//!
//! The items are rows of pixels; between the two transpositions, columns. A row is filtered from the left to the right and from the
//! right to the left by recursions of second order, and the results are added (R. Deriche, *Recursively Implementing the Gaussian and
//! its Derivatives*, 1993; NVIDIA's OpenCL example `oclRecursiveGaussian`). The filter's response at `n` pixels is exactly
//! `k (alpha |n| + 1) exp(-alpha |n|)` with `alpha = 1.695 / sigma`. Beyond its ends a row continues with its last pixel.
//!
//! Unlike the example, this filter keeps single precision between the steps, and weighs colours by their opacity.

use crate::image::{Colour, Image, Pixel, common_size, test_images};
use std::sync::Arc;
use thalweg::{Graph, Output, Stream, output, window};

/// The input of the paper's Table III, in million bytes.
pub const MEGABYTES: u32 = 3000;

/// What the program is given beside its input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The standard deviation of the Gauss function, in pixels: a positive number.
    pub sigma: f32,
}

impl Default for Parameters {
    /// NVIDIA's example: 10 pixels.
    fn default() -> Self {
        Parameters { sigma: 10.0 }
    }
}

/// The coefficients of the recursions.
#[derive(Clone, Copy, Debug)]
struct Coefficients {
    /// Those of pixels: two for the way to the right, two for the way to the left.
    a: [f32; 4],
    /// Those of the last two results.
    b: [f32; 2],
    /// The results of both ways for a row of ones.
    ones: [f32; 2],
}

impl Parameters {
    fn check(&self) {
        let sigma = self.sigma;
        assert!(sigma > 0.0 && sigma.is_finite(), "a Gauss function has no standard deviation {sigma}");
    }

    fn coefficients(&self) -> Coefficients {
        let alpha = 1.695 / f64::from(self.sigma);
        let ema = (-alpha).exp();
        let b = [-2.0 * ema, ema * ema];
        let k = (1.0 - ema) * (1.0 - ema) / (1.0 + 2.0 * alpha * ema - ema * ema);
        let a = [k, k * (alpha - 1.0) * ema, k * (alpha + 1.0) * ema, -k * ema * ema];
        let ones = [a[0] + a[1], a[2] + a[3]].map(|sum| (sum / (1.0 + b[0] + b[1])) as f32);
        Coefficients { a: a.map(|a| a as f32), b: b.map(|b| b as f32), ones }
    }
}

/// Images with speckle: [`MEGABYTES`] times `scale`. They have 1024 by 1024 pixels; inputs of fewer than two such images have
/// images of 64 by 48.
pub fn input(scale: f64, seed: u64) -> Vec<Image> {
    test_images(MEGABYTES, scale, size_of::<Pixel>(), seed)
}

/// The columns or rows that a transposition makes at a time: their pixels lie side by side in what it reads, and fill whole
/// lines of the cache.
const TILE: usize = 8;

/// A pixel in single precision: colours times opacity, and opacity, from 0 to 255.
type Light = [f32; 4];

/// A row or a column of an image.
#[derive(Clone, Debug)]
struct Line {
    colour: Colour,
    pixels: Vec<Light>,
}

/// The program. Its result is the blurred images.
///
/// ```
/// use thalweg_danbi::{Image, rg};
///
/// let images = [Image::speckled(60, 40, 1)];
/// let blurred = rg::graph(&images, &rg::Parameters { sigma: 3.0 }).run()?.into_value();
/// assert_eq!((blurred[0].width(), blurred[0].height()), (60, 40));
/// # Ok::<(), thalweg::Error>(())
/// ```
///
/// # Panics
/// If the images have different sizes, or `sigma` is not positive.
pub fn graph<'env>(images: &'env [Image], parameters: &Parameters) -> Output<'env, Vec<Image>> {
    parameters.check();
    let (width, height) = common_size(images.iter().map(|image| (image.width(), image.height())));
    let coefficients = Arc::new(parameters.coefficients());
    let (for_rows, for_columns) = (coefficients.clone(), coefficients);
    let graph = Graph::new();
    let rows = graph
        .source(images.iter().flat_map(|image| image.rows().map(move |row| (image.colour, row))))
        .kernel("gauss rows", output("rows").push(1))
        .parallel(move |rows, out| {
            let (colour, row) = rows.pop();
            let pixels: Vec<_> = row.iter().copied().map(light).collect();
            out.push(Line { colour, pixels: gauss(&pixels, &for_rows) });
        });
    let columns = transpose(&graph, rows, height, width)
        .kernel("gauss columns", output("columns").push(1))
        .parallel(move |columns, out| {
            let Line { colour, pixels } = columns.pop();
            out.push(Line { colour, pixels: gauss(&pixels, &for_columns) });
        });
    assemble(&graph, columns, width, height).collect().named("sink")
}

/// A number of items as a rate.
fn rate(items: usize) -> u32 {
    u32::try_from(items).expect("an image of fewer than 2^32 rows and columns")
}

/// Adds a kernel that makes columns of each `height` rows.
fn transpose<'env>(
    graph: &Graph<'env>,
    rows: Stream<'env, Line>,
    height: usize,
    width: usize,
) -> Stream<'env, Line> {
    let rows = window("rows", rows).pop(rate(height));
    graph.kernel("transpose rows", rows, output("columns").push(rate(width))).parallel(move |rows, out| {
        let rows: Vec<&Line> = rows.iter().collect();
        columns_of(&rows, width, |columns| out.extend(columns));
    })
}

/// Calls `each` with the columns of these rows, some at a time.
fn columns_of(rows: &[&Line], width: usize, mut each: impl FnMut(&mut dyn Iterator<Item = Line>)) {
    for first in (0..width).step_by(TILE) {
        let mut columns: Vec<_> =
            (first..width.min(first + TILE)).map(|_| Vec::with_capacity(rows.len())).collect();
        for row in rows {
            columns.iter_mut().zip(&row.pixels[first..]).for_each(|(column, pixel)| column.push(*pixel));
        }
        each(&mut columns.into_iter().map(|pixels| Line { colour: rows[0].colour, pixels }));
    }
}

/// Adds a kernel that makes an image of each `width` columns.
fn assemble<'env>(
    graph: &Graph<'env>,
    columns: Stream<'env, Line>,
    width: usize,
    height: usize,
) -> Stream<'env, Image> {
    let columns = window("columns", columns).pop(rate(width));
    graph.kernel("transpose columns", columns, output("image").push(1)).parallel(move |columns, out| {
        let columns: Vec<&Line> = columns.iter().collect();
        out.push(image_of(&columns, height));
    })
}

/// The image of these columns.
fn image_of(columns: &[&Line], height: usize) -> Image {
    let width = columns.len();
    let mut pixels = vec![Pixel::default(); width * height];
    for (tile, rows) in pixels.chunks_mut(TILE * width).enumerate() {
        for (x, column) in columns.iter().enumerate() {
            let places = rows[x..].iter_mut().step_by(width);
            places.zip(&column.pixels[tile * TILE..]).for_each(|(place, light)| *place = pixel(*light));
        }
    }
    Image::new(width, pixels, columns[0].colour)
}

/// A blurred image by the program's kernels, one after the other on the calling thread: for loops over images.
///
/// ```
/// use thalweg_danbi::{Image, rg};
///
/// let images = [Image::speckled(60, 40, 1)];
/// let blurred = rg::blur(&images[0], &rg::Parameters::default());
/// assert_eq!([blurred], rg::sequential(&images, &rg::Parameters::default())[..]);
/// ```
///
/// # Panics
/// If `sigma` is not positive.
pub fn blur(image: &Image, parameters: &Parameters) -> Image {
    parameters.check();
    let coefficients = parameters.coefficients();
    let row = |row: &[Pixel]| {
        let pixels: Vec<_> = row.iter().copied().map(light).collect();
        Line { colour: image.colour, pixels: gauss(&pixels, &coefficients) }
    };
    let rows: Vec<Line> = image.rows().map(row).collect();
    let mut columns = Vec::with_capacity(image.width());
    columns_of(&rows.iter().collect::<Vec<_>>(), image.width(), |some| {
        columns.extend(
            some.map(|Line { colour, pixels }| Line { colour, pixels: gauss(&pixels, &coefficients) }),
        );
    });
    image_of(&columns.iter().collect::<Vec<_>>(), image.height())
}

/// A pixel of the image in single precision.
fn light(pixel: Pixel) -> Light {
    let [red, green, blue, alpha] = pixel.map(f32::from);
    let weight = alpha / 255.0;
    [red * weight, green * weight, blue * weight, alpha]
}

/// A pixel of the result.
fn pixel([red, green, blue, alpha]: Light) -> Pixel {
    let weight = if alpha > 0.0 { 255.0 / alpha } else { 0.0 };
    // The conversion keeps values between 0 and 255.
    [red * weight, green * weight, blue * weight, alpha].map(|value| (value + 0.5) as u8)
}

/// A filtered line.
fn gauss(line: &[Light], coefficients: &Coefficients) -> Vec<Light> {
    let mut filtered = Vec::with_capacity(line.len());
    recursion(line, coefficients, |result| filtered.push(result));
    let mut places = filtered.iter_mut().rev();
    recursion_back(line, coefficients, |result| {
        let sum = places.next().into_iter().flatten();
        sum.zip(result).for_each(|(sum, result)| *sum += result);
    });
    filtered
}

/// Calls `each` with the results of the way to the right.
fn recursion(line: &[Light], Coefficients { a, b, ones }: &Coefficients, mut each: impl FnMut(Light)) {
    let Some(mut last) = line.first().copied() else { return };
    let mut results = [last.map(|x| x * ones[0]); 2];
    for pixel in line {
        let result = std::array::from_fn(|i| {
            a[0] * pixel[i] + a[1] * last[i] - b[0] * results[0][i] - b[1] * results[1][i]
        });
        (last, results) = (*pixel, [result, results[0]]);
        each(result);
    }
}

/// Calls `each` with the results of the way to the left. They are sums over the pixels that come before on this way.
fn recursion_back(line: &[Light], Coefficients { a, b, ones }: &Coefficients, mut each: impl FnMut(Light)) {
    let Some(last) = line.last().copied() else { return };
    let (mut pixels, mut results) = ([last; 2], [last.map(|x| x * ones[1]); 2]);
    for pixel in line.iter().rev() {
        let result = std::array::from_fn(|i| {
            a[2] * pixels[0][i] + a[3] * pixels[1][i] - b[0] * results[0][i] - b[1] * results[1][i]
        });
        (pixels, results) = ([*pixel, pixels[0]], [result, results[0]]);
        each(result);
    }
}

/// The program without a graph: filters the colours of an image one after the other, first along its rows, then along its
/// columns.
pub fn sequential(images: &[Image], parameters: &Parameters) -> Vec<Image> {
    let coefficients = parameters.coefficients();
    let blur = |image: &Image| {
        let (width, height) = (image.width(), image.height());
        let mut light: Vec<Light> = image.pixels().iter().copied().map(light).collect();
        for colour in 0..4 {
            (0..height)
                .for_each(|row| filter_places(&mut light, colour, (row * width, 1, width), &coefficients));
            (0..width)
                .for_each(|column| filter_places(&mut light, colour, (column, width, height), &coefficients));
        }
        Image::new(width, light.into_iter().map(pixel).collect(), image.colour)
    };
    images.iter().map(blur).collect()
}

/// Filters one colour of `count` pixels, `step` apart from `first` on.
fn filter_places(
    light: &mut [Light],
    colour: usize,
    (first, step, count): (usize, usize, usize),
    c: &Coefficients,
) {
    let x: Vec<f32> = (0..count).map(|i| light[first + i * step][colour]).collect();
    let (left, right) = (x[0], x[count - 1]);
    let (mut y, mut z) = (vec![0.0; count], vec![0.0; count]);
    for i in 0..count {
        let x1 = if i > 0 { x[i - 1] } else { left };
        let y1 = if i > 0 { y[i - 1] } else { left * c.ones[0] };
        let y2 = if i > 1 { y[i - 2] } else { left * c.ones[0] };
        y[i] = c.a[0] * x[i] + c.a[1] * x1 - c.b[0] * y1 - c.b[1] * y2;
    }
    for i in (0..count).rev() {
        let at = |values: &[f32], i: usize, beyond: f32| values.get(i).copied().unwrap_or(beyond);
        let (x1, x2) = (at(&x, i + 1, right), at(&x, i + 2, right));
        let (z1, z2) = (at(&z, i + 1, right * c.ones[1]), at(&z, i + 2, right * c.ones[1]));
        z[i] = c.a[2] * x1 + c.a[3] * x2 - c.b[0] * z1 - c.b[1] * z2;
        light[first + i * step][colour] = y[i] + z[i];
    }
}

//! SRAD: speckle-reducing anisotropic diffusion, which smooths the noise of ultrasonic and radar images and keeps edges.
//!
//! ```text
//!                     ┌────────▶ statistics ───┐
//! source ─▶ extract ──┤                        ├▶ coefficients ─▶ update ─▶ sink
//!                     └────────────────────────┘
//! ```
//!
//! One step of the diffusion of Y. Yu and S. T. Acton (*Speckle Reducing Anisotropic Diffusion*, 2002), as in Rodinia's `srad`: the
//! contrast at each pixel is compared with that of the whole image, and determines how much flows between it and its four
//! neighbours. A caller that wants more steps runs the graph again with its result.
//!
//! The items are bands of [`ROWS`] rows. The source adds the rows around a band that its coefficients depend on, so all
//! bands of an image are independent but for the statistics. Beyond its borders an image continues with its last pixel.
//!
//! A band brings the memory for its result along, which is the caller's: firings of `update` write to it in parallel. A sink that
//! copied rows to planes bounded the run at 40 workers: it was busy for 98 % of the time.

use crate::image::{Image, common_size, test_images};
use std::ops::Range;
use std::sync::Arc;
use thalweg::{Graph, Options, Output, Report, Stream, input as port, output};

/// The input of the paper's Table III, in million bytes.
pub const MEGABYTES: u32 = 5000;

/// The rows of a band.
pub const ROWS: usize = 16;

/// The smallest contrast of an image: an even one has none to compare with.
const LEAST_CONTRAST: f32 = 1e-12;

/// What the program is given beside its input.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The time of a step, from 0 to 1.
    pub lambda: f32,
    /// The part of the image whose contrast is that of the noise: one without edges. `None` for the whole image, whose
    /// edges then are smoothed as well.
    pub region: Option<Region>,
}

/// A rectangle of pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its columns.
    pub columns: Range<usize>,
    /// Its rows.
    pub rows: Range<usize>,
}

impl Default for Parameters {
    /// Rodinia's: 0.5, and the whole image.
    fn default() -> Self {
        Parameters { lambda: 0.5, region: None }
    }
}

impl Parameters {
    /// The region in planes of this size.
    fn region(&self, width: usize, height: usize) -> Region {
        let region = self.region.clone().unwrap_or(Region { columns: 0..width, rows: 0..height });
        let inside = |range: &Range<usize>, end| !range.is_empty() && range.end <= end;
        assert!(
            inside(&region.columns, width) && inside(&region.rows, height),
            "a region without pixels of the image"
        );
        region
    }
}

/// An image of one colour, with values from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    width: usize,
    values: Vec<f32>,
}

impl Plane {
    /// A plane of rows of `width` values.
    ///
    /// # Panics
    /// If there are no values, or the last row is not full.
    pub fn new(width: usize, values: Vec<f32>) -> Plane {
        let rows = values.len().checked_div(width).unwrap_or(0);
        assert!(rows > 0 && rows * width == values.len(), "{} values are no rows of {width}", values.len());
        Plane { width, values }
    }

    /// A plane of this size with the value 0.
    ///
    /// # Panics
    /// If it has no values.
    pub fn blank(width: usize, height: usize) -> Plane {
        Plane::new(width, vec![0.0; width * height])
    }

    /// A colour of an image: 0 is red or grey, 1 green, 2 blue.
    pub fn of(image: &Image, colour: usize) -> Plane {
        let values = image.pixels().iter().map(|pixel| f32::from(pixel[colour]) / 255.0);
        Plane::new(image.width(), values.collect())
    }

    /// The values of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The rows.
    pub fn height(&self) -> usize {
        self.values.len() / self.width
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// A value as a byte, by the number of its pixel.
    ///
    /// # Panics
    /// If there is no such pixel.
    pub fn byte(&self, pixel: usize) -> u8 {
        // The conversion keeps values between 0 and 255.
        (self.values[pixel] * 255.0 + 0.5) as u8
    }
}

/// Images with speckle: [`MEGABYTES`] times `scale`. They have 1024 by 1024 pixels; inputs of fewer than two such images have
/// images of 64 by 48.
pub fn input(scale: f64, seed: u64) -> Vec<Plane> {
    test_images(MEGABYTES, scale, size_of::<f32>(), seed).iter().map(|image| Plane::of(image, 0)).collect()
}

/// Some rows of a plane, rows around them, and the memory for their values after the step.
struct Band<'env> {
    width: usize,
    values: &'env [f32],
    frame: Frame,
    smooth: &'env mut [f32],
}

/// The band's own rows among the rows of an item.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The rows before the band: one, but none at the top.
    above: usize,
    /// The rows of the band.
    rows: usize,
}

/// The bands of a plane: each with one row above it and two below it, where the plane has these.
fn bands<'env>(plane: &'env Plane, smooth: &'env mut Plane) -> impl Iterator<Item = Band<'env>> + Send {
    let (width, height) = (plane.width, plane.height());
    (0..height).step_by(ROWS).zip(smooth.values.chunks_mut(ROWS * width)).map(move |(first, smooth)| {
        let rows = ROWS.min(height - first);
        let above = first.min(1);
        let end = (first + rows + 2).min(height);
        let values = &plane.values[(first - above) * width..end * width];
        Band { width, values, frame: Frame { above, rows }, smooth }
    })
}

/// The values of a band, and of the rows around it: the exponential function of those of the plane.
#[derive(Debug)]
struct Extract {
    width: usize,
    values: Vec<f32>,
    frame: Frame,
}

impl Extract {
    fn of(band: &Band<'_>) -> Extract {
        Extract {
            width: band.width,
            values: band.values.iter().map(|x| x.exp()).collect(),
            frame: band.frame,
        }
    }

    /// The band's own values.
    fn own(&self) -> &[f32] {
        &self.values[self.frame.above * self.width..][..self.frame.rows * self.width]
    }

    /// A row, from the first one that is there; the last one beyond the end.
    fn row(&self, at: usize) -> &[f32] {
        let last = self.values.len() / self.width - 1;
        &self.values[at.min(last) * self.width..][..self.width]
    }

    /// A row with those above and below it.
    fn around(&self, at: usize) -> Rows<'_> {
        Rows { north: self.row(at.saturating_sub(1)), here: self.row(at), south: self.row(at + 1) }
    }
}

/// A row of an image and its neighbours.
#[derive(Clone, Copy)]
struct Rows<'a> {
    north: &'a [f32],
    here: &'a [f32],
    south: &'a [f32],
}

impl Rows<'_> {
    /// The differences of a pixel's neighbours and the pixel: north, south, west and east.
    fn differences(&self, x: usize) -> [f32; 4] {
        let (here, east) = (self.here[x], self.here[(x + 1).min(self.here.len() - 1)]);
        [self.north[x] - here, self.south[x] - here, self.here[x.saturating_sub(1)] - here, east - here]
    }

    /// How much flows at a pixel, from 0 at edges to 1.
    fn coefficient(&self, x: usize, contrast: f32) -> f32 {
        let (here, [north, south, west, east]) = (self.here[x], self.differences(x));
        let gradient = (north * north + south * south + west * west + east * east) / (here * here);
        let laplace = (north + south + west + east) / here;
        let (numerator, denominator) = (0.5 * gradient - laplace * laplace / 16.0, 1.0 + 0.25 * laplace);
        let local = numerator / (denominator * denominator);
        (1.0 / (1.0 + (local - contrast) / (contrast * (1.0 + contrast)))).clamp(0.0, 1.0)
    }
}

/// The contrast of an image, of the sum of its pixels and of their squares: variance divided by the square of the mean.
fn contrast([sum, squares]: [f64; 2], pixels: usize) -> f32 {
    let (mean, mean_square) = (sum / pixels as f64, squares / pixels as f64);
    (((mean_square - mean * mean) / (mean * mean)) as f32).max(LEAST_CONTRAST)
}

/// Adds pixels and their squares to sums.
fn add_up(sums: &mut [f64; 2], pixels: &[f32]) {
    for pixel in pixels {
        let pixel = f64::from(*pixel);
        *sums = [sums[0] + pixel, sums[1] + pixel * pixel];
    }
}

/// A band of the image, and the memory for its values after the step.
struct Extracted<'env> {
    extract: Arc<Extract>,
    smooth: &'env mut [f32],
}

/// A band with the coefficients of its rows and of the row below it.
struct Diffusion<'env> {
    image: Extracted<'env>,
    coefficients: Vec<f32>,
}

/// The planes after one step, and the report of the run.
///
/// ```
/// use thalweg::Options;
/// use thalweg_danbi::srad::{Parameters, Plane, smooth};
///
/// let plane = [Plane::new(3, vec![0.5, 0.5, 0.5, 0.5, 0.6, 0.5, 0.5, 0.5, 0.5])];
/// let (smooth, _report) = smooth(&plane, &Parameters::default(), &Options::new())?;
/// assert!(smooth[0].values()[4] < 0.6);
/// # Ok::<(), thalweg::Error>(())
/// ```
///
/// # Errors
/// As those of [`Output::run_with`].
///
/// # Panics
/// As [`graph`].
pub fn smooth(
    planes: &[Plane],
    parameters: &Parameters,
    options: &Options,
) -> Result<(Vec<Plane>, Report), thalweg::Error> {
    let mut smooth: Vec<_> = planes.iter().map(|plane| Plane::blank(plane.width, plane.height())).collect();
    let ((), report) = graph(planes, &mut smooth, parameters).run_with(options)?.into_parts();
    Ok((smooth, report))
}

/// The program, which writes the planes after one step to `smooth`. If a run fails, any of their values may have been written.
///
/// # Panics
/// If the planes have different sizes, there are not as many in `smooth` as in `planes`, or the region has no pixels or pixels
/// outside of them.
pub fn graph<'env>(
    planes: &'env [Plane],
    smooth: &'env mut [Plane],
    parameters: &Parameters,
) -> Output<'env, ()> {
    assert_eq!(planes.len(), smooth.len(), "a plane for each result");
    let all = planes.iter().chain(&*smooth);
    let (width, height) = common_size(all.map(|plane| (plane.width, plane.height())));
    let (lambda, region) = (parameters.lambda, parameters.region(width, height));
    let graph = Graph::new();
    let outputs = (output("image").push(1), output("statistics").push(1));
    let (image, for_statistics) = graph
        .source(planes.iter().zip(smooth).flat_map(|(plane, smooth)| bands(plane, smooth)))
        .kernel("extract", outputs)
        .parallel(|bands, (image, statistics)| {
            let band = bands.pop();
            let extract = Arc::new(Extract::of(&band));
            image.push(Extracted { extract: extract.clone(), smooth: band.smooth });
            statistics.push(extract);
        });
    let inputs = (port("image", image), port("contrast", statistics(&graph, for_statistics, height, region)));
    graph
        .kernel("coefficients", inputs, output("diffusion").push(1))
        .parallel(|(images, contrasts), out| out.push(coefficients(images.pop(), contrasts.pop())))
        .kernel("update", output("done").push(1))
        .parallel(move |diffusions, out| {
            update(diffusions.pop(), lambda);
            out.push(());
        })
        .for_each(|()| ())
        .named("sink")
}

/// Adds a kernel that computes the contrast of each image, and pushes it for each of its bands.
fn statistics<'env>(
    graph: &Graph<'env>,
    bands: Stream<'env, Arc<Extract>>,
    height: usize,
    region: Region,
) -> Stream<'env, f32> {
    let count = u32::try_from(height.div_ceil(ROWS)).expect("an image of fewer than 2^32 bands");
    let bands = port("bands", bands).pop(count);
    graph.kernel("statistics", bands, output("contrast").push(count)).parallel(move |bands, out| {
        let (mut sums, mut row) = ([0.0; 2], 0);
        while let Some(band) = bands.try_pop() {
            for pixels in band.own().chunks_exact(band.width) {
                if region.rows.contains(&row) {
                    add_up(&mut sums, &pixels[region.columns.clone()]);
                }
                row += 1;
            }
        }
        let contrast = contrast(sums, region.rows.len() * region.columns.len());
        out.extend((0..count).map(|_| contrast));
    })
}

/// The coefficients of a band, and of the row below it.
fn coefficients(image: Extracted<'_>, contrast: f32) -> Diffusion<'_> {
    let extract = &image.extract;
    let Frame { above, rows } = extract.frame;
    let row = |at: usize| {
        let rows = extract.around(at);
        (0..extract.width).map(move |x| rows.coefficient(x, contrast))
    };
    let coefficients = (above..=above + rows).flat_map(row).collect();
    Diffusion { image, coefficients }
}

/// Writes the values of a band after a step. At the bottom of the image nothing flows from the row below, which is the row itself.
fn update(Diffusion { image: Extracted { extract, smooth }, coefficients }: Diffusion<'_>, lambda: f32) {
    let width = extract.width;
    for (row, values) in smooth.chunks_exact_mut(width).enumerate() {
        let rows = extract.around(extract.frame.above + row);
        let (here, south) = coefficients[row * width..][..2 * width].split_at(width);
        for (x, value) in values.iter_mut().enumerate() {
            let flow = [here[x], south[x], here[x], here[(x + 1).min(width - 1)]];
            *value = next(rows.here[x], rows.differences(x), flow, lambda);
        }
    }
}

/// The value of a pixel after a step: back from its exponential.
fn next(here: f32, differences: [f32; 4], flow: [f32; 4], lambda: f32) -> f32 {
    let [north, south, west, east]: [f32; 4] = std::array::from_fn(|side| flow[side] * differences[side]);
    (here + 0.25 * lambda * (north + south + west + east)).ln()
}

/// The program without a graph: one array after the other over the whole image, by indices.
pub fn sequential(planes: &[Plane], parameters: &Parameters) -> Vec<Plane> {
    let step = |plane: &Plane| {
        let (width, height) = (plane.width, plane.height());
        let image: Vec<f32> = plane.values.iter().map(|x| x.exp()).collect();
        let Region { columns, rows } = parameters.region(width, height);
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        for (i, x) in image.iter().enumerate() {
            if columns.contains(&(i % width)) && rows.contains(&(i / width)) {
                let x = f64::from(*x);
                (sum, squares, count) = (sum + x, squares + x * x, count + 1.0);
            }
        }
        let mean = sum / count;
        let contrast = (squares / count - mean * mean) / (mean * mean);
        let q0 = (contrast as f32).max(LEAST_CONTRAST);
        let (mut sides, mut c) = (vec![[0.0f32; 4]; image.len()], vec![0.0f32; image.len()]);
        for i in 0..image.len() {
            let (x, y, j) = (i % width, i / width, image[i]);
            let north = image[if y > 0 { i - width } else { i }] - j;
            let south = image[if y + 1 < height { i + width } else { i }] - j;
            let west = image[if x > 0 { i - 1 } else { i }] - j;
            let east = image[if x + 1 < width { i + 1 } else { i }] - j;
            let g2 = (north * north + south * south + west * west + east * east) / (j * j);
            let l = (north + south + west + east) / j;
            let root = 1.0 + 0.25 * l;
            let q = (0.5 * g2 - l * l / 16.0) / (root * root);
            sides[i] = [north, south, west, east];
            c[i] = (1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0)))).clamp(0.0, 1.0);
        }
        let value = |i: usize| {
            let south = if i / width + 1 < height { c[i + width] } else { c[i] };
            let east = if i % width + 1 < width { c[i + 1] } else { c[i] };
            let [n, s, w, e] = sides[i];
            (image[i] + 0.25 * parameters.lambda * (c[i] * n + south * s + c[i] * w + east * e)).ln()
        };
        Plane::new(width, (0..image.len()).map(value).collect())
    };
    planes.iter().map(step).collect()
}

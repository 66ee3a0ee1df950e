//! SRAD beside a program over whole images, bit by bit, and beside the properties of the diffusion.

use crate::support::{assert_counts, assert_runs_everywhere};
use thalweg::Options;
use thalweg_danbi::Image;
use thalweg_danbi::srad::{Parameters, Plane, ROWS, Region, graph, input, sequential, smooth};

#[test]
fn the_graph_is_that_of_table_2() {
    let (planes, mut smooth) = (input(0.0, 1), input(0.0, 1));
    assert_counts(&graph(&planes, &mut smooth, &Parameters::default()), 6, 6);
}

/// The planes after a step.
fn step(planes: &[Plane], parameters: &Parameters) -> Vec<Plane> {
    smooth(planes, parameters, &Options::new()).expect("a run").0
}

fn bits(planes: &[Plane]) -> Vec<u32> {
    planes.iter().flat_map(|plane| plane.values().iter().map(|value| value.to_bits())).collect()
}

#[test]
fn bits_are_those_of_the_sequential_program() {
    let plane = |width, height, seed| Plane::of(&Image::speckled(width, height, seed), 0);
    // Heights around a band, for the rows above and below it.
    for height in [1, 2, ROWS - 1, ROWS, ROWS + 1, ROWS + 2, 2 * ROWS, 3 * ROWS - 5] {
        for width in [1, 7] {
            let planes = [plane(width, height, 1), plane(width, height, 2), plane(width, height, 3)];
            let expected = bits(&sequential(&planes, &Parameters::default()));
            let result = step(&planes, &Parameters::default());
            assert!(bits(&result) == expected, "{width} x {height}");
            assert!(result.iter().all(|plane| (plane.width(), plane.height()) == (width, height)));
        }
    }
    let planes = input(0.0, 2);
    for region in [None, Some(Region { columns: 3..40, rows: 5..35 })] {
        let parameters = Parameters { region, ..Parameters::default() };
        let expected = bits(&sequential(&planes, &parameters));
        let run = |options: &Options| bits(&smooth(&planes, &parameters, options).expect("a run").0);
        assert_runs_everywhere(&expected, run);
    }
}

#[test]
#[should_panic(expected = "a region without pixels of the image")]
fn a_region_outside_of_the_image_is_refused() {
    let region = Some(Region { columns: 0..4, rows: 0..5 });
    let planes = [Plane::new(4, vec![0.5; 16])];
    _ = step(&planes, &Parameters { region, ..Parameters::default() });
}

#[test]
#[should_panic(expected = "images of different sizes")]
fn results_of_another_size_are_refused() {
    let (planes, mut smooth) = ([Plane::blank(4, 5)], [Plane::blank(5, 4)]);
    let _output = graph(&planes, &mut smooth, &Parameters::default());
}

#[test]
fn even_images_stay_as_they_are() {
    let planes = [Plane::new(10, vec![0.25; 300])];
    let result = step(&planes, &Parameters::default());
    assert!(result[0].values().iter().all(|value| (value - 0.25).abs() < 1e-6));
}

/// Mean and standard deviation of the pixels of a rectangle.
fn statistics(plane: &Plane, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) -> (f64, f64) {
    let row = |row: usize| &plane.values()[row * plane.width()..][columns.clone()];
    let pixels: Vec<f64> = rows.flat_map(row).map(|value| f64::from(*value)).collect();
    let mean = pixels.iter().sum::<f64>() / pixels.len() as f64;
    let variance = pixels.iter().map(|pixel| (pixel - mean).powi(2)).sum::<f64>() / pixels.len() as f64;
    (mean, variance.sqrt())
}

/// Two halves with speckle, and its contrast from a part of the left half: steps remove the speckle and keep the edge.
#[test]
fn speckle_goes_and_edges_stay() {
    let mut random = fastrand::Rng::with_seed(3);
    let pixel = |i: usize| if i % 64 < 32 { 0.3 } else { 0.7 } + 0.03 * random.f32();
    let mut planes = vec![Plane::new(64, (0..64 * 64).map(pixel).collect())];
    let halves = [0..32, 32..64];
    let before = halves.clone().map(|columns| statistics(&planes[0], columns, 0..64));
    let parameters =
        Parameters { region: Some(Region { columns: 0..24, rows: 0..64 }), ..Parameters::default() };
    for _ in 0..30 {
        planes = step(&planes, &parameters);
    }
    let after = halves.map(|columns| statistics(&planes[0], columns, 0..64));
    for (before, after) in before.iter().zip(after) {
        assert!((after.0 - before.0).abs() < 0.002, "{before:?} {after:?}");
        assert!(after.1 < 0.4 * before.1, "{before:?} {after:?}");
    }
}

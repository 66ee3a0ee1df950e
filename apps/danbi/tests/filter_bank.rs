//! FilterBank beside filters over the whole signal, bit by bit, and beside convolutions in double precision.

use crate::signals::{assert_near, band_pass, bits, convolve};
use crate::support::{assert_counts, assert_everywhere};
use thalweg_danbi::filter_bank::{Parameters, graph, input, sequential};

#[test]
fn the_graph_is_that_of_table_2() {
    assert_counts(&graph(&[], &Parameters::default()), 44, 58);
}

#[test]
fn bits_are_those_of_the_sequential_program() {
    let signal = &input(0.0, 6)[..1000];
    for parameters in [Parameters::default(), Parameters { bands: 2, taps: 33 }] {
        let expected = bits(&sequential(signal, &parameters));
        assert!(!expected.is_empty());
        assert_everywhere(&expected, || graph(signal, &parameters), |blocks| bits(blocks.as_flattened()));
    }
}

#[test]
fn too_short_a_signal_has_no_result() {
    let signal = &input(0.0, 6)[..256];
    assert!(sequential(signal, &Parameters::default()).is_empty());
    let blocks = graph(signal, &Parameters::default()).run().expect("a run").into_value();
    assert!(blocks.is_empty());
}

#[test]
fn bands_are_convolutions() {
    let signal = input(0.0, 7);
    let samples: Vec<f64> = signal.iter().copied().map(f64::from).collect();
    let mut expected = vec![0.0; 768];
    for band in 0..8 {
        let response = band_pass(16.0, f64::from(band), f64::from(band + 1), 128);
        let kept = |(i, x)| if i % 8 == 0 { 8.0 * x } else { 0.0 };
        let kept: Vec<f64> = convolve(&samples, &response).into_iter().enumerate().map(kept).collect();
        expected.iter_mut().zip(convolve(&kept, &response)).for_each(|(sum, sample)| *sum += sample);
    }
    let result = graph(&signal, &Parameters::default()).run().expect("a run").into_value();
    assert_near(result.as_flattened(), &expected, 1e-5);
}

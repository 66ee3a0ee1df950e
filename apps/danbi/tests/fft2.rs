//! FFT2 beside a recursive transform, bit by bit, and beside the double sum.

use crate::signals::{assert_near, bits, parts};
use crate::support::{assert_counts, assert_everywhere};
use std::f64::consts::PI;
use thalweg_danbi::fft2::{Parameters, graph, input, sequential};
use thalweg_danbi::{BLOCK, Complex};

const BOTH: [Parameters; 2] = [Parameters { inverse: false }, Parameters { inverse: true }];

/// The parts of all numbers.
fn flat(runs: &[Vec<[Complex; BLOCK]>]) -> Vec<f32> {
    runs.iter().flat_map(|run| parts(run.as_flattened())).collect()
}

#[test]
fn the_graph_is_that_of_table_2() {
    assert_counts(&graph(&[], &Parameters::default()), 4, 3);
}

#[test]
fn bits_are_those_of_the_recursive_transform() {
    let numbers = &input(3e-6, 2)[5..];
    for parameters in BOTH {
        let expected = bits(&parts(&sequential(numbers, &parameters)));
        assert!(!expected.is_empty());
        assert_everywhere(&expected, || graph(numbers, &parameters), |blocks| bits(&flat(&blocks)));
    }
}

#[test]
fn transforms_are_double_sums() {
    let numbers = input(0.0, 3);
    for parameters in BOTH {
        let sign = if parameters.inverse { 1.0 } else { -1.0 };
        let part = |at: usize| {
            let term = |k: usize| {
                let (angle, x) = (sign * 2.0 * PI * (at / 2 * k) as f64 / 64.0, numbers[k]);
                let (cos, sin, re, im) = (angle.cos(), angle.sin(), f64::from(x.re), f64::from(x.im));
                if at.is_multiple_of(2) { re * cos - im * sin } else { re * sin + im * cos }
            };
            (0..64).map(term).sum()
        };
        let expected: Vec<f64> = (0..128).map(part).collect();
        let result = graph(&numbers, &parameters).run().expect("a run").into_value();
        assert_near(&flat(&result), &expected, 1e-5);
    }
}

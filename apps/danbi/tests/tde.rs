//! TDE beside recursive transforms, bit by bit, and beside direct convolution.

use crate::signals::{assert_near, bits, parts};
use crate::support::{assert_counts, assert_everywhere};
use std::f64::consts::PI;
use thalweg_danbi::tde::{CHANNELS, PULSE, Parameters, Snapshot, TAPS, graph, input, sequential};

/// The parts of all samples.
fn flat(pulses: &[Box<[Snapshot; PULSE]>]) -> Vec<f32> {
    pulses.iter().flat_map(|pulse| parts(pulse.as_flattened())).collect()
}

#[test]
fn the_graph_is_that_of_table_2() {
    assert_counts(&graph(&[], &Parameters::default()), 29, 28);
}

#[test]
fn bits_are_those_of_recursive_transforms() {
    let snapshots = &input(1e-6, 4)[7..];
    let expected = bits(&parts(sequential(snapshots, &Parameters::default()).as_flattened()));
    assert!(!expected.is_empty());
    assert_everywhere(
        &expected,
        || graph(snapshots, &Parameters::default()),
        |delayed| bits(&flat(&delayed)),
    );
}

/// A part of the delayed snapshots by the definition: a pulse, convolved with a windowed `sin(pi t)/(pi t)`.
fn delayed(
    pulse: &[Snapshot],
    at: usize,
    channel: usize,
    step: f64,
    part: fn(&Snapshot, usize) -> f32,
) -> f64 {
    let term = |(from, snapshot): (usize, &Snapshot)| {
        let i = at as f64 - from as f64 + (TAPS / 2) as f64;
        let t = i - (TAPS / 2) as f64 - step * channel as f64;
        let window = 0.54 + 0.46 * (2.0 * PI * t / (TAPS + 1) as f64).cos();
        let tap = if t.abs() < 1e-9 { 1.0 } else { window * (PI * t).sin() / (PI * t) };
        if (0.0..TAPS as f64).contains(&i) { tap * f64::from(part(snapshot, channel)) } else { 0.0 }
    };
    pulse.iter().enumerate().map(term).sum()
}

#[test]
fn channels_are_delayed_by_fractions_of_samples() {
    let snapshots = &input(1e-6, 5)[..2 * PULSE];
    let mut expected = Vec::new();
    for pulse in snapshots.chunks(PULSE) {
        for (at, channel) in (0..PULSE).flat_map(|at| (0..CHANNELS).map(move |channel| (at, channel))) {
            expected.push(delayed(pulse, at, channel, 0.3, |snapshot, channel| snapshot[channel].re));
            expected.push(delayed(pulse, at, channel, 0.3, |snapshot, channel| snapshot[channel].im));
        }
    }
    let result = graph(snapshots, &Parameters::default()).run().expect("a run").into_value();
    assert_near(&flat(&result), &expected, 1e-5);
}

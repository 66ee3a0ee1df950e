//! FMRadio beside steps over the whole signal, bit by bit, beside convolutions in double precision, and beside the sound that was
//! sent.

use crate::signals::{assert_near, band_pass, bits, convolve, low_pass};
use crate::support::{assert_counts, assert_everywhere};
use std::f64::consts::PI;
use thalweg_danbi::Complex;
use thalweg_danbi::fm_radio::{Parameters, graph, input, sequential};

#[test]
fn the_graph_is_that_of_table_2() {
    assert_counts(&graph(&[], &Parameters::default()), 17, 27);
}

#[test]
fn bits_are_those_of_the_sequential_program() {
    let signal = &input(2e-5, 8)[..2000];
    for parameters in
        [Parameters::default(), Parameters { decimation: 1, bands: 2, taps: 65, ..Parameters::default() }]
    {
        let expected = bits(&sequential(signal, &parameters));
        assert!(!expected.is_empty());
        assert_everywhere(&expected, || graph(signal, &parameters), |blocks| bits(blocks.as_flattened()));
    }
}

#[test]
fn sound_is_that_of_the_definition() {
    let signal = input(2e-5, 9);
    let part = |part: fn(&Complex) -> f32| {
        let samples: Vec<f64> = signal.iter().map(|sample| f64::from(part(sample))).collect();
        convolve(&samples, &low_pass(256e3, 28e3, 64)).into_iter().step_by(4).collect::<Vec<_>>()
    };
    let angles: Vec<f64> =
        part(|sample| sample.im).iter().zip(part(|sample| sample.re)).map(|(im, re)| im.atan2(re)).collect();
    let wrapped = |angle: f64| (angle + PI).rem_euclid(2.0 * PI) - PI;
    let sound: Vec<f64> =
        angles.windows(2).map(|pair| 64e3 / (2.0 * PI * 15e3) * wrapped(pair[1] - pair[0])).collect();
    let mut expected = vec![0.0; sound.len() - 63];
    for band in 0..6 {
        let border = |band: i32| 100.0 * 128f64.powf(f64::from(band) / 6.0);
        let gain = 2.0 - (f64::from(band) - 2.5).abs() / 6.0;
        let samples = convolve(&sound, &band_pass(64e3, border(band), border(band + 1), 64));
        expected.iter_mut().zip(samples).for_each(|(sum, sample)| *sum += gain * sample);
    }
    let result = graph(&signal, &Parameters::default()).run().expect("a run").into_value();
    assert_near(result.as_flattened(), &expected, 1e-4);
}

/// A station that sends one tone: the receiver's sound is this tone.
#[test]
fn a_tone_is_received() {
    let frequency = 2000.0;
    let phase = |i: usize| 15e3 / frequency * (2.0 * PI * frequency * i as f64 / 256e3).sin();
    let signal: Vec<_> =
        (0..16_384).map(|i| Complex::new(phase(i).cos() as f32, phase(i).sin() as f32)).collect();
    let sound = graph(&signal, &Parameters::default()).run().expect("a run").into_value();
    let sound = sound.as_flattened();
    let energy: f64 = sound.iter().map(|x| f64::from(x * x)).sum();
    // 32 samples of sound are a period.
    let periods = &sound[..sound.len() / 32 * 32];
    let share = |wave: fn(f64) -> f64| -> f64 {
        periods.iter().enumerate().map(|(i, x)| f64::from(*x) * wave(2.0 * PI * i as f64 / 32.0)).sum()
    };
    let tone = (share(f64::sin).powi(2) + share(f64::cos).powi(2)) * 2.0 / periods.len() as f64;
    assert!(tone > 0.99 * energy && tone < 1.01 * energy, "{tone} of {energy}");
}

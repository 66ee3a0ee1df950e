//! Filters. The programs compute in single precision, the references in double precision. A sum of 64 products of
//! numbers below 1 in single precision has an error of at most about 64 roundings of 6e-8, that is 4e-6. Results depend
//! on a few such sums and are about 1, so the tolerance is 1e-4.

use crate::run::{assert_close, printed_by, run};
use thalweg_str::Complex;
use thalweg_str::generate;
use thalweg_str::reference::array::Beamformer;
use thalweg_str::reference::radio::Receiver;
use thalweg_str::reference::signal::{doubles, filter_bank, limited_tone};
use thalweg_str::reference::transform::delayed;
use thalweg_str::reference::voice::Vocoder;

#[test]
fn the_radio_receives_sound() {
    let receiver = Receiver::default();
    let signal = generate::fm_signal(1, receiver.rate, receiver.deviation, 2600);
    let sound: Vec<f32> = run("fm_radio", &[], &signal);
    assert_close(&sound, &receiver.receive(&signal), 1e-4);
}

#[test]
fn the_filter_bank_matches_its_definition() {
    let signal = generate::noise(2, 400);
    for (bands, taps) in [(8, 64), (4, 16)] {
        let changes = [("BANDS", bands.to_string()), ("TAPS", taps.to_string())];
        let again: Vec<f32> = run("filter_bank", &changes, &signal);
        let slow = (signal.len() - taps) / bands + 1;
        assert_eq!(again.len(), (slow + 1 - taps / bands) * bands);
        assert_close(&again, &filter_bank(&doubles(&signal), bands, taps)[..again.len()], 1e-4);
    }
}

#[test]
fn the_equaliser_delays_by_fractions_of_samples() {
    let (channels, samples) = (4, 256);
    let input = generate::complex_noise(3, channels * samples);
    let output: Vec<Complex> = run("time_delay_equaliser", &[], &input);
    let expected = delayed(&input, channels, 33, 0.3);
    assert_eq!(output.len(), expected.len());
    // The error of a transform of 128 items and its inverse is a few roundings of their sum.
    assert_close_pairs(&output, &expected, 1e-4);
}

fn assert_close_pairs(actual: &[Complex], expected: &[(f64, f64)], tolerance: f64) {
    let parts: Vec<f32> = actual.iter().flat_map(|x| [x.0, x.1]).collect();
    let expected: Vec<f64> = expected.iter().flat_map(|x| [x.0, x.1]).collect();
    assert_close(&parts, &expected, tolerance);
}

#[test]
fn the_beamformer_finds_the_pulse_in_its_beam() {
    let former = Beamformer { channels: 12, beams: 4, taps: 32, decimation: 2, pulse: 32 };
    for beam in [0, 2] {
        let input = generate::pulses(4, 12, former.sine(beam), (32, 4), 200, 330);
        let beams: Vec<f32> = run("beamformer", &[("TAPS", "32".to_owned())], &input);
        assert_close(&beams, &former.form(&input), 1e-4);
        let strongest = (0..beams.len()).max_by(|a, b| beams[*a].total_cmp(&beams[*b])).unwrap();
        assert_eq!(strongest % 4, beam);
        assert!(beams[strongest] > 0.7, "{}", beams[strongest]);
    }
}

#[test]
fn the_vocoder_finds_pitch_and_bands() {
    let vocoder = Vocoder { channels: 4, ..Vocoder::default() };
    let speech = generate::speech(vocoder.rate, 125.0, 800);
    let frames: Vec<f32> = run("channel_vocoder", &[("CHANNELS", "4".to_owned())], &speech);
    assert_close(&frames, &vocoder.analyse(&speech), 1e-4);
    assert!(frames.chunks(5).all(|frame| frame[0] == 125.0), "{frames:?}");
}

#[test]
fn silence_has_no_pitch() {
    let frames: Vec<f32> = run("channel_vocoder", &[("CHANNELS", "1".to_owned())], &[0.0f32; 500]);
    assert!(!frames.is_empty() && frames.iter().all(|x| *x == 0.0));
}

#[test]
fn the_limiter_receives_the_gain_in_time() {
    let printed = printed_by("gain_control", 12);
    let samples: Vec<f32> = printed.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(samples.len(), 12 * 16);
    // The sine of an angle near 60, rounded to single precision, has an error of 4e-6.
    assert_close(&samples, &limited_tone(samples.len(), 16, 0.5), 1e-4);
    assert!(samples.iter().any(|x| x.abs() > 0.49));
}

//! Filters. The programs compute in single precision and the references in double. A sum of 64 products of
//! numbers below 1 in single precision is off by about 64 roundings of 6e-8, that is 4e-6, at most, and
//! results go through a few of these; they are of the size of 1, and tolerances are 1e-4.

use crate::run::{close, print_of, run};
use thalweg_str::Complex;
use thalweg_str::generate;
use thalweg_str::reference::array::Beamformer;
use thalweg_str::reference::radio::Receiver;
use thalweg_str::reference::signal::{doubles, filter_bank, limited_tone};
use thalweg_str::reference::transform::delayed;
use thalweg_str::reference::voice::Vocoder;

#[test]
fn the_radio_gives_sound() {
    let receiver = Receiver::default();
    let signal = generate::fm_signal(1, receiver.rate, receiver.deviation, 2600);
    let sound: Vec<f32> = run("fm_radio", &[], &signal);
    close(&sound, &receiver.receive(&signal), 1e-4);
}

#[test]
fn the_filter_bank_gives_what_its_definition_says() {
    let signal = generate::noise(2, 400);
    for (bands, taps) in [(8, 64), (4, 16)] {
        let changes = [("BANDS", bands.to_string()), ("TAPS", taps.to_string())];
        let again: Vec<f32> = run("filter_bank", &changes, &signal);
        let slow = (signal.len() - taps) / bands + 1;
        assert_eq!(again.len(), (slow + 1 - taps / bands) * bands);
        close(&again, &filter_bank(&doubles(&signal), bands, taps)[..again.len()], 1e-4);
    }
}

#[test]
fn the_equaliser_delays_by_parts_of_samples() {
    let (channels, samples) = (4, 256);
    let heard = generate::complex_noise(3, channels * samples);
    let equal: Vec<Complex> = run("time_delay_equaliser", &[], &heard);
    let expected = delayed(&heard, channels, 33, 0.3);
    assert_eq!(equal.len(), expected.len());
    // A transform there and back of 128 items is off by a few roundings of their sum.
    close_pairs(&equal, &expected, 1e-4);
}

fn close_pairs(actual: &[Complex], expected: &[(f64, f64)], tolerance: f64) {
    let parts: Vec<f32> = actual.iter().flat_map(|x| [x.0, x.1]).collect();
    let expected: Vec<f64> = expected.iter().flat_map(|x| [x.0, x.1]).collect();
    close(&parts, &expected, tolerance);
}

#[test]
fn the_beamformer_finds_the_pulse_in_its_beam() {
    let former = Beamformer { channels: 12, beams: 4, taps: 32, decimation: 2, pulse: 32 };
    for beam in [0, 2] {
        let heard = generate::pulses(4, 12, former.sine(beam), (32, 4), 200, 330);
        let beams: Vec<f32> = run("beamformer", &[("TAPS", "32".to_owned())], &heard);
        close(&beams, &former.form(&heard), 1e-4);
        let strongest = (0..beams.len()).max_by(|a, b| beams[*a].total_cmp(&beams[*b])).unwrap();
        assert_eq!(strongest % 4, beam);
        assert!(beams[strongest] > 0.7, "{}", beams[strongest]);
    }
}

#[test]
fn the_vocoder_hears_pitch_and_bands() {
    let vocoder = Vocoder { channels: 4, ..Vocoder::default() };
    let speech = generate::speech(vocoder.rate, 125.0, 800);
    let frames: Vec<f32> = run("channel_vocoder", &[("CHANNELS", "4".to_owned())], &speech);
    close(&frames, &vocoder.analyse(&speech), 1e-4);
    assert!(frames.chunks(5).all(|frame| frame[0] == 125.0), "{frames:?}");
}

#[test]
fn silence_has_no_pitch() {
    let frames: Vec<f32> = run("channel_vocoder", &[("CHANNELS", "1".to_owned())], &[0.0f32; 500]);
    assert!(!frames.is_empty() && frames.iter().all(|x| *x == 0.0));
}

#[test]
fn the_limiter_hears_of_the_level_in_time() {
    let printed = print_of("gain_control", 12);
    let samples: Vec<f32> = printed.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(samples.len(), 12 * 16);
    // The sine of an angle near 60 that is rounded to single precision is off by 4e-6.
    close(&samples, &limited_tone(samples.len(), 16, 0.5), 1e-4);
    assert!(samples.iter().any(|x| x.abs() > 0.49));
}

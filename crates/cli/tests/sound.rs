//! StreamIt programs that read and write WAV files as others leave them.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::tempdir;

const COPY: &str = "void->void pipeline Copy {
    add FileReader<int>(\"given\"); add int->int filter { work pop 1 push 1 { push(pop()); } };
    add FileWriter<int>(\"made\");
}";

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    fs::write(folder.join("program.str"), program).unwrap();
    Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["run", "program.str"])
        .args(arguments)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A file of samples of a format, whose header says these lengths.
fn wave(format: u16, bits: u16, channels: u16, (file, length): (u32, u32), samples: &[u8]) -> Vec<u8> {
    let moment = bits / 8 * channels;
    let mut wave = b"RIFF".to_vec();
    wave.extend(file.to_le_bytes());
    wave.extend(b"WAVEfmt \x10\0\0\0");
    [format, channels].iter().for_each(|word| wave.extend(word.to_le_bytes()));
    [8000, 8000 * u32::from(moment)].iter().for_each(|number| wave.extend(number.to_le_bytes()));
    [moment, bits].iter().for_each(|word| wave.extend(word.to_le_bytes()));
    wave.extend(b"data");
    wave.extend(length.to_le_bytes());
    wave.extend(samples);
    wave
}

fn samples(path: &Path) -> Vec<i32> {
    hound::WavReader::open(path).unwrap().samples::<i32>().map(Result::unwrap).collect()
}

#[test]
fn sound_without_a_length_goes_to_the_end_of_the_file() {
    let folder = tempdir().unwrap();
    let (folder, made) = (folder.path(), folder.path().join("made.wav"));
    // Five samples of two channels, of which the last is not whole.
    let given: Vec<u8> = (1..6i16).flat_map(|sample| (sample * 1000).to_le_bytes()).collect();
    let unknown = u32::MAX;
    for lengths in [(unknown, unknown), (35, unknown), (0, 0), (36, 0), (0x7fff_f024, 0x7fff_f000)] {
        fs::write(folder.join("given.wav"), wave(1, 16, 2, lengths, &given)).unwrap();
        let output = run(folder, COPY, &["--in", "given.wav", "--out", "made.wav"]);
        assert!(output.status.success(), "{lengths:?}: {}", said(&output));
        assert_eq!(samples(&made), [1000, 2000, 3000, 4000], "{lengths:?}");
    }
    // No samples, and something behind them; and more than there are, of a file that says how long it was.
    let behind = b"LIST\x04\0\0\0abcd";
    fs::write(folder.join("given.wav"), wave(1, 16, 2, (48, 0), behind)).unwrap();
    assert!(run(folder, COPY, &["--in", "given.wav", "--out", "made.wav"]).status.success());
    assert_eq!(samples(&made), []);
    fs::write(folder.join("given.wav"), wave(1, 16, 2, (76, 40), &given)).unwrap();
    let output = run(folder, COPY, &["--in", "given.wav", "--out", "made.wav"]);
    assert!(said(&output).contains("the sound is cut off"), "{}", said(&output));
}

#[test]
fn sound_that_cannot_be_read_is_told_with_what_can() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    for (format, bits, words) in [
        (3, 64, "its samples are floats of 64 bits"),
        (1, 64, "its samples are integers of 64 bits"),
        (6, 8, "its samples are compressed, or of a format (6) that is not known"),
    ] {
        fs::write(folder.join("given.wav"), wave(format, bits, 1, (52, 16), &[0; 16])).unwrap();
        let output = run(folder, COPY, &["--in", "given.wav", "--out", "made.wav"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains(words), "{}", said(&output));
        assert!(said(&output).contains("integers of 8, 16, 24 or 32 bits, and floats of 32 bits"));
    }
}

#[test]
fn samples_that_are_not_one_of_each_channel_are_left_out_and_told() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let given: Vec<u8> = (0..4i16).flat_map(i16::to_le_bytes).collect();
    fs::write(folder.join("given.wav"), wave(1, 16, 2, (44, 8), &given)).unwrap();
    let drops = COPY.replace("work pop 1 push 1 {", "prework pop 1 { pop(); } work pop 1 push 1 {");
    let output = run(folder, &drops, &["--in", "given.wav", "--out", "made.wav"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(samples(&folder.join("made.wav")), [1, 2]);
    assert!(
        said(&output).contains("warning: the file `made.wav`: the last 1 of its samples"),
        "{}",
        said(&output)
    );
}

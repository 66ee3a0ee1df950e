//! StreamIt programs that read WAV files of other programs, and write WAV files.
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

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A WAV file with this format tag and these samples, and with `file` and `length` as the lengths in its headers.
fn wave(format: u16, bits: u16, channels: u16, (file, length): (u32, u32), samples: &[u8]) -> Vec<u8> {
    let frame = bits / 8 * channels;
    let mut wave = b"RIFF".to_vec();
    wave.extend(file.to_le_bytes());
    wave.extend(b"WAVEfmt \x10\0\0\0");
    [format, channels].iter().for_each(|word| wave.extend(word.to_le_bytes()));
    [8000, 8000 * u32::from(frame)].iter().for_each(|number| wave.extend(number.to_le_bytes()));
    [frame, bits].iter().for_each(|word| wave.extend(word.to_le_bytes()));
    wave.extend(b"data");
    wave.extend(length.to_le_bytes());
    wave.extend(samples);
    wave
}

fn samples(path: &Path) -> Vec<i32> {
    hound::WavReader::open(path).unwrap().samples::<i32>().map(Result::unwrap).collect()
}

#[test]
fn samples_without_a_length_extend_to_the_end_of_the_file() {
    let folder = tempdir().unwrap();
    let (folder, made) = (folder.path(), folder.path().join("made.wav"));
    // Five samples of two channels. The last frame is incomplete.
    let given: Vec<u8> = (1..6i16).flat_map(|sample| (sample * 1000).to_le_bytes()).collect();
    let unknown = u32::MAX;
    for lengths in [(unknown, unknown), (35, unknown), (0, 0), (36, 0), (0x7fff_f024, 0x7fff_f000)] {
        fs::write(folder.join("given.wav"), wave(1, 16, 2, lengths, &given)).unwrap();
        let output = run(folder, COPY, &["--in", "given.wav", "--out", "made.wav"]);
        assert!(output.status.success(), "{lengths:?}: {}", stderr(&output));
        assert_eq!(samples(&made), [1000, 2000, 3000, 4000], "{lengths:?}");
    }
    // No samples, and another chunk after them.
    let chunk = b"LIST\x04\0\0\0abcd";
    fs::write(folder.join("given.wav"), wave(1, 16, 2, (48, 0), chunk)).unwrap();
    assert!(run(folder, COPY, &["--in", "given.wav", "--out", "made.wav"]).status.success());
    assert_eq!(samples(&made), []);
    // A truncated file: the header has a valid length, and the file has fewer samples.
    fs::write(folder.join("given.wav"), wave(1, 16, 2, (76, 40), &given)).unwrap();
    let output = run(folder, COPY, &["--in", "given.wav", "--out", "made.wav"]);
    assert!(stderr(&output).contains("the WAV file is truncated"), "{}", stderr(&output));
}

#[test]
fn unsupported_formats_are_refused_with_the_supported_ones() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    for (format, bits, words) in [
        (3, 64, "found floats of 64 bits"),
        (1, 64, "found integers of 64 bits"),
        (6, 8, "found compressed or unknown (format tag 6)"),
    ] {
        fs::write(folder.join("given.wav"), wave(format, bits, 1, (52, 16), &[0; 16])).unwrap();
        let output = run(folder, COPY, &["--in", "given.wav", "--out", "made.wav"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert!(stderr(&output).contains("expected integers of 8, 16, 24 or 32 bits, or floats of 32 bits"));
    }
}

#[test]
fn samples_of_an_incomplete_frame_are_dropped_with_a_warning() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let given: Vec<u8> = (0..4i16).flat_map(i16::to_le_bytes).collect();
    fs::write(folder.join("given.wav"), wave(1, 16, 2, (44, 8), &given)).unwrap();
    let drops = COPY.replace("work pop 1 push 1 {", "prework pop 1 { pop(); } work pop 1 push 1 {");
    let output = run(folder, &drops, &["--in", "given.wav", "--out", "made.wav"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(samples(&folder.join("made.wav")), [1, 2]);
    assert!(
        stderr(&output).contains("warning: the file `made.wav`: dropped the last 1 samples"),
        "{}",
        stderr(&output)
    );
}

//! StreamIt programs that read WAV files of other programs, and write WAV files.
#![cfg(unix)]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::tempdir;

use crate::child::Command;

const COPY: &str = "void->void pipeline Copy {
    add FileReader<int>(\"given\"); add int->int filter { work pop 1 push 1 { push(pop()); } };
    add FileWriter<int>(\"made\");
}";

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    run_with(folder, program, arguments, Stdio::null())
}

fn run_with(folder: &Path, program: &str, arguments: &[&str], input: Stdio) -> Output {
    fs::write(folder.join("program.str"), program).unwrap();
    Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["run", "program.str"])
        .args(arguments)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .current_dir(folder)
        .stdin(input)
        .output()
        .expect("starts")
}

/// Runs a program with a file as its input, in each way: by its name, by that of a pipe, as standard input, and as a pipe
/// that is standard input.
fn run_each_way(folder: &Path, program: &str, arguments: &[&str]) -> [Output; 4] {
    _ = fs::remove_file(folder.join("pipe.wav"));
    assert!(Command::new("mkfifo").arg(folder.join("pipe.wav")).status().unwrap().success());
    let cat = || Command::new("cat").arg(folder.join("given.wav")).stdout(Stdio::piped()).spawn().unwrap();
    let with = |input: &str, standard: Stdio| {
        run_with(folder, program, &[&["--input", input], arguments].concat(), standard)
    };
    let named = with("given.wav", Stdio::null());
    let mut writer = Command::new("cp").args(["given.wav", "pipe.wav"]).current_dir(folder).spawn().unwrap();
    let fifo = with("pipe.wav", Stdio::null());
    writer.wait().unwrap();
    let redirected = with("-", File::open(folder.join("given.wav")).unwrap().into());
    let mut writer = cat();
    let piped = with("-", writer.stdout.take().unwrap().into());
    writer.wait().unwrap();
    [named, fifo, redirected, piped]
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A chunk with the length of its bytes, and a pad byte if that is odd.
fn chunk(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut chunk = name.as_bytes().to_vec();
    chunk.extend((bytes.len() as u32).to_le_bytes());
    chunk.extend(bytes);
    chunk.resize(chunk.len().next_multiple_of(2), 0);
    chunk
}

/// The first 16 bytes of `fmt `, for samples of `bits` bits, each in `bytes` bytes.
fn format(tag: u16, channels: u16, bytes: u16, bits: u16) -> Vec<u8> {
    let frame = bytes * channels;
    let mut format: Vec<u8> = [tag, channels].iter().flat_map(|word| word.to_le_bytes()).collect();
    format.extend([8000, 8000 * u32::from(frame)].iter().flat_map(|number| number.to_le_bytes()));
    format.extend([frame, bits].iter().flat_map(|word| word.to_le_bytes()));
    format
}

/// The same with the extension that has the actual tag: 22 bytes, and `more` that are not known.
fn extensible(tag: u16, channels: u16, (bytes, valid): (u16, u16), more: u16) -> Vec<u8> {
    let mut format = format(0xfffe, channels, bytes, 8 * bytes);
    format.extend([22 + more, valid, 4, 0, tag].iter().flat_map(|word| word.to_le_bytes()));
    format.extend([0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]);
    format.extend(vec![0; more.into()]);
    format
}

/// A file of these chunks. The last one has the samples.
fn riff(chunks: &[Vec<u8>]) -> Vec<u8> {
    let chunks = [&b"WAVE"[..], &chunks.concat()].concat();
    chunk("RIFF", &chunks)
}

/// A WAV file with this format tag and these samples, and with `file` and `length` as the lengths in its headers.
fn wave(tag: u16, bits: u16, channels: u16, (file, length): (u32, u32), samples: &[u8]) -> Vec<u8> {
    let mut wave = riff(&[chunk("fmt ", &format(tag, channels, bits / 8, bits)), chunk("data", &[])]);
    wave[4..8].copy_from_slice(&file.to_le_bytes());
    let end = wave.len();
    wave[end - 4..].copy_from_slice(&length.to_le_bytes());
    wave.extend(samples);
    wave
}

/// Samples of 16 bits.
fn words(samples: &[i16]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}

/// The items in the standard output of a run that has succeeded without a warning.
fn items(output: &Output) -> Vec<i32> {
    assert!(output.status.success() && output.stderr.is_empty(), "{}", stderr(output));
    output.stdout.chunks_exact(4).map(|item| i32::from_le_bytes(item.try_into().unwrap())).collect()
}

fn samples(path: &Path) -> Vec<i32> {
    hound::WavReader::open(path).unwrap().samples::<i32>().map(Result::unwrap).collect()
}

#[test]
fn samples_without_a_length_extend_to_the_end_of_the_input() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    // Five samples of two channels. The last frame is incomplete.
    let given = words(&[1000, 2000, 3000, 4000, 5000]);
    let unknown = u32::MAX;
    let lengths = [
        (unknown, unknown),
        (35, unknown),
        (0, 0),
        (36, 0),
        (unknown, 0),
        (0x7fff_f024, 0x7fff_f000),
        (0x7fff_ffff, 0x7fff_ffff - 36),
        (0x8000_0024, 0x8000_0000),
    ];
    for lengths in lengths {
        fs::write(folder.join("given.wav"), wave(1, 16, 2, lengths, &given)).unwrap();
        for output in run_each_way(folder, COPY, &["--output", "-"]) {
            assert_eq!(items(&output), [1000, 2000, 3000, 4000], "{lengths:?}");
        }
    }
    // No samples, and another chunk after them.
    fs::write(folder.join("given.wav"), wave(1, 16, 2, (48, 0), &chunk("LIST", b"abcd"))).unwrap();
    for output in run_each_way(folder, COPY, &["--output", "-"]) {
        assert!(items(&output).is_empty());
    }
}

#[test]
fn a_length_that_is_a_little_too_large_is_a_warning() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let given = words(&[1, 2, 3, 4]);
    for more in [1, 2, 8, 36, 44] {
        fs::write(folder.join("given.wav"), wave(1, 16, 2, (44 + more, 8 + more), &given)).unwrap();
        for output in run_each_way(folder, COPY, &["--output", "-"]) {
            let warning = format!("the header declares {more} bytes of samples more than there are");
            assert!(output.status.success() && stderr(&output).contains(&warning), "{}", stderr(&output));
            assert_eq!(stderr(&output).matches("warning").count(), 1);
            assert_eq!(output.stdout, words(&[1, 0, 2, 0, 3, 0, 4, 0]));
        }
    }
    // A length that ends in a frame.
    fs::write(folder.join("given.wav"), wave(1, 16, 2, (42, 6), &given)).unwrap();
    for output in run_each_way(folder, COPY, &["--output", "-"]) {
        assert!(stderr(&output).contains("dropped the last 2 bytes of samples"), "{}", stderr(&output));
        assert_eq!(output.stdout, words(&[1, 0, 2, 0]));
    }
    // More than the bytes of the header: the file is truncated.
    fs::write(folder.join("given.wav"), wave(1, 16, 2, (236, 200), &given)).unwrap();
    for output in run_each_way(folder, COPY, &["--output", "-"]) {
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("the WAV file is truncated"), "{}", stderr(&output));
    }
}

#[test]
fn headers_of_all_forms_are_read() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let data = chunk("data", &words(&[1, -2, 300, i16::MIN]));
    let plain = format(1, 1, 2, 16);
    let fmt = |format: &[u8]| chunk("fmt ", format);
    let with = |more: &[u8]| fmt(&[&plain[..], more].concat());
    let mut cases = vec![
        riff(&[fmt(&plain), data.clone()]),
        // Extensions of no bytes, and of some that integers do not need.
        riff(&[with(&[0, 0]), data.clone()]),
        riff(&[with(&[0; 4]), data.clone()]),
        riff(&[with(&[&[10, 0][..], &[7; 10]].concat()), data.clone()]),
        riff(&[with(&[0; 3]), data.clone()]),
        riff(&[fmt(&extensible(1, 1, (2, 16), 0)), data.clone()]),
        riff(&[fmt(&extensible(1, 1, (2, 16), 8)), data.clone()]),
        // Other chunks of even and odd length, before and after the samples.
        riff(&[chunk("LIST", b"INFOx"), fmt(&plain), chunk("junk", &[]), chunk("a b ", b"1"), data.clone()]),
        riff(&[fmt(&plain), data.clone(), chunk("LIST", b"INFOx")]),
    ];
    for kind in ["RF64", "BW64"] {
        // The lengths of the file and of the samples, the number of samples, and an empty table.
        let lengths: Vec<u8> = [80u64, 8, 4].iter().flat_map(|n| n.to_le_bytes()).chain([0; 4]).collect();
        let mut long = riff(&[chunk("ds64", &lengths), fmt(&plain), data.clone(), chunk("junk", b"1")]);
        long[..8].copy_from_slice(&[kind.as_bytes(), &[0xff; 4]].concat());
        let length = long.windows(4).position(|name| name == b"data").unwrap() + 4;
        long[length..length + 4].fill(0xff);
        cases.push(long);
    }
    for (at, case) in cases.iter().enumerate() {
        fs::write(folder.join("given.wav"), case).unwrap();
        for output in run_each_way(folder, COPY, &["--output", "-"]) {
            assert_eq!(items(&output), [1, -2, 300, -32768], "case {at}");
        }
    }
}

#[test]
fn valid_bits_are_left_aligned() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let floats = COPY.replace("int", "float");
    for (format, bytes) in [
        (extensible(1, 1, (4, 24), 0), vec![0x00, 0xff, 0xff, 0x7f, 0, 0, 0, 0x80, 0, 0, 0, 0x40]),
        (format(1, 1, 4, 24), vec![0x00, 0xff, 0xff, 0x7f, 0, 0, 0, 0x80, 0, 0, 0, 0x40]),
        (extensible(1, 1, (3, 20), 0), vec![0xff, 0xff, 0x7f, 0, 0, 0x80, 0, 0, 0x40]),
        (format(1, 1, 2, 12), vec![0xff, 0x7f, 0, 0x80, 0, 0x40]),
        (format(1, 1, 1, 8), vec![0xff, 0x00, 0xc0]),
        (format(3, 1, 4, 32), [1.0f32, -1.0, 0.5].iter().flat_map(|sample| sample.to_le_bytes()).collect()),
    ] {
        let file = riff(&[chunk("fmt ", &format), chunk("data", &bytes)]);
        fs::write(folder.join("given.wav"), file).unwrap();
        for output in run_each_way(folder, &floats, &["--output", "-"]) {
            let samples: Vec<f32> =
                items(&output).iter().map(|bits| f32::from_bits(bits.cast_unsigned())).collect();
            assert!(samples[0] > 0.99 && samples[0] <= 1.0, "{samples:?}");
            assert_eq!(samples[1..], [-1.0, 0.5]);
        }
    }
}

#[test]
fn sound_that_is_written_has_the_requested_rate_and_bits() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    // A program that halves the rate says so by an argument of its FileWriter.
    let halves = |rate: &str| {
        format!(
            "void->void pipeline Half {{
                add FileReader<float>(\"given.wav\");
                add float->float filter {{ work pop 2 push 1 {{ push(pop()); pop(); }} }};
                add FileWriter<float>(\"made.wav\"{rate});
            }}"
        )
    };
    let file =
        riff(&[chunk("fmt ", &format(1, 1, 2, 16)), chunk("data", &words(&[8, 0, i16::MIN, 0, 32767, 0]))]);
    fs::write(folder.join("given.wav"), file).unwrap();
    let options: [(&str, &[&str], u32, u16); 6] = [
        ("", &[], 8000, 32),
        (", 8000 / 2", &[], 4000, 32),
        ("", &["--rate", "4000"], 4000, 32),
        (", 4000", &["--rate", "11025", "--bits", "16"], 11025, 16),
        ("", &["--bits", "16", "--engine", "interpreter"], 8000, 16),
        (", 4000", &["--engine", "interpreter"], 4000, 32),
    ];
    for (rate, options, hertz, bits) in options {
        let output = run(folder, &halves(rate), options);
        assert!(output.status.success(), "{}", stderr(&output));
        let mut reader = hound::WavReader::open(folder.join("made.wav")).unwrap();
        let spec = reader.spec();
        assert_eq!((spec.sample_rate, spec.bits_per_sample), (hertz, bits), "{rate} {options:?}");
        if bits == 16 {
            assert!(reader.samples::<i16>().map(Result::unwrap).eq([8, i16::MIN, i16::MAX]));
        }
    }
    for (rate, options, words) in [
        (", 0", &[][..], "the sample rate is 0, expected at least 1"),
        (
            "",
            &["--rate", "4294967295"],
            "a WAV file cannot hold 1 channels of 32 bits at 4294967295 samples a second",
        ),
        ("", &["--output", "-", "--rate", "4000"], "this program writes none"),
        ("", &["--rate", "0"], "invalid value '0'"),
        ("", &["--bits", "12"], "invalid value '12'"),
    ] {
        let output = run(folder, &halves(rate), options);
        assert!(!output.status.success() && stderr(&output).contains(words), "{}", stderr(&output));
    }
}

#[test]
fn sound_whose_format_cannot_be_written_is_read_only() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let given = wave(1, 8, 1, (44, 8), &[0x80; 8]);
    let changed = |at: usize, bytes: &[u8]| {
        let mut given = given.clone();
        given[at..at + bytes.len()].copy_from_slice(bytes);
        given
    };
    let (no_rate, rate) = (changed(24, &[0; 4]), changed(24, &[0xff; 4]));
    let mut channels = changed(22, &[0xff; 2]);
    channels[32..34].copy_from_slice(&[0xff; 2]);
    for (given, options, words) in [
        (&no_rate, &[][..], "has the sample rate 0: choose one with `--rate HZ`"),
        (&rate, &["--bits", "16"], "cannot hold 1 channels of 16 bits at 4294967295 samples a second"),
        (&channels, &["--bits", "16"], "cannot hold 65535 channels of 16 bits"),
    ] {
        fs::write(folder.join("given.wav"), given).unwrap();
        let arguments = [&["--input", "given.wav", "--output", "made.wav"], options].concat();
        let output = run(folder, COPY, &arguments);
        assert!(output.status.code() == Some(1) && stderr(&output).contains(words), "{}", stderr(&output));
        assert!(!folder.join("made.wav").exists());
        let output = run(folder, COPY, &["--input", "given.wav", "--output", "made"]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    fs::write(folder.join("given.wav"), no_rate).unwrap();
    let output = run(folder, COPY, &["--input", "given.wav", "--output", "made.wav", "--rate", "8000"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn sound_from_standard_input_decides_the_format_of_the_output() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let file = riff(&[chunk("fmt ", &format(1, 2, 3, 24)), chunk("data", &[1, 0, 0, 2, 0, 0])]);
    fs::write(folder.join("given.wav"), file).unwrap();
    for output in run_each_way(folder, COPY, &["--output", "made.wav"]) {
        assert!(output.status.success(), "{}", stderr(&output));
        let reader = hound::WavReader::open(folder.join("made.wav")).unwrap();
        let spec = reader.spec();
        assert_eq!((spec.sample_rate, spec.channels, spec.bits_per_sample), (8000, 2, 24));
        assert_eq!(samples(&folder.join("made.wav")), [1, 2]);
    }
    // Bytes that are no sound stay bytes, also if they begin like a WAV file.
    for bytes in [&b"RIF"[..], b"RIFF1234", b"RIFF1234WAVF", b"12345678"] {
        fs::write(folder.join("given.wav"), bytes).unwrap();
        let [.., redirected, piped] = run_each_way(folder, COPY, &["--output", "-"]);
        for output in [redirected, piped] {
            assert_eq!(output.stdout, bytes[..bytes.len() / 4 * 4], "{}", stderr(&output));
        }
    }
}

#[test]
fn unsupported_formats_are_refused_with_the_supported_ones() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    for (tag, bits, words) in [
        (3, 64, "found floats of 64 bits"),
        (1, 64, "found integers of 64 bits"),
        (6, 8, "found compressed or unknown (format tag 6)"),
    ] {
        fs::write(folder.join("given.wav"), wave(tag, bits, 1, (52, 16), &[0; 16])).unwrap();
        let output = run(folder, COPY, &["--in", "given.wav", "--out", "made.wav"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert!(stderr(&output).contains("expected integers of 8, 16, 24 or 32 bits, or floats of 32 bits"));
    }
}

#[test]
fn damaged_headers_are_refused() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let data = chunk("data", &words(&[1, 2]));
    let fmt = |format: &[u8]| chunk("fmt ", format);
    let mut big_endian = riff(&[fmt(&format(1, 1, 2, 16)), data.clone()]);
    big_endian[..4].copy_from_slice(b"RIFX");
    let mut no_tag = extensible(1, 1, (2, 16), 0);
    no_tag[30] = 0x11;
    for (file, words) in [
        (big_endian, "found big-endian numbers (RIFX), expected RIFF or RF64"),
        (riff(std::slice::from_ref(&data)), "it has no `fmt ` chunk before its samples"),
        (riff(&[fmt(&format(1, 1, 2, 16)[..14]), data.clone()]), "`fmt ` has 14 bytes, expected at least 16"),
        (
            riff(&[fmt(&format(1, 0, 2, 16)), data.clone()]),
            "frames of 0 bytes do not fit 0 channels of 16 bits",
        ),
        (
            riff(&[fmt(&format(1, 1, 2, 17)), data.clone()]),
            "frames of 2 bytes do not fit 1 channels of 17 bits",
        ),
        (riff(&[fmt(&no_tag), data]), "found compressed or unknown (format tag 65534)"),
        (riff(&[fmt(&format(1, 1, 2, 16))]), "the WAV file is truncated"),
        (b"RIFF".to_vec(), "it is not a WAV file"),
        (b"OggS12345678".to_vec(), "it is not a WAV file"),
    ] {
        fs::write(folder.join("given.wav"), file).unwrap();
        let output = run(folder, COPY, &["--input", "given.wav", "--output", "-"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            stderr(&output).contains("the file `given.wav`") && stderr(&output).contains(words),
            "{}",
            stderr(&output)
        );
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

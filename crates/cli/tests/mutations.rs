//! Random changes of the files that commands read. Whatever a file holds, a command succeeds or says what is wrong, within
//! 2 GiB of addresses: it does not panic, does not die of a signal, and ends.
//!
//! ```text
//! THALWEG_CASES=100000 cargo test -p thalweg-cli --release --test all mutations
//! ```
//!
//! `THALWEG_SEED` is the seed of the first case.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Stdio;

use tempfile::{TempDir, tempdir};

use crate::child::{Command, start};

/// The default of `THALWEG_CASES`.
const CASES: u64 = 300;

/// The addresses of a command, in KiB.
const ADDRESSES: &str = "2097152";

const COPY: &str = "void->void pipeline Copy {
    add FileReader<float>(\"in\"); add float->float filter { work pop 1 push 1 { push(pop()); } };
    add FileWriter<float>(\"out\");
}";

/// A file, and a command that reads it.
struct Read {
    file: &'static str,
    arguments: &'static [&'static str],
}

const READS: &[Read] = &[
    read("plain.wav", &["run", "p.str", "--engine", "interpreter", "--input", "plain.wav", "-o", "made.wav"]),
    read("long.wav", &["run", "p.str", "--engine", "interpreter", "--input", "long.wav", "-o", "made.wav"]),
    read("gun.rle", &["demo", "life", "gun.rle", "-g", "3", "-fo", "made.rle"]),
    read("gun.rle", &["demo", "life", "gun.rle", "-g", "3", "--size", "50x50", "--torus", "-fo", "made.rle"]),
    read("plan", &["demo", "wordcount", "words", "--plan", "plan"]),
    read("program.plan", &["run", "p.str", "-o", "made", "--plan", "program.plan"]),
    read("report.json", &["show", "report.json", "timeline.json", "-fo", "made.html"]),
    read("timeline.json", &["show", "report.json", "timeline.json", "-fo", "made.html"]),
    read("machine", &["demo", "wordcount", "words", "--machine", "machine", "--threads", "2"]),
];

const fn read(file: &'static str, arguments: &'static [&'static str]) -> Read {
    Read { file, arguments }
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Pseudo-random numbers.
struct Random(u64);

impl Random {
    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Numbers at the limits of types, as text.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1e9",
    "255",
    "65536",
    "2147483647",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999",
];

/// Changes one to four places. The begin, where headers are, is changed more often.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let all = if random.below(2) == 0 { bytes.len().min(64) } else { bytes.len() };
        let at = random.below(all);
        let end = bytes.len().min(at + 1 + random.below(20));
        match random.below(7) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            3 => {
                let number = random.of(NUMBERS).bytes();
                let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                bytes.splice(at..at + digits, number);
            }
            4 if at < bytes.len() => bytes[at] = random.of(&[0, 1, 0x7f, 0x80, 0xff]),
            5 if at < bytes.len() => bytes[at] = random.of(b" \n\r\t\"{}[]:,$!#-=/0o"),
            6 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            _ => {}
        }
    }
}

fn thalweg(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v $0 && exec \"$@\"", ADDRESSES, env!("CARGO_BIN_EXE_thalweg")]);
    command.args(arguments).current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// A WAV file with some samples: its first chunk is `ds64` if `is_long`.
fn sound(is_long: bool) -> Vec<u8> {
    let samples: Vec<u8> = (0..100u8).collect();
    let mut sound =
        if is_long { b"RF64\xff\xff\xff\xffWAVE".to_vec() } else { b"RIFF\x88\0\0\0WAVE".to_vec() };
    if is_long {
        sound.extend(b"ds64\x1c\0\0\0\xac\0\0\0\0\0\0\0\x64\0\0\0\0\0\0\0\x32\0\0\0\0\0\0\0\0\0\0\0");
    }
    sound.extend(b"fmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0");
    sound.extend(if is_long { b"data\xff\xff\xff\xff" } else { b"data\x64\0\0\0" });
    sound.extend(samples);
    sound
}

/// A folder with valid files, which all commands accept.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("p.str", COPY.as_bytes());
    write("in", &[0; 4000]);
    write("words", "many words, many more\n".repeat(100).as_bytes());
    write("plain.wav", &sound(false));
    write("long.wav", &sound(true));
    write(
        "gun.rle",
        b"#N gun\n#CXRLE Pos=3,4 Gen=5\nx = 36, y = 9, rule = B3/S23\n24bo11b$22bobo$12b2o6b2o12b2o!\n",
    );
    for arguments in [
        &[
            "demo",
            "wordcount",
            "words",
            "--save-plan",
            "plan",
            "--save-report",
            "report.json",
            "--timeline",
            "timeline.json",
        ][..],
        &["run", "p.str", "-o", "made", "--save-plan", "program.plan", "--threads", "2"],
    ] {
        succeeds(folder.path(), arguments);
    }
    let machine = Command::new(env!("CARGO_BIN_EXE_thalweg")).arg("machine").output().unwrap();
    write("machine", &machine.stdout);
    READS.iter().for_each(|read| succeeds(folder.path(), read.arguments));
    folder
}

fn succeeds(folder: &Path, arguments: &[&str]) {
    let output = thalweg(folder, arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn no_file_makes_a_command_panic_or_hang() {
    let folder = folder();
    let (first, cases) = (setting("THALWEG_SEED").unwrap_or(0), setting("THALWEG_CASES").unwrap_or(CASES));
    for seed in first..first + cases {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let read = &READS[seed as usize % READS.len()];
        let path = folder.path().join(read.file);
        let valid = fs::read(&path).unwrap();
        let mut bytes = valid.clone();
        mutate(&mut bytes, &mut random);
        fs::write(&path, &bytes).unwrap();
        let output = start(&mut thalweg(folder.path(), read.arguments)).output();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(
            matches!(output.status.code(), Some(0..=2)) && !message.contains("panicked"),
            "THALWEG_SEED={seed}: {}: {:?}\n{message}\n{}",
            read.arguments.join(" "),
            output.status,
            bytes.escape_ascii()
        );
        assert_eq!(output.status.success(), !message.contains("error:"), "THALWEG_SEED={seed}: {message}");
        fs::write(&path, valid).unwrap();
    }
}

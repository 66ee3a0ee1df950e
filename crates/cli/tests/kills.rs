//! Signals at random moments, of which SIGKILL lets no process clean up. An output is whole or not there, a signal that can
//! be handled leaves nothing unfinished, and what SIGKILL leaves goes with the next run.
//!
//! ```text
//! THALWEG_CASES=100000 cargo test -p thalweg-cli --release --test all kills
//! THALWEG_CASES=20000 cargo test -p thalweg-cli --release --test all kills::a_timeline
//! ```
#![cfg(unix)]

use std::cell::Cell;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use tempfile::{TempDir, tempdir};
use thalweg::Report;
use thalweg::trace::{ReportExt, Timeline, TimelineExt};

use crate::child::{Command, Running, start};

/// The defaults of `THALWEG_CASES`.
const CASES: u64 = 300;
const TIMELINE_CASES: u64 = 40;

/// Places that run at the same time, as many as the smallest machine for these tests has cores.
const PLACES: u64 = 2;

const PROGRAM: &str = "void->void pipeline Main {
    add FileReader<float>(\"in\"); add Work(); add FileWriter<float>(\"out\");
}
float->float filter Work() {
    work pop 1 push 1 { float x = pop(); for (int i = 0; i < 40; i++) x = x * 0.999 + sin(x); push(x); }
}";

const PRINTS: &str = "void->void pipeline Main { add FileReader<float>(\"in\"); add Work(); add Show(); }
float->float filter Work() {
    work pop 1 push 1 { float x = pop(); for (int i = 0; i < 40; i++) x = x * 0.999 + sin(x); push(x); }
}
float->void filter Show() { work pop 1 { println(pop()); } }";

/// A command, and how often it is drawn, in relation to the others.
struct Verb {
    arguments: &'static [&'static str],
    writes: &'static [(&'static str, Kind)],
    share: u64,
    /// Without compiled code from earlier runs.
    cold: bool,
}

/// What a file that a command writes must be after a signal, if it is there.
#[derive(Clone, Copy)]
enum Kind {
    /// The same as after an undisturbed run.
    Fixed,
    /// As `Fixed`, and a file with the partial name has a part of the same bytes.
    Stream,
    /// As `Fixed`, and a file with the partial name has a part of the same samples.
    Sound,
    /// Standard output: the first bytes, as many as were written before any signal.
    Printed,
    /// As `Fixed`, but a signal that is not SIGKILL ends the game of life at an earlier generation.
    Generation,
    Report,
    /// The timeline of the run that has written the report `r.json`.
    Timeline,
    /// An executable that does the same as an undisturbed one.
    Program,
}

const VERBS: &[Verb] = &[
    verb(8, &["dedup", "pack", "tree", "-fo", "a.thd"], &[("a.thd", Kind::Fixed)]),
    verb(4, &["dedup", "pack", "tree", "-fo", "b.thd", "--no-sync"], &[("b.thd", Kind::Fixed)]),
    verb(12, &["dedup", "unpack", "good.thd", "-o", "copy", "--no-sync"], &[("copy", Kind::Fixed)]),
    verb(
        8,
        &["run", "p.str", "--save-report", "r.json", "--timeline", "t.json", "--threads", "2"],
        &[("out", Kind::Stream), ("r.json", Kind::Report), ("t.json", Kind::Timeline)],
    ),
    // The same files, of another graph.
    verb(
        4,
        &["run", "p.str", "--save-report", "r.json", "--timeline", "t.json", "--threads", "1"],
        &[("out", Kind::Stream), ("r.json", Kind::Report), ("t.json", Kind::Timeline)],
    ),
    verb(2, &["run", "p.str", "-o", "out.wav", "--threads", "2"], &[("out.wav", Kind::Sound)]),
    verb(2, &["run", "p.str", "-o", "-", "--threads", "2"], &[("printed", Kind::Printed)]),
    verb(2, &["run", "prints.str", "--threads", "2"], &[("printed", Kind::Printed)]),
    verb(1, &["run", "prints.str", "--engine", "interpreter"], &[("printed", Kind::Printed)]),
    verb(2, &["run", "p.str", "--engine", "interpreter"], &[("out", Kind::Stream)]),
    Verb { cold: true, ..verb(1, &["run", "p.str"], &[("out", Kind::Stream)]) },
    Verb { cold: true, ..verb(1, &["build", "p.str", "-o", "program"], &[("program", Kind::Program)]) },
    verb(4, &["demo", "wordcount", "words", "--save-report", "w.json"], &[("w.json", Kind::Report)]),
    verb(4, &["align", "a.fa", "a.fa", "-fo", "align"], &[("align", Kind::Fixed)]),
    verb(
        4,
        &["demo", "pagerank", "--rmat", "12", "-fo", "ranks", "--plot", "plot.svg"],
        &[("ranks", Kind::Fixed), ("plot.svg", Kind::Fixed)],
    ),
    verb(
        4,
        &["demo", "life", "acorn", "-g", "100", "--until-settled", "-fo", "life"],
        &[("life", Kind::Generation)],
    ),
];

const fn verb(
    share: u64,
    arguments: &'static [&'static str],
    writes: &'static [(&'static str, Kind)],
) -> Verb {
    Verb { arguments, writes, share, cold: false }
}

/// A verb's command.
fn command(folder: &Path, verb: &Verb) -> Command {
    let mut command = thalweg(folder, verb.arguments);
    if let [(name, Kind::Printed)] = verb.writes {
        command.stdout(fs::File::create(folder.join(name)).unwrap());
    }
    command
}

/// The name of a part of a file.
fn partial(path: &Path) -> PathBuf {
    thalweg_files::partial_name(path)
}

fn samples(path: &Path) -> Vec<f32> {
    hound::WavReader::open(path).unwrap().into_samples().map(Result::unwrap).collect()
}

fn thalweg(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(arguments).current_dir(folder).env("TMPDIR", folder.join("tmp"));
    command.env("XDG_CACHE_HOME", folder.join("cache")).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn cases(default: u64) -> u64 {
    std::env::var("THALWEG_CASES").map_or(default, |text| text.parse().expect("a number"))
}

/// Whether a file was read; prints why not.
fn readable<T>(read: Result<T, impl std::fmt::Display>, path: &Path) -> bool {
    read.inspect_err(|error| eprintln!("{}: {error}\n{}", path.display(), fs::read_to_string(path).unwrap()))
        .is_ok()
}

/// Pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end.max(1)
    }
}

/// Files by their paths, with their contents.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// All files below `root`.
fn contents(root: &Path) -> Files {
    let mut found = Vec::new();
    let mut places = vec![root.to_path_buf()];
    while let Some(path) = places.pop() {
        if path.is_dir() {
            places.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            found.push((path.strip_prefix(root).unwrap().into(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

/// The unfinished outputs in a folder, in its temporary folder and in its cache.
fn unfinished(folder: &Path) -> Vec<String> {
    let folders = [folder.into(), folder.join("tmp"), folder.join("cache/thalweg")];
    let entries = folders.iter().filter_map(|folder: &PathBuf| fs::read_dir(folder).ok()).flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with('.')).collect()
}

/// A folder with inputs, and with what each command writes if it is not disturbed.
struct Place {
    folder: TempDir,
    /// The outputs of each verb.
    expected: Vec<Vec<Files>>,
    /// The time that each verb takes.
    takes: Vec<Duration>,
    /// The microseconds after which [`Place::kill_at_end`] kills each verb.
    ends: Vec<Cell<u64>>,
}

impl Place {
    fn new() -> Place {
        let folder = tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("tmp")).unwrap();
        for number in 0..20u32 {
            fs::create_dir_all(at("tree").join(number.to_string())).unwrap();
            let bytes: Vec<u8> =
                (0..20_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> (number % 24)) as u8).collect();
            fs::write(at("tree").join(number.to_string()).join("file"), bytes).unwrap();
        }
        let floats: Vec<u8> = (0..30_000).flat_map(|n| (n as f32).to_le_bytes()).collect();
        fs::write(at("in"), floats).unwrap();
        fs::write(at("p.str"), PROGRAM).unwrap();
        fs::write(at("prints.str"), PRINTS).unwrap();
        fs::write(at("words"), "many words, many more\n".repeat(10_000)).unwrap();
        fs::write(at("a.fa"), format!(">a\n{}\n", "ACGTTGCAAC".repeat(40))).unwrap();
        let good = thalweg(folder.path(), &["dedup", "pack", "tree", "-o", "good.thd"]).status().unwrap();
        assert!(good.success());
        // The times below are without compilation.
        for program in ["p.str", "prints.str"] {
            assert!(thalweg(folder.path(), &["run", program]).status().unwrap().success());
        }
        let (mut expected, mut takes) = (Vec::new(), Vec::new());
        for verb in VERBS {
            if verb.cold {
                _ = fs::remove_dir_all(at("cache"));
            }
            let started = Instant::now();
            let output = command(folder.path(), verb).stderr(Stdio::piped()).spawn().unwrap();
            let output = output.output();
            assert!(output.status.success(), "{:?}: {output:?}", verb.arguments);
            takes.push(started.elapsed());
            expected.push(verb.writes.iter().map(|(name, _)| contents(&at(name))).collect());
        }
        let ends = takes.iter().map(|takes| Cell::new(takes.as_micros() as u64)).collect();
        Place { folder, expected, takes, ends }
    }

    /// Runs a verb, sends a signal at a random time, and checks what is there.
    fn case(&self, random: &mut Random) {
        let mut number = random.below(VERBS.iter().map(|verb| verb.share).sum());
        let drawn =
            VERBS.iter().position(|verb| number.checked_sub(verb.share).map(|rest| number = rest).is_none());
        let drawn = drawn.expect("the number is below the sum");
        let signal = [Signal::KILL, Signal::KILL, Signal::TERM, Signal::INT][random.below(4) as usize];
        self.clear(&VERBS[drawn], random.below(2) == 0);
        // Signals come at any time of a run, and some after it.
        _ = self.signalled(drawn, signal, random.below(self.takes[drawn].as_micros() as u64 * 5 / 4));
    }

    /// Runs a verb, sends a signal after `micros` microseconds, and checks what is there.
    fn signalled(&self, drawn: usize, signal: Signal, micros: u64) -> ExitStatus {
        let verb = &VERBS[drawn];
        let mut child = start(command(self.folder.path(), verb).stderr(Stdio::null()));
        sleep(Duration::from_micros(micros));
        child.send(signal);
        let status = child.wait().unwrap();
        let context = format!("{:?}, {signal:?}, {status}", verb.arguments);
        if signal != Signal::KILL {
            self.check_ended(&child, status, signal, &context);
        }
        for ((name, kind), expected) in verb.writes.iter().zip(&self.expected[drawn]) {
            let path = self.folder.path().join(name);
            if path.exists() {
                self.check(&path, *kind, expected, signal == Signal::KILL, &context);
            }
            if partial(&path).exists() {
                assert!(is_part(&partial(&path), *kind, &expected[0].1), "{context}: a part of {name}");
            }
        }
        status
    }

    /// Kills a verb at about its end, where it completes its files. How long that takes depends on other load: so half of
    /// the kills are to come too late.
    fn kill_at_end(&self, drawn: usize, random: &mut Random) {
        let end = &self.ends[drawn];
        let status = self.signalled(drawn, Signal::KILL, end.get() * (95 + random.below(10)) / 100);
        end.set(if status.success() { end.get() * 15 / 16 } else { end.get() * 17 / 16 });
    }

    /// Removes the outputs of a verb; the files only if `all`, since they can be replaced.
    fn clear(&self, verb: &Verb, all: bool) {
        for (name, _) in verb.writes {
            let path = self.folder.path().join(name);
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else if all {
                _ = fs::remove_file(partial(&path));
                _ = fs::remove_file(path);
            }
        }
        if verb.cold {
            _ = fs::remove_dir_all(self.folder.path().join("cache"));
        }
    }

    /// A process that handles a signal leaves nothing unfinished. One that is not yet ready for it has begun nothing.
    fn check_ended(&self, child: &Running, status: ExitStatus, signal: Signal, context: &str) {
        let expected = status.code() == Some(0) || status.signal() == Some(signal.as_raw());
        assert!(expected, "{context}");
        let own = format!("-{}-", child.id());
        let left = unfinished(self.folder.path());
        assert!(!left.iter().any(|name| name.contains(&own)), "{context}: {left:?}");
    }

    fn check(&self, path: &Path, kind: Kind, expected: &[(PathBuf, Vec<u8>)], killed: bool, context: &str) {
        let text = || fs::read_to_string(path).unwrap();
        let whole = match kind {
            Kind::Generation if !killed => text().contains("x = ") && text().trim_end().ends_with('!'),
            Kind::Printed => expected[0].1.starts_with(&fs::read(path).unwrap()),
            Kind::Fixed | Kind::Stream | Kind::Sound | Kind::Generation => contents(path) == expected,
            Kind::Report => readable(Report::from_json(&text()), path),
            Kind::Timeline => {
                let report =
                    fs::read_to_string(path.with_file_name("r.json")).expect("a report of the same run");
                let report = Report::from_json(&report).unwrap();
                readable(Timeline::from_json(&text(), report.graph()), path)
            }
            Kind::Program => {
                let mut program = Command::new(path);
                program.current_dir(self.folder.path()).args(["--output", "made"]).stdin(Stdio::null());
                let ran = program.output().unwrap();
                ran.status.success() && Some(&fs::read(path.with_file_name("made")).unwrap()) == self.stream()
            }
        };
        assert!(whole, "{context}: {} is neither whole nor absent", path.display());
        if matches!(kind, Kind::Generation) && contents(path) != expected {
            // The next run is to find a whole file or none.
            fs::remove_file(path).unwrap();
        }
    }

    /// What the program writes.
    fn stream(&self) -> Option<&Vec<u8>> {
        let drawn = VERBS.iter().position(|verb| matches!(verb.writes, [(_, Kind::Stream)]))?;
        Some(&self.expected[drawn][0][0].1)
    }

    /// The next runs remove what killed ones have left, and do what they would have done. A C compiler may still run for a
    /// moment, and may write to a temporary folder while it is removed.
    fn check_rest(&self) {
        let started = Instant::now();
        loop {
            for (verb, expected) in VERBS.iter().zip(&self.expected).filter(|(verb, _)| verb.share > 0) {
                self.clear(verb, true);
                let output = command(self.folder.path(), verb).stderr(Stdio::piped()).spawn().unwrap();
                let output = output.output();
                assert!(output.status.success(), "{:?}: {output:?}", verb.arguments);
                for ((name, kind), expected) in verb.writes.iter().zip(expected) {
                    self.check(&self.folder.path().join(name), *kind, expected, true, "the last run");
                }
            }
            let left = unfinished(self.folder.path());
            if left.is_empty() {
                return;
            }
            assert!(started.elapsed() < Duration::from_secs(60), "{left:?}");
        }
    }
}

/// Whether a file has a part of the output that an undisturbed run has written as `whole`.
fn is_part(path: &Path, kind: Kind, whole: &[u8]) -> bool {
    match kind {
        Kind::Stream => whole.starts_with(&fs::read(path).unwrap()),
        Kind::Sound => {
            let all: Vec<f32> =
                hound::WavReader::new(whole).unwrap().into_samples().map(Result::unwrap).collect();
            all.starts_with(&samples(path))
        }
        _ => false,
    }
}

/// Does `cases` cases in several places at once, and then what the killed commands were to do.
fn in_places(cases: u64, case: impl Fn(&Place, &mut Random) + Sync) {
    std::thread::scope(|scope| {
        for number in 0..PLACES {
            let case = &case;
            scope.spawn(move || {
                let place = Place::new();
                let mut random = Random(number);
                (number..cases).step_by(PLACES as usize).for_each(|_| case(&place, &mut random));
                place.check_rest();
            });
        }
    });
}

#[test]
fn outputs_are_whole_or_absent_after_signals() {
    in_places(cases(CASES), Place::case);
}

/// Two runs of different graphs take turns to replace a report and its timeline, and are killed when they write these.
#[test]
fn a_timeline_is_that_of_the_report_beside_it() {
    let writes_timeline = |verb: &Verb| verb.writes.iter().any(|(_, kind)| matches!(kind, Kind::Timeline));
    let verbs: Vec<_> = (0..VERBS.len()).filter(|at| writes_timeline(&VERBS[*at])).collect();
    in_places(cases(TIMELINE_CASES), |place, random| {
        let drawn = verbs[random.below(verbs.len() as u64) as usize];
        place.kill_at_end(drawn, random);
    });
}

/// A compiler that takes longer than the test, and the file that says that it has begun.
const SLOW: &str = "#!/bin/sh
case $1 in --version) echo 1 ;; *) echo $$ > begun.new; mv begun.new \"$BEGUN\"; sleep 20 ;; esac
";

/// Starts a command whose C compiler does not end by itself, and waits for the compiler. Returns the compiler's id.
fn compiling(folder: &Path, arguments: &[&str]) -> (Running, String) {
    let (script, begun) = (folder.join("cc"), folder.join("begun"));
    fs::write(&script, SLOW).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = thalweg(folder, arguments);
    let mut child = start(command.env("CC", script).env("BEGUN", &begun).stderr(Stdio::piped()));
    let started = Instant::now();
    while !begun.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended without the compiler");
        assert!(started.elapsed() < Duration::from_secs(60), "the compiler is not started");
        sleep(Duration::from_millis(5));
    }
    let id = fs::read_to_string(&begun).unwrap().trim().to_owned();
    fs::remove_file(begun).unwrap();
    (child, id)
}

fn compiling_folder() -> TempDir {
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("tmp")).unwrap();
    fs::write(folder.path().join("p.str"), PROGRAM).unwrap();
    fs::write(folder.path().join("in"), [0; 4000]).unwrap();
    folder
}

/// Waits until the compiler has ended, which nothing but the end of the command tells it.
fn wait_for_end(compiler: &str) {
    let begun = Instant::now();
    while is_alive(compiler) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the compiler runs on");
        sleep(Duration::from_millis(5));
    }
}

/// Whether the process runs. One that no other process waits for stays as a zombie.
pub(crate) fn is_alive(pid: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    !output.stdout.is_empty() && !output.stdout.starts_with(b"Z")
}

const COMPILE: [&[&str]; 2] = [&["build", "p.str", "-o", "program"], &["run", "p.str"]];

#[test]
fn a_signal_ends_the_compiler_and_leaves_nothing() {
    for arguments in COMPILE {
        for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
            let folder = compiling_folder();
            let (mut child, compiler) = compiling(folder.path(), arguments);
            child.send(signal);
            let mut message = String::new();
            child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(signal.as_raw()), "{arguments:?}: {message}");
            assert!(message.starts_with("interrupted"), "{message}");
            assert_eq!(unfinished(folder.path()), [""; 0], "{arguments:?}");
            assert!(!folder.path().join("program").exists() && !folder.path().join("out").exists());
            let pid = Pid::from_raw(compiler.parse().unwrap()).unwrap();
            assert!(rustix::process::test_kill_process(pid).is_err(), "the compiler runs on");
        }
    }
}

#[test]
fn what_a_killed_compilation_leaves_goes_with_the_next() {
    for arguments in COMPILE {
        let folder = compiling_folder();
        let (mut child, compiler) = compiling(folder.path(), arguments);
        child.kill().unwrap();
        child.wait().unwrap();
        // It would otherwise write to the folder that is removed.
        wait_for_end(&compiler);
        let left = unfinished(folder.path());
        assert_eq!(left.len(), 1, "{left:?}");
        let Output { status, stderr, .. } = thalweg(folder.path(), arguments).output().unwrap();
        let message = String::from_utf8(stderr).unwrap();
        assert!(status.success(), "{message}");
        assert!(message.contains("note: removed ") && message.contains(&left[0]), "{message}");
        assert_eq!(unfinished(folder.path()), [""; 0]);
    }
}

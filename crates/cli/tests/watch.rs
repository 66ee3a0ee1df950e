//! `--watch`: the table stays in place on a terminal of any size, and leaves nothing behind; lines elsewhere.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep, spawn as spawn_thread};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use rustix::termios::{Winsize, tcsetwinsize};
use tempfile::tempdir;

use crate::child::{Command, Running, start};
use crate::terminal::terminal;

/// The screen of a terminal that obeys the few escape sequences that the view uses, and fails on others.
struct Screen {
    rows: usize,
    columns: usize,
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
    breaks_lines: bool,
}

impl Screen {
    fn new(columns: usize, rows: usize) -> Screen {
        let cells = vec![vec![' '; columns]; rows];
        Screen { rows, columns, cells, row: 0, column: 0, breaks_lines: true }
    }

    fn line_feed(&mut self) {
        if self.row + 1 == self.rows {
            self.cells.remove(0);
            self.cells.push(vec![' '; self.columns]);
        } else {
            self.row += 1;
        }
    }

    fn put(&mut self, character: char) {
        if self.column == self.columns {
            if self.breaks_lines {
                self.column = 0;
                self.line_feed();
            } else {
                self.column -= 1;
            }
        }
        self.cells[self.row][self.column] = character;
        self.column += 1;
    }

    fn obey(&mut self, sequence: &str) {
        match sequence {
            "J" => {
                let (row, column) = (self.row, self.column);
                self.cells[row][column..].fill(' ');
                self.cells[row + 1..].iter_mut().for_each(|row| row.fill(' '));
            }
            "2K" => self.cells[self.row].fill(' '),
            "?7l" => self.breaks_lines = false,
            "?7h" => self.breaks_lines = true,
            _ => {
                let up = sequence.strip_suffix('A').and_then(|up| up.parse::<usize>().ok());
                let up = up.unwrap_or_else(|| panic!("unexpected escape sequence {sequence:?}"));
                assert!(up <= self.row, "the cursor moves beyond the top: {up} of {}", self.row);
                self.row -= up;
            }
        }
    }

    /// Shows output. Calls `frame` after each frame.
    fn show(&mut self, text: &str, mut frame: impl FnMut(&Screen)) {
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '\r' => self.column = 0,
                '\n' => self.line_feed(),
                '\u{1b}' => {
                    assert_eq!(characters.next(), Some('['));
                    let mut sequence = String::new();
                    while !sequence.ends_with(|last: char| last.is_ascii_alphabetic()) {
                        sequence.push(characters.next().unwrap());
                    }
                    self.obey(&sequence);
                    if sequence == "?7h" {
                        frame(self);
                    }
                }
                other => self.put(other),
            }
        }
    }

    /// The lines, without trailing blanks and blank lines at the end.
    fn lines(&self) -> Vec<String> {
        let lines = self.cells.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned());
        let mut lines: Vec<String> = lines.collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }
}

/// Fails unless the screen shows one table below the lines `above`, and nothing else.
fn check_table(screen: &Screen, above: usize) {
    let lines = screen.lines();
    let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("node "), count("channel ")), (1, 1), "{lines:#?}");
    let heads = lines.iter().filter(|line| line.contains(" s, ") && line.contains(" worker"));
    assert_eq!(heads.count(), 1, "{lines:#?}");
    assert!(lines[above].contains(" worker") && lines[above + 1].starts_with("node "), "{lines:#?}");
    assert_eq!(
        (screen.row, screen.column),
        (lines.len(), 0),
        "the cursor is not below the table: {lines:#?}"
    );
    assert!(screen.breaks_lines);
}

/// The command, with a terminal of this size for standard error and a pipe for standard input.
fn spawn(folder: &Path, arguments: &[&str], term: &str, (columns, rows): (u16, u16)) -> (File, Running) {
    let (own, other): (File, OwnedFd) = terminal();
    tcsetwinsize(&own, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(arguments).args(["--threads", "2", "--watch"]).env("TERM", term).current_dir(folder);
    (own, start(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(other)))
}

/// What the command writes, collected by a thread until the other side closes.
struct Written {
    text: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Written {
    fn by(mut from: impl Read + Send + 'static) -> Written {
        let text = Arc::new(Mutex::new(Vec::new()));
        let collected = Arc::clone(&text);
        let reader = spawn_thread(move || {
            let mut buffer = [0; 4096];
            // Reading from a terminal fails when all processes have closed the other side.
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                collected.lock().unwrap().extend_from_slice(&buffer[..read]);
            }
        });
        Written { text, reader }
    }

    fn count(&self, part: &str) -> usize {
        self.text.lock().unwrap().windows(part.len()).filter(|window| *window == part.as_bytes()).count()
    }

    /// Everything, when the command has ended.
    fn at_the_end(self) -> String {
        self.reader.join().unwrap();
        String::from_utf8(Arc::into_inner(self.text).unwrap().into_inner().unwrap()).unwrap()
    }
}

/// Longer than any view of a passing test takes.
const LIMIT: Duration = Duration::from_secs(60);

/// The end of a frame.
const FRAME: &str = "\u{1b}[?7h";

/// Feeds text slowly, so that nodes have work, until the view has shown enough: however slow the machine is.
fn feed_until(child: &mut Running, mut enough: impl FnMut() -> bool) {
    let (mut input, began) = (child.stdin.take().unwrap(), Instant::now());
    while !enough() {
        assert!(began.elapsed() < LIMIT, "the view shows too little");
        input.write_all(&b"some words of a text\n".repeat(1000)).unwrap();
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_table_stays_in_place_and_is_removed_at_the_end() {
    let folder = tempdir().unwrap();
    for size in [(80, 24), (40, 24), (40, 7), (200, 60)] {
        let (own, mut child) = spawn(folder.path(), &["demo", "wordcount"], "xterm", size);
        let written = Written::by(own);
        feed_until(&mut child, || written.count(FRAME) >= 3);
        let text = written.at_the_end();
        assert!(child.wait().unwrap().success(), "{text}");
        let mut screen = Screen::new(size.0.into(), size.1.into());
        screen.show(&text, |screen| check_table(screen, 0));
        assert!(screen.lines().is_empty(), "{:#?}", screen.lines());
        assert!(!text.contains("?25l"), "the cursor was hidden");
    }
}

#[test]
fn messages_appear_above_the_table() {
    let folder = tempdir().unwrap();
    let tree = folder.path().join("tree");
    fs::create_dir(&tree).unwrap();
    // Packed in order of names: the table is there when the warning comes, and remains for a while. For some seconds without
    // optimisations, and for about one with them.
    let bytes = if cfg!(debug_assertions) { 50 << 20 } else { 700 << 20 };
    File::create(tree.join("a")).unwrap().set_len(bytes).unwrap();
    assert!(Command::new("mkfifo").arg(tree.join("b")).status().unwrap().success());
    File::create(tree.join("c")).unwrap().set_len(bytes).unwrap();
    let (own, mut child) = spawn(folder.path(), &["dedup", "pack", "tree", "-o", "-"], "xterm", (80, 24));
    let text = Written::by(own).at_the_end();
    assert!(child.wait().unwrap().success(), "{text}");
    let mut screen = Screen::new(80, 24);
    let mut above = Vec::new();
    screen.show(&text, |screen| {
        let warned = screen.lines()[0].starts_with("warning: skipped");
        above.push(warned);
        check_table(screen, usize::from(warned));
    });
    assert!(above.len() >= 2 && above.is_sorted() && above.ends_with(&[true]), "{above:?}");
    let lines = screen.lines();
    assert!(lines.len() == 1 && lines[0].starts_with("warning: skipped"), "{lines:#?}");
}

#[test]
fn an_interrupt_leaves_the_last_frame_and_a_sound_terminal() {
    // With unfinished output the run is stopped; without, the process ends at once.
    for output in ["out", "-"] {
        let folder = tempdir().unwrap();
        let arguments = ["dedup", "pack", "-", "-o", output];
        let (own, mut child) = spawn(folder.path(), &arguments, "xterm", (80, 24));
        child.stdin.as_mut().unwrap().write_all(&vec![1; 5 << 20]).unwrap();
        let written = Written::by(own);
        let began = Instant::now();
        while written.count(FRAME) < 3 && !written.reader.is_finished() && began.elapsed() < LIMIT {
            sleep(Duration::from_millis(10));
        }
        child.send(Signal::INT);
        let text = written.at_the_end();
        assert_eq!(child.wait().unwrap().signal(), Some(2), "{text}");
        let mut screen = Screen::new(80, 24);
        screen.show(&text, |screen| check_table(screen, 0));
        let lines = screen.lines();
        assert!(lines.last().unwrap().starts_with("interrupted"), "{lines:#?}");
        assert!(lines[1].starts_with("node "), "{lines:#?}");
        assert!(screen.breaks_lines && screen.column == 0 && screen.row == lines.len());
    }
}

#[test]
fn elsewhere_the_view_is_lines_without_escape_sequences() {
    let folder = tempdir().unwrap();
    let began = Instant::now();
    let (own, mut dumb) = spawn(folder.path(), &["demo", "wordcount"], "dumb", (80, 24));
    let mut piped = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    piped.args(["demo", "wordcount", "--watch"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut piped = start(piped.stderr(Stdio::piped()));
    let both = [Written::by(own), Written::by(piped.stderr.take().unwrap())];
    std::thread::scope(|scope| {
        for (child, written) in [&mut dumb, &mut piped].into_iter().zip(&both) {
            scope.spawn(|| feed_until(child, || written.count("\n") >= 2));
        }
    });
    for text in both.map(Written::at_the_end) {
        let seconds = began.elapsed().as_secs() as usize;
        assert!(!text.contains('\u{1b}'), "{text:?}");
        let lines: Vec<&str> = text.lines().collect();
        assert!((2..=seconds + 1).contains(&lines.len()), "after {seconds} s: {text}");
        let complete = |line: &&str| line.contains(" worker") && line.contains("/s ") && line.contains("; ");
        assert!(lines.iter().all(complete), "{text}");
    }
}

//! Small archives of very many entries: the commands take time and memory in proportion to the entries.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::tempdir;

use crate::child::{Command, Running, start};
use crate::forged::Forged;

/// The longest name that an archive has.
static LONG: [u8; 1 << 16] = [b'n'; 1 << 16];

/// Runs `thalweg dedup stat` with an address space of 400 MB.
fn stat_within(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 400000 && exec \"$0\" dedup stat \"$@\"", env!("CARGO_BIN_EXE_thalweg")]);
    command.args(arguments).current_dir(folder).limit(Duration::from_secs(30)).output().expect("starts")
}

/// Folders in each other.
fn deep() -> Forged {
    let mut forged = Forged::new();
    (0..300_000).for_each(|_| forged.folder(b"d"));
    (0..300_000).for_each(|_| forged.up());
    forged
}

/// Further names of a file that lies deep.
fn linked() -> Forged {
    let mut forged = Forged::new();
    (0..200_000).for_each(|_| forged.folder(b"d"));
    forged.shared_file(b"f");
    (0..200_000).for_each(|_| forged.up());
    (0..200_000).for_each(|number| forged.hard_link(format!("l{number:06}").as_bytes(), 0));
    forged
}

/// Folders with long names in each other, each with a file that has a second name.
fn long() -> Forged {
    let mut forged = Forged::new();
    for depth in 0..400 {
        forged.shared_file(b"f");
        forged.hard_link(b"l", depth);
        forged.folder(&LONG);
    }
    (0..400).for_each(|_| forged.up());
    forged
}

/// A whole path for each entry would be 20 GB or more, in each of the cases, and would take minutes to hours.
#[test]
fn stat_takes_time_and_memory_in_proportion_to_the_entries() {
    let folder = tempdir().unwrap();
    for (forged, entries, longest) in
        [(deep(), 300_001, 4096), (linked(), 400_002, 1 << 20), (long(), 1201, 8192)]
    {
        let archive = forged.finish();
        assert!(archive.len() <= longest, "{} bytes", archive.len());
        fs::write(folder.path().join("a.thd"), archive).unwrap();
        let began = Instant::now();
        let output = stat_within(folder.path(), &["a.thd"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert!(text.contains(&format!("0 bytes), {entries} entries\n")), "{text}");
        assert!(began.elapsed() < Duration::from_secs(20), "{entries} entries: {:?}", began.elapsed());
    }
}

/// Of a path above 1 MiB the end is listed, from the beginning of a name on, and a note counts these paths.
#[test]
fn a_list_says_how_many_paths_it_shortens() {
    const DEPTH: usize = 18;
    let folder = tempdir().unwrap();
    let mut forged = Forged::new();
    (0..DEPTH).for_each(|_| forged.folder(&LONG));
    forged.shared_file(b"f");
    forged.hard_link(b"l", 0);
    (0..DEPTH).for_each(|_| forged.up());
    fs::write(folder.path().join("a.thd"), forged.finish()).unwrap();
    let output = stat_within(folder.path(), &["--list", "a.thd"]);
    let (text, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{said}");
    // The 16th folder is the first that is too long. The second name has two paths.
    let expected = "note: 6 paths are longer than 1048576 bytes: of these, the end after `...` is listed\n";
    assert_eq!(said, expected);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), DEPTH + 2);
    let name = "n".repeat(LONG.len());
    for (above, line) in lines[..DEPTH].iter().enumerate() {
        let (begin, names) = if above < 15 { ("", above + 1) } else { (".../", 15) };
        let path = format!("{begin}{}", format!("{name}/").repeat(names));
        assert!(line.ends_with(&format!(" {path}")), "folder {above}: {} bytes", line.len());
    }
    let file = format!(".../{}f", format!("{name}/").repeat(15));
    assert!(lines[DEPTH].ends_with(&format!(" {file}")));
    assert!(lines[DEPTH + 1].ends_with(&format!(" {}l link to {file}", &file[..file.len() - 1])));
}

/// Folders of the tree whose removal a signal interrupts, and files in each.
const FOLDERS: usize = 40;
const FILES: usize = 500;

/// A run that has failed, and removes what it has unpacked.
fn removing(folder: &Path, archive: &[u8]) -> Running {
    fs::write(folder.join("cut.thd"), &archive[..archive.len() - 1]).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(["dedup", "unpack", "cut.thd", "-o", "out", "--threads", "1"]).current_dir(folder);
    let mut child = start(command.stdout(Stdio::null()).stderr(Stdio::piped()));
    let mut most = 0;
    loop {
        let found = hidden(folder).map_or(0, |hidden| fs::read_dir(hidden).map_or(0, Iterator::count));
        if found < most || child.try_wait().unwrap().is_some() {
            return child;
        }
        most = found;
        sleep(Duration::from_micros(200));
    }
}

/// The folder in which a run unpacks.
fn hidden(folder: &Path) -> Option<PathBuf> {
    let mut paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.find(|path| path.is_dir())
}

/// The removal of a tree ends a second after a signal. The process is stopped for longer than that, so the tree need not be
/// one whose removal takes as long.
#[test]
fn a_signal_ends_the_removal_of_a_tree() {
    let mut forged = Forged::new();
    for number in 0..FOLDERS {
        forged.folder(format!("d{number:02}").as_bytes());
        (0..FILES).for_each(|number| forged.file(format!("f{number:03}").as_bytes(), 0));
        forged.up();
    }
    let archive = forged.finish();
    for _ in 0..10 {
        let folder = tempdir().unwrap();
        let child = removing(folder.path(), &archive);
        child.send(Signal::TERM);
        // The handler runs at once, on a thread of its own.
        sleep(Duration::from_millis(5));
        child.send(Signal::STOP);
        sleep(Duration::from_millis(1050));
        let resumed = Instant::now();
        child.send(Signal::CONT);
        let output = child.output();
        assert!(resumed.elapsed() < Duration::from_secs(2), "{:?}", resumed.elapsed());
        let message = String::from_utf8_lossy(&output.stderr);
        let Some(left) = hidden(folder.path()) else {
            continue; // it was removed before the signal took effect
        };
        // A shell reports it as 143.
        assert_eq!(output.status.signal(), Some(Signal::TERM.as_raw()), "{message}");
        let left = left.file_name().unwrap().to_string_lossy().into_owned();
        let expected = format!("{left}`\nhelp: delete it\n");
        assert!(message.ends_with(&expected), "{message}");
        assert!(message.contains("interrupted: the unfinished output stays in `"), "{message}");
        return;
    }
    panic!("no signal came during the removal");
}

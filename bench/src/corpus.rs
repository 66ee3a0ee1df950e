//! Real files that exist on every machine with this benchmark: the folder of the installed Rust toolchain, and the
//! sources of crates.

pub mod tree;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::peers::process::is_installed;
use crate::race::Outcome;
use crate::row::timed;

/// Files, and their contents in one buffer with a short header before each, as in a tar file.
pub struct Corpus {
    /// The headers and contents.
    pub bytes: Vec<u8>,
    files: Vec<PathBuf>,
}

impl Corpus {
    /// Reads files in the order of their names until the buffer has at least `least` bytes.
    pub fn load(least: usize) -> Self {
        let mut corpus = Self { bytes: Vec::new(), files: Vec::new() };
        let mut files = Vec::new();
        list(&toolchain(), &mut files);
        files.sort();
        for file in files {
            if corpus.bytes.len() >= least {
                break;
            }
            corpus.add(file);
        }
        corpus
    }

    fn add(&mut self, file: PathBuf) {
        let Ok(content) = fs::read(&file) else { return };
        let header = format!("{}\0{}\0", file.display(), content.len());
        self.bytes.extend_from_slice(header.as_bytes());
        self.bytes.extend_from_slice(&content);
        self.files.push(file);
    }

    /// Times `tar | command` over the same files; `None` if either program is missing.
    pub fn tar(&self, command: &str) -> Outcome {
        let tool = command.split(' ').next().unwrap_or(command);
        if !["tar", tool].into_iter().all(is_installed) {
            return Ok(None);
        }
        let mut outcome = Ok(());
        let row = timed(|| {
            outcome = self.pipe(&format!("tar -cf - -P --null -T - | {command} >/dev/null"));
            0
        });
        outcome.map(|()| Some(row))
    }

    fn pipe(&self, line: &str) -> Result<(), String> {
        let mut shell = Command::new("sh").args(["-c", line]).stdin(Stdio::piped()).spawn().map_err(text)?;
        let names: Vec<u8> = self
            .files
            .iter()
            .flat_map(|file| [file.as_os_str().as_encoded_bytes(), b"\0"].concat())
            .collect();
        shell.stdin.take().expect("standard input is a pipe").write_all(&names).map_err(text)?;
        let status = shell.wait().map_err(text)?;
        if status.success() { Ok(()) } else { Err(format!("{line}: {status}")) }
    }
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}

/// The toolchain's folder.
pub fn toolchain() -> PathBuf {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    let path = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    PathBuf::from(path.unwrap_or_default())
}

/// The folder of the sources that cargo has downloaded.
pub fn sources() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    home.unwrap_or_default().join("registry/src")
}

/// Adds all files below `folder`; unreadable entries are skipped.
fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => list(&entry.path(), files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}

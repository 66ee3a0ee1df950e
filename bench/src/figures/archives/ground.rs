//! The trees and archives of a figure, in a temporary folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::tools::{Place, Tool, copy};
use crate::corpus::tree;
use crate::peers::process;
use crate::row::Row;

/// The most bytes of a tree.
const BYTES: u64 = 300_000_000;
const BYTES_QUICK: u64 = 8_000_000;

/// A folder with its checksum.
pub struct Subject {
    folder: PathBuf,
    checksum: u64,
}

/// A tree, its near-copy, and the folder that has both.
pub struct Ground {
    /// The tree.
    pub original: Subject,
    /// Its near-copy.
    pub near: Subject,
    /// Both.
    pub pair: Subject,
    /// Their sizes, in words.
    pub about: String,
    thalweg: PathBuf,
    threads: usize,
    folder: TempDir,
}

impl Ground {
    /// Copies a part of a folder, and makes the near-copy.
    pub fn new(from: &Path, is_quick: bool, threads: usize) -> Result<Self, String> {
        let thalweg = thalweg()?;
        let folder = TempDir::with_prefix("thalweg-bench-").map_err(text)?;
        let pair = folder.path().join("pair");
        let (original, near) = (pair.join("original"), pair.join("near-copy"));
        let most = if is_quick { BYTES_QUICK } else { BYTES };
        tree::copy_part(from, &original, most).map_err(|error| format!("{}: {error}", from.display()))?;
        tree::near_copy(&original, &near).map_err(text)?;
        let (files, bytes) = tree::extent(&original).map_err(text)?;
        if files == 0 {
            return Err(format!("{}: no files", from.display()));
        }
        let (_, in_near) = tree::extent(&near).map_err(text)?;
        let megabytes = |bytes| bytes as f64 / 1e6;
        let about = format!(
            "{files} files of {:.2} MB, in the near-copy {:.2} MB",
            megabytes(bytes),
            megabytes(in_near)
        );
        let [original, near, pair] = [original, near, pair].map(Subject::new);
        Ok(Ground { original: original?, near: near?, pair: pair?, about, thalweg, threads, folder })
    }

    /// An archive of a tool, in a folder with this number.
    pub fn archive(&self, number: usize, tool: Tool) -> Archive {
        let folder = self.folder.path().join(format!("archive-{number}"));
        let place = Place { thalweg: self.thalweg.clone(), threads: self.threads, folder };
        let (output, first) =
            (self.folder.path().join("output"), self.folder.path().join(format!("first-{number}")));
        Archive { tool, place, output, first, is_packed: false, is_checked: false }
    }
}

impl Subject {
    fn new(folder: PathBuf) -> Result<Self, String> {
        let checksum = tree::checksum(&folder).map_err(text)?;
        Ok(Subject { folder, checksum })
    }
}

/// An archive that one tool packs and unpacks.
pub struct Archive {
    tool: Tool,
    place: Place,
    output: PathBuf,
    /// A copy of the archive of the first of two trees.
    first: PathBuf,
    is_packed: bool,
    is_checked: bool,
}

impl Archive {
    /// Packs a tree anew. After the first time, unpacks and compares it too, which is not timed.
    pub fn pack(&mut self, subject: &Subject) -> Result<Row, String> {
        self.empty()?;
        let row = self.add_tree(subject)?;
        self.is_packed = true;
        self.check(subject)?;
        Ok(row)
    }

    /// Adds a tree to an archive of another; only that is timed.
    pub fn add(&mut self, original: &Subject, near: &Subject) -> Result<Row, String> {
        if !self.first.exists() {
            self.empty()?;
            self.add_tree(original)?;
            self.run(&[copy(&self.place.folder, &self.first)])?;
        }
        remove(&self.place.folder)?;
        let scratch = self.first.parent().unwrap_or(&self.first);
        process::run(&[copy(&self.first, &self.place.folder)], scratch)?;
        let row = self.add_tree(near)?;
        self.check(near)?;
        Ok(row)
    }

    /// Unpacks the archive of a tree, which it packs before the first time.
    pub fn unpack(&mut self, subject: &Subject) -> Result<Row, String> {
        if !self.is_packed {
            self.pack(subject)?;
        }
        self.extract(subject)
    }

    fn extract(&self, subject: &Subject) -> Result<Row, String> {
        remove(&self.output)?;
        fs::create_dir(&self.output).map_err(text)?;
        let row = self.run(&self.tool.unpack(&self.place, &subject.folder, &self.output))?;
        if tree::checksum(&self.output).map_err(text)? != subject.checksum {
            return Err("the unpacked tree differs from the packed one".into());
        }
        remove(&self.output)?;
        Ok(row)
    }

    fn check(&mut self, subject: &Subject) -> Result<(), String> {
        if !self.is_checked {
            self.extract(subject)?;
            self.is_checked = true;
        }
        Ok(())
    }

    /// Removes the archive, and creates a repository if the tool needs one.
    fn empty(&self) -> Result<(), String> {
        remove(&self.place.folder)?;
        fs::create_dir(&self.place.folder).map_err(text)?;
        self.tool.create(&self.place).map_or(Ok(()), |create| self.run(&[create]).map(|_| ()))
    }

    fn add_tree(&self, subject: &Subject) -> Result<Row, String> {
        let mut row = self.run(&self.tool.pack(&self.place, &subject.folder))?;
        row.costs.size = tree::extent(&self.place.archive()).map_err(text)?.1 as f64;
        Ok(row)
    }

    fn run(&self, programs: &[Command]) -> Result<Row, String> {
        process::run(programs, &self.place.folder)
    }
}

/// The command `thalweg` of the same build, beside this program. If cargo runs this program, it builds the command.
fn thalweg() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(text)?.with_file_name("thalweg");
    if let Some(cargo) = std::env::var_os("CARGO") {
        let profile = if cfg!(debug_assertions) { None } else { Some("--release") };
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "-p", "thalweg-cli", "--manifest-path", manifest]).args(profile);
        if !build.status().map_err(text)?.success() {
            return Err("cargo cannot build thalweg-cli".into());
        }
    }
    match program.is_file() {
        true => Ok(program),
        false => Err(format!("no file {}\nhelp: cargo build --release -p thalweg-cli", program.display())),
    }
}

fn remove(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}

fn text(error: io::Error) -> String {
    error.to_string()
}

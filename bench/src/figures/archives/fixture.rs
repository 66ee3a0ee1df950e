//! The trees and archives of a figure, in a temporary folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::tools::{Tool, Workspace, copy};
use crate::corpus::tree;
use crate::peers::process;
use crate::row::Row;

/// The most bytes of a tree.
const BYTES: u64 = 300_000_000;
const BYTES_QUICK: u64 = 8_000_000;

/// A folder with its checksum.
pub struct Input {
    folder: PathBuf,
    checksum: u64,
}

/// A tree, its near-copy, and the folder that has both.
pub struct Fixture {
    /// The tree.
    pub original: Input,
    /// Its near-copy.
    pub near: Input,
    /// Both.
    pub pair: Input,
    /// Their sizes, in words.
    pub about: String,
    thalweg: PathBuf,
    threads: usize,
    folder: TempDir,
}

impl Fixture {
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
        let [original, near, pair] = [original, near, pair].map(Input::new);
        Ok(Fixture { original: original?, near: near?, pair: pair?, about, thalweg, threads, folder })
    }

    /// Removes the archives and outputs of the last race.
    pub fn clear(&self) -> Result<(), String> {
        let entries = fs::read_dir(self.folder.path()).map_err(text)?;
        let folders = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        folders
            .filter(|path| path.is_dir() && !path.ends_with("pair"))
            .try_for_each(fs::remove_dir_all)
            .map_err(text)
    }

    /// The folder, which is removed when it is dropped.
    pub fn into_folder(self) -> TempDir {
        self.folder
    }

    /// An archive of a tool, in a folder with this number.
    pub fn archive(&self, number: usize, tool: Tool) -> Archive {
        let folder = self.folder.path().join(format!("archive-{number}"));
        let workspace = Workspace { thalweg: self.thalweg.clone(), threads: self.threads, folder };
        let [output, first, aside] =
            ["output", "first", "aside"].map(|what| self.folder.path().join(format!("{what}-{number}")));
        Archive { tool, workspace, output, first, aside, moved: 0, is_packed: false, is_checked: false }
    }
}

impl Input {
    fn new(folder: PathBuf) -> Result<Self, String> {
        let checksum = tree::checksum(&folder).map_err(text)?;
        Ok(Input { folder, checksum })
    }
}

/// An archive that one tool packs and unpacks. What it has made stays until the next race: ext4 without a journal uses no
/// inode of a removed file again for a minute, and searches longer for a free one with each that was removed.
pub struct Archive {
    tool: Tool,
    workspace: Workspace,
    output: PathBuf,
    /// A copy of the archive of the first of two trees.
    first: PathBuf,
    /// The folder of what earlier runs have made, and the number of these.
    aside: PathBuf,
    moved: usize,
    is_packed: bool,
    is_checked: bool,
}

impl Archive {
    /// Packs a tree anew. After the first time, unpacks and compares it too, which is not timed.
    pub fn pack(&mut self, input: &Input) -> Result<Row, String> {
        self.empty()?;
        let row = self.add_tree(input)?;
        self.is_packed = true;
        self.check(input)?;
        Ok(row)
    }

    /// Adds a tree to an archive of another; only that is timed.
    pub fn add(&mut self, original: &Input, near: &Input) -> Result<Row, String> {
        if !self.first.exists() {
            self.empty()?;
            self.add_tree(original)?;
            self.run(&[copy(&self.workspace.folder, &self.first)])?;
        }
        self.set_aside(&self.workspace.folder.clone())?;
        let scratch = self.first.parent().unwrap_or(&self.first);
        process::run(&[copy(&self.first, &self.workspace.folder)], scratch)?;
        let row = self.add_tree(near)?;
        self.check(near)?;
        Ok(row)
    }

    /// Unpacks the archive of a tree, which it packs before the first time.
    pub fn unpack(&mut self, input: &Input) -> Result<Row, String> {
        if !self.is_packed {
            self.pack(input)?;
        }
        self.extract(input)
    }

    fn extract(&mut self, input: &Input) -> Result<Row, String> {
        self.set_aside(&self.output.clone())?;
        fs::create_dir(&self.output).map_err(text)?;
        let row = self.run(&self.tool.unpack(&self.workspace, &input.folder, &self.output))?;
        if tree::checksum(&self.output).map_err(text)? != input.checksum {
            return Err("the unpacked tree differs from the packed one".into());
        }
        Ok(row)
    }

    fn check(&mut self, input: &Input) -> Result<(), String> {
        if !self.is_checked {
            self.extract(input)?;
            self.is_checked = true;
        }
        Ok(())
    }

    /// Moves the archive away, and creates a repository if the tool needs one.
    fn empty(&mut self) -> Result<(), String> {
        self.set_aside(&self.workspace.folder.clone())?;
        fs::create_dir(&self.workspace.folder).map_err(text)?;
        self.tool.create(&self.workspace).map_or(Ok(()), |create| self.run(&[create]).map(|_| ()))
    }

    fn add_tree(&self, input: &Input) -> Result<Row, String> {
        let mut row = self.run(&self.tool.pack(&self.workspace, &input.folder))?;
        row.costs.size = tree::extent(&self.workspace.archive()).map_err(text)?.1 as f64;
        Ok(row)
    }

    /// Moves a folder away, if it exists.
    fn set_aside(&mut self, folder: &Path) -> Result<(), String> {
        if folder.exists() {
            fs::create_dir_all(&self.aside).map_err(text)?;
            fs::rename(folder, self.aside.join(self.moved.to_string())).map_err(text)?;
            self.moved += 1;
        }
        Ok(())
    }

    fn run(&self, programs: &[Command]) -> Result<Row, String> {
        process::run(programs, &self.workspace.folder)
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

fn text(error: io::Error) -> String {
    error.to_string()
}

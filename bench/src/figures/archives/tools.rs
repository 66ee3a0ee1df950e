//! The command lines of the archivers. Nothing of the user's is read or written: borg and restic have their caches beside
//! their repositories.

use std::path::{Path, PathBuf};
use std::process::Command;

/// An archiver with its settings.
#[derive(Clone, Copy)]
pub enum Tool {
    /// `cp -a`: the tree as it is.
    Copy,
    /// `thalweg dedup`, with more options.
    Ours { codec: &'static str, level: u8, more: &'static [&'static str] },
    /// `tar` and `zstd` with as many threads as ours, with the logarithm of a long window.
    Zstd { level: u8, long: Option<u8> },
    /// `tar` and `gzip`.
    Gzip { level: u8 },
    /// `borg` without encryption, with zstd level 3.
    Borg,
    /// `restic` with its default compression, which is of the class of zstd level 3, and its encryption, which cannot be
    /// switched off.
    Restic,
}

/// Where an archiver works.
pub struct Workspace {
    /// The command `thalweg`.
    pub thalweg: PathBuf,
    /// Worker threads.
    pub threads: usize,
    /// A folder of its own.
    pub folder: PathBuf,
}

impl Workspace {
    /// The archive: a file, or the folder of a repository.
    pub fn archive(&self) -> PathBuf {
        self.folder.join("archive")
    }
}

impl Tool {
    /// The programs that must be installed.
    pub fn programs(self) -> &'static [&'static str] {
        match self {
            Tool::Copy => &["cp"],
            Tool::Ours { .. } => &[],
            Tool::Zstd { .. } => &["tar", "zstd"],
            Tool::Gzip { .. } => &["tar", "gzip"],
            Tool::Borg => &["borg"],
            Tool::Restic => &["restic"],
        }
    }

    /// Creates a repository, if the tool has one.
    pub fn create(self, workspace: &Workspace) -> Option<Command> {
        match self {
            Tool::Borg => {
                let mut borg = borg(workspace);
                borg.args(["init", "--encryption", "none"]).arg(workspace.archive());
                Some(borg)
            }
            Tool::Restic => {
                let mut restic = restic(workspace);
                restic.arg("init");
                Some(restic)
            }
            _ => None,
        }
    }

    /// Packs a tree.
    pub fn pack(self, workspace: &Workspace, tree: &Path) -> Vec<Command> {
        let archive = workspace.archive();
        match self {
            Tool::Copy => vec![copy(tree, &archive)],
            Tool::Ours { codec, level, more } => {
                let mut ours = Command::new(&workspace.thalweg);
                ours.args(["dedup", "pack", "--codec", codec, "--level", &level.to_string()]).args(more);
                ours.args(["--threads", &workspace.threads.to_string(), "-o"]).arg(archive).arg(tree);
                vec![ours]
            }
            Tool::Zstd { level, long } => {
                let mut zstd = Command::new("zstd");
                zstd.args(["-q", &format!("-{level}"), &format!("-T{}", workspace.threads)]);
                zstd.args(long.map(|long| format!("--long={long}"))).arg("-o").arg(archive);
                vec![tar(tree), zstd]
            }
            Tool::Gzip { level } => {
                vec![tar(tree), in_shell(&format!("exec gzip -{level} >\"$0\""), &archive)]
            }
            Tool::Borg => {
                let mut borg = borg(workspace);
                borg.args(["create", "--compression", "zstd,3"]).arg(in_borg(&archive, tree)).arg(".");
                borg.current_dir(tree);
                vec![borg]
            }
            Tool::Restic => {
                let mut restic = restic(workspace);
                restic.args(["backup", "--compression", "auto", "."]).current_dir(tree);
                vec![restic]
            }
        }
    }

    /// Unpacks the archive of `tree`, or what was packed last, into an empty folder.
    pub fn unpack(self, workspace: &Workspace, tree: &Path, into: &Path) -> Vec<Command> {
        let archive = workspace.archive();
        match self {
            Tool::Copy => vec![copy(&archive.join("."), into)],
            Tool::Ours { more, .. } => {
                let mut ours = Command::new(&workspace.thalweg);
                ours.args(["dedup", "unpack", "-f", "--threads", &workspace.threads.to_string()]);
                ours.args(more.iter().filter(|option| **option == "--no-sync"));
                ours.arg("-o").arg(into).arg(archive);
                vec![ours]
            }
            Tool::Zstd { .. } => {
                let mut zstd = Command::new("zstd");
                zstd.args(["-q", "-d", "-c", "--long=31"]).arg(archive);
                vec![zstd, untar(into)]
            }
            Tool::Gzip { .. } => vec![in_shell("exec gzip -dc <\"$0\"", &archive), untar(into)],
            Tool::Borg => {
                let mut borg = borg(workspace);
                borg.arg("extract").arg(in_borg(&archive, tree)).current_dir(into);
                vec![borg]
            }
            Tool::Restic => {
                let mut restic = restic(workspace);
                restic.args(["restore", "latest", "--target"]).arg(into);
                vec![restic]
            }
        }
    }
}

/// Copies a folder.
pub fn copy(from: &Path, to: &Path) -> Command {
    let mut copy = Command::new("cp");
    copy.arg("-a").arg(from).arg(to);
    copy
}

/// Sorted names: the size does not depend on the file system, and equal files of the tree are near each other.
fn tar(tree: &Path) -> Command {
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(tree).args(["--sort=name", "-cf", "-", "."]);
    tar
}

fn untar(into: &Path) -> Command {
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(into).args(["-xf", "-"]);
    tar
}

/// A line for the shell that has the file as `$0`.
fn in_shell(line: &str, file: &Path) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).arg(file);
    shell
}

fn borg(workspace: &Workspace) -> Command {
    let mut borg = Command::new("borg");
    borg.env("BORG_BASE_DIR", workspace.folder.join("base"));
    borg.env("BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK", "yes");
    borg
}

/// The name of a tree's archive in a repository of borg.
fn in_borg(repository: &Path, tree: &Path) -> String {
    format!("{}::{}", repository.display(), tree.file_name().unwrap_or_default().display())
}

fn restic(workspace: &Workspace) -> Command {
    let mut restic = Command::new("restic");
    restic.env("RESTIC_PASSWORD", "bench").env("RESTIC_CACHE_DIR", workspace.folder.join("base"));
    restic.env("GOMAXPROCS", workspace.threads.to_string());
    restic.arg("-q").arg("-r").arg(workspace.archive());
    restic
}

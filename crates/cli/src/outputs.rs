//! Checks of the files that a verb writes.

use std::fs::Metadata;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use thalweg::embed::graph::shown;
use thalweg_files::OutFile;

use crate::interrupt::Interrupt;
use crate::standard;

/// Writes a file, completely or not at all, or standard output for `-`. An existing file is replaced if `force` is set.
pub(crate) fn write(path: &Path, force: bool, bytes: &[u8], interrupt: &Interrupt) -> Result<()> {
    if standard::is_dash(path) {
        return standard::print_by(|| io::stdout().write_all(bytes));
    }
    let _guard = interrupt.guard();
    let mut file = OutFile::create(path, force)?.durable(false);
    file.write_all(bytes).with_context(|| format!("writing {}", shown(path)))?;
    interrupt.stop().check()?;
    Ok(file.commit()?)
}

/// Refuses an output that exists, unless `force` is set, and folders: before the work, whose result [`OutFile`] would refuse.
pub(crate) fn check_absent(path: &Path, force: bool) -> Result<()> {
    if standard::is_dash(path) {
        return Ok(());
    }
    if let Ok(meta) = path.metadata() {
        ensure!(!meta.is_dir(), "{} is a folder, expected a file\nhelp: name a file in it", shown(path));
        ensure!(
            force || !meta.is_file(),
            "{} already exists\nhelp: choose another name, or replace it with --force",
            shown(path)
        );
    }
    Ok(())
}

/// Refuses outputs that are one of the files `others`, which the verb reads or writes too, or that are named twice.
/// Nothing replaces these, not even `--force`: the input would be lost.
pub(crate) fn check_apart<'o, 'p>(
    outputs: impl IntoIterator<Item = &'o Path>,
    others: impl IntoIterator<Item = &'p Path>,
) -> Result<()> {
    let mut others: Vec<&Path> = others.into_iter().filter(|path| !standard::is_dash(path)).collect();
    for path in outputs.into_iter().filter(|path| !standard::is_dash(path) && !is_device(path)) {
        if let Some(other) = others.iter().find(|other| is_same(path, other)) {
            let name = if path == *other { String::new() } else { format!(" as {}", shown(other)) };
            bail!(
                "refusing to overwrite {}, which this command also reads or writes{name}\nhelp: choose another name",
                shown(path)
            );
        }
        others.push(path);
    }
    Ok(())
}

/// Refuses an output that is the open file with this metadata, as standard input or output may be. It would hold itself.
pub(crate) fn check_not_input(output: &OutFile, input: &Metadata) -> Result<()> {
    let written = output.file().metadata().context("reading the output's status")?;
    if is_one_file(&written, input) {
        bail!("the output and the input are one file\nhelp: choose another output");
    }
    Ok(())
}

/// Whether a path names a device or a pipe, which loses nothing when it is written.
fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

/// Whether two paths name one file. They need not exist.
fn is_same(one: &Path, other: &Path) -> bool {
    match (identity(one), identity(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => matches!((real(one), real(other)), (Some(one), Some(other)) if one == other),
        _ => false,
    }
}

#[cfg(unix)]
fn is_one_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Metadata do not identify a file on this system.
#[cfg(not(unix))]
fn is_one_file(_one: &Metadata, _other: &Metadata) -> bool {
    false
}

/// Device and inode, which hard links have in common.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let meta = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((meta.dev(), meta.ino()))
}

/// The real path of a file, which does not tell hard links.
#[cfg(not(unix))]
fn identity(path: &Path) -> Option<std::path::PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}

/// The path without links and `..`, as far as its folder exists.
fn real(path: &Path) -> Option<std::path::PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => Some(folder.join(name)),
        _ => std::path::absolute(path).ok(),
    }
}

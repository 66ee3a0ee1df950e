//! Compares two directory trees, entry by entry and byte by byte.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use thalweg::Options;
use thalweg::embed::graph::shown;
use thalweg_dedup::Stop;

use crate::progress::Progress;

/// Bytes compared at a time.
const PIECE: usize = 128 << 10;
/// The most differences that are listed. The others are only counted.
const MAX_LISTED: usize = 10;

/// The size of a tree.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Survey {
    /// Folders (including the root), files, links and special files.
    pub entries: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

/// Counts the entries and bytes below `root`.
pub(super) fn survey(root: &Path, stop: &Stop) -> Result<Survey> {
    let mut found = Survey { entries: 1, bytes: 0 };
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        stop.check()?;
        for (name, meta) in list(&folder)? {
            found.entries += 1;
            if meta.is_dir() {
                folders.push(folder.join(name));
            } else if meta.is_file() {
                found.bytes += meta.len();
            }
        }
    }
    Ok(found)
}

/// The differences of two trees.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// Entries compared.
    pub entries: u64,
    /// Entries that differ.
    pub count: usize,
    /// Descriptions of the first differences.
    pub first: Vec<String>,
}

/// Compares names, file types, contents, permission bits and targets of links.
pub(super) fn compare(
    original: &Path,
    copy: &Path,
    options: &Options,
    stop: &Stop,
    progress: &Progress,
) -> Result<Differences> {
    let differences = thalweg::from_try_iter(Walk::new(original, copy, stop))
        .named("walk")
        .try_par_map(|pair| Ok::<_, anyhow::Error>((pair.difference()?, pair)))
        .named("compare")
        .fold(Differences::default(), |mut found, (difference, pair)| {
            progress.advance(pair.bytes());
            found.entries += 1;
            if let Some(difference) = difference {
                found.count += 1;
                if found.first.len() < MAX_LISTED {
                    found.first.push(format!("{} {difference}", shown(&pair.original)));
                }
            }
            found
        })
        .named("count");
    let found = differences
        .run_with(&options.clone().claim_length(1))
        .map_err(thalweg::Error::from)
        .context("comparing")?
        .into_value();
    Ok(found)
}

/// An entry of the original and of the copy. One of them may be missing.
#[derive(Debug)]
struct Pair {
    original: PathBuf,
    copy: PathBuf,
    metas: (Option<Metadata>, Option<Metadata>),
}

impl Pair {
    /// Bytes of the original, if it is a file.
    fn bytes(&self) -> u64 {
        self.metas.0.as_ref().filter(|meta| meta.is_file()).map_or(0, Metadata::len)
    }

    fn are_folders(&self) -> bool {
        matches!(&self.metas, (Some(a), Some(b)) if a.is_dir() && b.is_dir())
    }

    /// The difference of the two entries, phrased to follow the name.
    fn difference(&self) -> Result<Option<&'static str>> {
        let (a, b) = match &self.metas {
            (Some(a), Some(b)) => (a, b),
            (Some(_), None) => return Ok(Some("is missing from the copy")),
            _ => return Ok(Some("exists only in the copy")),
        };
        if a.file_type() != b.file_type() {
            return Ok(Some("has another file type in the copy"));
        }
        if a.is_symlink() {
            let same = target(&self.original)? == target(&self.copy)?;
            return Ok((!same).then_some("has another target in the copy"));
        }
        if mode(a) != mode(b) {
            return Ok(Some("has other permissions in the copy"));
        }
        if a.is_file() && !same_content(&self.original, &self.copy)? {
            return Ok(Some("has other content in the copy"));
        }
        Ok(None)
    }
}

fn target(link: &Path) -> Result<PathBuf> {
    fs::read_link(link).with_context(|| format!("reading {}", shown(link)))
}

/// The permission bits that an archive restores.
#[cfg(unix)]
fn mode(meta: &Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(meta) & 0o777
}

/// Permissions are not restored on this system.
#[cfg(not(unix))]
fn mode(_meta: &Metadata) -> u32 {
    0
}

fn same_content(a: &Path, b: &Path) -> Result<bool> {
    let (mut a, mut b) = (Pieces::open(a)?, Pieces::open(b)?);
    loop {
        let (left, right) = (a.next()?, b.next()?);
        if left != right {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(true);
        }
    }
}

/// Reads a file in pieces.
struct Pieces<'a> {
    file: File,
    path: &'a Path,
    piece: Vec<u8>,
}

impl<'a> Pieces<'a> {
    fn open(path: &'a Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("opening {}", shown(path)))?;
        let length = file.metadata().map_or(PIECE as u64, |meta| meta.len());
        Ok(Pieces { file, path, piece: vec![0; PIECE.min(length as usize + 1)] })
    }

    /// The next piece: full, except for the last one. Empty at the end of the file.
    fn next(&mut self) -> Result<&[u8]> {
        let mut got = 0;
        while got < self.piece.len() {
            match self.file.read(&mut self.piece[got..]) {
                Ok(0) => break,
                Ok(count) => got += count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e).with_context(|| format!("reading {}", shown(&self.path))),
            }
        }
        Ok(&self.piece[..got])
    }
}

/// Walks two trees together. Visits every name that occurs in either.
struct Walk<'a> {
    /// The pairs not yet visited, in reverse order.
    pending: Vec<Pair>,
    stop: &'a Stop,
}

impl<'a> Walk<'a> {
    fn new(original: &Path, copy: &Path, stop: &'a Stop) -> Self {
        let metas = (fs::metadata(original).ok(), fs::metadata(copy).ok());
        let root = Pair { original: original.into(), copy: copy.into(), metas };
        Walk { pending: vec![root], stop }
    }

    fn step(&mut self) -> Result<Option<Pair>> {
        self.stop.check()?;
        let Some(pair) = self.pending.pop() else { return Ok(None) };
        if pair.are_folders() {
            let mut names: BTreeMap<OsString, (Option<Metadata>, Option<Metadata>)> = BTreeMap::new();
            for (name, meta) in list(&pair.original)? {
                names.entry(name).or_default().0 = Some(meta);
            }
            for (name, meta) in list(&pair.copy)? {
                names.entry(name).or_default().1 = Some(meta);
            }
            self.pending.extend(names.into_iter().rev().map(|(name, metas)| Pair {
                original: pair.original.join(&name),
                copy: pair.copy.join(&name),
                metas,
            }));
        }
        Ok(Some(pair))
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<Pair>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}

fn list(folder: &Path) -> Result<Vec<(OsString, Metadata)>> {
    let listing = || format!("listing {}", shown(&folder));
    let items = fs::read_dir(folder).with_context(listing)?;
    let described = items.map(|item| item.and_then(|item| Ok((item.file_name(), item.metadata()?))));
    described.collect::<io::Result<_>>().with_context(listing)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("folder")).unwrap();
        fs::write(root.path().join("folder/file"), vec![7; PIECE * 2]).unwrap();
        fs::write(root.path().join("empty"), b"").unwrap();
        symlink("empty", root.path().join("link")).unwrap();
        root
    }

    fn differences(change: impl FnOnce(&Path)) -> Vec<String> {
        let (original, copy) = (tree(), tree());
        change(copy.path());
        let options = Options::new().threads(2);
        let progress = Progress::new(None);
        let found = compare(original.path(), copy.path(), &options, &Stop::new(), &progress).unwrap();
        assert_eq!(found.count, found.first.len());
        found.first
    }

    #[test]
    fn equal_trees_have_no_differences() {
        assert!(differences(|_| ()).is_empty());
        let found = survey(tree().path(), &Stop::new()).unwrap();
        assert_eq!((found.entries, found.bytes), (5, PIECE as u64 * 2));
    }

    #[test]
    fn every_kind_of_difference_is_named() {
        let one = |change: fn(&Path), what: &str| {
            let found = differences(change);
            assert!(found.len() == 1 && found[0].contains(what), "found {found:?}, expected {what}");
        };
        one(|copy| fs::remove_file(copy.join("empty")).unwrap(), "empty is missing from the copy");
        one(|copy| fs::write(copy.join("more"), b"").unwrap(), "more exists only in the copy");
        one(|copy| fs::write(copy.join("empty"), b"x").unwrap(), "empty has other content");
        one(
            |copy| fs::write(copy.join("folder/file"), vec![7; PIECE * 2 - 1]).unwrap(),
            "folder/file has other content",
        );
        one(
            |copy| {
                let mut content = vec![7; PIECE * 2];
                content[PIECE * 2 - 1] = 8;
                fs::write(copy.join("folder/file"), content).unwrap();
            },
            "folder/file has other content",
        );
        one(
            |copy| fs::set_permissions(copy.join("empty"), fs::Permissions::from_mode(0o600)).unwrap(),
            "empty has other permissions",
        );
        one(
            |copy| {
                fs::remove_file(copy.join("link")).unwrap();
                symlink("folder", copy.join("link")).unwrap();
            },
            "link has another target",
        );
        one(
            |copy| {
                fs::remove_file(copy.join("empty")).unwrap();
                fs::create_dir(copy.join("empty")).unwrap();
            },
            "empty has another file type",
        );
    }
}

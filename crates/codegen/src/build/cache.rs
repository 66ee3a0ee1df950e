//! What was compiled before.
//!
//! A library is kept under the hash of its text, of the compiler and its flags and of this machine's
//! processor: `HASH.so`. Beside it stands, by the hash of what the text follows from, which hash that is, and what
//! planning found: `HASH.key`. So a text need not be written to find its library, and what takes long is planned
//! once. Both are written in one step, so that others see all of a file or nothing.
//!
//! ```text
//!  HASH.key:  hash of the text, a line │ outlines, a line each │ BLAKE3 of the lines before
//! ```

use super::Library;
use crate::blocks::outline::{self, Outlines};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Where compiled programs are kept.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Cache {
    /// With what else the user's programs keep: `$XDG_CACHE_HOME/thalweg`, or `~/.cache/thalweg`.
    #[default]
    User,
    /// In a folder.
    Folder(PathBuf),
    /// Nowhere.
    None,
}

impl Cache {
    pub(super) fn folder(&self) -> Option<PathBuf> {
        let of_user = || {
            let set = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
            set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))
        };
        match self {
            Cache::User => Some(of_user()?.join("thalweg")),
            Cache::Folder(folder) => Some(folder.clone()),
            Cache::None => None,
        }
    }
}

/// Libraries in a folder, and the program that one is looked for.
pub(super) struct Kept {
    folder: PathBuf,
    /// The hash of what its text follows from.
    key: String,
}

impl Kept {
    pub(super) fn new(folder: PathBuf, key: String) -> Kept {
        Kept { folder, key }
    }

    /// The library of the program and its outlines, if they are known.
    pub(super) fn known(&self) -> Option<(Library, Outlines)> {
        let text = std::fs::read_to_string(self.key_path()).ok()?;
        let (lines, sum) = text.rsplit_once('\n')?;
        if *blake3::hash(lines.as_bytes()).to_hex() != *sum {
            return None;
        }
        let (name, outlines) = lines.split_once('\n')?;
        let library = Library::open(&self.path(name)).ok()?;
        Some((library, outline::from_text(outlines)?))
    }

    /// The library of this name, which is the program's.
    pub(super) fn library(&self, name: &str, outlines: &Outlines) -> Option<Library> {
        let path = self.path(name);
        let library = path.exists().then(|| Library::open(&path).ok())??;
        self.point_to(name, outlines);
        Some(library)
    }

    /// Keeps what was made for the program. Where nothing can be kept it is made again the next time.
    pub(super) fn keep(&self, made: &Path, name: &str, outlines: &Outlines) {
        let copied = std::fs::File::open(made).and_then(|file| self.put(file, &self.path(name)));
        if copied.is_ok() {
            self.point_to(name, outlines);
        }
    }

    fn point_to(&self, name: &str, outlines: &Outlines) {
        let lines = format!("{name}\n{}", outline::to_text(outlines));
        let sum = blake3::hash(lines.as_bytes()).to_hex();
        _ = self.put(format!("{lines}\n{sum}").as_bytes(), &self.key_path());
    }

    fn key_path(&self) -> PathBuf {
        self.folder.join(format!("{}.key", self.key))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.so"))
    }

    /// Writes a file, in one step.
    fn put(&self, mut from: impl Read, to: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        std::io::copy(&mut from, &mut file)?;
        file.flush()?;
        file.persist(to)?;
        Ok(())
    }
}

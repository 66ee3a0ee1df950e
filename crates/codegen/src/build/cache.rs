//! What was compiled before.
//!
//! A library is kept under the hash of its text, of the compiler and its flags and of this machine's
//! processor: `HASH.so`. Beside it stands, by the hash of what the text follows from, which hash that is, and what
//! planning found: `HASH.key`. So a text need not be written to find its library, and what takes long is planned
//! once. Both are written in one step, so that others see all of a file or nothing.
//!
//! ```text
//!  HASH.so:   library │ its BLAKE3, 32 bytes, which loaders do not look at
//!  HASH.key:  hash of the text, a line │ outlines, a line each │ BLAKE3 of the lines before
//! ```

use super::Library;
use crate::blocks::outline::{self, Outlines};
use std::io::Write;
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
        Some((self.open(name)?, outline::from_text(outlines)?))
    }

    /// The library of this name, which is the program's.
    pub(super) fn library(&self, name: &str, outlines: &Outlines) -> Option<Library> {
        let library = self.open(name)?;
        self.point_to(name, outlines);
        Some(library)
    }

    /// Keeps what was made for the program. Where nothing can be kept it is made again the next time.
    pub(super) fn keep(&self, made: &Path, name: &str, outlines: &Outlines) {
        let copied = std::fs::read(made).and_then(|mut bytes| {
            bytes.extend(blake3::hash(&bytes).as_bytes());
            self.put(&bytes, &self.path(name))
        });
        if copied.is_ok() {
            self.point_to(name, outlines);
        }
    }

    /// A library that is as it was written: one that is damaged could do anything.
    fn open(&self, name: &str) -> Option<Library> {
        let path = self.path(name);
        let bytes = std::fs::read(&path).ok()?;
        let (library, sum) = bytes.split_last_chunk::<32>()?;
        (blake3::hash(library).as_bytes() == sum).then(|| Library::open(&path).ok())?
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
    fn put(&self, bytes: &[u8], to: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(bytes)?;
        file.persist(to)?;
        Ok(())
    }
}

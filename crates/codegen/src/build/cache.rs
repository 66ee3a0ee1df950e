//! What was compiled before.
//!
//! A library is kept under the hash of its text, of the compiler and its flags and of this machine's
//! processor: `HASH.so`. Beside it stands under which hash that is, by the hash of what the text follows from:
//! `HASH.key`, so that a text need not be written to find its library. Both are written in one step, so that others see all of a
//! file or nothing.

use super::Library;
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

    /// The library of the program, if it is known which that is.
    pub(super) fn known(&self) -> Option<Library> {
        let name = std::fs::read_to_string(self.folder.join(format!("{}.key", self.key))).ok()?;
        let is_hash = name.bytes().all(|byte| byte.is_ascii_hexdigit());
        Library::open(&self.path(is_hash.then_some(&name)?)).ok()
    }

    /// The library of this name, which is the program's.
    pub(super) fn library(&self, name: &str) -> Option<Library> {
        let path = self.path(name);
        let library = path.exists().then(|| Library::open(&path).ok())??;
        self.point_to(name);
        Some(library)
    }

    /// Keeps what was made for the program. Where nothing can be kept it is made again the next time.
    pub(super) fn keep(&self, made: &Path, name: &str) {
        let copied = std::fs::File::open(made).and_then(|file| self.put(file, &self.path(name)));
        if copied.is_ok() {
            self.point_to(name);
        }
    }

    fn point_to(&self, name: &str) {
        _ = self.put(name.as_bytes(), &self.folder.join(format!("{}.key", self.key)));
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

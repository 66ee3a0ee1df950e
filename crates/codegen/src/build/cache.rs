//! The cache of compiled libraries.
//!
//! A library is stored under the hash of its C text, of the compiler with its flags, and of this machine's
//! processor: `HASH.so`. Beside it, `HASH.key` is stored under the hash of what the text follows from
//! ([`Key`](crate::key::Key)); it holds the hash of the text and what planning found. So a library is found
//! without generating its text, and expensive planning is done once. Both files are written completely or
//! not at all, so other processes see no part of one, and the next run that stores removes what a killed one has left.
//!
//! ```text
//!  HASH.so:   library │ its BLAKE3, 32 bytes, which loaders ignore
//!  HASH.key:  hash of the text, a line │ outlines, a line each │ BLAKE3 of the lines before
//! ```

use super::Library;
use crate::unrolled::outline::{self, Outlines};
use std::io::Write;
use std::path::{Path, PathBuf};
use thalweg_files::OutFile;

/// Where compiled programs are stored.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Cache {
    /// In the user's cache folder: `$XDG_CACHE_HOME/thalweg`, or `~/.cache/thalweg`.
    #[default]
    User,
    /// In this folder.
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

/// A cache folder, and the key of the program looked up in it.
pub(super) struct Kept {
    folder: PathBuf,
    /// The hash of what the program's text follows from.
    key: String,
}

impl Kept {
    pub(super) fn new(folder: PathBuf, key: String) -> Kept {
        Kept { folder, key }
    }

    /// The program's library and outlines, if the cache has them.
    pub(super) fn known(&self) -> Option<(Library, Outlines)> {
        let text = std::fs::read_to_string(self.key_path()).ok()?;
        let (lines, sum) = text.rsplit_once('\n')?;
        if *blake3::hash(lines.as_bytes()).to_hex() != *sum {
            return None;
        }
        let (name, outlines) = lines.split_once('\n')?;
        Some((self.open(name)?, outline::from_text(outlines)?))
    }

    /// The library of this name; records it as the program's.
    pub(super) fn library(&self, name: &str, outlines: &Outlines) -> Option<Library> {
        let library = self.open(name)?;
        self.point_to(name, outlines);
        Some(library)
    }

    /// Stores the program's library. A failure to store is ignored: the next run compiles again.
    pub(super) fn keep(&self, made: &Path, name: &str, outlines: &Outlines) {
        let copied = std::fs::read(made).and_then(|mut bytes| {
            bytes.extend(blake3::hash(&bytes).as_bytes());
            self.put(&bytes, &self.path(name))
        });
        if copied.is_ok() {
            self.point_to(name, outlines);
        }
    }

    /// Loads a library after checking its hash: a damaged one could do anything.
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

    /// Writes a file that no other user can change, completely or not at all.
    fn put(&self, bytes: &[u8], to: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut file = OutFile::create(to, true)?.durable(false);
        #[cfg(unix)]
        file.file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        file.write_all(bytes)?;
        Ok(file.commit()?)
    }
}

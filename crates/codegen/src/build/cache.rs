//! The cache of compiled libraries.
//!
//! A library is stored under the hash of its C text, of the compiler with its flags, and of this machine's
//! processor: `HASH.so`. Beside it, `HASH.key` is stored under the hash of what the text follows from
//! ([`Key`](crate::key::Key)); it holds the hash of the text and what planning found. So a library is found
//! without generating its text, and expensive planning is done once. Both files are written completely or
//! not at all, so other processes see no part of one, and the next run that stores removes what a killed one has left.
//!
//! ```text
//!  HASH.so:   library │ its BLAKE3, 32 bytes
//!  HASH.key:  hash of the text, a line │ outlines, a line each │ BLAKE3 of the lines before
//! ```
//!
//! The hashes find damage, not malice: any user can compute them. What protects this user from others is ownership
//! (`trust.rs`): a folder or file that another user owns or may write is not used. The folder is opened once, files are
//! opened relative to it, and what is loaded is the bytes that were hashed, so nothing can change in between.

use super::trust::distrust;
use super::{Library, from_bytes};
use crate::unrolled::outline::{self, Outlines};
use std::cell::OnceCell;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use thalweg::embed::graph::shown;
use thalweg_files::{Folder, Kind, OutFile, status};

/// The maximum number of bytes of a file of the cache. Libraries of large programs have a few MiB.
const MAX_BYTES: u64 = 256 << 20;

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
    fn folder(&self) -> Option<PathBuf> {
        match self {
            Cache::User => Some(cache_home()?.join("thalweg")),
            Cache::Folder(folder) => Some(folder.clone()),
            Cache::None => None,
        }
    }
}

/// The folder for the caches of all programs. As the XDG Base Directory Specification 0.8 demands, a relative path counts
/// as none. A home that does not exist, as that of a system user, is not made.
fn cache_home() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("XDG_CACHE_HOME").or_else(|| Some(set("HOME").filter(|home| home.is_dir())?.join(".cache")))
}

/// A cache folder, as it was when it was opened.
enum State {
    Open(Folder),
    Missing,
    /// Nothing is read from it or written to it.
    Distrusted,
}

/// A cache folder, and the key of the program looked up in it.
pub(crate) struct Kept {
    path: PathBuf,
    folder: State,
    /// The hash of what the program's text follows from.
    key: String,
    /// What is not used, and why.
    distrusted: OnceCell<String>,
}

impl Kept {
    /// The cache folder, unless there is to be none.
    pub(super) fn open(cache: &Cache, key: String) -> Option<Kept> {
        let path = cache.folder()?;
        let mut kept = Kept { path, folder: State::Missing, key, distrusted: OnceCell::new() };
        let Ok(folder) = Folder::open(&kept.path) else { return Some(kept) };
        kept.folder = match distrust(&folder.status().ok()?) {
            None => State::Open(folder),
            Some(why) => {
                kept.note(&kept.path, why);
                State::Distrusted
            }
        };
        Some(kept)
    }

    /// Which folder or file of the cache is not used, and why, in a sentence.
    pub(crate) fn distrusted(self) -> Option<String> {
        self.distrusted.into_inner()
    }

    /// The program's library and outlines, if the cache has them.
    pub(crate) fn known(&self) -> Option<(Library, Outlines)> {
        let text = String::from_utf8(self.read(&self.key_name())?).ok()?;
        let (lines, sum) = text.rsplit_once('\n')?;
        if *blake3::hash(lines.as_bytes()).to_hex() != *sum {
            return None;
        }
        let (name, outlines) = lines.split_once('\n')?;
        Some((self.load(name)?, outline::from_text(outlines)?))
    }

    /// The library of this name; records it as the program's.
    pub(super) fn library(&self, name: &str, outlines: &Outlines) -> Option<Library> {
        let library = self.load(name)?;
        self.point_to(name, outlines);
        Some(library)
    }

    /// Stores the program's library. A failure to store is ignored: the next run compiles again.
    pub(super) fn keep(&self, made: &Path, name: &str, outlines: &Outlines) {
        let copied = std::fs::read(made).and_then(|mut bytes| {
            bytes.extend(blake3::hash(&bytes).as_bytes());
            self.put(&bytes, &library_name(name))
        });
        if copied.is_ok() {
            self.point_to(name, outlines);
        }
    }

    /// Loads a library after checking its hash: a damaged one could do anything.
    fn load(&self, name: &str) -> Option<Library> {
        let bytes = self.read(&library_name(name))?;
        let (library, sum) = bytes.split_last_chunk::<32>()?;
        (blake3::hash(library).as_bytes() == sum).then(|| from_bytes(library).ok())?
    }

    fn point_to(&self, name: &str, outlines: &Outlines) {
        let lines = format!("{name}\n{}", outline::to_text(outlines));
        let sum = blake3::hash(lines.as_bytes()).to_hex();
        _ = self.put(format!("{lines}\n{sum}").as_bytes(), &self.key_name());
    }

    fn key_name(&self) -> String {
        format!("{}.key", self.key)
    }

    /// The content of a file that is trusted. Opening follows no link and waits for no pipe.
    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let State::Open(folder) = &self.folder else { return None };
        let file = folder.open_file(name.as_ref()).ok()?;
        let status = status(&file).ok().filter(|status| status.kind == Kind::File)?;
        if let Some(why) = distrust(&status) {
            self.note(&self.path.join(name), why);
            return None;
        }
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Writes a file that no other user can read or change, completely or not at all.
    fn put(&self, bytes: &[u8], name: &str) -> io::Result<()> {
        match self.folder {
            State::Open(_) => {}
            State::Missing => create_folder(&self.path)?,
            State::Distrusted => return Err(io::ErrorKind::PermissionDenied.into()),
        }
        let mut file = OutFile::create_private(&self.path.join(name))?.durable(false);
        file.write_all(bytes)?;
        Ok(file.commit()?)
    }

    fn note(&self, path: &Path, why: &str) {
        self.distrusted
            .get_or_init(|| format!("{} in the cache of compiled code is not used: {why}", shown(path)));
    }
}

fn library_name(name: &str) -> String {
    format!("{name}.so")
}

/// Creates a folder that no other user can read or change, and those above that do not exist.
fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

//! A program's library, and the functions that it must export.

use super::abi::{Batches, Begin, Fire, Fired, Firings, Join, Seek, SetApart, Size, Steady, Steps};
use std::fs::File;
use std::path::Path;

/// A loaded program.
#[derive(Debug)]
pub(crate) struct Library {
    pub(super) size: Size,
    pub(super) begin: Begin,
    pub(super) steady: Steady,
    pub(super) fire: Fire,
    pub(super) batches: Batches,
    pub(super) fired: Fired,
    pub(super) set_apart: SetApart,
    pub(super) join: Join,
    /// `None` where nothing is fused.
    pub(super) parts: Option<Parts>,
    /// Dropped after all functions, which unloads the library.
    _library: libloading::Library,
    /// The open file that the library was loaded from, where its path names the descriptor. Fields are dropped in this
    /// order, so it is closed when the library is unloaded.
    _file: Option<File>,
}

/// Functions that run single steps of a fused region.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) steps: Steps,
    pub(super) firings: Firings,
    pub(super) seek: Seek,
}

impl Library {
    /// Loads a program.
    pub(crate) fn open(path: &Path) -> Result<Library, String> {
        let said = |error: libloading::Error| format!("{}: {error}", path.display());
        // SAFETY: the library has no initialisers: it is plain C with constant tables.
        let library = unsafe { libloading::Library::new(path) }.map_err(said)?;
        // SAFETY: the C text declares these functions with these types (`emit::program`).
        let (size, begin, steady, fire, batches, fired, set_apart, join) = unsafe {
            (
                *library.get::<Size>(b"thalweg_size\0").map_err(said)?,
                *library.get::<Begin>(b"thalweg_begin\0").map_err(said)?,
                *library.get::<Steady>(b"thalweg_steady\0").map_err(said)?,
                *library.get::<Fire>(b"thalweg_fire\0").map_err(said)?,
                *library.get::<Batches>(b"thalweg_batches\0").map_err(said)?,
                *library.get::<Fired>(b"thalweg_fired\0").map_err(said)?,
                *library.get::<SetApart>(b"thalweg_apart\0").map_err(said)?,
                *library.get::<Join>(b"thalweg_join\0").map_err(said)?,
            )
        };
        // SAFETY: the C text declares the functions of steps with these types (`emit::steps`).
        let parts = unsafe { Parts::find(&library) };
        Ok(Library {
            size,
            begin,
            steady,
            fire,
            batches,
            fired,
            set_apart,
            join,
            parts,
            _library: library,
            _file: None,
        })
    }

    /// Keeps a file open until the library is unloaded.
    pub(crate) fn with_file(self, file: File) -> Library {
        Library { _file: Some(file), ..self }
    }
}

impl Parts {
    /// The step functions of a program, if it exports them.
    ///
    /// # Safety
    /// Functions of these names have these types.
    unsafe fn find(library: &libloading::Library) -> Option<Parts> {
        // SAFETY: the caller vouches for the types.
        unsafe {
            Some(Parts {
                steps: *library.get::<Steps>(b"thalweg_steps\0").ok()?,
                firings: *library.get::<Firings>(b"thalweg_firings\0").ok()?,
                seek: *library.get::<Seek>(b"thalweg_seek\0").ok()?,
            })
        }
    }
}

//! Outputs that are complete or not there, and directory trees by open folders.
//!
//! A [`Folder`] is an open folder, and its entries are named relative to it: so no path is too long for the system, and
//! no path changes its meaning while a tree is read or written. A [`Trail`] is the folders from a root to the current
//! one. An [`OutFile`] or [`OutFolder`] gets its name when it is complete, and what a killed process has left of one is
//! removed by the next; what it has left of a [`KeptFile`] stays, and the next can go on with it.

mod error;
mod folder;
mod output;
mod remove;
mod sparse;
mod status;
mod trail;

pub use error::{Error, Result};
pub use folder::Folder;
pub use output::{
    KeptFile, OutFile, OutFolder, PrivateFolder, is_unfinished, left, names_folder, new_mode, on_stale,
    partial_name, remove_unfinished, unfinished,
};
pub use remove::{remove_no_longer_than, remove_tree};
pub use sparse::SparseFile;
pub use status::{Kind, Status, status};
pub use trail::Trail;

//! Outputs that are complete or not there, and directory trees by open folders.
//!
//! A [`Folder`] is an open folder, and its entries are named relative to it: so no path is too long for the system, and
//! no path changes its meaning while a tree is read or written. A [`Trail`] is the folders from a root to the current
//! one.

mod folder;
mod printable;
mod status;
mod trail;

pub use folder::Folder;
pub use printable::{printable, printable_bytes};
pub use status::{Kind, Status, status};
pub use trail::Trail;

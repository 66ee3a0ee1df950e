//! Plans: their sizes and their text.

mod misfits;
mod size;
mod text;

//! Plans: their sizes and their text.

mod size;
mod text;

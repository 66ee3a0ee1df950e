//! Plans: their sizes and their text.

mod mappers;
mod misfits;
mod size;
mod text;

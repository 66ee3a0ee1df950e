//! Pictures of nested streams: text and SVG. (The flat graph prints itself.)
//!
//! - [`Form::Tree`]: nested streams, one per line.
//! - [`Form::Svg`]: a drawing from top to bottom, with the loop streams of feedback loops beside their bodies.
//!
//! Rates of a filter read `peek/pop -> push`, or `pop -> push` if it peeks no further than it pops. `*` is a
//! dynamic rate; its channel is dashed.

mod blocks;
mod labels;
mod layout;
mod svg;
mod text;

use crate::flat::Flat;
use crate::tree::Tree;
use blocks::Blocks;

/// Forms of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Nested streams, as text.
    Tree,
    /// An SVG drawing.
    Svg,
}

/// Draws a program; `flat` is the graph of `tree`.
pub fn draw(tree: &Tree, flat: &Flat, form: Form) -> String {
    match form {
        Form::Tree => text::tree(tree, flat, &Blocks::of(tree, flat)),
        Form::Svg => svg::svg(tree, flat, &Blocks::of(tree, flat)),
    }
}

//! Pictures of streams: text, DOT and SVG.
//!
//! - [`Form::Tree`]: nested streams, one per line.
//! - [`Form::Flat`]: nodes and channels, one per line.
//! - [`Form::Dot`]: nodes and channels for Graphviz, with a cluster per composite.
//! - [`Form::Svg`]: a drawing from top to bottom, with the loop streams of feedback loops beside their bodies.
//!
//! Rates of a filter read `peek/pop -> push`, or `pop -> push` if it peeks no further than it pops. `*` is a
//! dynamic rate; its channel is dashed.

mod blocks;
mod dot;
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
    /// Nodes and channels, as text.
    Flat,
    /// A Graphviz graph.
    Dot,
    /// An SVG drawing.
    Svg,
}

/// Draws a program; `flat` is the graph of `tree`.
pub fn draw(tree: &Tree, flat: &Flat, form: Form) -> String {
    match form {
        Form::Tree => text::tree(tree, flat, &Blocks::of(tree, flat)),
        Form::Flat => text::flat(tree, flat),
        Form::Dot => dot::dot(tree, flat, &Blocks::of(tree, flat)),
        Form::Svg => svg::svg(tree, flat, &Blocks::of(tree, flat)),
    }
}

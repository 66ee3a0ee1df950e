//! Pictures of streams: text, DOT and SVG.
//!
//! - [`Form::Tree`]: streams in streams, a line each.
//! - [`Form::Flat`]: nodes and channels, a line each.
//! - [`Form::Dot`]: nodes and channels for Graphviz, in a cluster for each composite.
//! - [`Form::Svg`]: the same drawn from top to bottom, with ways back beside the loops' bodies.
//!
//! Rates of a filter read `peek/pop -> push`, and `pop -> push` where it looks at no more than it takes.
//! `*` is a rate that each firing decides; its channel is dashed.

mod blocks;
mod dot;
mod layout;
mod svg;
mod text;
mod words;

use crate::flat::Flat;
use crate::tree::Tree;
use blocks::Blocks;

/// How a program is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Streams in streams, as text.
    Tree,
    /// Nodes and channels, as text.
    Flat,
    /// A drawing for Graphviz.
    Dot,
    /// A drawing.
    Svg,
}

/// A picture of a program: `flat` is the graph of `tree`.
pub fn draw(tree: &Tree, flat: &Flat, form: Form) -> String {
    match form {
        Form::Tree => text::tree(tree, flat, &Blocks::of(tree, flat)),
        Form::Flat => text::flat(tree, flat),
        Form::Dot => dot::dot(tree, flat, &Blocks::of(tree, flat)),
        Form::Svg => svg::svg(tree, flat, &Blocks::of(tree, flat)),
    }
}

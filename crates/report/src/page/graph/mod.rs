//! The graph as a picture: `grouping` decides which nodes share a box, `picture` has boxes and edges, `layers`, `order`
//! and `layout` give them places, and `draw` writes SVG.

mod draw;
mod grouping;
mod layers;
mod layout;
mod names;
mod order;
mod picture;

pub(super) use draw::draw;
pub(super) use picture::{Picture, kind};

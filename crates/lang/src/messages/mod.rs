//! Messages between filters: when they arrive, and the order of firings in programs that send them.
//!
//! What a message means is said with the interpreter ([`interpret`](crate::interpret)). Whoever runs a program
//! keeps a [`Post`], which has the letters on their way, and tells it what is sent; a [`Wavefront`] says how often
//! one node must have fired for another; and [`Demand`] is the order of firings, in numbers of items alone.

mod demand;
mod post;
mod routes;
mod wavefront;

pub use demand::{Blocked, Counts, Demand, Fires, IsOver, pull};
pub use post::{Letter, Post, Sent, hearers, is_down};
pub use routes::check;
pub use wavefront::Wavefront;

use crate::tree::Tree;

/// Whether a program has portals that somebody hears.
pub fn has_messages(tree: &Tree) -> bool {
    tree.portals.iter().any(|hearers| !hearers.is_empty())
}

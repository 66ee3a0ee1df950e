//! Conway's game of life, and all rules of its form.
//!
//! A [`Pattern`] comes from a file or has a name; a [`Life`] is a world in which it lives; [`Settling`] finds out when a
//! world repeats itself; a [`View`] draws it.
//!
//! ```
//! use thalweg_stencils::life::{Life, Pattern, Settling};
//!
//! let pattern = Pattern::named("r-pentomino").expect("a built-in pattern");
//! let mut life = Life::plane(&pattern, 1 << 24)?;
//! let mut settling = Settling::new(&life);
//! while settling.settled().is_none() {
//!     life.step()?;
//!     settling.observe(&life);
//! }
//! assert_eq!(settling.settled().map(|settled| settled.generation), Some(1103));
//! assert_eq!(life.population(), 116);
//! # Ok::<(), thalweg_stencils::life::Error>(())
//! ```

mod error;
mod grid;
mod kernel;
mod pattern;
mod picture;
mod rle;
mod rule;
mod settle;
mod ships;
mod world;

pub use error::Error;
pub use kernel::next_rows;
pub use pattern::Pattern;
pub use picture::View;
pub use rule::Rule;
pub use settle::{Settled, Settling};
pub use world::Life;

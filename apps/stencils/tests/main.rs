//! The programs against plain references and known results.

mod life;
mod nas;
mod physics;

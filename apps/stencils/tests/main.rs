//! The programs against plain references and known results.

mod life;

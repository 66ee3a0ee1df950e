//! Executing resolved code: the meaning of every expression and statement.

mod host;

pub use host::{Fault, Host};

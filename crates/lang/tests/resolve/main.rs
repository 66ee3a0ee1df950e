//! Resolving, rule by rule: for each what is accepted and what is refused; and snapshots of what is said
//! and of what comes out.

mod bodies;
mod captures;
mod common;
mod composites;
mod expressions;
mod hostile;
mod items;
mod messages;
mod names;
mod rates;
mod snapshots;
mod state;
mod surroundings;
mod types;

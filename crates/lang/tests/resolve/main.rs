//! The resolver, rule by rule: accepted and rejected programs for each, and snapshots of errors and of a resolved
//! program.

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

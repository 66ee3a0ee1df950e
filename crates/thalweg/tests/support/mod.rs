//! What the property tests of this folder share.
//!
//! | file | what |
//! |---|---|
//! | `spec` | random graphs as data, and the arithmetic their kernels do |
//! | `reference` | what a graph gives, by a sequential interpreter that knows nothing of the engine |
//! | `build` | the same graph for the engine |
//! | `inject` | yields, slow firings and faults at chosen firings |
//! | `item` | items: plain numbers, and boxes that are counted |
//! | `gate` | what processes await that is no channel's |
//! | `case` | a graph with the options it runs under |
//! | `network` | random networks of processes, by a reference executor and by the engine |
//! | `realised` | a model of the virtual host as a graph for the engine |
//! | `runner` | many cases, by number and seed from the environment |
//! | `section` | random sections whose items in flight are limited |
//! | `watchdog` | ends the process with a message where a run does not end |

// Each test file compiles this module for itself and uses a part of it.
#![allow(dead_code)]

pub mod build;
pub mod case;
pub mod gate;
pub mod inject;
pub mod item;
pub mod network;
pub mod realised;
pub mod reference;
pub mod runner;
pub mod section;
pub mod spec;
pub mod watchdog;

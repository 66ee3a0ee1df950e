//! Code shared by the property tests of this folder.
//!
//! | file | what |
//! |---|---|
//! | `spec` | random graphs as data, and the arithmetic of their kernels |
//! | `reference` | the output of a graph, by a sequential interpreter that uses nothing of the engine |
//! | `build` | the same graph, built for the engine |
//! | `inject` | yields, slow firings and faults at chosen firings |
//! | `item` | items: plain numbers, and counted boxes |
//! | `disturbed` | checks of times, which other programs may disturb |
//! | `gate` | a future that is not a channel operation |
//! | `case` | a graph with its options and the disturbances of its run |
//! | `loops` | random work-lists: as data, by a sequential reference, and for the engine |
//! | `network` | random networks of processes: a reference executor, and the engine |
//! | `planning` | random legal plans |
//! | `realised` | a model of the virtual host as a graph for the engine |
//! | `runner` | runs many cases; the environment sets their number and the seed |
//! | `section` | random sections with a limit on the items in flight |
//! | `watchdog` | aborts the process with a message if a run does not end |

// Each test file compiles its own copy of this module and uses a part of it.
#![allow(dead_code)]

pub mod build;
pub mod case;
pub mod disturbed;
pub mod gate;
pub mod inject;
pub mod item;
pub mod loops;
pub mod network;
pub mod planning;
pub mod realised;
pub mod reference;
pub mod runner;
pub mod section;
pub mod spec;
pub mod watchdog;

//! A host in virtual time: workers, costs and the clock are numbers.
//!
//! One thread plays all workers in order of virtual time, so a run is a function of policy, model and
//! settings: the same seed makes the same decisions. Tests run every policy here before the engine does.
//!
//! | file | what |
//! |---|---|
//! | `model` | a graph with costs and gains: what is run |
//! | `settings` | the costs and sizes of the machine |
//! | [`shapes`] | models of the graphs that tests ask for |
//! | `world` | channels, claims, order of publication, endings |
//! | `clock` | event heap, the run |
//! | `view` | workers, and the run as their policy sees it |
//! | `report` | what came of it |
//!
//! What is played: a worker asks the policy, and its claim takes effect [`Settings::decide`]
//! later, so that two workers can want the same node and one be refused. An activation of a
//! sequential node runs in slices and publishes each at its end, until its budget is spent or a
//! channel stops it. An activation of a parallel node runs the firings it has claimed; they are
//! published in ticket order, through a reorder window of bounded length. An idle worker is asked
//! [`Settings::patience`] times, then sleeps until something is published. A node whose input has
//! ended must be activated once more to end itself. A source on a thread of its own gives its next
//! burst when all workers sleep ([`Model::starving`]).
//!
//! What is not: other nodes with a thread of their own, growth of channels, failures.

mod clock;
mod model;
mod report;
mod settings;
pub mod shapes;
mod view;
mod world;

pub use clock::run;
pub use model::{Cost, Model, NodeModel, Ratio};
pub use report::{Failure, Report};
pub use settings::Settings;

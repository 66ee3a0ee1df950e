//! Analytic models of pipelines: throughput, utilisation and waiting, from numbers alone.
//!
//! A [`Pipeline`] has stages, each with mean and variation of a firing's time, and edges with rates and capacities;
//! [`Settings`] say how threads are given to stages. [`tandem::predict`] is our model, [`paper`] has those of A. Navarro, R.
//! Asenjo, S. Tabik and C. Caşcaval (IBM Research Report, 2009), each with what it leaves out.
//!
//! ```
//! use thalweg_queueing::{Pipeline, Settings, Stage, steps, table, tandem};
//!
//! // Reading takes 2 ms, a search 16 ms, writing 1 ms; 8 items fit into each channel.
//! let stages = vec![Stage::sequential(0.002, 0.1), Stage::parallel(0.016, 1.0), Stage::sequential(0.001, 0.1)];
//! let pipeline = Pipeline::chain(stages, 8)?;
//!
//! let prediction = tandem::predict(&pipeline, &Settings::pools([1, 4, 1]))?;
//! assert!(prediction.throughput > 240.0 && prediction.throughput <= 250.0); // items per second; 4 / 0.016 is 250
//! assert!(prediction.stages[0].blocked > Some(0.4)); // reading waits for room
//!
//! let more = steps(&pipeline, &Settings::shared(4))?;
//! assert!(more.thread > Some(1.1 * more.now.throughput));
//!
//! let rows = table(&pipeline, 1..=64, None)?;
//! assert!(rows.iter().all(|row| row.shared.throughput <= 500.0)); // reading allows no more
//! # Ok::<(), thalweg_queueing::Error>(())
//! ```
//!
//! # Equations
//!
//! | equation | function |
//! |---|---|
//! | 1, 2, 3 | [`utilisation`] |
//! | 4 | [`closed::Closed`], [`paper::closed`] |
//! | 5, 6 | [`open::Open`], [`paper::open`] |
//! | 7 and the three steps | [`stealing::Stealing`], [`paper::stealing`] |
//! | 8, M/M/P/PN/PN | [`ideal`], [`paper::central`] |
//! | 9, 10, 11 | [`sizes`], [`paper::ceiling`] |
//! | collapsed forms (section 2.3) | [`collapse()`] |
//!
//! For which pipelines the paper states each of its models is data too: [`Model::domain`].
//!
//! Times are in seconds, rates in items per second; items are those of the source unless a field says otherwise. No
//! function panics or returns a number that is not finite: what is out of range is an [`Error`]. All take time
//! linear in stages, edges and threads, and less than linear in items and tokens.

pub mod closed;
mod collapse;
mod domain;
pub mod erlang;
mod error;
pub mod ideal;
pub mod open;
pub mod paper;
mod pipeline;
mod prediction;
pub mod sizes;
pub mod stealing;
mod table;
pub mod tandem;
pub mod utilisation;

pub use collapse::collapse;
pub use domain::{Domain, Outside};
pub use error::{Error, MAX_ITEMS, MAX_QUANTITY, MAX_THREADS, MAX_VARIATION, MIN_QUANTITY, PipelineFault};
pub use pipeline::{Edge, Join, Pipeline, Settings, Stage, Workers};
pub use prediction::{Limit, Model, Prediction, StagePrediction};
pub use table::{Row, Steps, steps, table};

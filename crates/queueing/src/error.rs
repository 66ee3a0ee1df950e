//! What is wrong with an input. No function of this crate panics, and none returns a number that is not finite.

use std::fmt;

/// Why a model has no result.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A number is not in the range that the model accepts.
    OutOfRange {
        /// The quantity.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The lowest value accepted.
        min: f64,
        /// The highest value accepted.
        max: f64,
    },
    /// A queue without bound receives at least as much work as its threads can do, so it has no steady state.
    Overloaded {
        /// Arriving work over the threads' capacity, at least 1.
        utilisation: f64,
    },
    /// No number within the search range reaches the target.
    Unreachable {
        /// The quantity searched for.
        what: &'static str,
        /// The throughput asked for, in items per second.
        target: f64,
        /// The highest throughput found, in items per second.
        best: f64,
    },
    /// The description of a pipeline contradicts itself.
    Pipeline(PipelineFault),
}

/// What is wrong with the description of a pipeline. Numbers are indices of stages and edges.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PipelineFault {
    /// It has no stage.
    Empty,
    /// The edge does not lead from a stage to a later one.
    Order {
        /// The edge.
        edge: usize,
    },
    /// The settings have another number of pools than the pipeline has stages.
    Pools {
        /// The number of stages.
        stages: usize,
        /// The number of pools.
        pools: usize,
    },
    /// The model is one of threads for all stages, and the settings have pools.
    NotShared {
        /// The number of pools.
        pools: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { what, value, min, max } => {
                write!(f, "{what} is {value}, must be from {min} to {max}")
            }
            Self::Overloaded { utilisation } => {
                write!(f, "utilisation is {utilisation}, must be below 1 for a steady state")
            }
            Self::Unreachable { what, target, best } => {
                write!(f, "no {what} reaches {target} items per second, the best reaches {best}")
            }
            Self::Pipeline(fault) => fault.fmt(f),
        }
    }
}

impl fmt::Display for PipelineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the pipeline has no stage"),
            Self::Order { edge } => write!(f, "edge {edge} does not lead to a later stage of the pipeline"),
            Self::Pools { stages, pools } => {
                write!(f, "the settings have {pools} pools, the pipeline has {stages} stages")
            }
            Self::NotShared { pools } => {
                write!(f, "the settings have {pools} pools, the model has threads for all stages")
            }
        }
    }
}

/// As it is displayed: `main` shows this of an error that it returns.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

/// The shortest time accepted, in seconds, and the lowest rate, in items per second.
pub const MIN_QUANTITY: f64 = 1e-50;
/// The longest time accepted, in seconds, and the highest rate, in items per second.
pub const MAX_QUANTITY: f64 = 1e50;
/// The maximum number of items, tokens or places.
pub const MAX_ITEMS: u64 = 1 << 40;
/// The maximum number of threads of a stage or a run.
pub const MAX_THREADS: u32 = 1 << 16;
/// The maximum coefficient of variation.
pub const MAX_VARIATION: f64 = 1e3;

/// Accepts a time or a rate.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, Error> {
    within(what, value, MIN_QUANTITY, MAX_QUANTITY)
}

/// Accepts a number of items.
pub(crate) fn items(what: &'static str, value: u64) -> Result<u64, Error> {
    within(what, value as f64, 1.0, MAX_ITEMS as f64)?;
    Ok(value)
}

/// Accepts a number of threads.
pub(crate) fn threads(value: u32) -> Result<u32, Error> {
    within("number of threads", value.into(), 1.0, MAX_THREADS.into())?;
    Ok(value)
}

/// Accepts a number from `min` to `max`. A value that is not a number is outside every range.
pub(crate) fn within(what: &'static str, value: f64, min: f64, max: f64) -> Result<f64, Error> {
    match value >= min && value <= max {
        true => Ok(value),
        false => Err(Error::OutOfRange { what, value, min, max }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_prints_the_message() {
        let errors = [threads(0).unwrap_err(), Error::Pipeline(PipelineFault::Empty)];
        for error in errors {
            assert_eq!(format!("{error:?}"), error.to_string());
        }
    }
}

//! Numbers and times as the format has them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

/// An array of what a function's iterator returns, none of which is kept.
pub(super) struct Each<F>(pub(super) F);

impl<I: IntoIterator<Item: Serialize>, F: Fn() -> I> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// Times in whole nanoseconds, at most `u64::MAX` of them, which are 584 years.
pub(super) mod nanos {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(
        time: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_nanos)
    }
}

/// Reads a mean or a maximum. serde_json reads finite numbers alone.
pub(super) fn measure<'d, D: Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    if number >= 0.0 {
        Ok(number)
    } else {
        Err(serde::de::Error::custom(format_args!("expected a number from 0, found {number}")))
    }
}

/// [`measure`] of a field that is left out where nothing was measured.
pub(super) fn measured<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
    measure(from).map(Some)
}

/// Whether a setting has its default, so that it is left out.
pub(super) fn is_default<T: Default + PartialEq>(setting: &T) -> bool {
    *setting == T::default()
}

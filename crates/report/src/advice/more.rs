//! What more threads, room or tokens would give, by the queueing models.

use super::{Finding, FindingKind};
use crate::predict::Prediction;

/// The bound of a run with what more threads would give, where they bound it.
pub(super) fn with_threads(mut bound: Finding, prediction: Option<&Prediction>) -> Finding {
    let threads = matches!(bound.kind, FindingKind::Saturated | FindingKind::Unsaturated);
    let Some(gain) = prediction.filter(|_| threads).and_then(Prediction::more_threads) else { return bound };
    bound.help = if bound.help.is_empty() { gain } else { format!("{}; {gain}", bound.help) };
    bound
}

/// What more room and more tokens would give, where it is much.
pub(super) fn findings(prediction: &Prediction) -> Vec<Finding> {
    let room = prediction.more_room().map(|gain| {
        let help = "set larger capacities, or leave them to the plan";
        Finding::new(FindingKind::MoreRoom, "channels hold too few items".to_owned(), gain, help)
    });
    let tokens = prediction.more_tokens().map(|gain| {
        let help = "raise the limit on items in flight";
        Finding::new(FindingKind::MoreTokens, "too few items are in flight".to_owned(), gain, help)
    });
    room.into_iter().chain(tokens).collect()
}

//! What a run counts of accesses.

use thalweg_policy::tasks::{Colour, ColourSet};
use thalweg_runtime::MemberCounts;

/// Counts an access to data of this colour by a member of a domain with these colours.
pub(crate) fn access(counts: &mut MemberCounts, colour: Option<Colour>, domain: &ColourSet) {
    if let Some(colour) = colour {
        *counts.accesses_mut() += 1;
        *counts.remote_mut() += u64::from(!domain.contains(colour));
    }
}

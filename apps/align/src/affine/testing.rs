//! What the tests of kernels in lanes share.

use proptest::prelude::*;
use pulp::Arch;
use pulp::x86::{V3, V4};

use crate::{Gap, Scoring};

/// Scorings of DNA and of proteins, with costs up to the largest that lanes take.
pub(super) fn scorings() -> impl Strategy<Value = Scoring> {
    let dna = (prop_oneof![1..6, 1..65], 0..128).prop_map(Some);
    let costs = (prop_oneof![0..6, 0..33], 0..33);
    (prop_oneof![Just(None), dna], costs).prop_map(|(dna, (extend, more))| {
        let gap = Gap::Affine { open: extend + more, extend };
        let scoring = match dna {
            Some((matching, mismatch)) => Scoring::dna(matching, mismatch, gap),
            None => Scoring::protein(gap),
        };
        scoring.expect("valid scores")
    })
}

/// The instruction sets of this processor for which there are lanes.
pub(super) fn archs() -> Vec<Arch> {
    [V3::try_new().map(Arch::V3), V4::try_new().map(Arch::V4)].into_iter().flatten().collect()
}

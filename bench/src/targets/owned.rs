//! The targets of `owned`, whose values are times divided by the plain loop's, except those of `peers`.

use super::Target::{self, AtMost, BestAtMost, TimesAtMost};

/// One thread beside the loop.
const ALONE: Target = AtMost(1.05);

/// One thread with processes.
const ALONE_PROCESSES: Target = AtMost(1.15);

/// Several threads beside the loop, where the row has no target of its own.
const NEVER_SLOWER: Target = AtMost(1.03);

/// The same as an adaptor.
const ADAPTOR: Target = AtMost(1.08);

/// The same where the source is blocking.
const BLOCKING: Target = ADAPTOR;

/// An efficiency of 0.95, compared with what the machine allows.
const EFFICIENT: Target = TimesAtMost(1.05, "loops");

/// The same as an adaptor, which may take 0.05 of the loop's time more.
const ADAPTOR_EFFICIENT: Target = TimesAtMost(1.15, "loops");

/// No ordered peer is faster.
const AHEAD: Target = BestAtMost(1.0);

/// Figures and their targets, with glibc's allocator.
const TARGETS: &[(&str, Target)] = &[
    ("owned.maps.t1", ALONE),
    ("owned.maps.t2", AtMost(1.0)),
    ("owned.maps.peers.t2", AHEAD),
    ("owned.processes.t1", ALONE_PROCESSES),
    ("owned.processes.t2", NEVER_SLOWER),
    ("owned.processes.peers.t2", AHEAD),
    ("owned.map.t1", ALONE),
    ("owned.map.t2", AtMost(0.7)),
    ("owned.map.adaptor.t2", AtMost(0.75)),
    ("owned.map.blocking.t2", AtMost(0.75)),
    ("owned.map.peers.t2", AHEAD),
    ("owned.words.t1", ALONE),
    ("owned.words.t2", AtMost(0.8)),
    ("owned.words.adaptor.t2", AtMost(0.85)),
    ("owned.words.blocking.t2", AtMost(0.85)),
    ("owned.words.peers.t2", AHEAD),
    ("owned.json.t1", ALONE),
    ("owned.json.t2", AtMost(0.7)),
    ("owned.json.adaptor.t2", AtMost(0.75)),
    ("owned.json.blocking.t2", AtMost(0.75)),
    ("owned.json.peers.t2", AHEAD),
    ("owned.vectors.t1", ALONE),
    ("owned.vectors.t2", NEVER_SLOWER),
    ("owned.vectors.adaptor.t2", ADAPTOR),
    ("owned.vectors.blocking.t2", BLOCKING),
    ("owned.vectors.peers.t2", AHEAD),
    ("owned.keyed.t1", ALONE),
    ("owned.keyed.t2", NEVER_SLOWER),
    ("owned.keyed.adaptor.t2", ADAPTOR),
    ("owned.keyed.blocking.t2", BLOCKING),
    ("owned.keyed.peers.t2", AHEAD),
    ("owned.stage.w50ns.t1", ALONE),
    ("owned.stage.w50ns.t2", NEVER_SLOWER),
    ("owned.stage.w50ns.adaptor.t2", ADAPTOR),
    ("owned.stage.w50ns.blocking.t2", BLOCKING),
    ("owned.stage.w50ns.peers.t2", AHEAD),
    ("owned.stage.w1us.t1", ALONE),
    ("owned.stage.w1us.t2", NEVER_SLOWER),
    ("owned.stage.w1us.adaptor.t2", ADAPTOR),
    ("owned.stage.w1us.blocking.t2", BLOCKING),
    ("owned.stage.w1us.peers.t2", AHEAD),
    ("owned.stage.w10us.t1", ALONE),
    ("owned.stage.w10us.t2", EFFICIENT),
    ("owned.stage.w10us.adaptor.t2", ADAPTOR_EFFICIENT),
    ("owned.stage.w10us.blocking.t2", ADAPTOR_EFFICIENT),
    ("owned.stage.w10us.peers.t2", AHEAD),
    ("owned.blocks.k1.t1", ALONE),
    ("owned.blocks.k1.t2", NEVER_SLOWER),
    ("owned.blocks.k1.adaptor.t2", ADAPTOR),
    ("owned.blocks.k1.blocking.t2", BLOCKING),
    ("owned.blocks.k1.peers.t2", AHEAD),
    ("owned.blocks.k16.t1", ALONE),
    ("owned.blocks.k16.t2", EFFICIENT),
    ("owned.blocks.k16.adaptor.t2", ADAPTOR_EFFICIENT),
    ("owned.blocks.k16.blocking.t2", ADAPTOR_EFFICIENT),
    ("owned.blocks.k16.peers.t2", AHEAD),
    ("owned.blocks.k256.t1", ALONE),
    ("owned.blocks.k256.t2", EFFICIENT),
    ("owned.blocks.k256.adaptor.t2", ADAPTOR_EFFICIENT),
    ("owned.blocks.k256.blocking.t2", ADAPTOR_EFFICIENT),
    ("owned.blocks.k256.peers.t2", AHEAD),
];

/// The targets that differ with mimalloc, by the names of the figures with glibc's allocator.
const MIMALLOC: &[(&str, Target)] = &[
    ("owned.map.t2", AtMost(0.65)),
    ("owned.map.adaptor.t2", AtMost(0.7)),
    ("owned.words.t2", AtMost(0.7)),
    ("owned.words.adaptor.t2", AtMost(0.75)),
    ("owned.json.t2", AtMost(0.65)),
    ("owned.json.adaptor.t2", AtMost(0.7)),
];

/// The targets with both allocators. The name of a figure with mimalloc has that word before the threads.
pub fn all() -> impl Iterator<Item = (String, Target)> {
    TARGETS.iter().flat_map(|(name, glibc)| {
        let (row, threads) = name.rsplit_once('.').expect("a name ends with its threads");
        let own = MIMALLOC.iter().find(|(other, _)| other == name);
        let mimalloc = own.map_or(*glibc, |(_, target)| *target);
        [(name.to_string(), *glibc), (format!("{row}.mimalloc.{threads}"), mimalloc)]
    })
}

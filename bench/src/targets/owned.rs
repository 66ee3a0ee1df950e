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

/// An efficiency of 0.95, compared with what the machine allows.
const EFFICIENT: Target = TimesAtMost(1.05, "loops");

/// The same as an adaptor, which may take 0.05 of the loop's time more.
const ADAPTOR_EFFICIENT: Target = TimesAtMost(1.15, "loops");

/// No ordered peer is faster.
const AHEAD: Target = BestAtMost(1.0);

/// Figures and their targets.
pub const TARGETS: &[(&str, Target)] = &[
    ("owned.maps.t1", ALONE),
    ("owned.maps.t2", AtMost(1.0)),
    ("owned.maps.peers.t2", AHEAD),
    ("owned.processes.t1", ALONE_PROCESSES),
    ("owned.processes.t2", NEVER_SLOWER),
    ("owned.processes.peers.t2", AHEAD),
    ("owned.map.t1", ALONE),
    ("owned.map.t2", AtMost(0.7)),
    ("owned.map.adaptor.t2", AtMost(0.75)),
    ("owned.map.peers.t2", AHEAD),
    ("owned.words.t1", ALONE),
    ("owned.words.t2", AtMost(0.8)),
    ("owned.words.adaptor.t2", AtMost(0.85)),
    ("owned.words.peers.t2", AHEAD),
    ("owned.json.t1", ALONE),
    ("owned.json.t2", AtMost(0.7)),
    ("owned.json.adaptor.t2", AtMost(0.75)),
    ("owned.json.peers.t2", AHEAD),
    ("owned.vectors.t1", ALONE),
    ("owned.vectors.t2", NEVER_SLOWER),
    ("owned.vectors.adaptor.t2", ADAPTOR),
    ("owned.vectors.peers.t2", AHEAD),
    ("owned.keyed.t1", ALONE),
    ("owned.keyed.t2", NEVER_SLOWER),
    ("owned.keyed.adaptor.t2", ADAPTOR),
    ("owned.keyed.peers.t2", AHEAD),
    ("owned.stage.w50ns.t1", ALONE),
    ("owned.stage.w50ns.t2", NEVER_SLOWER),
    ("owned.stage.w50ns.adaptor.t2", ADAPTOR),
    ("owned.stage.w50ns.peers.t2", AHEAD),
    ("owned.stage.w1us.t1", ALONE),
    ("owned.stage.w1us.t2", NEVER_SLOWER),
    ("owned.stage.w1us.adaptor.t2", ADAPTOR),
    ("owned.stage.w1us.peers.t2", AHEAD),
    ("owned.stage.w10us.t1", ALONE),
    ("owned.stage.w10us.t2", EFFICIENT),
    ("owned.stage.w10us.adaptor.t2", ADAPTOR_EFFICIENT),
    ("owned.stage.w10us.peers.t2", AHEAD),
    ("owned.blocks.k1.t1", ALONE),
    ("owned.blocks.k1.t2", NEVER_SLOWER),
    ("owned.blocks.k1.adaptor.t2", ADAPTOR),
    ("owned.blocks.k1.peers.t2", AHEAD),
    ("owned.blocks.k16.t1", ALONE),
    ("owned.blocks.k16.t2", EFFICIENT),
    ("owned.blocks.k16.adaptor.t2", ADAPTOR_EFFICIENT),
    ("owned.blocks.k16.peers.t2", AHEAD),
    ("owned.blocks.k256.t1", ALONE),
    ("owned.blocks.k256.t2", EFFICIENT),
    ("owned.blocks.k256.adaptor.t2", ADAPTOR_EFFICIENT),
    ("owned.blocks.k256.peers.t2", AHEAD),
    ("owned.maps.mimalloc.t1", ALONE),
    ("owned.maps.mimalloc.t2", AtMost(1.0)),
    ("owned.maps.peers.mimalloc.t2", AHEAD),
    ("owned.processes.mimalloc.t1", ALONE_PROCESSES),
    ("owned.processes.mimalloc.t2", NEVER_SLOWER),
    ("owned.processes.peers.mimalloc.t2", AHEAD),
    ("owned.map.mimalloc.t1", ALONE),
    ("owned.map.mimalloc.t2", AtMost(0.65)),
    ("owned.map.adaptor.mimalloc.t2", AtMost(0.7)),
    ("owned.map.peers.mimalloc.t2", AHEAD),
    ("owned.words.mimalloc.t1", ALONE),
    ("owned.words.mimalloc.t2", AtMost(0.7)),
    ("owned.words.adaptor.mimalloc.t2", AtMost(0.75)),
    ("owned.words.peers.mimalloc.t2", AHEAD),
    ("owned.json.mimalloc.t1", ALONE),
    ("owned.json.mimalloc.t2", AtMost(0.65)),
    ("owned.json.adaptor.mimalloc.t2", AtMost(0.7)),
    ("owned.json.peers.mimalloc.t2", AHEAD),
    ("owned.vectors.mimalloc.t1", ALONE),
    ("owned.vectors.mimalloc.t2", NEVER_SLOWER),
    ("owned.vectors.adaptor.mimalloc.t2", ADAPTOR),
    ("owned.vectors.peers.mimalloc.t2", AHEAD),
    ("owned.keyed.mimalloc.t1", ALONE),
    ("owned.keyed.mimalloc.t2", NEVER_SLOWER),
    ("owned.keyed.adaptor.mimalloc.t2", ADAPTOR),
    ("owned.keyed.peers.mimalloc.t2", AHEAD),
    ("owned.stage.w50ns.mimalloc.t1", ALONE),
    ("owned.stage.w50ns.mimalloc.t2", NEVER_SLOWER),
    ("owned.stage.w50ns.adaptor.mimalloc.t2", ADAPTOR),
    ("owned.stage.w50ns.peers.mimalloc.t2", AHEAD),
    ("owned.stage.w1us.mimalloc.t1", ALONE),
    ("owned.stage.w1us.mimalloc.t2", NEVER_SLOWER),
    ("owned.stage.w1us.adaptor.mimalloc.t2", ADAPTOR),
    ("owned.stage.w1us.peers.mimalloc.t2", AHEAD),
    ("owned.stage.w10us.mimalloc.t1", ALONE),
    ("owned.stage.w10us.mimalloc.t2", EFFICIENT),
    ("owned.stage.w10us.adaptor.mimalloc.t2", ADAPTOR_EFFICIENT),
    ("owned.stage.w10us.peers.mimalloc.t2", AHEAD),
    ("owned.blocks.k1.mimalloc.t1", ALONE),
    ("owned.blocks.k1.mimalloc.t2", NEVER_SLOWER),
    ("owned.blocks.k1.adaptor.mimalloc.t2", ADAPTOR),
    ("owned.blocks.k1.peers.mimalloc.t2", AHEAD),
    ("owned.blocks.k16.mimalloc.t1", ALONE),
    ("owned.blocks.k16.mimalloc.t2", EFFICIENT),
    ("owned.blocks.k16.adaptor.mimalloc.t2", ADAPTOR_EFFICIENT),
    ("owned.blocks.k16.peers.mimalloc.t2", AHEAD),
    ("owned.blocks.k256.mimalloc.t1", ALONE),
    ("owned.blocks.k256.mimalloc.t2", EFFICIENT),
    ("owned.blocks.k256.adaptor.mimalloc.t2", ADAPTOR_EFFICIENT),
    ("owned.blocks.k256.peers.mimalloc.t2", AHEAD),
];

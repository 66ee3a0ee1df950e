//! The targets of `cluster.*`.

use super::Target::{self, AtMost, TimesAtMost};

/// Bytes of a MiB.
const MIB: f64 = 1_048_576.0;

/// Figures and their targets.
pub const TARGETS: &[(&str, Target)] = &[
    ("cluster.compress.cpu.p2", TimesAtMost(1.05, "thalweg")),
    ("cluster.compress.cpu.p4", TimesAtMost(1.12, "thalweg")),
    ("cluster.words.cpu.p2", TimesAtMost(1.1, "thalweg")),
    ("cluster.words.cpu.p4", TimesAtMost(1.35, "thalweg")),
    ("cluster.words.network.p2", AtMost(3.5e6)),
    ("cluster.every_word.cpu.p2", TimesAtMost(1.05, "timely")),
    ("cluster.every_word.network.p2", AtMost(110e6)),
    ("cluster.every_word.peak.p2", AtMost(40.0 * MIB)),
    ("cluster.keyed.batch1.p2", AtMost(4700.0)),
    ("cluster.keyed.batch64.p2", AtMost(130.0)),
    ("cluster.keyed.batch4096.p2", AtMost(40.0)),
    ("cluster.peak.m40.p2", AtMost(20.0 * MIB)),
    ("cluster.peak.m400.p2", AtMost(20.0 * MIB)),
    ("cluster.kill.p4", AtMost(100.0)),
    ("cluster.stop.p4", AtMost(3000.0)),
    ("cluster.empty.p4", AtMost(50.0)),
];

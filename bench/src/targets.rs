//! The targets of the figures, in one table; those of `cluster`, `owned` and `danbi` are in files of their own.

mod cluster;
mod danbi;
mod owned;

/// A bound on a figure.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// Ours is at most this.
    AtMost(f64),
    /// Ours is at least this.
    AtLeast(f64),
    /// Ours divided by the named contestant's is at most this.
    TimesAtMost(f64, &'static str),
    /// Ours divided by the named contestant's is at least this.
    TimesAtLeast(f64, &'static str),
    /// Ours divided by the best peer's is at least this.
    BestAtLeast(f64),
    /// Ours divided by the best peer's is at most this.
    BestAtMost(f64),
    /// Ours divided by the best peer's, round by round, is at most this: the whole 95 % interval of the ratio.
    PairedAtMost(f64),
    /// Measured and shown, without a target.
    None,
}

use Target::{AtLeast, AtMost, BestAtLeast, BestAtMost, PairedAtMost, TimesAtLeast, TimesAtMost};

/// An operator costs no more than the kernel by hand, but for the noise of both.
const BY_HAND: Target = TimesAtMost(1.05, "hand");

/// At least 0.9 of the speed of hand-written C.
const C: Target = TimesAtMost(1.11, "c");

/// At most what tar and zstd cost with a long window.
const LONG: Target = TimesAtMost(1.0, "tar|zstd-long");

/// Figures and their targets. A figure that is not listed has none.
const TARGETS: &[(&str, Target)] = &[
    ("channel.slice64", TimesAtMost(1.3, "bare-ring")),
    ("channel.item", AtMost(5.0)),
    ("chain.s4.w0.t1", AtMost(3.0)),
    ("chain.s4.w0.t2", AtMost(5.0)),
    ("chain.s16.w0.t1", AtMost(3.0)),
    ("chain.s16.w0.t2", AtMost(5.0)),
    ("chain.s4.w100ns.t2", AtLeast(0.95)),
    ("chain.s4.w1us.t2", AtLeast(0.98)),
    ("chain.s4.w10us.t2", AtLeast(0.99)),
    ("chain.s16.w100ns.t2", AtLeast(0.95)),
    ("chain.s16.w1us.t2", AtLeast(0.98)),
    ("chain.s16.w10us.t2", AtLeast(0.99)),
    ("farm.w200ns.t2", AtLeast(0.93)),
    ("farm.w1us.t2", AtLeast(0.97)),
    ("farm.w10us.t2", AtLeast(0.99)),
    ("farm.w100us.t2", AtLeast(0.99)),
    ("farm.outputs03.w200ns.t2", TimesAtLeast(0.9, "plain-farm")),
    ("farm.outputs03.w1us.t2", TimesAtLeast(0.9, "plain-farm")),
    ("farm.outputs03.w10us.t2", TimesAtLeast(0.9, "plain-farm")),
    ("farm.rounds13.w200ns.t2", TimesAtLeast(0.9, "plain-farm")),
    ("farm.rounds13.w1us.t2", TimesAtLeast(0.9, "plain-farm")),
    ("farm.rounds13.w10us.t2", TimesAtLeast(0.9, "plain-farm")),
    ("farm.peek64.w200ns.t2", TimesAtLeast(0.9, "plain-farm")),
    ("farm.peek64.w1us.t2", TimesAtLeast(0.9, "plain-farm")),
    ("farm.peek64.w10us.t2", TimesAtLeast(0.9, "plain-farm")),
    ("kpn.transaction.t1", AtMost(15.0)),
    ("kpn.transaction.accounted.t1", AtMost(30.0)),
    ("kpn.transaction.t2", AtMost(30.0)),
    ("kpn.transaction.accounted.t2", AtMost(60.0)),
    ("kpn.ring.creation.t1", AtMost(25.0)),
    ("kpn.bytes.coroutines", AtMost(5000.0)),
    ("kpn.bytes.futures", AtMost(250.0)),
    ("kpn.pipeline.b8.w1us.t2", AtLeast(0.95)),
    ("kpn.pipeline.b2048.w1us.t2", AtLeast(0.95)),
    ("kpn.pipeline.b8.w10us.t2", AtLeast(0.98)),
    ("kpn.pipeline.b2048.w10us.t2", AtLeast(0.98)),
    ("kpn.scatter.w100us.t2", AtLeast(0.98)),
    ("kpn.layers.c64.w10us.t2", AtLeast(0.95)),
    ("kpn.layers.c1.w10us.t2", AtLeast(0.95)),
    ("wordcount.flex.t2", AtLeast(1.8)),
    ("wordcount.mr.t2", TimesAtMost(1.2, "sort-based")),
    ("dedup.zstd3.overhead.t1", AtMost(3.0)),
    ("dedup.zstd3.speedup.t2", AtLeast(1.85)),
    ("dedup.gzip6.overhead.t1", AtMost(3.0)),
    ("dedup.gzip6.speedup.t2", AtLeast(1.85)),
    ("archives.sources.level3.size.t2", LONG),
    ("archives.sources.level3.time.t2", LONG),
    ("archives.sources.level3.memory.t2", LONG),
    ("archives.toolchain.level3.size.t2", LONG),
    ("archives.toolchain.level3.time.t2", LONG),
    ("archives.toolchain.level3.memory.t2", LONG),
    ("str.fm_radio.t1", C),
    ("str.filter_bank.t1", C),
    ("str.time_delay_equaliser.t1", C),
    ("str.fft.t1", C),
    ("str.beamformer.t1", C),
    ("str.des.t1", C),
    ("str.bitonic_sort.t1", C),
    ("str.dct.t1", C),
    ("str.channel_vocoder.t1", C),
    ("str.matrix_multiply.t1", C),
    ("danbi.peers.rg.t2", BestAtMost(1.0)),
    ("danbi.peers.merge-sort.t2", BestAtMost(1.0)),
    ("str.dyn.queues.q1", AtMost(1.0)),
    ("str.dyn.queues.q2", AtMost(1.0)),
    ("str.dyn.queues.q4", AtMost(1.0)),
    ("str.dyn.queues.q8", AtMost(1.0)),
    ("str.dyn.queues.q16", AtMost(1.0)),
    ("str.dyn.queues.q32", AtMost(1.0)),
    ("str.dyn.queues.batch1.q1", AtMost(10.0)),
    ("str.dyn.queues.batch1.q2", AtMost(10.0)),
    ("str.dyn.queues.batch1.q4", AtMost(10.0)),
    ("str.dyn.queues.batch1.q8", AtMost(10.0)),
    ("str.dyn.queues.batch1.q16", AtMost(10.0)),
    ("str.dyn.queues.batch1.q32", AtMost(10.0)),
    ("str.dyn.waits.q32", AtMost(1.0)),
    ("str.dyn.waits.batch1.q32", AtMost(10.0)),
    ("str.dyn.work.q1", TimesAtMost(1.05, "static")),
    ("str.dyn.work.q32", TimesAtMost(1.05, "static")),
    ("str.dyn.os_thread.q32", TimesAtMost(0.05, "os-thread")),
    ("str.dyn.huffman", TimesAtMost(0.83, "demand")),
    ("str.dyn.vwap", TimesAtMost(0.2, "no-op")),
    ("str.dyn.predicate", TimesAtMost(0.2, "no-op")),
    ("str.compile.largest.cached", AtMost(50.0)),
    ("str.compile.slowest.cached", AtMost(50.0)),
    ("str.fm_radio.t2", AtLeast(1.85)),
    ("str.filter_bank.t2", AtLeast(1.85)),
    ("str.time_delay_equaliser.t2", AtLeast(1.85)),
    ("str.fft.t2", AtLeast(1.85)),
    ("str.des.t2", AtLeast(1.85)),
    ("str.dct.t2", AtLeast(1.85)),
    ("str.beamformer.t2", AtLeast(1.85)),
    ("str.channel_vocoder.t2", AtLeast(1.85)),
    ("operators.partition", BY_HAND),
    ("operators.tee", BY_HAND),
    ("operators.deal", BY_HAND),
    ("operators.interleave", BY_HAND),
    ("operators.concat", BY_HAND),
    ("operators.batch", BY_HAND),
    ("small.first.t2", AtMost(150_000.0)),
    ("small.run.t2", AtMost(15_000.0)),
    ("small.adaptor.t2", AtMost(20_000.0)),
    ("small.drop.t2", AtMost(50_000.0)),
    ("small.chain.n100.w10us.t2", AtLeast(0.85)),
    ("small.chain.n1000.w10us.t2", AtLeast(0.95)),
    ("small.adaptor.n100.w10us.t2", AtLeast(0.9)),
    ("small.adaptor.n1000.w10us.t2", AtLeast(0.95)),
    ("small.adaptor.long.w200ns.t2", AtLeast(0.85)),
    ("small.adaptor.long.w1us.t2", TimesAtLeast(0.95, "chain")),
    ("small.adaptor.long.w10us.t2", TimesAtLeast(0.95, "chain")),
    ("small.adaptor.long.w100us.t2", TimesAtLeast(0.95, "chain")),
    ("fastq.time.t2", TimesAtMost(1.03, "threads")),
    ("fastq.memory.t2", AtMost(20e6)),
    ("loop.handoff.t2", AtMost(500.0)),
    ("loop.handoff.gap20.t2", AtMost(5_000.0)),
    ("loop.fib.t1", AtMost(10.0)),
    ("loop.fib.t2", AtMost(10.0)),
    ("loop.wavefront.t1", AtMost(8.0)),
    ("loop.wavefront.t2", AtMost(5.0)),
    ("loop.wavefront.keyed.t1", AtMost(100.0)),
    ("loop.wavefront.keyed.t2", AtMost(100.0)),
    // 10^7 tasks within 1 GiB.
    ("loop.wavefront.keyed.bytes", AtMost(107.0)),
    ("loop.uniform.t2", AtLeast(0.98)),
    ("loop.planted.t2", AtLeast(0.98)),
    ("loop.heat.t2", TimesAtLeast(0.97, "openmp-static")),
    ("loop.life.t2", TimesAtLeast(0.97, "openmp-static")),
    ("loop.life.b16x16.t2", TimesAtLeast(0.97, "openmp-static")),
    ("loop.life.b16x256.t2", TimesAtLeast(0.97, "openmp-static")),
    ("loop.life.planted.t2", TimesAtLeast(1.3, "openmp-static")),
    ("app.pagerank.s20.t2", TimesAtMost(1.0, "networkit")),
    ("app.align.pairs.dna.t2", TimesAtMost(1.0, "parasail-striped-sat")),
    ("app.align.pairs.protein.t2", TimesAtMost(1.0, "parasail-striped-sat")),
    ("app.align.search.protein.t2", TimesAtMost(1.0, "parasail-striped-sat")),
    ("app.align.pair.dna.t2", TimesAtMost(1.0, "parasail-striped-sat")),
    ("app.align.pair.protein.t2", TimesAtMost(1.0, "parasail-striped-sat")),
    ("app.align.trace.dna.t2", TimesAtMost(1.0, "parasail-trace-striped-sat")),
    ("locality.5-6.time.pagerank.t2", BestAtLeast(1.0)),
    ("locality.5-6.time.sw.t2", BestAtLeast(1.0)),
    ("locality.5-6.time.swn2.t2", BestAtLeast(1.0)),
    ("locality.6-5.time.sw.t2", BestAtLeast(1.0)),
    ("report.w1us", AtMost(2.0)),
    ("report.chain.w1us.t1", AtMost(2.0)),
    ("report.chain.w1us.t2", AtMost(2.0)),
    ("report.farm.w1us.t1", AtMost(2.0)),
    ("report.farm.w1us.t2", AtMost(2.0)),
    ("timeline.w1us", AtMost(5.0)),
    ("live.watch", AtMost(1.0)),
    ("idle.wait5s", AtMost(20.0)),
];

/// The target of the figure `name`.
pub fn target(name: &str) -> Target {
    all().find(|(known, _)| known == name).map_or(Target::None, |(_, target)| target)
}

/// All figures that have a target.
pub fn names() -> impl Iterator<Item = String> {
    all().map(|(name, _)| name)
}

fn all() -> impl Iterator<Item = (String, Target)> {
    let named = TARGETS.iter().chain(cluster::TARGETS);
    named.map(|(name, target)| (name.to_string(), *target)).chain(owned::all()).chain(danbi::all())
}

impl Target {
    /// Whether the target is relative to another contestant, so that the yardstick does not matter.
    pub fn is_relative(self) -> bool {
        matches!(self, TimesAtMost(..) | TimesAtLeast(..) | BestAtLeast(_) | BestAtMost(_) | PairedAtMost(_))
    }

    /// Whether `ours` reaches the target; `None` without a target or without a value of the named contestant, or of a peer. A target
    /// on paired ratios needs the single runs: `Line::paired` judges it.
    pub fn passes(
        self,
        ours: f64,
        best_peer: Option<f64>,
        value_of: impl Fn(&str) -> Option<f64>,
    ) -> Option<bool> {
        match self {
            AtMost(limit) => Some(ours <= limit),
            AtLeast(limit) => Some(ours >= limit),
            TimesAtMost(limit, other) => value_of(other).map(|value| ours / value <= limit),
            TimesAtLeast(limit, other) => value_of(other).map(|value| ours / value >= limit),
            BestAtLeast(limit) => best_peer.map(|value| ours / value >= limit),
            BestAtMost(limit) => best_peer.map(|value| ours / value <= limit),
            PairedAtMost(_) | Target::None => None,
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AtMost(limit) => write!(f, "<={limit}"),
            AtLeast(limit) => write!(f, ">={limit}"),
            TimesAtMost(limit, other) => write!(f, "<={limit}x {other}"),
            TimesAtLeast(limit, other) => write!(f, ">={limit}x {other}"),
            BestAtLeast(limit) => write!(f, ">={limit}x best peer"),
            BestAtMost(limit) => write!(f, "<={limit}x best peer"),
            PairedAtMost(limit) => write!(f, "<={limit}x best peer, paired"),
            Target::None => write!(f, "-"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        let none = |_: &str| None;
        assert_eq!(target("channel.item").passes(4.0, None, none), Some(true));
        assert_eq!(target("farm.w1us.t2").passes(0.9, None, none), Some(false));
        assert_eq!(target("channel.slice64").passes(1.2, None, |_| Some(1.0)), Some(true));
        assert_eq!(target("no.such.figure").passes(1.0, None, none), None);
        let relative = target("locality.5-6.time.sw.t2");
        assert_eq!(relative.passes(1.9, Some(1.8), none), Some(true));
        assert_eq!(relative.passes(1.9, Some(2.0), none), Some(false));
        assert_eq!(relative.passes(1.9, None, none), None);
        assert!(matches!(target("owned.map.t2"), AtMost(0.7)));
        assert!(matches!(target("owned.map.mimalloc.t2"), AtMost(0.65)));
        assert!(matches!(target("owned.vectors.mimalloc.t2"), AtMost(1.03)));
        let peers = target("owned.map.peers.t2");
        assert_eq!(peers.passes(210.0, Some(220.0), none), Some(true));
        assert_eq!(peers.passes(230.0, Some(220.0), none), Some(false));
    }
}

//! Aligning by several processes.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use anyhow::{Result, ensure};
use thalweg_align::{Aligner, Found, Pairs, Sequence, Watch, Work, compare_on};
use thalweg_cluster::Cluster;

use super::{Align, is_closed};
use crate::interrupt::Interrupt;
use crate::memory::Limit;
use crate::misuse::Misuse;
use crate::processes::{self, Own};
use crate::progress::Progress;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Compares the share of this process. Process 0 reads the sequences and writes the alignments.
pub(super) fn run(verb: Align, cluster: &Cluster, interrupt: &Interrupt) -> Result<()> {
    let is_first = cluster.process() == 0;
    let cluster = cluster.clone().job(verb.job());
    processes::end_waits_with(&cluster, interrupt);
    let limit = Limit::new(Some(verb.memory));
    let (verb, own) = (Arc::new(verb), Own::default());
    let read = (verb.clone(), own.clone(), interrupt.clone());
    let sequences = cluster.shared(move || {
        let (verb, own, interrupt) = read;
        verb.read_to_share(limit, &interrupt).map_err(|error| match interrupt.run_ends() {
            // The cause is that of another process.
            true => format!("{error:#}"),
            false => own.keep(error),
        })
    });
    let (begun, watch) = (OnceLock::new(), Watched { progress: OnceLock::new(), interrupt });
    let pairs = || -> Result<Pairs<'_>, Cause> {
        let [queries, targets] = sequences.as_ref().map_err(String::as_str)?;
        let begin = || verb.begin_share(queries, targets, limit, is_first).map_err(|error| own.keep(error));
        let (aligner, work) = begun.get_or_init(begin).as_ref().map_err(String::as_str)?;
        if is_first {
            watch.progress.get_or_init(|| Progress::cells(u64::try_from(work.cells).ok()));
        }
        Ok(Pairs { aligner, queries, targets })
    };
    let (started, mut output) = (Instant::now(), None);
    let sink = |found: Found| -> Result<ControlFlow<()>, Cause> {
        let Pairs { aligner, queries, targets } = pairs()?;
        let output = match &mut output {
            Some(output) => output,
            none => {
                let opened = verb.output(aligner, (queries, targets), interrupt);
                none.insert(opened.map_err(|error| own.keep(error))?)
            }
        };
        match output.writer.write(&found) {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(error) if output.is_standard && is_closed(&error) => Ok(ControlFlow::Break(())),
            Err(error) => Err(own.keep(error.into()).into()),
        }
    };
    let compared = compare_on(&cluster, pairs, &verb.how(), &watch, sink);
    watch.progress.get().into_iter().for_each(Progress::finish);
    if !compared.map_err(|error| processes::failed(&cluster, &error, own.take()))? {
        return Ok(());
    }
    let (Ok([queries, targets]), Some(Ok((aligner, work)))) = (sequences.as_ref(), begun.get()) else {
        return Ok(());
    };
    // Without a query nothing has opened it.
    let output = output.map_or_else(|| verb.output(aligner, (queries, targets), interrupt), Ok)?;
    if output.end(Ok(()))? && verb.report {
        verb.report_rate(work, started);
        processes::print_report(&cluster);
    }
    Ok(())
}

impl Align {
    /// What decides what is found, and must be the same in all processes.
    fn job(&self) -> String {
        let scores =
            (&self.alphabet, self.matching, self.mismatch, &self.gap, self.gap_open, self.gap_extend);
        format!("align {scores:?} {:?}", self.how())
    }

    fn read_to_share(&self, limit: Limit, interrupt: &Interrupt) -> Result<[Vec<Sequence>; 2]> {
        ensure!(
            !self.scheduling.counts,
            Misuse::new("several processes do not print --counts\nhelp: remove it")
        );
        self.check_files()?;
        self.sequences(limit, interrupt)
    }

    /// What this process computes with, and the work of all. The first one says what is about to be done.
    fn begin_share(
        &self,
        queries: &[Sequence],
        targets: &[Sequence],
        limit: Limit,
        is_first: bool,
    ) -> Result<(Aligner, Work)> {
        let threads = self.threads.of_team(!is_first)?;
        let aligner = self.scheduled(self.aligner(queries, targets, threads)?, None);
        let work = match is_first {
            true => self.begin(&aligner, queries, targets, limit)?,
            false => Work::default(),
        };
        Ok((aligner, work))
    }
}

/// Shows progress in process 0, and stops on a signal.
struct Watched<'a> {
    progress: OnceLock<Progress>,
    interrupt: &'a Interrupt,
}

impl Watch for Watched<'_> {
    fn stopped(&self) -> bool {
        self.interrupt.stop().is_requested()
    }

    fn cells(&self, count: u64) {
        if let Some(progress) = self.progress.get() {
            progress.advance(count);
        }
    }
}

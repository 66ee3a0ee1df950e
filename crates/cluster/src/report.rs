//! What a run has moved between its processes, and what has waited.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cluster::Cluster;

/// What a run of several processes has moved, and what has waited: see [`Cluster::report`].
///
/// It is displayed as a table:
///
/// ```text
/// link            bytes     batches      waited
/// 0 -> 1        1204816         391     11.3 ms
/// 1 -> 0        2411904         392      4.1 ms
/// source of 0 waited    102.4 ms
/// source of 1 waited      0.0 ms
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    links: Vec<Link>,
    source_waits: Vec<Duration>,
}

/// The connection from one process to another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Link {
    /// The process that sends.
    pub from: usize,
    /// The process that receives.
    pub to: usize,
    /// The bytes that were sent: batches, and how far the stages have come. The bytes of signs of life and of shared values are not
    /// counted.
    pub bytes: u64,
    /// The shares of batches that were sent, empty ones included.
    pub batches: u64,
    /// The time that sending took: much if the receiver or the network is slower than the sender.
    pub waited: Duration,
}

impl Report {
    /// The links, by sender and receiver. One process alone has none.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// By process: the time in which its source waited, since as many batches as the [window](Cluster::window) or the
    /// [budget](Cluster::budget) has were under way.
    pub fn source_waits(&self) -> &[Duration] {
        &self.source_waits
    }

    /// `of`: what each process has counted.
    pub(crate) fn new(of: &[Counts]) -> Report {
        let links = of.iter().enumerate().flat_map(|(from, counts)| {
            let others = counts.links.iter().enumerate().filter(move |(to, _)| *to != from);
            others.map(move |(to, &(bytes, batches, waited))| Link {
                from,
                to,
                bytes,
                batches,
                waited: Duration::from_nanos(waited),
            })
        });
        let source_waits = of.iter().map(|counts| Duration::from_nanos(counts.source_waited)).collect();
        Report { links: links.collect(), source_waits }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |time: &Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
        if !self.links.is_empty() {
            writeln!(f, "{:<10} {:>10} {:>11} {:>11}", "link", "bytes", "batches", "waited")?;
        }
        for Link { from, to, bytes, batches, waited } in &self.links {
            let link = format!("{from} -> {to}");
            writeln!(f, "{link:<10} {bytes:>10} {batches:>11} {:>11}", ms(waited))?;
        }
        for (process, waited) in self.source_waits.iter().enumerate() {
            writeln!(f, "source of {process} waited {:>11}", ms(waited))?;
        }
        Ok(())
    }
}

impl Cluster {
    /// What the last run that has succeeded, of this cluster or a clone, has moved between processes. In process 0; `None` in the others, and
    /// before a run.
    ///
    /// With `thalweg launch --report`, or the environment variable `THALWEG_REPORT=1`, process 0 of a cluster [from the environment](Cluster::from_env) writes it to the
    /// standard error at the end of each run that succeeds.
    ///
    /// ```
    /// use thalweg_cluster::Cluster;
    ///
    /// let cluster = Cluster::from_env()?;
    /// let sum = cluster.from_iter(1..4).end(|stream| stream.fold(0, |sum, n| sum + n)).run()?;
    /// if let (Some(sum), Some(report)) = (sum, cluster.report()) {
    ///     println!("{sum}\n{report}");
    ///     # assert_eq!((sum, report.links().len(), report.source_waits().len()), (6, 0, 1));
    /// }
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    pub fn report(&self) -> Option<Report> {
        self.report.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

/// What a process has counted: of each link its bytes, batches and nanoseconds, by receiver; and the nanoseconds of its source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counts {
    links: Vec<(u64, u64, u64)>,
    source_waited: u64,
}

/// What a process counts while it runs.
pub(crate) struct Counters {
    /// By receiver.
    links: Vec<LinkCounter>,
}

#[derive(Default)]
struct LinkCounter {
    bytes: AtomicU64,
    batches: AtomicU64,
    waited: AtomicU64,
}

impl Counters {
    pub fn new(processes: usize) -> Counters {
        Counters { links: (0..processes).map(|_| LinkCounter::default()).collect() }
    }

    /// Bytes were written.
    pub fn write(&self, to: usize, bytes: usize, time: Duration) {
        self.links[to].bytes.fetch_add(bytes as u64, Relaxed);
        self.links[to].waited.fetch_add(nanos(time), Relaxed);
    }

    /// A share of a batch is sent. `more`: a part of it.
    pub fn send(&self, to: u32, more: bool) {
        self.links[to as usize].batches.fetch_add(u64::from(!more), Relaxed);
    }

    /// What was counted. `source_waited`: by the window.
    pub fn counts(&self, source_waited: Duration) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Relaxed);
        let link = |link: &LinkCounter| (read(&link.bytes), read(&link.batches), read(&link.waited));
        Counts { links: self.links.iter().map(link).collect(), source_waited: nanos(source_waited) }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_a_table() {
        let counters = [Counters::new(2), Counters::new(2)];
        counters[0].write(1, 1_204_816, Duration::from_micros(11_300));
        counters[0].send(1, true);
        counters[0].send(1, false);
        counters[1].write(0, 7, Duration::from_nanos(1));
        let waits = [Duration::from_micros(102_440), Duration::ZERO];
        let counts: Vec<Counts> = counters.iter().zip(waits).map(|(it, wait)| it.counts(wait)).collect();
        let report = Report::new(&counts);
        assert_eq!(
            (report.links()[0].from, report.links()[0].batches, report.source_waits()[0]),
            (0, 1, waits[0])
        );
        let table = "link            bytes     batches      waited
0 -> 1        1204816           1     11.3 ms
1 -> 0              7           0      0.0 ms
source of 0 waited    102.4 ms
source of 1 waited      0.0 ms
";
        assert_eq!(report.to_string(), table);
    }
}

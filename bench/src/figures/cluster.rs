//! `cluster.*`: the same chain in several processes on this machine, which connect by its loopback interface, beside one process
//! and raw timely. Costs are those of all processes; two threads are divided among them. Real machines are not measured.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::Signal;
use tempfile::TempDir;

use crate::cluster::{self, KeyedJob, network_file};
use crate::figures::wordcount::zipf;
use crate::line::Measure;
use crate::peers::process;
use crate::race::{Contestant, Outcome, Role};
use crate::row::Row;
use crate::session::{Session, View};
use crate::work::fold;

/// Megabytes of the texts, and their different words.
const MEGABYTES: usize = 200;
const MEGABYTES_QUICK: usize = 10;
const WORDS: usize = 60_000;

/// A contestant: its name in figures, what runs it, and the number of processes.
type Entrant = (&'static str, &'static str, usize);

/// A cost: its name in a figure's, its measure, and its value.
type Cost = (&'static str, Measure, fn(&Row) -> f64);

const CPU: Cost = ("cpu", Measure::Ms, |row| row.costs.cpu);
const TIME: Cost = ("time", Measure::Ms, |row| row.seconds);
const PEAK: Cost = ("peak", Measure::Bytes, |row| row.costs.memory);
const NETWORK: Cost = ("network", Measure::Bytes, |row| row.costs.size);

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    texts(session);
    for (batch, items, epoch) in [(1, 200_000, 64), (64, 3_000_000, 64), (4096, 10_000_000, 4)] {
        keyed(session, KeyedJob { items, batch, window: 8 * epoch as usize, epoch });
    }
    peak(session, 40);
    signals(session);
    empty(session);
}

/// The peak of memory of a run that is ten times as long, which takes some minutes.
pub fn sweep(session: &mut Session) {
    peak(session, 400);
}

/// A figure of a race: `NAME.COST.pN`.
fn view((cost, measure, of): Cost, name: &str, ours: Entrant, others: &[(&'static str, Role)]) -> View {
    let roles = [(ours.0, Role::Ours)].into_iter().chain(others.iter().copied()).collect();
    View { name: format!("{name}.{cost}.p{}", ours.2), measure, of, roles }
}

/// The figures of jobs that read a text.
fn texts(session: &mut Session) {
    let [two, four]: [Entrant; 2] = [("p2", "ours", 2), ("p4", "ours", 4)];
    let thalweg: Entrant = ("thalweg", "thalweg", 1);
    let one: Entrant = ("p1", "ours", 1);
    let beside = [("thalweg", Role::Aside), ("p1", Role::Aside)];
    for (name, job) in [("cluster.compress", "compress"), ("cluster.words", "words")] {
        let costs = [CPU, TIME, PEAK].into_iter().flat_map(|cost| [(cost, two), (cost, four)]);
        let mut views: Vec<View> = costs.map(|(cost, ours)| view(cost, name, ours, &beside)).collect();
        views.extend([two, four].map(|ours| view(NETWORK, name, ours, &[])));
        race(session, name, job, views, &[thalweg, one, two, four]);
    }
    let name = "cluster.every_word";
    let peers = [("timely", Role::Peer), ("timely(p1)", Role::Aside), ("p1", Role::Aside)];
    let mut views: Vec<View> = [CPU, TIME, PEAK].map(|cost| view(cost, name, two, &peers)).into();
    views.push(view(NETWORK, name, two, &[]));
    let entrants = [one, two, ("timely(p1)", "timely", 1), ("timely", "timely", 2)];
    race(session, name, "every-word", views, &entrants);
}

/// Runs a race over a text.
fn race(session: &mut Session, name: &str, job: &'static str, mut views: Vec<View>, entrants: &[Entrant]) {
    views.retain(|view| session.selects(&view.name));
    if views.is_empty() {
        return;
    }
    let size = if session.options.quick { MEGABYTES_QUICK } else { MEGABYTES };
    let files = match Files::with_text(size) {
        Ok(files) => files,
        Err(error) => return session.errors.push(format!("{name}: {error}")),
    };
    let arguments = [files.text().into()];
    let expected = match files.run(entrants[0], job, &arguments) {
        Ok(row) => row.checksum,
        Err(error) => return session.errors.push(format!("{name}: {error}")),
    };
    let contestant = |entrant: &Entrant| {
        let (entrant, files, arguments) = (*entrant, &files, &arguments);
        let run = move || -> Outcome { files.run(entrant, job, arguments).map(Some) };
        Contestant::new(entrant.0, Role::Aside, 1, run).expecting(expected)
    };
    session.views(name, &views, 2, entrants.iter().map(contestant).collect());
    session.folders.push(files.0);
}

/// Processor time for each number, at a size of batches.
fn keyed(session: &mut Session, job: KeyedJob) {
    let job = if session.options.quick { KeyedJob { items: job.items / 10, ..job } } else { job };
    let name = format!("cluster.keyed.batch{}", job.batch);
    let entrants =
        |processes| -> [Entrant; 2] { [("ours", "ours", processes), ("timely", "timely", processes)] };
    for processes in [2, 1] {
        let name = format!("{name}.p{processes}");
        if !session.selects(&name) {
            continue;
        }
        let roles = vec![("ours", Role::Ours), ("timely", Role::Peer)];
        let view = View { name: name.clone(), measure: Measure::NsPerItem, of: CPU.2, roles };
        numbers(session, &name, &[view], job, &entrants(processes));
    }
}

/// The peak of memory in a long run: of the largest process.
fn peak(session: &mut Session, millions: u64) {
    let name = format!("cluster.peak.m{millions}.p2");
    if !session.selects(&name) {
        return;
    }
    let millions = if session.options.quick { 2 } else { millions };
    let job = KeyedJob { items: millions * 1_000_000, batch: 4096, window: 32, epoch: 4 };
    let roles = vec![("ours", Role::Ours), ("timely", Role::Aside)];
    let view = View { name: name.clone(), measure: Measure::Bytes, of: PEAK.2, roles };
    // Raw timely holds what it has read: a longer run needs more memory than others can spare.
    let all: [Entrant; 2] = [("ours", "ours", 2), ("timely", "timely", 2)];
    let entrants = if millions > 100 { &all[..1] } else { &all[..] };
    numbers(session, &name, &[view], job, entrants);
}

/// Runs a race of the keyed chain.
fn numbers(session: &mut Session, name: &str, views: &[View], job: KeyedJob, entrants: &[Entrant]) {
    let files = match Files::new() {
        Ok(files) => files,
        Err(error) => return session.errors.push(format!("{name}: {error}")),
    };
    let numbers = job.arguments();
    let contestant = |entrant: &Entrant| {
        let (entrant, files, numbers) = (*entrant, &files, &numbers);
        Contestant::new(entrant.0, Role::Aside, job.items, move || files.keyed(entrant, numbers).map(Some))
    };
    let expected = match files.keyed(entrants[0], &numbers) {
        Ok(row) => row.checksum,
        Err(error) => return session.errors.push(format!("{name}: {error}")),
    };
    let contestants = entrants.iter().map(|entrant| contestant(entrant).expecting(expected)).collect();
    session.views(name, views, 2, contestants);
    session.folders.push(files.0);
}

/// From a signal to one process until the last of the others has ended.
fn signals(session: &mut Session) {
    for (name, signal) in [("cluster.kill.p4", Signal::SIGKILL), ("cluster.stop.p4", Signal::SIGSTOP)] {
        if session.selects(name) {
            let run = move || -> Outcome {
                let took = cluster::signalled(4, signal, Duration::from_millis(500))?;
                Ok(Some(Row::new(took.as_secs_f64(), 0)))
            };
            session.figure(name, Measure::Ms, 2, vec![Contestant::new("ours", Role::Ours, 1, run)]);
        }
    }
}

/// The start and the end of four processes that have nothing to do.
fn empty(session: &mut Session) {
    let name = "cluster.empty.p4";
    if !session.selects(name) {
        return;
    }
    let files = match Files::new() {
        Ok(files) => files,
        Err(error) => return session.errors.push(format!("{name}: {error}")),
    };
    let run = || -> Outcome {
        let command = cluster::command(4, "ours", "empty", &[])?;
        process::run(&[command], files.0.path()).map(Some)
    };
    session.figure(name, Measure::Ms, 2, vec![Contestant::new("ours", Role::Ours, 1, run)]);
}

/// The folder of a race.
struct Files(TempDir);

impl Files {
    fn new() -> Result<Files, String> {
        TempDir::with_prefix("thalweg-bench-").map(Files).map_err(text)
    }

    fn with_text(megabytes: usize) -> Result<Files, String> {
        let files = Files::new()?;
        fs::write(files.text(), zipf(megabytes, WORDS)).map_err(text)?;
        Ok(files)
    }

    fn text(&self) -> PathBuf {
        self.0.path().join("text")
    }

    fn output(&self) -> PathBuf {
        self.0.path().join("output")
    }

    /// Runs a job that writes the output behind these arguments.
    fn run(&self, entrant: Entrant, job: &str, before: &[OsString]) -> Result<Row, String> {
        let arguments: Vec<OsString> = before.iter().cloned().chain([self.output().into()]).collect();
        self.measured(entrant, job, &arguments)
    }

    /// Runs the keyed chain.
    fn keyed(&self, entrant: Entrant, numbers: &[OsString]) -> Result<Row, String> {
        let arguments: Vec<OsString> =
            [self.output().into()].into_iter().chain(numbers.iter().cloned()).collect();
        self.measured(entrant, "keyed", &arguments)
    }

    fn measured(
        &self,
        (_, contestant, processes): Entrant,
        job: &str,
        arguments: &[OsString],
    ) -> Result<Row, String> {
        let command = cluster::command(processes, contestant, job, arguments)?;
        let mut row = process::run(&[command], self.0.path())?;
        row.checksum = checksum(&self.output()).map_err(text)?;
        fs::remove_file(self.output()).map_err(text)?;
        // Raw timely and one process write none.
        let network = network_file(&self.output());
        if let Ok(bytes) = fs::read_to_string(&network) {
            row.costs.size = bytes.parse().map_err(|_| format!("{bytes}: no number"))?;
            fs::remove_file(&network).map_err(text)?;
        }
        Ok(row)
    }
}

fn checksum(path: &Path) -> std::io::Result<u64> {
    let written = fs::read(path)?;
    let (words, rest) = written.as_chunks::<8>();
    let sum = words.iter().fold(0, |sum, word| fold(sum, u64::from_le_bytes(*word)));
    Ok(rest.iter().fold(sum, |sum, byte| fold(sum, u64::from(*byte))))
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}

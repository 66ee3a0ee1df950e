//! The processes of a run, and its settings.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::chain::SharedValues;
use crate::ending::Ending;
use crate::error::Error;
use crate::hosts::{self, Places};
use crate::mesh::{Identity, key_of};
use crate::report::Report;

/// The environment variable by which a launcher says that a run goes on with an earlier one: see [`Cluster::resume`].
pub const RESUME: &str = "THALWEG_RESUME";

/// The processes that a chain runs on, and which of them this is.
///
/// Each process runs the same program: it builds the same chains from the same arguments, and each chain is run by all
/// of them.
///
/// ```
/// use thalweg_cluster::Cluster;
///
/// let cluster = Cluster::alone(); // one process, no socket
/// assert_eq!((cluster.process(), cluster.processes()), (0, 1));
/// ```
#[derive(Clone)]
pub struct Cluster {
    addresses: Vec<String>,
    process: usize,
    pub(crate) settings: Settings,
    pub(crate) shared: Arc<Mutex<SharedValues>>,
    /// Of the last run.
    pub(crate) report: Arc<Mutex<Option<Report>>>,
    /// Of the run that goes on, or the last one.
    pub(crate) ending: Arc<Mutex<Weak<Ending>>>,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster")
            .field("addresses", &self.addresses)
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Batches between source and sink, of all processes together.
    pub window: Option<usize>,
    /// Batches of an epoch.
    pub epoch: Option<u32>,
    /// Maximum number of items of a batch.
    pub batch: usize,
    /// Maximum number of bytes of a batch of several items.
    pub batch_bytes: usize,
    pub patience: Duration,
    pub silence: Duration,
    pub stall: Duration,
    /// Bytes that a process holds.
    pub budget: Option<usize>,
    pub listener: Option<Arc<TcpListener>>,
    pub resume: bool,
    pub log_every: Duration,
    pub inputs: Vec<PathBuf>,
    /// Process 0 writes the report of each run to the standard error.
    pub prints_report: bool,
    secret: Vec<u8>,
    job: String,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            window: None,
            epoch: None,
            batch: 1024,
            batch_bytes: 64 << 10,
            patience: Duration::from_secs(30),
            silence: Duration::from_secs(5),
            stall: Duration::from_secs(10),
            budget: None,
            listener: None,
            resume: false,
            log_every: Duration::from_secs(1),
            inputs: Vec::new(),
            prints_report: false,
            secret: Vec::new(),
            job: String::new(),
        }
    }
}

impl Cluster {
    /// One process, which opens no socket.
    pub fn alone() -> Cluster {
        Cluster::with(vec!["this process".to_owned()], 0)
    }

    /// Process `process` of those at these addresses, each `HOST:PORT`, by number. An address is where its process listens
    /// while a run begins. With one address the process is [alone](Cluster::alone).
    ///
    /// Nothing is encrypted, and without a secret any program of the machine may connect. So addresses that are not of
    /// loopback interfaces need a secret of 16 bytes or more, by [`secret_file`](Cluster::secret_file) or
    /// [`secret`](Cluster::secret): else a run is refused, when it has looked up the names. An address that stands for all
    /// interfaces is always refused.
    ///
    /// # Errors
    /// There is no such process, two have one address, or an address is none or stands for all interfaces.
    pub fn new(
        addresses: impl IntoIterator<Item = impl Into<String>>,
        process: usize,
    ) -> Result<Cluster, Error> {
        let addresses: Vec<String> = addresses.into_iter().map(Into::into).collect();
        if process >= addresses.len() {
            let text = format!("process {process} of {}: processes are numbered from 0", addresses.len());
            return Err(Error::new(text));
        }
        hosts::check(&addresses)?;
        Ok(Cluster::with(addresses, process))
    }

    fn with(addresses: Vec<String>, process: usize) -> Cluster {
        Cluster {
            addresses,
            process,
            settings: Settings::default(),
            shared: Arc::default(),
            report: Arc::default(),
            ending: Arc::default(),
        }
    }

    /// Whether the run that this cluster or a clone makes ends early, since a process has failed or the sink needs no more. A function
    /// of a chain that takes seconds may ask, and return at once: what it returns then is not used. Else the end waits for it. So does an
    /// iterator that waits for a pipe or a socket: let it wait for a moment at a time, and ask in between.
    pub fn is_ending(&self) -> bool {
        let ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        ending.is_some_and(|ending| ending.is_stopped() || ending.is_enough())
    }

    /// The number of this process. Process 0 runs the stages that are not distributed, and has the result.
    pub fn process(&self) -> usize {
        self.process
    }

    /// The number of processes.
    pub fn processes(&self) -> usize {
        self.addresses.len()
    }

    /// Maximum number of batches that all processes together have between their source and the sink; each process has at least one.
    /// Default: 4 for each thread of all processes, at least 32 for each process.
    pub fn window(mut self, batches: usize) -> Cluster {
        self.settings.window = Some(batches);
        self
    }

    /// The batches of an epoch, by which processes tell each other how far they have come: more cost less and need a larger
    /// window. All processes must have the same. Default: 8, or a quarter of the window of a process if one is set, which
    /// is at most the whole.
    pub fn epoch(mut self, batches: u32) -> Cluster {
        self.settings.epoch = Some(batches);
        self
    }

    /// Maximum number of items of a batch, at least 1. Default: 1,024. A batch ends earlier by its [bytes](Cluster::batch_bytes).
    /// The results do not depend on it. All processes must have the same.
    pub fn batch(mut self, items: usize) -> Cluster {
        self.settings.batch = items.max(1);
        self
    }

    /// Maximum number of bytes of a batch of several items; a larger item is a batch by itself. Default: 64 KiB. Where a batch ends
    /// follows from the items of its part alone: an item of `from_iter` has the bytes of its encoding, and one of `from_parts`
    /// those of its type, without what it owns elsewhere, as long as [`Chain::weigh`](crate::Chain::weigh) says nothing else. All
    /// processes must have the same.
    pub fn batch_bytes(mut self, bytes: usize) -> Cluster {
        self.settings.batch_bytes = bytes;
        self
    }

    /// How long this process waits for the others when a run begins. Default: 30 s.
    pub fn patience(mut self, time: Duration) -> Cluster {
        self.settings.patience = time;
        self
    }

    /// How long another process may give no sign of life before the run fails. All processes must have the same. Default: 5 s.
    pub fn silence(mut self, time: Duration) -> Cluster {
        self.settings.silence = time.max(Duration::from_millis(10));
        self
    }

    /// How long no batch may move while no function of the chain runs in any process before the run fails, with what each stage
    /// waits for. All processes must have the same. Default: 10 s.
    pub fn stall(mut self, time: Duration) -> Cluster {
        self.settings.stall = time.max(Duration::from_millis(10));
        self
    }

    /// Maximum number of bytes that a process holds: of the states of keys, of shared values and of batches.
    ///
    /// - The states of the keys that live in the process have the bytes that [`Keyed::weigh`](crate::Keyed::weigh) says, or those of
    ///   their types, which is a lower bound. They are counted behind each batch.
    /// - Shared values have the bytes of their encoding.
    /// - Batches have what is left. All batches between source and sink may be in one process, so each process that
    ///   reads takes the others for as full as itself, and an equal share of what is left: the [window](Cluster::window) shrinks to as many batches as that is of the
    ///   largest seen, by its encoding. A process has at least one batch, and a batch that is larger than all before counts only when it
    ///   is made.
    ///
    /// The run fails as soon as the states and the shared values of a process exceed the budget. What users' functions hold is
    /// not counted, nor are the values that `fold` and `combine` send at their end, nor the buffers of connections.
    /// Default: no limit, and nothing is counted.
    pub fn budget(mut self, bytes: usize) -> Cluster {
        self.settings.budget = Some(bytes);
        self
    }

    /// Listens here instead of at the address of this process, which a program has that was given a socket.
    pub fn listener(mut self, listener: TcpListener) -> Cluster {
        self.settings.listener = Some(Arc::new(listener));
        self
    }

    /// A secret that all processes know: others are refused. It is never sent. One that stands in the text of a program is
    /// none: see [`secret_file`](Cluster::secret_file).
    pub fn secret(mut self, secret: impl Into<Vec<u8>>) -> Cluster {
        self.settings.secret = secret.into();
        self
    }

    /// What the program does, with all that its arguments change: a process with another text is refused. It is compared
    /// together with the program and the stages of the chain.
    pub fn job(mut self, text: impl Into<String>) -> Cluster {
        self.settings.job = text.into();
        self
    }

    pub(crate) fn printing_report(mut self, prints: bool) -> Cluster {
        self.settings.prints_report = prints;
        self
    }

    /// Goes on with the file that an earlier run has not finished: see [`Chain::write_file`](crate::Chain::write_file), with which
    /// the chain must end. All processes must have the same. Default: false; [`from_env`](Cluster::from_env) has it from
    /// `thalweg launch --resume`, or the variable `THALWEG_RESUME` if that is 1.
    pub fn resume(mut self, resume: bool) -> Cluster {
        self.settings.resume = resume;
        self
    }

    /// A file that the chain reads, as process 0 sees it. A run that [resumes](Cluster::resume) another one fails if the
    /// length or the time of its last modification is another.
    pub fn input(mut self, path: impl Into<PathBuf>) -> Cluster {
        self.settings.inputs.push(path.into());
        self
    }

    /// How often, at most, a [file](crate::Chain::write_file) is synced to disk and its log gets an entry; only what comes behind the last
    /// entry is made again when a run resumes. Zero: at the end of each [epoch](Cluster::epoch). Default: 1 s.
    pub fn log_every(mut self, time: Duration) -> Cluster {
        self.settings.log_every = time;
        self
    }

    /// The resume flag of the environment.
    pub(crate) fn resume_by_env(self) -> Cluster {
        let resume = std::env::var_os(RESUME).is_some_and(|value| value == "1");
        self.resume(resume)
    }

    /// The job, and the names of shared values: what a file may depend on beside the stages of the chain.
    pub(crate) fn work(&self) -> [u8; 32] {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let names = shared.waiting.iter().map(|value| value.name());
        hash(std::iter::once(self.settings.job.as_str()).chain(names))
    }

    pub(crate) fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Looks up where all processes are.
    pub(crate) fn places(&self) -> Result<Places, Error> {
        let Settings { secret, listener, .. } = &self.settings;
        if let Some(address) = listener.as_ref().and_then(|listener| listener.local_addr().ok()) {
            hosts::is_safe(self.process, &format!("the socket {address}"), address.ip(), secret)?;
        }
        Places::resolve(&self.addresses, secret)
    }

    /// How processes of this run know each other. `shape`: the stages of the chain. The limits are compared too: how often a
    /// process gives a sign of life follows from its own.
    pub(crate) fn identity(&self, shape: &str) -> Identity {
        let Settings { job, silence, stall, resume, .. } = &self.settings;
        let limits = format!("{silence:?} {stall:?} {resume}");
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = shared.waiting.iter().map(|value| value.name());
        let program = hash([env!("CARGO_PKG_VERSION"), job, shape, &limits].into_iter().chain(shared));
        Identity {
            process: self.process as u32,
            processes: self.processes() as u32,
            program,
            key: key_of(&self.settings.secret),
        }
    }
}

/// A hash of texts.
fn hash<'a>(texts: impl Iterator<Item = &'a str>) -> [u8; 32] {
    let mut hash = blake3::Hasher::new();
    for text in texts {
        hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_refused_by_name() {
        for (address, why) in [
            ("0.0.0.0:1", "it stands for all interfaces"),
            ("[::]:1", "it stands for all interfaces"),
            ("127.0.0.1", "no address of the form HOST:PORT"),
            ("127.0.0.1:99999", "no address of the form HOST:PORT"),
        ] {
            let error = Cluster::new(["127.0.0.1:1", address], 0).unwrap_err();
            assert!(error.to_string().contains(why) && error.process() == Some(1), "{error}");
        }
        assert!(Cluster::new(["127.0.0.1:1", "[::1]:1", "localhost:2", "10.0.0.1:1"], 2).is_ok());
        assert!(
            Cluster::new(["127.0.0.1:1", "127.0.0.1:1"], 0).unwrap_err().to_string().contains("one address")
        );
        assert!(Cluster::new(["127.0.0.1:1"], 1).unwrap_err().to_string().contains("process 1 of 1"));
    }

    #[test]
    fn identities_differ_with_the_job_and_the_chain() {
        let cluster = Cluster::alone();
        let same = cluster.identity("map").program;
        assert_eq!(same, Cluster::alone().identity("map").program);
        assert!(
            same != cluster.identity("mapx").program
                && same != cluster.clone().job("x").identity("map").program
        );
    }
}

//! The file that a chain ends with, and how a later run goes on with it.
//!
//! ```text
//! open ─▶ (write ─▶ ... ─▶ sync, log)* ─▶ finish: write, sync, log ─▶ all others done ─▶ commit: rename ─▶ done
//!   └─────────── an error, or the end of the process: PATH.partial and PATH.resume stay ──────────┘
//! ```
//!
//! An entry of the log says: the first `bytes` of PATH.partial are on the disk, and are what the batches before the ticket
//! `next` give. The data is synced before the entry is written, so an entry never says too much, and the log itself needs no
//! sync: after a crash of the machine the last entries may be missing, and a resumed run makes a little more again.
//!
//! The rename decides whether the run has succeeded: process 0 renames when all others are done, and says that it is done
//! after that, for which they wait.

mod head;
mod log;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use thalweg_files::{KeptFile, OutFile};

use crate::cluster::Cluster;
use crate::error::Error;
use crate::ticket::Ticket;
use head::Head;
use log::{Entry, Log};

/// Bytes that are collected before they are written.
const BUFFER: usize = 1 << 16;

/// How a run goes on with what an earlier one has written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Resumes {
    /// It makes nothing of the batches before the ticket. The bytes of a batch must not depend on those before it.
    ByTicket,
    /// It makes everything again, compares it with what is written, and adds what is behind it.
    Replays,
}

/// The file that a chain ends with, in all processes; process 0 opens it.
pub(crate) struct FileOutput {
    path: PathBuf,
    resumes: Resumes,
    open: Mutex<Option<Open>>,
}

/// The file while process 0 writes it.
struct Open {
    file: KeptFile,
    log: LogFile,
    /// What comes from here on is made again; how many bytes of it are left.
    again: Option<(BufReader<File>, u64)>,
    /// Bytes of whole items, or batches, that are not written.
    buffer: Vec<u8>,
    /// Bytes of the file, without those of the buffer.
    bytes: u64,
    /// The ticket behind the last batch in file and buffer.
    next: Ticket,
    /// The last entry, and when it was written.
    logged: Entry,
    since: Instant,
    every: Duration,
}

impl FileOutput {
    pub fn new(path: &Path, resumes: Resumes) -> FileOutput {
        FileOutput { path: path.to_owned(), resumes, open: Mutex::new(None) }
    }

    /// Opens the file in process 0, before the run. Returns the ticket with which the run begins. `shape`: the stages of the chain.
    pub fn open(&self, cluster: &Cluster, shape: &str) -> Result<Ticket, Error> {
        let of = format!("process 0 ({})", cluster.addresses()[0]);
        let failed = |cause: io::Error| {
            let text = format!("{of}, stage write_file: {cause}");
            Error::of(0, text).with_source(Some(cause.into()))
        };
        let refused = |why: Refused| match why {
            Refused::Io(cause) => failed(cause),
            Refused::Log(path, why) => {
                let text = format!("{of}: cannot resume: {}: {why}", path.display());
                Error::of(0, text)
                    .with_help("without `resume` the run begins anew and replaces the unfinished file")
            }
        };
        let settings = &cluster.settings;
        let head = Head::of(cluster, shape).map_err(failed)?;
        let mut open = Open::new(&self.path, &head, settings.resume, settings.log_every).map_err(refused)?;
        if self.resumes == Resumes::Replays {
            open.replay().map_err(failed)?;
        }
        let start = open.next;
        *self.lock() = Some(open);
        Ok(start)
    }

    /// Calls a function that adds bytes to a buffer, and takes what it has added if it succeeds. `next`: these are the last bytes before
    /// this ticket, so the log gets an entry if it is time.
    pub fn add(
        &self,
        encode: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
        next: Option<Ticket>,
    ) -> io::Result<()> {
        let mut open = self.lock();
        let Some(open) = &mut *open else { return Err(closed()) };
        // What a function has left that fails or panics belongs to no whole item: the run fails, and no more is written.
        encode(&mut open.buffer)?;
        if let Some(next) = next {
            open.next = next;
            if open.since.elapsed() >= open.every {
                return open.log();
            }
        }
        if open.buffer.len() >= BUFFER { open.flush() } else { Ok(()) }
    }

    /// Writes and syncs what is left: nothing more comes.
    pub fn finish(&self) -> io::Result<()> {
        let mut open = self.lock();
        let Some(open) = &mut *open else { return Err(closed()) };
        open.flush()?;
        match &open.again {
            Some((_, left)) => Err(io::Error::other(format!(
                "{}: this run has made {left} bytes less than the file has: the program or its input has changed",
                open.file.partial().display()
            ))),
            None => open.log(),
        }
    }

    /// Gives the finished file its name, and removes the log.
    pub fn commit(&self) -> io::Result<()> {
        let Some(open) = self.lock().take() else { return Err(closed()) };
        open.file.commit()?;
        // Without its part of a file, a log that is left says nothing.
        _ = fs::remove_file(open.log.path);
        Ok(())
    }

    /// What the user can do after a run that has failed, if anything is written.
    pub fn help(&self) -> Option<String> {
        let open = self.lock();
        let open = open.as_ref().filter(|open| open.logged.bytes > 0)?;
        Some(format!(
            "{} has the first {} bytes: `thalweg launch --resume` or `Cluster::resume` goes on there",
            open.file.partial().display(),
            open.logged.bytes
        ))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn closed() -> io::Error {
    io::Error::other("the file is not open: please report this")
}

/// Why a file cannot be opened.
enum Refused {
    Io(io::Error),
    /// The log at this path does not fit.
    Log(PathBuf, String),
}

impl<E: Into<io::Error>> From<E> for Refused {
    fn from(error: E) -> Refused {
        Refused::Io(error.into())
    }
}

/// The log that an earlier run has left of a file; `None`: there is none.
fn found(log: &Path, file: &KeptFile, head: &Head) -> Result<Option<Log>, Refused> {
    let refused = |why| Err(Refused::Log(log.to_owned(), why));
    let bytes = match fs::read(log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| named("reading", log, error))?,
    };
    let Some(found) = Log::read(&bytes) else {
        return refused("it is no log of this version, or damaged".to_owned());
    };
    if let Some(why) = found.head.differs(head) {
        return refused(why);
    }
    let (has, says) = (file.bytes()?, found.last.bytes);
    if has < says {
        let partial = file.partial().display();
        return refused(format!("{partial} has {has} bytes, and the log says {says}"));
    }
    Ok(Some(found))
}

impl Open {
    fn new(path: &Path, head: &Head, resume: bool, every: Duration) -> Result<Open, Refused> {
        let log_path = KeptFile::beside(path, "resume")?;
        // Without one, a log is that of a run which has finished its file.
        let is_unfinished = fs::symlink_metadata(KeptFile::beside(path, "partial")?).is_ok();
        // Its lock keeps others from both.
        let mut file = KeptFile::open(path)?;
        let found = if resume && is_unfinished { found(&log_path, &file, head)? } else { None };
        let (log, last) = match found {
            Some(found) => (LogFile::reopen(log_path, &found)?, found.last),
            None => (LogFile::create(log_path, head)?, Entry::default()),
        };
        file.truncate(last.bytes)?;
        Ok(Open {
            file,
            log,
            again: None,
            buffer: Vec::new(),
            bytes: last.bytes,
            next: last.next,
            logged: last,
            since: Instant::now(),
            every,
        })
    }

    /// All is made again.
    fn replay(&mut self) -> io::Result<()> {
        self.next = Ticket::first_of(0);
        if self.bytes > 0 {
            self.again = Some((BufReader::new(File::open(self.file.partial())?), self.bytes));
        }
        Ok(())
    }

    /// Writes the buffer, but for what the file has.
    fn flush(&mut self) -> io::Result<()> {
        let mut new = self.buffer.as_slice();
        if let Some((reader, left)) = &mut self.again {
            let (again, rest) = new.split_at(new.len().min(usize::try_from(*left).unwrap_or(usize::MAX)));
            let mut old = vec![0; again.len()];
            reader.read_exact(&mut old)?;
            if let Some(at) = old.iter().zip(again).position(|(old, new)| old != new) {
                let (at, path) = (self.bytes - *left + at as u64, self.file.partial().display());
                let text = format!(
                    "{path}: byte {at} differs from what this run makes: the program or its input has changed"
                );
                return Err(io::Error::other(text));
            }
            *left -= again.len() as u64;
            if *left == 0 {
                self.again = None;
            }
            new = rest;
        }
        self.file.append(new)?;
        self.bytes += new.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Syncs all and says so in the log, unless there is nothing new.
    fn log(&mut self) -> io::Result<()> {
        self.flush()?;
        let entry = Entry { next: self.next, bytes: self.bytes };
        if self.again.is_none() && entry != self.logged {
            self.file.sync()?;
            self.log.add(entry)?;
            self.logged = entry;
        }
        self.since = Instant::now();
        Ok(())
    }
}

/// The log, open at its end.
struct LogFile {
    path: PathBuf,
    file: File,
    writer: log::Writer,
}

impl LogFile {
    /// A new log, on the disk with all of its head: a log with a part of one is damaged.
    fn create(path: PathBuf, head: &Head) -> io::Result<LogFile> {
        let (bytes, writer) = log::Writer::new(head)?;
        let mut file = OutFile::create(&path, true)?;
        file.write_all(&bytes)?;
        file.commit()?;
        LogFile::open(path, writer)
    }

    /// A log that was found, without what is behind its last entry.
    fn reopen(path: PathBuf, found: &Log) -> io::Result<LogFile> {
        let log = LogFile::open(path, found.writer())?;
        log.file.set_len(found.length as u64)?;
        Ok(log)
    }

    fn open(path: PathBuf, writer: log::Writer) -> io::Result<LogFile> {
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.map_err(|error| named("opening", &path, error))?;
        Ok(LogFile { path, file, writer })
    }

    fn add(&mut self, entry: Entry) -> io::Result<()> {
        let bytes = self.writer.entry(entry);
        self.file.write_all(&bytes).map_err(|error| named("writing", &self.path, error))
    }
}

/// An error with what failed, and where.
fn named(doing: &str, path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{doing} {}: {error}", path.display()))
}

//! Chains that end with a file.

use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::batch::{Cause, guarded};
use super::keyed::merge;
use super::local::sink;
use super::plan::Step;
use super::{Chain, Local, LocalOutput};
use crate::order::Whole;
use crate::output::{FileOutput, Resumes};
use crate::ticket::Ticket;

impl<'env, T: Serialize + DeserializeOwned + Send + 'static> Chain<'env, T> {
    /// Writes a file in process 0: a function appends the bytes of each item. The file has its name when the run has succeeded
    /// in all processes, and is on the disk then.
    ///
    /// Until then the bytes are in PATH.partial. [Now and then](crate::Cluster::log_every) this is synced to disk and PATH.resume,
    /// a log beside it, gets an entry. If the run fails, both stay, and a run with [`resume`](crate::Cluster::resume) goes on behind
    /// the last entry, with any number of processes: it does not open the parts that are done, and reads and drops
    /// what the part at that place has before it. The chain, the [job](crate::Cluster::job), the size of batches and the
    /// [inputs](crate::Cluster::input) must be those of the run that failed: what differs is named. Without a log, or if
    /// the file of its run was finished, the run begins anew. The functions cannot be compared: a program that was changed may resume if it
    /// makes the same of what is done.
    ///
    /// Behind keyed stages, which have states, a resumed run makes everything again: it compares that with what is written, and adds what
    /// is behind it. A difference is an error.
    ///
    /// Without `resume`, what an earlier run has left is replaced.
    ///
    /// ```
    /// use std::io::Write;
    /// use thalweg_cluster::Cluster;
    ///
    /// let folder = std::env::temp_dir().join(format!("thalweg-squares-{}", std::process::id()));
    /// std::fs::create_dir_all(&folder)?;
    /// let path = folder.join("squares.txt");
    /// let squares = |cluster: Cluster, good: u64| {
    ///     cluster
    ///         .from_parts(4, |part| 100 * part as u64..100 * (part as u64 + 1))
    ///         .try_par_map(move |n| if n < good { Ok(n * n) } else { Err("too large") })
    ///         .write_file(&path, |out, square| writeln!(out, "{square}"))
    ///         .run()
    /// };
    /// let failed = squares(Cluster::alone().batch(10), 350).unwrap_err();
    /// assert!(failed.to_string().ends_with("stage try_par_map, batch 5 of part 3: failed: too large"));
    /// squares(Cluster::alone().batch(10).resume(true), 400)?;
    /// assert_eq!(std::fs::read_to_string(folder.join("squares.txt"))?.lines().last(), Some("159201"));
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Of the run: the path is that of a folder or a device, or in a folder that cannot be written, which is found before the
    /// source is read; the disk is full; or another process writes the file.
    pub fn write_file(
        self,
        path: impl AsRef<Path>,
        encode: impl Fn(&mut Vec<u8>, T) -> io::Result<()> + Send + 'env,
    ) -> LocalOutput<'env, ()> {
        // A keyed stage has state, and its shares of batches are of every process.
        let is_keyed = matches!(self.plan.step, Step::Every);
        let resumes = if is_keyed { Resumes::Replays } else { Resumes::ByTicket };
        let file = Arc::new(FileOutput::new(path.as_ref(), resumes));
        let mut plan = self.send_home("write_file");
        plan.file = Some(file.clone());
        let epoch = plan.flow.window.epoch();
        let (plan, stream) = sink(plan, |Whole { ticket, last, pieces }, made| {
            made.push((ticket, last, merge::<T>("write_file", ticket, pieces)?.items));
            Ok(())
        });
        let write = move |(ticket, last, items): (Ticket, bool, Vec<T>)| -> Result<(), Cause> {
            let next = ticket.next(last);
            let encode = |out: &mut Vec<u8>| items.into_iter().try_for_each(|item| encode(out, item));
            let ends_epoch = next.time(epoch) > ticket.time(epoch);
            Ok(guarded("write_file", ticket, || Ok(file.add(encode, ends_epoch.then_some(next))?))?)
        };
        LocalOutput { plan, output: stream.for_each(write).named("write_file") }
    }
}

impl<'env, T: Send + 'env> Local<'env, T> {
    /// Writes a file in process 0, as [`Chain::write_file`] does behind keyed stages: those in process 0 may have state too.
    ///
    /// ```
    /// use std::io::Write;
    /// use thalweg_cluster::Cluster;
    ///
    /// let path = std::env::temp_dir().join(format!("thalweg-counts-{}", std::process::id()));
    /// Cluster::from_env()?
    ///     .from_iter(["to", "be", "to"].map(str::to_owned))
    ///     .key_by(String::clone)
    ///     .fold(|| 0, |count, _| *count += 1)
    ///     .filter(|(_, count)| *count > 1)
    ///     .write_file(&path, |out, (word, count)| writeln!(out, "{word} {count}"))
    ///     .run()?;
    /// assert_eq!(std::fs::read_to_string(&path)?, "to 2\n");
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Of the run: those of [`Chain::write_file`], and a difference.
    pub fn write_file(
        self,
        path: impl AsRef<Path>,
        mut encode: impl FnMut(&mut Vec<u8>, T) -> io::Result<()> + Send + 'env,
    ) -> LocalOutput<'env, ()> {
        let file = Arc::new(FileOutput::new(path.as_ref(), Resumes::Replays));
        let Local { mut plan, stream } = self;
        plan.file = Some(file.clone());
        plan.shape.push_str(" | write_file");
        // Items have no tickets here: as many as an epoch may have stand for one.
        let settings = &plan.cluster.settings;
        let epoch = settings.batch as u64 * u64::from(plan.flow.window.epoch());
        let (by_time, mut items) = (!settings.log_every.is_zero(), 0u64);
        let write = move |item| -> Result<(), Cause> {
            items += 1;
            let ends_epoch = by_time || items.is_multiple_of(epoch);
            Ok(file.add(|out| encode(out, item), ends_epoch.then_some(Ticket::first_of(0)))?)
        };
        LocalOutput { plan, output: stream.for_each(write).named("write_file") }
    }
}

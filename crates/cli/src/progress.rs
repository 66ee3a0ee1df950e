//! The display of a run on standard error: a progress bar, if that is a terminal that can show it, or the live view.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use thalweg::embed::graph::shown;
use thalweg_dedup::Observer;

use crate::standard::eprint;
use crate::watch::{Watch, screen};

/// A progress bar, hidden if standard error is not a terminal, or a dumb one, or if the live view replaces it.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    watch: Option<Arc<Watch>>,
}

impl Progress {
    /// Nothing.
    pub fn hidden() -> Self {
        Progress { bar: ProgressBar::hidden(), watch: None }
    }

    /// The live view.
    pub fn watching(watch: Watch) -> Self {
        Progress { bar: ProgressBar::hidden(), watch: Some(Arc::new(watch)) }
    }

    /// A bar for `total` bytes, or a counter of bytes if the total is unknown.
    pub fn new(total: Option<u64>) -> Self {
        if !screen::is_possible() {
            return Progress { bar: ProgressBar::hidden(), watch: None };
        }
        let bar = match total {
            Some(total) => ProgressBar::new(total).with_style(style(
                "{elapsed_precise} [{bar:40}] {bytes}/{total_bytes} {bytes_per_sec}, {eta} left",
            )),
            None => ProgressBar::new_spinner()
                .with_style(style("{elapsed_precise} {spinner} {bytes} {bytes_per_sec}")),
        };
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress { bar, watch: None }
    }

    /// A bar for `total` iterations, or a counter of iterations if the total is unknown.
    pub fn steps(total: Option<u64>) -> Self {
        if !screen::is_possible() {
            return Progress { bar: ProgressBar::hidden(), watch: None };
        }
        let bar = match total {
            Some(total) => ProgressBar::new(total)
                .with_style(style("{elapsed_precise} [{bar:40}] {pos}/{len} iterations, {eta} left")),
            None => {
                ProgressBar::new_spinner().with_style(style("{elapsed_precise} {spinner} {pos} iterations"))
            }
        };
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress { bar, watch: None }
    }

    /// A bar for `total` cells of a matrix, or a counter of cells if the total is unknown.
    pub fn cells(total: Option<u64>) -> Self {
        let progress = Progress::steps(total);
        progress.bar.set_style(match total {
            Some(_) => style("{elapsed_precise} [{bar:40}] {percent} % of {human_len} cells, {eta} left"),
            None => style("{elapsed_precise} {spinner} {pos} cells"),
        });
        progress
    }

    /// Wraps `input` to count the bytes that are read.
    pub fn read<R: Read>(&self, input: R) -> impl Read + use<R> {
        self.bar.wrap_read(input)
    }

    /// Adds to the count of bytes.
    pub fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    /// Sets the number of iterations done.
    pub fn reach(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Prints a line to standard error, above the bar.
    pub fn note(&self, text: &str) {
        self.bar.suspend(|| eprint(text));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Removes the bar, or the live view; if the run has failed, the last frame of the view stays.
    pub fn end<T, E>(&self, ran: &Result<T, E>) {
        self.finish();
        if let Some(watch) = &self.watch {
            watch.stop(ran.is_err());
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

impl Observer for Progress {
    fn bytes(&mut self, count: u64) {
        self.advance(count);
    }

    fn skipped(&mut self, path: &Path, why: &str) {
        self.note(&format!("warning: skipped {}: {why}", shown(path)));
    }
}

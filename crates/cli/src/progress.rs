//! A progress bar on standard error, only where that is a terminal.

use std::io::{IsTerminal, Read, stderr};
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use thalweg_dedup::Observer;

use crate::standard::complain;

/// A bar, or nothing.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar towards `total` bytes, or a count where the total is not known.
    pub fn new(total: Option<u64>) -> Self {
        if !stderr().is_terminal() {
            return Progress { bar: ProgressBar::hidden() };
        }
        let bar = match total {
            Some(total) => ProgressBar::new(total).with_style(style(
                "{elapsed_precise} [{bar:40}] {bytes}/{total_bytes} {bytes_per_sec}, {eta} left",
            )),
            None => ProgressBar::new_spinner()
                .with_style(style("{elapsed_precise} {spinner} {bytes} {bytes_per_sec}")),
        };
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress { bar }
    }

    /// A bar towards so many steps, or a count of them.
    pub fn steps(total: Option<u64>) -> Self {
        if !stderr().is_terminal() {
            return Progress { bar: ProgressBar::hidden() };
        }
        let bar = match total {
            Some(total) => ProgressBar::new(total)
                .with_style(style("{elapsed_precise} [{bar:40}] {pos}/{len} iterations, {eta} left")),
            None => {
                ProgressBar::new_spinner().with_style(style("{elapsed_precise} {spinner} {pos} iterations"))
            }
        };
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress { bar }
    }

    /// Counts what is read through `input`.
    pub fn read<R: Read>(&self, input: R) -> impl Read + use<R> {
        self.bar.wrap_read(input)
    }

    /// Counts further bytes.
    pub fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
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
        self.bar.suspend(|| complain(&format!("warning: skipped {}: {why}", path.display())));
    }
}

//! Predictions as text.

use super::{Beside, PaperPrediction, Prediction, Predictions, Row, StagePrediction};
use std::fmt;
use std::time::Duration;
use thalweg_graph::shown;
use thalweg_queueing::{Limit, Workers};
use thalweg_trace::table::Table;
use thalweg_trace::units;

/// The gain from which on the text names what more of a resource would give.
pub(crate) const WORTH: f64 = 1.05;

/// The heads of the table of stages; those of numbers begin with `#`.
pub(crate) const HEADS: [&str; 10] = [
    "node",
    "#threads",
    "#busy",
    "#measured",
    "#waiting",
    "#measured",
    "#for items",
    "#for room",
    "#time of an item",
    "#measured",
];

impl fmt::Display for Prediction {
    /// The throughput beside the measured one, the nodes as a table, and what more threads, room or tokens would give.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Beside { predicted, measured } = self.throughput;
        writeln!(
            f,
            "prediction: {} firings of `{}` with {}, measured {} ({:+.1} %); model: {}",
            units::rate(predicted),
            shown(&self.source),
            self.threads_text(),
            units::rate(measured),
            100.0 * self.throughput.error(),
            self.predicted.model
        )?;
        let bound = units::rate(self.bound());
        writeln!(f, "bound: {bound} without any wait (equations 9, 10); {}", self.limit_text())?;
        writeln!(f, "items in flight: {}", self.tokens_text())?;
        let papers: Vec<String> = self.papers().iter().map(PaperPrediction::text).collect();
        writeln!(f, "other models: {}", papers.join(", "))?;
        writeln!(f, "threads that wait: {:.2}, measured {:.2}\n", self.idle.predicted, self.idle.measured)?;
        writeln!(f, "{}", self.stage_table())?;
        for line in self.gain_lines() {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

impl Prediction {
    /// The threads, in words.
    pub(crate) fn threads_text(&self) -> String {
        match &self.model.settings.workers {
            Workers::Shared(1) => "1 thread for all nodes".to_owned(),
            Workers::Shared(p) => format!("{p} threads for all nodes"),
            Workers::Assigned(_) => format!("{} threads with nodes of their own", self.model.threads()),
            Workers::Pools(pools) => {
                let pools: Vec<String> = pools.iter().map(u32::to_string).collect();
                format!("threads {} of the nodes", pools.join(" "))
            }
        }
    }

    /// The limit of items in flight, in words.
    pub(crate) fn tokens_text(&self) -> String {
        match self.model.settings.tokens {
            Some(tokens) => format!("at most {tokens}, the run's tokens"),
            None => "as many as channels and reorder windows hold".to_owned(),
        }
    }

    /// What limits the throughput, in words.
    pub(crate) fn limit_text(&self) -> String {
        match self.predicted.limit {
            Limit::Stage(stage) => format!("the threads of `{}` limit it", shown(&self.stages[stage].name)),
            Limit::Worker(worker) => format!("the nodes of worker {worker} limit it"),
            Limit::Tokens => "the tokens limit the throughput".to_owned(),
            _ => "the threads of all nodes limit it".to_owned(),
        }
    }

    fn stage_table(&self) -> Table {
        let heads = HEADS.map(|head| head.trim_start_matches('#'));
        let mut table = Table::new(&heads);
        self.stages.iter().for_each(|stage| table.row(stage.cells()));
        table
    }

    /// What more threads, room or tokens would give, where it is much.
    pub(crate) fn gain_lines(&self) -> impl Iterator<Item = String> {
        let lines = [self.more_threads(), self.more_room(), self.more_tokens()];
        lines.into_iter().flatten()
    }

    /// What more threads would give, where it is much.
    pub(crate) fn more_threads(&self) -> Option<String> {
        let (threads, gain) = self.threads_gain().filter(|(_, gain)| *gain >= WORTH)?;
        Some(format!("{threads} threads would give {}", self.gain_text(gain)))
    }

    /// What more room in all channels would give, where it is much.
    pub(crate) fn more_room(&self) -> Option<String> {
        let (factor, gain) = self.room_gain().filter(|(_, gain)| *gain >= WORTH)?;
        let gain = self.gain_text(gain);
        Some(format!("{factor} times the room in all channels would give {gain}, as much as any room"))
    }

    /// What more tokens would give, where it is much.
    pub(crate) fn more_tokens(&self) -> Option<String> {
        let (tokens, gain) = self.tokens_gain().filter(|(_, gain)| *gain >= WORTH)?;
        Some(format!("{tokens} tokens would give {}, as much as any number", self.gain_text(gain)))
    }

    fn gain_text(&self, gain: f64) -> String {
        let rate = units::rate(gain * self.throughput.predicted);
        let (gain, model) = (units::ratio(gain), self.predicted.model);
        format!("{gain} times the throughput, {rate} ({model}: {})", model.equation())
    }
}

impl PaperPrediction {
    /// The model's name and throughput, and why it need not be near.
    fn text(&self) -> String {
        let (name, rate) = (self.name, units::rate(self.throughput));
        match self.outside() {
            Some(outside) => format!("{name} {rate} (outside its domain: {outside})"),
            None => format!("{name} {rate}"),
        }
    }
}

impl StagePrediction {
    /// The cells of its row, in the order of the heads of the table.
    pub(crate) fn cells(&self) -> Vec<String> {
        let dash = || "-".to_owned();
        let share = |share: Option<f64>| share.map_or_else(dash, units::percent);
        let waiting = self.waiting_threads();
        let threads = |of: fn(Beside) -> f64| waiting.map_or_else(dash, |wait| format!("{:.2}", of(wait)));
        let time = |time: Option<f64>| time.map_or_else(dash, seconds);
        vec![
            shown(&*self.name).to_string(),
            self.threads.to_string(),
            format!("{:.2}", self.busy.predicted),
            format!("{:.2}", self.busy.measured),
            threads(Beside::predicted),
            threads(Beside::measured),
            share(self.starved),
            share(self.blocked),
            time(self.predicted_wait()),
            time(self.measured_wait()),
        ]
    }
}

/// A number of seconds as a time: the longest where it is out of range.
pub(crate) fn seconds(seconds: f64) -> String {
    units::time(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

impl fmt::Display for Predictions {
    /// A table with a row for each combination.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "firings of `{}` per second; measured {}. Bound: equations 9, 10. Paper: equation 4 for threads of each node, \
             equations 7, 8 for threads of all\n",
            shown(&self.source),
            units::rate(self.measured)
        )?;
        let heads =
            ["threads", "capacity", "tokens", "predicted", "of measured", "bound", "paper", "limited by"];
        let mut table = Table::new(&heads).text_last();
        self.rows.iter().for_each(|row| table.row(row.cells(self.measured)));
        write!(f, "{table}")
    }
}

impl Row {
    fn cells(&self, measured: f64) -> Vec<String> {
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        vec![
            if self.is_pools() { format!("{} a node", self.threads()) } else { self.threads().to_string() },
            number(self.capacity()),
            number(self.tokens()),
            units::rate(self.throughput()),
            units::ratio(self.throughput() / measured),
            units::rate(self.bound()),
            units::rate(self.paper()),
            self.limit().map_or_else(|| "all threads".to_owned(), |name| shown(name).to_string()),
        ]
    }
}

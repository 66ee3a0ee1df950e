//! Computes the line of a figure from its records.

use crate::noise::LIMIT;
use crate::race::{Record, Role};
use crate::ratio::Ratio;
use crate::targets::{Target, target};

/// The quantity that a figure measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Nanoseconds per item.
    NsPerItem,
    /// The yardstick's time divided by the contestant's: an efficiency or a speed-up.
    Speed,
    /// The contestant's time per item divided by the yardstick's.
    Slowdown,
    /// Processor time above the yardstick's, in per cent of it.
    CpuOverhead,
    /// Time above the yardstick's, in per cent of it.
    Overhead,
    /// Milliseconds of processor time.
    CpuMs,
    /// Milliseconds.
    Ms,
    /// Bytes.
    Bytes,
    /// What the virtual host has counted, with the name of one: no clock has measured it.
    Counted(&'static str),
}

impl Measure {
    fn lower_is_better(self) -> bool {
        self != Measure::Speed
    }

    /// The unit after a value.
    pub fn unit(self) -> &'static str {
        match self {
            Measure::NsPerItem => "ns",
            Measure::Speed => "",
            Measure::Slowdown => "x",
            Measure::CpuOverhead | Measure::Overhead => "%",
            Measure::CpuMs | Measure::Ms => "ms",
            Measure::Bytes => "B",
            Measure::Counted(unit) => unit,
        }
    }
}

/// The description of a contestant that a line needs after the race.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its role in the figure.
    pub role: Role,
    /// Items of one run.
    pub items: u64,
    /// The contestant that its time is compared with.
    pub yardstick: &'static str,
}

/// The yardstick of efficiencies: a perfect split of the work over plain threads.
pub const SPLIT: &str = "split";

/// The largest efficiency that an undisturbed split allows for.
pub const MOST_EFFICIENT: f64 = 1.02;

/// The result of a figure.
#[derive(Clone, Debug)]
pub struct Line {
    /// The figure's name.
    pub name: String,
    /// The quantity measured.
    pub measure: Measure,
    /// Our value.
    pub ours: Option<f64>,
    /// The best peer and its value.
    pub best: Option<(&'static str, f64)>,
    /// The target.
    pub target: Target,
    /// Whether our value reaches the target.
    pub passes: Option<bool>,
    /// Whether a run that counts was disturbed.
    pub noisy: bool,
    /// Whether a contestant is more efficient than [`MOST_EFFICIENT`]: then the split was slow, and says nothing.
    pub slow_split: bool,
    /// The value of each contestant.
    pub values: Vec<(Entry, f64)>,
    /// Paired ratios of times, if the figure has them.
    pub ratios: Vec<Ratio>,
}

impl Line {
    /// The line of the figure `name`.
    pub fn new(name: &str, measure: Measure, entries: &[Entry], records: &[Record]) -> Self {
        let values: Vec<_> = entries
            .iter()
            .filter_map(|entry| Some((*entry, value(measure, entry, entries, records)?)))
            .collect();
        Self { noisy: is_noisy(records), ..Self::of(name, measure, values) }
    }

    /// Adds the paired ratios of these contestants' times, each of the first of a pair to the second. A target on paired ratios is
    /// judged by the largest of them, if all pairs have one.
    pub fn paired(mut self, records: &[Record], pairs: &[(&str, &str)]) -> Self {
        self.noisy = is_noisy(records);
        self.ratios = pairs.iter().filter_map(|(of, to)| Ratio::new(records, of, to)).collect();
        if let Target::PairedAtMost(limit) = self.target {
            let largest = self.ratios.iter().max_by(|a, b| a.mean.total_cmp(&b.mean));
            let largest = largest.filter(|_| self.ratios.len() == pairs.len());
            self.passes = largest.and_then(|largest| largest.is_at_most(limit));
        }
        self
    }

    /// The line of a figure with these values.
    pub fn of(name: &str, measure: Measure, values: Vec<(Entry, f64)>) -> Self {
        let named = |name: &str| values.iter().find(|(entry, _)| entry.name == name).map(|&(_, value)| value);
        let ours = values.iter().find(|(entry, _)| entry.role == Role::Ours).map(|&(_, value)| value);
        let (target, best) = (target(name), best(measure, &values));
        let is_efficiency = |entry: &Entry| {
            measure == Measure::Speed && entry.role != Role::Yardstick && entry.yardstick == SPLIT
        };
        let slow_split = values.iter().any(|(entry, value)| is_efficiency(entry) && *value > MOST_EFFICIENT);
        let judged = ours.filter(|_| !slow_split || target.is_relative());
        Self {
            name: name.into(),
            measure,
            ours,
            best,
            target,
            passes: judged.and_then(|ours| target.passes(ours, best.map(|(_, value)| value), named)),
            noisy: false,
            slow_split,
            values,
            ratios: Vec::new(),
        }
    }

    /// Our value divided by the best peer's.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.ours? / self.best?.1)
    }

    /// The column names of the printed lines.
    pub fn heading() -> String {
        columns(["figure", "ours", "best peer", "", "ratio", "target", "verdict"])
    }

    /// The verdict as a word.
    pub fn verdict(&self) -> &'static str {
        match self.passes {
            Some(true) => "pass",
            Some(false) => "miss",
            None => "-",
        }
    }

    /// All contestants except yardsticks, with their values, and the paired ratios.
    pub fn details(&self) -> String {
        let shown = self.values.iter().filter(|(entry, _)| entry.role != Role::Yardstick);
        let words: Vec<_> =
            shown.map(|(entry, value)| format!("{} {}", entry.name, number(*value, self.measure))).collect();
        let ratios: String =
            self.ratios.iter().map(|ratio| format!("\n    {} / {} {ratio}", ratio.of, ratio.to)).collect();
        format!("    {}{ratios}", words.join(", "))
    }
}

/// Whether a run that counts was disturbed.
fn is_noisy(records: &[Record]) -> bool {
    records.iter().any(|record| record.kept && record.disturbance > LIMIT)
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = |value: Option<f64>| value.map_or("-".into(), |value| number(value, self.measure));
        let (peer, best) = self.best.map_or(("-", None), |(peer, best)| (peer, Some(best)));
        let ratio = self.ratio().map_or("-".into(), |ratio| format!("{ratio:.3}"));
        let noisy = if self.noisy { "  noisy" } else { "" };
        let slow_split = if self.slow_split { "  slow split" } else { "" };
        let target = self.target.to_string();
        let words = [&self.name, &*value(self.ours), &*value(best), peer, &*ratio, &*target, self.verdict()];
        write!(f, "{}{noisy}{slow_split}", columns(words))
    }
}

/// The columns of a line, aligned.
fn columns([name, ours, best, peer, ratio, target, verdict]: [&str; 7]) -> String {
    format!("{name:<25} {ours:>10} {best:>10} {peer:<18} {ratio:>6}  {target:<18} {verdict:<7}")
        .trim_end()
        .into()
}

fn number(value: f64, measure: Measure) -> String {
    let unit = measure.unit();
    match measure {
        Measure::Speed => format!("{value:.3}"),
        Measure::Bytes if value >= 1e6 => format!("{:.2} MB", value / 1e6),
        _ => format!("{value:.2} {unit}"),
    }
}

fn best(measure: Measure, values: &[(Entry, f64)]) -> Option<(&'static str, f64)> {
    let peers =
        values.iter().filter(|(entry, _)| entry.role == Role::Peer).map(|(entry, v)| (entry.name, *v));
    let by_value = |a: &(&str, f64), b: &(&str, f64)| a.1.total_cmp(&b.1);
    if measure.lower_is_better() { peers.min_by(by_value) } else { peers.max_by(by_value) }
}

fn value(measure: Measure, entry: &Entry, entries: &[Entry], records: &[Record]) -> Option<f64> {
    let seconds = |name: &str| median_of(records, name, |record| record.row.seconds);
    let cpu = |name: &str| median_of(records, name, |record| record.interval.own);
    let per_item = |entry: &Entry| Some(seconds(entry.name)? / entry.items as f64);
    match measure {
        Measure::NsPerItem => Some(per_item(entry)? * 1e9),
        Measure::Speed => Some(seconds(entry.yardstick)? / seconds(entry.name)?),
        Measure::Slowdown => {
            let yardstick = entries.iter().find(|other| other.name == entry.yardstick)?;
            Some(per_item(entry)? / per_item(yardstick)?)
        }
        Measure::CpuOverhead => Some((cpu(entry.name)? / cpu(entry.yardstick)? - 1.0) * 100.0),
        Measure::Overhead => Some((seconds(entry.name)? / seconds(entry.yardstick)? - 1.0) * 100.0),
        Measure::CpuMs => Some(cpu(entry.name)? * 1e3),
        Measure::Ms => Some(seconds(entry.name)? * 1e3),
        Measure::Bytes | Measure::Counted(_) => seconds(entry.name),
    }
}

/// The median over the records of `name` that count.
fn median_of(records: &[Record], name: &str, of: impl Fn(&Record) -> f64) -> Option<f64> {
    let kept = records.iter().filter(|record| record.kept && record.contestant == name);
    median(kept.map(of).collect())
}

/// The median, of an even number of values the mean of the two in the middle.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.len().checked_sub(1)? / 2, values.len() / 2);
    Some((values[low] + values[high]) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, values: &[(&'static str, Role, f64)]) -> Line {
        let entry = |&(name, role, value)| (Entry { name, role, items: 1, yardstick: SPLIT }, value);
        Line::of(name, Measure::Speed, values.iter().map(entry).collect())
    }

    #[test]
    fn an_efficiency_above_1_judges_nothing() {
        let of =
            |name, ours, peer| line(name, &[("ours", Role::Ours, ours), ("openmp-static", Role::Peer, peer)]);
        for (ours, peer, verdict, slow) in [
            (0.99, 1.01, "pass", false),
            (1.06, 1.01, "-", true),
            (0.99, 1.19, "-", true),
            (0.9, 1.0, "miss", false),
        ] {
            let line = of("loop.uniform.t2", ours, peer);
            assert_eq!((line.verdict(), line.slow_split), (verdict, slow), "{line}");
            assert_eq!(line.to_string().ends_with("slow split"), slow, "{line}");
        }
        // Both efficiencies have the same divisor.
        assert_eq!(of("loop.heat.t2", 1.05, 1.06).verdict(), "pass");
        assert_eq!(of("loop.heat.t2", 1.05, 1.16).verdict(), "miss");
    }

    #[test]
    fn medians() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }
}

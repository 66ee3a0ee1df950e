//! Paired ratios: the time of a contestant over that of another one in the same round, with a 95 % interval.
//!
//! The runs of a round follow each other, so what slows the machine down for some rounds is in both times, and not in their
//! ratio. The mean is that of the logarithms; the interval is Student's, for as many pairs as there are rounds.

use crate::race::Record;

/// A ratio of times.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// The contestant whose time is divided.
    pub of: String,
    /// The contestant by whose time it is divided.
    pub to: String,
    /// The geometric mean over the rounds.
    pub mean: f64,
    /// The bounds of the 95 % interval; `None` for a single round.
    pub interval: Option<(f64, f64)>,
}

impl Ratio {
    /// The ratio over the rounds in which both have a run that counts; `None` without any.
    pub fn new(records: &[Record], of: &str, to: &str) -> Option<Ratio> {
        let kept = |name: &str, round: Option<usize>| {
            let name = name.to_owned();
            let counts = move |record: &&Record| {
                record.kept && record.contestant == name && round.is_none_or(|round| record.round == round)
            };
            records.iter().filter(counts)
        };
        let log = |ours: &Record| {
            let theirs = kept(to, Some(ours.round)).next()?;
            Some((ours.row.seconds / theirs.row.seconds).ln())
        };
        let logs: Vec<f64> = kept(of, None).filter_map(log).collect();
        let (mean, half) = mean_and_half(&logs)?;
        let interval = half.map(|half| ((mean - half).exp(), (mean + half).exp()));
        Some(Ratio { of: of.to_owned(), to: to.to_owned(), mean: mean.exp(), interval })
    }

    /// Whether the ratio is at most `limit`: its whole interval is, or is above. `None` if the interval has `limit` inside.
    pub fn is_at_most(&self, limit: f64) -> Option<bool> {
        let (low, high) = self.interval?;
        if high <= limit { Some(true) } else { (low > limit).then_some(false) }
    }

    /// The fields of a line of results.
    pub fn fields(&self) -> String {
        let (low, high) = self
            .interval
            .map_or(("-".into(), "-".into()), |(low, high)| (format!("{low:.4}"), format!("{high:.4}")));
        format!("{}\t{}\t{:.4}\t{low}\t{high}", self.of, self.to, self.mean)
    }

    /// The ratio that [`Ratio::fields`] has written.
    pub fn parse(fields: &[&str]) -> Option<Ratio> {
        let [of, to, mean, low, high] = fields else { return None };
        let interval = match (*low, *high) {
            ("-", "-") => None,
            (low, high) => Some((low.parse().ok()?, high.parse().ok()?)),
        };
        Some(Ratio { of: (*of).into(), to: (*to).into(), mean: mean.parse().ok()?, interval })
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3}", self.mean)?;
        self.interval.map_or(Ok(()), |(low, high)| write!(f, " ({low:.3} to {high:.3})"))
    }
}

/// The mean, and half the width of its 95 % interval.
fn mean_and_half(values: &[f64]) -> Option<(f64, Option<f64>)> {
    let count = values.len() as f64;
    let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let half =
        (values.len() > 1).then(|| student(values.len() - 1) * (squares / (count - 1.0) / count).sqrt());
    Some((mean, half))
}

/// The 97.5 % quantile of Student's distribution. Above 30 degrees of freedom it is that of 30, which is larger.
fn student(freedom: usize) -> f64 {
    const QUANTILES: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    QUANTILES[freedom.clamp(1, QUANTILES.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{Entry, Line, Measure};
    use crate::race::{Contestant, Role, Rules, race};
    use crate::row::Row;

    /// A race of two contestants with these times, round by round.
    fn records(times: &[(f64, f64)]) -> Vec<Record> {
        let contestant = |name, at: fn(&(f64, f64)) -> f64| {
            let mut times: Vec<f64> = times.iter().rev().map(at).collect();
            Contestant::new(name, Role::Peer, 1, move || Ok(times.pop().map(|time| Row::new(time, 0))))
        };
        let contestants = vec![contestant("a", |pair| pair.0), contestant("b", |pair| pair.1)];
        // A disturbance is a share of the threads' time: with this number there is none.
        let rules = Rules { runs: times.len(), threads: usize::MAX };
        race(contestants, rules, &mut Vec::new())
    }

    #[test]
    fn rounds_are_paired() {
        // The second round is twice as slow for both.
        let ratio = Ratio::new(&records(&[(1.1, 1.0), (2.2, 2.0), (1.1, 1.0)]), "a", "b").unwrap();
        let (low, high) = ratio.interval.unwrap();
        assert!((ratio.mean - 1.1).abs() < 1e-9 && high - low < 1e-9, "{ratio}");
        assert_eq!(ratio.is_at_most(1.2), Some(true));
        assert_eq!(ratio.is_at_most(1.0), Some(false));
    }

    #[test]
    fn the_interval_is_students() {
        // The logarithms are 0.0, 0.1 and 0.2: mean 0.1, standard deviation 0.1.
        let times = [0.0f64, 0.1, 0.2].map(|log| (log.exp(), 1.0));
        let ratio = Ratio::new(&records(&times), "a", "b").unwrap();
        let (low, high) = ratio.interval.unwrap();
        let half = 4.303 * 0.1 / 3f64.sqrt();
        assert!((low.ln() - (0.1 - half)).abs() < 1e-9 && (high.ln() - (0.1 + half)).abs() < 1e-9);
        assert_eq!(ratio.is_at_most(1.03), None, "the interval has the limit inside");
        assert!(student(1) > 12.0 && student(29) == 2.045 && student(1000) == 2.042);
    }

    #[test]
    fn a_single_round_has_no_interval() {
        let ratio = Ratio::new(&records(&[(3.0, 2.0)]), "a", "b").unwrap();
        assert_eq!((ratio.mean, ratio.interval, ratio.is_at_most(9.0)), (1.5, None, None));
        assert_eq!(ratio.to_string(), "1.500");
        assert!(Ratio::new(&records(&[(3.0, 2.0)]), "a", "c").is_none());
    }

    #[test]
    fn fields_are_read_back() {
        for interval in [None, Some((0.9, 1.2))] {
            let ratio = Ratio { of: "ours".into(), to: "prs".into(), mean: 1.05, interval };
            let fields = ratio.fields();
            assert_eq!(Ratio::parse(&fields.split('\t').collect::<Vec<_>>()), Some(ratio));
        }
        assert_eq!(Ratio::parse(&["a", "b", "1", "-"]), None);
    }

    #[test]
    fn the_largest_ratio_decides_about_a_target() {
        let entry = |name, role| (Entry { name, role, items: 1, yardstick: "" }, 1.0);
        let line = |times: &[(f64, f64)]| {
            let values = vec![entry("a", Role::Ours), entry("b", Role::Peer)];
            let line = Line::of("danbi.speedup.rg.n8", Measure::Speed, values);
            // The ratio of a contestant to itself is 1.
            line.paired(&records(times), &[("a", "b"), ("a", "a")])
        };
        for (times, verdict) in [
            ([(1.02, 1.0), (1.02, 1.0)], "pass"),
            ([(1.04, 1.0), (1.04, 1.0)], "miss"),
            ([(1.01, 1.0), (1.05, 1.0)], "-"),
            ([(0.8, 1.0), (0.9, 1.0)], "pass"),
        ] {
            let line = line(&times);
            assert_eq!((line.verdict(), line.ratios.len()), (verdict, 2), "{}", line.details());
            assert!(line.details().contains("a / b"), "{}", line.details());
        }
    }
}

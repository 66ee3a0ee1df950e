//! Reads recorded results.

use std::fs;
use std::path::{Path, PathBuf};

use crate::line::{MOST_EFFICIENT, SPLIT};
use crate::ratio::Ratio;

/// A file of results.
#[derive(Clone, Debug)]
pub struct Run {
    /// The name of the file.
    pub file: String,
    notes: Vec<(String, String)>,
}

impl Run {
    /// A field of the description above the table.
    pub fn note(&self, name: &str) -> &str {
        let found = self.notes.iter().find(|(known, _)| known == name);
        found.map_or("not recorded", |(_, value)| value)
    }

    /// Whether this was a quick look, with jobs of smaller sizes than the figures' names say.
    fn is_quick(&self) -> bool {
        self.note("command").split_whitespace().any(|word| word == "--quick")
    }
}

/// The value of a contestant in a figure.
#[derive(Clone, Debug)]
pub struct Value {
    /// The contestant.
    pub name: String,
    /// `ours`, `peer`, `aside` or `yardstick`.
    pub role: String,
    /// Its value.
    pub value: f64,
}

/// A figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// The run that measured it, an index into [`Data::runs`]; `None` if no full run has measured it.
    pub run: Option<usize>,
    /// The unit of its values.
    pub unit: String,
    /// The values of all contestants.
    pub values: Vec<Value>,
    /// The paired ratios of its contestants' times.
    pub ratios: Vec<Ratio>,
    /// The target, or `-`.
    pub target: String,
    /// `pass`, `miss` or `-`, as it was recorded.
    verdict: &'static str,
    /// Whether a run that counts was disturbed.
    pub noisy: bool,
}

impl Figure {
    fn not_measured(name: &str) -> Figure {
        Figure {
            name: name.into(),
            run: None,
            unit: String::new(),
            values: Vec::new(),
            ratios: Vec::new(),
            target: "-".into(),
            verdict: "-",
            noisy: false,
        }
    }

    /// The number of threads in its name.
    pub fn threads(&self) -> Option<u64> {
        self.name.rsplit_once(".t")?.1.parse().ok()
    }

    /// The value of a contestant.
    pub fn of(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|value| value.name == name).map(|value| value.value)
    }

    /// Whether a contestant is more efficient than a perfect split allows for: then the split was slow.
    pub fn has_slow_split(&self) -> bool {
        let is_split = |value: &Value| value.role == "yardstick" && value.name == SPLIT;
        let is_efficiency = self.unit.is_empty() && self.values.iter().any(is_split);
        is_efficiency
            && self.values.iter().any(|value| value.role != "yardstick" && value.value > MOST_EFFICIENT)
    }

    /// `pass`, `miss` or `-`. A slow split allows for none, unless the target is relative to another contestant; files recorded up
    /// to 2026-11-24 have one.
    pub fn verdict(&self) -> &'static str {
        if self.has_slow_split() && !self.target.contains('x') { "-" } else { self.verdict }
    }

    /// The values of the contestants with this role, the best first.
    pub fn with_role(&self, role: &str) -> Vec<&Value> {
        let mut found: Vec<_> = self.values.iter().filter(|value| value.role == role).collect();
        found.sort_by(|a, b| a.value.total_cmp(&b.value));
        if self.unit.is_empty() {
            found.reverse();
        }
        found
    }
}

/// The newest value of every figure, in the order of their names.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// The files, the oldest first.
    pub runs: Vec<Run>,
    /// The figures.
    pub figures: Vec<Figure>,
    /// The random pipelines: the run, an index into `runs`, and the fields behind the first one of each.
    pipelines: Vec<(usize, String)>,
}

impl Data {
    /// Reads files and sorts them by date. Of a quick look only the names of its figures count: a figure without
    /// a full run is listed as not measured.
    pub fn read(paths: &[PathBuf]) -> Result<Data, String> {
        let mut files = paths.iter().map(|path| file(path)).collect::<Result<Vec<_>, _>>()?;
        files.sort_by_key(|(run, _)| (run.note("date").to_owned(), run.file.clone()));
        let (quick, full): (Vec<_>, Vec<_>) = files.into_iter().partition(|(run, _)| run.is_quick());
        let mut data = Data::default();
        for (run, text) in full {
            data.runs.push(run);
            data.add(&text).map_err(|line| {
                format!("{}: malformed line of results: {line:?}", data.runs[data.runs.len() - 1].file)
            })?;
        }
        quick.iter().for_each(|(_, text)| data.name(text));
        data.figures.sort_by_key(|figure| order(&figure.name));
        Ok(data)
    }

    /// Adds the figures that a quick look names, without its values.
    fn name(&mut self, text: &str) {
        for line in text.lines().filter(|line| line.starts_with("line\t")) {
            let fields: Vec<_> = line.split('\t').collect();
            let [_, name, .., target, _, _] = fields[..] else { continue };
            if self.figures.iter().all(|figure| figure.name != name) {
                self.figures.push(Figure { target: target.into(), ..Figure::not_measured(name) });
            }
        }
    }

    /// The newest run of random pipelines, and their lines.
    pub fn pipelines(&self) -> Option<(&Run, Vec<&str>)> {
        let (run, _) = self.pipelines.last()?;
        let lines = self.pipelines.iter().filter(|(of, _)| of == run).map(|(_, line)| &**line);
        Some((&self.runs[*run], lines.collect()))
    }

    /// The figures with names that start with `prefix`.
    pub fn starting<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Figure> {
        self.figures.iter().filter(move |figure| figure.name.starts_with(prefix))
    }

    /// The values of a contestant in the figures named `before`, a number, `after`; sorted by the number.
    pub fn series(&self, before: &str, after: &str, contestant: &str) -> Vec<(f64, f64)> {
        self.points(before, after, |figure| figure.of(contestant))
    }

    /// What `y` says of the figures named `before`, a number, `after`; sorted by the number.
    pub fn points(&self, before: &str, after: &str, y: impl Fn(&Figure) -> Option<f64>) -> Vec<(f64, f64)> {
        let point = |figure: &Figure| {
            let x = figure.name.strip_prefix(before)?.strip_suffix(after)?;
            Some((quantity(x)?, y(figure)?))
        };
        let mut points: Vec<_> = self.figures.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }

    /// The largest number of threads in the name of a figure whose threads `--threads` sets. It does not set those of
    /// `hybrid`, which are all processors of the machine.
    pub fn threads(&self) -> u64 {
        let set = self.figures.iter().filter(|figure| !figure.name.starts_with("hybrid."));
        set.filter_map(Figure::threads).max().unwrap_or(1)
    }

    /// Adds the values and lines of the newest file, which replace those of older files; returns a malformed line as
    /// the error.
    fn add<'a>(&mut self, text: &'a str) -> Result<(), &'a str> {
        let run = self.runs.len() - 1;
        text.lines().try_for_each(|line| self.add_line(line, run).ok_or(line))
    }

    fn add_line(&mut self, line: &str, run: usize) -> Option<()> {
        let fields: Vec<_> = line.split('\t').collect();
        match fields[0] {
            "value" => {
                let [_, figure, name, role, value, unit] = fields[..] else { return None };
                let figure = self.figure(figure, run);
                figure.unit = unit.into();
                figure.values.retain(|value| value.name != name);
                figure.values.push(Value {
                    name: name.into(),
                    role: role.into(),
                    value: value.parse().ok()?,
                });
            }
            "ratio" => {
                let [_, figure, ref ratio @ ..] = fields[..] else { return None };
                let ratio = Ratio::parse(ratio)?;
                self.figure(figure, run).ratios.push(ratio);
            }
            "line" => {
                let [_, figure, .., target, word, noisy] = fields[..] else { return None };
                let figure = self.figure(figure, run);
                (figure.target, figure.verdict) = (target.into(), verdict(word)?);
                figure.noisy = noisy.parse().ok()?;
            }
            "pipeline" => self.pipelines.push((run, line.split_once('\t')?.1.to_owned())),
            _ => {}
        }
        Some(())
    }

    /// The figure of this name and run; the values of an older run are dropped.
    fn figure(&mut self, name: &str, run: usize) -> &mut Figure {
        let place = self.figures.iter().position(|figure| figure.name == name);
        let place = place.unwrap_or(self.figures.len());
        if self.figures.get(place).is_none_or(|figure| figure.run != Some(run)) {
            let new = Figure { run: Some(run), ..Figure::not_measured(name) };
            self.figures.splice(place..(place + 1).min(self.figures.len()), [new]);
        }
        &mut self.figures[place]
    }
}

/// The verdict that a word stands for. Files recorded up to 2026-11-23 have `met` for `pass` and `short` for `miss`.
fn verdict(word: &str) -> Option<&'static str> {
    match word {
        "pass" | "met" => Some("pass"),
        "miss" | "short" => Some("miss"),
        "-" => Some("-"),
        _ => None,
    }
}

/// Reads a file: its description, and its text.
fn file(path: &Path) -> Result<(Run, String), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let notes = text.lines().map_while(|line| line.strip_prefix("# ")?.split_once(": "));
    let notes = notes.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok((Run { file, notes }, text))
}

/// The sort key of names: word by word, numbers by their values.
fn order(name: &str) -> Vec<(String, u64)> {
    let word = |word: &str| {
        let at = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
        let number = quantity(&word[at..]).map_or(0, |number| number as u64);
        (word[..at].to_owned(), number)
    };
    name.split('.').map(word).collect()
}

/// A number in a figure's name: a time, in nanoseconds, or a count.
pub fn quantity(text: &str) -> Option<f64> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let scale = match &text[at..] {
        "" | "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        _ => return None,
    };
    text[..at].parse::<f64>().ok().map(|number| number * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_their_numbers() {
        let mut names = ["a.w10us.t2", "a.w200ns.t2", "a.w1us.t2", "a.w1us.t1", "a.b16", "a.b8"];
        names.sort_by_key(|name| order(name));
        assert_eq!(names, ["a.b8", "a.b16", "a.w200ns.t2", "a.w1us.t1", "a.w1us.t2", "a.w10us.t2"]);
    }

    #[test]
    fn the_newer_of_two_runs_replaces_the_older() {
        let mut data = Data::default();
        for text in [
            "value\ta\tours\tours\t1.0\tns\nvalue\ta\tgo\tpeer\t2.0\tns\nline\ta\t1\tgo\t2\t0.5\t<=1\tpass\tfalse\n",
            "value\ta\tours\tours\t3.0\tns\nline\ta\t3\t-\t-\t-\t<=1\tmiss\ttrue\n",
        ] {
            data.runs.push(Run { file: "x".into(), notes: Vec::new() });
            data.add(text).unwrap();
        }
        let [figure] = &data.figures[..] else { panic!("{data:?}") };
        assert_eq!((figure.of("ours"), figure.of("go"), figure.run), (Some(3.0), None, Some(1)));
        assert!(figure.noisy && figure.verdict() == "miss");
        assert_eq!(data.add("# ring\nvalue\ta\tours"), Err("value\ta\tours"));
    }

    #[test]
    fn old_and_new_verdicts_are_read_alike() {
        for (word, expected) in
            [("met", "pass"), ("short", "miss"), ("pass", "pass"), ("miss", "miss"), ("-", "-")]
        {
            let mut data = Data::default();
            data.runs.push(Run { file: "x".into(), notes: Vec::new() });
            data.add(&format!("value\ta\tours\tours\t1.0\tns\nline\ta\t1\t-\t-\t-\t<=1\t{word}\tfalse\n"))
                .unwrap();
            assert_eq!(data.figures[0].verdict(), expected, "{word}");
            let table = super::super::table::figures(&[&data.figures[0]], |run| run);
            let target = if expected == "-" { "≤ 1".to_owned() } else { format!("≤ 1: {expected}") };
            assert!(table.contains(&format!("| {target} |")), "{table}");
        }
        let mut data = Data::default();
        data.runs.push(Run { file: "x".into(), notes: Vec::new() });
        assert!(data.add("line\ta\t1\t-\t-\t-\t<=1\tperhaps\tfalse\n").is_err());
    }

    #[test]
    fn an_efficiency_above_1_judges_nothing() {
        for (target, expected) in [(">=0.98", "-"), (">=0.97x openmp-static", "pass")] {
            let mut data = Data::default();
            data.runs.push(Run { file: "x".into(), notes: Vec::new() });
            let text = format!(
                "value\ta\tsplit\tyardstick\t1.0\t\nvalue\ta\tours\tours\t1.06\t\n\
                 value\ta\trayon\tpeer\t1.19\t\nline\ta\t1\t-\t-\t-\t{target}\tpass\tfalse\n"
            );
            data.add(&text).unwrap();
            assert_eq!(data.figures[0].verdict(), expected, "{target}");
            let table = super::super::table::figures(&[&data.figures[0]], |run| run);
            assert!(table.contains("| 0, slow split |"), "{table}");
        }
    }

    /// For example a ring of 10^6 processes, of which a quick look runs 10^4.
    #[test]
    fn a_quick_look_is_no_measurement() {
        let run = |date: &str, options: &str, value: &str| {
            format!(
                "# date: {date}\n# command: cargo run -p thalweg-bench -- kpn.ring{options}\n\
                 value\t{value}\tns\nline\tkpn.ring.t1\t9\t-\t-\t-\t<=25\tpass\tfalse\n"
            )
        };
        let folder = tempfile::tempdir().unwrap();
        let read = |texts: &[String]| {
            let paths = texts.iter().enumerate().map(|(at, text)| {
                let path = folder.path().join(format!("{at}.tsv"));
                fs::write(&path, text).unwrap();
                path
            });
            Data::read(&paths.collect::<Vec<_>>()).unwrap()
        };
        let full = run("2026-01-01", "", "kpn.ring.t1\tours\tours\t191");
        let quick = run("2026-01-02", " --quick --runs 5", "kpn.ring.t1\tours\tours\t40");

        let data = read(&[full.clone(), quick.clone()]);
        assert_eq!((data.runs.len(), data.figures.len()), (1, 1));
        assert_eq!(data.figures[0].of("ours"), Some(191.0), "the newer run is a quick look");

        let data = read(&[quick]);
        let [figure] = &data.figures[..] else { panic!("{data:?}") };
        assert!(figure.values.is_empty() && figure.run.is_none() && figure.verdict() == "-");
        let table = super::super::table::figures(&[figure], |_| unreachable!("the figure has no run"));
        assert!(table.ends_with("| not measured |  |  | ≤ 25 | - | `kpn.ring.t1` |\n"), "{table}");
    }
}

//! Generates `docs/results`: tables and plots of the results, with the figures that the papers report.
//!
//! A page is a function of the recorded results ([`data`]) and of `bench/paper/*.tsv` ([`paper`]): the same files
//! produce the same pages, to the byte.

mod archives;
mod cluster;
mod danbi;
mod data;
mod engine;
mod hybrid;
mod locality;
mod loops;
mod mapping;
mod names;
mod owned;
mod paper;
mod pipelines;
mod plot;
mod processes;
mod small;
mod streamit;
mod table;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

pub use danbi::timeline as danbi_timeline;
use data::{Data, Figure};
use plot::{Lines, Series};

/// A plot: the name of its file, its title, and the picture; no picture if none of its figures was measured.
struct Plot {
    file: &'static str,
    shows: &'static str,
    svg: Option<String>,
}

/// A section of a page.
struct Section {
    title: &'static str,
    /// The prefixes of its figures' names.
    prefixes: &'static [&'static str],
    /// The key of the papers' statements on this section.
    subject: &'static str,
    /// The text above the table.
    text: &'static str,
    plots: fn(&Data) -> Vec<Plot>,
}

/// Writes the pages of these results, or of all recorded ones, into a folder, by default `docs/results`.
pub fn write(results: &[PathBuf], to: Option<&Path>) -> Result<(), String> {
    let to = to.map_or_else(folder, Path::to_owned);
    let all = if results.is_empty() { recorded()? } else { results.to_vec() };
    for (name, text) in pages(&Data::read(&all)?) {
        let path = to.join(name);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        written.map_err(|error| format!("{}: {error}", path.display()))?;
        eprintln!("page: {}", path.display());
    }
    Ok(())
}

/// The folder of the pages.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results")
}

/// All files of `bench/results`.
fn recorded() -> Result<Vec<PathBuf>, String> {
    let folder = crate::results::folder();
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    Ok(paths.filter(|path| path.extension().is_some_and(|end| end == "tsv")).collect())
}

/// The names and contents of all pages and plots.
fn pages(data: &Data) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let processes = page(data, processes::HEAD, &processes::SECTIONS, &mut files);
    let engine = page(data, engine::HEAD, &engine::SECTIONS, &mut files);
    let streamit = page(data, streamit::HEAD, &streamit::SECTIONS, &mut files);
    let hybrid = page(data, hybrid::HEAD, &hybrid::SECTIONS, &mut files);
    let small = page(data, small::HEAD, &small::SECTIONS, &mut files);
    let owned = page(data, owned::HEAD, &owned::SECTIONS, &mut files);
    let loops = page(data, loops::HEAD, &loops::SECTIONS, &mut files);
    let tasks = page(data, locality::HEAD, &locality::SECTIONS, &mut files);
    let [sources, toolchain] = [archives::SOURCES, archives::TOOLCHAIN];
    let pipelines = page(data, &pipelines::head(data), &pipelines::SECTIONS, &mut files);
    let mapping = page(data, &mapping::head(data), &mapping::SECTIONS, &mut files);
    let danbi = page(data, danbi::HEAD, &danbi::SECTIONS, &mut files);
    let cluster = page(data, cluster::HEAD, &cluster::SECTIONS, &mut files);
    let sections: Vec<Section> = sources.into_iter().chain(toolchain).collect();
    let archivers = page(data, archives::HEAD, &sections, &mut files) + &archives::programs(data);
    files.extend([
        ("archives.md".into(), archivers),
        ("task-graphs.md".into(), tasks),
        ("processes.md".into(), processes),
        ("engine.md".into(), engine),
        ("streamit.md".into(), streamit),
        ("hybrid.md".into(), hybrid),
        ("small-jobs.md".into(), small),
        ("owned.md".into(), owned),
        ("loops.md".into(), loops),
        ("pipelines.md".into(), pipelines),
        ("danbi.md".into(), danbi),
        ("mapping.md".into(), mapping),
        ("cluster.md".into(), cluster),
    ]);
    files
}

const READING: &str = "\
`cargo run --release -p thalweg-bench -- pages` generates this page from `bench/results` and `bench/paper`; do not
edit it. If a figure was measured more than once, the newest value is shown; its run, with the machine, is described
below. Runs with `--quick` use smaller sizes than the figures' names say, so they do not count: a figure that only
they have is listed as not measured. `noisy`: other programs disturbed a run that counts, so do not rely on the line.
Efficiency is the time of a perfect split of the same work over the same number of threads, divided by the time
taken: 1 is perfect. `slow split`: a contestant was more than 2 % faster than the split, which only a disturbed split
allows for, so the row has no verdict unless its target is relative to another contestant. The last column is the
figure's name in the bench; [bench/README.md](../../bench/README.md) defines each figure and how it is measured. The
papers measured on other machines, so their values and ours are not directly comparable.
";

fn page(data: &Data, head: &str, sections: &[Section], files: &mut Vec<(String, String)>) -> String {
    let mut used: Vec<usize> =
        sections.iter().flat_map(|section| figures(data, section)).filter_map(|f| f.run).collect();
    used.sort_unstable();
    used.dedup();
    let number_of = |run| used.iter().position(|used| *used == run).map_or(0, |place| place + 1);
    let mut text = format!("{head}\n{READING}");
    for section in sections {
        let figures: Vec<_> = figures(data, section).collect();
        if figures.is_empty() {
            continue;
        }
        _ = write!(text, "\n## {}\n\n{}\n", section.title, section.text);
        for Plot { file, shows, svg } in (section.plots)(data) {
            let Some(svg) = svg else { continue };
            _ = write!(text, "\n![{shows}](plots/{file}.svg)\n");
            files.push((format!("plots/{file}.svg"), svg));
        }
        let mut papers = paper::on(section.subject);
        let table = if section.subject == "policies" {
            table::policies(&figures)
        } else if section.subject == archives::SUBJECT {
            table::costs(&figures, number_of)
        } else if let Some(table) = danbi::table(section.subject, data, number_of) {
            table
        } else if let Some(table) = mapping::table(section.subject, data) {
            papers.retain(|statement| statement.point.is_none());
            table
        } else if locality::is_counted(section.subject) {
            let table = table::counts(&figures, &papers);
            papers.retain(|statement| statement.point.is_none());
            table
        } else {
            table::figures(&figures, number_of)
        };
        _ = write!(text, "\n{table}");
        if !papers.is_empty() {
            _ = write!(text, "\n{}", table::papers(&papers));
        }
    }
    _ = write!(text, "\n## Runs\n\n{}", table::runs(data, &used));
    let mut papers: Vec<_> =
        sections.iter().flat_map(|section| paper::on(section.subject)).map(|s| s.paper).collect();
    papers.sort_unstable();
    papers.dedup();
    if papers.is_empty() {
        return text;
    }
    _ = writeln!(text, "\n## Papers and their machines\n");
    papers.iter().for_each(|paper| _ = writeln!(text, "- {paper}"));
    text
}

/// The figures of a section. The section on policies has all figures that ran under more than one policy.
fn figures<'a>(data: &'a Data, section: &'a Section) -> impl Iterator<Item = &'a Figure> {
    let found = section.prefixes.iter().flat_map(|prefix| data.starting(prefix));
    found.filter(|figure| section.subject != "policies" || figure.of("ws-cur").is_some())
}

/// A line of a plot, from a contestant's values in the figures named `before`, x, `after`.
fn series(data: &Data, name: &str, before: &str, after: &str, contestant: &str) -> Series {
    Series { name: name.into(), points: data.series(before, after, contestant), other: false }
}

/// The papers' points on a subject, each as a line of a single point.
fn papers_points(subject: &str) -> impl Iterator<Item = Series> {
    let points = paper::on(subject).into_iter().filter_map(|statement| statement.point);
    points.map(|(x, y, name)| Series { name: name.into(), points: vec![(x, y)], other: true })
}

/// A plot of efficiencies.
fn efficiency(x: &str, tick: fn(f64) -> String, mut series: Vec<Series>) -> Option<String> {
    series.retain(|series| !series.points.is_empty());
    Lines { x, y: "efficiency", tick, top: 1.1, logarithmic: false, series }.svg()
}

/// The label of a time in nanoseconds at an axis.
fn time(ns: f64) -> String {
    if ns < 1000.0 { format!("{ns} ns") } else { format!("{} us", ns / 1000.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_results_produce_the_same_pages() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/pages");
        let pages = pages(&Data::read(&[folder.join("results.tsv")]).unwrap());
        assert!(pages.iter().any(|(name, _)| name.ends_with(".svg")));
        for (name, text) in pages {
            let expected =
                fs::read_to_string(folder.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
            let renew = "thalweg-bench pages bench/fixtures/pages/results.tsv --to bench/fixtures/pages";
            assert!(expected == text, "{name} has changed; if that is intended: {renew}");
        }
    }
}

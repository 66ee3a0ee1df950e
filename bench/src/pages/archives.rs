//! The page of archivers: whole programs over two trees of files.

use super::data::Data;
use super::plot::curves::{Curve, Curves};
use super::plot::{Bar, bars};
use super::{Plot, Section};

pub(super) const HEAD: &str = "\
# Results: archivers

`thalweg dedup` beside `tar` with `zstd` or `gzip`, borg and restic, as whole programs, on trees of files and their
near-copies.

- **Trees.** Sources: what cargo has downloaded of crates, in `registry/src`. Toolchain: files of the installed Rust toolchain,
  in the order of their names, without files above 37.5 MB. Both end at 300 MB; the row `cp` has their sizes.
- **Near-copy.** Of each 20 files one has a new name, one has 67 more bytes in its middle, one has 67 other bytes at a third.
- **Costs.** Size of the archive, or of all files of the repository. Wall clock. Processor time, of user and system, of all
  processes. Peak of resident memory, added up over the processes of a pipe. Medians of runs in turn.
- **Conditions.** Files are on a disk, their pages in the system's cache. `tar` and `zstd` do not wait for the disk, so `ours` has
  `--no-sync`; `ours(sync)` is the default, which waits. borg waits too. The creation of a repository is not timed. Nothing is
  removed during a race, since files that were just removed can slow down the creation of others.
- **Settings.** As many threads as the figure's name says; borg and `tar` have one. `zstd-long` is `-T2 --long=27`, a window of
  128 MiB, `zstd` is `-T2` alone. borg: `--encryption none --compression zstd,3`. restic has its default compression, of the
  class of zstd level 3, and encrypts, which cannot be switched off. `tar` has `--sort=name`.
- **Not equal.** borg and restic make repositories to which later backups are added, and split files at places that their
  content decides; each can restore any of its backups. Ours and `tar` make one file, and a near-copy needs a new one.
- **Checks.** The first archive of each contestant, and every unpacked tree of the sections on unpacking, is compared with the
  original: names, permissions, contents.

A table has a row for each contestant and a column for each cost; a cell is a figure of the name
`archives.<tree>.<operation>.<cost>.t<threads>`, where `run` is a number below.
";

/// The sections of one tree: packing, with a near-copy, unpacking.
macro_rules! sections {
    ($tree:literal, $title:literal, $curve:expr, $pair:expr) => {
        [
            Section {
                title: concat!($title, ": packing"),
                prefixes: &[
                    concat!("archives.", $tree, ".copy"),
                    concat!("archives.", $tree, ".level"),
                ],
                subject: SUBJECT,
                text: "The curve has a point for each level of the codec. At level 3, ours has a target for size, time and memory: at most\n\
                       those of `tar` and `zstd` with a long window.",
                plots: $curve,
            },
            Section {
                title: concat!($title, ": with the near-copy"),
                prefixes: &[concat!("archives.", $tree, ".pair")],
                subject: SUBJECT,
                text: "A folder of the tree and its near-copy is packed at once, at level 3. The near-copy is as far from the original as\n\
                       the tree is large: ours finds it up to its window, by default 96 MiB of unique data, `zstd-long` up to 128 MiB.\n\
                       `ours(512MiB)` has `--window 512MiB`, and `zstd-long29` `--long=29`, which is as much. `(second)`: the tree is in\n\
                       the repository, and only adding the near-copy is timed; the size is that of the repository.",
                plots: $pair,
            },
            Section {
                title: concat!($title, ": unpacking"),
                prefixes: &[concat!("archives.", $tree, ".unpack")],
                subject: SUBJECT,
                text: "The archives of level 3 are unpacked into an empty folder: of the tree, and of the tree with its near-copy.",
                plots: |_| Vec::new(),
            },
        ]
    };
}

/// The subject of the sections whose tables have a row for each contestant, and a column for each cost.
pub(super) const SUBJECT: &str = "archives";

pub(super) const SOURCES: [Section; 3] =
    sections!("sources", "Sources", |data| curve(data, "sources", "archives-sources"), |data| {
        pair(data, "sources", "archives-sources-pair")
    });
pub(super) const TOOLCHAIN: [Section; 3] =
    sections!("toolchain", "Toolchain", |data| curve(data, "toolchain", "archives-toolchain"), |data| {
        pair(data, "toolchain", "archives-toolchain-pair")
    });

/// Contestants that have levels; the others are single points.
const LEVELLED: [(&str, &str); 4] = [
    ("ours", "ours"),
    ("tar|zstd-long", "tar, zstd-long"),
    ("tar|zstd", "tar, zstd"),
    ("ours(gzip)", "ours, gzip"),
];
const SINGLE: [(&str, &str); 2] = [("borg", "borg"), ("restic", "restic")];

fn curve(data: &Data, tree: &str, file: &'static str) -> Vec<Plot> {
    let named = LEVELLED.into_iter().chain(SINGLE).map(|(contestant, name)| Curve {
        name: name.into(),
        points: points(data, tree, contestant),
        other: SINGLE.iter().any(|single| single.0 == contestant),
    });
    let curves: Vec<_> = named.filter(|curve| !curve.points.is_empty()).collect();
    let svg = Curves { x: "seconds, logarithmic", y: "size in MB", curves }.svg();
    vec![Plot { file, shows: "Size of the archive over the time to pack, by level", svg }]
}

/// Seconds and megabytes of a contestant at each level.
fn points(data: &Data, tree: &str, contestant: &str) -> Vec<(f64, f64, String)> {
    let before = format!("archives.{tree}.level");
    let of = |cost: &str| data.series(&before, &format!(".{cost}.t{}", data.threads()), contestant);
    let (sizes, times) = (of("size"), of("time"));
    let paired = sizes.into_iter().zip(times).filter(|(size, time)| size.0 == time.0);
    paired.map(|((level, bytes), (_, ms))| (ms / 1e3, bytes / 1e6, level.to_string())).collect()
}

fn pair(data: &Data, tree: &str, file: &'static str) -> Vec<Plot> {
    let name = format!("archives.{tree}.pair.size.t{}", data.threads());
    let found = data.figures.iter().find(|figure| figure.name == name);
    let all: Vec<Bar> = found
        .into_iter()
        .flat_map(|figure| &figure.values)
        .map(|value| Bar {
            name: value.name.replace('|', ", "),
            value: value.value / 1e6,
            other: !value.name.starts_with("ours"),
        })
        .collect();
    let svg = bars("size in MB, logarithmic", "MB", &all);
    vec![Plot { file, shows: "Size of the archive of a tree and its near-copy", svg }]
}

/// The versions of the programs, from the newest run.
pub(super) fn programs(data: &Data) -> String {
    let newest = data.starting("archives.").filter_map(|figure| figure.run).max();
    let Some(run) = newest.map(|run| &data.runs[run]) else { return String::new() };
    let versions = ["tar", "zstd", "borg", "restic"].map(|name| run.note(name));
    format!("\n## Programs\n\n{}\n", versions.map(|version| format!("- {version}")).join("\n"))
}

//! The figures that the papers report: `bench/paper/*.tsv`.

/// The contents of the files.
const PAPERS: [&str; 7] = [
    include_str!("../../paper/nornir.tsv"),
    include_str!("../../paper/danbi.tsv"),
    include_str!("../../paper/hybrid.tsv"),
    include_str!("../../paper/locality.tsv"),
    include_str!("../../paper/locality-mappings.tsv"),
    include_str!("../../paper/locality-tasks.tsv"),
    include_str!("../../paper/work-stealing.tsv"),
];

/// One statement of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Statement {
    /// The paper and its machine.
    pub paper: &'static str,
    /// The quantity measured.
    pub what: &'static str,
    /// Its value.
    pub value: &'static str,
    /// Section, figure or table.
    pub place: &'static str,
    /// A point of the section's plot: x and y, NaN where they are not numbers, and a name.
    pub point: Option<(f64, f64, &'static str)>,
}

/// All statements of the papers on the subject of a section. A statement may name several, with blanks between them.
pub fn on(section: &str) -> Vec<Statement> {
    PAPERS.iter().flat_map(|text| statements(text, section)).collect()
}

fn statements(text: &'static str, section: &str) -> impl Iterator<Item = Statement> {
    let paper =
        text.lines().next().and_then(|line| line.strip_prefix("# ")).expect("the first line names the paper");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let ours = lines
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(move |fields| fields[0].split(' ').any(|word| word == section));
    ours.map(move |fields| {
        let [_, what, value, place, ref rest @ ..] = fields[..] else {
            panic!("{paper}: expected section, what, value and place, got {fields:?}")
        };
        Statement { paper, what, value, place, point: rest.first().map(|text| point(text)) }
    })
}

fn point(text: &'static str) -> (f64, f64, &'static str) {
    let mut words = text.splitn(3, ' ');
    let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN);
    (number(), number(), words.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_places_and_points() {
        let all = on("scatter");
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].point, Some((256.0, 0.95, "paper: WS-LAST, 8 CPUs")));
        assert!(all.iter().all(|statement| statement.place.contains("5.2.1")));
        assert!(on("nothing").is_empty() && on("").is_empty());
        let [first, ..] = on("hybrid.5a")[..] else { panic!("no statement") };
        assert!(on("dynamic").iter().any(|statement| statement.what == first.what), "it has two subjects");
    }
}

//! Suggests the name that a misspelt one probably means.

/// Longer names are not compared: the time grows with the product of the lengths.
const MAX_LENGTH: usize = 64;

/// The edit distance, where exchanging two neighbours counts as one edit (optimal string alignment).
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let changed = above[j] + usize::from(a[i] != b[j]);
            let mut least = changed.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

/// In shorter names one wrong letter leaves too little to recognise.
const MIN_LENGTH: usize = 3;

/// The name that was probably meant, if any: at most a third of the letters differ; short names may differ only
/// in case.
pub(crate) fn nearest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if wrong.len() > MAX_LENGTH {
        return None;
    }
    let bound = |name: &str| if wrong.len().min(name.len()) < MIN_LENGTH { 0 } else { wrong.len() / 3 };
    let near = |name: &&str| name.len().abs_diff(wrong.len()) <= bound(name) && *name != wrong;
    names
        .filter(near)
        .map(|name| (distance(wrong.to_lowercase().as_bytes(), name.to_lowercase().as_bytes()), name))
        .filter(|(distance, name)| *distance <= bound(name))
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distances_count_edits() {
        assert_eq!(distance(b"weight", b"weight"), 0);
        assert_eq!(distance(b"wieght", b"weight"), 1);
        assert_eq!(distance(b"weigt", b"weight"), 1);
        assert_eq!(distance(b"", b"abc"), 3);
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        let names = ["taps", "rate", "N"];
        assert_eq!(nearest("tpas", names.into_iter()), Some("taps"));
        assert_eq!(nearest("n", names.into_iter()), Some("N"));
        assert_eq!(nearest("decimation", names.into_iter()), None);
    }

    #[test]
    fn short_names_have_no_suggestions() {
        for (wrong, names) in
            [("x", ["y", "i", "xs"]), ("ab", ["ac", "a", "abc"]), ("abc", ["ab", "xyz", "c"])]
        {
            assert_eq!(nearest(wrong, names.into_iter()), None, "{wrong}");
        }
        assert_eq!(nearest("PI", ["pi", "pin"].into_iter()), Some("pi"));
        assert_eq!(nearest("pops", ["cos", "pop"].into_iter()), Some("pop"));
        assert_eq!(nearest("tags", ["taps", "tan"].into_iter()), Some("taps"));
    }
}

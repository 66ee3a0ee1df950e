//! Matches the names of two reports.

use super::Change;
use std::collections::{HashMap, VecDeque};

/// Which names two lists have in common.
#[derive(Debug, PartialEq)]
pub(super) struct Matches {
    /// The common names, in the order of the first list, with their indices in both lists.
    pub(super) pairs: Vec<(String, Change<usize>)>,
    /// The names that only one list has, in its order.
    pub(super) others: Change<Vec<String>>,
}

impl Matches {
    /// Matches each name with the first equal one that is not matched yet. (In a checked graph names are unique.)
    pub(super) fn of(names: Change<Vec<String>>) -> Matches {
        let mut free: HashMap<&str, VecDeque<usize>> = HashMap::new();
        for (index, name) in names.after.iter().enumerate() {
            free.entry(name).or_default().push_back(index);
        }
        let (mut pairs, mut others) = (Vec::new(), Change { before: Vec::new(), after: Vec::new() });
        for (before, name) in names.before.iter().enumerate() {
            match free.get_mut(name.as_str()).and_then(VecDeque::pop_front) {
                Some(after) => pairs.push((name.clone(), Change { before, after })),
                None => others.before.push(name.clone()),
            }
        }
        let mut rest: Vec<usize> = free.into_values().flatten().collect();
        rest.sort_unstable();
        others.after = rest.into_iter().map(|index| names.after[index].clone()).collect();
        Matches { pairs, others }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_once_each() {
        let names = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let matches = Matches::of(Change { before: names("a b a c"), after: names("c x a b b") });
        let pair = |name: &str, before, after| (name.to_owned(), Change { before, after });
        assert_eq!(matches.pairs, [pair("a", 0, 2), pair("b", 1, 3), pair("c", 3, 0)]);
        assert_eq!(matches.others, Change { before: names("a"), after: names("x b") });
    }
}

//! Unique names, found in constant time on average.

use std::collections::HashMap;

/// The names of a graph's nodes. For each name taken, the suffixes below the number it maps to are
/// known to be taken too, so that adding n nodes of one name looks up n names and not n².
#[derive(Clone, Default, Debug)]
pub(crate) struct Names {
    taken: HashMap<String, u32>,
}

impl Names {
    /// Takes `wanted`, or else the first free of `wanted-2`, `wanted-3`, ...
    pub(crate) fn take(&mut self, wanted: &str) -> String {
        let Some(&first) = self.taken.get(wanted) else {
            self.taken.insert(wanted.to_owned(), 2);
            return wanted.to_owned();
        };
        let free = |i: &u32| !self.taken.contains_key(&suffixed(wanted, *i));
        let i = (first..).find(free).expect("fewer than 2^32 names");
        let name = suffixed(wanted, i);
        self.taken.insert(wanted.to_owned(), i + 1);
        self.taken.insert(name.clone(), 2);
        name
    }

    /// Gives a name back.
    pub(crate) fn release(&mut self, name: &str) {
        self.taken.remove(name);
        let parts = name.rsplit_once('-').and_then(|(base, i)| Some((base, i.parse::<u32>().ok()?)));
        if let Some((base, i)) = parts
            && let Some(first) = self.taken.get_mut(base)
        {
            *first = i.clamp(2, *first);
        }
    }
}

fn suffixed(name: &str, i: u32) -> String {
    format!("{name}-{i}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_name_gets_the_first_free_suffix() {
        let mut names = Names::default();
        assert_eq!(names.take("a-3"), "a-3");
        assert_eq!(names.take("a"), "a");
        assert_eq!(names.take("a"), "a-2");
        assert_eq!(names.take("a"), "a-4");
        assert_eq!(names.take("a-3"), "a-3-2");
    }

    #[test]
    fn a_released_name_is_free_again() {
        let mut names = Names::default();
        for expected in ["a", "a-2", "a-3"] {
            assert_eq!(names.take("a"), expected);
        }
        names.release("a-2");
        assert_eq!(names.take("a"), "a-2");
        assert_eq!(names.take("a"), "a-4");
        names.release("a");
        assert_eq!(names.take("a"), "a");
        assert_eq!(names.take("a"), "a-5");
    }

    #[test]
    fn odd_suffixes_are_names_like_others() {
        let mut names = Names::default();
        for name in ["a", "a-0", "a-02", "a-x", "-", ""] {
            assert_eq!(names.take(name), name);
        }
        for name in ["a-0", "a-02", "a-x", "-"] {
            names.release(name);
            assert_eq!(names.take(name), name);
        }
        assert_eq!(names.take("a"), "a-2");
    }
}

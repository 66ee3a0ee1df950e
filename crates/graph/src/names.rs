//! Unique node names, found in constant time on average.
//!
//! Names `base-2`, `base-3`, ... are stored as a range, not as an entry each, so a million nodes named after
//! one base take constant memory.

use smol_str::{SmolStr, format_smolstr};
use std::collections::{BTreeSet, HashMap};

/// The names of a graph's nodes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Names {
    /// The numbers in use, by base name.
    by_base: HashMap<SmolStr, Suffixes>,
}

/// Which of the names `base`, `base-2`, `base-3`, ... are in use.
#[derive(Clone, Debug)]
struct Suffixes {
    /// `base` itself is in use.
    base: bool,
    /// All numbers in `2..next` are in use, except those in `free`. `next` itself is not in use.
    next: u32,
    free: BTreeSet<u32>,
    /// Numbers above `next` that are in use.
    beyond: BTreeSet<u32>,
}

impl Default for Suffixes {
    fn default() -> Suffixes {
        Suffixes { base: false, next: 2, free: BTreeSet::new(), beyond: BTreeSet::new() }
    }
}

impl Suffixes {
    fn has(&self, number: u32) -> bool {
        if number < self.next { !self.free.contains(&number) } else { self.beyond.contains(&number) }
    }

    fn take(&mut self, number: u32) {
        if number < self.next {
            self.free.remove(&number);
        } else {
            self.beyond.insert(number);
            self.absorb_beyond();
        }
    }

    /// Takes the smallest free number.
    fn take_first(&mut self) -> u32 {
        let number = self.free.pop_first().unwrap_or(self.next);
        if number == self.next {
            self.next += 1;
            self.absorb_beyond();
        }
        number
    }

    /// Restores the invariant that `next` is not in use.
    fn absorb_beyond(&mut self) {
        while self.beyond.remove(&self.next) {
            self.next += 1;
        }
    }

    fn release(&mut self, number: u32) {
        if number < self.next {
            self.free.insert(number);
        } else {
            self.beyond.remove(&number);
        }
    }
}

impl Names {
    /// Takes `wanted` if it is free, otherwise the first free name of `wanted-2`, `wanted-3`, ...
    pub(crate) fn take(&mut self, wanted: SmolStr) -> SmolStr {
        let (base, number) = parts(&wanted);
        let suffixes = match number {
            None => self.by_base.entry(wanted.clone()).or_default(),
            Some(_) => self.by_base.entry(base.into()).or_default(),
        };
        let taken = number.map_or(suffixes.base, |number| suffixes.has(number));
        if taken {
            let first = self.by_base.entry(wanted.clone()).or_default().take_first();
            return format_smolstr!("{wanted}-{first}");
        }
        match number {
            Some(number) => suffixes.take(number),
            None => suffixes.base = true,
        }
        wanted
    }

    /// Makes a name free again.
    pub(crate) fn release(&mut self, name: &str) {
        let (base, number) = parts(name);
        let suffixes = self.by_base.get_mut(base).expect("a name in use");
        match number {
            Some(number) => suffixes.release(number),
            None => suffixes.base = false,
        }
    }
}

/// Splits `base-number` as this module writes it. Any other name is a base without a number.
fn parts(name: &str) -> (&str, Option<u32>) {
    let split = name.rsplit_once('-').and_then(|(base, digits)| {
        let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        let number: u32 = digits.parse().ok().filter(|_| plain)?;
        (2..u32::MAX).contains(&number).then_some((base, number))
    });
    split.map_or((name, None), |(base, number)| (base, Some(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_name_gets_the_first_free_suffix() {
        let mut names = Names::default();
        assert_eq!(names.take("a-3".into()), "a-3");
        assert_eq!(names.take("a".into()), "a");
        assert_eq!(names.take("a".into()), "a-2");
        assert_eq!(names.take("a".into()), "a-4");
        assert_eq!(names.take("a-3".into()), "a-3-2");
    }

    #[test]
    fn a_released_name_is_free_again() {
        let mut names = Names::default();
        for expected in ["a", "a-2", "a-3"] {
            assert_eq!(names.take("a".into()), expected);
        }
        names.release("a-2");
        assert_eq!(names.take("a".into()), "a-2");
        assert_eq!(names.take("a".into()), "a-4");
        names.release("a");
        assert_eq!(names.take("a".into()), "a");
        assert_eq!(names.take("a".into()), "a-5");
    }

    #[test]
    fn suffixes_in_another_form_are_part_of_the_base() {
        let mut names = Names::default();
        for name in ["a", "a-0", "a-02", "a-x", "-", ""] {
            assert_eq!(names.take(name.into()), name);
        }
        for name in ["a-0", "a-02", "a-x", "-"] {
            names.release(name);
            assert_eq!(names.take(name.into()), name);
        }
        assert_eq!(names.take("a".into()), "a-2");
    }
}

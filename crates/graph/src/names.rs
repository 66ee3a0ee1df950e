//! Unique names, found in constant time on average, and kept without an entry for each: a million
//! nodes may have one name and a number.

use smol_str::{SmolStr, format_smolstr};
use std::collections::{BTreeSet, HashMap};

/// The names of a graph's nodes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Names {
    /// By what stands before the number.
    families: HashMap<SmolStr, Family>,
}

/// The names `base`, `base-2`, `base-3`, ...
#[derive(Clone, Debug)]
struct Family {
    /// `base` itself is taken.
    base: bool,
    /// The numbers from 2 to here, exclusively, are taken, but for those in `free`.
    next: u32,
    free: BTreeSet<u32>,
    /// Numbers beyond that are taken too.
    beyond: BTreeSet<u32>,
}

impl Default for Family {
    fn default() -> Family {
        Family { base: false, next: 2, free: BTreeSet::new(), beyond: BTreeSet::new() }
    }
}

impl Family {
    fn has(&self, number: u32) -> bool {
        if number < self.next { !self.free.contains(&number) } else { self.beyond.contains(&number) }
    }

    fn take(&mut self, number: u32) {
        if number < self.next {
            self.free.remove(&number);
        } else {
            self.beyond.insert(number);
            self.close_up();
        }
    }

    /// Takes the first number that is free.
    fn take_first(&mut self) -> u32 {
        let number = self.free.pop_first().unwrap_or(self.next);
        if number == self.next {
            self.next += 1;
            self.close_up();
        }
        number
    }

    fn close_up(&mut self) {
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
    /// Takes `wanted`, or else the first free of `wanted-2`, `wanted-3`, ...
    pub(crate) fn take(&mut self, wanted: &str) -> SmolStr {
        let (base, number) = parts(wanted);
        let family = self.family(base);
        let taken = number.map_or(family.base, |number| family.has(number));
        if taken {
            let first = self.family(wanted).take_first();
            return format_smolstr!("{wanted}-{first}");
        }
        match number {
            Some(number) => family.take(number),
            None => family.base = true,
        }
        wanted.into()
    }

    /// Gives a name back.
    pub(crate) fn release(&mut self, name: &str) {
        let (base, number) = parts(name);
        let family = self.family(base);
        match number {
            Some(number) => family.release(number),
            None => family.base = false,
        }
    }

    fn family(&mut self, base: &str) -> &mut Family {
        if !self.families.contains_key(base) {
            self.families.insert(base.into(), Family::default());
        }
        self.families.get_mut(base).expect("it was inserted")
    }
}

/// `base` and `number` of `base-number`, as this module writes it; else the name as it is.
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

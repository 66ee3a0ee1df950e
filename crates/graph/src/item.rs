//! The item type of a port.

use crate::data;
use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};

data! {
    /// The item type of a port, for messages and size estimates.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct Item {
        /// The name of the Rust type.
        copy name: &'static str;
        /// Size of one item in bytes, without the heap memory it owns.
        copy bytes: usize;
    }
}

impl Item {
    /// The description of `T`.
    pub fn of<T>() -> Item {
        Item { name: std::any::type_name::<T>(), bytes: size_of::<T>() }
    }

    /// The description of a type by its name and the size of an item in bytes: for a graph that comes from a file, of
    /// which this program need not have the types.
    ///
    /// The process keeps each distinct name until it ends, once. A program that reads names that it does not trust
    /// must limit their number and length.
    ///
    /// ```
    /// use thalweg_graph::Item;
    ///
    /// assert_eq!(Item::named("u64", 8), Item::of::<u64>());
    /// ```
    pub fn named(name: &str, bytes: usize) -> Item {
        Item { name: intern(name), bytes }
    }
}

/// The names given to [`Item::named`] so far.
static NAMES: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);

/// The one copy of this name that the process keeps.
fn intern(name: &str) -> &'static str {
    // An insertion that panicked has inserted its name or not, so the set is valid also if the lock is poisoned.
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = names.get(name) {
        return kept;
    }
    let kept: &'static str = Box::leak(Box::from(name));
    names.insert(kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        let names = ["a::Type", "b::Type", "a::Type", ""].map(|name| Item::named(name, 3).name);
        assert_eq!(names, ["a::Type", "b::Type", "a::Type", ""]);
        assert_eq!(names[0].as_ptr(), names[2].as_ptr());
    }

    #[test]
    fn threads_share_the_names() {
        let kept = || Item::named("of::Threads", 1).name.as_ptr() as usize;
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(kept)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), kept());
        }
    }
}

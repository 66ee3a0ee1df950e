//! The groups of [`Stream::fold_by_key`](crate::Stream::fold_by_key).

use crate::contain::drop_each;
use std::collections::HashMap;
use std::hash::Hash;

/// A value for each key, in the order in which the keys came first.
pub(super) struct Groups<K, A> {
    /// The index of the key's value.
    places: HashMap<K, usize>,
    /// `None` while the folding function has the value, and if that has panicked.
    values: Vec<Option<A>>,
}

impl<K: Hash + Eq, A> Groups<K, A> {
    pub(super) fn new() -> Groups<K, A> {
        Groups { places: HashMap::new(), values: Vec::new() }
    }

    /// Replaces the value of a key, which `init` makes if the key is new.
    #[inline]
    pub(super) fn change(&mut self, key: K, init: impl FnOnce() -> A, f: impl FnOnce(A) -> A) {
        let values = &mut self.values;
        let place = *self.places.entry(key).or_insert_with(|| {
            values.push(None);
            let place = values.len() - 1;
            values[place] = Some(init());
            place
        });
        let value = &mut values[place];
        *value = value.take().map(f);
    }

    /// The keys with their values; `None` if a function of the user has panicked.
    pub(super) fn finish(self) -> Option<Vec<(K, A)>> {
        let mut keys: Vec<Option<K>> = self.values.iter().map(|_| None).collect();
        for (key, place) in self.places {
            keys[place] = Some(key);
        }
        let is_whole = keys.iter().all(Option::is_some) && self.values.iter().all(Option::is_some);
        let (keys, values) = (keys.into_iter().flatten(), self.values.into_iter().flatten());
        if is_whole {
            return Some(keys.zip(values).collect());
        }
        drop_each(keys.map(Part::Key).chain(values.map(Part::Value)));
        None
    }
}

/// A key or a value, to be dropped by itself.
enum Part<K, A> {
    Key(K),
    Value(A),
}

/// Drops each key and each value by itself ([`drop_each`]).
pub(super) fn drop_groups<K, A>(groups: Vec<(K, A)>) {
    drop_each(groups.into_iter().flat_map(|(key, value)| [Part::Key(key), Part::Value(value)]));
}

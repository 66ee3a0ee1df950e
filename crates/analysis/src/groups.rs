//! Values grouped by a number, in two flat vectors.

/// For each key below a count, its values, in the order in which they came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Groups<T> {
    /// The index in `values` where each group begins, and the length of `values`.
    starts: Vec<u32>,
    values: Vec<T>,
}

impl<T: Copy> Groups<T> {
    /// Groups pairs of a key and a value, by a counting sort. Keys are below `count`.
    pub(crate) fn new(count: usize, pairs: impl Iterator<Item = (usize, T)> + Clone) -> Groups<T> {
        let mut starts = vec![0; count + 1];
        pairs.clone().for_each(|(key, _)| starts[key + 1] += 1);
        for key in 0..count {
            starts[key + 1] += starts[key];
        }
        // The loop below overwrites every value.
        let mut values: Vec<T> = pairs.clone().map(|(_, value)| value).collect();
        let mut next = starts.clone();
        for (key, value) in pairs {
            values[next[key] as usize] = value;
            next[key] += 1;
        }
        Groups { starts, values }
    }

    /// The number of groups.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The values of a group.
    pub(crate) fn of(&self, key: usize) -> &[T] {
        &self.values[self.starts[key] as usize..self.starts[key + 1] as usize]
    }

    /// All groups, by key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.len()).map(|key| self.of(key))
    }

    /// All values, group after group.
    pub(crate) fn into_values(self) -> Vec<T> {
        self.values
    }
}

//! The numbers of the pool's members, and the thread that has had each.
//!
//! A number is that of one member at a time. The next member that takes it should be the same thread, since the stretches
//! of loops and the colours of tasks stand for data that this thread has used.

/// By number, from 1 on, less one.
pub(super) struct Numbers<T> {
    entries: Vec<Entry<T>>,
}

struct Entry<T> {
    is_taken: bool,
    /// The thread that has taken the number last.
    thread: Option<T>,
}

impl<T: Clone> Numbers<T> {
    pub(super) const fn new() -> Numbers<T> {
        Numbers { entries: Vec::new() }
    }

    /// Takes the lowest free number. Returns with it the thread that has had it last.
    pub(super) fn take(&mut self) -> (usize, Option<T>) {
        let free = self.entries.iter().position(|entry| !entry.is_taken);
        let at = free.unwrap_or_else(|| {
            self.entries.push(Entry { is_taken: false, thread: None });
            self.entries.len() - 1
        });
        self.entries[at].is_taken = true;
        (at + 1, self.entries[at].thread.clone())
    }

    /// Takes a number again, for the thread that has just put it back; the lowest free one if another thread has it now.
    pub(super) fn take_again(&mut self, number: usize) -> usize {
        let entry = &mut self.entries[number - 1];
        if entry.is_taken {
            return self.take().0;
        }
        entry.is_taken = true;
        number
    }

    /// Sets the thread of a number that is taken.
    pub(super) fn set_thread(&mut self, number: usize, thread: T) {
        self.entries[number - 1].thread = Some(thread);
    }

    pub(super) fn put_back(&mut self, number: usize) {
        self.entries[number - 1].is_taken = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_comes_with_the_thread_that_has_had_it() {
        let mut numbers = Numbers::new();
        for (number, thread) in [(1, 'a'), (2, 'b'), (3, 'c')] {
            assert_eq!(numbers.take(), (number, None));
            numbers.set_thread(number, thread);
        }
        [3, 1, 2].into_iter().for_each(|number| numbers.put_back(number));
        assert_eq!([(); 3].map(|()| numbers.take()), [(1, Some('a')), (2, Some('b')), (3, Some('c'))]);
        // Another thread has taken the place of one that was busy elsewhere.
        numbers.put_back(2);
        assert_eq!(numbers.take(), (2, Some('b')));
        numbers.set_thread(2, 'd');
        numbers.put_back(2);
        assert_eq!(numbers.take(), (2, Some('d')));
    }

    #[test]
    fn a_thread_takes_its_number_again_if_that_is_free() {
        let mut numbers = Numbers::<char>::new();
        (1..=3).for_each(|number| assert_eq!(numbers.take().0, number));
        numbers.put_back(3);
        assert_eq!(numbers.take_again(3), 3);
        [1, 2].into_iter().for_each(|number| numbers.put_back(number));
        assert_eq!(numbers.take_again(2), 2, "though 1 is free");
        numbers.put_back(2);
        assert_eq!((numbers.take().0, numbers.take().0), (1, 2));
        numbers.put_back(1);
        assert_eq!(numbers.take_again(2), 1, "another thread has 2");
    }
}

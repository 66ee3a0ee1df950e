//! The items of a batch, or the share of it that one process has behind a keyed stage.

use std::hash::{BuildHasher, Hash};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::piece::{Damaged, Piece};
use crate::ticket::Ticket;

/// The place of a key's first item in the order of all: part, batch, number in the batch.
pub(super) type First = (u32, u32, u32);

/// The places of items in the order of their batch. A process with a share of a batch needs them to put its items and those
/// of other processes back into order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Tags {
    /// All items of the batch are here, in order.
    Whole,
    /// Each item's number in the batch.
    Numbers(#[serde(with = "super::gaps")] Vec<u32>),
    /// The place of the first item of each key.
    Firsts(Vec<First>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Items<T> {
    pub tags: Tags,
    pub items: Vec<T>,
}

impl<T> Items<T> {
    /// All items of a batch.
    pub fn whole(items: Vec<T>) -> Items<T> {
        Items { tags: Tags::Whole, items }
    }

    pub fn map<U>(self, f: impl Fn(T) -> U) -> Items<U> {
        Items { tags: self.tags, items: self.items.into_iter().map(f).collect() }
    }

    pub fn try_map<U, E>(self, f: impl Fn(T) -> Result<U, E>) -> Result<Items<U>, E> {
        Ok(Items { tags: self.tags, items: self.items.into_iter().map(f).collect::<Result<_, E>>()? })
    }

    pub fn filter_map<U>(self, f: impl Fn(T) -> Option<U>) -> Items<U> {
        match self.tags {
            Tags::Whole => Items::whole(self.items.into_iter().filter_map(f).collect()),
            _ => self.flat_map(f),
        }
    }

    /// What is made of an item has the place of the item.
    pub fn flat_map<I: IntoIterator>(self, f: impl Fn(T) -> I) -> Items<I::Item> {
        if self.tags == Tags::Whole {
            return Items::whole(self.items.into_iter().flat_map(f).collect());
        }
        let (mut items, mut counts) = (Vec::new(), Vec::with_capacity(self.items.len()));
        for item in self.items {
            let before = items.len();
            items.extend(f(item));
            counts.push(items.len() - before);
        }
        Items { tags: self.tags.repeat(&counts), items }
    }

    /// The shares of processes, each with the items whose keys live there.
    pub fn divide<K: Hash>(self, processes: usize, key: impl Fn(&T) -> K) -> Vec<Items<T>> {
        let Items { tags, items } = self;
        match tags {
            Tags::Whole => divide(0.., items, processes, key, Tags::Numbers),
            Tags::Numbers(numbers) => divide(numbers, items, processes, key, Tags::Numbers),
            Tags::Firsts(firsts) => divide(firsts, items, processes, key, Tags::Firsts),
        }
    }

    /// The share of this process in a batch, whose pieces are of any processes, in order.
    pub fn merge(pieces: Vec<Piece>) -> Result<Items<T>, Damaged>
    where
        T: DeserializeOwned + 'static,
    {
        let mut shares = pieces.into_iter().map(|piece| piece.body.into_items::<Items<T>>());
        let mut all = shares.next().unwrap_or_else(|| Ok(Items::whole(Vec::new())))?;
        for share in shares {
            let share = share?;
            all.tags.append(share.tags)?;
            all.items.extend(share.items);
        }
        Ok(match all.tags {
            Tags::Whole => all,
            Tags::Numbers(numbers) => sort(numbers, all.items, Tags::Numbers),
            Tags::Firsts(firsts) => sort(firsts, all.items, Tags::Firsts),
        })
    }
}

impl Tags {
    /// The place in the order of all items that an item of a batch has.
    pub fn first(&self, ticket: Ticket, index: usize) -> First {
        match self {
            Tags::Whole => (ticket.part, ticket.batch, index as u32),
            Tags::Numbers(numbers) => (ticket.part, ticket.batch, numbers[index]),
            Tags::Firsts(firsts) => firsts[index],
        }
    }

    /// Each tag this number of times.
    fn repeat(self, counts: &[usize]) -> Tags {
        match self {
            Tags::Whole => Tags::Whole,
            Tags::Numbers(numbers) => Tags::Numbers(repeat(&numbers, counts)),
            Tags::Firsts(firsts) => Tags::Firsts(repeat(&firsts, counts)),
        }
    }

    fn append(&mut self, more: Tags) -> Result<(), Damaged> {
        match (self, more) {
            (Tags::Whole, Tags::Whole) => {}
            (Tags::Numbers(numbers), Tags::Numbers(more)) => numbers.extend(more),
            (Tags::Firsts(firsts), Tags::Firsts(more)) => firsts.extend(more),
            _ => return Err(Damaged::of::<Tags>("has tags of another stage")),
        }
        Ok(())
    }
}

fn repeat<Tag: Copy>(tags: &[Tag], counts: &[usize]) -> Vec<Tag> {
    tags.iter().zip(counts).flat_map(|(tag, count)| std::iter::repeat_n(*tag, *count)).collect()
}

/// Sorts items by their tags. Those of one process are sorted already, so this merges. Items of equal tags are of one
/// process, and stay in its order.
fn sort<Tag: Ord + Copy, T>(tags: Vec<Tag>, items: Vec<T>, of: impl Fn(Vec<Tag>) -> Tags) -> Items<T> {
    if tags.is_sorted() {
        return Items { tags: of(tags), items };
    }
    let mut both: Vec<(Tag, T)> = tags.into_iter().zip(items).collect();
    both.sort_by_key(|(tag, _)| *tag);
    let (tags, items) = both.into_iter().unzip();
    Items { tags: of(tags), items }
}

fn divide<Tag, T, K: Hash>(
    tags: impl IntoIterator<Item = Tag>,
    items: Vec<T>,
    processes: usize,
    key: impl Fn(&T) -> K,
    of: impl Fn(Vec<Tag>) -> Tags,
) -> Vec<Items<T>> {
    let mut shares: Vec<(Vec<Tag>, Vec<T>)> = (0..processes).map(|_| (Vec::new(), Vec::new())).collect();
    for (tag, item) in tags.into_iter().zip(items) {
        let share = &mut shares[home(&key(&item), processes)];
        share.0.push(tag);
        share.1.push(item);
    }
    shares.into_iter().map(|(tags, items)| Items { tags: of(tags), items }).collect()
}

/// The process in which a key lives.
pub(super) fn home<K: Hash>(key: &K, processes: usize) -> usize {
    // The high bits: the low ones place the key in the table of its process.
    let hash = foldhash::quality::FixedState::with_seed(0).hash_one(key);
    ((u128::from(hash) * processes as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piece::{Body, Place};
    use proptest::prelude::*;

    fn pieces(shares: Vec<Items<u64>>) -> Vec<Piece> {
        let ticket = Ticket::first_of(0);
        let piece = |(from, share): (usize, Items<u64>)| {
            let body = Body::new(share, Place::There).unwrap();
            Piece { ticket, last: true, more: false, from: from as u32, to: 0, body }
        };
        shares.into_iter().enumerate().map(piece).collect()
    }

    proptest! {
        /// What any number of processes makes of their shares is, merged, what one makes of all.
        #[test]
        fn shares_are_put_back_into_order(
            items in proptest::collection::vec(0..50u64, 0..40),
            processes in 1..5usize,
            firsts in any::<bool>(),
        ) {
            let f = |n: u64| (0..n % 4).map(move |more| n + more);
            let all = Items::whole(items.clone()).filter_map(|n| (n % 3 > 0).then_some(n)).flat_map(f);
            let whole = match firsts {
                false => Items::whole(items),
                true => {
                    let tags = (0..items.len() as u32).map(|n| (n / 9, n % 9 / 3, n % 3)).collect();
                    Items { tags: Tags::Firsts(tags), items }
                }
            };
            let shares = whole.divide(processes, |n| n % 5);
            let shares = shares.into_iter().map(|it| it.filter_map(|n| (n % 3 > 0).then_some(n)).flat_map(f));
            let merged = Items::<u64>::merge(pieces(shares.collect())).unwrap();
            prop_assert_eq!(merged.items, all.items);
        }
    }

    #[test]
    fn shares_of_other_stages_are_refused() {
        let numbers = Items { tags: Tags::Numbers(vec![1]), items: vec![1] };
        assert!(Items::<u64>::merge(pieces(vec![Items::whole(vec![2]), numbers])).is_err());
    }
}

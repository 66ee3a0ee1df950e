//! The items of a batch, or the share of it that one process has behind a keyed stage.

use std::hash::{BuildHasher, Hash};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::piece::{Body, Damaged, Piece, Place};
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
        if processes == 1 {
            return vec![self];
        }
        let Items { tags, items } = self;
        match tags {
            Tags::Whole => divide(0.., items, processes, key, Tags::Numbers),
            Tags::Numbers(numbers) => divide(numbers, items, processes, key, Tags::Numbers),
            Tags::Firsts(firsts) => divide(firsts, items, processes, key, Tags::Firsts),
        }
    }

    /// The body of the piece with these items. One without items needs no encoding, whatever their tags would be.
    pub fn into_body(self, place: Place) -> Result<Body, Damaged>
    where
        T: Serialize + Send + 'static,
    {
        if self.items.is_empty() { Ok(Body::Empty) } else { Body::new(self, place) }
    }

    /// The share of this process in a batch, whose pieces are of any processes, in order.
    pub fn merge(pieces: Vec<Piece>) -> Result<Items<T>, Damaged>
    where
        T: DeserializeOwned + 'static,
    {
        let pieces = pieces.into_iter().filter(|piece| !matches!(piece.body, Body::Empty));
        let mut shares = pieces.map(|piece| piece.body.into_items::<Items<T>>()).peekable();
        let first = shares.next().unwrap_or_else(|| Ok(Items::whole(Vec::new())))?;
        if shares.peek().is_none() {
            return Ok(first);
        }
        let other = || Damaged::of::<Tags>("has tags of another stage");
        let Items { tags, items } = first;
        match tags {
            Tags::Whole => shares.try_fold(Items::whole(items), |mut all, share| match share? {
                Items { tags: Tags::Whole, items } => {
                    all.items.extend(items);
                    Ok(all)
                }
                _ => Err(other()),
            }),
            Tags::Numbers(numbers) => {
                let rest = shares.map(|share| match share? {
                    Items { tags: Tags::Numbers(numbers), items } => Ok(Run { tags: numbers, items }),
                    _ => Err(other()),
                });
                merge(Run { tags: numbers, items }, rest, Tags::Numbers)
            }
            Tags::Firsts(firsts) => {
                let rest = shares.map(|share| match share? {
                    Items { tags: Tags::Firsts(firsts), items } => Ok(Run { tags: firsts, items }),
                    _ => Err(other()),
                });
                merge(Run { tags: firsts, items }, rest, Tags::Firsts)
            }
        }
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
}

fn repeat<Tag: Copy>(tags: &[Tag], counts: &[usize]) -> Vec<Tag> {
    tags.iter().zip(counts).flat_map(|(tag, count)| std::iter::repeat_n(*tag, *count)).collect()
}

/// Items in the order of their tags.
struct Run<Tag, T> {
    tags: Vec<Tag>,
    items: Vec<T>,
}

/// Merges the pieces of a batch by tags. The pieces of one process are in order, one behind the other. Items of equal tags are of
/// one process, and stay in its order.
fn merge<Tag: Ord + Copy, T>(
    first: Run<Tag, T>,
    rest: impl Iterator<Item = Result<Run<Tag, T>, Damaged>>,
    of: impl Fn(Vec<Tag>) -> Tags,
) -> Result<Items<T>, Damaged> {
    let (mut all, mut runs) = (first, Vec::new());
    for run in rest {
        let run = run?;
        if all.tags.last() <= run.tags.first() || run.tags.is_empty() {
            all.tags.extend(run.tags);
            all.items.extend(run.items);
        } else {
            runs.push(std::mem::replace(&mut all, run));
        }
    }
    runs.push(all);
    while runs.len() > 1 {
        let mut pairs = runs.into_iter();
        runs = Vec::new();
        while let Some(first) = pairs.next() {
            runs.push(match pairs.next() {
                Some(second) => first.merge(second),
                None => first,
            });
        }
    }
    let Run { tags, items } = runs.remove(0);
    Ok(Items { tags: of(tags), items })
}

impl<Tag: Ord + Copy, T> Run<Tag, T> {
    fn merge(self, other: Run<Tag, T>) -> Run<Tag, T> {
        let count = self.tags.len() + other.tags.len();
        let (mut tags, mut items) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut sides = [self.items.into_iter(), other.items.into_iter()];
        let (mut left, mut right) = (0, 0);
        while left < self.tags.len() && right < other.tags.len() {
            let heads = [self.tags[left], other.tags[right]];
            // An index, not a branch: which side is next cannot be predicted.
            let side = usize::from(heads[1] < heads[0]);
            tags.push(heads[side]);
            if let Some(item) = sides[side].next() {
                items.push(item);
            }
            (left, right) = (left + 1 - side, right + side);
        }
        tags.extend_from_slice(&self.tags[left..]);
        tags.extend_from_slice(&other.tags[right..]);
        items.extend(sides.into_iter().flatten());
        Run { tags, items }
    }
}

fn divide<Tag, T, K: Hash>(
    tags: impl IntoIterator<Item = Tag>,
    items: Vec<T>,
    processes: usize,
    key: impl Fn(&T) -> K,
    of: impl Fn(Vec<Tag>) -> Tags,
) -> Vec<Items<T>> {
    // Most of them have enough room for an even share and a bit.
    let room = items.len() / processes * 9 / 8;
    let share = |_| (Vec::with_capacity(room), Vec::with_capacity(room));
    let mut shares: Vec<(Vec<Tag>, Vec<T>)> = (0..processes).map(share).collect();
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
    use proptest::prelude::*;

    fn pieces(shares: Vec<Items<u64>>) -> Vec<Piece> {
        let ticket = Ticket::first_of(0);
        let piece = |(from, share): (usize, Items<u64>)| {
            let body = share.into_body(Place::There).unwrap();
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

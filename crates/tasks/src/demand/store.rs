//! The nodes of a graph on demand, and the edges by which they wait for each other.
//!
//! # States of a node
//!
//! | node is | `waiting` | `followers` | entered by | left by |
//! |---|---|---|---|---|
//! | created | 0 | a list | the thread whose insertion into the table succeeds | the member that explores it |
//! | waiting | predecessors without result, and 1 while it is explored | a list | `explore` | the last predecessor, or the end of `explore` |
//! | computed | no meaning | `DONE` | `compute` | never |
//!
//! A node that is created has one entry in a deque, to explore it; one that waits has none; one for which nothing is left to
//! wait has one again, to compute it, or the member that found this out computes it at once.
//!
//! # Edges
//!
//! Each predecessor of a node is an *edge*. A node with at most [`SHORT`] predecessors has its edges in itself; a longer
//! list is in storage of its own, with consecutive numbers. While a node has no result, its `followers` are a list of the
//! edges that lead to it: the head in the node, and in each edge the next one.
//!
//! *The race.* A node waits for a predecessor that has its result, and whose followers were counted before.
//!
//! *Why it cannot happen.* `followers` changes by compare-and-swap (`follow`) and by one swap to `DONE` (`finish`). Either
//! the edge is in the list that `finish` gets, and is counted; or `follow` finds `DONE`, and `explore` counts it. `waiting`
//! is set to the number of all edges and one more before the first edge can be found, so it does not become 0 early.
//!
//! *Orderings.* An edge is written before the `Release` of `follow`, which the `Acquire` of `finish` reads. A result is written
//! before the `Release` of `finish`, which pairs with the `Acquire` of `follow`, and of the counter: all decrements of
//! `waiting` are `AcqRel` and form a release sequence, and the last one acquires all results.
//!
//! *The last one decrements nothing.* A predecessor that reads `waiting` = 1 is the only one left, so it need not write:
//! no other thread accesses the counter any more. This saves one read-modify-write for each node.

use super::slab::Slab;
use super::table::Table;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use thalweg_runtime::SetOnce;

/// `followers` of a node that has its result. 0 is the empty list. An edge is [`LONG`] and its number, or else the number of
/// its owner, its place in it, and `FIRST_EDGE` more.
const DONE: u32 = 1;
const FIRST_EDGE: u32 = 2;
/// Bit of the name of an edge that is not in its owner.
const LONG: u32 = 1 << 31;
/// The edges in a node.
const SHORT: usize = 2;

/// The numbers of nodes are below this, so that an edge in a node has a name below `LONG`.
pub(super) const MOST_NODES: u64 = (1 << 30) - 1;
/// The numbers of edges outside of nodes are below this, and so are the predecessors of a node, all together.
const MOST_EDGES: u64 = 1 << 30;

/// `waiting` has in its upper bits the number of edges in the node, or `LISTED`; in the others what the node waits for.
const KIND: u32 = 30;
const COUNT: u32 = (1 << KIND) - 1;
/// The edges are outside of the node: the first link has the number of the first one, the second link how many.
const LISTED: u32 = 3;

/// What the nodes of a graph on demand are.
pub(super) struct Store<K, R> {
    pub(super) nodes: Slab<Node<K, R>>,
    edges: Slab<Edge>,
    pub(super) table: Table,
    next_node: AtomicU64,
    next_edge: AtomicU64,
}

/// A node. With keys of 8 bytes and results of 4 it takes 48 bytes.
pub(super) struct Node<K, R> {
    pub(super) key: SetOnce<K>,
    pub(super) result: SetOnce<R>,
    waiting: AtomicU32,
    followers: AtomicU32,
    links: [Link; SHORT],
}

/// An edge, in the node that waits.
#[derive(Default)]
struct Link {
    needs: AtomicU32,
    /// As `followers`.
    next: AtomicU32,
}

/// An edge outside of its node: node `owner` waits for another one.
#[derive(Default)]
struct Edge {
    owner: AtomicU32,
    link: Link,
}

/// The edges of a node.
#[derive(Clone, Copy)]
pub(super) enum Edges {
    Short,
    /// The number of the first one.
    Long(u32),
}

impl<K, R> Default for Node<K, R> {
    fn default() -> Node<K, R> {
        Node {
            key: SetOnce::new(),
            result: SetOnce::new(),
            waiting: AtomicU32::new(0),
            followers: AtomicU32::new(0),
            links: Default::default(),
        }
    }
}

/// Numbers that a member has for itself.
#[derive(Default)]
pub(super) struct Block {
    next: u32,
    end: u32,
}

/// More nodes or edges than their numbers can name.
#[derive(Debug)]
pub(super) struct Full {
    pub(super) what: &'static str,
    pub(super) limit: u64,
}

impl Block {
    /// Makes sure that `count` consecutive numbers are in the block, which gets at least `block` new ones if it has too few.
    #[inline]
    fn ensure(&mut self, count: u32, block: u32, next: &AtomicU64, limit: u64) -> Result<u32, u64> {
        if self.end - self.next < count {
            let take = count.max(block);
            let start = next.fetch_add(take.into(), Ordering::Relaxed);
            if start + u64::from(take) > limit {
                return Err(limit);
            }
            (self.next, self.end) = (start as u32, start as u32 + take);
        }
        Ok(self.next)
    }
}

impl<K, R> Store<K, R> {
    pub(super) fn new(threads: usize) -> Store<K, R> {
        Store {
            nodes: Slab::new(),
            edges: Slab::new(),
            table: Table::new(threads),
            next_node: AtomicU64::new(0),
            next_edge: AtomicU64::new(0),
        }
    }

    /// The number for the next node that a member creates.
    #[inline]
    pub(super) fn next_node(&self, block: &mut Block) -> Result<u32, Full> {
        let next = block.ensure(1, 64, &self.next_node, MOST_NODES);
        next.map_err(|limit| Full { what: "nodes", limit })
    }

    /// Takes the number of [`Store::next_node`].
    #[inline]
    pub(super) fn created(&self, block: &mut Block) {
        block.next += 1;
    }

    /// Begins to explore a node with this number of predecessors.
    #[inline]
    pub(super) fn begin(&self, node: &Node<K, R>, count: usize, block: &mut Block) -> Result<Edges, Full> {
        if count <= SHORT {
            node.waiting.store((count as u32) << KIND | (count as u32 + 1), Ordering::Relaxed);
            return Ok(Edges::Short);
        }
        self.begin_long(node, count, block)
    }

    #[cold]
    fn begin_long(&self, node: &Node<K, R>, count: usize, block: &mut Block) -> Result<Edges, Full> {
        let full = |limit| Full { what: "edges", limit };
        let many = u32::try_from(count).ok().filter(|count| u64::from(*count) < MOST_EDGES - 1);
        let count = many.ok_or(full(MOST_EDGES))?;
        let first = block.ensure(count, 256, &self.next_edge, MOST_EDGES).map_err(full)?;
        block.next += count;
        node.links[0].needs.store(first, Ordering::Relaxed);
        node.links[1].needs.store(count, Ordering::Relaxed);
        node.waiting.store(LISTED << KIND | (count + 1), Ordering::Relaxed);
        Ok(Edges::Long(first))
    }

    /// Lets a node wait for another one by the edge at this place; false if that node has its result.
    #[inline]
    pub(super) fn follow(
        &self,
        owner: Named<'_, K, R>,
        (edges, at): (Edges, u32),
        needs: Named<'_, K, R>,
        alone: bool,
    ) -> bool {
        let (link, edge) = match edges {
            Edges::Short => (&owner.node.links[at as usize], owner.number * SHORT as u32 + at + FIRST_EDGE),
            Edges::Long(first) => {
                let edge = self.edges.make(first + at);
                edge.owner.store(owner.number, Ordering::Relaxed);
                (&edge.link, LONG | (first + at))
            }
        };
        link.needs.store(needs.number, Ordering::Relaxed);
        let followers = &needs.node.followers;
        let mut head = followers.load(Ordering::Acquire);
        while head != DONE {
            link.next.store(head, Ordering::Relaxed);
            if alone {
                followers.store(edge, Ordering::Relaxed);
                return true;
            }
            match followers.compare_exchange_weak(head, edge, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return true,
                Err(now) => head = now,
            }
        }
        false
    }

    /// Ends the list of a node that has its result, and calls `arrived` with each node for which nothing is left to wait.
    #[inline]
    pub(super) fn finish<'s>(
        &'s self,
        node: &Node<K, R>,
        alone: bool,
        mut arrived: impl FnMut(Named<'s, K, R>),
    ) {
        let followers = &node.followers;
        let mut head = if alone {
            let head = followers.load(Ordering::Relaxed);
            followers.store(DONE, Ordering::Relaxed);
            head
        } else {
            followers.swap(DONE, Ordering::AcqRel)
        };
        while head >= FIRST_EDGE {
            let (owner, next) = self.edge(head);
            head = next;
            if owner.node.arrive(1, alone) {
                arrived(owner);
            }
        }
    }

    /// The owner of an edge in a list, and the next edge.
    #[inline]
    fn edge(&self, edge: u32) -> (Named<'_, K, R>, u32) {
        if edge & LONG != 0 {
            let edge = self.edges.get(edge & !LONG);
            let owner = self.named(edge.owner.load(Ordering::Relaxed));
            return (owner, edge.link.next.load(Ordering::Relaxed));
        }
        let (owner, at) = ((edge - FIRST_EDGE) / SHORT as u32, (edge - FIRST_EDGE) as usize % SHORT);
        let owner = self.named(owner);
        (owner, owner.node.links[at].next.load(Ordering::Relaxed))
    }

    /// A node that was created.
    #[inline]
    pub(super) fn named(&self, number: u32) -> Named<'_, K, R> {
        Named { number, node: self.nodes.get(number) }
    }

    /// A predecessor of a node that was explored.
    #[inline]
    pub(super) fn predecessor(&self, node: &Node<K, R>, index: usize) -> u32 {
        let link = if node.kind() == LISTED {
            &self.edges.get(node.links[0].needs.load(Ordering::Relaxed) + index as u32).link
        } else {
            &node.links[index]
        };
        link.needs.load(Ordering::Relaxed)
    }

    /// All predecessors of a node that was explored.
    pub(super) fn predecessors(&self, node: &Node<K, R>) -> impl Iterator<Item = u32> {
        (0..node.count()).map(move |index| self.predecessor(node, index))
    }
}

/// A node with its number.
pub(super) struct Named<'s, K, R> {
    pub(super) number: u32,
    pub(super) node: &'s Node<K, R>,
}

impl<K, R> Clone for Named<'_, K, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, R> Copy for Named<'_, K, R> {}

impl<K, R> Node<K, R> {
    /// The key of a node that was created.
    #[inline]
    pub(super) fn key(&self) -> &K {
        self.key.get().expect("a node has its key before its number is known")
    }

    #[inline]
    fn kind(&self) -> u32 {
        self.waiting.load(Ordering::Relaxed) >> KIND
    }

    /// The number of predecessors of a node that was explored.
    #[inline]
    pub(super) fn count(&self) -> usize {
        match self.kind() {
            LISTED => self.links[1].needs.load(Ordering::Relaxed) as usize,
            short => short as usize,
        }
    }

    /// Whether the node was explored and has no result. All members have ended.
    pub(super) fn is_left(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) & COUNT > 0 && self.result.get().is_none()
    }

    /// Subtracts `count` from what the node waits for; true if nothing is left.
    #[inline]
    pub(super) fn arrive(&self, count: u32, alone: bool) -> bool {
        let seen = self.waiting.load(Ordering::Acquire);
        if seen & COUNT == count {
            return true;
        }
        if alone {
            self.waiting.store(seen - count, Ordering::Relaxed);
            return false;
        }
        self.waiting.fetch_sub(count, Ordering::AcqRel) & COUNT == count
    }
}

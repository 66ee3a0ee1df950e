//! Which thread has computed which task, and what of it was remote.

use crate::graph::Graph;
use crate::neighbours::Neighbours;
use thalweg::loops::Assignment;

/// The schedule of a ranking that is done.
///
/// Its colours are those of the paper: a block has the colour of the thread that has it in a contiguous partition of the
/// blocks, which is also where a loop begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    threads: usize,
    pages_per_task: usize,
    blocks: usize,
    /// The thread of each task, by iteration and block.
    members: Vec<u16>,
}

/// Accesses of a recorded schedule, counted as in section 5.5.2 of *Locality-aware concurrency platforms*: an access is remote
/// if the colour of its data is that of no thread in the memory domain of the thread that computes the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accesses {
    /// Tasks, with one access each to their own block.
    pub tasks: u64,
    /// Of the tasks, those on a thread far from their block.
    pub remote_tasks: u64,
    /// Predecessors of tasks: blocks that have links into the task's, of the iteration before. The first iteration has none.
    pub predecessors: u64,
    /// Of the predecessors, those far from the thread of the task.
    pub remote_predecessors: u64,
    /// The links from the predecessors.
    pub links: u64,
    /// Of the links, those from predecessors far from the thread of the task.
    pub remote_links: u64,
}

impl Recording {
    pub(crate) fn new(threads: usize, pages_per_task: usize, blocks: usize) -> Recording {
        Recording { threads, pages_per_task, blocks, members: Vec::new() }
    }

    /// Adds an iteration that was a loop over the blocks.
    pub(crate) fn add_loop(&mut self, assignment: &Assignment) {
        let first = self.members.len();
        self.members.resize(first + self.blocks, 0);
        for (member, ranges) in assignment.members().iter().enumerate() {
            for block in ranges.iter().cloned().flatten() {
                self.members[first + block] = member as u16;
            }
        }
    }

    /// Adds iterations that were a graph of tasks.
    pub(crate) fn add_tasks(&mut self, members: impl Iterator<Item = u16>) {
        self.members.extend(members);
    }

    /// The most threads that have worked at once.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The tasks of an iteration.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// The iterations.
    pub fn iterations(&self) -> usize {
        self.members.len().checked_div(self.blocks).unwrap_or(0)
    }

    /// The thread that has computed a task, by its iteration, from 0, and its block.
    ///
    /// # Panics
    /// If there is no such task.
    pub fn thread(&self, iteration: usize, block: usize) -> usize {
        assert!(block < self.blocks, "block {block} of {}", self.blocks);
        self.members[iteration * self.blocks + block].into()
    }

    /// Replays the schedule on threads of these memory domains, by their numbers, and counts the accesses. A thread that the
    /// list does not have is in a domain of its own.
    ///
    /// # Panics
    /// If the graph is not the one that was ranked.
    pub fn replay(&self, graph: &Graph, domains: &[usize]) -> Accesses {
        assert_eq!(graph.pages().div_ceil(self.pages_per_task), self.blocks, "the schedule of another graph");
        let neighbours = Neighbours::new(graph, self.pages_per_task);
        let colours: Vec<usize> =
            (0..self.blocks).map(|block| member_of(block, self.blocks, self.threads)).collect();
        let domain = |thread: usize| domains.get(thread).copied().ok_or(thread);
        let mut all = Accesses::default();
        for (at, thread) in self.members.iter().enumerate() {
            let here = domain((*thread).into());
            let is_remote = |block: usize| u64::from(domain(colours[block]) != here);
            let block = at % self.blocks;
            all.tasks += 1;
            all.remote_tasks += is_remote(block);
            let has_predecessors = at >= self.blocks;
            for (source, links) in neighbours.sources[block].iter().filter(|_| has_predecessors) {
                let remote = is_remote(*source as usize);
                all.predecessors += 1;
                all.remote_predecessors += remote;
                all.links += links;
                all.remote_links += remote * links;
            }
        }
        all
    }
}

/// The member that has a block in a contiguous partition: the parts differ by one block at most.
pub(crate) fn member_of(block: usize, blocks: usize, members: usize) -> usize {
    // Member `m` begins with block `blocks * m / members`.
    (((block + 1) * members - 1) / blocks).min(members - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_of_the_loops() {
        for (blocks, members) in [(10, 3), (3, 10), (27, 2), (1, 1), (80, 80), (1000, 7)] {
            let begin = |member: usize| blocks * member / members;
            for block in 0..blocks {
                let member = member_of(block, blocks, members);
                assert!((begin(member)..begin(member + 1)).contains(&block), "{block} of {blocks}: {member}");
            }
        }
    }
}

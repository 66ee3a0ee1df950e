//! Work, span, and the bounds of section 5.3.

use super::{TaskGraph, TaskSettings};

/// What the bounds on attempts to steal depend on. Times are in ticks, and count only the nodes that the sink needs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measures {
    /// *T₁*: the work of all nodes, with every access to near memory, and a tick for each node and each edge.
    pub work: u64,
    /// *T∞*: the largest work of the nodes on a path, and a tick for each of them.
    pub span: u64,
    /// *M*: the largest number of nodes on a path.
    pub longest: u64,
    /// *d*: the largest number of predecessors or successors of a node.
    pub degree: u64,
}

impl Measures {
    /// The measures of a graph on a machine.
    ///
    /// ```
    /// use thalweg_sim::tasks::{Measures, TaskCosts, TaskSettings, shapes};
    ///
    /// let settings = TaskSettings { costs: TaskCosts::UNIT, ..TaskSettings::default() };
    /// let chain = Measures::of(&shapes::chain(10, 5), &settings);
    /// assert_eq!((chain.longest, chain.degree), (10, 1));
    /// // Each node has 5 ticks of work, one for its own data, and but for the first one for its predecessor's.
    /// assert_eq!(chain.span, 10 * (5 + 1 + 1) + 9);
    /// ```
    ///
    /// # Panics
    /// The graph has no nodes.
    pub fn of(graph: &TaskGraph, settings: &TaskSettings) -> Measures {
        let needed = graph.needed();
        let mut all = Measures { work: 0, span: 0, longest: 0, degree: 0 };
        // By node: the span and the number of nodes of the longest paths that end there, and its successors.
        let mut paths = vec![(0, 0, 0); needed.len()];
        for node in (0..needed.len()).filter(|&node| needed[node]) {
            let before = graph.predecessors(node as u32);
            let own = graph.nodes()[node];
            let work = own.work + (own.accesses + own.reads * before.len() as u64) * settings.costs.near;
            let (mut span, mut longest) = (0, 0);
            for &other in before {
                let path = &mut paths[other as usize];
                (span, longest, path.2) = (span.max(path.0), longest.max(path.1), path.2 + 1);
            }
            paths[node] = (span + work + 1, longest + 1, 0);
            all.work += work + 1 + before.len() as u64;
            all.degree = all.degree.max(before.len() as u64);
        }
        for (span, longest, successors) in paths {
            all.span = all.span.max(span);
            all.longest = all.longest.max(longest);
            all.degree = all.degree.max(successors);
        }
        all
    }

    /// *P T∞ + P M lg d + P lg(P / ε)*: random attempts to steal are at most a constant times this, with probability
    /// 1 - ε (Theorem 5.3.1).
    pub fn random_attempts(&self, workers: usize, epsilon: f64) -> f64 {
        let workers = workers as f64;
        let spawns = self.longest as f64 * (self.degree.max(1) as f64).log2();
        workers * (self.span as f64 + spawns + (workers / epsilon).log2())
    }

    /// The same and *T₁ + P C*: coloured attempts are at most a constant times this (Lemma 5.3.2). `first` is *C*, the
    /// largest number of attempts of one worker before its first work.
    pub fn coloured_attempts(&self, workers: usize, epsilon: f64, first: u64) -> f64 {
        self.random_attempts(workers, epsilon) + self.work as f64 + workers as f64 * first as f64
    }
}

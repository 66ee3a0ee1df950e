//! A graph that can be ranked.

use crate::edges::Edges;
use crate::links::Links;
use crate::{Error, Result};
use thalweg::Loop;

/// Pages and the links between them. Pages have the numbers `0..pages()`, in the order of their ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    ids: Ids,
    links: Links,
    /// 1 divided by the sum of the weights of a page's outgoing links; 0 for a dangling page, which has none.
    inverse: Vec<f64>,
}

/// The ids of the pages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ids {
    /// Page `p` has the id `first + p`.
    Numbered { first: u64 },
    /// The ids by page, in increasing order.
    Named(Vec<u64>),
}

impl Graph {
    /// The graph of these edges, whose numbers are below `pages`.
    pub(crate) fn new(ids: Ids, pages: usize, edges: Edges, loops: &Loop) -> Result<Graph> {
        let links = Links::new(pages, edges, loops);
        let mut graph = Graph { ids, inverse: out_weights(pages, &links), links };
        graph.invert()?;
        Ok(graph)
    }

    /// The number of pages.
    pub fn pages(&self) -> usize {
        self.inverse.len()
    }

    /// The links, by the pages that they lead to.
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// For each page 1 divided by the sum of the weights of its outgoing links; 0 for a dangling page, which has none.
    pub fn inverse_out_weights(&self) -> &[f64] {
        &self.inverse
    }

    /// The id of a page in the input.
    ///
    /// # Panics
    /// If the graph has ids from its input, and `page` is not below [`Graph::pages`].
    pub fn id(&self, page: usize) -> u64 {
        match &self.ids {
            Ids::Numbered { first } => first + page as u64,
            Ids::Named(ids) => ids[page],
        }
    }

    /// The number of pages without outgoing links.
    pub fn dangling(&self) -> usize {
        self.inverse.iter().filter(|inverse| **inverse == 0.0).count()
    }

    /// Replaces the sums of weights by their inverses.
    fn invert(&mut self) -> Result<()> {
        for page in 0..self.inverse.len() {
            let sum = self.inverse[page];
            if sum > 0.0 {
                self.inverse[page] = 1.0 / sum;
                // A subnormal inverse loses digits, and an infinite one makes the ranks infinite.
                if !self.inverse[page].is_normal() {
                    return Err(Error::Weights { page: self.id(page), sum });
                }
            }
        }
        Ok(())
    }
}

/// The sum of the weights of each page's outgoing links.
fn out_weights(pages: usize, links: &Links) -> Vec<f64> {
    let mut sums = vec![0.0; pages];
    match &links.weights {
        None => links.sources.iter().for_each(|source| sums[*source as usize] += 1.0),
        Some(weights) => {
            links.sources.iter().zip(weights).for_each(|(source, weight)| sums[*source as usize] += weight);
        }
    }
    sums
}

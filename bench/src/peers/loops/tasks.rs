//! Steps over grids as graphs of tasks, without a barrier between steps.

use super::grid::Write;
use super::job::{Data, LoopJob, Shape};
use crate::row::{Row, timed};
use std::ops::Range;
use thalweg::tasks::{Colour, SearchSettings, StaticGraph, TaskOptions};

/// The steps of a graph, as in Table 5.1 of *Locality-Aware Concurrency Platforms*. It is run again and again.
pub const ITERATIONS: usize = 5;

/// How a graph of tasks executes a job: by blocks of these rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Tasks {
    /// The rows and columns of a block. Columns are a multiple of 16.
    pub block: (usize, usize),
    /// How members search for tasks.
    pub search: SearchSettings,
    /// The members of the run.
    pub threads: usize,
}

impl LoopJob {
    /// Executes the steps, of which there are a multiple of [`ITERATIONS`], as a graph; the time without making the graph and
    /// the data.
    ///
    /// # Errors
    /// The job is not one over a grid, or the graph fails.
    pub fn run_tasks(&self, tasks: &Tasks) -> Result<Row, String> {
        let mut data = self.data();
        let across = self.size.1.div_ceil(tasks.block.1);
        let blocks = (self.size.0.div_ceil(tasks.block.0), across);
        let mut graph = graph(blocks, tasks.threads);
        let options = TaskOptions::new().members(tasks.threads).search(tasks.search);
        let part = |node: u32| {
            let at = node as usize % (blocks.0 * across);
            let range = |at: usize, length: usize, all: usize| at * length..(at * length + length).min(all);
            let rows = range(at / across, tasks.block.0, self.size.0);
            (node as usize / (blocks.0 * across), rows, range(at % across, tasks.block.1, self.size.1))
        };
        let mut run = |compute: &(dyn Fn(u32, usize) + Sync)| {
            let mut outcome = Ok(());
            let row = timed(|| {
                for graph_of in 0..self.repeats / ITERATIONS {
                    let base = graph_of * ITERATIONS;
                    let ended = graph.run_with(&options, |node| compute(node, base));
                    outcome = ended.map(|_| ()).map_err(|error| error.to_string());
                }
                0
            });
            outcome.map(|()| row)
        };
        let row = match (&mut data, self.shape) {
            (Data::Heat([even, odd]), _) => {
                let grids = [even.write(), odd.write()];
                run(&|node, base| {
                    let (step, rows, columns) = part(node);
                    assert_eq!(columns, 0..self.size.1, "a block of heat has whole rows");
                    let (from, to) = turn(grids, base + step);
                    rows.for_each(|row| self.heat(from.reader(), to, row));
                })?
            }
            (Data::Life([even, odd]), Shape::Life { .. }) => {
                let grids = [even.write(), odd.write()];
                run(&|node, base| {
                    let (step, rows, columns) = part(node);
                    let (from, to) = turn(grids, base + step);
                    self.life(from.reader(), to, rows, columns);
                })?
            }
            _ => return Err("the job is not one over a grid".into()),
        };
        Ok(Row { checksum: data.checksum(self.repeats / ITERATIONS * ITERATIONS), ..row })
    }
}

/// The grid that a step reads, and the one that it writes. A step of a block writes over what the step before last has
/// computed. Its neighbours' last steps have read that, and it comes after these.
fn turn<T>(grids: [Write<'_, T>; 2], step: usize) -> (Write<'_, T>, Write<'_, T>)
where
    T: Copy,
{
    let [even, odd] = grids;
    if step.is_multiple_of(2) { (even, odd) } else { (odd, even) }
}

/// The graph of [`ITERATIONS`] steps: a block needs itself and its eight neighbours of the step before. The members have
/// contiguous parts of the blocks.
fn graph((down, across): (usize, usize), members: usize) -> StaticGraph {
    let blocks = down * across;
    let near = |at: usize, end: usize| -> Range<usize> { at.saturating_sub(1)..(at + 2).min(end) };
    let graph = StaticGraph::from_successors((blocks * ITERATIONS) as u32, |node, after| {
        let (step, at) = (node as usize / blocks, node as usize % blocks);
        if step + 1 < ITERATIONS {
            let next = (step + 1) * blocks;
            for row in near(at / across, down) {
                after.extend(near(at % across, across).map(|column| (next + row * across + column) as u32));
            }
        }
    });
    graph.colours(|node| Some(Colour((node as usize % blocks * members / blocks) as u32)))
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::Alone;
    use super::*;

    #[test]
    fn a_graph_of_tasks_computes_what_loops_do() {
        let shapes = [(Shape::Heat, (16, 90)), (Shape::Life { block: (16, 32) }, (16, 32))];
        for (shape, block) in shapes {
            let job = LoopJob {
                shape,
                size: (70, 90 + 6 * usize::from(shape != Shape::Heat)),
                planted: (0, 1),
                repeats: 15,
            };
            let expected = job.run(&Alone).checksum;
            for (threads, search) in
                [(1, SearchSettings::default()), (2, SearchSettings::RANDOM), (3, SearchSettings::default())]
            {
                let tasks = Tasks { block, search, threads };
                assert_eq!(job.run_tasks(&tasks).unwrap().checksum, expected, "{shape:?} {tasks:?}");
            }
        }
    }
}

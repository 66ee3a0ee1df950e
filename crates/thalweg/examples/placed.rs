//! Sums the blocks of an array by a graph of tasks, each near the memory of its block: the colours of the tasks are those of
//! the threads that have first written the array. Prints the sum, and how many accesses to blocks were remote.
//!
//! With a described machine (see `thalweg machine`) the accesses are counted as if the threads were spread over it:
//!
//! ```text
//! cargo run --release --example placed
//! cargo run --release --example placed server.machine
//! ```

use std::error::Error;
use std::fs;

use thalweg::Loop;
use thalweg::loops::{Placed, Schedule, team_size};
use thalweg::machine::Machine;
use thalweg::tasks::{Colour, OnDemand, TaskGraph, TaskOptions};

/// The levels of the tree, of which the last one has a leaf for each block.
const LEVELS: u32 = 8;
/// The numbers of a block.
const BLOCK: usize = 4096;

/// A node of the tree: its level, and its number in the level.
type Key = (u32, u32);

fn main() -> Result<(), Box<dyn Error>> {
    let machine = match std::env::args().nth(1) {
        Some(path) => {
            let wrong = |error| format!("{path}: {error}");
            Machine::read(&fs::read_to_string(&path)?).map_err(wrong)?
        }
        None => Machine::here(),
    };
    // Each thread writes a stretch of the array first, so its pages are in the memory of that thread.
    let numbers = Loop::new().schedule(Schedule::Static).place(BLOCK << LEVELS, |at| at as f64);

    let tree = OnDemand::new(
        |&(level, number): &Key, needs: &mut Vec<Key>| {
            if level < LEVELS {
                needs.extend([(level + 1, 2 * number), (level + 1, 2 * number + 1)]);
            }
        },
        |&(level, number), context| match level {
            LEVELS => numbers[number as usize * BLOCK..][..BLOCK].iter().sum(),
            _ => context.inputs().sum::<f64>(),
        },
    );
    let tree = tree.colour(|key| colour(&numbers, *key));

    let places = machine.places(team_size());
    let finished = tree.run_with((0, 0), &TaskOptions::new().places(&places))?;
    let counts = finished.counts().total();
    println!("sum: {}", finished.sink());
    println!("remote accesses: {} of {}", counts.remote(), counts.accesses());
    Ok(())
}

/// The colour of a node is that of the first block below it: a thread that computes a node has read a part of its inputs.
fn colour(numbers: &Placed<f64>, (level, number): Key) -> Option<Colour> {
    let block = (number as usize) << (LEVELS - level);
    numbers.colour_of(block * BLOCK)
}

//! What became of runs of actors, kept beside the library so that a later start need not find it again: which are
//! blocks, and what those see of them who only run what was made.

use super::parts::Parts;
use super::{Block, Run};
use crate::plan::Plan;

/// A block without what its code is written from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outline {
    /// As in [`Block`].
    vectors: u32,
    beside: u32,
    across: Option<u32>,
}

/// What became of each run that was looked at, in order: a block, or none.
pub(crate) type Outlines = Vec<Option<Outline>>;

impl Outline {
    fn of(block: &Block) -> Outline {
        let Block { vectors, beside, across, .. } = *block;
        Outline { vectors, beside, across: across.map(|width| width as u32) }
    }

    /// A block that can be run, and not written.
    fn block(self, run: &Run, plan: &Plan) -> Block {
        let Outline { vectors, beside, across } = self;
        Block {
            actors: run.actors.clone(),
            nodes: run.nodes(plan),
            entrances: Vec::new(),
            exits: Vec::new(),
            parts: Parts::default(),
            tables: Vec::new(),
            beside,
            across: across.map(|width| width as usize),
            vectors,
        }
    }

    fn numbers(self) -> [u32; 3] {
        [self.vectors, self.beside, self.across.unwrap_or(0)]
    }

    fn of_numbers([vectors, beside, across]: [u32; 3]) -> Outline {
        Outline { vectors, beside, across: (across > 0).then_some(across) }
    }
}

/// Runs that are looked at, or that it is known of what becomes of them.
pub(crate) enum Looks<'a> {
    /// What was found up to now.
    New(Outlines),
    /// Those that are still to come.
    Known(std::slice::Iter<'a, Option<Outline>>),
}

impl<'a> Looks<'a> {
    pub(crate) fn new(known: Option<&'a Outlines>) -> Looks<'a> {
        known.map_or(Looks::New(Vec::new()), |known| Looks::Known(known.iter()))
    }

    /// What becomes of a run.
    pub(super) fn at(
        &mut self,
        run: &Run,
        plan: &Plan,
        find: impl FnOnce() -> Option<Block>,
    ) -> Option<Block> {
        match self {
            Looks::New(found) => {
                let block = find();
                found.push(block.as_ref().map(Outline::of));
                block
            }
            Looks::Known(known) => {
                let outline = known.next().expect("the same runs are looked at each time");
                outline.map(|outline| outline.block(run, plan))
            }
        }
    }

    /// What was found.
    pub(crate) fn found(self) -> Outlines {
        match self {
            Looks::New(found) => found,
            Looks::Known(_) => Vec::new(),
        }
    }
}

/// Outlines in words: three numbers each, or a dash.
pub(crate) fn to_text(outlines: &Outlines) -> String {
    let word = |outline: &Option<Outline>| {
        outline.map_or("-".to_owned(), |outline| outline.numbers().map(|number| number.to_string()).join(" "))
    };
    outlines.iter().map(word).collect::<Vec<_>>().join("\n")
}

/// The opposite; none of a text that is something else.
pub(crate) fn from_text(text: &str) -> Option<Outlines> {
    let outline = |line: &str| {
        if line == "-" {
            return Some(None);
        }
        let numbers: Result<Vec<u32>, _> = line.split(' ').map(str::parse).collect();
        Some(Some(Outline::of_numbers(numbers.ok()?.try_into().ok()?)))
    };
    text.lines().map(outline).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_are_read_as_they_were_written() {
        let block = |across| Some(Outline { vectors: 700, beside: 2, across });
        for outlines in [vec![], vec![None], vec![block(None), None, block(Some(8))]] {
            assert_eq!(from_text(&to_text(&outlines)), Some(outlines));
        }
        for wrong in ["-1", "1 2", "1 2 3 4", "1 2 x", "--"] {
            assert_eq!(from_text(wrong), None, "{wrong}");
        }
    }
}

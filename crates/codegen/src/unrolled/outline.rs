//! What planning found for each run of actors, stored beside the library so that a later start need not
//! search again: which runs are blocks, and the properties of blocks that are needed to run them.

use super::Block;
use super::parts::Parts;
use super::runs::Run;
use crate::plan::Plan;

/// A block without the data its code is generated from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outline {
    /// As in [`Block`].
    vectors: u32,
    beside: u32,
    across: Option<u32>,
}

/// The results for all examined runs, in order: an outline, or `None` where a run is no block.
pub(crate) type Outlines = Vec<Option<Outline>>;

impl Outline {
    fn of(block: &Block) -> Outline {
        let Block { vectors, beside, across, .. } = *block;
        Outline { vectors, beside, across: across.map(|width| width as u32) }
    }

    /// A block that can be run, but not emitted.
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

/// How runs are judged: by searching, or from known results.
pub(crate) enum Looks<'a> {
    /// The results so far.
    New(Outlines),
    /// The results still to be used.
    Known(std::slice::Iter<'a, Option<Outline>>),
}

impl<'a> Looks<'a> {
    pub(crate) fn new(known: Option<&'a Outlines>) -> Looks<'a> {
        known.map_or(Looks::New(Vec::new()), |known| Looks::Known(known.iter()))
    }

    /// The block of a run, if it is one.
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
                let outline = known.next().expect("planning examines the same runs each time");
                outline.map(|outline| outline.block(run, plan))
            }
        }
    }

    /// The results found.
    pub(crate) fn found(self) -> Outlines {
        match self {
            Looks::New(found) => found,
            Looks::Known(_) => Vec::new(),
        }
    }
}

/// Outlines as text: a line of three numbers each, or a dash.
pub(crate) fn to_text(outlines: &Outlines) -> String {
    let word = |outline: &Option<Outline>| {
        outline.map_or("-".to_owned(), |outline| outline.numbers().map(|number| number.to_string()).join(" "))
    };
    outlines.iter().map(word).collect::<Vec<_>>().join("\n")
}

/// Parses what [`to_text`] wrote; `None` for any other text.
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

//! Patterns: finite sets of living cells with their rule.

use super::{Error, Rule};

/// A row's consecutive living cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub y: usize,
    pub x: usize,
    pub count: usize,
}

/// A finite set of living cells in a rectangle, and a rule.
///
/// ```
/// use thalweg_stencils::life::{Life, Pattern};
/// let glider = Pattern::parse("x = 3, y = 3\nbo$2bo$3o!")?;
/// let mut life = Life::plane(&glider, 1 << 20)?;
/// life.run(4)?;
/// assert_eq!((life.population(), life.bounds()), (5, Some((1, 1, 3, 3))));
/// # Ok::<(), thalweg_stencils::life::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Cells of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The rule.
    pub rule: Rule,
    /// The column and the row of its corner in the world that it is part of.
    pub position: Option<(i64, i64)>,
    /// The generation of that world.
    pub generation: u64,
    pub(crate) runs: Vec<Run>,
}

/// The patterns that have names: the name, the text, and what the pattern does.
const NAMED: &[(&str, &str, &str)] = &[
    ("r-pentomino", "x = 3, y = 3\nb2o$2o$bo!", "5 cells, settles at generation 1103 with 116"),
    ("glider", "x = 3, y = 3\nbo$2bo$3o!", "moves by a cell each way in 4 generations"),
    (
        "gosper-gun",
        "x = 36, y = 9\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$2o8bo3bob2o4bobo$10bo5bo7bo$\
         11bo3bo$12b2o!",
        "emits a glider every 30 generations",
    ),
    ("acorn", "x = 7, y = 3\nbo$3bo$2o2b3o!", "7 cells, settles at generation 5206 with 633"),
];

impl Pattern {
    /// Reads a pattern in the RLE format of Golly and LifeWiki: comments that begin with `#`, a header
    /// `x = WIDTH, y = HEIGHT, rule = RULE`, and runs of dead (`b`) and living (`o`) cells with the ends of rows (`$`) and
    /// of the pattern (`!`). Of the comments, `#CXRLE Pos=X,Y Gen=N` has the position and the generation, and `#r RULE` the
    /// rule if the header has none. A byte order mark is skipped.
    ///
    /// # Errors
    /// [`Error::Rle`] with the place of the first mistake.
    pub fn parse(text: &str) -> Result<Self, Error> {
        super::rle::parse(text, None)
    }

    /// Like [`Pattern::parse`], with a rule that replaces that of the text, which may have any form then.
    ///
    /// # Errors
    /// As for [`Pattern::parse`].
    pub fn parse_with_rule(text: &str, rule: Rule) -> Result<Self, Error> {
        super::rle::parse(text, Some(rule))
    }

    /// A pattern without living cells, of these columns and rows.
    pub(crate) fn empty((width, height): (usize, usize), rule: Rule) -> Self {
        Pattern { width, height, rule, position: None, generation: 0, runs: Vec::new() }
    }

    /// The built-in pattern of this name, one of [`Pattern::names`].
    pub fn named(name: &str) -> Option<Self> {
        let (_, text, _) = NAMED.iter().find(|(known, _, _)| *known == name)?;
        Self::parse(text).ok()
    }

    /// The names of the built-in patterns, each with what the pattern does.
    pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
        NAMED.iter().map(|(name, _, what)| (*name, *what))
    }

    /// The pattern of these cells: the corner of the smallest rectangle around them becomes (0, 0).
    pub(crate) fn of_cells(cells: &[(i64, i64)], rule: Rule) -> Self {
        let left = cells.iter().map(|(x, _)| *x).min().unwrap_or(0);
        let top = cells.iter().map(|(_, y)| *y).min().unwrap_or(0);
        let at = |from: i64, to: i64| usize::try_from(to - from).unwrap_or(0);
        let runs = cells.iter().map(|(x, y)| Run { y: at(top, *y), x: at(left, *x), count: 1 });
        let runs: Vec<Run> = runs.collect();
        let width = runs.iter().map(|run| run.x + 1).max().unwrap_or(0);
        let height = runs.iter().map(|run| run.y + 1).max().unwrap_or(0);
        Pattern { runs, ..Pattern::empty((width, height), rule) }
    }
}

//! The colours that the scheduler sees.

use thalweg_policy::tasks::Colour;

/// How the colour that the scheduler sees follows from the colour of a node's data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colouring {
    /// It is the colour of the data.
    Good,
    /// It is the colour of a worker in the other half of the machine: a valid colour, and a wrong one (Table 5.2).
    Bad,
    /// It is a colour that no worker has (Table 5.3).
    Invalid,
    /// All nodes have the same colour, and no worker prefers any: NABBIT's random stealing.
    Uncoloured,
}

impl Colouring {
    /// All of them.
    pub const ALL: [Colouring; 4] =
        [Colouring::Good, Colouring::Bad, Colouring::Invalid, Colouring::Uncoloured];

    /// The colour that the scheduler sees of a node with this data, on a machine of `workers` workers.
    pub fn seen(self, data: Colour, workers: usize) -> Colour {
        let workers = workers as u32;
        match self {
            Colouring::Good => data,
            Colouring::Bad => Colour((data.0 + workers / 2) % workers),
            Colouring::Invalid => Colour(u32::MAX),
            Colouring::Uncoloured => Colour(0),
        }
    }
}

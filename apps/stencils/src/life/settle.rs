//! Finds out when a world repeats itself.
//!
//! Populations are compared at every generation, since that costs nothing. Where they have repeated for a while, the cells
//! themselves are compared: with those of up to [`LONGEST_PERIOD`] generations before, but for ships that leave
//! (`ships.rs`). So the result is proven: from then on the world repeats for ever.

use super::Life;
use super::grid::Grid;
use super::ships::Clusters;

/// The longest period that is found.
const LONGEST_PERIOD: usize = 60;

/// The generations for which populations must repeat before cells are compared.
const PATIENCE: u64 = 2 * LONGEST_PERIOD as u64;

/// The greatest population of a plane that is searched for ships.
const MOST_CELLS: u64 = 1 << 16;

/// What a world that has settled does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settled {
    /// The first generation from which on the population repeats.
    pub generation: u64,
    /// The number of generations after which the cells are the same, except those of `ships`.
    pub period: u64,
    /// The number of gliders and other ships on a plane that move away from all other cells, so that they never meet any.
    pub ships: usize,
}

/// Observes a world, generation by generation.
///
/// A world has settled when its cells repeat with a period of at most 60, but for ships that leave on a plane. Longer
/// periods are not found, nor planes with more than 65,536 living cells, nor a torus of which a copy does not fit into memory.
#[derive(Clone, Debug)]
pub struct Settling {
    /// The latest populations: that of generation `n` at `n % populations.len()`.
    populations: [u64; LONGEST_PERIOD + 1],
    /// For each period, the generation from which on the population has repeated with it.
    since: [u64; LONGEST_PERIOD + 1],
    earlier: Option<Earlier>,
    /// No comparison begins before this generation.
    not_before: u64,
    settled: Option<Settled>,
}

/// A generation with which later ones are compared.
#[derive(Clone, Debug)]
struct Earlier {
    generation: u64,
    /// The period of its population.
    period: usize,
    population: u64,
    cells: Cells,
}

#[derive(Clone, Debug)]
enum Cells {
    Torus(Grid),
    Plane(Clusters),
}

impl Settling {
    /// Begins with the present generation of a world.
    pub fn new(life: &Life) -> Self {
        let mut populations = [0; LONGEST_PERIOD + 1];
        let now = life.generation();
        populations[now as usize % (LONGEST_PERIOD + 1)] = life.population();
        let since = [now; LONGEST_PERIOD + 1];
        Settling { populations, since, earlier: None, not_before: now + PATIENCE, settled: None }
    }

    /// Takes note of a generation. It must be the next one after that of the last call.
    pub fn observe(&mut self, life: &Life) {
        let now = life.generation();
        self.count(now, life.population());
        if self.settled.is_some() {
            return;
        }
        match self.earlier.take() {
            Some(earlier) => self.compare(earlier, life),
            None if now >= self.not_before && (life.is_torus() || life.population() <= MOST_CELLS) => {
                self.earlier = self.repeating(now).and_then(|period| Earlier::new(life, period));
            }
            None => {}
        }
    }

    /// What the world does, if it has settled.
    pub fn settled(&self) -> Option<Settled> {
        self.settled
    }

    fn count(&mut self, now: u64, population: u64) {
        let slots = LONGEST_PERIOD + 1;
        for period in 1..=LONGEST_PERIOD {
            let Some(before) = now.checked_sub(period as u64) else { break };
            // Generations before the first one count as different, so `since` never begins too early.
            if before < self.since[0] || self.populations[before as usize % slots] != population {
                self.since[period] = before + 1;
            }
        }
        self.populations[now as usize % slots] = population;
    }

    /// The shortest period with which the population has repeated for long enough.
    fn repeating(&self, now: u64) -> Option<usize> {
        (1..=LONGEST_PERIOD).find(|period| now.saturating_sub(self.since[*period]) >= PATIENCE)
    }

    fn compare(&mut self, earlier: Earlier, life: &Life) {
        let period = life.generation() - earlier.generation;
        if let Some(ships) = earlier.ships(life, period) {
            let generation = self.since[earlier.period];
            self.settled = Some(Settled { generation, period, ships });
        } else if period < LONGEST_PERIOD as u64 {
            self.earlier = Some(earlier);
        } else {
            // Waits in proportion to the time since when the population repeats, so that comparing costs little.
            let waited = earlier.generation - self.since[earlier.period].min(earlier.generation);
            self.not_before = life.generation() + waited / 2;
        }
    }
}

impl Earlier {
    /// `None` if there is no memory for a copy of a torus.
    fn new(life: &Life, period: usize) -> Option<Self> {
        let cells = match life.is_torus() {
            true => Cells::Torus(life.copy_of_cells()?),
            false => Cells::Plane(Clusters::new(life)),
        };
        Some(Earlier { generation: life.generation(), period, population: life.population(), cells })
    }

    /// The number of ships, if the world is the same but for ships that leave.
    fn ships(&self, life: &Life, period: u64) -> Option<usize> {
        if life.population() != self.population {
            return None;
        }
        match &self.cells {
            Cells::Torus(earlier) => life.has_cells(earlier).then_some(0),
            Cells::Plane(clusters) => clusters.ships_that_leave(life, period),
        }
    }
}

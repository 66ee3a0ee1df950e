//! The virtual machine: workers, memory domains, costs.

use super::Colouring;
use super::memory::Memory;
use thalweg_machine::{DomainId, Machine};
use thalweg_policy::tasks::{Colour, Place, SearchSettings, Transfer};

/// Costs of a worker's steps, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskCosts {
    /// A visit of a predecessor, or a notification of a successor.
    pub edge: u64,
    /// A halving of a list: one half goes to the deque.
    pub spawn: u64,
    /// An attempt to steal, successful or not. At least 1.
    pub attempt: u64,
    /// What a successful attempt costs in addition.
    pub steal: u64,
    /// An access to data in the worker's own memory domain.
    pub near: u64,
    /// An access to data in another memory domain.
    pub far: u64,
}

impl TaskCosts {
    /// One tick a step and for each access, wherever the data is: the model in which the theorems are proved.
    pub const UNIT: TaskCosts = TaskCosts { edge: 1, spawn: 1, attempt: 1, steal: 0, near: 1, far: 1 };
}

/// Settings of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskSettings {
    /// The number of workers. Worker `i` has colour `i`.
    pub workers: usize,
    /// The number of workers that share a memory domain.
    pub domain: usize,
    /// Whether a worker prefers, after its own colour, the other colours of its domain, as the engine's do. The paper's
    /// prefer their own colour alone.
    pub hierarchical: bool,
    /// The colours of nodes.
    pub colouring: Colouring,
    /// The constants of the search.
    pub search: SearchSettings,
    /// How many entries a thief takes at once. The paper's takes one.
    pub transfer: Transfer,
    /// The costs of steps.
    pub costs: TaskCosts,
    /// The seed of the workers' random sequences.
    pub seed: u64,
}

impl Default for TaskSettings {
    /// The paper's machine, 8 domains of 10 cores, with good colours. Costs are on the scale of 10 ns.
    fn default() -> TaskSettings {
        TaskSettings {
            workers: 80,
            domain: 10,
            hierarchical: true,
            colouring: Colouring::Good,
            search: SearchSettings::default(),
            transfer: Transfer::Half,
            costs: TaskCosts { edge: 2, spawn: 2, attempt: 10, steal: 30, near: 100, far: 250 },
            seed: 1,
        }
    }
}

impl TaskSettings {
    /// The default settings on this machine: a worker for each unit, its memory domains, and accesses to far memory that cost
    /// as many times those to near memory as the distance of the first two domains says. `None` if the domains have
    /// different numbers of units.
    ///
    /// ```
    /// use thalweg_machine::Machine;
    /// use thalweg_sim::tasks::TaskSettings;
    ///
    /// let machine = Machine::read("thalweg-machine 1\ndomains 4\ncores 16\ndistance 32\n")?;
    /// let settings = TaskSettings::on(&machine).expect("equal domains");
    /// assert_eq!((settings.workers, settings.domain, settings.costs.far), (64, 16, 320));
    /// # Ok::<(), thalweg_machine::ReadError>(())
    /// ```
    pub fn on(machine: &Machine) -> Option<TaskSettings> {
        let settings = TaskSettings::default();
        let units = |domain: usize| machine.domains()[domain].units().len();
        let domain = units(0);
        let distance = match machine.domains().len() {
            1 => 10,
            count => (1..count)
                .all(|other| units(other) == domain)
                .then(|| machine.distance(DomainId(0), DomainId(1)))?,
        };
        let far = settings.costs.near * u64::from(distance) / 10;
        let costs = TaskCosts { far, ..settings.costs };
        Some(TaskSettings { workers: machine.units().len(), domain, costs, ..settings })
    }

    /// What a worker prefers.
    pub(super) fn place(&self, worker: usize) -> Place {
        let own = Colour(worker as u32);
        let first = worker / self.domain * self.domain;
        let domain = (first..self.workers.min(first + self.domain)).map(|other| Colour(other as u32));
        match (self.colouring, self.hierarchical) {
            (Colouring::Uncoloured, _) => Place::default(),
            (_, false) => Place::of(own),
            (_, true) => Place::among(self.workers, own, [domain.collect()]),
        }
    }

    /// The machine's memory.
    pub(super) fn memory(&self) -> Memory {
        Memory { domain: self.domain, near: self.costs.near, far: self.costs.far }
    }
}

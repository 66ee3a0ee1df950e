//! Pipelines as data: for graphs, and for those that have no use for one.

/// A module: what it takes and gives in a firing, and what that costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module {
    /// The items that a firing pops.
    pub pops: u32,
    /// The items that a firing pushes.
    pub pushes: u32,
    /// The bytes that a firing reads and writes, a multiple of 4.
    pub state_bytes: u64,
    /// The time for which a firing computes, besides the time for its items and its state.
    pub nanoseconds: u64,
}

/// A chain of modules between a source and a sink. Items have 4 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// The items that cross each edge in a period. The first edge is that from the source to the first module, and the last one
    /// leads to the sink.
    gains: Vec<u32>,
    modules: Vec<Module>,
}

/// The bytes of an item.
pub const ITEM: u64 = size_of::<u32>() as u64;

impl Pipeline {
    /// A pipeline of edges with these gains, and modules with these bytes of state and nanoseconds of computation.
    ///
    /// A module between edges of gains `g` and `g'` pops `g/d` items and pushes `g'/d`, with `d` their greatest common divisor. So
    /// the rates of both ends of an edge divide its gain, and `2 lcm(push, pop)` is at most twice the gain. In a period the module
    /// fires `d` times.
    ///
    /// # Panics
    /// If the edges are not one more than the modules, a gain is 0, or state is 0 or no multiple of 4 bytes.
    pub fn new(gains: Vec<u32>, loads: &[(u64, u64)]) -> Pipeline {
        assert_eq!(gains.len(), loads.len() + 1, "a pipeline has one edge more than modules");
        assert!(!gains.contains(&0), "an edge without items");
        let module = |(gains, (state_bytes, nanoseconds)): (&[u32], &(u64, u64))| {
            assert!(
                *state_bytes > 0 && state_bytes.is_multiple_of(4),
                "a module with {state_bytes} bytes of state"
            );
            let divisor = common_divisor(gains[0], gains[1]);
            Module {
                pops: gains[0] / divisor,
                pushes: gains[1] / divisor,
                state_bytes: *state_bytes,
                nanoseconds: *nanoseconds,
            }
        };
        let modules = gains.windows(2).zip(loads).map(module).collect();
        Pipeline { gains, modules }
    }

    /// The items that cross each edge in a period: from the source to the first module, and so on up to the sink.
    pub fn gains(&self) -> &[u32] {
        &self.gains
    }

    /// The modules, in the order of the chain.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The firings of a module in a period.
    ///
    /// # Panics
    /// If there is no such module.
    pub fn firings(&self, module: usize) -> u64 {
        u64::from(self.gains[module] / self.modules[module].pops)
    }

    /// The whole periods, at least one, of which the source sends about `items` items.
    pub fn periods(&self, items: u64) -> u64 {
        (items / u64::from(self.gains[0])).max(1)
    }

    /// The bytes of state of all modules.
    pub fn state_bytes(&self) -> u64 {
        self.modules.iter().map(|module| module.state_bytes).sum()
    }

    /// The nanoseconds for which all modules compute in a period.
    pub fn nanoseconds(&self) -> u64 {
        (0..).zip(&self.modules).map(|(at, module)| self.firings(at) * module.nanoseconds).sum()
    }

    /// The bytes that cross all edges in a period.
    pub fn bytes(&self) -> u64 {
        self.gains.iter().map(|gain| u64::from(*gain) * ITEM).sum()
    }

    /// The bytes of state that firings read in a period.
    pub fn touched(&self) -> u64 {
        (0..).zip(&self.modules).map(|(at, module)| self.firings(at) * module.state_bytes).sum()
    }
}

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

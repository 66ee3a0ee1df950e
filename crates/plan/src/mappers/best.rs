//! The mapping whose greatest predicted load is least, with the capacities of the plan.

use super::{Buffers, MAPPERS, Mapper, Mapping, Pipeline};

/// Of the mappers before it in the table, the first whose mapping has the least predicted time for an item.
pub(super) fn map(pipeline: &Pipeline) -> Mapping {
    let others = MAPPERS.iter().filter(|mapper| mapper.name != "best");
    let mapped = others.map(|mapper| {
        let mapping = mapper.map(pipeline);
        let time = mapping.loads(pipeline).time();
        (time, mapper.name, mapping)
    });
    let (time, name, mapping) =
        mapped.min_by(|(a, ..), (b, ..)| a.total_cmp(b)).expect("the table has others");
    let mapping = Mapping { inside: Buffers::Kept, between: Buffers::Kept, ..mapping };
    mapping.with_note(format!("`best` took the mapping of `{name}`: {time:.1} ns for an item of the source"))
}

//! What the loops and task graphs of a node have counted.

use super::value::{Read, Value};
use super::write::Fields;
use thalweg_trace::{Counts, MemberCounts};

/// Writes the counts as a field of the node.
pub(super) fn write(counts: &Counts, to: &mut Fields<'_>) {
    to.list("jobs", &counts.members, |member, to| {
        member.fields().into_iter().for_each(|(name, count)| to.count(name, count));
    });
}

/// Reads the counts of a node, which may lack them.
pub(super) fn read(value: &Value<'_>) -> Read<Option<Box<Counts>>> {
    let Some(members) = value.optional("jobs")? else { return Ok(None) };
    let members = members.array()?.iter().map(|member| read_member(&member)).collect::<Read<_>>()?;
    Ok(Some(Box::new(Counts { members })))
}

fn read_member(value: &Value<'_>) -> Read<MemberCounts> {
    let mut counts = MemberCounts::default().fields();
    for (name, count) in &mut counts {
        *count = value.count(name)?;
    }
    Ok(MemberCounts::of(counts.map(|(_, count)| count)))
}

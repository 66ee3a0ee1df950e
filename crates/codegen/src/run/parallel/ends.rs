//! Files, which only the caller's thread reads and writes.

use super::layout::Layout;
use super::memory::Buffer;
use super::node::{Batch, Begin};
use super::reach::Front;
use crate::plan::{Actor, Port};
use crate::run::Run;
use thalweg_lang::interpret::Stop;

/// What a reader has put at the front of the next batch.
pub(super) struct Carry {
    actor: usize,
    front: Front,
    saved: Vec<u8>,
}

/// Readers' carries when the first batch begins.
pub(super) fn carries(run: &Run<'_>, layout: &Layout<'_>, begin: &Begin<'_>) -> Vec<Carry> {
    let actors = layout.plan.actors.iter().enumerate();
    let readers = actors.filter(|(_, actor)| run.ends.is_reader(actor.node));
    readers
        .filter_map(|(at, _)| {
            let front = layout.fronts[at].first()?.clone();
            Some(Carry { actor: at, saved: begin.at(layout, &front), front })
        })
        .collect()
}

/// Reads up to a batch; none where there is nothing.
pub(super) fn read(
    run: &mut Run<'_>,
    layout: &Layout<'_>,
    carries: &mut [Carry],
    batch: &mut Batch,
) -> Result<u64, Stop> {
    let n = run.ends.available(&run.stages[0].facts, batch.n)?;
    batch.n = n;
    for Carry { actor, front, saved } in carries {
        let (actor, root) = (&layout.plan.actors[*actor], &layout.plan.roots[front.root]);
        let Some(buffer) = &mut batch.set[front.root] else { continue };
        buffer.load(front, saved);
        let items = run.ends.read(actor.node, n * actor.firings)?;
        scatter(buffer, &actor.outputs[0], &items, root.bytes);
        buffer.save(front, root.advance * n as i64, saved);
    }
    Ok(n)
}

/// Writes what a batch has given.
pub(super) fn write(run: &mut Run<'_>, layout: &Layout<'_>, batch: &Batch) -> Result<(), Stop> {
    for Actor { node, inputs, firings, .. } in &layout.plan.actors {
        let Some(port) = inputs.first().filter(|_| run.ends.is_writer(*node)) else { continue };
        let Some(buffer) = &batch.set[port.root] else { continue };
        let count = (batch.n * firings) as usize;
        if is_in_line(port) {
            run.ends.write(&run.native.compiled, *node, buffer.items(port.items.base, count))?;
        } else {
            let mut items = Vec::with_capacity(count * buffer.item());
            (0..count).for_each(|firing| items.extend_from_slice(buffer.items(place(port, firing), 1)));
            run.ends.write(&run.native.compiled, *node, &items)?;
        }
    }
    Ok(())
}

fn is_in_line(port: &Port) -> bool {
    port.items.group == 1 && port.items.group_stride == 1
}

fn place(port: &Port, firing: usize) -> i64 {
    let (items, firing) = (&port.items, firing as i64);
    items.base + firing / items.group * items.group_stride + firing % items.group * items.stride
}

fn scatter(buffer: &mut Buffer, port: &Port, items: &[u8], bytes: usize) {
    let count = items.len() / bytes.max(1);
    if is_in_line(port) {
        buffer.items_mut(port.items.base, count).copy_from_slice(items);
        return;
    }
    for (firing, item) in items.chunks_exact(bytes.max(1)).enumerate() {
        buffer.items_mut(place(port, firing), 1).copy_from_slice(item);
    }
}

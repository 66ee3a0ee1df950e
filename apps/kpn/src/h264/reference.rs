//! The encoder as a loop over frames and rows.

use super::{H264, Stage, Step, chosen, worked};
use crate::job::fold;

/// What the network must give.
pub(super) fn encode(size: H264, frame: u64, work: impl FnMut(u64, u64) -> u64 + Clone) -> u64 {
    let step = |stage| Step::new(size, stage, frame, work.clone());
    let [mut source, mut me, mut mc, mut p, mut t, mut q, mut ec, mut iq, mut it, mut filter] =
        Stage::ALL.map(step);
    let mut before = 0;
    for frame in 0..size.frames {
        let (mut neighbours, mut whole) = (0, 0);
        for row in 0..size.rows {
            let current = source.run(frame * size.rows + row);
            let mut inter = current;
            if frame > 0 {
                inter = all(&mut me, size.workers, fold(inter, before));
                inter = all(&mut mc, size.workers, fold(inter, before));
            }
            let prediction = chosen(frame, neighbours, inter);
            let residual = all(&mut p, size.workers, fold(current, prediction));
            let coded = q.run(t.run(residual));
            ec.run(coded);
            neighbours = it.run(fold(prediction, iq.run(coded)));
            whole = filter.run(neighbours);
        }
        before = whole;
    }
    ec.seen
}

/// What all workers of a stage do, one after the other.
fn all(step: &mut Step<impl FnMut(u64, u64) -> u64>, workers: usize, message: u64) -> u64 {
    for worker in 0..workers {
        let made = worked(&mut step.work, step.share, message, worker, workers);
        step.note(made);
    }
    step.seen
}

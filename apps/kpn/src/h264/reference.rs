//! The encoder as a loop over frames and rows.

use super::{H264, Stage, StageState, choose_prediction, worker_result};
use crate::job::fold;

/// The result that the network must have.
pub(super) fn encode(size: H264, frame: u64, work: impl FnMut(u64, u64) -> u64 + Clone) -> u64 {
    let state = |stage| StageState::new(size, stage, frame, work.clone());
    let [mut source, mut me, mut mc, mut p, mut t, mut q, mut ec, mut iq, mut it, mut filter] =
        Stage::ALL.map(state);
    let mut before = 0;
    for frame in 0..size.frames {
        let (mut neighbours, mut whole) = (0, 0);
        for row in 0..size.rows {
            let current = source.run(frame * size.rows + row);
            let mut inter = current;
            if frame > 0 {
                inter = run_workers(&mut me, size.workers, fold(inter, before));
                inter = run_workers(&mut mc, size.workers, fold(inter, before));
            }
            let prediction = choose_prediction(frame, neighbours, inter);
            let residual = run_workers(&mut p, size.workers, fold(current, prediction));
            let coded = q.run(t.run(residual));
            ec.run(coded);
            neighbours = it.run(fold(prediction, iq.run(coded)));
            whole = filter.run(neighbours);
        }
        before = whole;
    }
    ec.checksum
}

/// Does the work of all workers of a stage, one after the other. Returns the checksum.
fn run_workers(state: &mut StageState<impl FnMut(u64, u64) -> u64>, workers: usize, message: u64) -> u64 {
    for worker in 0..workers {
        let result = worker_result(&mut state.work, state.share, message, worker, workers);
        state.add(result);
    }
    state.checksum
}

//! Members in models of other protocols: no firing opens a job.

use crate::net::Signals;
use std::sync::Arc;
use thalweg_graph::NodeId;

pub(crate) fn thread_and_depth() -> (usize, usize) {
    std::thread_local!(static THREAD: u8 = const { 0 });
    (THREAD.with(|thread| std::ptr::from_ref(thread).addr()), 0)
}

pub(crate) fn as_worker<R>(_: &Arc<Signals>, _worker: usize, work: impl FnOnce() -> R) -> R {
    work()
}

pub(crate) fn help_run(_: &Arc<Signals>, _worker: usize, _wanted: &dyn Fn() -> bool) -> bool {
    false
}

pub(crate) fn as_node<R>(_: &Signals, _: NodeId, work: impl FnOnce() -> R) -> R {
    work()
}

//! Members in models of other protocols: no firing opens a job.

use crate::net::Signals;
use std::sync::Arc;

pub(crate) fn depth() -> usize {
    0
}

pub(crate) fn as_worker<R>(_: &Arc<Signals>, _worker: usize, work: impl FnOnce() -> R) -> R {
    work()
}

pub(crate) fn help_run(_: &Arc<Signals>, _worker: usize, _wanted: &dyn Fn() -> bool) -> bool {
    false
}

//! The measurements of a worker.

use super::value::{Read, Value};
use super::write::Fields;
use thalweg_trace::WorkerReport;

pub(super) fn write(worker: &WorkerReport, to: &mut Fields<'_>) {
    let WorkerReport {
        application,
        queue,
        scheduler,
        idle,
        preempted,
        kernel,
        activations,
        refused,
        steal_attempts,
        steals,
        spins,
        parks,
    } = *worker;
    to.nanos("application_ns", application);
    to.nanos("queue_ns", queue);
    to.nanos("scheduler_ns", scheduler);
    to.nanos("idle_ns", idle);
    to.nanos("preempted_ns", preempted);
    to.nanos("kernel_ns", kernel);
    to.count("activations", activations);
    to.count("refused", refused);
    to.count("steal_attempts", steal_attempts);
    to.count("steals", steals);
    to.count("spins", spins);
    to.count("parks", parks);
}

pub(super) fn read(value: &Value<'_>) -> Read<WorkerReport> {
    Ok(WorkerReport {
        application: value.nanos("application_ns")?,
        queue: value.nanos("queue_ns")?,
        scheduler: value.nanos("scheduler_ns")?,
        idle: value.nanos("idle_ns")?,
        preempted: value.nanos("preempted_ns")?,
        kernel: value.nanos("kernel_ns")?,
        activations: value.count("activations")?,
        refused: value.count("refused")?,
        steal_attempts: value.count("steal_attempts")?,
        steals: value.count("steals")?,
        spins: value.count("spins")?,
        parks: value.count("parks")?,
    })
}

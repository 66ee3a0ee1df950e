//! The section about the workers: where their time went.

use super::bars::{Part, bar, legend};
use super::escape::Text;
use super::put;
use super::table::{Cell, ROWS, left_out, table};
use std::time::Duration;
use thalweg_trace::{Report, WorkerReport, units};

/// The classes of the five categories.
const CLASSES: [&str; 5] = ["application", "queue", "scheduler", "idle", "preempted"];

/// Writes the section.
pub(super) fn section(out: &mut String, report: &Report) {
    out.push_str(
        "<section aria-labelledby=\"workers\">\n<h2 id=\"workers\">Where the workers’ time went</h2>\n",
    );
    let entries: Vec<_> = CLASSES.into_iter().zip(WorkerReport::CATEGORIES).collect();
    legend(out, &entries);
    let heads = [
        "worker",
        "time",
        "#application",
        "#queue",
        "#scheduler",
        "#idle",
        "#preempted",
        "#activations",
        "#refused",
        "#steals",
        "#parks",
    ];
    let all = row("all".to_owned(), report.breakdown(), &report.all_counts());
    let rows = report.workers().iter().take(ROWS).enumerate().map(|(i, w)| row(i.to_string(), shares(w), w));
    table(out, "The time of each worker", &heads, rows.chain([all]));
    left_out(out, report.workers().len(), ROWS, "workers");
    with_kernel(out, report);
    out.push_str("</section>\n");
}

fn shares(worker: &WorkerReport) -> [f64; 5] {
    let all = worker.total().as_secs_f64();
    worker.categories().map(|time| if all > 0.0 { time.as_secs_f64() / all } else { 0.0 })
}

fn row(name: String, shares: [f64; 5], counts: &WorkerReport) -> Vec<Cell> {
    let parts = shares.iter().zip(CLASSES).zip(WorkerReport::CATEGORIES);
    let parts: Vec<Part> =
        parts.map(|((share, class), label)| Part { class, label: label.to_owned(), share: *share }).collect();
    let mut row = vec![Cell::Name(name), Cell::Markup(bar(&parts))];
    row.extend(shares.map(|share| Cell::Number(units::percent(share))));
    let counts = [counts.activations(), counts.refused(), counts.steals(), counts.parks()];
    row.extend(counts.map(|count| Cell::Number(count.to_string())));
    row
}

/// The categories with the operating system's part (those of DANBI's Figure 4), over all workers.
fn with_kernel(out: &mut String, report: &Report) {
    let all: Duration = report.workers().iter().map(WorkerReport::total).sum();
    if all.is_zero() {
        return;
    }
    put!(out, "<details><summary>With the operating system’s part</summary>\n");
    let sums =
        (0..5).map(|i| -> Duration { report.workers().iter().map(|worker| worker.with_kernel()[i]).sum() });
    let rows = WorkerReport::WITH_KERNEL.into_iter().zip(sums).zip(report.with_kernel()).map(
        |((name, time), share)| {
            vec![
                Cell::Name(name.to_owned()),
                Cell::Number(units::time(time)),
                Cell::Number(units::percent(share)),
            ]
        },
    );
    table(out, "Time with the operating system’s part", &["category", "#time", "#of all"], rows);
    let stall = match report.ticket_waits() {
        None => "Stall is 0 by construction: no worker waits for its turn to commit.".to_owned(),
        Some(waits) => format!("Stall is also part of the queue’s time above; {waits}."),
    };
    put!(
        out,
        "<p class=\"quiet\">{} The time in the kernel of the operating system is also part of the others; the operating \
         system counts it in ticks of up to 10 ms, so it is 0 in many short runs.</p></details>\n",
        Text(&stall)
    );
}

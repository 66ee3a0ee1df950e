//! The sections about the channels and their growth.

use super::put;
use super::table::{Cell, ROWS, left_out, table};
use std::cmp::Reverse;
use thalweg_graph::ChannelId;
use thalweg_trace::{Report, units};

/// Writes the sections.
pub(super) fn section(out: &mut String, report: &Report) {
    out.push_str("<section aria-labelledby=\"channels\">\n<h2 id=\"channels\">Channels</h2>\n");
    let mut order: Vec<ChannelId> = report.graph().channel_ids().collect();
    let key = |id: &ChannelId| {
        let stats = &report.channels()[id.index()];
        Reverse((stats.consumer_waited().max(stats.producer_waited()), stats.items()))
    };
    order.sort_by_key(key);
    let heads = [
        "channel",
        "#items",
        "#rate",
        "#bytes",
        "#capacity",
        "#mean",
        "#peak",
        "full",
        "#consumer waited",
        "#producer waited",
        "#remote",
        "#of items",
        "#remote bytes",
        "#left over",
    ];
    let rows = order.iter().take(ROWS).map(|id| row(report, *id));
    table(out, "Channels, those with the longest waits first", &heads, rows);
    left_out(out, order.len(), ROWS, "channels");
    out.push_str("</section>\n");
    growths(out, report);
}

fn row(report: &Report, id: ChannelId) -> Vec<Cell> {
    let stats = &report.channels()[id.index()];
    let items = |count: Option<f64>| count.map_or("-".to_owned(), units::items);
    let feedback = match report.graph().channel(id).link() {
        link if link.feedback() => format!(" (feedback, {} initial)", link.initial()),
        _ => String::new(),
    };
    vec![
        Cell::Name(report.graph().channel_name(id) + &feedback),
        Cell::Number(stats.items().to_string()),
        Cell::Number(units::rate(report.rate(id))),
        Cell::Number(units::format_bytes(stats.bytes())),
        Cell::Number(stats.capacity().to_string()),
        Cell::Number(items(stats.mean())),
        Cell::Number(items(stats.peak())),
        Cell::Markup(stats.mean().map_or(String::new(), |mean| gauge(mean, stats.capacity()))),
        Cell::Number(units::time(stats.consumer_waited())),
        Cell::Number(units::time(stats.producer_waited())),
        Cell::Number(stats.remote().to_string()),
        Cell::Number(stats.remote_share().map_or("-".to_owned(), units::percent)),
        Cell::Number(units::format_bytes(stats.remote_bytes())),
        Cell::Number(stats.leftover().to_string()),
    ]
}

/// A picture of the part of a channel's room that has items in the mean.
fn gauge(mean: f64, capacity: usize) -> String {
    let full = if capacity == 0 { 0.0 } else { (mean / capacity as f64).clamp(0.0, 1.0) };
    let width = 60.0 * if full.is_nan() { 0.0 } else { full };
    format!(
        "<svg class=\"level\" role=\"img\" width=\"62\" height=\"9\"><title>{:.0} % full on average</title><rect \
         class=\"gauge\" x=\"0.5\" y=\"0.5\" width=\"61\" height=\"8\" rx=\"2\"/><rect class=\"fill\" x=\"1\" y=\"1\" \
         width=\"{width:.1}\" height=\"7\"/></svg>",
        100.0 * width / 60.0
    )
}

fn growths(out: &mut String, report: &Report) {
    if report.growths().is_empty() {
        return;
    }
    out.push_str("<section aria-labelledby=\"growths\">\n<h2 id=\"growths\">Channels that grew</h2>\n");
    let s = if report.searches() == 1 { "" } else { "es" };
    put!(
        out,
        "<p>A channel grows where nodes would otherwise wait for each other for ever: {} search{s} for such nodes in \
         this run.</p>\n",
        report.searches()
    );
    let rows = report.growths().iter().take(ROWS).map(|growth| {
        vec![
            Cell::Name(report.graph().channel_name(growth.channel())),
            Cell::Number(units::time(growth.at())),
            Cell::Number(growth.from().to_string()),
            Cell::Number(growth.to().to_string()),
            Cell::Words(growth.limit().to_string()),
        ]
    });
    table(out, "Growths in order of time", &["channel", "#at", "#from", "#to", "limit"], rows);
    left_out(out, report.growths().len(), ROWS, "growths");
    out.push_str("</section>\n");
}

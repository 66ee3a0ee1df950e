//! Stacked bars and histograms.

use super::escape::Text;
use super::put;
use std::time::Duration;
use thalweg_trace::Distribution;

/// The width and the height of a bar.
const BAR: (f64, f64) = (220.0, 14.0);

/// The size of a histogram.
const HISTOGRAM: (f64, f64) = (132.0, 26.0);

/// The part of a bar: a class for its colour, what it is, and its share of the whole.
pub(super) struct Part {
    pub(super) class: &'static str,
    pub(super) label: String,
    pub(super) share: f64,
}

/// A bar of parts, whose shares add up to 1 at most.
pub(super) fn bar(parts: &[Part]) -> String {
    let (width, height) = BAR;
    let shown: Vec<&Part> = parts.iter().filter(|part| part.share > 0.0005).collect();
    let text: Vec<String> =
        shown.iter().map(|part| format!("{} {:.1} %", part.label, 100.0 * part.share)).collect();
    let mut svg = format!(
        "<svg class=\"bar\" role=\"img\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\
         <title>{}</title><rect class=\"track\" width=\"{width}\" height=\"{height}\"/>",
        Text(&text.join(", "))
    );
    let mut at = 0.0;
    for part in shown {
        let long = (part.share * width).min(width - at);
        put!(svg, "<rect class=\"{}\" x=\"{at:.1}\" width=\"{long:.1}\" height=\"{height}\"/>", part.class);
        at += long;
    }
    svg + "</svg>"
}

/// What the classes of bars mean.
pub(super) fn legend(out: &mut String, entries: &[(&str, &str)]) {
    out.push_str("<p class=\"legend\">");
    for (class, label) in entries {
        put!(
            out,
            "<span><svg width=\"12\" height=\"12\" aria-hidden=\"true\"><rect class=\"{class}\" width=\"12\" \
             height=\"12\" rx=\"2\"/></svg> {}</span> ",
            Text(label)
        );
    }
    out.push_str("</p>\n");
}

/// A histogram of times by powers of two, from the first bucket to the last that is not empty.
pub(super) fn histogram(times: &Distribution) -> String {
    let buckets = times.buckets();
    let first = buckets.iter().position(|count| *count > 0);
    let Some(first) = first else { return String::new() };
    let (width, height) = HISTOGRAM;
    let shown = &buckets[first..];
    let most = shown.iter().copied().max().unwrap_or(1).max(1) as f64;
    // A few buckets are no wider than those of many, so that histograms look alike.
    let step = width / shown.len().max(12) as f64;
    let mut svg = format!(
        "<svg class=\"histogram\" role=\"img\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\
         <title>{}</title><path class=\"axis\" d=\"M0 {base}H{width}\"/>",
        Text(&describe(first, shown)),
        base = height - 0.5
    );
    for (i, count) in shown.iter().enumerate().filter(|(_, count)| **count > 0) {
        // The smallest bucket stays visible.
        let tall = ((height - 2.0) * *count as f64 / most).max(1.5);
        put!(
            svg,
            "<rect class=\"column\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"/>",
            i as f64 * step,
            height - 1.0 - tall,
            step - 1.0
        );
    }
    svg + "</svg>"
}

fn describe(first: usize, buckets: &[u64]) -> String {
    let time = |bucket: usize| thalweg_trace::units::time(Duration::from_nanos(1 << bucket.min(62)));
    format!("from {} to {}, in powers of two", time(first), time(first + buckets.len()))
}

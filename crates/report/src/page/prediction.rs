//! The section about the prediction: what the queueing models say, beside what was measured.

use super::escape::Text;
use super::put;
use super::table::{Cell, ROWS, left_out, table};
use crate::predict::{HEADS, Prediction, StagePrediction};
use std::cmp::Reverse;
use thalweg_trace::{Report, units};

/// Writes the section, if a prediction is made.
pub(super) fn section(out: &mut String, report: &Report) {
    let Ok(prediction) = Prediction::of(report) else { return };
    out.push_str("<section aria-labelledby=\"prediction\">\n<h2 id=\"prediction\">Prediction</h2>\n");
    let throughput = prediction.throughput();
    put!(
        out,
        "<p>With {}: {} firings of the source predicted, {} measured. Without any wait: {}; {}. Items in flight: {}. \
         Model: {}.</p>\n",
        Text(&prediction.threads_text()),
        units::rate(throughput.predicted()),
        units::rate(throughput.measured()),
        units::rate(prediction.bound()),
        Text(&prediction.limit_text()),
        Text(&prediction.tokens_text()),
        Text(&prediction.model_name())
    );
    let gains: Vec<String> = prediction.gain_lines().collect();
    if !gains.is_empty() {
        out.push_str("<ul>\n");
        gains.iter().for_each(|gain| put!(out, "<li>{}</li>\n", Text(gain)));
        out.push_str("</ul>\n");
    }
    let mut stages: Vec<&StagePrediction> = prediction.stages().iter().collect();
    let busy = |stage: &&StagePrediction| (stage.busy().predicted() * 1e9) as u64;
    stages.sort_by_key(|stage| Reverse(busy(stage)));
    let row = |stage: &&StagePrediction| {
        let mut cells = stage.cells().into_iter().map(Cell::Number).collect::<Vec<_>>();
        cells[0] = Cell::Name(stage.name().to_owned());
        cells
    };
    table(out, "Predicted beside measured, the busiest first", &HEADS, stages.iter().take(ROWS).map(row));
    left_out(out, stages.len(), ROWS, "nodes");
    put!(
        out,
        "<p class=\"quiet\">Busy: the mean number of threads in the node. {:.2} threads wait, {:.2} measured.</p>\n\
         </section>\n",
        prediction.waiting_threads().predicted(),
        prediction.waiting_threads().measured()
    );
}

//! Makes the pages of invented reports, and says how long that takes.
//!
//! ```text
//! cargo run --release -p thalweg-report --example page_time -- NODES [FILE]
//!
//! NODES  3, 12, 200 or any other number of nodes of the graph
//! FILE   the page to write [default: none]
//! ```

use std::time::Instant;
use thalweg_report::ReportExt;

#[path = "../tests/common/invented.rs"]
mod invented;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let nodes = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(12);
    let report = invented::report(nodes);
    let start = Instant::now();
    let page = report.to_html();
    println!("{nodes} nodes: {:.1} ms, {} bytes", start.elapsed().as_secs_f64() * 1e3, page.len());
    match arguments.next() {
        Some(path) => report.write_html(path),
        None => Ok(()),
    }
}

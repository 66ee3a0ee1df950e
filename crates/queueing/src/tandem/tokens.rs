//! A limit of the items under way: stations in a cycle, by approximate mean value analysis.
//!
//! Y. Bard (1979) and P. Schweitzer (1979): an item finds at a station what the others leave there on average. Several
//! threads count as one fast thread and a delay (A. Seidmann, P. J. Schweitzer and S. Shalev-Oren, 1987); an item in service is found with
//! the residual time that its variation gives.

use super::line::Line;

const SWEEPS: usize = 200;

/// The throughput of `line` with `tokens` items of the source under way and no other limit, in items per second.
pub fn throughput(line: &Line, tokens: u64) -> f64 {
    let n = tokens as f64;
    let stations: Vec<(f64, f64, f64)> = line
        .active()
        .map(|(_, s)| {
            (s.demand / s.threads, s.demand * (1.0 - 1.0 / s.threads), s.squared / s.firings.max(1.0))
        })
        .collect();
    let slowest = stations.iter().map(|(fast, _, _)| 1.0 / fast).fold(f64::INFINITY, f64::min);
    let mut present = vec![n / stations.len() as f64; stations.len()];
    let mut throughput = 0.0;
    for _ in 0..SWEEPS {
        let previous = throughput;
        let time = |((fast, delay, squared), items): (&(f64, f64, f64), &f64)| {
            let others = items * (n - 1.0) / n;
            let in_service = (previous * fast).min(others).min(1.0);
            (fast * (1.0 + others - in_service * (0.5 - 0.5 * squared)).max(1.0), *delay)
        };
        let times: Vec<(f64, f64)> = stations.iter().zip(&present).map(time).collect();
        throughput = (n / times.iter().map(|(queue, delay)| queue + delay).sum::<f64>()).min(slowest);
        for (items, (queue, _)) in present.iter_mut().zip(&times) {
            *items = throughput * queue;
        }
        if (throughput - previous).abs() < 1e-9 * throughput {
            break;
        }
    }
    throughput
}

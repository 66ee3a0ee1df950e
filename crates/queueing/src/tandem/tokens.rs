//! A limit of the items under way: stations in a cycle, by approximate mean value analysis.
//!
//! Y. Bard (1979) and P. Schweitzer (1979): an item finds at a station what the others leave there on average. Several
//! threads count as one fast thread and a delay (A. Seidmann, P. J. Schweitzer and S. Shalev-Oren, 1987). An item in service
//! is found with the residual time that its variation gives; variation above 1 counts as 1, as few items cannot build the
//! queue that it would need. In an ordered stage a finished item waits until the items before it have finished: of `b`
//! items in service the last takes about `H(b) - 1` times the mean longer, times the coefficient of variation, where `H` is
//! the harmonic number.

use super::line::{Line, Station};

const SWEEPS: usize = 200;

/// The throughput of `line` with `tokens` items of the source under way and no other limit, in items per second.
pub fn throughput(line: &Line, tokens: u64) -> f64 {
    let n = tokens as f64;
    let stations: Vec<&Station> = line.active().map(|(_, station)| station).collect();
    let slowest = stations.iter().map(|station| station.threads / station.work).fold(f64::INFINITY, f64::min);
    let mut present = vec![n / stations.len() as f64; stations.len()];
    let mut throughput = 0.0;
    for _ in 0..SWEEPS {
        let previous = throughput;
        let mut cycle = 0.0;
        for (station, items) in stations.iter().zip(&mut present) {
            let queue = time_in_queue(station, *items * (n - 1.0) / n, previous);
            cycle += queue + station.work * (1.0 - 1.0 / station.threads) + reordering(station, previous);
            *items = queue;
        }
        // Half a step: what waits for order falls as throughput does.
        throughput = (n / cycle).min(slowest);
        if previous > 0.0 {
            throughput = f64::midpoint(throughput, previous);
        }
        present.iter_mut().for_each(|items| *items = (*items * throughput).min(n));
        if (throughput - previous).abs() < 1e-9 * throughput {
            break;
        }
    }
    throughput
}

/// The time of an item at the fast thread, in seconds, where it finds `others` items.
fn time_in_queue(station: &Station, others: f64, throughput: f64) -> f64 {
    let fast = station.work / station.threads;
    let squared = (station.squared / station.firings.max(1.0)).min(1.0);
    let in_service = (throughput * fast).min(others).min(1.0);
    fast * (1.0 + others - 0.5 * in_service * (1.0 - squared))
}

/// The mean time that a finished item waits for its turn, in seconds.
fn reordering(station: &Station, throughput: f64) -> f64 {
    let busy = (throughput * station.work).min(station.threads);
    if !station.ordered || busy <= 1.0 {
        return 0.0;
    }
    // H(b) of a real number is 1 at 1, and near ln b + 0.5772 + 1 / 2b above.
    let harmonic = busy.ln() + 0.5772 + 0.4228 / busy;
    station.work * station.squared.sqrt().min(1.0) * (harmonic - 1.0)
}

use std::time::Instant;
use thalweg::Options;
use thalweg_kpn::*;
fn rss() -> f64 {
    let s = std::fs::read_to_string("/proc/self/statm").unwrap();
    s.split(' ').nth(1).unwrap().parse::<f64>().unwrap() * 4096.0
}
fn main() {
    let what = std::env::args().nth(1).unwrap();
    let n: u64 = std::env::args().nth(2).unwrap().parse().unwrap();
    let threads: usize = std::env::args().nth(3).unwrap().parse().unwrap();
    let policy = std::env::args().nth(4).unwrap_or("auto".into());
    let o = Options::new().threads(threads).policy(&policy);
    for o in [o.clone().unaccounted(), o] {
        let r0 = rss();
        let t = Instant::now();
        let (job, per) = match &*what {
            "pp" => (ping_pong(n), 2.0 * n as f64),
            "ring" => (ring(n as usize, 10, Order::Creation), 10.0 * n as f64),
            _ => (ring(n as usize, 10, Order::Shuffled(1)), 10.0 * n as f64),
        };
        let built = t.elapsed();
        let net = job.build().unwrap();
        let r1 = rss();
        let p = net.prepare(&o).unwrap();
        let r2 = rss();
        let prepared = t.elapsed();
        let rep = p.run().unwrap();
        let ran = t.elapsed() - prepared;
        println!(
            "{what} {n} t{threads}: {:.1} ns each; build {built:?} prepare {prepared:?}; graph {:.0} all {:.0} B each; steals {:?} parks {:?}",
            ran.as_nanos() as f64 / per,
            (r1 - r0) / n as f64,
            (r2 - r0) / n as f64,
            rep.workers.iter().map(|w| w.steals).sum::<u64>(),
            rep.workers.iter().map(|w| w.parks).sum::<u64>()
        );
    }
}

//! `ferret.*`: pipelines with the service times of ferret in the paper on pipelines with work stealing, which sleep in place of
//! computing, beside what the models predict from their reports. Values are items a second.
//!
//! The paper does not print the times of the stages. Its Table 1 has the whole time of 3,500 items with one thread for each
//! stage, 370.68 s, so the slowest stage takes 105.9 ms; its Table 2 has 33.14 s with 32 threads, so reading takes 9.5 ms;
//! and 437 s for all stages leave 3.2 ms for each of the other three. A quarter of these times here, exponential as the
//! models assume.
//!
//! | figure | the paper's | workers |
//! |---|---|---|
//! | `ferret.pools6.*` | figure 7, 6 stages | as many as the name says for each parallel stage, one for each other |
//! | `ferret.pools3.*` | figure 7, parallel stages collapsed | likewise |
//! | `ferret.tokens*` | figure 10 | shared; the items in flight are limited to the number in the name, where `6p` is six for each worker |

use std::thread::sleep;
use std::time::Duration;

use thalweg::trace::ReportExt;
use thalweg::{Options, from_iter};

use crate::line::Measure;
use crate::session::Session;

/// Mean seconds of reading, three small parallel stages, the slow one, and writing, on the paper's machine.
pub const FERRET: [f64; 6] = [0.0095, 0.0032, 0.0032, 0.0032, 0.1059, 0.0004];

/// The same, a quarter as long.
const TIMES: [f64; 6] =
    [FERRET[0] / 4.0, FERRET[1] / 4.0, FERRET[2] / 4.0, FERRET[3] / 4.0, FERRET[4] / 4.0, FERRET[5] / 4.0];

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for capacity in [20, 100] {
        for threads in [1, 2, 4, 8, 12, 16] {
            let name = format!("ferret.pools6.c{capacity}.p{threads}");
            figure(session, &name, &TIMES, capacity, threads, &Options::new().pools(threads));
        }
        let middle: f64 = TIMES[1..5].iter().sum();
        for threads in [4, 8, 16, 32, 48, 62] {
            let name = format!("ferret.pools3.c{capacity}.p{threads}");
            let times = [TIMES[0], middle, TIMES[5]];
            figure(session, &name, &times, capacity, threads, &Options::new().pools(threads));
        }
    }
    for (name, tokens) in [("20", [20; 7]), ("100", [100; 7]), ("6p", [6, 12, 24, 48, 96, 192, 384])] {
        for (threads, tokens) in [1, 2, 4, 8, 16, 32, 64].into_iter().zip(tokens) {
            let name = format!("ferret.tokens{name}.t{threads}");
            let options = Options::new().threads(threads).tokens(tokens);
            figure(session, &name, &TIMES, 1000, threads, &options);
        }
    }
}

/// A run of items through stages of these times, the first and the last of which are sequential.
fn figure(
    session: &mut Session,
    name: &str,
    times: &[f64],
    capacity: usize,
    threads: usize,
    options: &Options,
) {
    if !session.selects(name) {
        return;
    }
    let items = 240 + 40 * threads.min(16);
    let mut times = times.iter().enumerate().map(|(seed, mean)| naps(1 + seed as u64, *mean, items));
    let (Some(read), Some(write)) = (times.next(), times.next_back()) else { return };
    let mut stream = from_iter((0..items).inspect(move |item| sleep(read[*item])));
    for times in times {
        stream = stream.capacity(capacity).par_map(move |item| {
            sleep(times[item]);
            item
        });
    }
    let ran = stream.capacity(capacity).for_each(move |item| sleep(write[item])).run_with(options);
    let report = match ran {
        Ok(run) => run.into_report(),
        Err(error) => return session.note(&format!("{name}: {}", error.error())),
    };
    let prediction = match report.prediction() {
        Ok(prediction) => prediction,
        Err(error) => return session.note(&format!("{name}: {error}")),
    };
    let throughput = prediction.throughput();
    let papers = prediction.papers();
    let papers = papers.iter().zip(["paper", "one queue"]).map(|(paper, name)| (name, paper.throughput()));
    let values: Vec<_> = [("ours", throughput.measured()), ("model", throughput.predicted())]
        .into_iter()
        .chain(papers)
        .chain([("bound", prediction.bound())])
        .collect();
    session.counted(name, Measure::Counted("items/s"), &values);
}

/// Exponential times with this mean.
fn naps(seed: u64, mean: f64, count: usize) -> Vec<Duration> {
    let mut state = seed;
    let mut unit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    (0..count).map(|_| Duration::from_secs_f64(-unit().ln() * mean)).collect()
}

//! `kpn.h264.*`: the encoder's network of the Nornir paper. The split ignores the dependencies, so with whole frames no
//! scheduler reaches its time (`thalweg_kpn::H264::limit`).

use thalweg::Options;
use thalweg_kpn::{H264, h264};

use super::kpn::{ours, pinned};
use crate::jobs::{equal_shares, split_parts};
use crate::line::Measure;
use crate::race::{Contestant, Role};
use crate::row::confined;
use crate::session::Session;
use crate::work::Work;

/// Rows of macroblocks in a picture of 1080 lines.
const ROWS: u64 = 68;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for threads in session.thread_counts() {
        for rows in [1, ROWS] {
            encoder(session, H264 { rows, ..H264::default() }, threads);
        }
    }
}

/// One size of the network. It encodes as many frames as the paper's, with the work of one run divided among them.
pub(super) fn encoder(session: &mut Session, size: H264, threads: usize) {
    let name = format!("kpn.h264.r{}.n{}.t{threads}", size.rows, size.workers);
    if !session.selects(&name) {
        return;
    }
    let ns = session.items(1.0, threads) / size.frames;
    let (work, frame) =
        (Work::lasting(1000, &session.calibration), Work::lasting(ns, &session.calibration).steps);
    let make = move || {
        let mut stage = work.stage();
        h264(size, frame, move |steps, trace| stage.run_steps(trace, steps))
    };
    let pieces = size.work(frame) / work.steps;
    let split = move || {
        split_parts(equal_shares(pieces, threads, |_| 1), |range| {
            let mut stage = work.stage();
            (range.map(|x| stage.run(x)).fold(0, u64::wrapping_add), 1)
        })
    };
    let sum = make().expected();
    let contestant = |name: &'static str, role, options: Options| {
        Contestant::new(name, role, 1, move || ours(make, &options)).expecting(sum)
    };
    let contestants = vec![
        Contestant::new("split", Role::Yardstick, 1, move || Ok(Some(split()))),
        contestant("ours", Role::Ours, pinned(threads)),
        contestant("ws-cur", Role::Aside, pinned(threads).policy("ws-cur")),
        contestant("ws-last", Role::Aside, pinned(threads).policy("ws-last")),
        Contestant::new("1:1", Role::Aside, 1, move || {
            confined(threads, || ours(make, &Options::new().threads(threads).thread_per_node()))
        })
        .expecting(sum),
    ];
    session.figure(&name, Measure::Speed, threads, contestants);
}

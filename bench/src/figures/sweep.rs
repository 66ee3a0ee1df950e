//! Figures for which a run of everything has no time: the papers' sweeps, which are those of `kpn` at more points, `hybrid`,
//! `locality`, `danbi`, `map.random`, `map.model` and `map.dilated`; `archives`; and `cluster`.

use thalweg_kpn::H264;

use super::danbi;
use super::h264::encoder;
use super::hybrid;
use super::kpn::{Sent, line, random_layers, scatter};
use super::locality;
use super::map;
use super::map_model;
use super::{archives, cluster};
use crate::session::Session;

/// The work division factors of Figure 12, and the messages from the source. The paper sends `d` messages of 1 / `d`
/// seconds, which take the whole network 50 s of work. Here the work is a twentieth of that: for large `d` there are
/// fewer messages; for small `d`, where their small number matters, they carry less work; in the middle both.
const DIVISIONS: [(u64, Sent); 5] = [
    (10, Sent { ns: 5_000_000, messages: 10 }),
    (100, Sent { ns: 500_000, messages: 100 }),
    (1_000, Sent { ns: 224_000, messages: 224 }),
    (10_000, Sent { ns: 100_000, messages: 500 }),
    (100_000, Sent { ns: 10_000, messages: 5_000 }),
];

/// Runs the selected figures of the sweeps.
pub fn run(session: &mut Session) {
    let threads = session.options.threads;
    for capacity in [64, 1] {
        for (d, sent) in DIVISIONS {
            let name = format!("kpn.layers.c{capacity}.d{d}.t{threads}");
            random_layers(session, &name, sent, capacity, threads);
        }
    }
    for ns in [1_000, 10_000] {
        sizes(session, ns, threads);
    }
    for workers in [8, 16, 32, 64, 128, 192, 256] {
        scatter(session, &format!("kpn.scatter.n{workers}.w100us.t{threads}"), workers, threads);
    }
    for workers in (0..10).map(|power| 1 << power) {
        encoder(session, H264 { workers, ..H264::default() }, threads);
    }
    hybrid::run(session);
    locality::run(session);
    danbi::run(session);
    map::random_pipelines(session);
    map_model::run(session);
    archives::run(session);
    cluster::sweep(session);
}

/// The message sizes of Figure 14, from 8 to 2048 bytes.
fn sizes(session: &mut Session, ns: u64, threads: usize) {
    line::<1>(session, ns, threads);
    line::<2>(session, ns, threads);
    line::<4>(session, ns, threads);
    line::<8>(session, ns, threads);
    line::<16>(session, ns, threads);
    line::<32>(session, ns, threads);
    line::<64>(session, ns, threads);
    line::<128>(session, ns, threads);
    line::<256>(session, ns, threads);
}

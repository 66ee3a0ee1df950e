//! The closed forms beside Markov chains whose generators are written down state by state.

use crate::assert_near;
use std::collections::HashMap;
use std::hash::Hash;
use thalweg_queueing::closed::Closed;
use thalweg_queueing::erlang::{erlang_b, erlang_c};
use thalweg_queueing::open::Open;
use thalweg_queueing::tandem::pair::{self, Side};
use thalweg_queueing::tandem::phase::{Phases, fit};
use thalweg_queueing::tandem::{exact, predict};
use thalweg_queueing::{Edge, Pipeline, Settings, Stage};

/// The stationary probabilities of the chain that `moves` describes, from `start`, by elimination without subtraction.
fn stationary<S: Copy + Eq + Hash>(start: S, moves: impl Fn(S) -> Vec<(S, f64)>) -> Vec<(S, f64)> {
    let (mut states, mut index) = (vec![start], HashMap::from([(start, 0)]));
    let mut rates = Vec::new();
    let mut next = 0;
    while next < states.len() {
        for (to, rate) in moves(states[next]) {
            let place = *index.entry(to).or_insert_with(|| {
                states.push(to);
                states.len() - 1
            });
            rates.push((next, place, rate));
        }
        next += 1;
    }
    let n = states.len();
    let mut q = vec![vec![0.0; n]; n];
    rates.into_iter().filter(|(from, to, _)| from != to).for_each(|(from, to, rate)| q[from][to] += rate);
    let mut leaves = vec![0.0; n];
    for last in (1..n).rev() {
        leaves[last] = q[last][..last].iter().sum();
        for i in 0..last {
            let factor = q[i][last] / leaves[last];
            let row = q[last].clone();
            q[i][..last].iter_mut().zip(&row).for_each(|(to, from)| *to += factor * from);
        }
    }
    let mut p = vec![1.0; n];
    for i in 1..n {
        p[i] = (0..i).map(|j| p[j] * q[j][i]).sum::<f64>() / leaves[i];
    }
    let mass: f64 = p.iter().sum();
    states.into_iter().zip(p.into_iter().map(|p| p / mass)).collect()
}

fn mean<S>(p: &[(S, f64)], value: impl Fn(&S) -> f64) -> f64 {
    p.iter().map(|(state, p)| p * value(state)).sum()
}

#[test]
fn the_closed_stage_is_its_chain() {
    for (service, arrival, c, population) in
        [(1.0, 1.0, 1.0, 3u64), (2.0, 3.0, 3.0, 7), (0.1, 5.0, 2.0, 4), (3.0, 1.0, 1.25, 9)]
    {
        let p = stationary(0u64, |n| {
            let mut moves = vec![];
            if n < population {
                moves.push((n + 1, (population - n) as f64 / arrival));
            }
            if n > 0 {
                moves.push((n - 1, (n as f64).min(c) / service));
            }
            moves
        });
        let state = Closed { service, arrival, threads: c, population }.solve().unwrap();
        let throughput = mean(&p, |n| (population - n) as f64 / arrival);
        assert_near(state.throughput, throughput, 1e-12);
        assert_near(state.items, mean(&p, |n| *n as f64), 1e-12);
        assert_near(state.waiting * throughput + 1.0, mean(&p, |n| (*n as f64 - c).max(0.0)) + 1.0, 1e-12);
    }
}

#[test]
fn the_open_stage_is_its_chain() {
    for (rate, service, c) in [(0.7, 1.0, 1u32), (2.0, 1.2, 3), (3.5, 1.0, 5)] {
        let p = stationary(0u64, |n| {
            let up = (n < 400).then_some((n + 1, rate));
            let down = (n > 0).then(|| (n - 1, (n as f64).min(c.into()) / service));
            up.into_iter().chain(down).collect()
        });
        let state = Open::exponential(rate, service, c).solve().unwrap();
        let c = f64::from(c);
        assert_near(state.items, mean(&p, |n| *n as f64), 1e-9);
        assert_near(state.waiting, mean(&p, |n| (*n as f64 - c).max(0.0)) / rate, 1e-9);
        assert_near(
            erlang_c(c, rate * service).unwrap(),
            mean(&p, |n| f64::from(u8::from(*n as f64 >= c))),
            1e-9,
        );
    }
}

#[test]
fn one_server_with_any_time_is_pollaczek_and_khinchine_s() {
    let open = Open { service_cv: 0.3, ..Open::exponential(0.5, 1.5, 1) };
    assert_near(open.solve().unwrap().waiting, 0.5 * 1.5 * 1.5 * 1.09 / (2.0 * 0.25), 1e-12);
}

#[test]
fn erlang_b_is_its_sum_and_its_integral() {
    for (n, load) in [(1u32, 0.5), (4, 2.0), (7, 30.0), (20, 3.0)] {
        let (mut term, mut sum) = (1.0, 1.0);
        for k in 1..=n {
            term *= load / f64::from(k);
            sum += term;
        }
        assert_near(erlang_b(n.into(), load).unwrap(), term / sum, 1e-12);
    }
    for (n, load) in [(0.4375, 0.8789), (0.1, 5.0), (2.5, 0.3), (6.7, 6.7)] {
        let step = 1e-4 / load;
        let part = |i: i32| ((1.0 + f64::from(i) * step).ln() * n - load * f64::from(i) * step).exp();
        let sum: f64 = (0..600_000).step_by(2).map(|i| part(i) + 4.0 * part(i + 1) + part(i + 2)).sum();
        assert_near(erlang_b(n, load).unwrap(), 3.0 / (load * step * sum), 1e-7);
    }
}

#[test]
fn two_exponential_stations_with_threads_are_their_chain() {
    for (cu, tu, cd, td, room) in
        [(1u32, 1.0, 1u32, 1.0, 0u64), (2, 2.0, 3, 2.5, 2), (4, 1.0, 2, 3.0, 5), (3, 9.0, 5, 2.0, 1)]
    {
        let top = room + u64::from(cu + cd);
        let p = stationary(0u64, |n| {
            let up = (n < top).then(|| (n + 1, (cu as u64).min(top - n) as f64 / tu));
            let down = (n > 0).then(|| (n - 1, (cd as u64).min(n) as f64 / td));
            up.into_iter().chain(down).collect()
        });
        let throughput = mean(&p, |n| (cd as u64).min(*n) as f64 / td);
        let queue = mean(&p, |n| n.saturating_sub(cd.into()).min(room) as f64);
        let up = Side { threads: cu, time: tu, squared: 1.0 };
        let down = Side { threads: cd, time: td, squared: 1.0 };
        let state = pair::solve(&up, &down, room as f64);
        assert_near(state.throughput, throughput, 1e-12);
        assert!((state.queue - queue).abs() < 0.05 * room as f64 + 1e-9, "{} {queue}", state.queue);
    }
}

#[test]
fn two_exponential_stages_with_a_channel_in_place_are_their_chain() {
    // All items between the ends have a place: those under way upstream, those that wait, those in service.
    for (cu, tu, cd, td, capacity) in [
        (1u32, 1.0, 1u32, 1.0, 1u64),
        (1, 1.0, 1, 2.0, 4),
        (2, 2.0, 3, 2.5, 4),
        (4, 1.0, 4, 3.0, 4),
        (3, 9.0, 5, 2.0, 9),
    ] {
        let p = stationary(0u64, |n| {
            let up = (n < capacity).then(|| (n + 1, (cu as u64).min(capacity - n) as f64 / tu));
            let down = (n > 0).then(|| (n - 1, (cd as u64).min(n) as f64 / td));
            up.into_iter().chain(down).collect()
        });
        let throughput = mean(&p, |n| (cd as u64).min(*n) as f64 / td);
        let stages = vec![Stage::parallel(tu, 1.0), Stage::parallel(td, 1.0)];
        let pipeline = Pipeline::new(stages, vec![Edge::new(0, 1, capacity).in_place()]).unwrap();
        let found = predict(&pipeline, &Settings::pools([cu, cd])).unwrap().throughput;
        assert_near(found, throughput, 1e-9);
    }
}

#[test]
fn threads_that_share_all_places_are_never_idle() {
    // Each of two places is upstream or downstream, so times of any variation give places over both times.
    for (squared, td) in [(0.0, 1.0), (0.5, 3.0), (4.0, 0.2)] {
        let side = |time| Side { threads: 2, time, squared };
        assert_near(pair::solve(&side(1.0), &side(td), -2.0).throughput, 2.0 / (1.0 + td), 1e-12);
    }
}

/// A state of two single threads: items finished upstream and not downstream, and both phases.
type Two = (usize, usize, usize);

/// The moves of two phase-type stations with blocking after service.
fn two_stations(up: &Phases, down: &Phases, room: usize, (n, i, j): Two) -> Vec<(Two, f64)> {
    let top = room + 2;
    let begin = |phases: &Phases, works: bool| -> Vec<(usize, f64)> {
        if works { phases.start.iter().copied().enumerate().collect() } else { vec![(0, 1.0)] }
    };
    let mut moves = vec![];
    if n < top {
        match up.after(i) {
            Some(next) => moves.push(((n, next, j), up.rates[i])),
            None => {
                for (a, p) in begin(up, n + 1 < top) {
                    let downs = if n == 0 { begin(down, true) } else { vec![(j, 1.0)] };
                    moves.extend(downs.into_iter().map(|(b, q)| ((n + 1, a, b), up.rates[i] * p * q)));
                }
            }
        }
    }
    if n > 0 {
        match down.after(j) {
            Some(next) => moves.push(((n, i, next), down.rates[j])),
            None => {
                for (b, q) in begin(down, n > 1) {
                    let ups = if n == top { begin(up, true) } else { vec![(i, 1.0)] };
                    moves.extend(ups.into_iter().map(|(a, p)| ((n - 1, a, b), down.rates[j] * p * q)));
                }
            }
        }
    }
    moves.retain(|(_, rate)| *rate > 0.0);
    moves
}

#[test]
fn the_exact_pair_is_its_chain() {
    for (su, sd, td, room) in [(0.3, 2.0, 1.0, 3), (1.0, 0.25, 0.7, 0), (4.0, 0.4, 1.5, 5)] {
        let (up, down) = (fit(1.0, su, 6), fit(td, sd, 6));
        let start = (0, up.start.iter().position(|p| *p > 0.0).unwrap(), 0);
        let p = stationary(start, |state| two_stations(&up, &down, room, state));
        let leaves = |(n, _, j): &Two| if *n > 0 && down.after(*j).is_none() { down.rates[*j] } else { 0.0 };
        assert_near(exact::throughput(&up, &down, room), mean(&p, leaves), 1e-10);
    }
}

#[test]
fn the_stretched_chain_is_near_the_exact_one() {
    let mut worst = [0.0f64; 2];
    for su in [0.17, 0.25, 0.5, 1.0, 2.0, 4.0] {
        for sd in [0.17, 0.4, 1.0, 4.0] {
            for (td, room) in
                [(0.5, 1), (0.8, 3), (1.0, 0), (1.0, 1), (1.0, 4), (1.0, 16), (1.3, 2), (2.0, 1)]
            {
                let chain = exact::throughput(&fit(1.0, su, 6), &fit(td, sd, 6), room);
                let side = |time, squared| Side { threads: 1, time, squared };
                let state = pair::solve(&side(1.0, su), &side(td, sd), room as f64);
                let kind = usize::from(su.max(sd) > 1.0);
                worst[kind] = worst[kind].max((state.throughput / chain - 1.0).abs());
            }
        }
    }
    assert!(worst[0] < 0.02 && worst[1] < 0.05, "{worst:?}");
}

#[test]
fn three_exponential_stations_are_near_their_chain() {
    // A state: the items that each of the first two stations has finished and the next has not.
    for (times, rooms) in [
        ([1.0, 1.0, 1.0], [0u64, 0]),
        ([1.0, 1.0, 1.0], [2, 2]),
        ([1.0, 1.5, 1.0], [1, 3]),
        ([2.0, 1.0, 1.0], [1, 1]),
    ] {
        let top = rooms.map(|room| room + 2);
        let p = stationary((0u64, 0u64), |(a, b)| {
            let blocked = b == top[1];
            let mut moves = vec![];
            // A blocked item keeps the second station's place.
            if a + u64::from(blocked) < top[0] {
                moves.push(((a + 1, b), 1.0 / times[0]));
            }
            if a > 0 && !blocked {
                moves.push(((a - 1, b + 1), 1.0 / times[1]));
            }
            if b > 0 {
                moves.push(((a, b - 1), 1.0 / times[2]));
            }
            moves
        });
        let throughput = mean(&p, |(_, b)| if *b > 0 { 1.0 / times[2] } else { 0.0 });
        let stages = times.map(|time| Stage::sequential(time, 1.0)).to_vec();
        let edges = vec![Edge::new(0, 1, rooms[0]), Edge::new(1, 2, rooms[1])];
        let chain = Pipeline::new(stages, edges).unwrap();
        let found = predict(&chain, &Settings::pools([1; 3])).unwrap().throughput;
        assert_near(found, throughput, 0.035);
    }
}

//! The models beside the simulation, over random pipelines. `cargo test -p thalweg-queueing validation -- --nocapture`
//! prints the errors; the README has a table of them.

use crate::simulation::{Chain, Random, Stage, run};
use thalweg_queueing as queueing;
use thalweg_queueing::{Edge, Pipeline, Settings, paper, tandem};

/// 2 to 8 stages with 1 to 8 threads, capacities from 1 to 32, coefficients of variation from 0 to 2; half of the stages
/// take turns at being the slowest, a third has ordered output.
fn pools(random: &mut Random) -> Chain {
    let count = 2 + random.below(7) as usize;
    let stage = |random: &mut Random| {
        let threads = 1 + random.below(8) as usize;
        let balanced = random.below(2) == 0;
        let service =
            if balanced { threads as f64 * (0.8 + 0.4 * random.unit()) } else { 0.2 + 4.0 * random.unit() };
        let window = (random.below(3) == 0).then(|| threads + random.below(3 * threads as u64 + 1) as usize);
        Stage { service, variation: variation(random), threads, window }
    };
    let stages = (0..count).map(|_| stage(random)).collect();
    Chain { stages, capacities: capacities(random, count), shared: None, tokens: None, in_place: false }
}

/// 1 to 16 threads for 2 to 8 stages, half of them sequential; a third has a limit of tokens.
fn shared(random: &mut Random) -> Chain {
    let count = 2 + random.below(7) as usize;
    let p = 1 + random.below(16) as usize;
    let stage = |random: &mut Random| match random.below(2) {
        0 => Stage {
            service: 0.1 + 0.5 * random.unit(),
            variation: variation(random),
            threads: 1,
            window: None,
        },
        _ => {
            let window = (random.below(2) == 0).then_some(4 * p);
            Stage { service: 0.2 + 4.0 * random.unit(), variation: variation(random), threads: p, window }
        }
    };
    let stages = (0..count).map(|_| stage(random)).collect();
    let tokens = (random.below(3) == 0).then(|| 1 + random.below(5 * p as u64) as usize);
    Chain { stages, capacities: capacities(random, count), shared: Some(p), tokens, in_place: false }
}

fn variation(random: &mut Random) -> f64 {
    if random.below(5) == 0 { 0.0 } else { 2.0 * random.unit() }
}

fn capacities(random: &mut Random, count: usize) -> Vec<usize> {
    (1..count).map(|_| 32f64.powf(random.unit()) as usize).chain([usize::MAX]).collect()
}

fn pipeline(chain: &Chain) -> Pipeline {
    let stage = |stage: &Stage| {
        let made = match stage.threads {
            1 => queueing::Stage::sequential(stage.service, stage.variation),
            _ => queueing::Stage::parallel(stage.service, stage.variation),
        };
        stage.window.map_or(made, |tickets| made.ordered(tickets as u64))
    };
    let edges = (1..chain.stages.len()).map(|to| {
        let edge = Edge::new(to - 1, to, chain.capacities[to - 1] as u64);
        if chain.in_place { edge.in_place() } else { edge }
    });
    Pipeline::new(chain.stages.iter().map(stage).collect(), edges.collect()).unwrap()
}

fn settings(chain: &Chain) -> Settings {
    let pools = || Settings::pools(chain.stages.iter().map(|stage| stage.threads as u32).collect::<Vec<_>>());
    let settings = chain.shared.map_or_else(pools, |p| Settings::shared(p as u32));
    Settings { tokens: chain.tokens.map(|tokens| tokens as u64), ..settings }
}

/// Relative errors of a model.
#[derive(Default)]
struct Errors(Vec<f64>);

impl Errors {
    fn add(&mut self, predicted: f64, measured: f64) {
        self.0.push((predicted / measured - 1.0).abs());
    }

    /// The median and the 95th percentile.
    fn report(mut self, name: &str) -> (f64, f64) {
        self.0.sort_by(f64::total_cmp);
        let at = |share: usize| self.0[self.0.len() * share / 100];
        let (median, high) = (at(50), at(95));
        eprintln!(
            "{name:45} n {:3}  median {:5.1} %  95th {:6.1} %",
            self.0.len(),
            100.0 * median,
            100.0 * high
        );
        (median, high)
    }
}

const ITEMS: usize = 6_000;

#[test]
fn validation_of_pools() {
    let mut random = Random(7);
    let [mut ours, mut closed, mut bound] = [(); 3].map(|()| Errors::default());
    let [mut ours_lossy, mut closed_lossy, mut bound_lossy] = [(); 3].map(|()| Errors::default());
    for seed in 0..200 {
        let chain = pools(&mut random);
        let measured = run(&chain, ITEMS, seed).throughput;
        let (pipeline, settings) = (pipeline(&chain), settings(&chain));
        let predicted = tandem::predict(&pipeline, &settings).unwrap();
        let equation_4 = paper::closed(&pipeline, &settings).unwrap().throughput;
        ours.add(predicted.throughput, measured);
        closed.add(equation_4, measured);
        bound.add(predicted.bound, measured);
        if measured < 0.95 * predicted.bound {
            ours_lossy.add(predicted.throughput, measured);
            closed_lossy.add(equation_4, measured);
            bound_lossy.add(predicted.bound, measured);
        }
    }
    let (median, high) = ours.report("pools: ours");
    closed.report("pools: equation 4");
    bound.report("pools: min(c / T)");
    let (lossy_median, lossy_high) = ours_lossy.report("pools that lose over 5 %: ours");
    closed_lossy.report("pools that lose over 5 %: equation 4");
    bound_lossy.report("pools that lose over 5 %: min(c / T)");
    assert!(median < 0.03 && high < 0.12, "{median} {high}");
    assert!(lossy_median < 0.05 && lossy_high < 0.15, "{lossy_median} {lossy_high}");
}

#[test]
fn validation_of_shared_threads() {
    let mut random = Random(11);
    let [mut ours, mut stealing, mut central, mut bound] = [(); 4].map(|()| Errors::default());
    for seed in 0..200 {
        let chain = shared(&mut random);
        let measured = run(&chain, ITEMS, seed).throughput;
        let (pipeline, settings) = (pipeline(&chain), settings(&chain));
        let predicted = tandem::predict(&pipeline, &settings).unwrap();
        ours.add(predicted.throughput, measured);
        bound.add(predicted.bound, measured);
        if chain.tokens.is_some() {
            stealing.add(paper::stealing(&pipeline, &settings).unwrap().throughput, measured);
            central.add(paper::central(&pipeline, &settings).unwrap().throughput, measured);
        }
    }
    let (median, high) = ours.report("shared threads: ours");
    bound.report("shared threads: min(P / sum of T, 1 / T)");
    stealing.report("shared threads, tokens: work stealing");
    central.report("shared threads, tokens: M/M/P/PN/PN");
    assert!(median < 0.05 && high < 0.25, "{median} {high}");
}

/// The paper's own domain: exponential times, stages without order, channels of 20 to 100 items.
#[test]
fn validation_of_equation_4_in_its_domain() {
    let mut random = Random(19);
    let [mut ours, mut closed, mut bound] = [(); 3].map(|()| Errors::default());
    for seed in 0..40 {
        let mut chain = pools(&mut random);
        for stage in &mut chain.stages {
            (stage.variation, stage.window) = (1.0, None);
        }
        let count = chain.stages.len();
        chain.capacities = (1..count).map(|_| 20 + random.below(81) as usize).chain([usize::MAX]).collect();
        let measured = run(&chain, ITEMS, seed).throughput;
        let (pipeline, settings) = (pipeline(&chain), settings(&chain));
        let predicted = tandem::predict(&pipeline, &settings).unwrap();
        ours.add(predicted.throughput, measured);
        closed.add(paper::closed(&pipeline, &settings).unwrap().throughput, measured);
        bound.add(predicted.bound, measured);
    }
    let (median, high) = ours.report("exponential, capacities of 20 to 100: ours");
    closed.report("the same: equation 4");
    bound.report("the same: min(c / T)");
    assert!(median < 0.03 && high < 0.1, "{median} {high}");
}

/// The paper's own domain: exponential times, parallel stages whose channels never fill, and tokens for each thread.
#[test]
fn validation_of_work_stealing_in_its_domain() {
    let mut random = Random(17);
    let [mut ours, mut stealing, mut central] = [(); 3].map(|()| Errors::default());
    for seed in 0..40 {
        let p = 2 + random.below(15) as usize;
        let count = 2 + random.below(5) as usize;
        let stage = |random: &mut Random| Stage {
            service: 0.2 + 4.0 * random.unit(),
            variation: 1.0,
            threads: p,
            window: None,
        };
        let stages = (0..count).map(|_| stage(&mut random)).collect();
        let tokens = p * (1 + random.below(5) as usize);
        let chain = Chain {
            stages,
            capacities: vec![1000; count],
            shared: Some(p),
            tokens: Some(tokens),
            in_place: false,
        };
        let measured = run(&chain, ITEMS, seed).throughput;
        let (pipeline, settings) = (pipeline(&chain), settings(&chain));
        ours.add(tandem::predict(&pipeline, &settings).unwrap().throughput, measured);
        stealing.add(paper::stealing(&pipeline, &settings).unwrap().throughput, measured);
        central.add(paper::central(&pipeline, &settings).unwrap().throughput, measured);
    }
    let (median, high) = ours.report("parallel stages, 1 to 5 tokens a thread: ours");
    stealing.report("the same: work stealing");
    central.report("the same: M/M/P/PN/PN");
    assert!(median < 0.05 && high < 0.25, "{median} {high}");
}

#[test]
fn validation_of_tokens() {
    let mut random = Random(13);
    let (mut ours, mut bound) = (Errors::default(), Errors::default());
    for seed in 0..100 {
        let mut chain = pools(&mut random);
        let threads: usize = chain.stages.iter().map(|stage| stage.threads).sum();
        chain.tokens = Some(1 + random.below(2 * threads as u64) as usize);
        let measured = run(&chain, ITEMS, seed).throughput;
        let predicted = tandem::predict(&pipeline(&chain), &settings(&chain)).unwrap();
        ours.add(predicted.throughput, measured);
        bound.add(predicted.bound, measured);
    }
    let (median, high) = ours.report("pools with tokens: ours");
    bound.report("pools with tokens: min(c / T)");
    assert!(median < 0.06 && high < 0.25, "{median} {high}");
}

/// Without a channel's limit, utilisation and waiting have formulas that the simulation must agree with too.
#[test]
fn the_simulation_agrees_with_little_s_law_and_a_birth_death_chain() {
    let stage = |service, threads| Stage { service, variation: 1.0, threads, window: None };
    let chain = Chain {
        stages: vec![stage(2.0, 2), stage(2.5, 3)],
        capacities: vec![2, usize::MAX],
        shared: None,
        tokens: None,
        in_place: false,
    };
    let measured = run(&chain, 200_000, 3);
    let predicted = tandem::predict(&pipeline(&chain), &settings(&chain)).unwrap();
    crate::assert_near(measured.throughput, predicted.throughput, 0.01);
    for (i, busy) in measured.busy.iter().enumerate() {
        crate::assert_near(*busy, predicted.stages[i].busy, 0.02);
    }
    let waiting = measured.queues[1] / measured.throughput;
    crate::assert_near(predicted.stages[1].waiting.unwrap(), waiting, 0.1);
}

/// Channels as the engine has them. A sequential stage has a ticket, a parallel one the window of the plan.
fn in_place(chain: Chain) -> Chain {
    let window = |stage: &Stage| if stage.threads == 1 { 1 } else { 16 * stage.threads };
    let stages = chain.stages.into_iter().map(|stage| Stage { window: Some(window(&stage)), ..stage });
    Chain { stages: stages.collect(), in_place: true, tokens: None, ..chain }
}

#[test]
fn validation_in_place() {
    for (name, kind) in [("pools", pools as fn(&mut Random) -> Chain), ("shared threads", shared)] {
        let mut random = Random(13);
        let [mut ours, mut bound] = [(); 2].map(|()| Errors::default());
        for seed in 0..200 {
            let chain = in_place(kind(&mut random));
            let measured = run(&chain, ITEMS, seed).throughput;
            let (pipeline, settings) = (pipeline(&chain), settings(&chain));
            let predicted = tandem::predict(&pipeline, &settings).unwrap();
            ours.add(predicted.throughput, measured);
            bound.add(predicted.bound, measured);
        }
        let (median, high) = ours.report(&format!("{name}, in place: ours"));
        bound.report(&format!("{name}, in place: threads over work"));
        assert!(median < 0.04 && high < 0.25, "{name}: {median} {high}");
    }
}

//! Every workload has its result under every policy, on 1 to 16 threads and with small channels.

use thalweg::Options;
use thalweg::embed::policy::registry;
use thalweg_kpn::{
    H264, Job, Layers, Mode, Order, Stage, aes, h264, layered, ping_pong, ping_pong_coroutines, pipeline,
    ring, scatter_gather,
};

fn work(x: u64) -> u64 {
    (x ^ x >> 7).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn check_everywhere(make: impl Fn() -> Job) {
    let expected = make().expected();
    for policy in registry::names() {
        for threads in [1, 2, 3, 16] {
            for capacity in [1, 2, 3, 64] {
                let options = Options::new().policy(policy).threads(threads).capacity(capacity);
                check(make(), expected, &options);
            }
        }
    }
    check(make(), expected, &Options::new().thread_per_node());
}

fn check(job: Job, expected: u64, options: &Options) {
    let (result, _) = job.run(options).unwrap_or_else(|error| panic!("{options:?}: {error}"));
    assert_eq!(result, expected, "{options:?}");
}

#[test]
fn ping_pong_counts_its_rounds() {
    check_everywhere(|| ping_pong(200));
    check_everywhere(|| ping_pong_coroutines(200));
}

#[test]
fn rings_pass_their_token() {
    check_everywhere(|| ring(2, 50, Order::Creation));
    check_everywhere(|| ring(70, 5, Order::Creation));
    check_everywhere(|| ring(70, 5, Order::Shuffled(3)));
}

#[test]
fn pipelines_keep_the_order() {
    check_everywhere(|| pipeline::<1>(2, 300, work));
    check_everywhere(|| pipeline::<16>(20, 100, work));
}

#[test]
fn a_hub_receives_all_answers() {
    check_everywhere(|| scatter_gather(5, 20, work));
}

#[test]
fn random_layers_with_cycles() {
    for seed in 0..3 {
        let layers = Layers::new(6, 4, 4, seed);
        check_everywhere(|| layered(&layers, 40, 1000, |share, trace| work(share ^ trace)));
    }
    check_everywhere(|| layered(&Layers::default(), 5, 1 << 20, |share, trace| work(share ^ trace)));
}

/// Without back edges, every layer does the whole work of a message.
#[test]
fn work_is_conserved_from_layer_to_layer() {
    let layers = Layers::new(9, 5, 0, 7);
    assert_eq!(layers.work(1000), 10 * 1000);
    assert_eq!(layers.cycles(), 0);
}

#[test]
fn encryption_does_not_depend_on_the_number_of_parts() {
    for (workers, mode) in [(1, Mode::Ecb), (7, Mode::Ecb), (7, Mode::Ctr(5)), (40, Mode::Ctr(5))] {
        check_everywhere(|| aes(5000, workers, 3, mode));
    }
    assert_ne!(aes(5000, 1, 1, Mode::Ecb).expected(), aes(5000, 1, 1, Mode::Ctr(0)).expected());
}

#[test]
fn encoders_of_various_sizes() {
    for size in [(1, 1, 1), (4, 1, 3), (3, 5, 2), (2, 2, 9), (0, 1, 1)] {
        let (frames, rows, workers) = size;
        check_everywhere(|| h264(H264 { frames, rows, workers }, 10_000, |share, trace| work(share ^ trace)));
    }
    check_everywhere(|| h264(H264 { frames: 6, ..H264::default() }, 999, |share, trace| work(share ^ trace)));
}

/// A different result of one stage changes the encoded result if and only if there is a path from that stage to the
/// end.
#[test]
fn each_feedback_channel_of_the_encoder_has_an_effect() {
    let encoded = |frames, rows, other: Option<Stage>| {
        // The shares identify the stages, because each stage has only one worker here.
        let frame = 1000 * rows;
        let work = move |share, trace| match other {
            Some(stage) if share == stage.per_mille() => work(trace) ^ 1,
            _ => work(trace),
        };
        h264(H264 { frames, rows, workers: 1 }, frame, work).expected()
    };
    let matters = |stage, frames, rows| encoded(frames, rows, Some(stage)) != encoded(frames, rows, None);
    for stage in [Stage::Source, Stage::P, Stage::T, Stage::Q, Stage::Ec] {
        assert!(matters(stage, 1, 1), "{stage:?}");
    }
    for stage in [Stage::Me, Stage::Mc, Stage::Filter] {
        assert!(!matters(stage, 1, 3) && matters(stage, 2, 8), "{stage:?}");
    }
    for stage in [Stage::Iq, Stage::It] {
        assert!(!matters(stage, 1, 1) && matters(stage, 1, 2) && matters(stage, 2, 1), "{stage:?}");
    }
}

/// The network and the reference loop do exactly the work that the table of stages requires.
#[test]
fn the_encoder_does_the_work_of_its_table() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    let size = H264 { frames: 3, rows: 4, workers: 5 };
    let done = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&done);
    let job = || {
        let done = Arc::clone(&counted);
        h264(size, 40_000, move |share, trace| {
            done.fetch_add(share, Relaxed);
            work(trace)
        })
    };
    job().expected();
    assert_eq!(done.swap(0, Relaxed), size.work(40_000));
    job().run(&Options::new()).unwrap();
    assert_eq!(done.swap(0, Relaxed), size.work(40_000));
}

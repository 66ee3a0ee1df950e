//! Every workload gives its result under every policy, on 1 to 16 threads and with tiny channels.

use thalweg::{Options, policy::registry};
use thalweg_kpn::{
    Job, Layers, Mode, Order, aes, layered, ping_pong, ping_pong_coroutines, pipeline, ring, scatter_gather,
};

fn work(x: u64) -> u64 {
    (x ^ x >> 7).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn everywhere(make: impl Fn() -> Job) {
    let expected = make().expected();
    for policy in registry::names() {
        for threads in [1, 2, 3, 16] {
            for capacity in [1, 2, 3, 64] {
                let options = Options::new().policy(policy).threads(threads).capacity(capacity);
                check(make(), expected, &options);
            }
        }
    }
    check(make(), expected, &Options::new().one_to_one());
}

fn check(job: Job, expected: u64, options: &Options) {
    let (result, _) = job.run(options).unwrap_or_else(|error| panic!("{options:?}: {error}"));
    assert_eq!(result, expected, "{options:?}");
}

#[test]
fn ping_pong_counts() {
    everywhere(|| ping_pong(200));
    everywhere(|| ping_pong_coroutines(200));
}

#[test]
fn rings_pass_their_token() {
    everywhere(|| ring(2, 50, Order::Creation));
    everywhere(|| ring(70, 5, Order::Creation));
    everywhere(|| ring(70, 5, Order::Shuffled(3)));
}

#[test]
fn pipelines_keep_the_order() {
    everywhere(|| pipeline::<1>(2, 300, work));
    everywhere(|| pipeline::<16>(20, 100, work));
}

#[test]
fn a_hub_hears_from_all_its_workers() {
    everywhere(|| scatter_gather(5, 20, work));
}

#[test]
fn random_layers_with_cycles_agree() {
    for seed in 0..3 {
        let layers = Layers::new(6, 4, 4, seed);
        everywhere(|| layered(&layers, 40, 1000, |share, trace| work(share ^ trace)));
    }
    everywhere(|| layered(&Layers::default(), 5, 1 << 20, |share, trace| work(share ^ trace)));
}

/// What the source gives out arrives, whatever way it took.
#[test]
fn work_is_conserved_from_layer_to_layer() {
    let layers = Layers::new(9, 5, 0, 7);
    assert_eq!(layers.work(1000), 10 * 1000);
    assert_eq!(layers.cycles(), 0);
}

#[test]
fn memory_is_encrypted_the_same_in_any_number_of_parts() {
    for (workers, mode) in [(1, Mode::Ecb), (7, Mode::Ecb), (7, Mode::Ctr(5)), (40, Mode::Ctr(5))] {
        everywhere(|| aes(5000, workers, 3, mode));
    }
    assert_ne!(aes(5000, 1, 1, Mode::Ecb).expected(), aes(5000, 1, 1, Mode::Ctr(0)).expected());
}

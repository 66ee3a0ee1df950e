//! Every workload gives its result under every policy, on 1 to 16 threads and with tiny channels.

use thalweg::{Options, policy::registry};
use thalweg_kpn::{Job, Order, ping_pong, pipeline, ring, scatter_gather};

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

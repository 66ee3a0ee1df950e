//! rayon, which has no ordered stream: the farm is a loop over batches with a barrier after each.

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::jobs::{Farm, Small};
use crate::row::{Row, median_of, once, timed};
use crate::work::fold;

/// Items between two barriers.
const BATCH: u64 = 4096;

/// The farm: each batch in parallel into a vector, then the sink over the vector.
pub fn farm(job: &Farm) -> Row {
    let pool =
        ThreadPoolBuilder::new().num_threads(job.threads).build().expect("the system can start threads");
    timed(|| {
        let (mut sum, mut results) = (0, Vec::new());
        for start in (0..job.items).step_by(BATCH as usize) {
            let batch = 0..BATCH.min(job.items - start) as usize;
            pool.install(|| {
                batch.into_par_iter().map(|i| job.work.run(start + i as u64)).collect_into_vec(&mut results)
            });
            sum = results.iter().fold(sum, |h, &x| fold(h, x));
        }
        sum
    })
}

/// A short farm: one batch, on the threads of an existing pool.
pub fn small(job: &Small) -> Row {
    let Farm { items, work, threads } = &job.farm;
    let pool = ThreadPoolBuilder::new().num_threads(*threads).build().expect("the system can start threads");
    median_of(job.jobs, || {
        once(|| {
            let results: Vec<u64> =
                pool.install(|| (0..*items as usize).into_par_iter().map(|i| work.run(i as u64)).collect());
            results.iter().fold(0, |h, &x| fold(h, x))
        })
    })
}

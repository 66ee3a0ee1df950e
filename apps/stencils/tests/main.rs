//! The programs against plain references and known results.

mod life;
mod nas;
mod physics;

/// Asserts that teams of several sizes, also of more members than there are cores, compute this result.
fn assert_any_team<R: PartialEq + Send + Sync + std::fmt::Debug>(result: &R, compute: impl Fn() -> R + Sync) {
    for size in [1, 2, 3, 8] {
        let compute = || (thalweg::loops::team_size(), compute());
        let computed = thalweg::in_team(&thalweg::Options::new().threads(size), compute).unwrap();
        assert!(computed.0 == size && computed.1 == *result, "{computed:?}, expected {result:?}");
    }
}

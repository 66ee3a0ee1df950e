//! Tests of task graphs: one program for all.

mod colours;
mod cycles;
mod failures;
mod growing;
mod keys;
mod leaving;
mod random;
mod shapes;

/// Calls `test` in a team of four: graphs then have up to four members on any machine.
fn in_team(test: impl FnOnce() + Send) {
    let test = || {
        assert_eq!(thalweg_runtime::team_size(), 4);
        test();
    };
    let run = thalweg_runtime::in_team(&thalweg_runtime::Options::new().threads(4), test);
    run.unwrap_or_else(|error| panic!("{error}"));
}

//! What tests of plans share.

pub mod drawn;

use thalweg_sim::Settings;

/// A machine on which nothing but firings takes time.
pub const FREE: Settings = Settings {
    workers: 1,
    seed: 1,
    decide: 0,
    overhead: 0,
    migrate: 0,
    transfer: 0,
    wake: 0,
    spin: 1,
    patience: 1,
    budget: 500,
    slice: 64,
    run: 16,
    window: 0,
    ticket_wait: 0,
    foresight: true,
    cache: None,
    steps: 100_000_000,
};

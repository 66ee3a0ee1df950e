//! Stands for `lanes.rs` and `skewed.rs` where pulp has no instructions for them: all pairs are computed one by one, all
//! blocks by `kernel.rs`.

use super::Inflow;
use crate::wavefront::Watch;
use crate::{Result, Scoring};

pub(crate) fn memory(_: usize, _: usize) -> u64 {
    0
}

/// There are none.
#[derive(Debug)]
pub(crate) enum Tables {}

impl Tables {
    pub fn new(_: &Scoring) -> Option<Tables> {
        None
    }

    pub fn lanes(&self) -> usize {
        match *self {}
    }

    pub fn pay(_: usize, _: usize) -> bool {
        false
    }

    pub fn cost(_: usize) -> usize {
        usize::MAX
    }

    pub fn scores(&self, _: &[u8], _: &[&[u8]], _: &dyn Watch) -> Result<Vec<Option<i32>>> {
        match *self {}
    }
}

/// There are none.
#[derive(Debug)]
pub(crate) enum Strips {}

impl Strips {
    pub fn new(_: &[u8], _: &Scoring) -> Option<Strips> {
        None
    }

    #[expect(clippy::extra_unused_type_parameters, reason = "callers name the type of numbers")]
    pub fn sweep<T>(&self, _: &[u8], _: (i32, i32), _: &mut Inflow) -> i32 {
        match *self {}
    }
}

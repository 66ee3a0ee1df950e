//! From a plan to segments: their layout, and the length and number of batches.

use super::cut::Segment;
use super::files::InPlace;
use super::layout::{Layout, interleave_buffers};
use super::{ALL_BYTES, BATCH_BYTES, LEAST_OVERLAP, LONG_ENOUGH, MOST_BATCH_BYTES, OVERLAP, SHARES, WORTH};
use crate::Native;
use crate::parts::Part;
use crate::plan::{Facts, Plan};
use crate::run::units::Planned;
use crate::threads::{Split, Threads};
use thalweg::embed::plan::{Body, Division, Units};
use thalweg::embed::runtime::EmbedOptions;
use thalweg::plan::Plan as Decisions;
use thalweg_lang::interpret::Stop;

/// What a cut follows from.
pub(super) struct Cutter<'c, 'a> {
    pub(super) native: &'a Native,
    pub(super) part: &'a Part,
    pub(super) plan: &'a Plan,
    pub(super) threads: &'c Threads,
    /// The seconds of one thread for a steady state, where threads must be faster.
    pub(super) alone: Option<f64>,
    /// The files, where all lie in memory.
    pub(super) files: Option<&'c InPlace>,
}

/// A layout, and the number of batches.
type Sized<'a> = (Layout<'a>, u64);

impl<'a> Cutter<'_, 'a> {
    /// The cut that a plan says; `None` beside it where one thread runs the program.
    pub(super) fn follow(&self, planned: Planned) -> (Planned, Option<Sized<'a>>) {
        let layout = (!planned.is_whole()).then(|| {
            let mut layout = self.layout(&planned.bodies);
            let batch = self.threads.batch.unwrap_or(planned.plan.batch() as u64);
            layout.set_batch(batch.max(layout.reach.states).max(1));
            layout
        });
        let sized = layout.and_then(|layout| self.window(&layout).map(|window| (layout, window)));
        (planned, sized)
    }

    /// A new plan, as the caller's options change it, and its cut.
    pub(super) fn decide(&self, units: &Units) -> Result<(Planned, Option<Sized<'a>>), Stop> {
        let native = self.native;
        let mut sized = None;
        let plan = native.choose(&self.threads.engine, |wishes| {
            let mut plan = Decisions::compiled(native.graph(), units, wishes);
            sized = plan.bodies(native.graph(), units.all()).ok().and_then(|bodies| self.sized(&bodies));
            match &sized {
                Some((layout, _)) => *plan.batch_mut() = layout.batch.min(u64::from(u32::MAX)) as usize,
                None => {
                    let mut whole = units.clone();
                    *whole.division_mut() = Division::Whole;
                    plan = Decisions::compiled(native.graph(), &whole, wishes);
                }
            }
            plan
        })?;
        let planned = Planned::new(native, plan, units.clone())?;
        if self.threads.engine.chooses_plan() { Ok(self.follow(planned)) } else { Ok((planned, sized)) }
    }

    /// The layout of these bodies with batches of the best length; `None` where several threads do not pay.
    fn sized(&self, bodies: &[Body]) -> Option<Sized<'a>> {
        if bodies.is_empty() || matches!(bodies, [body] if body.copies() == 1) || self.is_short() {
            return None;
        }
        let mut layout = self.layout(bodies);
        let again = layout.reach.states;
        let chosen = match self.files {
            Some(files) => self.batch_in_place(&layout, files),
            None => self.batch(&layout),
        };
        layout.set_batch(self.threads.batch.unwrap_or(chosen).max(again).max(1));
        let window = self.window(&layout)?;
        Some((layout, window))
    }

    /// Whether one thread does all of it in less time than others need to start.
    fn is_short(&self) -> bool {
        let states = self.files.map(|files| files.states as f64);
        states.zip(self.alone).is_some_and(|(states, alone)| alone * states <= WORTH)
    }

    fn layout(&self, bodies: &[Body]) -> Layout<'a> {
        let Cutter { native, part, plan, .. } = *self;
        let outside = native.outside(part);
        let mut segments: Vec<Segment> = bodies.iter().map(Segment::new).collect();
        interleave_buffers(plan, &mut segments, &outside);
        Layout::new(native, plan, Facts::new(&native.compiled, &part.region), segments, &outside)
    }

    /// The best length of batches that are copied: long enough for the hand-over from thread to thread.
    fn batch(&self, layout: &Layout<'_>) -> u64 {
        let each = layout.bytes(1, &[]) - layout.bytes(0, &[]);
        let by_time = self.alone.map_or(0, |alone| (LONG_ENOUGH / alone.max(1e-12)) as u64);
        let by_time = by_time.min(MOST_BATCH_BYTES / each.max(1));
        layout.calls((BATCH_BYTES / each.max(1)).max(OVERLAP * layout.reach.states).max(by_time))
    }

    /// Like [`Cutter::batch`], where files lie in memory and the end is known.
    fn batch_in_place(&self, layout: &Layout<'_>, files: &InPlace) -> u64 {
        let (again, threads, buffers) = (layout.reach.states, self.threads.count() as u64, files.buffers());
        let share = files.states / (SHARES * threads);
        let set = layout.bytes(1, &buffers) - layout.bytes(0, &buffers);
        let most = BATCH_BYTES.checked_div(set).unwrap_or(u64::MAX).max(OVERLAP * again);
        // Shorter batches rather than fewer than threads.
        let even = (files.states / threads).max(LEAST_OVERLAP * again);
        layout.calls(share.max(shortest(layout, files)).min(even).min(most))
    }

    /// The number of batches; `None` where there is too little input or memory.
    fn window(&self, layout: &Layout<'_>) -> Option<u64> {
        if self.files.is_some_and(|files| files.states < layout.batch) {
            return None;
        }
        let threads = self.threads.count() as u64;
        let window = match self.threads.split {
            // The driver keeps the last one.
            Split::DataParallel => threads + 1,
            _ => 3 * threads + 2,
        };
        let lent = self.files.map_or_else(Vec::new, InPlace::buffers);
        let fits = ALL_BYTES / layout.bytes(layout.batch, &lent).max(1);
        (fits >= 2).then(|| window.min(fits))
    }

    /// The reason why one thread runs the program.
    pub(super) fn why_whole(&self, planned: &Planned) -> Option<String> {
        let why = match (self.is_short(), planned.is_whole()) {
            (true, _) => "all of it takes too short a time for more",
            (false, true) => "its plan has one segment",
            (false, false) => "there is less input than a batch, or too little memory for batches",
        };
        Some(format!("one thread ran the program: {why}"))
    }
}

/// The least steady states for which a batch pays.
pub(super) fn shortest(layout: &Layout<'_>, files: &InPlace) -> u64 {
    (BATCH_BYTES / files.each().max(1)).max(OVERLAP * layout.reach.states)
}

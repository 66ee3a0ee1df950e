//! A program before its C is generated: all that running the native code needs besides that code.

use crate::emit::merging::Merging;
use crate::emit::program::program;
use crate::lower::{NodeCode, lower_all, may_fail, printers};
use crate::parts::Part;
use crate::plan::{Facts, Merged};
use crate::unrolled::outline::{Looks, Outlines};
use crate::{Level, Mode, Native, build, emit, ir, lower, message_order, parts, plan, unrolled};
use std::sync::Arc;
use thalweg_lang::Compiled;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::BUDGET;
use thalweg_lang::messages::has_messages;

/// Steady states in a call without fusion.
const PLAIN_SCALE: u64 = 64;

/// Firings in a call without fusion, where that is more than one steady state: its queues have room for all
/// of them.
const PLAIN_FIRINGS: u64 = 1 << 18;

/// Bytes of a stack besides the locals of its code; printing is what needs the most.
const STACK: usize = 256 << 10;

/// A program, lowered and planned.
pub(crate) struct Prepared {
    /// By node: the code of firings outside fused regions.
    codes: Vec<Option<NodeCode>>,
    /// By node: the code of firings in steady states, which is equivalent.
    steady: Vec<Option<NodeCode>>,
    parts: Vec<Part>,
    waits: Vec<Option<usize>>,
    direct: Vec<bool>,
    level: Level,
    lanes: usize,
    /// What speeds up preparing the same program again.
    pub(crate) outlines: Outlines,
}

impl Prepared {
    /// Lowers and plans a program.
    pub(crate) fn new(compiled: &Compiled, level: Level, lanes: usize) -> Result<Prepared, String> {
        Prepared::with_looks(compiled, (level, lanes), Looks::new(None))
    }

    /// Like [`Prepared::new`] where the outlines of blocks are known. The result can be run, but has no C
    /// text.
    pub(crate) fn known(
        compiled: &Compiled,
        (level, lanes): (Level, usize),
        outlines: &Outlines,
    ) -> Result<Prepared, String> {
        Prepared::with_looks(compiled, (level, lanes), Looks::new(Some(outlines)))
    }

    fn with_looks(
        compiled: &Compiled,
        (level, lanes): (Level, usize),
        mut looks: Looks<'_>,
    ) -> Result<Prepared, String> {
        let codes = lower_all(compiled)?;
        for channel in compiled.flat.graph.channel_ids() {
            lower::cell_of(compiled.flat.shape(channel), &compiled.tree.structs)?;
        }
        // Merging filters changes the layout of items, and at times planning then finds no pattern to copy
        // them: plan again without merging.
        let (parts, steady) = match parts_of(compiled, &codes, (level, lanes), true, &mut looks) {
            Ok(parts) => parts,
            Err(_) => parts_of(compiled, &codes, (level, lanes), false, &mut looks)?,
        };
        let waits = waits(compiled, &codes);
        let direct = parts::direct(compiled, &codes, &waits);
        let outlines = looks.found();
        Ok(Prepared { codes, steady, parts, waits, direct, level, lanes, outlines })
    }

    /// The program's C text.
    pub(crate) fn text(&self, compiled: &Compiled, merging: Merging) -> Result<String, String> {
        let Prepared { codes, steady, parts, waits, direct, level, lanes, .. } = self;
        let rings = rings(compiled, *level, parts, waits);
        program(compiled, (parts, direct), (codes, steady), (rings, *lanes), merging)
    }

    /// Joins the program with the library that its text was compiled to.
    pub(crate) fn with(self, compiled: &Arc<Compiled>, library: build::Library) -> Native {
        let Prepared { codes, parts, waits, direct, level, .. } = self;
        let keeps = codes.iter().map(|code| code.as_ref().is_some_and(plan::has_state)).collect();
        Native {
            compiled: compiled.clone(),
            exact: in_order(&codes),
            codes,
            keeps,
            parts,
            waits,
            direct,
            mode: Mode::default(),
            batch: None,
            budget: BUDGET as usize,
            level,
            library,
            graph: std::sync::OnceLock::new(),
            distrusted: None,
        }
    }
}

/// Firings at once on this machine: its vector lanes.
pub(crate) fn lanes(level: Level) -> usize {
    if level == Level::Vectors { emit::vectors::lanes() } else { 1 }
}

/// Whether queues are rings: generated code runs all steady states, and nothing is fused.
pub(crate) fn rings(compiled: &Compiled, level: Level, parts: &[Part], waits: &[Option<usize>]) -> bool {
    level == Level::Plain
        && parts.len() == 1
        && !waits.iter().any(Option::is_some)
        && !has_messages(&compiled.tree)
}

/// Whether steady states run one by one: prints must come in the interpreter's order, and all prints before a
/// failure must appear.
fn in_order(codes: &[Option<NodeCode>]) -> bool {
    let printers = printers(codes);
    printers > 1 || (printers == 1 && may_fail(codes))
}

/// The parts of a program, and the code of its filters in steady states.
fn parts_of(
    compiled: &Compiled,
    codes: &[Option<NodeCode>],
    (level, lanes): (Level, usize),
    merges: bool,
    looks: &mut Looks<'_>,
) -> Result<(Vec<Part>, Vec<Option<NodeCode>>), String> {
    // With messages, spans keep the order that must be kept.
    let alone = in_order(codes) && !has_messages(&compiled.tree);
    let (mut parts, mut codes) = (Vec::new(), codes.to_vec());
    let mut buffers = 0;
    for region in parts::parts(compiled) {
        let (mut part, steady) = part(compiled, region, codes, (level, lanes), (alone, merges), looks)?;
        codes = steady;
        if let Some(plan) = &mut part.plan {
            plan.first = buffers;
        }
        buffers += part.buffers();
        parts.push(part);
    }
    Ok((parts, codes))
}

fn part(
    compiled: &Compiled,
    (home, region): (usize, thalweg_lang::schedule::Region),
    codes: Vec<Option<NodeCode>>,
    (level, lanes): (Level, usize),
    (alone, merges): (bool, bool),
    looks: &mut Looks<'_>,
) -> Result<(Part, Vec<Option<NodeCode>>), String> {
    let mut facts = Facts::new(compiled, &region);
    if merges {
        facts.delays = plan::delays(&facts, &codes);
    }
    let mut fuses = level != Level::Plain;
    if has_messages(&compiled.tree) {
        let spans =
            if fuses && is_static(compiled) { message_order::spans(compiled, &region, &codes) } else { None };
        fuses = spans.is_some();
        facts.spans = spans.unwrap_or_default();
    }
    let merged = if merges { Merged::find(&facts, &codes) } else { Merged::nothing(&facts) };
    let codes = if fuses { merged.codes(&facts, codes)? } else { codes };
    let mut plan = if fuses { Some(plan::plan(&facts, &merged, &codes, (alone, lanes))?) } else { None };
    if let (Some(plan), true) = (&mut plan, lanes > 1 && !alone && !has_messages(&compiled.tree)) {
        let without_packs = plan::plan(&facts, &merged, &codes, (alone, 1))?;
        unrolled::find(&facts, &codes, plan, without_packs, lanes, looks);
    }
    let scale = match &plan {
        Some(plan) => plan.scale,
        None if alone => 1,
        None => (PLAIN_FIRINGS / facts.firings.iter().sum::<u64>().max(1)).clamp(1, PLAIN_SCALE),
    };
    Ok((Part { home, region, plan, scale }, codes))
}

/// Whether a program is one region, and all its filters have static rates.
fn is_static(compiled: &Compiled) -> bool {
    let regions = &compiled.schedule.regions;
    regions.len() == 1 && !regions[0].nodes.iter().any(|node| parts::flows(compiled, *node))
}

/// By node: the bytes of stack of filters that run on their own.
fn waits(compiled: &Compiled, codes: &[Option<NodeCode>]) -> Vec<Option<usize>> {
    let stack = |code: &ir::Code| {
        let locals = code.mems.iter().filter(|mem| mem.kind == ir::MemKind::Local);
        let cells: usize = locals.map(|mem| mem.cells).sum();
        if lower::may_wait(code) { STACK + 8 * cells } else { 0 }
    };
    let nodes = codes.iter().enumerate();
    let waits = nodes.map(|(at, codes)| {
        let codes = codes.as_ref().filter(|_| parts::flows(compiled, NodeId(at as u32)))?;
        let prework = codes.prework.as_ref().map_or(0, stack);
        Some(prework.max(stack(&codes.work)))
    });
    waits.collect()
}

//! Stack frames of recursive calls.
//!
//! A call saves what its function still reads afterwards: each variable and run of cells that is read after
//! the call in the text, or anywhere in the outermost loop around it. Each variable belongs to one function,
//! since functions get variables of their own when they are lowered. What belongs to the whole group (fields,
//! results, cursors) is never saved.

use super::super::{Lower, Outcome};
use super::{Bind, Region};
use crate::ir::{Area, Cell, Expr, Kind, Label, Mem, MemKind, Stmt, Var, exprs, inner, inner_mut, walk};
use std::collections::{BTreeMap, HashSet};
use thalweg_lang::eval::MAX_CALLS;

/// The most cells of a stack.
const MOST: usize = 1 << 22;

/// The positions, in text order, of last reads and of calls.
#[derive(Default)]
struct Scan {
    place: usize,
    vars: BTreeMap<Var, usize>,
    mems: BTreeMap<Mem, usize>,
    /// By call, the block that it ends, and the position from which on reads may follow it.
    calls: Vec<(Label, usize)>,
}

impl Scan {
    fn stmts(&mut self, stmts: &[Stmt], outermost: Option<usize>, entries: &[Label]) {
        for st in stmts {
            self.place += 1;
            let place = self.place;
            let loops = matches!(st, Stmt::Loop(_) | Stmt::For { .. });
            let around = outermost.or(loops.then_some(place));
            if let Stmt::For { var, .. } = st {
                self.vars.insert(*var, place);
            }
            exprs(st, &mut |ex| self.ex(ex));
            if let Some(block) = calls(st, entries) {
                let Stmt::Block(_, stmts) = st else { unreachable!("a call is a block") };
                self.stmts(stmts, around, entries);
                self.calls.push((block, around.unwrap_or(self.place + 1)));
                continue;
            }
            inner(st).for_each(|stmts| self.stmts(stmts, around, entries));
        }
    }

    fn ex(&mut self, ex: &Expr) {
        match ex {
            Expr::Var(var) => _ = self.vars.insert(*var, self.place),
            Expr::Load(Area::Mem(mem), ..) => _ = self.mems.insert(*mem, self.place),
            _ => {}
        }
        ex.each(&mut |part| self.ex(part));
    }
}

/// The label of the block, if it is a call of one of these entries.
fn calls(st: &Stmt, entries: &[Label]) -> Option<Label> {
    let Stmt::Block(label, stmts) = st else { return None };
    matches!(stmts.last(), Some(Stmt::Jump(to)) if entries.contains(to)).then_some(*label)
}

/// The statements before and after a call.
type Frame = (Vec<Stmt>, Vec<Stmt>);

impl<'a> Lower<'a> {
    /// Adds saving and restoring to the calls of a group.
    pub(super) fn with_frames(&mut self, region: &Region<'a>, body: Vec<Stmt>) -> Outcome<Stmt> {
        let entries: Vec<Label> = region.entries.iter().map(|entry| entry.label).collect();
        let shared = self.shared(region, &body);
        let (mut blocks, mut frames, mut largest) = (Vec::new(), BTreeMap::new(), 0);
        for function in body.chunk_by(|_, next| !matches!(next, Stmt::Label(_))) {
            let mut scan = Scan::default();
            scan.stmts(function, None, &entries);
            for (block, from) in &scan.calls {
                let (frame, cells) = self.frame_of(region, &scan, *from, (blocks.len(), &shared));
                frames.insert(*block, frame);
                blocks.push(*block);
                largest = cells.max(largest);
            }
        }
        let cells = 1 + largest * (MAX_CALLS as usize + 1);
        if cells > MOST {
            let name = &region.entries[0].function.name;
            return Err(format!(
                "recursive calls of `{name}` need a stack of {cells} cells, more than the limit of {MOST}"
            ));
        }
        self.code.mems[region.stack.0 as usize].cells = cells;
        let mut body = body;
        put(&mut body, &entries, &mut frames);
        let last = Expr::Var(region.top).plus(Expr::int(-1));
        let to = Expr::Load(Area::Mem(region.stack), Box::new(last), Kind::Int);
        Ok(Stmt::Calls { body, back: region.back, to, blocks })
    }

    /// Variables and runs of cells that all calls share.
    fn shared(&self, region: &Region<'a>, body: &[Stmt]) -> (HashSet<Var>, HashSet<Mem>) {
        let mut vars: HashSet<Var> = region.cursors.into_iter().flatten().chain([region.top]).collect();
        let mut mems = HashSet::from([region.stack]);
        for entry in &region.entries {
            match entry.result {
                Bind::Scalar(var) => _ = vars.insert(var),
                Bind::Area(mem, _) => _ = mems.insert(mem),
                _ => {}
            }
        }
        // The stacks of other groups are empty when a function of this one is called.
        walk(body, &mut |st| {
            if let Stmt::Calls { to: Expr::Load(Area::Mem(stack), ..), .. } = st {
                mems.insert(*stack);
            }
        });
        (vars, mems)
    }

    /// The frame of a call that keeps what is read from a position on, and its size in cells.
    fn frame_of(
        &mut self,
        region: &Region<'a>,
        scan: &Scan,
        from: usize,
        (number, shared): (usize, &(HashSet<Var>, HashSet<Mem>)),
    ) -> (Frame, usize) {
        let (stack, top) = (Area::Mem(region.stack), Expr::Var(region.top));
        let (mut before, mut after, mut cells) = (Vec::new(), Vec::new(), 0);
        for var in scan.vars.iter().filter(|(_, last)| **last >= from).map(|(var, _)| *var) {
            let info = &self.code.vars[var.0 as usize];
            if info.field.is_some() || shared.0.contains(&var) {
                continue;
            }
            let (at, kind) = (top.clone().plus(Expr::int(cells as i64)), info.kind);
            before.push(Stmt::Store(stack.clone(), at.clone(), kind, Expr::Var(var)));
            after.push(Stmt::Set(var, Expr::Load(stack.clone(), Box::new(at), kind)));
            cells += 1;
        }
        for mem in scan.mems.iter().filter(|(_, last)| **last >= from).map(|(mem, _)| *mem) {
            let info = &self.code.mems[mem.0 as usize];
            if info.kind != MemKind::Local || shared.1.contains(&mem) {
                continue;
            }
            let (at, own, count) = (top.clone().plus(Expr::int(cells as i64)), Area::Mem(mem), info.cells);
            let kind = if let Cell::Of(kind) = info.cell { kind } else { Kind::Int };
            before.extend(self.copied((&stack, &at), (&own, &Expr::int(0)), count, kind));
            after.extend(self.copied((&own, &Expr::int(0)), (&stack, &at), count, kind));
            cells += count;
        }
        let at = top.clone().plus(Expr::int(cells as i64));
        before.push(Stmt::Store(stack, at, Kind::Int, Expr::int(number as i64)));
        let cells = cells + 1;
        before.push(Stmt::Set(region.top, top.clone().plus(Expr::int(cells as i64))));
        after.insert(0, Stmt::Set(region.top, top.plus(Expr::int(-(cells as i64)))));
        ((before, after), cells)
    }

    fn copied(&mut self, to: (&Area, &Expr), from: (&Area, &Expr), cells: usize, kind: Kind) -> Vec<Stmt> {
        let (out, alive) = (std::mem::take(&mut self.out), std::mem::replace(&mut self.alive, true));
        self.copy_run(to, from, cells, kind);
        self.alive = alive;
        std::mem::replace(&mut self.out, out)
    }
}

/// Inserts the statements of frames before and after the calls.
fn put(stmts: &mut Vec<Stmt>, entries: &[Label], frames: &mut BTreeMap<Label, Frame>) {
    let mut at = 0;
    while at < stmts.len() {
        inner_mut(&mut stmts[at]).for_each(|stmts| put(stmts, entries, frames));
        if let Some((before, after)) = calls(&stmts[at], entries).and_then(|block| frames.remove(&block))
            && let Stmt::Block(_, inside) = &mut stmts[at]
        {
            inside.splice(0..0, before);
            let count = after.len();
            stmts.splice(at + 1..at + 1, after);
            at += count;
        }
        at += 1;
    }
}

//! Places between streams that carry items of one type: what is said of some of them, and what follows for others.

use crate::ast::{Expr, ExprKind, Type, TypeKind};
use std::collections::HashSet;

/// A place that items pass: what one stream gives and the next takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wire(u32);

/// A block of code, whose variables the lengths in a type may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scope(u32);

/// What is known of a wire.
#[derive(Clone, Copy)]
enum Carries<'a> {
    /// Nothing.
    Unknown,
    /// Somebody says that nothing comes; that is not what others carry.
    Void(&'a Type),
    /// A type, and where its lengths mean what they mean.
    Items(&'a Type, Scope),
    /// Wires that are equally near carry different types.
    Disputed,
}

/// The wires of a stream with a name, those in the streams without names in it too.
pub(super) struct Wires<'a> {
    carries: Vec<(Carries<'a>, Scope)>,
    /// Wires that carry the same.
    same: Vec<Vec<Wire>>,
    /// What a filter takes, and what it gives, where neither is said.
    filters: Vec<(Wire, Wire)>,
    /// Each with the one around it.
    scopes: Vec<Scope>,
    scope: Scope,
}

impl<'a> Wires<'a> {
    pub fn new() -> Wires<'a> {
        let (scope, scopes) = (Scope(0), vec![Scope(0)]);
        Wires { carries: Vec::new(), same: Vec::new(), filters: Vec::new(), scopes, scope }
    }

    /// Another wire, in the scope we are in.
    pub fn wire(&mut self) -> Wire {
        self.carries.push((Carries::Unknown, self.scope));
        self.same.push(Vec::new());
        Wire(self.carries.len() as u32 - 1)
    }

    /// Enters a scope; the one we were in.
    pub fn enter(&mut self) -> Scope {
        self.scopes.push(self.scope);
        std::mem::replace(&mut self.scope, Scope(self.scopes.len() as u32 - 1))
    }

    /// Goes back to a scope.
    pub fn leave(&mut self, around: Scope) {
        self.scope = around;
    }

    /// Notes a type that is written in the scope we are in. Who says otherwise later is told so where streams are made.
    pub fn say(&mut self, wire: Wire, ty: &'a Type) {
        let known = &mut self.carries[wire.0 as usize].0;
        *known = match (*known, &ty.kind) {
            (Carries::Unknown, TypeKind::Void) => Carries::Void(ty),
            (Carries::Unknown | Carries::Void(_), _) => Carries::Items(ty, self.scope),
            (known, _) => known,
        };
    }

    /// Two wires carry the same.
    pub fn join(&mut self, one: Wire, other: Wire) {
        if one != other {
            self.same[one.0 as usize].push(other);
            self.same[other.0 as usize].push(one);
        }
    }

    /// A filter that says neither what it takes nor what it gives.
    pub fn filter(&mut self, takes: Wire, gives: Wire) {
        self.filters.push((takes, gives));
    }

    /// What a wire carries, as far as it is known.
    pub fn carried(&self, wire: Wire) -> Option<&'a Type> {
        match self.carries[wire.0 as usize].0 {
            Carries::Void(ty) | Carries::Items(ty, _) => Some(ty),
            Carries::Unknown | Carries::Disputed => None,
        }
    }

    /// Finds what wires carry of which nothing is said: the type that is said nearest to them. What is left then
    /// is between filters that say nothing; if all around them carry one type, they do too.
    pub fn spread(&mut self) {
        let mut near: Vec<Wire> = (0..self.carries.len() as u32).map(Wire).collect();
        near.retain(|wire| matches!(self.carries[wire.0 as usize].0, Carries::Items(..)));
        while !near.is_empty() {
            near = self.spread_once(&near);
        }
        for (takes, gives) in std::mem::take(&mut self.filters) {
            self.join(takes, gives);
        }
        let mut seen = HashSet::new();
        for at in 0..self.carries.len() as u32 {
            if self.is_open(Wire(at)) && !seen.contains(&at) {
                self.agree(Wire(at), &mut seen);
            }
        }
    }

    fn is_open(&self, wire: Wire) -> bool {
        matches!(self.carries[wire.0 as usize].0, Carries::Unknown | Carries::Void(_))
    }

    /// From these wires to those beside them; which have come to carry a type.
    fn spread_once(&mut self, near: &[Wire]) -> Vec<Wire> {
        let mut told: Vec<(Wire, Carries<'a>)> = Vec::new();
        for from in near {
            for &to in &self.same[from.0 as usize] {
                if self.is_open(to)
                    && let Some(carries) = self.as_seen(*from, to)
                {
                    told.push((to, carries));
                }
            }
        }
        let mut reached = Vec::new();
        for (to, carries) in told {
            if self.is_open(to) {
                reached.push(to);
                self.carries[to.0 as usize].0 = carries;
            } else if !alike(self.carries[to.0 as usize].0, carries) {
                self.carries[to.0 as usize].0 = Carries::Disputed;
            }
        }
        reached.retain(|wire| matches!(self.carries[wire.0 as usize].0, Carries::Items(..)));
        reached
    }

    /// What one wire carries, where it means the same at another.
    fn as_seen(&self, from: Wire, to: Wire) -> Option<Carries<'a>> {
        let Carries::Items(ty, scope) = self.carries[from.0 as usize].0 else { return None };
        let mut around = self.carries[to.0 as usize].1;
        while around != scope && around != Scope(0) {
            around = self.scopes[around.0 as usize];
        }
        (around == scope || !has_names(ty)).then_some(Carries::Items(ty, scope))
    }

    /// All wires that hang together with one of which nothing is known carry what those around them do, if that is one type.
    fn agree(&mut self, first: Wire, seen: &mut HashSet<u32>) {
        let (mut open, mut all, mut told) = (vec![first], Vec::new(), Carries::Unknown);
        seen.insert(first.0);
        while let Some(wire) = open.pop() {
            all.push(wire);
            for &beside in &self.same[wire.0 as usize] {
                if self.is_open(beside) {
                    if seen.insert(beside.0) {
                        open.push(beside);
                    }
                    continue;
                }
                let carries = self.as_seen(beside, wire).unwrap_or(Carries::Disputed);
                let fits = matches!(told, Carries::Unknown) || alike(told, carries);
                told = if fits { carries } else { Carries::Disputed };
            }
        }
        if let Carries::Items(..) = told {
            all.iter().for_each(|wire| self.carries[wire.0 as usize].0 = told);
        }
    }
}

/// Whether two types are written alike.
fn alike(one: Carries<'_>, other: Carries<'_>) -> bool {
    match (one, other) {
        (Carries::Items(one, _), Carries::Items(other, _)) => one.to_string() == other.to_string(),
        _ => false,
    }
}

/// Whether lengths in a type are more than numbers, and so may mean something else elsewhere.
pub(super) fn has_names(ty: &Type) -> bool {
    let number = |length: &Expr| matches!(length.kind, ExprKind::Literal(_));
    match &ty.kind {
        TypeKind::Array(element, length) => !number(length) || has_names(element),
        _ => false,
    }
}

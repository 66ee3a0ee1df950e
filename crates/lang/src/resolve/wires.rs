//! Type inference for connections between streams: types that are declared for some, and what follows for others.

use crate::ast::{Expr, ExprKind, Type, TypeKind};
use std::collections::HashSet;

/// A connection: the output of one stream and the input of the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wire(u32);

/// A block of code. Array lengths in a type may use its variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scope(u32);

/// The known item type of a wire.
#[derive(Clone, Copy)]
enum ItemType<'a> {
    /// Nothing.
    Unknown,
    /// Declared `void`. Neighbours may still carry items.
    Void(&'a Type),
    /// A type, and the scope in which its array lengths are valid.
    Items(&'a Type, Scope),
    /// Neighbours at equal distance carry different types.
    Conflict,
}

/// The wires of a named stream, including those in anonymous streams within it.
pub(super) struct Wires<'a> {
    item_types: Vec<(ItemType<'a>, Scope)>,
    /// Adjacent wires, which carry the same type.
    same: Vec<Vec<Wire>>,
    /// Input and output of filters that declare neither.
    filters: Vec<(Wire, Wire)>,
    /// The parent of each scope.
    scopes: Vec<Scope>,
    scope: Scope,
}

impl<'a> Wires<'a> {
    pub fn new() -> Wires<'a> {
        let (scope, scopes) = (Scope(0), vec![Scope(0)]);
        Wires { item_types: Vec::new(), same: Vec::new(), filters: Vec::new(), scopes, scope }
    }

    /// A new wire in the current scope.
    pub fn wire(&mut self) -> Wire {
        self.item_types.push((ItemType::Unknown, self.scope));
        self.same.push(Vec::new());
        Wire(self.item_types.len() as u32 - 1)
    }

    /// Enters a new scope; returns the previous one.
    pub fn enter_scope(&mut self) -> Scope {
        self.scopes.push(self.scope);
        std::mem::replace(&mut self.scope, Scope(self.scopes.len() as u32 - 1))
    }

    /// Returns to a scope.
    pub fn leave_scope(&mut self, around: Scope) {
        self.scope = around;
    }

    /// Records a type declared in the current scope. The first one holds; elaboration reports conflicts.
    pub fn declare(&mut self, wire: Wire, ty: &'a Type) {
        let known = &mut self.item_types[wire.0 as usize].0;
        *known = match (*known, &ty.kind) {
            (ItemType::Unknown, TypeKind::Void) => ItemType::Void(ty),
            (ItemType::Unknown | ItemType::Void(_), _) => ItemType::Items(ty, self.scope),
            (known, _) => known,
        };
    }

    /// Records that two wires carry the same type.
    pub fn join(&mut self, one: Wire, other: Wire) {
        if one != other {
            self.same[one.0 as usize].push(other);
            self.same[other.0 as usize].push(one);
        }
    }

    /// Records a filter that declares neither input nor output type.
    pub fn filter(&mut self, input: Wire, output: Wire) {
        self.filters.push((input, output));
    }

    /// The type of a wire, if known.
    pub fn carried(&self, wire: Wire) -> Option<&'a Type> {
        match self.item_types[wire.0 as usize].0 {
            ItemType::Void(ty) | ItemType::Items(ty, _) => Some(ty),
            ItemType::Unknown | ItemType::Conflict => None,
        }
    }

    /// Infers unknown types: a wire gets the nearest declared type. The remaining wires lie between filters without
    /// declared types; a connected group of them gets the type of its neighbours if that is unique.
    pub fn propagate(&mut self) {
        let mut near: Vec<Wire> = (0..self.item_types.len() as u32).map(Wire).collect();
        near.retain(|wire| matches!(self.item_types[wire.0 as usize].0, ItemType::Items(..)));
        while !near.is_empty() {
            near = self.propagate_once(&near);
        }
        for (input, output) in std::mem::take(&mut self.filters) {
            self.join(input, output);
        }
        let mut seen = HashSet::new();
        for at in 0..self.item_types.len() as u32 {
            if self.is_unknown(Wire(at)) && !seen.contains(&at) {
                self.unify_group(Wire(at), &mut seen);
            }
        }
    }

    fn is_unknown(&self, wire: Wire) -> bool {
        matches!(self.item_types[wire.0 as usize].0, ItemType::Unknown | ItemType::Void(_))
    }

    /// Propagates types from these wires to their neighbours; returns the neighbours that got a type.
    fn propagate_once(&mut self, near: &[Wire]) -> Vec<Wire> {
        let mut learned: Vec<(Wire, ItemType<'a>)> = Vec::new();
        for from in near {
            for &to in &self.same[from.0 as usize] {
                if self.is_unknown(to)
                    && let Some(item_type) = self.visible_at(*from, to)
                {
                    learned.push((to, item_type));
                }
            }
        }
        let mut reached = Vec::new();
        for (to, item_type) in learned {
            if self.is_unknown(to) {
                reached.push(to);
                self.item_types[to.0 as usize].0 = item_type;
            } else if !same_type(self.item_types[to.0 as usize].0, item_type) {
                self.item_types[to.0 as usize].0 = ItemType::Conflict;
            }
        }
        reached.retain(|wire| matches!(self.item_types[wire.0 as usize].0, ItemType::Items(..)));
        reached
    }

    /// The type of one wire, if it is meaningful in the scope of another.
    fn visible_at(&self, from: Wire, to: Wire) -> Option<ItemType<'a>> {
        let ItemType::Items(ty, scope) = self.item_types[from.0 as usize].0 else { return None };
        let mut around = self.item_types[to.0 as usize].1;
        while around != scope && around != Scope(0) {
            around = self.scopes[around.0 as usize];
        }
        (around == scope || !has_names(ty)).then_some(ItemType::Items(ty, scope))
    }

    /// Gives a connected group of unknown wires the type of its neighbours, if that is unique.
    fn unify_group(&mut self, first: Wire, seen: &mut HashSet<u32>) {
        let (mut open, mut all, mut known_type) = (vec![first], Vec::new(), ItemType::Unknown);
        seen.insert(first.0);
        while let Some(wire) = open.pop() {
            all.push(wire);
            for &neighbour in &self.same[wire.0 as usize] {
                if self.is_unknown(neighbour) {
                    if seen.insert(neighbour.0) {
                        open.push(neighbour);
                    }
                    continue;
                }
                let item_type = self.visible_at(neighbour, wire).unwrap_or(ItemType::Conflict);
                let fits = matches!(known_type, ItemType::Unknown) || same_type(known_type, item_type);
                known_type = if fits { item_type } else { ItemType::Conflict };
            }
        }
        if let ItemType::Items(..) = known_type {
            all.iter().for_each(|wire| self.item_types[wire.0 as usize].0 = known_type);
        }
    }
}

/// Whether two types have the same source text.
fn same_type(one: ItemType<'_>, other: ItemType<'_>) -> bool {
    match (one, other) {
        (ItemType::Items(one, _), ItemType::Items(other, _)) => one.to_string() == other.to_string(),
        _ => false,
    }
}

/// Whether array lengths in a type are other than literals, so that their value depends on the scope.
pub(super) fn has_names(ty: &Type) -> bool {
    let number = |length: &Expr| matches!(length.kind, ExprKind::Literal(_));
    match &ty.kind {
        TypeKind::Array(element, length) => !number(length) || has_names(element),
        _ => false,
    }
}

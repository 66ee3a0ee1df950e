//! Effects of code, computed before it is lowered.

use thalweg_lang::hir::{
    self, Body, Callee, ExprKind, Filter, Init, Latency, Place, Program, Root, Step, StmtKind,
};

/// The effects of a piece of code.
#[derive(Default, Debug)]
pub(super) struct Does {
    /// Variables that it assigns or declares.
    pub(super) roots: Vec<Root>,
    pub(super) pops: bool,
    pub(super) pushes: bool,
    /// It leaves the loop around it, or the function.
    pub(super) breaks: bool,
    pub(super) returns: bool,
    pub(super) random: bool,
    /// Its control flow depends on conditions.
    pub(super) branches: bool,
    /// Locals that it indexes.
    pub(super) indexed: Vec<u32>,
    pub(super) calls: Vec<Callee>,
    /// Calls in the code itself, not in its callees, each with the locals that are passed unchanged.
    pub(super) passes: Vec<(Callee, Vec<Option<u32>>)>,
    /// The number of its expressions and statements.
    pub(super) size: usize,
    depth: usize,
}

/// The effects of statements, including those of their callees except on the callees' own locals.
pub(super) fn does(stmts: &[hir::Stmt], filter: &Filter, program: &Program) -> Does {
    let mut does = Does::default();
    does.stmts(stmts);
    does.follow(filter, program);
    does
}

/// Like [`does`], for an expression.
pub(super) fn expr_does(expr: &hir::Expr, filter: &Filter, program: &Program) -> Does {
    let mut does = Does::default();
    does.expr(expr);
    does.follow(filter, program);
    does
}

/// Whether `return` occurs anywhere but at the end.
pub(super) fn returns_early(stmts: &[hir::Stmt]) -> bool {
    let Some((last, rest)) = stmts.split_last() else { return false };
    let returns = |stmts: &[hir::Stmt]| {
        let mut does = Does::default();
        does.stmts(stmts);
        does.returns
    };
    if returns(rest) {
        return true;
    }
    match &last.kind {
        StmtKind::Return(_) => false,
        StmtKind::Block(inner) => returns_early(inner),
        _ => returns(std::slice::from_ref(last)),
    }
}

/// Fields that code other than `init` changes.
pub(super) fn changing_fields(filter: &Filter) -> Vec<bool> {
    let mut does = Does::default();
    let works = filter.prework.iter().chain([&filter.work]);
    works.for_each(|work| does.stmts(&work.body.stmts));
    filter.functions.iter().chain(&filter.handlers).for_each(|function| does.stmts(&function.body.stmts));
    let mut changing = vec![false; filter.fields.len()];
    for root in does.roots {
        if let Root::Field(at) = root {
            changing[at as usize] = true;
        }
    }
    changing
}

/// Whether a body changes one of its locals.
pub(super) fn changes_local(body: &Body, local: u32) -> bool {
    let mut does = Does::default();
    does.stmts(&body.stmts);
    does.roots.contains(&Root::Local(local))
}

/// The local, if the expression only reads a whole one.
fn as_it_is(expr: &hir::Expr) -> Option<u32> {
    match &expr.kind {
        ExprKind::Read(Place { root: Root::Local(local), path, .. }) if path.is_empty() => Some(*local),
        _ => None,
    }
}

/// How often a body assigns or declares a local.
pub(super) fn times_set(body: &Body, local: u32) -> usize {
    let mut does = Does::default();
    does.stmts(&body.stmts);
    does.roots.iter().filter(|root| **root == Root::Local(local)).count()
}

impl Does {
    /// Whether it changes anything that an earlier operand may have read.
    pub(super) fn has_effects(&self) -> bool {
        !self.roots.is_empty() || !self.calls.is_empty() || self.random || (self.pops && self.branches)
    }

    fn follow(&mut self, filter: &Filter, program: &Program) {
        let mut next = 0;
        while let Some(callee) = self.calls.get(next).copied() {
            next += 1;
            let function = match callee {
                Callee::Function(at) => filter.functions.get(at as usize),
                Callee::Helper(at) => program.helpers.get(at as usize),
                _ => None,
            };
            let Some(function) = function else { continue };
            let mut inner = Does::default();
            inner.stmts(&function.body.stmts);
            self.roots.extend(inner.roots.into_iter().filter(|root| !matches!(root, Root::Local(_))));
            self.pops |= inner.pops;
            self.pushes |= inner.pushes;
            self.random |= inner.random;
            self.branches |= inner.branches;
            self.size += inner.size;
            for callee in inner.calls {
                if !self.calls.contains(&callee) {
                    self.calls.push(callee);
                }
            }
        }
    }

    fn stmts(&mut self, stmts: &[hir::Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &hir::Stmt) {
        self.size += 1;
        match &stmt.kind {
            StmtKind::Declare { local, ty, init } => {
                self.roots.push(Root::Local(*local));
                ty.lengths.iter().for_each(|length| self.expr(length));
                init.iter().for_each(|init| self.init(init));
            }
            StmtKind::Assign(place, value) => {
                self.changed(place);
                self.expr(value);
            }
            StmtKind::Update { place, value, .. } => {
                self.changed(place);
                self.expr(value);
            }
            StmtKind::Push(value) => {
                self.pushes = true;
                self.expr(value);
            }
            StmtKind::Send(send) => {
                send.args.iter().for_each(|arg| self.expr(arg));
                if let Latency::Between(min, max) = &send.latency {
                    min.iter().chain(max).for_each(|bound| self.expr(bound));
                }
            }
            StmtKind::Expr(value) | StmtKind::Print(Some(value), _) => self.expr(value),
            StmtKind::Return(value) => {
                self.returns = true;
                value.iter().for_each(|value| self.expr(value));
            }
            StmtKind::Break | StmtKind::Continue => self.breaks |= self.depth == 0,
            StmtKind::Block(stmts) => self.stmts(stmts),
            StmtKind::If(branches, otherwise) => {
                for (condition, body) in branches {
                    self.expr(condition);
                    self.stmts(body);
                }
                self.stmts(otherwise);
            }
            StmtKind::While(condition, body) | StmtKind::DoWhile(body, condition) => {
                self.expr(condition);
                self.iteration(body);
            }
            StmtKind::For { init, condition, step, body } => {
                self.stmts(init);
                condition.iter().for_each(|condition| self.expr(condition));
                self.stmts(step);
                self.iteration(body);
            }
            _ => {}
        }
    }

    fn iteration(&mut self, body: &[hir::Stmt]) {
        self.depth += 1;
        self.stmts(body);
        self.depth -= 1;
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::Value(value) => self.expr(value),
            Init::List(inits) => inits.iter().for_each(|init| self.init(init)),
        }
    }

    fn changed(&mut self, place: &Place) {
        self.roots.push(place.root);
        self.place(place);
    }

    fn place(&mut self, place: &Place) {
        if let (Root::Local(local), Some(Step::Index(_))) = (place.root, place.path.first()) {
            self.indexed.push(local);
        }
        for step in &place.path {
            if let Step::Index(index) = step {
                self.expr(index);
            }
        }
    }

    fn expr(&mut self, expr: &hir::Expr) {
        self.size += 1;
        match &expr.kind {
            ExprKind::Constant(_) | ExprKind::Iter => {}
            ExprKind::Read(place) => self.place(place),
            ExprKind::Unary(_, x) | ExprKind::Convert(x) | ExprKind::Peek(x) => self.expr(x),
            ExprKind::Binary(first, links) => {
                self.size += links.len() - 1;
                hir::Expr::operands(first, links).for_each(|operand| self.expr(operand));
            }
            ExprKind::And(operands) | ExprKind::Or(operands) => {
                self.branches = true;
                self.size += operands.len() - 2;
                operands.iter().for_each(|operand| self.expr(operand));
            }
            ExprKind::Ternary(x, y, z) => {
                self.branches = true;
                [x, y, z].into_iter().for_each(|x| self.expr(x));
            }
            ExprKind::Step { place, .. } => self.changed(place),
            ExprKind::Call(callee, args) => {
                self.random |= *callee == Callee::Builtin(thalweg_lang::hir::Builtin::Random);
                if !matches!(callee, Callee::Builtin(_)) {
                    self.passes.push((*callee, args.iter().map(as_it_is).collect()));
                    if !self.calls.contains(callee) {
                        self.calls.push(*callee);
                    }
                }
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Pop => self.pops = true,
            ExprKind::Compose(parts) => parts.iter().for_each(|part| self.expr(part)),
        }
    }
}

//! What anonymous streams use of their surroundings: further parameters, with the values that the
//! variables have where the stream is made.

use super::Resolver;
use super::frame::Variable;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Init, Place, Root, Shaped, Step, Type};

/// Lengths of arrays can depend on other arrays; so deep, and no deeper.
const MAX_CHAIN: u32 = 64;

impl Resolver<'_> {
    /// A variable of the frame around `frames[frame]` as a parameter of that one.
    pub fn capture(&mut self, frame: usize, outer: Root, depth: u32) -> Root {
        if let Root::Global(_) = outer {
            return outer;
        }
        if let Some(&at) = self.frames[frame].captured.get(&outer) {
            return Root::Param(at);
        }
        let Some(mut variable) = self.frames[frame - 1].variable(outer).cloned() else { return outer };
        if let Some(shape) = variable.shape.take() {
            variable.shape = self.carry(frame, shape, &variable, depth);
        }
        let frame = &mut self.frames[frame];
        let at = frame.params.len() as u32;
        frame.params.push(variable);
        frame.captures.push(outer);
        frame.captured.insert(outer, at);
        Root::Param(at)
    }

    /// A shape in terms of the frame further in; what its lengths use is captured before.
    fn carry(&mut self, frame: usize, mut shape: Shaped, whose: &Variable, depth: u32) -> Option<Shaped> {
        if depth > MAX_CHAIN {
            let message = format!("the length of `{}` depends on too many others", whose.name);
            return self.error(Diagnostic::new(whose.span, message).label("declared here"));
        }
        for length in &mut shape.lengths {
            roots(length, &mut |root| *root = self.capture(frame, *root, depth + 1));
        }
        Some(shape)
    }

    /// What a stream is given for what it captured, in terms of the frame around it.
    pub fn capture_args(&mut self, captures: &[Root], span: crate::Span) -> Option<Vec<Expr>> {
        let read = |this: &Self, root: Root| {
            let ty = this.type_of(root)?;
            Some(Expr { kind: ExprKind::Read(Place { root, path: Vec::new() }), ty, span })
        };
        captures.iter().map(|root| read(self, *root)).collect()
    }
}

/// Whether an expression is the same wherever it is evaluated in its frame: it uses no locals.
pub(super) fn lasting(expr: &Expr) -> bool {
    let mut lasting = true;
    // Roots are only looked at; the copy is small, as lengths are.
    roots(&mut expr.clone(), &mut |root| lasting &= matches!(root, Root::Param(_) | Root::Global(_)));
    lasting
}

/// Does something with every variable in an expression.
fn roots(expr: &mut Expr, what: &mut dyn FnMut(&mut Root)) {
    match &mut expr.kind {
        ExprKind::Read(place) | ExprKind::Step { place, .. } => place_roots(place, what),
        ExprKind::Unary(_, value) | ExprKind::Convert(value) | ExprKind::Peek(value) => roots(value, what),
        ExprKind::Binary(_, first, second) | ExprKind::And(first, second) | ExprKind::Or(first, second) => {
            roots(first, what);
            roots(second, what);
        }
        ExprKind::Ternary(condition, first, second) => {
            roots(condition, what);
            roots(first, what);
            roots(second, what);
        }
        ExprKind::Call(_, values) | ExprKind::Compose(values) => {
            values.iter_mut().for_each(|value| roots(value, what));
        }
        ExprKind::Constant(_) | ExprKind::Pop | ExprKind::Iter => {}
    }
}

fn place_roots(place: &mut Place, what: &mut dyn FnMut(&mut Root)) {
    what(&mut place.root);
    for step in &mut place.path {
        if let Step::Index(index) = step {
            roots(index, what);
        }
    }
}

impl Resolver<'_> {
    /// In composites a local array's length that may change later gets a local of its own that does
    /// not, so that streams made later can capture the array together with its length.
    pub fn freeze(&mut self, shape: &mut Shaped, name: &str) -> Vec<crate::hir::Stmt> {
        let mut stmts = Vec::new();
        for length in shape.lengths.iter_mut().filter(|length| !lasting(length)) {
            let span = length.span;
            let local = self.hidden_local(format!("{name}.length").into(), span, Type::Int);
            let read = ExprKind::Read(Place { root: Root::Local(local), path: Vec::new() });
            let value = std::mem::replace(length, Expr { kind: read, ty: Type::Int, span });
            let ty = Shaped { ty: Type::Int, lengths: Vec::new() };
            let kind = crate::hir::StmtKind::Declare { local, ty, init: Some(Init::Value(value)) };
            stmts.push(crate::hir::Stmt { kind, span });
        }
        stmts
    }
}

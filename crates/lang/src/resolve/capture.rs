//! Captures of anonymous streams: variables of the enclosing code become extra parameters, with the values that
//! they have when the stream is created.

use super::Resolver;
use super::frame::Variable;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Init, LinkKind, Place, Root, Shaped, Step, Type};

/// The limit of the chain in which the length of one array depends on the next array.
const MAX_CHAIN: u32 = 64;

impl Resolver<'_> {
    /// Makes a variable of the frame around `frames[frame]` a parameter of that frame.
    pub fn capture(&mut self, frame: usize, outer: Root, depth: u32) -> Root {
        if let Root::Global(_) = outer {
            return outer;
        }
        if let Some(&at) = self.frames[frame].captured.get(&outer) {
            return Root::Param(at);
        }
        let Some(mut variable) = self.frames[frame - 1].variable(outer).cloned() else { return outer };
        if let Some(shape) = variable.shape.take() {
            variable.shape = self.translate_shape(frame, shape, &variable, depth);
        }
        let frame = &mut self.frames[frame];
        let at = frame.params.len() as u32;
        frame.params.push(variable);
        frame.captures.push(outer);
        frame.captured.insert(outer, at);
        Root::Param(at)
    }

    /// Translates a shape to the inner frame; the variables in its lengths are captured first.
    fn translate_shape(
        &mut self,
        frame: usize,
        mut shape: Shaped,
        owner: &Variable,
        depth: u32,
    ) -> Option<Shaped> {
        if depth > MAX_CHAIN {
            let message =
                format!("the length of `{}` depends on a chain of more than {MAX_CHAIN} arrays", owner.name);
            return self.error(Diagnostic::new(owner.span, message).label("declared here"));
        }
        for length in &mut shape.lengths {
            roots(length, &mut |root| *root = self.capture(frame, *root, depth + 1));
        }
        Some(shape)
    }

    /// The arguments for captured variables, in terms of the enclosing frame.
    pub fn capture_args(&mut self, captures: &[Root], span: crate::Span) -> Option<Vec<Expr>> {
        let read = |this: &Self, root: Root| {
            let ty = this.type_of(root)?;
            Some(Expr { kind: ExprKind::Read(Place { root, path: Vec::new() }), ty, span })
        };
        captures.iter().map(|root| read(self, *root)).collect()
    }
}

/// Whether an expression has the same value anywhere in its frame, because it uses no locals.
pub(super) fn is_invariant(expr: &Expr) -> bool {
    let mut lasting = true;
    // The callback only reads the roots. The copy is cheap, because lengths are small expressions.
    roots(&mut expr.clone(), &mut |root| lasting &= matches!(root, Root::Param(_) | Root::Global(_)));
    lasting
}

/// Calls a function for every variable in an expression.
fn roots(expr: &mut Expr, what: &mut dyn FnMut(&mut Root)) {
    match &mut expr.kind {
        ExprKind::Read(place) | ExprKind::Step { place, .. } => place_roots(place, what),
        ExprKind::Unary(_, value) | ExprKind::Convert(value) | ExprKind::Peek(value) => roots(value, what),
        ExprKind::Binary(first, links) => {
            roots(first, what);
            for link in links {
                if let LinkKind::Operator(_, second) = &mut link.kind {
                    roots(second, what);
                }
            }
        }
        ExprKind::Ternary(condition, first, second) => {
            roots(condition, what);
            roots(first, what);
            roots(second, what);
        }
        ExprKind::And(values)
        | ExprKind::Or(values)
        | ExprKind::Call(_, values)
        | ExprKind::Compose(values) => {
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
    /// Copies a local array length that may change later into a hidden local, in composites. So streams created
    /// later can capture the array together with its length.
    pub fn freeze(&mut self, shape: &mut Shaped, name: &str) -> Vec<crate::hir::Stmt> {
        let mut stmts = Vec::new();
        for length in shape.lengths.iter_mut().filter(|length| !is_invariant(length)) {
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

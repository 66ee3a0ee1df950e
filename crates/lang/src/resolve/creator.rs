//! Statements that create streams.

use super::Resolver;
use crate::ast::{self, CreatorKind};
use crate::diagnostic::Diagnostic;
use crate::hir::{Creator, Expr, Made, Place, Shaped, StreamId, Type};

/// Built-in streams.
const BUILTIN: [&str; 3] = ["Identity", "FileReader", "FileWriter"];

impl<'a> Resolver<'a> {
    /// The stream that a statement creates.
    pub fn creator(&mut self, creator: &'a ast::Creator) -> Option<Creator> {
        let made = match &creator.kind {
            CreatorKind::Anonymous(stream) => {
                let around = if stream.types.is_none() { self.types_around(creator) } else { (None, None) };
                let (id, captures) = self.anonymous_stream(stream, around);
                self.capture_args(&captures, creator.span).map(|args| (Made::Stream(id), args))
            }
            CreatorKind::Named(name, ty, args) => self.named(name, ty.as_ref(), args, creator),
        };
        let portals: Vec<_> =
            creator.portals.iter().map(|portal| self.registered_portal(portal, creator)).collect();
        let (made, args) = made?;
        let portals = portals.into_iter().collect::<Option<_>>()?;
        Some(Creator { made, args, portals, span: creator.span })
    }

    fn named(
        &mut self,
        name: &'a ast::Name,
        ty: Option<&'a ast::Type>,
        args: &'a [ast::Expr],
        creator: &'a ast::Creator,
    ) -> Option<(Made, Vec<Expr>)> {
        let Some(&(id, declared)) = self.tables.streams.get(name.text.as_str()) else {
            if BUILTIN.contains(&name.text.as_str()) {
                return self.builtin_stream(name, ty, args, creator);
            }
            self.values(args);
            let names = self.tables.streams.keys().copied().chain(BUILTIN);
            let mut error = self.unknown("stream", &name.text, name.span, names);
            if error.hint.is_none() {
                error.hint = Some("if another file defines it, pass that file too: all files of a program are given together".into());
            }
            return self.error(error);
        };
        if let Some(ty) = ty {
            let error = Diagnostic::new(ty.span, format!("`{}` takes no type argument", name.text));
            let error = error.label("its types are declared").other(declared, "declared here");
            self.error::<()>(error.hint(format!("remove the type argument: `{}(...)`", name.text)));
        }
        let signature = &self.signatures[id as usize];
        if (&signature.input, &signature.output) == (&Some(Type::Void), &Some(Type::Void)) {
            let message = format!("`{}` has no input and no output", name.text);
            let error = Diagnostic::new(name.span, message).label("it cannot be part of another stream");
            let error = error.other(declared, "declared here");
            self.error::<()>(error.hint("declare an input or output type, such as `int->int`"));
        }
        let params: Vec<_> = self.signatures[id as usize].params.iter().map(|(_, ty)| ty.clone()).collect();
        let of = self.ast.streams[id as usize].name.as_ref()?;
        let args = self.arguments(of, &params, args, creator.span)?;
        Some((Made::Stream(StreamId(id)), args))
    }

    fn builtin_stream(
        &mut self,
        name: &'a ast::Name,
        ty: Option<&'a ast::Type>,
        args: &'a [ast::Expr],
        creator: &'a ast::Creator,
    ) -> Option<(Made, Vec<Expr>)> {
        let values = self.values(args);
        let ty = self.builtin_type(name, ty, creator);
        // Sound that is written may have a sample rate, the second argument.
        let (required, most): (usize, &[Type]) = match name.text.as_str() {
            "Identity" => (0, &[]),
            "FileReader" => (1, &[Type::String]),
            _ => (1, &[Type::String, Type::Int]),
        };
        if !(required..=most.len()).contains(&values.len()) {
            let nearest = values.len().clamp(required, most.len());
            let error = self.wrong_count(&name.text, nearest, values.len(), creator.span);
            return self.error(error);
        }
        let convert = |(value, ty): (Option<Expr>, &Type)| self.convert(value?, ty);
        let args: Vec<_> = values.into_iter().zip(most).map(convert).collect();
        let (ty, args) = (ty?, args.into_iter().collect::<Option<_>>()?);
        let made = match name.text.as_str() {
            "Identity" => Made::Identity(ty),
            "FileReader" => Made::FileReader(ty),
            _ => Made::FileWriter(ty),
        };
        Some((made, args))
    }

    fn builtin_type(
        &mut self,
        name: &'a ast::Name,
        ty: Option<&'a ast::Type>,
        creator: &'a ast::Creator,
    ) -> Option<Shaped> {
        let (input, output) = self.types_around(creator);
        let around = match name.text.as_str() {
            "Identity" => input.or(output),
            "FileReader" => output,
            _ => input,
        };
        let Some(ty) = ty.or(around) else {
            let error = Diagnostic::new(name.span, format!("missing type argument for `{}`", name.text));
            return self.error(error.hint(format!("write the item type: `{}<int>`", name.text)));
        };
        self.value_type(ty)?;
        self.shaped(ty)
    }

    /// A portal that a stream is registered with.
    fn registered_portal(&mut self, portal: &'a ast::Name, creator: &'a ast::Creator) -> Option<Place> {
        let Some(root) = self.lookup(&portal.text) else {
            return self.unknown_variable(&portal.text, portal.span);
        };
        let ty = self.type_of(root)?;
        let Type::Portal(to) = ty else {
            let name = self.type_with_article(&ty);
            let error = Diagnostic::new(portal.span, format!("`{}` is not a portal", portal.text));
            return self
                .error(error.label(format!("this is {name}")).hint("declare one: `portal<Filter> p;`"));
        };
        let filter = self.ast.streams[to.0 as usize].name.as_ref()?;
        match &creator.kind {
            CreatorKind::Named(name, ..) if name.text == filter.text => {
                Some(Place { root, path: Vec::new() })
            }
            _ => {
                let error = Diagnostic::new(
                    portal.span,
                    format!("this portal sends to `{}`, not to this stream", filter.text),
                )
                .label("wrong type of portal")
                .other(creator.span, "stream created here")
                .hint("all receivers of a portal are instances of one filter; declare another portal");
                self.error(error)
            }
        }
    }
}

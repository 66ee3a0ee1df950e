//! Tests of the evaluator with a scripted host.

mod expressions;
mod faults;
mod functions;
mod statements;
mod values;

use super::{Budget, Code, Fault, Globals, Host, Machine, Scratch};
use crate::hir::{Program, StreamBody, Type};
use crate::value::{Shape, Value};
use crate::{Sources, parser, resolve};
use std::collections::VecDeque;

/// A host with a list of input items that logs operations.
#[derive(Default)]
pub(super) struct Script {
    items: VecDeque<Value>,
    pushed: Vec<Value>,
    printed: String,
    log: Vec<String>,
    executions: i32,
}

impl Host for Script {
    fn pop(&mut self) -> Result<Value, Fault> {
        self.log.push("pop".to_owned());
        self.items.pop_front().ok_or_else(|| Fault("there is no item to pop".to_owned()))
    }

    fn peek(&mut self, index: i32) -> Result<Value, Fault> {
        self.log.push(format!("peek {index}"));
        let item = usize::try_from(index).ok().and_then(|index| self.items.get(index));
        item.cloned().ok_or_else(|| Fault(format!("there is no item {index} to look at")))
    }

    fn push(&mut self, item: Value) -> Result<(), Fault> {
        self.log.push("push".to_owned());
        self.pushed.push(item);
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), Fault> {
        self.printed.push_str(text);
        Ok(())
    }

    fn random(&mut self) -> f32 {
        0.25
    }

    fn executions(&self) -> i32 {
        self.executions
    }

    fn send(
        &mut self,
        portal: u32,
        handler: u32,
        latency: Option<(i32, i32)>,
        args: Vec<Value>,
    ) -> Result<(), Fault> {
        self.log.push(format!("send {portal}.{handler} {latency:?} {args:?}"));
        Ok(())
    }
}

/// Resolves a program with a filter `F`.
pub(super) fn program(text: &str) -> Program {
    let sources = Sources::of("test.str", text);
    let (parsed, errors) = parser::parse(&sources);
    assert!(errors.is_empty(), "{}", shown(&errors, &sources));
    resolve::resolve(&parsed).unwrap_or_else(|errors| panic!("{}", shown(&errors, &sources)))
}

fn shown(errors: &[crate::Diagnostic], sources: &Sources) -> String {
    errors.iter().map(|error| error.render(sources, false)).collect()
}

/// Executes `work` of the filter `F` once, with zeroed fields. Returns the outcome, with the source text of a
/// failure's place, and the host.
pub(super) fn fire_within(
    text: &str,
    items: Vec<Value>,
    budget: &mut Budget,
) -> (Result<(), String>, Script) {
    let program = program(text);
    let stream = program.streams.iter().find(|stream| stream.name == "F").expect("a filter F");
    let StreamBody::Filter(filter) = &stream.body else { panic!("F is not a filter") };
    let mut script = Script { items: items.into(), executions: 7, ..Script::default() };
    let mut scratch = Scratch::default();
    let globals = vec![Value::Int(0); program.globals.len()];
    let structs = structs(&program);
    let params: Vec<Value> = stream.params.iter().map(|(_, ty)| param(&ty.ty)).collect();
    let output = Shape::array(Shape::Scalar(Type::Int), 2);
    let code = Code {
        program: &program,
        structs: &structs,
        params: &params,
        functions: &filter.functions,
        output: &output,
    };
    let mut fields = Vec::new();
    for field in &filter.fields {
        let globals = Globals::Fixed(&globals);
        let mut machine = Machine::new(code, globals, &mut [], &mut script, &mut scratch, budget);
        let shape = machine.shape(&field.ty).expect("a shape");
        fields.push(Value::zero(&shape, &structs));
    }
    let globals = Globals::Fixed(&globals);
    let mut machine = Machine::new(code, globals, &mut fields, &mut script, &mut scratch, budget);
    let sources = Sources::of("test.str", text);
    let done = machine.run(&filter.work.body);
    (done.map_err(|failure| format!("{} at `{}`", failure.fault.0, sources.text(failure.span))), script)
}

fn param(ty: &Type) -> Value {
    if let Type::Portal(_) = ty { Value::Portal(3) } else { Value::Int(3) }
}

fn structs(program: &Program) -> Vec<Vec<Shape>> {
    let (mut script, mut scratch, mut budget) = (Script::default(), Scratch::default(), Budget::unlimited());
    let output = Shape::VOID;
    let code = Code { program, structs: &[], params: &[], functions: &[], output: &output };
    let globals = Globals::Fixed(&[]);
    let mut machine = Machine::new(code, globals, &mut [], &mut script, &mut scratch, &mut budget);
    let shapes = program
        .structs
        .iter()
        .map(|known| known.fields.iter().map(|(_, field)| machine.shape(field).expect("a shape")).collect());
    shapes.collect()
}

/// The text printed by one firing with these fields and statements.
pub(super) fn printed_with(fields: &str, body: &str) -> String {
    let text = format!("void->void filter F {{ {fields} work {{ {body} }} }}");
    let (done, script) = fire_within(&text, Vec::new(), &mut Budget::unlimited());
    assert_eq!(done, Ok(()));
    script.printed
}

/// The text printed by statements.
pub(super) fn printed(body: &str) -> String {
    printed_with("", body)
}

/// The failure of statements.
pub(super) fn fault(fields: &str, body: &str) -> String {
    let text = format!("void->void filter F {{ {fields} work {{ {body} }} }}");
    let (done, _) = fire_within(&text, Vec::new(), &mut Budget::unlimited());
    done.expect_err("a failure")
}

/// One firing of a filter from integers to integers.
pub(super) fn fire(rates: &str, body: &str, items: &[i32]) -> Script {
    let text = format!(
        "void->void pipeline Main {{ add S(); add F(); add T(); }}
         void->int filter S {{ work push 1 {{ push(0); }} }}
         int->void filter T {{ work pop 1 {{ pop(); }} }}
         int->int filter F {{ work {rates} {{ {body} }} }}"
    );
    let items = items.iter().map(|item| Value::Int(*item)).collect();
    let (done, script) = fire_within(&text, items, &mut Budget::unlimited());
    assert_eq!(done, Ok(()));
    script
}

//! Filters that give far more than they take: others go on before their queues outgrow the budget.

mod common;

use common::{Memory, compiled, difference, has_compiler, interpreted, ints, run_on};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use thalweg_codegen::{Cache, Config, Level, Mode, Native, Threads, build};
use thalweg_lang::Compiled;
use thalweg_lang::interpret::{Options, Outcome, Stop, Surroundings, Within, interpret_within};

/// Bytes that are printed before the run must have ended.
const MOST: usize = 60_000_000;

/// Bytes that all queues may take.
const BUDGET: usize = 8 << 20;

fn native(compiled: &Arc<Compiled>, level: Level) -> Native {
    let config = Config { level, cache: Cache::None, compiler: None };
    build(compiled, &config).unwrap_or_else(|refusal| panic!("{refusal}")).within(BUDGET)
}

#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.0.borrow_mut();
        all.extend_from_slice(bytes);
        // Who goes on after an interruption does so for ever.
        if all.len() > MOST { Err(io::Error::other("too much")) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A run that is interrupted when it has printed so much prints nothing else, and does not fail before.
fn prints_fives(how: &str, bytes: usize, run: impl FnOnce(Surroundings<'_>) -> Result<Outcome, Stop>) {
    let out = Shared::default();
    let so_far = out.clone();
    let end = run(Surroundings {
        files: &mut Memory::default(),
        out: Box::new(out.clone()),
        interrupted: Box::new(move || so_far.0.borrow().len() > bytes),
        progress: &mut |_| {},
    });
    let printed = out.0.borrow();
    assert!(matches!(end, Ok(_) | Err(Stop::Interrupted)), "{how}: {end:?}");
    assert!(printed.len() > bytes && printed.chunks_exact(2).all(|line| line == b"5\n"), "{how}");
}

/// Firings that take nothing though they might: in one region with who prints, in their own, and on a stack of
/// their own.
#[test]
fn filters_that_give_for_ever() {
    if !has_compiler("filters_that_give_for_ever") {
        return;
    }
    let works = [
        "work pop [0, 2] push 1 { push(5); }",
        "work pop [0, 2] push * { push(5); }",
        "work pop * push [0, 300] { for (int i = 0; i < 300; i++) push(5); }",
        "int n; work pop * push * { n++; if (n == 0) pop(); push(5); push(5); }",
    ];
    for work in works {
        let text = format!(
            "void->void pipeline Main {{ add Count(); add Give(); add Show(); }}
             void->int filter Count() {{ int n; work push 1 {{ push(n++); }} }}
             int->int filter Give() {{ {work} }} int->void filter Show() {{ work pop 1 {{ println(pop()); }} }}"
        );
        let compiled = compiled(&text);
        for iterations in [None, Some(3)] {
            let options = Options { iterations, ..Options::default() };
            let within = Within { bytes: BUDGET as u64, ..Within::default() };
            prints_fives(work, 300_000, |around| interpret_within(&compiled, options, within, around));
            for level in [Level::Plain, Level::Vectors] {
                let mut native = native(&compiled, level);
                for threads in [1, 2, 8] {
                    let how = format!("{work}, {level:?}, {threads} threads, {iterations:?}");
                    let threads = Threads::new(threads);
                    prints_fives(&how, 1_200_000, |around| native.run_on(&threads, options, around));
                }
                for mode in [Mode::Demand, Mode::NoOp, Mode::Sequential] {
                    native = native.in_mode(mode);
                    let how = format!("{work}, {level:?}, {mode:?}, {iterations:?}");
                    prints_fives(&how, 300_000, |around| native.run(options, around));
                }
            }
        }
    }
}

/// More than the budget between two pops, and an end.
#[test]
fn filters_that_give_much_between_two_pops() {
    if !has_compiler("filters_that_give_much_between_two_pops") {
        return;
    }
    let rates = [
        ("pop [0, 1] push 1", "pop 1 push [0, 1]"),
        ("pop [0, 1] push *", "pop 1 push [0, 1]"),
        ("pop [0, 1] push [1, 2]", "pop * push *"),
    ];
    for (gives, takes) in rates {
        let text = format!(
            "void->void pipeline Main {{ add FileReader<int>(\"in\"); add Burst(); add Fold(); add FileWriter<int>(\"out\"); }}
             int->int[256] filter Burst() {{ int n; work {gives} {{
                 int[256] a; a[n & 255] = n; push(a); n++; if (n % 20000 == 0) a[0] = pop(); }} }}
             int[256]->int filter Fold() {{ int n; int s; work {takes} {{
                 int[256] a = pop(); s = s * 3 + a[n & 255]; n++; if (n % 999 == 0) push(s); }} }}"
        );
        let (compiled, files) = (compiled(&text), ints("in", 3));
        let meant = interpreted(&compiled, &files, None);
        assert_eq!(meant.written["out"].len(), 60);
        for level in [Level::Plain, Level::Vectors] {
            let mut native = native(&compiled, level);
            for threads in [1, 2, 8] {
                let done = run_on(&native, &Threads::new(threads), &files, None);
                assert!(meant == done, "{level:?}, {threads} threads: {}", difference(&meant, &done));
            }
            for mode in [Mode::Demand, Mode::NoOp, Mode::Sequential] {
                native = native.in_mode(mode);
                let done = run_on(&native, &Threads::new(1), &files, None);
                assert!(meant == done, "{level:?}, {mode:?}: {}", difference(&meant, &done));
            }
        }
    }
}

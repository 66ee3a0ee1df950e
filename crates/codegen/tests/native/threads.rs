//! Native code on several threads does what the interpreter does, with batches so short that there are many
//! boundaries between them.

use crate::common::{Memory, compiled, compiler, difference, floats, has_compiler, interpreted, run_on};
use thalweg_codegen::{Cache, Config, Level, Native, Split, Threads, build};
use thalweg_lang::value::Value;

const SPLITS: [Split; 4] = [Split::Auto, Split::Filters, Split::Pipeline, Split::DataParallel];

fn program(stream: &str) -> String {
    format!(
        "void->void pipeline Main {{ add FileReader<float>(\"in\"); add Middle(); add FileWriter<float>(\"out\"); }}
         float->float filter Fir(int n, int by) {{ work pop by push 1 peek n {{ float s = 0;
             for (int i = 0; i < n; i++) s = s * 0.5 + peek(i) * (i + 1); for (int i = 0; i < by; i++) pop(); push(s); }} }}
         float->float filter Up(int by) {{ work pop 1 push by {{ float x = pop(); for (int i = 0; i < by; i++) push(x + i); }} }}
         float->float filter Decay(float by) {{ float last; work pop 1 push 1 {{ last = last * by + pop(); push(last); }} }}
         float->float filter Number {{ work pop 1 push 1 {{ push(pop() + iter()); }} }}
         {stream}"
    )
}

fn native(text: &str, level: Level) -> Native {
    let config = Config { level, cache: Cache::None, compiler: compiler(level) };
    build(&compiled(text), &config).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"))
}

fn threads(count: usize, split: Split, batch: Option<u64>) -> Threads {
    Threads::new(count).split(split).batch(batch)
}

/// Compares runs on threads with the interpreter's.
fn same(text: &str, native: &Native, files: &Memory, iterations: Option<u64>, all: &[Threads]) {
    let meant = interpreted(&compiled(text), files, iterations);
    for threads in all {
        let done = run_on(native, threads, files, iterations);
        assert!(meant == done, "{threads:?}:\n{text}\n{}", difference(&meant, &done));
    }
}

/// Batches of one steady state and more, for inputs of many lengths.
fn check(stream: &str) {
    let text = program(stream);
    let native = native(&text, Level::Vectors);
    for items in [0, 1, 30, 101, 256, 257, 1000, 2311] {
        let mut all: Vec<Threads> =
            [1, 2, 3, 7, 100].map(|batch| threads(2, Split::Auto, Some(batch))).to_vec();
        all.extend(SPLITS.map(|split| threads(3, split, Some(5))));
        all.push(threads(8, Split::Auto, None));
        same(&text, &native, &floats("in", items), None, &all);
    }
}

macro_rules! agrees {
    ($($name:ident: $stream:expr;)*) => {$(
        #[test]
        fn $name() {
            if has_compiler(stringify!($name)) {
                check($stream);
            }
        }
    )*};
}

agrees! {
    a_filter: "float->float filter Middle { work pop 1 push 1 { push(pop() * 3); } }";
    windows: "float->float pipeline Middle { add Fir(17, 1); add Fir(40, 3); add Fir(5, 2); }";
    windows_and_rates: "float->float pipeline Middle { add Fir(9, 5); add Up(7); add Fir(30, 4); add Up(3); add Fir(11, 11); }";
    branches: "float->float pipeline Middle { add splitjoin { split duplicate; for (int i = 1; i < 5; i++) add Fir(i * 9, 1); join roundrobin; }; add Fir(21, 4); }";
    branches_of_a_round_robin: "float->float splitjoin Middle { split roundrobin(2, 1, 3); add Fir(7, 2); add Fir(9, 1); add pipeline { add Fir(3, 3); add Up(2); add Fir(12, 2); }; join roundrobin(1, 1, 1); }";
    weights_that_do_not_fit: "float->float pipeline Middle { add Fir(8, 1); add splitjoin { split roundrobin(3, 5); add Fir(6, 5); add Fir(11, 3); join roundrobin(9, 25); }; add Fir(10, 2); }";
    delays: "float->float pipeline Middle { add Delay(23); add Fir(6, 1); add Delay(4); add Fir(6, 2); }
        float->float filter Delay(int n) { prework push n { for (int i = 0; i < n; i++) push(i); } work pop 1 push 1 { push(pop()); } }";
    numbers_of_firings: "float->float pipeline Middle { add Number(); add Fir(3, 1); add Number(); }";
    state_in_front: "float->float pipeline Middle { add Decay(0.5); add Fir(20, 1); add Fir(9, 2); }";
    state_behind: "float->float pipeline Middle { add Fir(20, 1); add Fir(9, 2); add Decay(0.5); }";
    state_between: "float->float pipeline Middle { add Fir(31, 1); add Decay(0.25); add Fir(12, 3); add Decay(0.75); add Fir(4, 2); }";
    state_side_by_side: "float->float pipeline Middle { add splitjoin { split roundrobin; for (int i = 1; i < 7; i++) add pipeline { add Decay(i * 0.1); add Fir(5 * i, 1); }; join roundrobin(2); }; add Fir(8, 6); add Decay(0.1); }";
    a_feedback_loop: "float->float pipeline Middle { add Fir(6, 1); add feedbackloop { join roundrobin(1, 1); body Mix(); loop Decay(0.5); split roundrobin(1, 1);
            for (int i = 0; i < 5; i++) enqueue i * 1.5; }; add Fir(13, 2); }
        float->float filter Mix { work pop 2 push 2 { float a = pop(); float b = pop(); push(a + b); push(a - b); } }";
}

/// A filter that fails at an item, and one that does not.
const FAILING: &str = "float->float filter Fails(int at) { int seen; int[4] a; work pop 1 push 1 { seen++; a[seen / at] = 1; push(pop() + a[0]); } }
    float->float filter May(float x) { int[2] a; work pop 1 push 1 { float y = pop(); a[y == x ? 5 : 1] = 2; push(y * 2); } }";

#[test]
fn the_first_failure_is_reported_and_output_before_it_is_written() {
    if !has_compiler("failures") {
        return;
    }
    let streams = [
        "add Fir(9, 1); add Fails(100); add Fir(5, 2);",
        "add Fir(9, 1); add Fails(150); add Fir(5, 2); add Fails(20); add Decay(0.5);",
        "add Decay(0.5); add splitjoin { split duplicate; add Fails(111); add Fails(101); join roundrobin; }; add Fir(3, 1);",
        "add May(floor(3.0)); add Fir(7, 1); add Up(2); add Decay(0.1);",
        "add Fir(1, 1); add May(-3.2702703); add Fir(7, 1); add Fir(20, 1);",
    ];
    for stream in streams {
        let text = program(&format!("float->float pipeline Middle {{ {stream} }} {FAILING}"));
        let native = native(&text, Level::Vectors);
        let files = floats("in", 2000);
        let mut all = vec![threads(1, Split::Auto, None)];
        all.extend([1, 3, 20, 100].map(|batch| threads(2, Split::Auto, Some(batch))));
        all.extend(SPLITS.map(|split| threads(3, split, Some(7))));
        same(&text, &native, &files, None, &all);
    }
}

/// The steps are timed, and then there is not enough work for threads.
#[test]
fn one_thread_continues_after_the_measurement() {
    if !has_compiler("one_thread_continues_after_the_measurement") {
        return;
    }
    let text = program("float->float pipeline Middle { add Number(); add Decay(0.5); add Number(); }");
    let native = native(&text, Level::Vectors).at_most(2);
    let all = SPLITS.map(|split| threads(3, split, None));
    for items in [17, 40, 100] {
        same(&text, &native, &floats("in", items), None, &all);
    }
}

/// A NaN that the processor makes may have another sign than one that the C compiler folds, and which of them a filter
/// computes depends on the code, so on the bodies. A sign would be printed of a complex number.
#[test]
fn a_nan_is_printed_alike_on_any_number_of_threads() {
    if !has_compiler("a_nan_is_printed_alike_on_any_number_of_threads") {
        return;
    }
    let text = "void->void pipeline Main { add FileReader<float>(\"in\"); add Odd(); add Turn(); add Odd(); add Show(); }
        float->float filter Odd { float zero; work pop 1 push 3 { float x = pop(); push(x - x); push(x * zero); push(0.0 / 0.0 + x); } }
        float->float filter Turn { work pop 1 push 1 peek 3 { push(sqrt(-abs(peek(2))) - pop()); } }
        float->void filter Show { work pop 1 { float x = pop(); println(x); complex z = x + 1i * x; println(z); println(0 - z); } }";
    let special =
        [f32::INFINITY, -f32::INFINITY, f32::NAN, -f32::NAN, f32::from_bits(0xff80_0001), -0.0, 1.5];
    let items = special.into_iter().cycle().take(700).map(Value::Float).collect();
    let files = Memory { given: [("in".to_owned(), items)].into(), ..Memory::default() };
    let meant = interpreted(&compiled(text), &files, None);
    let lines: Vec<&str> = meant.printed.lines().filter(|line| line.contains("NaN")).collect();
    assert!(lines.len() > 10_000 && lines.contains(&"NaN") && lines.contains(&"NaN+NaNi"), "{}", lines.len());
    assert!(!meant.printed.contains("-NaN"));
    for level in [Level::Plain, Level::Vectors] {
        let all = [1, 2, 8].map(|count| threads(count, Split::Filters, (count > 1).then_some(10)));
        same(text, &native(text, level), &files, None, &all);
    }
}

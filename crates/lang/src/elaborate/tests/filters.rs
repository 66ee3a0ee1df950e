use super::{described, made};
use crate::tree::{Code, Tree};
use crate::value::Value;
use insta::assert_snapshot;

/// A program of one filter.
fn filter(body: &str) -> Tree {
    made(body)
}

fn fields(tree: &Tree, filter: usize) -> &[Value] {
    match &tree.filters[filter].code {
        Code::Written { fields, .. } => fields,
        other => panic!("{other:?}"),
    }
}

#[test]
fn fields_are_initialised_in_order_before_init() {
    let tree = filter(
        "void->void filter Main {
            int a = 3; int b = a * 2; int[b] c = {1, 2, 0, 0, 0, 0}; float d;
            init { c[5] = b + a; d = c[1] / 4.0; }
            work { println(a); }
        }",
    );
    let c = [1, 2, 0, 0, 0, 9].map(Value::Int).to_vec();
    assert_eq!(fields(&tree, 0), [Value::Int(3), Value::Int(6), Value::Array(c.into()), Value::Float(0.5)]);
}

#[test]
fn rates_use_parameters_and_globals() {
    assert_snapshot!(described(
        "static { int K = 3; int[2] a; init { a[1] = K + 1; } }
        void->void pipeline Main { add S(2); add G(2); add T(5, 7); }
        int->int filter G(int n) { work pop n peek n - 1 push 1 { for (int i = 0; i < n; i++) pop(); push(1); } }
        void->int filter S(int n) { work push n * K { for (int i = 0; i < n * K; i++) push(i); } }
        int->void filter T(int n, int m) {
            prework pop a[1] peek m { for (int i = 0; i < a[1]; i++) pop(); }
            work pop n peek n + m { for (int i = 0; i < n; i++) pop(); }
        }"
    ));
}

#[test]
fn dynamic_rates() {
    assert_snapshot!(described(
        "void->void pipeline Main { add S(2); add F(); add G(); add T(); }
        void->int filter S(int n) { work push [n, n + 3, 9] { push(0); push(0); } }
        int->int filter F { work pop * push [1, *] { push(pop()); } }
        int->int filter G { work pop [1, 2] peek 6 push * { push(pop()); } }
        int->void filter T { work pop [*, 4] { pop(); } }"
    ));
}

#[test]
fn windows_include_popped_items() {
    let windows = [
        ("pop 1 peek [1, 3]", "pop 1, peek [1, 3]"),
        ("pop 2 peek [1, 2, 3]", "pop 2, peek [2, 2, 3]"),
        ("pop 1 peek *", "pop 1, peek [1, *]"),
        ("pop 4 peek [1, 3]", "pop 4"),
        ("pop 1 peek [3, 3]", "pop 1, peek 3"),
        ("pop [1, 4]", "pop [1, 4]"),
        ("pop [1, 4] peek 2", "pop [1, 4], peek [2, 4]"),
        ("pop [1, 4] peek [4, 6]", "pop [1, 4], peek [4, 6]"),
        ("pop * peek 3", "pop *, peek [3, *]"),
    ];
    for (written, expected) in windows {
        let tree = made(&format!(
            "void->void pipeline Main {{ add S(); add T(); }} void->int filter S {{ work push 1 {{ push(0); }} }}
            int->void filter T {{ work {written} {{ pop(); }} }}"
        ));
        assert_eq!(tree.filters[1].work.to_string(), expected, "{written}");
    }
}

#[test]
fn globals_and_structures_with_lengths() {
    let tree = made(
        "static { int N; float[2] w = {0.5, 1.5}; init { N = 2; for (int i = 0; i < N; i++) w[i] *= 2; } }
        static { int M = N + 1; Pair p; }
        static { init { p.a[1] = M; } }
        struct Pair { int[N] a; Inner[M] b; }
        struct Inner { complex z; }
        void->void filter Main { Pair q; work { println(q.a[0]); } }",
    );
    let pair = |last: i32| {
        let inner = Value::Struct(vec![Value::Complex(0.0, 0.0)]);
        let a = vec![Value::Int(0), Value::Int(last)];
        Value::Struct(vec![Value::Array(a.into()), Value::Array(vec![inner; 3].into())])
    };
    assert_eq!(tree.globals[1], Value::Array(vec![Value::Float(1.0), Value::Float(3.0)].into()));
    assert_eq!(tree.globals[2], Value::Int(3));
    assert_eq!(tree.globals[3], pair(3));
    assert_eq!(fields(&tree, 0), [pair(0)]);
}

#[test]
fn init_has_its_own_random_numbers() {
    let tree = made(
        "void->void pipeline Main { add S(); add T(); }
        void->float filter S { float x = random(); float y; init { y = random(); } work push 1 { push(x); } }
        float->void filter T { float x = random(); work pop 1 { pop(); } }",
    );
    let (first, second) = (fields(&tree, 0), fields(&tree, 1));
    assert_ne!(first[0], first[1]);
    assert_ne!(first[0], second[0]);
    for value in first.iter().chain(second) {
        assert!(matches!(value, Value::Float(x) if (0.0..1.0).contains(x)), "{value:?}");
    }
}

#[test]
fn arrays_are_read_from_files() {
    let folder = std::env::temp_dir().join(format!("thalweg-arrays-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("numbers.txt");
    std::fs::write(&file, "1 2,3\n-4.5\n6e2").expect("a file");
    let tree = made(&format!(
        "void->void filter Main {{
            float[5] x = init_array_1D_float(\"{0}\", 5);
            int[3] n = init_array_1D_int(\"{0}\", 3);
            work {{ println(x[0] + n[0]); }}
        }}",
        file.display()
    ));
    std::fs::remove_dir_all(&folder).expect("the folder");
    let floats = [1.0, 2.0, 3.0, -4.5, 600.0].map(Value::Float).to_vec();
    let ints = [1, 2, 3].map(Value::Int).to_vec();
    assert_eq!(fields(&tree, 0), [Value::Array(floats.into()), Value::Array(ints.into())]);
}

#[test]
fn rates_may_use_fields_after_init() {
    assert_snapshot!(described(
        "void->void pipeline Main { add S(); add T(); }
        void->int filter S { int n = 2; init { n++; } work push n { for (int i = 0; i < n; i++) push(i); } }
        int->void filter T { int n = 4; prework pop n - 1 { pop(); pop(); pop(); } work pop n { for (int i = 0; i < n; i++) pop(); } }"
    ));
}

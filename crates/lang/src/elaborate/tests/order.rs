use super::{ENDS, made};

#[test]
fn elaboration_prints_in_order() {
    let tree = made(&format!(
        "{ENDS}
        static {{ int x; init {{ println(\"static\"); }} }}
        int->int filter G(int n) {{ init {{ println(\"init \" + n); }} work pop 1 push 1 {{ push(pop()); }} }}
        int->int pipeline P {{ println(\"P begins\"); add G(1); println(\"P ends\"); add G(2); }}
        void->void pipeline Main {{ println(\"Main begins\"); add S(); add P(); add G(3); add T(); println(\"Main ends\"); }}"
    ));
    let expected = "static\nMain begins\nMain ends\nP begins\nP ends\ninit 1\ninit 2\ninit 3\n";
    assert_eq!(tree.printed, expected);
}

#[test]
fn filters_are_numbered_in_the_order_of_making_and_have_paths() {
    let tree = made(&format!(
        "{ENDS}
        int->int pipeline P {{ add F(); add F(); }}
        void->void pipeline Main {{ add S(); add P(); add P(); add T(); }}"
    ));
    let paths: Vec<&str> = tree.filters.iter().map(|filter| filter.path.as_str()).collect();
    assert_eq!(paths, ["Main.S", "Main.P.F", "Main.P.F.2", "Main.P.2.F", "Main.P.2.F.2", "Main.T"]);
}

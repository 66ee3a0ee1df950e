//! The NAS benchmarks against the values of their report.

use thalweg_stencils::Class;
use thalweg_stencils::{cg, mg};

/// The larger classes run where `THALWEG_LONG` is set.
fn classes() -> &'static [Class] {
    if std::env::var_os("THALWEG_LONG").is_some() { &[Class::S, Class::W, Class::A] } else { &[Class::S] }
}

#[test]
fn conjugate_gradients_verify() {
    for class in classes() {
        let zeta = cg::Cg::new(cg::Problem::class(*class)).run();
        assert_eq!(zeta.agrees(), Some(true), "class {class}: {zeta:?}");
        crate::assert_any_team(&zeta, || cg::Cg::new(cg::Problem::class(*class)).run());
    }
}

#[test]
fn multigrid_verifies() {
    for class in classes() {
        let norm = mg::Mg::new(mg::Problem::class(*class)).run();
        assert_eq!(norm.agrees(), Some(true), "class {class}: {norm:?}");
        crate::assert_any_team(&norm, || mg::Mg::new(mg::Problem::class(*class)).run());
    }
}

/// A value that differs in the last digits that the report states is refused.
#[test]
fn wrong_values_do_not_verify() {
    let mut zeta = cg::Cg::new(cg::Problem::class(Class::S)).run();
    zeta.value *= 1.0 + 1e-9;
    assert_eq!(zeta.agrees(), Some(false));
}

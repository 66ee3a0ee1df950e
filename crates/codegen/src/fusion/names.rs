//! Renaming of variables.

use crate::ir::{Code, Expr, Stmt, Var, exprs_mut, inner_mut};
use std::collections::HashMap;

/// Renames a variable at each assignment outside loops and conditionals, so that unrelated values impose no
/// order on each other.
pub(super) fn apart(code: &mut Code) {
    let mut names: HashMap<Var, Var> = HashMap::new();
    let mut body = std::mem::take(&mut code.body);
    for st in &mut body {
        let own = match st {
            Stmt::Set(var, _) | Stmt::For { var, .. } => Some(*var),
            _ => None,
        };
        // The assigned expression reads the old names.
        exprs_mut(st, &mut |ex| rename_ex(ex, &names));
        if let Some(own) = own {
            let info = code.vars[own.0 as usize].clone();
            code.vars.push(info);
            names.insert(own, Var(code.vars.len() as u32 - 1));
        }
        match st {
            Stmt::Set(var, _) => *var = names[var],
            Stmt::For { var, body, .. } => {
                *var = names[var];
                rename(body, &names);
            }
            other => inner_mut(other).for_each(|stmts| rename(stmts, &names)),
        }
    }
    code.body = body;
}

/// Renames variables.
pub(super) fn rename(stmts: &mut [Stmt], names: &HashMap<Var, Var>) {
    for st in stmts {
        exprs_mut(st, &mut |ex| rename_ex(ex, names));
        if let Stmt::Set(var, _) | Stmt::For { var, .. } = st
            && let Some(name) = names.get(var)
        {
            *var = *name;
        }
        inner_mut(st).for_each(|stmts| rename(stmts, names));
    }
}

fn rename_ex(ex: &mut Expr, names: &HashMap<Var, Var>) {
    if let Expr::Var(var) = ex
        && let Some(name) = names.get(var)
    {
        *var = *name;
    }
    ex.each_mut(&mut |part| rename_ex(part, names));
}

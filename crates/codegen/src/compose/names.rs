//! Renaming of variables.

use crate::ir::{Code, Ex, St, Var, exprs_mut, inner_mut};
use std::collections::HashMap;

/// Renames a variable at each assignment outside loops and conditionals, so that unrelated values impose no
/// order on each other.
pub(super) fn apart(code: &mut Code) {
    let mut names: HashMap<Var, Var> = HashMap::new();
    let mut body = std::mem::take(&mut code.body);
    for st in &mut body {
        let own = match st {
            St::Set(var, _) | St::For { var, .. } => Some(*var),
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
            St::Set(var, _) => *var = names[var],
            St::For { var, body, .. } => {
                *var = names[var];
                rename(body, &names);
            }
            other => inner_mut(other).for_each(|stmts| rename(stmts, &names)),
        }
    }
    code.body = body;
}

/// Renames variables.
pub(super) fn rename(stmts: &mut [St], names: &HashMap<Var, Var>) {
    for st in stmts {
        exprs_mut(st, &mut |ex| rename_ex(ex, names));
        if let St::Set(var, _) | St::For { var, .. } = st
            && let Some(name) = names.get(var)
        {
            *var = *name;
        }
        inner_mut(st).for_each(|stmts| rename(stmts, names));
    }
}

fn rename_ex(ex: &mut Ex, names: &HashMap<Var, Var>) {
    if let Ex::Var(var) = ex
        && let Some(name) = names.get(var)
    {
        *var = *name;
    }
    ex.each_mut(&mut |part| rename_ex(part, names));
}

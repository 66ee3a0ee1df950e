//! Table interleaving: tables that a loop reads at the same index become one table of rows, with one address
//! for all.

use crate::ir::{
    Area, Cell, Code, Expr, Kind, Mem, MemInfo, MemKind, Scalar, Stmt, exprs_mut, inner_mut, walk_exprs,
};

/// Tables read at the same index.
struct InterleavedTables {
    at: Expr,
    tables: Vec<Mem>,
    /// The table of rows.
    rows: Mem,
}

/// Interleaves tables, and redirects loads to the rows.
pub(super) fn columns(code: &mut Code, body: &mut [Stmt]) {
    let mut all: Vec<(Expr, Vec<Mem>)> = Vec::new();
    walk_exprs(body, &mut |ex| {
        let Expr::Load(Area::Mem(mem), at, Kind::Float) = ex else { return };
        if at.as_int().is_some() || values(code, *mem).is_none() {
            return;
        }
        match all.iter_mut().find(|(other, tables)| other == &**at && alike(code, tables[0], *mem)) {
            Some((_, tables)) if tables.contains(mem) => {}
            Some((_, tables)) => tables.push(*mem),
            None => all.push((at.as_ref().clone(), vec![*mem])),
        }
    });
    all.retain(|(_, tables)| tables.len() > 1);
    let made: Vec<InterleavedTables> = all.into_iter().map(|(at, tables)| rows(code, at, tables)).collect();
    put(body, &made);
}

fn values(code: &Code, mem: Mem) -> Option<&Vec<Scalar>> {
    match &code.mems[mem.0 as usize] {
        MemInfo { kind: MemKind::Table(values), cell: Cell::Of(Kind::Float), .. } => Some(values),
        _ => None,
    }
}

fn alike(code: &Code, a: Mem, b: Mem) -> bool {
    values(code, a).map(Vec::len) == values(code, b).map(Vec::len)
}

fn rows(code: &mut Code, at: Expr, tables: Vec<Mem>) -> InterleavedTables {
    let columns: Vec<&Vec<Scalar>> = tables.iter().filter_map(|table| values(code, *table)).collect();
    let count = columns.first().map_or(0, |column| column.len());
    let all: Vec<Scalar> = (0..count).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
    let (cells, cell, name) = (all.len(), Cell::Of(Kind::Float), "rows".to_owned());
    code.mems.push(MemInfo { kind: MemKind::Table(all), cell, cells, name });
    InterleavedTables { at, tables, rows: Mem(code.mems.len() as u32 - 1) }
}

fn put(stmts: &mut [Stmt], made: &[InterleavedTables]) {
    for st in stmts {
        exprs_mut(st, &mut |ex| put_ex(ex, made));
        inner_mut(st).for_each(|stmts| put(stmts, made));
    }
}

fn put_ex(ex: &mut Expr, made: &[InterleavedTables]) {
    if let Expr::Load(Area::Mem(mem), at, _) = ex
        && let Some(columns) = made.iter().find(|of| of.tables.contains(mem) && of.at == **at)
    {
        let column = columns.tables.iter().position(|table| table == mem).unwrap_or(0);
        let place = columns.at.clone().times(columns.tables.len() as i64);
        (*mem, **at) = (columns.rows, place.plus(Expr::int(column as i64)));
        return;
    }
    ex.each_mut(&mut |part| put_ex(part, made));
}

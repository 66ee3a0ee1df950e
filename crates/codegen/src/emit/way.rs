//! How firings with dynamic rates proceed.

use crate::ir::{Code, Stmt, walk};

/// How firings with dynamic rates proceed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Way {
    /// They do not wait: a firing that lacks items is rolled back.
    pub(super) tries: bool,
    /// They do not check for room: room for a whole chunk of firings is ensured beforehand.
    pub(super) chunks: bool,
    /// The items that each firing of a chunk pushes, if that is constant.
    pub(super) gives: Option<i32>,
}

impl Way {
    pub(super) fn of(code: &Code, tries: bool, output: bool) -> Way {
        let mut rooms = false;
        walk(&code.body, &mut |st| rooms |= matches!(st, Stmt::Room { .. }));
        let chunks = tries && output && code.begins.room > 0 && !rooms;
        let gives = match code.body.last() {
            Some(Stmt::Moved { given, .. }) if chunks => given.as_int(),
            _ => None,
        };
        Way { tries, chunks, gives }
    }
}

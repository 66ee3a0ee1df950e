//! Files that are written.

use super::{Code, Filter, Tree};
use crate::diagnostic::Diagnostic;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// What is written there is gone, whoever writes it.
const NOWHERE: &str = "/dev/null";

/// Refuses programs in which several filters write one file: what one had written the other would replace, or come
/// between.
///
/// # Errors
/// All of them, each with the first one that writes the same.
pub fn check_writers(tree: &Tree) -> Result<(), Vec<Diagnostic>> {
    let mut first: HashMap<PathBuf, &Filter> = HashMap::new();
    let mut errors = Vec::new();
    for filter in &tree.filters {
        let Code::FileWriter(name) = &filter.code else { continue };
        if name == NOWHERE {
            continue;
        }
        if let Some(before) = first.get(&place(name)) {
            errors.push(twice(name, before, filter));
        } else {
            first.insert(place(name), filter);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn twice(name: &str, before: &Filter, filter: &Filter) -> Diagnostic {
    let message = format!("`{}` and `{}` both write the file `{name}`", before.path, filter.path);
    let error = Diagnostic::new(filter.span, message).label("written again here");
    let two = before.span != filter.span;
    let error = if two { error.other(before.span, "written here before") } else { error };
    error.hint("give each a file of its own, or join the streams before one `FileWriter`")
}

/// Where a file is: the same for all names that it has, as far as that can be seen.
fn place(name: &str) -> PathBuf {
    let path = Path::new(name);
    let plain = || path.components().filter(|part| *part != Component::CurDir).collect::<PathBuf>();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let in_folder = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(plain)
}

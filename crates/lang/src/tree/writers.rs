//! Checks of output files.

use super::{Code, Filter, Tree};
use crate::diagnostic::Diagnostic;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// Writes to it are discarded, so any number of filters may share it.
const NULL_DEVICE: &str = "/dev/null";

/// Rejects programs in which several filters write one file: their output would overwrite or interleave.
///
/// # Errors
/// Every such filter, each with the first one that writes the same file.
pub fn check_writers(tree: &Tree) -> Result<(), Vec<Diagnostic>> {
    let mut first: HashMap<PathBuf, &Filter> = HashMap::new();
    let mut errors = Vec::new();
    for filter in &tree.filters {
        let Code::FileWriter(name, _) = &filter.code else { continue };
        if name == NULL_DEVICE {
            continue;
        }
        if let Some(before) = first.get(&place(name)) {
            errors.push(conflict(name, before, filter));
        } else {
            first.insert(place(name), filter);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn conflict(name: &str, before: &Filter, filter: &Filter) -> Diagnostic {
    let message = format!("`{}` and `{}` both write the file `{name}`", before.path, filter.path);
    let error = Diagnostic::new(filter.span, message).label("also written here");
    let two = before.span != filter.span;
    let error = if two { error.other(before.span, "first written here") } else { error };
    error.hint("write separate files, or join the streams before one `FileWriter`")
}

/// The canonical path of a file, as far as it can be determined.
fn place(name: &str) -> PathBuf {
    let path = Path::new(name);
    let plain = || path.components().filter(|part| *part != Component::CurDir).collect::<PathBuf>();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let in_folder = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(plain)
}

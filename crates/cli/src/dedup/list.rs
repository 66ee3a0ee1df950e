//! The lines of `thalweg dedup stat --list`.

use std::fmt::Write as _;

use thalweg::embed::graph::shown_bytes;
use thalweg_dedup::{Entry, Meta};

use crate::standard;

/// The maximum number of bytes of a path that is listed in full. An archive of some hundred bytes may have a million entries
/// in a million folders inside each other.
const MAX_PATH: usize = 1 << 20;

/// Makes a line of each entry. Takes memory in proportion to the tree, and time in proportion to the lines.
#[derive(Default)]
pub(super) struct List {
    /// The name of each folder below the root, and the number of the folder that it is in. The root has the number 0.
    folders: Vec<(usize, Vec<u8>)>,
    /// The number of the current folder.
    here: usize,
    /// The path of the current folder, as it is shown, and the lengths of those of the folders that it is in.
    path: String,
    outer: Vec<usize>,
    /// The number of its folder and the name of each file or link of which further names may follow.
    shared: Vec<(usize, Vec<u8>)>,
    has_root: bool,
    /// How many paths were shortened.
    shortened: u64,
}

impl List {
    /// The line of an entry, which has this many bytes of content. The root and the ends of folders have none.
    pub fn line(&mut self, entry: &Entry, bytes: u64) -> Option<String> {
        let Some(name) = entry.name() else {
            self.here = self.folder_of(self.here);
            self.path.truncate(self.outer.pop().unwrap_or_default());
            return None;
        };
        if !self.has_root {
            self.has_root = true;
            return None;
        }
        let mut line = match entry {
            Entry::Dir(meta) => format!("d{:04o} {:>12} ", meta.mode, ""),
            Entry::File(meta) => format!("f{:04o} {bytes:>12} ", meta.mode),
            Entry::Link { .. } => format!("l{:4} {:>12} ", "", ""),
            Entry::HardLink { .. } => format!("h{:4} {:>12} ", "", ""),
            Entry::Up => return None,
        };
        self.shortened += u64::from(put_path(&mut line, &self.path, name));
        match entry {
            Entry::Dir(meta) => {
                line.push('/');
                self.enter(&meta.name);
            }
            Entry::File(meta) => self.add(meta),
            Entry::Link { meta, target } => {
                _ = write!(line, " -> {}", shown_bytes(target));
                self.add(meta);
            }
            Entry::HardLink { file, .. } => self.put_first(&mut line, *file),
            Entry::Up => {}
        }
        line.push('\n');
        Some(line)
    }

    /// Says on standard error how many paths were shortened.
    pub fn note_shortened(&self) {
        if self.shortened > 0 {
            standard::eprint(&format!(
                "note: {} paths are longer than {MAX_PATH} bytes: of these, the end after `...` is listed",
                self.shortened
            ));
        }
    }

    fn enter(&mut self, name: &[u8]) {
        self.folders.push((self.here, name.to_vec()));
        self.here = self.folders.len();
        self.outer.push(self.path.len());
        _ = write!(self.path, "{}/", shown_bytes(name));
    }

    fn add(&mut self, meta: &Meta) {
        if meta.shared {
            self.shared.push((self.here, meta.name.clone()));
        }
    }

    /// Appends the first path of a hard link's file.
    fn put_first(&mut self, line: &mut String, file: u64) {
        line.push_str(" link to ");
        match usize::try_from(file).ok().and_then(|file| self.shared.get(file)).cloned() {
            Some((folder, name)) => {
                self.shortened += u64::from(put_path(line, &self.end_of(folder), &name));
            }
            None => line.push('?'),
        }
    }

    /// The path of a folder, or the end of a long one.
    fn end_of(&self, mut folder: usize) -> String {
        let (mut names, mut length) = (Vec::new(), 0);
        while folder > 0 && length <= MAX_PATH {
            let name = shown_bytes(&self.folders[folder - 1].1).to_string();
            length += name.len() + 1;
            names.push(name);
            folder = self.folder_of(folder);
        }
        names.iter().rev().flat_map(|name| [name.as_str(), "/"]).collect()
    }

    /// The number of the folder that a folder is in.
    fn folder_of(&self, folder: usize) -> usize {
        folder.checked_sub(1).map_or(0, |index| self.folders[index].0)
    }
}

/// Appends the path of an entry of a folder, or the end of one that is too long. Returns whether it was.
fn put_path(line: &mut String, folder: &str, name: &[u8]) -> bool {
    let begin = line.len();
    let name = shown_bytes(name).to_string();
    let excess = (folder.len() + name.len()).saturating_sub(MAX_PATH);
    if excess == 0 {
        *line += folder;
    } else {
        // From the next name on, if there is one.
        let cut = folder.as_bytes().iter().skip(excess - 1).position(|byte| *byte == b'/');
        *line += ".../";
        *line += cut.map_or("", |at| &folder[excess + at..]);
    }
    *line += &name;
    debug_assert!(line.len() - begin <= 4 + MAX_PATH.max(name.len()));
    excess > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(name: &[u8]) -> Meta {
        Meta { name: name.to_vec(), mode: 0o644, shared: true, ..Meta::default() }
    }

    #[test]
    fn lines_have_the_paths_of_entries() {
        let mut list = List::default();
        let entries = [
            (Entry::Dir(meta(b"")), None),
            (Entry::Dir(meta(b"a")), Some("d0644              a/\n")),
            (Entry::File(meta(b"\x1b")), Some("f0644            7 a/\\u{1b}\n")),
            (Entry::Up, None),
            (Entry::Link { meta: meta(b"l"), target: b"t".to_vec() }, Some("l                  l -> t\n")),
            (
                Entry::HardLink { name: b"h".to_vec(), file: 0 },
                Some("h                  h link to a/\\u{1b}\n"),
            ),
            (Entry::HardLink { name: b"i".to_vec(), file: 9 }, Some("h                  i link to ?\n")),
        ];
        for (entry, line) in entries {
            assert_eq!(list.line(&entry, 7).as_deref(), line);
        }
        assert_eq!(list.shortened, 0);
    }

    /// Each folder has a file with a second name, as in an archive of a few kilobytes that unpacks to all of these.
    #[test]
    fn of_a_long_path_the_end_is_listed() {
        let mut list = List::default();
        list.line(&Entry::Dir(meta(b"")), 0);
        let name = [b'n'; 1 << 16];
        for depth in 1..100 {
            let line = list.line(&Entry::Dir(meta(&name)), 0).unwrap();
            assert_eq!(line.contains(".../n"), depth > 15, "{depth}");
            list.line(&Entry::File(meta(b"file")), 0);
            let link = Entry::HardLink { name: b"link".to_vec(), file: depth - 1 };
            let line = list.line(&link, 0).unwrap();
            assert!(line.len() < 2 * MAX_PATH + 100, "{depth}");
        }
        let kept: usize = list.folders.iter().chain(&list.shared).map(|(_, name)| name.len()).sum();
        assert!(kept < 100 * name.len() + 1000, "{kept} bytes are kept");
        assert!(list.shortened > 0);
    }
}

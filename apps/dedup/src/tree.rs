//! Unpacks a tree into a hidden folder beside the output, which is renamed to the output when it is complete.
//!
//! This run has created every folder on the path of an entry, inside a folder that no other user can write to. It names
//! entries relative to open folders, and never opens anything that already exists, but for folders of its own on the way
//! to a file that gets a further name. So no link can redirect a write.
//!
//! The tree has all its attributes, those of the root too, before it is synced to disk. Then it is renamed, and the folder
//! of the output is synced. So after a crash of the machine, the output is a complete tree or does not exist.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Write};
use std::mem;
use std::path::{Path, PathBuf};

use thalweg::embed::graph::{shown, shown_bytes};
use thalweg_files::{Folder, Kind, OutFolder, SparseFile, Trail, new_mode, status};

use crate::attributes::{Restore, describe, extended};
use crate::entry::{Entry, Meta};
use crate::error::Doing;
use crate::failures::Failures;
use crate::names::Names;
use crate::shelf::Shelf;
use crate::sink::Sink;
use crate::{Error, Result, os};

/// A sink that writes a tree.
pub struct TreeSink {
    /// From the root, which is the hidden folder of the output, to the current folder.
    trail: Trail,
    /// The attributes of each open folder, set when it is closed.
    open: Vec<Meta>,
    root: Option<Meta>,
    /// The folders below the root that their owner will not be able to read or to search, inner ones first. They may hold
    /// files that get further names, so they get their attributes when all entries are there.
    closed: Vec<(usize, Meta)>,
    file: Option<(SparseFile, Meta)>,
    /// Dropped after all open files, as the removal of the folder needs descriptors, of which there may be few.
    output: OutFolder,
    names: Names,
    shelf: Shelf,
    link: MakeLink,
    restore: Restore,
    sparse: bool,
    /// Bytes of content written, and their limit.
    written: u64,
    limit: u64,
    failures: Failures,
}

/// [`Folder::create_hard_link`], or what fails as that does on another file system.
pub(crate) type MakeLink = fn(&Folder, &OsStr, &Folder, &OsStr) -> io::Result<()>;

/// The permissions without which the owner cannot open a file of a folder by its name.
const READ_AND_SEARCH: u32 = 0o500;

impl TreeSink {
    /// Creates a hidden folder that [`TreeSink::commit`] renames to `output`. If `force` is set, an empty folder
    /// `output` is replaced. Anything else that exists is refused.
    ///
    /// # Errors
    /// `output` exists and is not to be replaced, or is in a folder that cannot be written.
    pub fn create(output: &Path, force: bool) -> Result<Self> {
        let output = OutFolder::create(output, force)?;
        let doing = || format!("creating {}", shown(output.path()));
        let root = output.private().open().doing(doing)?;
        // A new folder belongs to this user.
        let superuser = root.status().doing(doing)?.owner.is_some_and(|(user, _)| user == 0);
        let new_mode = new_mode(output.private().path()).doing(doing)?;
        let trail = Trail::new(root, output.path()).doing(doing)?;
        Ok(TreeSink {
            trail,
            open: Vec::new(),
            root: None,
            closed: Vec::new(),
            file: None,
            output,
            names: Names::default(),
            shelf: Shelf::default(),
            link: Folder::create_hard_link,
            restore: Restore { owners: superuser, permissions: superuser, new_mode, extended: false },
            sparse: false,
            written: 0,
            limit: u64::MAX,
            failures: Failures::default(),
        })
    }

    /// Sets whether [`TreeSink::commit`] waits until the tree is on the disk. It does by default.
    pub fn durable(mut self, durable: bool) -> Self {
        self.output = self.output.durable(durable);
        self
    }

    /// Sets whether owners are restored, and with them set-user, set-group and sticky bits. They are by default if this
    /// user is the superuser.
    pub fn owners(mut self, owners: bool) -> Self {
        self.restore.owners = owners;
        self
    }

    /// Sets whether all permissions are restored, or those alone that the system leaves to a new entry: the others are in the
    /// umask. All are by default if this user is the superuser.
    pub fn permissions(mut self, all: bool) -> Self {
        self.restore.permissions = all;
        self
    }

    /// Sets whether extended attributes are restored. They are not by default.
    pub fn extended_attributes(mut self, extended: bool) -> Self {
        self.restore.extended = extended;
        self
    }

    /// Sets whether blocks of zeros in files become holes. They do not by default.
    pub fn sparse(mut self, sparse: bool) -> Self {
        self.sparse = sparse;
        self
    }

    /// Sets the most bytes that are written, copies in place of hard links included, of which the reader does not know.
    /// There is no limit by default.
    pub fn limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Sets a function that receives what could not be restored of an entry: its owner, an extended attribute, or that it
    /// is a hard link, which became a copy. By default the first such failure ends the run.
    pub fn on_failure(mut self, failed: impl FnMut(Error) + Send + 'static) -> Self {
        self.failures.receiver = Some(Box::new(failed));
        self
    }

    /// Renames the finished tree to its final name.
    ///
    /// # Errors
    /// The attributes of a folder cannot be set, or the tree cannot be synced or renamed. It is removed.
    pub fn commit(mut self) -> Result<()> {
        self.close_file()?;
        self.shelf = Shelf::default();
        let mut open = Vec::new();
        for (number, meta) in mem::take(&mut self.closed) {
            let found = self.names.go(number, &mut self.trail, &mut open);
            let folder = found.and_then(|()| self.trail.leave());
            open.pop();
            let folder = folder.doing(|| format!("opening {}", inside(&self.trail, &meta.name)))?;
            self.set_folder(&folder, &meta)?;
        }
        let back = self.names.go(0, &mut self.trail, &mut open).and_then(|()| self.root());
        let root = back.doing(|| format!("opening {}", shown(self.output.path())))?;
        if let Some(meta) = self.root.take() {
            self.set_folder(&root, &meta)?;
        }
        Ok(self.output.commit()?)
    }

    /// Another handle of the root.
    fn root(&self) -> io::Result<Folder> {
        self.output.private().open()
    }

    /// Calls `with` on the current folder and the name of an entry in it.
    fn at<T>(
        &self,
        what: &str,
        name: &[u8],
        with: impl FnOnce(&Folder, &OsStr) -> io::Result<T>,
    ) -> Result<T> {
        let made = os::name(name).and_then(|name| with(self.trail.here(), &name));
        made.doing(|| format!("{what} {}", self.show(name)))
    }

    /// The place of an entry of the current folder, for messages.
    fn show(&self, name: &[u8]) -> String {
        place(&self.trail, name)
    }

    fn close_file(&mut self) -> Result<()> {
        let Some((mut file, meta)) = self.file.take() else { return Ok(()) };
        let path = || place(&self.trail, &meta.name);
        file.finish().doing(|| format!("writing {}", path()))?;
        let file = file.file();
        let failed = |what: &str, source| self.failures.add(what, path, source);
        self.restore.set(file, &meta, failed).doing(|| format!("setting attributes of {}", path()))?;
        self.failures.check()?;
        if self.output.syncs_each() {
            file.sync_all().doing(|| format!("writing {}", path()))
        } else {
            Ok(())
        }
    }

    fn open_file(&mut self, meta: &Meta) -> Result<()> {
        let name = os::name(&meta.name).doing(|| format!("creating {}", self.show(&meta.name)))?;
        let file = self.create_file(&name);
        let file = file.doing(|| format!("creating {}", self.show(&meta.name)))?;
        self.file = Some((file, meta.clone()));
        if meta.shared {
            self.add(name);
        }
        Ok(())
    }

    /// Adds a file or link of the current folder of which further names may follow.
    fn add(&mut self, name: OsString) {
        self.shelf.put(self.names.shared(), self.output.path(), (&self.trail, &name), self.link);
        self.names.add(name);
    }

    fn create_file(&mut self, name: &OsStr) -> io::Result<SparseFile> {
        let mut file = SparseFile::new(self.trail.open(|here| here.create_file(name))?);
        file.set_holes(self.sparse);
        Ok(file)
    }

    /// Creates a folder, except for the root, which is there.
    fn open_dir(&mut self, meta: &Meta) -> Result<()> {
        if !self.open.is_empty() {
            self.at("creating", &meta.name, |folder, name| folder.create_folder(name))?;
            let doing = || format!("creating {}", shown_bytes(&meta.name));
            let name = os::name(&meta.name).doing(doing)?;
            self.trail.enter(&name).doing(doing)?;
            self.names.enter(name);
        }
        self.open.push(meta.clone());
        Ok(())
    }

    /// Sets the attributes of the folder, except for the root, which [`TreeSink::commit`] sets. They are set last,
    /// because the permissions may forbid to write into the folder, and each new entry changes its time.
    fn close_dir(&mut self) -> Result<()> {
        let Some(meta) = self.open.pop() else { return Ok(()) };
        if self.open.is_empty() {
            self.root = Some(meta);
            return Ok(());
        }
        let folder = self.trail.leave();
        let folder = folder.doing(|| format!("leaving {}", inside(&self.trail, &meta.name)))?;
        let number = self.names.leave();
        if meta.mode & READ_AND_SEARCH != READ_AND_SEARCH {
            self.closed.push((number, meta));
            return Ok(());
        }
        self.set_folder(&folder, &meta)
    }

    /// Sets the attributes of a folder in the current one, or of the root.
    fn set_folder(&mut self, folder: &Folder, meta: &Meta) -> Result<()> {
        let Some(file) = folder.as_file() else { return Ok(()) };
        let path = || inside(&self.trail, &meta.name);
        let set = self.restore.set(file, meta, |what, source| self.failures.add(what, path, source));
        set.doing(|| format!("setting attributes of {}", path()))?;
        self.failures.check()?;
        if self.output.syncs_each() {
            file.sync_all().doing(|| format!("writing {}", path()))
        } else {
            Ok(())
        }
    }

    fn link(&mut self, meta: &Meta, target: &[u8]) -> Result<()> {
        self.at("creating the link", &meta.name, |folder, name| {
            folder.create_link(name, &os::name(target)?)
        })?;
        let name =
            os::name(&meta.name).doing(|| format!("setting attributes of {}", self.show(&meta.name)))?;
        if meta.shared {
            self.add(name.clone());
        }
        let path = || place(&self.trail, &meta.name);
        let failed = |what: &str, source| self.failures.add(what, path, source);
        let set = self.restore.set_link(self.trail.here(), &name, meta, failed);
        set.doing(|| format!("setting attributes of {}", path()))?;
        self.failures.check()
    }

    /// Creates a hard link. Where the file system has none, or no more of this file, it creates a copy and reports it.
    fn hard_link(&mut self, name: &[u8], file: u64, offset: u64) -> Result<()> {
        let doing = || format!("creating the hard link {}", self.show(name));
        let os_name = os::name(name).doing(doing)?;
        let found = match self.shelf.find(file) {
            Some(found) => found,
            None => self.root().and_then(|root| self.names.find(file, root)),
        };
        let (from, old) = found.doing(doing)?;
        match (self.link)(self.trail.here(), &os_name, &from, &old) {
            Err(why) if means_no_link(why.kind()) => {
                self.copy(&os_name, &from, &old, offset)?;
                // So further names are links of the copy, if the file cannot have more.
                self.shelf.put(file, self.output.path(), (&self.trail, &os_name), self.link);
                self.names.replace(file, os_name);
                let path = || place(&self.trail, name);
                self.failures.add("creating a copy in place of the hard link", path, why);
                self.failures.check()
            }
            linked => linked.doing(doing),
        }
    }

    /// Copies a file or symbolic link of this tree, with its attributes.
    fn copy(&mut self, name: &OsStr, from: &Folder, old: &OsStr, offset: u64) -> Result<()> {
        let doing = || format!("copying {}", shown(Path::new(old)));
        let found = from.stat(old).doing(doing)?;
        if found.kind == Kind::Link {
            let target = from.target(old).and_then(|target| os::name_bytes(&target)).doing(doing)?;
            return self.link(&describe(os::name_bytes(name).doing(doing)?, &found), &target);
        }
        let mut source = from.open_file(old).doing(doing)?;
        let status = status(&source).doing(doing)?;
        self.written = self.written.saturating_add(status.size);
        if self.written > self.limit {
            return Err(Error::OutputLimit { limit: self.limit, offset });
        }
        let mut meta = describe(os::name_bytes(name).doing(doing)?, &status);
        if self.restore.extended {
            meta.attributes = extended(&source).doing(doing)?;
        }
        let mut file = self.create_file(name).doing(doing)?;
        io::copy(&mut source, &mut file).doing(doing)?;
        self.file = Some((file, meta));
        self.close_file()
    }
}

/// The place of an entry of the current folder, for messages.
fn place(trail: &Trail, name: &[u8]) -> String {
    format!("{} in {}", shown_bytes(name), shown(&*end_of(trail.path())))
}

/// The path of a folder in the current one, for messages. The root has no name.
fn inside(trail: &Trail, name: &[u8]) -> String {
    let here = end_of(trail.path());
    if name.is_empty() {
        shown(&*here).to_string()
    } else {
        format!("{}/{}", shown(&*here), shown_bytes(name))
    }
}

/// A path, or the end of one that is too long for a message: there may be a message for each entry of a deep tree.
fn end_of(path: &Path) -> Cow<'_, Path> {
    const LONGEST_SHOWN: usize = 4096;
    if path.as_os_str().len() <= LONGEST_SHOWN {
        return Cow::Borrowed(path);
    }
    let mut length = 0;
    let names = path.components().rev().take_while(|name| {
        length += name.as_os_str().len() + 1;
        length <= LONGEST_SHOWN
    });
    let names: Vec<_> = names.collect();
    Cow::Owned(Path::new("...").join(names.into_iter().rev().collect::<PathBuf>()))
}

/// Whether a hard link failed since the file system has none, or the file no more. (Linux says that permission is missing
/// where it means the former.)
fn means_no_link(why: io::ErrorKind) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    matches!(why, PermissionDenied | Unsupported | TooManyLinks | CrossesDevices)
}

impl Sink for TreeSink {
    fn entry(&mut self, entry: &Entry, offset: u64) -> Result<()> {
        self.close_file()?;
        match entry {
            Entry::Dir(meta) => self.open_dir(meta),
            Entry::File(meta) => self.open_file(meta),
            Entry::Link { meta, target } => self.link(meta, target),
            Entry::HardLink { name, file } => self.hard_link(name, *file, offset),
            Entry::Up => self.close_dir(),
        }
    }

    fn data(&mut self, bytes: &[u8]) -> Result<()> {
        let Some((file, meta)) = &mut self.file else {
            return Err(Error::corrupt(0, "content outside of a file"));
        };
        self.written += bytes.len() as u64;
        file.write_all(bytes)
            .doing(|| format!("writing {} in {}", shown_bytes(&meta.name), shown(self.trail.path())))
    }
}

impl fmt::Debug for TreeSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeSink").field("output", &self.output).finish_non_exhaustive()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::sync::{Arc, Mutex};

    use crate::entry::Time;

    fn meta(name: &str, mode: u32, shared: bool) -> Meta {
        let time = Some(Time { seconds: 1_000, nanos: 5 });
        Meta { name: name.into(), mode, time, shared, ..Meta::default() }
    }

    fn link(name: &str, file: u64) -> Entry {
        Entry::HardLink { name: name.into(), file }
    }

    fn write(sink: &mut TreeSink, entries: &[Entry]) -> Result<()> {
        entries.iter().try_for_each(|entry| {
            sink.entry(entry, 7)?;
            if matches!(entry, Entry::File(_)) { sink.data(b"content") } else { Ok(()) }
        })
    }

    /// The superuser could find a file in any folder, so the test also looks at the modes before the end.
    #[test]
    fn a_file_in_a_folder_that_cannot_be_read_gets_further_names() {
        for mode in [0o000, 0o300, 0o600] {
            let place = tempfile::tempdir().unwrap();
            let mut sink = TreeSink::create(&place.path().join("out"), false).unwrap().durable(false);
            let folder = |name: &str| Entry::Dir(meta(name, mode, false));
            let (file, open) =
                (Entry::File(meta("file", 0o600, true)), Entry::Dir(meta("open", 0o755, false)));
            let inner =
                [folder(""), folder("closed"), folder("inner"), file, Entry::Up, Entry::Up, open, Entry::Up];
            write(&mut sink, &inner).unwrap();
            let private = sink.output.private().path().to_owned();
            let mode_of = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
            for (name, mode) in [("", 0o700), ("closed", 0o700), ("closed/inner", 0o700), ("open", 0o755)] {
                assert_eq!(mode_of(&private.join(name)), mode, "{name}");
            }
            write(&mut sink, &[link("z", 0), Entry::Up]).unwrap();
            sink.commit().unwrap();
            let out = place.path().join("out");
            for name in ["", "closed", "closed/inner"] {
                let path = out.join(name);
                let found = fs::metadata(&path).unwrap();
                assert_eq!(
                    (found.mode() & 0o7777, found.mtime(), found.mtime_nsec()),
                    (mode, 1_000, 5),
                    "{name}"
                );
                fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
            }
            let inode = |name: &str| fs::metadata(out.join(name)).unwrap().ino();
            assert_eq!(inode("z"), inode("closed/inner/file"));
        }
    }

    #[test]
    fn a_hard_link_becomes_a_copy_where_there_are_none() {
        let ways: [MakeLink; 3] = [
            |_, _, _, _| Err(io::ErrorKind::PermissionDenied.into()),
            |_, _, _, _| Err(io::ErrorKind::Unsupported.into()),
            // At most two names of a file.
            |folder, name, from, old| match from.stat(old)?.names {
                1 => folder.create_hard_link(name, from, old),
                _ => Err(io::ErrorKind::TooManyLinks.into()),
            },
        ];
        for (copies, way) in [3, 3, 1].into_iter().zip(ways) {
            let place = tempfile::tempdir().unwrap();
            let out = place.path().join("out");
            let warnings = Arc::new(Mutex::new(Vec::new()));
            let received = Arc::clone(&warnings);
            let receive = move |error: Error| received.lock().unwrap().push(error.to_string());
            let mut sink = TreeSink::create(&out, false).unwrap().durable(false).on_failure(receive);
            sink.link = way;
            let root = Entry::Dir(meta("", 0o755, false));
            let file = Entry::File(meta("a", 0o640, true));
            write(&mut sink, &[root, file, link("b", 0), link("c", 0), link("d", 0), Entry::Up]).unwrap();
            sink.commit().unwrap();
            for name in ["a", "b", "c", "d"] {
                let found = fs::metadata(out.join(name)).unwrap();
                assert_eq!(fs::read(out.join(name)).unwrap(), b"content");
                assert_eq!((found.mode() & 0o7777, found.mtime(), found.mtime_nsec()), (0o640, 1_000, 5));
                assert_eq!(found.nlink(), if copies == 1 { 2 } else { 1 }, "{name}");
            }
            let warnings = warnings.lock().unwrap();
            assert_eq!(warnings.len(), copies, "{warnings:?}");
            assert!(warnings[0].starts_with("creating a copy in place of the hard link"), "{warnings:?}");
        }
    }

    #[test]
    fn a_further_name_of_a_symbolic_link_becomes_a_copy_too() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let sink = TreeSink::create(&out, false).unwrap().durable(false).on_failure(|_| ());
        let mut sink = TreeSink { link: |_, _, _, _| Err(io::ErrorKind::Unsupported.into()), ..sink };
        let first = Entry::Link { meta: meta("a", 0o777, true), target: b"nowhere".to_vec() };
        write(&mut sink, &[Entry::Dir(meta("", 0o755, false)), first, link("b", 0), Entry::Up]).unwrap();
        sink.commit().unwrap();
        assert_eq!(fs::read_link(out.join("b")).unwrap(), Path::new("nowhere"));
        assert_eq!(fs::symlink_metadata(out.join("b")).unwrap().mtime(), 1_000);
    }

    #[test]
    fn copies_in_place_of_hard_links_are_within_the_limit_and_other_errors_end_the_run() {
        let place = tempfile::tempdir().unwrap();
        let create = |name: &str, link: MakeLink| {
            let sink = TreeSink::create(&place.path().join(name), false).unwrap();
            TreeSink { link, ..sink.durable(false).limit(14).on_failure(|_| ()) }
        };
        let begin = [Entry::Dir(meta("", 0o755, false)), Entry::File(meta("a", 0o640, true))];
        let mut sink = create("limited", |_, _, _, _| Err(io::ErrorKind::Unsupported.into()));
        write(&mut sink, &begin).unwrap();
        write(&mut sink, &[link("b", 0)]).unwrap();
        let error = write(&mut sink, &[link("c", 0)]).unwrap_err();
        assert!(matches!(error, Error::OutputLimit { limit: 14, offset: 7 }), "{error}");
        let mut sink = create("full", |_, _, _, _| Err(io::ErrorKind::StorageFull.into()));
        write(&mut sink, &begin).unwrap();
        assert!(matches!(write(&mut sink, &[link("b", 0)]).unwrap_err(), Error::Io { .. }));
    }

    /// Where the file system has such times, they are restored.
    #[test]
    fn a_time_beyond_the_range_of_the_file_system_is_a_warning() {
        for seconds in [1 << 40, -(1 << 40), i64::MAX, i64::MIN, 5_000_000_000, -5, 1 << 30] {
            let place = tempfile::tempdir().unwrap();
            let warnings = Arc::new(Mutex::new(Vec::new()));
            let received = Arc::clone(&warnings);
            let receive = move |error: Error| received.lock().unwrap().push(error.to_string());
            let out = place.path().join("out");
            let mut sink = TreeSink::create(&out, false).unwrap().durable(false).on_failure(receive);
            let meta =
                |name: &str| Meta { time: Some(Time { seconds, nanos: 0 }), ..meta(name, 0o755, false) };
            let link = Entry::Link { meta: meta("link"), target: b"x".to_vec() };
            write(&mut sink, &[Entry::Dir(meta("")), Entry::File(meta("file")), link, Entry::Up]).unwrap();
            sink.commit().unwrap();
            let time = |path: &Path| fs::symlink_metadata(path).unwrap().mtime();
            let times = [out.join("file"), out.join("link"), out].map(|path| time(&path));
            let changed = times.iter().filter(|time| **time != seconds).count();
            let warnings = warnings.lock().unwrap();
            assert_eq!(warnings.len(), changed, "{seconds}: {times:?}, {warnings:?}");
            assert!(
                warnings.iter().all(|warning| warning.starts_with("setting the time of")),
                "{warnings:?}"
            );
        }
    }

    #[test]
    fn long_paths_are_shortened_in_messages() {
        let short = Path::new("a/b");
        assert_eq!(end_of(short), short);
        let long: PathBuf = std::iter::repeat_n("0123456789", 1000).collect();
        let end = end_of(&long);
        assert!(end.starts_with("...") && end.as_os_str().len() <= 4100 && end.components().count() > 300);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn zeros_become_holes_on_request() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let mut sink = TreeSink::create(&out, false).unwrap().durable(false).sparse(true);
        sink.entry(&Entry::Dir(meta("", 0o755, false)), 0).unwrap();
        sink.entry(&Entry::File(meta("zeros", 0o644, false)), 0).unwrap();
        (0..64).for_each(|_| sink.data(&[0; 1 << 16]).unwrap());
        sink.entry(&Entry::Up, 0).unwrap();
        sink.commit().unwrap();
        let found = fs::metadata(out.join("zeros")).unwrap();
        assert_eq!((found.len(), found.mtime()), (4 << 20, 1_000));
        assert!(found.blocks() * 512 <= 1 << 16);
    }
}

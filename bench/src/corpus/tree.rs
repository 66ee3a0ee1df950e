//! Folders of real files for archivers: a copy of a part of a folder, and a copy of that with small differences.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::list;

/// What a near-copy has more than its original.
const INSERTED: &[u8] = b"These bytes stand in the copy of the file, and not in the original.\n";

/// Copies files below `from`, in the order of their names, until the copy has `most` bytes. Files larger than an eighth of
/// that are left out, so that no file decides the figures.
pub fn copy_part(from: &Path, to: &Path, most: u64) -> io::Result<()> {
    let mut bytes = 0;
    for path in sorted(from) {
        let length = path.metadata()?.len();
        if length > most / 8 {
            continue;
        }
        if bytes + length > most {
            break;
        }
        bytes += length;
        write(&path, &to.join(below(&path, from)), &fs::read(&path)?)?;
    }
    Ok(())
}

/// Copies a folder with differences: of each 20 files in the order of their names, one has a new name, one has more bytes in
/// its middle, and one has other bytes at a third.
pub fn near_copy(from: &Path, to: &Path) -> io::Result<()> {
    for (at, path) in sorted(from).into_iter().enumerate() {
        let (mut name, mut content) = (below(&path, from).to_owned(), fs::read(&path)?);
        match at % 20 {
            3 => name.as_mut_os_string().push(".renamed"),
            9 => {
                let middle = content.len() / 2;
                content.splice(middle..middle, INSERTED.iter().copied());
            }
            15 => {
                let third = content.len() / 3;
                let end = content.len().min(third + INSERTED.len());
                content[third..end].copy_from_slice(&INSERTED[..end - third]);
            }
            _ => {}
        }
        write(&path, &to.join(name), &content)?;
    }
    Ok(())
}

/// Writes a file with the permissions and the modification time of another.
fn write(like: &Path, to: &Path, content: &[u8]) -> io::Result<()> {
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    let about = like.metadata()?;
    let mut file = File::create(to)?;
    file.write_all(content)?;
    file.set_modified(about.modified()?)?;
    file.set_permissions(about.permissions())
}

/// A checksum of the names, permissions and contents of all files below a folder. It holds within a process.
pub fn checksum(folder: &Path) -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    for path in sorted(folder) {
        let content = fs::read(&path)?;
        hasher.write(below(&path, folder).as_os_str().as_encoded_bytes());
        hasher.write_u32(path.metadata()?.permissions().mode());
        hasher.write_usize(content.len());
        hasher.write(&content);
    }
    Ok(hasher.finish())
}

/// The number of files below a path, and their bytes. The path may be a file.
pub fn extent(path: &Path) -> io::Result<(usize, u64)> {
    let files = if path.is_file() { vec![path.to_owned()] } else { sorted(path) };
    let bytes = files.iter().map(|file| Ok(file.metadata()?.len())).sum::<io::Result<u64>>()?;
    Ok((files.len(), bytes))
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    list(folder, &mut files);
    files.sort();
    files
}

fn below<'a>(path: &'a Path, folder: &Path) -> &'a Path {
    path.strip_prefix(folder).expect("the path is below the folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_of(files: usize) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for at in 0..files {
            let name = folder.path().join(format!("original/{}/{at:02}", at / 8));
            fs::create_dir_all(name.parent().unwrap()).unwrap();
            fs::write(name, format!("{at}").repeat(500)).unwrap();
        }
        folder
    }

    #[test]
    fn a_part_has_small_files_up_to_its_bytes() {
        let folder = folder_of(30);
        let (original, part) = (folder.path().join("original"), folder.path().join("part"));
        fs::write(original.join("0/00.large"), vec![0; 1001]).unwrap();
        copy_part(&original, &part, 8000).unwrap();
        assert_eq!(extent(&part).unwrap(), (10 + 3, 10 * 500 + 3 * 1000));
        assert!(!part.join("0/00.large").exists());
    }

    #[test]
    fn a_near_copy_differs_in_three_of_twenty_files() {
        let folder = folder_of(20);
        let (original, near) = (folder.path().join("original"), folder.path().join("near"));
        near_copy(&original, &near).unwrap();
        let equal = sorted(&original)
            .iter()
            .filter(|path| fs::read(near.join(below(path, &original))).ok() == fs::read(path).ok())
            .count();
        assert_eq!(equal, 17);
        let renamed = fs::read(near.join("0/03.renamed")).unwrap();
        assert_eq!(renamed, fs::read(original.join("0/03")).unwrap());
        let (_, bytes) = extent(&original).unwrap();
        assert_eq!(extent(&near).unwrap(), (20, bytes + INSERTED.len() as u64));
    }

    #[test]
    fn a_checksum_depends_on_names_permissions_and_contents() {
        let folder = folder_of(3);
        let original = folder.path().join("original");
        let mut sums = vec![checksum(&original).unwrap()];
        assert_eq!(sums[0], checksum(&original).unwrap());
        fs::rename(original.join("0/01"), original.join("0/11")).unwrap();
        sums.push(checksum(&original).unwrap());
        fs::set_permissions(original.join("0/11"), fs::Permissions::from_mode(0o600)).unwrap();
        sums.push(checksum(&original).unwrap());
        fs::write(original.join("0/11"), "2".repeat(500)).unwrap();
        sums.push(checksum(&original).unwrap());
        sums.sort_unstable();
        sums.dedup();
        assert_eq!(sums.len(), 4);
    }
}

//! Removes the folders of the machine that compiled this executable from a copy of it.
//!
//! A panic prints the place of the code in its source file, so an executable has the paths of the sources of all crates.
//! Those of crates from a registry begin with cargo's folder, often in the home of the user. Cargo has no stable setting
//! that leaves them out, so they are replaced in place by as many other bytes.

use memchr::memmem;

/// What replaces a folder, filled up with slashes.
const MASK: &[u8] = b"/cargo";

/// The folders that were used to compile this crate, as far as cargo and rustup tell.
fn folders() -> impl Iterator<Item = Vec<u8>> {
    let home = option_env!("HOME").map(|home| format!("{home}/.cargo"));
    let known =
        [option_env!("CARGO_HOME").map(str::to_owned), home, Some(env!("CARGO_MANIFEST_DIR").to_owned())];
    known.into_iter().flatten().map(String::into_bytes).filter(|folder| folder.len() > MASK.len())
}

/// Replaces all of these folders in an executable.
pub(super) fn mask_paths(executable: &mut [u8]) {
    folders().for_each(|folder| replace(executable, &folder));
}

fn replace(bytes: &mut [u8], folder: &[u8]) {
    let found: Vec<usize> = memmem::find_iter(bytes, folder).collect();
    for at in found {
        let (mask, rest) = bytes[at..at + folder.len()].split_at_mut(MASK.len());
        mask.copy_from_slice(MASK);
        rest.fill(b'/');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_replaced_by_as_many_bytes() {
        let mut bytes = b"a/home/me/.cargo/registry/x.rs/home/me/.cargo/y".to_vec();
        replace(&mut bytes, b"/home/me/.cargo");
        assert_eq!(
            bytes,
            b"a/cargo/////////"
                .iter()
                .chain(b"/registry/x.rs/cargo//////////y")
                .copied()
                .collect::<Vec<u8>>()
        );
        assert!(folders().count() > 0);
    }
}

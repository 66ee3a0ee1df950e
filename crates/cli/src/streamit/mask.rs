//! Removes the folder of cargo on the machine that compiled this executable from a copy of it.
//!
//! A panic prints the place of the code in its source file, so an executable has the paths of the sources of all crates.
//! Those of crates from a registry begin with cargo's folder, often in the home of the user. Cargo has no stable setting
//! that leaves them out, so they are replaced in place by as many other bytes.

use memchr::memmem;

/// What replaces a folder, filled up with slashes.
const MASK: &[u8] = b"/cargo";

/// The folder of cargo when this crate was compiled, if rustup has told it.
const CARGO: Option<&str> = option_env!("CARGO_HOME");

/// Replaces this folder in an executable.
pub(super) fn mask_paths(executable: &mut [u8]) {
    if let Some(folder) = CARGO.filter(|folder| folder.len() >= MASK.len()) {
        replace(executable, folder.as_bytes());
    }
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
    fn a_folder_is_replaced_by_as_many_bytes() {
        let mut bytes = b"a/home/me/.cargo/registry/x.rs/home/me/.cargo/y".to_vec();
        replace(&mut bytes, b"/home/me/.cargo");
        assert_eq!(bytes, b"a/cargo//////////registry/x.rs/cargo//////////y");
    }
}

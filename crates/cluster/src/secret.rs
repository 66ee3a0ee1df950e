//! The secret that keeps strangers out, and the file that holds it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::cluster::Cluster;
use crate::error::Error;

/// Minimum bytes of a secret for addresses of other machines: fewer can be guessed.
pub(crate) const LEAST: usize = 16;

/// Maximum bytes of a file.
const MOST: u64 = 1 << 16;

pub(crate) const HELP: &str = "name a file by `Cluster::secret_file` that holds 16 bytes or more, the same for all \
    processes: (umask 077; head -c 32 /dev/urandom | base64 > FILE)";

impl Cluster {
    /// The [secret](Cluster::secret) that a file holds, without line ends behind it. The file must belong to its owner alone,
    /// with mode 0600, and hold 16 bytes or more. Copies of it on several machines must be equal.
    ///
    /// # Errors
    /// The file cannot be read, is open to others, too short, or longer than 64 KiB.
    pub fn secret_file(self, path: impl AsRef<Path>) -> Result<Cluster, Error> {
        let name = path.as_ref().display();
        let cannot = |error: io::Error| Error::new(format!("{name}: cannot read the secret: {error}"));
        let file = open(path.as_ref()).map_err(cannot)?;
        refuse_open_to_others(&file, &name).map_err(cannot)??;
        let mut secret = Vec::new();
        file.take(MOST + 1).read_to_end(&mut secret).map_err(cannot)?;
        if secret.len() as u64 > MOST {
            return Err(Error::new(format!("{name}: a secret has no more than 64 KiB")).with_help(HELP));
        }
        while secret.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            secret.pop();
        }
        match secret.len() {
            0 => Err(Error::new(format!("{name}: the secret is empty")).with_help(HELP)),
            length if length < LEAST => {
                let text = format!("{name}: the secret has {length} bytes, fewer than {LEAST}");
                Err(Error::new(text).with_help(HELP))
            }
            _ => Ok(self.secret(secret)),
        }
    }
}

/// Opens a regular file: others could block, and their mode does not say what other programs read.
fn open(path: &Path) -> io::Result<File> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    File::open(path)
}

/// Looks at the file that is open, which no one can replace.
#[cfg(unix)]
fn refuse_open_to_others(file: &File, name: &dyn std::fmt::Display) -> io::Result<Result<(), Error>> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata()?.permissions().mode() & 0o7777;
    if mode & 0o077 == 0 {
        return Ok(Ok(()));
    }
    let text = format!("{name}: the secret is open to others: its mode is {mode:04o}, not 0600");
    Ok(Err(Error::new(text).with_help(format!("chmod 600 {name}; others may have read it: make a new one"))))
}

/// No modes here: the folder of the file must be the user's own.
#[cfg(not(unix))]
fn refuse_open_to_others(_: &File, _: &dyn std::fmt::Display) -> io::Result<Result<(), Error>> {
    Ok(Ok(()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_that_is_open_to_others_or_short_is_refused_by_name() {
        let path = std::env::temp_dir().join(format!("thalweg-cluster-secret-{}", std::process::id()));
        let read = |bytes: &[u8], mode: u32| {
            std::fs::write(&path, bytes).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            let result = Cluster::alone().secret_file(&path);
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
            result.map(|cluster| cluster.identity("").key)
        };
        let key = |secret: &str| Cluster::alone().secret(secret).identity("").key;
        assert_eq!(read(b"0123456789abcdef\n", 0o600).unwrap(), key("0123456789abcdef"));
        assert_eq!(read(b"0123456789abcdef", 0o400).unwrap(), key("0123456789abcdef"));
        for (bytes, mode, why) in [
            (&b"0123456789abcdef"[..], 0o644, "the secret is open to others: its mode is 0644, not 0600"),
            (b"0123456789abcdef", 0o620, "its mode is 0620, not 0600"),
            (b"0123456789abcdef", 0o601, "its mode is 0601, not 0600"),
            (b"\n", 0o600, "the secret is empty"),
            (b"0123456789abcde\r\n", 0o600, "the secret has 15 bytes, fewer than 16"),
            (&[7; 65_537], 0o600, "no more than 64 KiB"),
        ] {
            let error = read(bytes, mode).unwrap_err();
            assert!(error.to_string().contains(why) && error.help().is_some(), "{error}");
            assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
        }
        std::fs::remove_file(&path).unwrap();
        for (path, why) in [("/no/such/file", "No such file"), ("/dev/null", "it is no regular file")] {
            let error = Cluster::alone().secret_file(path).unwrap_err().to_string();
            assert!(error.contains(path) && error.contains(why), "{error}");
        }
    }
}

//! What a log says of its run: another run goes on with it only if all of this is equal.

use std::fs;
use std::io;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::named;
use crate::cluster::Cluster;

/// The program and its input, as far as the bytes of the file depend on them. The number of processes is none of it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    version: String,
    /// The stages of the chain, and how its source is divided into batches.
    shape: String,
    /// A hash of the job and of what is shared.
    work: [u8; 32],
    inputs: Vec<Input>,
}

/// A file that the chain reads.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Input {
    path: String,
    bytes: u64,
    /// Since 1970; zero if the system does not tell.
    modified: Duration,
}

impl Head {
    /// That of a run that begins.
    pub fn of(cluster: &Cluster, shape: &str) -> io::Result<Head> {
        let input = |path: &std::path::PathBuf| {
            let meta = fs::metadata(path).map_err(|error| named("looking at the input", path, error))?;
            let modified =
                meta.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
            let path = path.to_string_lossy().into_owned();
            Ok(Input { path, bytes: meta.len(), modified: modified.unwrap_or_default() })
        };
        Ok(Head {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            shape: shape.to_owned(),
            work: cluster.work(),
            inputs: cluster.settings.inputs.iter().map(input).collect::<io::Result<_>>()?,
        })
    }

    /// What differs, if this is the head of a log and the other that of a run which would go on with it.
    pub fn differs(&self, now: &Head) -> Option<String> {
        let changed = |what: &str, before: &str, now: &str| {
            (before != now).then(|| format!("{what} was `{before}` and is `{now}`"))
        };
        changed("the version of thalweg-cluster", &self.version, &now.version)
            .or_else(|| changed("the chain", &self.shape, &now.shape))
            .or_else(|| {
                (self.work != now.work)
                    .then(|| "the job or the types of the shared values have changed".to_owned())
            })
            .or_else(|| self.inputs_differ(now))
    }

    fn inputs_differ(&self, now: &Head) -> Option<String> {
        let paths = |head: &Head| {
            let paths: Vec<_> = head.inputs.iter().map(|input| input.path.as_str()).collect();
            if paths.is_empty() { "none".to_owned() } else { paths.join(", ") }
        };
        let (before, after) = (paths(self), paths(now));
        if before != after {
            return Some(format!("the inputs were {before} and are {after}"));
        }
        self.inputs.iter().zip(&now.inputs).find_map(|(before, now)| {
            let path = &before.path;
            if before.bytes != now.bytes {
                return Some(format!("the input {path} had {} bytes and has {}", before.bytes, now.bytes));
            }
            (before.modified != now.modified).then(|| format!("the input {path} was modified since then"))
        })
    }
}

#[cfg(test)]
pub(super) fn example(bytes: u64) -> Head {
    Head {
        version: "1".to_owned(),
        shape: "from_parts 3 | gather".to_owned(),
        work: [7; 32],
        inputs: vec![Input { path: "a.txt".to_owned(), bytes, modified: Duration::new(5, 6) }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let same = example(9);
        assert_eq!(same.differs(&example(9)), None);
        let check = |change: &dyn Fn(&mut Head), says: &str| {
            let mut now = example(9);
            change(&mut now);
            let text = same.differs(&now).unwrap();
            assert!(text.contains(says), "{text}");
        };
        check(&|now| now.version = "2".to_owned(), "version");
        check(&|now| now.shape.push('x'), "`from_parts 3 | gatherx`");
        check(&|now| now.work[3] = 0, "the job");
        check(&|now| now.inputs.clear(), "the inputs were a.txt and are none");
        check(&|now| now.inputs[0].bytes = 10, "a.txt had 9 bytes and has 10");
        check(&|now| now.inputs[0].modified = Duration::new(5, 7), "a.txt was modified");
    }
}

//! Starts the processes of a run on their hosts.
//!
//! ```text
//! launcher                                            host of process p
//!     ── `ssh HOST COMMAND` ───────────────────────────▶    a shell
//!     ── standard input: the secret ───────────────────▶    puts it into the environment, starts the program
//!     ── standard input ends ──────────────────────────▶    ends the program
//! ```
//!
//! The shell and the program need no file of the launcher: the addresses of all processes are arguments. The secret is new
//! for each run. It is never an argument, since any user of a machine can read those of all processes.
//!
//! `ssh` ends nothing at the other side when it is killed. But then the standard input of the shell ends, as it does when
//! the launcher is killed or its machine fails, and the shell ends the program.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::process::{Child, Command, Stdio};

use blake3::Hash;

use crate::error::Error;
use crate::hosts::Hosts;
use crate::launch::{cannot, new_token};
use crate::running::{Ended, Running};

/// What a shell does at the host. Its arguments: the number of the process, the addresses of all, the program and its
/// arguments.
///
/// The watcher reads until the launcher ends, and is killed when the program has ended. It holds no output open: else the
/// connection would stay until it ends.
const SCRIPT: &str = r#"IFS= read -r token || exit
export THALWEG_LAUNCH="hosts $1 $token $2"
shift 2
exec 3<&0 </dev/null
"$@" 3<&- & program=$!
{ read -r end; kill "$program"; sleep 2; kill -9 "$program"; } <&3 >/dev/null 2>&1 & watcher=$!
exec 3<&-
wait "$program"; code=$?
kill "$watcher" 2>/dev/null
exit "$code""#;

/// A command that runs another on a host, such as `ssh`.
#[derive(Clone, Debug)]
pub struct RemoteShell {
    words: Vec<String>,
}

impl RemoteShell {
    /// The words of a command, as a shell divides them: at blanks, except between quotes or behind a backslash. The host and a
    /// command line for the shell there are added to them.
    ///
    /// ```
    /// use thalweg_cluster::RemoteShell;
    ///
    /// let shell = RemoteShell::parse("ssh -i '/keys/of run' -o BatchMode=yes")?;
    /// assert_eq!(shell.words(), ["ssh", "-i", "/keys/of run", "-o", "BatchMode=yes"]);
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no word, or a quote has no end.
    pub fn parse(text: &str) -> Result<RemoteShell, Error> {
        match words(text) {
            Some(words) if !words.is_empty() => Ok(RemoteShell { words }),
            Some(_) => Err(Error::new("the command that reaches other hosts is empty")
                .with_help("the usual one is `ssh`")),
            None => Err(Error::new(format!("a quote has no end: {text}"))),
        }
    }

    /// The words of the command.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    fn command(&self, host: &str, line: &OsStr) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).arg(host).arg(line);
        command
    }
}

impl Default for RemoteShell {
    fn default() -> RemoteShell {
        RemoteShell { words: vec!["ssh".to_owned()] }
    }
}

/// Runs a program, which its arguments follow, as a process on each of the hosts, and waits for all. A process that calls
/// [`Cluster::from_env`](crate::Cluster::from_env) gets a cluster of them, with a secret. The program must be there, as must its
/// files; it starts where `ssh` does, in the user's home. It gets no standard input; its output and errors are those of this
/// process.
///
/// The other side needs a POSIX shell. Failures and `stop` are as of [`launch`](crate::launch()), as is what programs get that are to
/// end.
///
/// # Errors
/// The command that reaches the hosts cannot be started.
pub fn launch_on(
    hosts: &Hosts,
    shell: &RemoteShell,
    program: &[OsString],
    stop: impl Fn() -> bool,
) -> Result<Vec<Ended>, Error> {
    let token = new_token()?;
    let addresses = hosts.addresses().join(" ");
    let mut running = Running::at_hosts();
    for (process, host) in hosts.hosts().enumerate() {
        let mut command = shell.command(host, &line(process, &addresses, program));
        let spawned = command.stdin(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| {
            let text = format!("process {process}: cannot start `{}` for {host}: {error}", shell.words[0]);
            Error::of(process, text)
        })?;
        tell(&mut child, &token);
        running.add(child);
    }
    running.wait(&stop, |_| {}).map_err(cannot)
}

/// Sends the secret. A process that does not take it has ended, which is noticed by its exit.
fn tell(child: &mut Child, token: &Hash) {
    if let Some(input) = &mut child.stdin {
        _ = input.write_all(format!("{}\n", token.to_hex()).as_bytes());
    }
}

/// The command line for the shell at a host.
fn line(process: usize, addresses: &str, program: &[OsString]) -> OsString {
    let mut line = OsString::from("exec sh -c ");
    line.push(quoted(OsStr::new(SCRIPT)));
    line.push(" sh ");
    line.push(process.to_string());
    for argument in [OsStr::new(addresses)].into_iter().chain(program.iter().map(OsString::as_os_str)) {
        line.push(" ");
        line.push(quoted(argument));
    }
    line
}

/// An argument as a POSIX shell reads it: nothing between single quotes has a meaning, and a single quote is between two
/// quoted texts, behind a backslash.
fn quoted(argument: &OsStr) -> OsString {
    let mut quoted = OsString::from("'");
    for (number, part) in split_at_quotes(argument).into_iter().enumerate() {
        if number > 0 {
            quoted.push(r"'\''");
        }
        quoted.push(part);
    }
    quoted.push("'");
    quoted
}

#[cfg(unix)]
fn split_at_quotes(argument: &OsStr) -> Vec<OsString> {
    use std::os::unix::ffi::OsStrExt;
    let parts = argument.as_bytes().split(|byte| *byte == b'\'');
    parts.map(|part| OsStr::from_bytes(part).to_owned()).collect()
}

#[cfg(not(unix))]
fn split_at_quotes(argument: &OsStr) -> Vec<OsString> {
    argument.to_string_lossy().split('\'').map(OsString::from).collect()
}

/// Divides a text as a shell does, without its variables and patterns. `None`: a quote has no end.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\\' => word.get_or_insert_default().push(chars.next()?),
            quote @ ('\'' | '"') => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        c if c == quote => break,
                        '\\' if quote == '"' => word.push(chars.next()?),
                        c => word.push(c),
                    }
                }
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_divided_as_by_a_shell() {
        for (text, expected) in [
            ("ssh", Some(&["ssh"][..])),
            ("  ssh -p  22\t-v\n", Some(&["ssh", "-p", "22", "-v"])),
            (r#"a 'b c' "d 'e" f\ g"#, Some(&["a", "b c", "d 'e", "f g"])),
            (r#"a'b'"c"d '' "" 'x\y' "x\"y""#, Some(&["abcd", "", "", r"x\y", "x\"y"])),
            ("", Some(&[])),
            ("a 'b", None),
            ("a \"b", None),
            ("a\\", None),
        ] {
            let expected = expected.map(|words| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
            assert_eq!(words(text), expected, "{text}");
        }
        assert!(RemoteShell::parse("a 'b").unwrap_err().to_string().contains("a quote has no end"));
        assert!(RemoteShell::parse(" ").unwrap_err().to_string().contains("is empty"));
    }

    #[cfg(unix)]
    #[test]
    fn arguments_survive_the_shell_of_a_host() {
        use std::os::unix::ffi::OsStringExt;
        let odd = OsString::from_vec(vec![b'x', 0xff, b'\'', 0x80]);
        let arguments: Vec<OsString> = [
            "",
            " ",
            "two words",
            "'",
            "''",
            "\"",
            "$HOME",
            "$(id)",
            "`id`",
            "a\nb",
            "\n",
            "\\",
            "\\'",
            "*",
            "~",
            "!x",
            "#",
            ";",
            "&",
            "|",
            "-n",
            "--",
            "a\tb",
            "ä",
            "{a,b}",
            "x=y",
            "<",
            ">",
        ]
        .map(OsString::from)
        .into_iter()
        .chain([odd])
        .collect();
        // As a shell at a host does: it gets one text.
        let program = ["env", "printf", "%s\\0"].map(OsString::from);
        let line = line(3, "a:1 b:1", &[&program[..], &arguments].concat());
        let mut command = Command::new("sh")
            .arg("-c")
            .arg(line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        tell(&mut command, &Hash::from_bytes([7; 32]));
        let input = command.stdin.take();
        let output = command.wait_with_output().unwrap();
        drop(input);
        let got: Vec<OsString> =
            output.stdout.split(|byte| *byte == 0).map(|it| OsString::from_vec(it.to_vec())).collect();
        assert_eq!(got[..got.len() - 1], arguments);
        assert!(output.status.success() && SCRIPT.contains(crate::launch::VARIABLE));
    }
}

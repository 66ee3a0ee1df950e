//! The sections below the options of a help text: examples, exit codes and others. Manual pages have the same ones.
//!
//! A verb states its own as `after_long_help`: each is a title that ends with a colon, and lines up to the next empty one.
//! `-h` shows none of them.

/// The title of the exit codes.
const EXIT_CODES: &str = "Exit codes";

/// The title of examples in a manual page.
pub(crate) const EXAMPLES: &str = "EXAMPLES";

/// The exit codes of the verb `name`, as its help text shows them.
fn exit_codes(name: &str) -> String {
    let of_entries = match name {
        "pack" | "unpack" => {
            ";\n       or warnings name entries that are not as they were, and all else is done"
        }
        _ => "",
    };
    format!(
        "{EXIT_CODES}:
  0    the command has done what it was asked to do
  1    it has failed: a file is missing or wrong, cannot be written, or exceeds a limit
  2    the arguments are wrong, and nothing was begun{of_entries}
  130  Ctrl-C has ended it; 143 SIGTERM, 129 SIGHUP (as a shell reports these)"
    )
}

/// A section of a footer.
pub(crate) struct Section {
    /// Without the colon.
    pub title: String,
    /// The lines below the title, without their indentation.
    pub lines: Vec<String>,
}

impl Section {
    /// The title in a manual page, where some titles are fixed by custom.
    pub fn manual_title(&self) -> String {
        match self.title.as_str() {
            "Example" | "Examples" => EXAMPLES.to_owned(),
            EXIT_CODES => "EXIT STATUS".to_owned(),
            title => title.to_uppercase(),
        }
    }
}

/// Adds the exit codes to the footers of a command and of its verbs.
pub(crate) fn with_exit_codes(command: clap::Command) -> clap::Command {
    let codes = exit_codes(command.get_name());
    let footer = match command.get_after_long_help() {
        Some(own) => format!("{own}\n\n{codes}"),
        None => codes,
    };
    command.after_long_help(footer).mut_subcommands(with_exit_codes)
}

/// The sections of a command's footer.
pub(crate) fn sections(command: &clap::Command) -> Vec<Section> {
    let footer = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    footer.split("\n\n").filter_map(section).collect()
}

fn section(text: &str) -> Option<Section> {
    let (title, lines) = text.split_once('\n')?;
    let lines = lines.lines().map(|line| line.strip_prefix("  ").unwrap_or(line).to_owned());
    Some(Section { title: title.trim_end_matches(':').to_owned(), lines: lines.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footer_has_its_own_sections_and_the_exit_codes() {
        let command = clap::Command::new("x").after_long_help("Example:\n  x y\n    z\n\nNames (of x):\n  a");
        let found = sections(&with_exit_codes(command));
        let titles: Vec<_> = found.iter().map(Section::manual_title).collect();
        assert_eq!(titles, ["EXAMPLES", "NAMES (OF X)", "EXIT STATUS"]);
        assert_eq!(found[0].lines, ["x y", "  z"]);
    }
}

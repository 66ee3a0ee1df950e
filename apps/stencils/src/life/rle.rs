//! The RLE format of patterns.

use super::pattern::Run;
use super::{Error, Life, Pattern, Rule};

/// The greatest width and height of a pattern.
const LONGEST: usize = 1 << 30;

/// The longest line that is written, as the format demands.
const LINE: usize = 70;

const HEADER_HELP: &str = "help: begin with a line like `x = 3, y = 3, rule = B3/S23`";

/// Reads a pattern.
pub(super) fn parse(text: &str) -> Result<Pattern, Error> {
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let is_header = |line: &str| !line.starts_with('#') && !line.trim().is_empty();
    let Some((number, header)) = lines.by_ref().find(|(_, line)| is_header(line)) else {
        let what = format!("the text ends without a header\n{HEADER_HELP}");
        return Err(Error::Rle { line: text.lines().count().max(1), column: 1, what });
    };
    let mut body = Body { pattern: parse_header(number, header)?, x: 0, y: 0, count: None, ended: false };
    let mut last = number;
    for (number, line) in lines.filter(|(_, line)| !line.starts_with('#')) {
        for (column, byte) in line.bytes().enumerate() {
            body.take(byte).map_err(|what| Error::Rle { line: number, column: column + 1, what })?;
            if body.ended {
                return Ok(body.pattern);
            }
        }
        last = number;
    }
    let what = "the pattern has no end\nhelp: end it with `!`; a part of the file may be missing".to_owned();
    Err(Error::Rle { line: last, column: text.lines().nth(last - 1).map_or(1, |line| line.len() + 1), what })
}

/// Reads `x = 3, y = 3, rule = B3/S23`.
fn parse_header(line: usize, text: &str) -> Result<Pattern, Error> {
    let (mut width, mut height, mut rule) = (None, None, Rule::CONWAY);
    let mut rest = text;
    loop {
        // A rule may contain commas (for a bounded grid), so it is the last field.
        let (field, after) = match rest.split_once(',') {
            Some((field, after)) if !field.trim_start().starts_with("rule") => (field, Some(after)),
            _ => (rest, None),
        };
        let column = text.len() - rest.len() + (field.len() - field.trim_start().len()) + 1;
        let bad = |what: String| Error::Rle { line, column, what };
        let Some((name, value)) = field.split_once('=') else {
            return Err(bad(format!("`{}` is not a field of a header\n{HEADER_HELP}", shown(field))));
        };
        match name.trim() {
            "x" => width = Some(length(value).map_err(bad)?),
            "y" => height = Some(length(value).map_err(bad)?),
            "rule" => rule = parse_rule(value).map_err(bad)?,
            name => return Err(bad(format!("unknown field `{}`\n{HEADER_HELP}", shown(name)))),
        }
        match after {
            Some(after) => rest = after,
            None => break,
        }
    }
    match (width, height) {
        (Some(width), Some(height)) => Ok(Pattern { width, height, rule, runs: Vec::new() }),
        _ => Err(Error::Rle { line, column: 1, what: format!("the header lacks x or y\n{HEADER_HELP}") }),
    }
}

fn length(text: &str) -> Result<usize, String> {
    let length = text.trim().parse().ok().filter(|length| *length <= LONGEST);
    length.ok_or_else(|| {
        format!("`{}` is no length, expected a number of cells up to {LONGEST}\n{HEADER_HELP}", shown(text))
    })
}

fn parse_rule(text: &str) -> Result<Rule, String> {
    let text = text.trim();
    match text.split_once(':') {
        None => text.parse(),
        Some((rule, grid)) => Err(format!(
            "rule `{}` has a bounded grid `{}`\nhelp: write the rule as `{}`, and use --torus with --size",
            shown(text),
            shown(grid),
            shown(rule)
        )),
    }
}

/// A short excerpt without control characters, for messages.
fn shown(text: &str) -> String {
    let text = text.trim();
    let short: String = text.chars().take(30).map(|c| if c.is_control() { '?' } else { c }).collect();
    if short.len() < text.len() { format!("{short}...") } else { short }
}

/// The state of the parser within the runs.
struct Body {
    pattern: Pattern,
    x: usize,
    y: usize,
    /// The number before the next tag.
    count: Option<usize>,
    ended: bool,
}

impl Body {
    fn take(&mut self, byte: u8) -> Result<(), String> {
        match byte {
            b'0'..=b'9' => {
                let count = self.count.unwrap_or(0) * 10 + usize::from(byte - b'0');
                if count > LONGEST {
                    return Err(format!("a run is longer than {LONGEST}\nhelp: check the numbers"));
                }
                self.count = Some(count);
            }
            b' ' | b'\t' | b'\r' => {}
            b'b' | b'.' => self.cells(false)?,
            b'o' | b'A' => self.cells(true)?,
            b'$' => {
                self.x = 0;
                self.y += self.run()?;
                if self.y > LONGEST {
                    return Err(format!("the pattern has more than {LONGEST} rows\nhelp: check the numbers"));
                }
            }
            b'!' => {
                if self.count.is_some() {
                    return Err("a number before `!`\nhelp: remove it".to_owned());
                }
                self.ended = true;
            }
            byte => {
                return Err(format!(
                    "unexpected `{}`\nhelp: cells are `b` and `o`, rows end with `$`, the pattern with `!`",
                    byte.escape_ascii()
                ));
            }
        }
        Ok(())
    }

    /// The number before a tag, 1 without one.
    fn run(&mut self) -> Result<usize, String> {
        match self.count.take() {
            Some(0) => Err("a run of 0\nhelp: leave the run out".to_owned()),
            count => Ok(count.unwrap_or(1)),
        }
    }

    fn cells(&mut self, alive: bool) -> Result<(), String> {
        let (x, count) = (self.x, self.run()?);
        self.x += count;
        let Pattern { width, height, .. } = self.pattern;
        if alive && self.y >= height {
            return Err(format!(
                "row {} has cells, the header says y = {height}\nhelp: correct y",
                self.y + 1
            ));
        }
        if alive && self.x > width {
            let (row, has) = (self.y + 1, self.x);
            return Err(format!(
                "row {row} has a cell at {has}, the header says x = {width}\nhelp: correct x, or end the row with `$`"
            ));
        }
        if alive {
            self.pattern.runs.push(Run { y: self.y, x, count });
        }
        Ok(())
    }
}

/// Writes the living cells of a world, in the smallest rectangle around them.
pub(super) fn write(life: &Life) -> String {
    let (left, top, right, bottom) = life.bounds().unwrap_or((0, 0, -1, -1));
    let (width, height, rule) = (right - left + 1, bottom - top + 1, life.rule());
    let mut out = Lines::default();
    let mut line = top;
    for y in top..=bottom {
        let mut x = left;
        for (start, count) in life.runs(y) {
            out.put(y - line, '$');
            out.put(start - x, 'b');
            out.put(count, 'o');
            (line, x) = (y, start + count);
        }
    }
    format!(
        "#CXRLE Pos={left},{top} Gen={}\nx = {width}, y = {height}, rule = {rule}\n{}!\n",
        life.generation(),
        out.text
    )
}

/// Runs in lines of at most [`LINE`] characters.
#[derive(Default)]
struct Lines {
    text: String,
    column: usize,
}

impl Lines {
    /// Appends a run, if it has cells.
    fn put(&mut self, count: i64, tag: char) {
        let run = match count {
            0 => return,
            1 => tag.to_string(),
            count => format!("{count}{tag}"),
        };
        // The end of the pattern fits behind every run.
        if self.column + run.len() >= LINE {
            self.text.push('\n');
            self.column = 0;
        }
        self.column += run.len();
        self.text.push_str(&run);
    }
}

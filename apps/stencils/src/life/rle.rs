//! The RLE format of patterns.

use thalweg::embed::graph::without_mark;

use super::pattern::Run;
use super::{Error, Life, Pattern, Rule};

/// The greatest width and height of a pattern.
const LONGEST: usize = 1 << 30;

/// The greatest distance of a pattern from the origin, and the greatest number of its generation. Sums of some stay in 64
/// bits.
const FARTHEST: u64 = 1 << 60;

/// The longest line that is written, as the format demands.
const LINE: usize = 70;

const HEADER_HELP: &str = "help: begin with a line like `x = 3, y = 3, rule = B3/S23`";

/// Reads a pattern. `rule` replaces that of the text, which is not parsed then.
pub(super) fn parse(text: &str, rule: Option<Rule>) -> Result<Pattern, Error> {
    let text = without_mark(text);
    let mut comments = Comments::default();
    let mut body: Option<Body> = None;
    let mut end = (1, 1);
    for (number, line) in lines(text) {
        end = (number, line.len() + 1);
        if line.starts_with('#') {
            comments.take(number, line, rule)?;
        } else if let Some(body) = &mut body {
            body.line(number, line)?;
            if body.ended {
                break;
            }
        } else if !line.trim().is_empty() {
            body = Some(Body::new(parse_header(number, line, rule)?));
        }
    }
    let (line, column) = end;
    match body {
        Some(body) if body.ended => Ok(comments.complete(body)),
        Some(_) => {
            let what =
                "the pattern has no end\nhelp: end it with `!`; a part of the file may be missing".to_owned();
            Err(Error::Rle { line, column, what })
        }
        None => Err(Error::Rle {
            line,
            column: 1,
            what: format!("the text ends without a header\n{HEADER_HELP}"),
        }),
    }
}

/// The lines with their numbers. They end with `\n`, `\r\n` or `\r`, or with the text.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    let next = move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let (line, after) = rest.split_at(end);
        rest = after.strip_prefix("\r\n").or_else(|| after.get(1..)).unwrap_or_default();
        Some(line)
    };
    std::iter::from_fn(next).enumerate().map(|(at, line)| (at + 1, line))
}

/// What comments say of a pattern.
#[derive(Default)]
struct Comments {
    /// Of a line such as `#r 23/36`, for a header without rule.
    rule: Option<Rule>,
    position: Option<(i64, i64)>,
    generation: u64,
}

impl Comments {
    fn take(&mut self, number: usize, line: &str, replaced: Option<Rule>) -> Result<(), Error> {
        if let Some(rule) = line.strip_prefix("#r").filter(|_| replaced.is_none()) {
            self.rule =
                Some(parse_rule(rule).map_err(|what| Error::Rle { line: number, column: 3, what })?);
        }
        let Some(fields) = line.strip_prefix("#CXRLE") else { return Ok(()) };
        for field in fields.split_whitespace() {
            let column = field.as_ptr().addr() - line.as_ptr().addr() + 1;
            self.field(field).map_err(|what| Error::Rle { line: number, column, what })?;
        }
        Ok(())
    }

    /// Takes `Pos=X,Y` or `Gen=N`. Other programs may write other fields.
    fn field(&mut self, field: &str) -> Result<(), String> {
        if let Some(position) = field.strip_prefix("Pos=") {
            let near = |number: &str| number.parse().ok().filter(|at: &i64| at.unsigned_abs() <= FARTHEST);
            let both = position.split_once(',').and_then(|(x, y)| near(x).zip(near(y)));
            self.position = Some(both.ok_or_else(|| bad_field(field, "a column and a row, as `Pos=-1,2`"))?);
        } else if let Some(generation) = field.strip_prefix("Gen=") {
            let generation = generation.parse().ok().filter(|generation| *generation <= FARTHEST);
            self.generation = generation.ok_or_else(|| bad_field(field, "a generation, as `Gen=20`"))?;
        }
        Ok(())
    }

    /// The pattern with what the comments say.
    fn complete(self, body: Body) -> Pattern {
        let Body { pattern, has_rule, .. } = body;
        let rule = self.rule.filter(|_| !has_rule).unwrap_or(pattern.rule);
        Pattern { rule, position: self.position, generation: self.generation, ..pattern }
    }
}

fn bad_field(field: &str, expected: &str) -> String {
    format!("`{}` is not {expected}, of numbers up to 2^60\nhelp: correct it, or remove it", shown(field))
}

/// Reads `x = 3, y = 3, rule = B3/S23`. Returns also whether there is a rule.
fn parse_header(line: usize, text: &str, replaced: Option<Rule>) -> Result<(Pattern, bool), Error> {
    let (mut width, mut height, mut rule) = (None, None, replaced);
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
            "rule" if replaced.is_some() => {}
            "rule" => rule = Some(parse_rule(value).map_err(bad)?),
            name => return Err(bad(format!("unknown field `{}`\n{HEADER_HELP}", shown(name)))),
        }
        match after {
            Some(after) => rest = after,
            None => break,
        }
    }
    match (width, height) {
        (Some(width), Some(height)) => {
            let pattern = Pattern::empty((width, height), rule.unwrap_or(Rule::CONWAY));
            Ok((pattern, rule.is_some()))
        }
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
    /// Whether the header has a rule.
    has_rule: bool,
    x: usize,
    y: usize,
    /// The number before the next tag.
    count: Option<usize>,
    ended: bool,
    /// Whether the byte before was one of `x`, `y` and `z`.
    after_letter: bool,
}

impl Body {
    fn new((pattern, has_rule): (Pattern, bool)) -> Self {
        Body { pattern, has_rule, x: 0, y: 0, count: None, ended: false, after_letter: false }
    }

    /// Takes a line, or the part of it up to the end of the pattern.
    fn line(&mut self, number: usize, line: &str) -> Result<(), Error> {
        for (column, byte) in line.bytes().enumerate() {
            self.take(byte).map_err(|what| Error::Rle { line: number, column: column + 1, what })?;
            if self.ended {
                break;
            }
        }
        Ok(())
    }

    fn take(&mut self, byte: u8) -> Result<(), String> {
        match byte {
            b'0'..=b'9' => {
                let count = self.count.unwrap_or(0) * 10 + usize::from(byte - b'0');
                if count > LONGEST {
                    return Err(format!("a run is longer than {LONGEST}\nhelp: check the numbers"));
                }
                self.count = Some(count);
            }
            b' ' | b'\t' => {}
            b'b' | b'.' => self.cells(false)?,
            // Two letters are a state of a rule with more than two.
            b'A'..=b'Z' if self.after_letter => return Err(unexpected(byte)),
            // Old programs write the living cells of several patterns by several letters.
            b'o' | b'A' | b'x' | b'y' | b'z' => self.cells(true)?,
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
            byte => return Err(unexpected(byte)),
        }
        self.after_letter = matches!(byte, b'x'..=b'z');
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

fn unexpected(byte: u8) -> String {
    format!(
        "unexpected `{}`\nhelp: cells are `b` and `o`, rows end with `$`, the pattern with `!`",
        byte.escape_ascii()
    )
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

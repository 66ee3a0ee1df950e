//! A plot of shares: a bar of 100 % for each row, in groups.

use super::*;

/// Pixels of a row, of its bar, and of the room between groups.
const ROW: i32 = 15;
const THICK: i32 = 11;
const GAP: i32 = 9;
/// Pixels above the first row, for the legend, and below the last one, for the axis.
const HEAD: i32 = 44;
const FOOT: i32 = 50;
/// The left ends of the names, and both ends of the bars.
const NAMES: i32 = 12;
const LEFT: i32 = 210;
const RIGHT: i32 = WIDTH as i32 - 30;
/// The colours of parts, in their order. The stall is black, as in the DANBI paper.
const PARTS: [RGBColor; 6] = [COLOURS[0], COLOURS[1], COLOURS[2], INK, GRID, COLOURS[3]];
const OVERLAP: RGBColor = COLOURS[4];

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The label at its left.
    pub name: String,
    /// Its parts in per cent, one after the other. Their sum may be less than 100: the rest is not known.
    pub parts: Vec<f64>,
    /// A share that the parts contain, as a thin line below the bar.
    pub overlap: Option<f64>,
}

/// Rows in groups.
pub struct Shares<'a> {
    /// The names of the parts, at most six, and of the share that they contain.
    pub names: (&'a [&'a str], &'a str),
    /// The label of the axis.
    pub x: &'a str,
    /// The groups, each with a name.
    pub groups: Vec<(String, Vec<Row>)>,
}

impl Shares<'_> {
    /// The plot; `None` without rows.
    pub fn svg(&self) -> Option<String> {
        let rows: i32 = self.groups.iter().map(|(_, rows)| rows.len() as i32).sum();
        let height = HEAD + rows * ROW + self.groups.len() as i32 * GAP + FOOT;
        (rows > 0).then(|| picture(height as u32, |area| self.draw(area, height - FOOT)))
    }

    fn draw(&self, area: &DrawingArea<SVGBackend, Shift>, bottom: i32) -> Drawn {
        self.legend(area)?;
        self.axis(area, bottom)?;
        let mut y = HEAD;
        for (name, rows) in &self.groups {
            y += GAP;
            write(area, name, (NAMES, y + THICK / 2), HPos::Left)?;
            for row in rows {
                write(area, &row.name, (LEFT - 8, y + THICK / 2), HPos::Right)?;
                bar(area, row, y)?;
                y += ROW;
            }
        }
        Ok(())
    }

    fn legend(&self, area: &DrawingArea<SVGBackend, Shift>) -> Drawn {
        let (parts, overlap) = self.names;
        let entries = parts.iter().zip(PARTS).map(|(name, colour)| (*name, colour, THICK));
        let mut x = NAMES;
        for (name, colour, thick) in entries.chain([(overlap, OVERLAP, 3)]) {
            fill(area, [(x, 24 - thick / 2), (x + 14, 24 - thick / 2 + thick)], colour)?;
            write(area, name, (x + 20, 24), HPos::Left)?;
            x += 34 + 8 * name.len() as i32;
        }
        Ok(())
    }

    fn axis(&self, area: &DrawingArea<SVGBackend, Shift>, bottom: i32) -> Drawn {
        for percent in (0..=100).step_by(20) {
            let x = at(f64::from(percent));
            area.draw(&PathElement::new([(x, HEAD), (x, bottom)], GRID))?;
            write(area, &percent.to_string(), (x, bottom + 12), HPos::Center)?;
        }
        write(area, self.x, ((LEFT + RIGHT) / 2, bottom + 34), HPos::Center)
    }
}

/// The place of a share in per cent.
fn at(percent: f64) -> i32 {
    LEFT + (percent.clamp(0.0, 100.0) / 100.0 * f64::from(RIGHT - LEFT)).round() as i32
}

fn bar(area: &DrawingArea<SVGBackend, Shift>, row: &Row, y: i32) -> Drawn {
    let mut sum = 0.0;
    for (part, colour) in row.parts.iter().zip(PARTS) {
        let from = at(sum);
        sum += part;
        if at(sum) > from {
            fill(area, [(from, y), (at(sum), y + THICK)], colour)?;
        }
    }
    if let Some(overlap) = row.overlap.filter(|overlap| at(*overlap) > LEFT) {
        fill(area, [(LEFT, y + THICK), (at(overlap), y + THICK + 2)], OVERLAP)?;
    }
    Ok(())
}

fn fill(area: &DrawingArea<SVGBackend, Shift>, corners: [(i32, i32); 2], colour: RGBColor) -> Drawn {
    Ok(area.draw(&Rectangle::new(corners, colour.filled()))?)
}

fn write(area: &DrawingArea<SVGBackend, Shift>, text: &str, place: (i32, i32), side: HPos) -> Drawn {
    let style = (FONT, 13).into_font().color(&INK).pos(Pos::new(side, VPos::Center));
    Ok(area.draw(&Text::new(text.to_owned(), place, style))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_one_after_the_other() {
        let row = Row { name: "fair".into(), parts: vec![50.0, 0.0, 25.0], overlap: Some(10.0) };
        let shares = Shares {
            names: (&["work", "queue", "stall"], "kernel"),
            x: "%",
            groups: vec![("sort".into(), vec![row])],
        };
        let svg = shares.svg().unwrap();
        for word in ["fair", "sort", "work", "queue", "stall", "kernel", "prefers-color-scheme"] {
            assert!(svg.contains(word), "{word}: {svg}");
        }
        let bar = |from: f64, to: f64, thick: i32| {
            format!("<rect x=\"{}\" y=\"{}\" width=\"{}\"", at(from), HEAD + GAP + thick, at(to) - at(from))
        };
        assert!(svg.contains(&bar(0.0, 50.0, 0)) && svg.contains(&bar(50.0, 75.0, 0)), "{svg}");
        assert!(svg.contains(&bar(0.0, 10.0, THICK)), "{svg}");
        assert!(Shares { groups: Vec::new(), ..shares }.svg().is_none());
    }
}

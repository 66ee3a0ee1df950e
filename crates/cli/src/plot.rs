//! Plots of lines over whole numbers, as SVG.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;

const SIZE: (u32, u32) = (760, 420);
const FONT: (&str, i32) = ("sans-serif", 13);
const INK: RGBColor = RGBColor(0x24, 0x29, 0x2f);
const GRID: RGBColor = RGBColor(0xd0, 0xd7, 0xde);
const COLOURS: [RGBColor; 6] = [
    RGBColor(0x2f, 0x81, 0xf7),
    RGBColor(0xd9, 0x73, 0x0d),
    RGBColor(0x2d, 0xa4, 0x4e),
    RGBColor(0xa3, 0x71, 0xf7),
    RGBColor(0xe5, 0x53, 0x4b),
    RGBColor(0x8b, 0x94, 0x9e),
];

/// A line of a plot.
pub(crate) struct Line {
    /// Its name in the legend; one line alone needs none.
    pub(crate) name: String,
    /// Its points, in the order of x.
    pub(crate) points: Vec<(u64, f64)>,
}

/// Lines with two axes.
pub(crate) struct Lines<'a> {
    /// The label of the x axis.
    pub(crate) x: &'a str,
    /// The label of the y axis, with its unit.
    pub(crate) y: &'a str,
    /// Whether the y axis is logarithmic: then numbers of 0 have no place on it. Otherwise it begins at 0.
    pub(crate) logarithmic: bool,
    /// The lines.
    pub(crate) lines: Vec<Line>,
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

impl Lines<'_> {
    /// The plot.
    pub(crate) fn svg(&self) -> String {
        let mut svg = String::new();
        self.draw(&mut svg).expect("drawing into memory does not fail");
        svg
    }

    /// The points of a line that have a place.
    fn points<'l>(&self, line: &'l Line) -> impl Iterator<Item = (u64, f64)> + 'l {
        let logarithmic = self.logarithmic;
        line.points.iter().copied().filter(move |(_, y)| y.is_finite() && (!logarithmic || *y > 0.0))
    }

    fn draw(&self, svg: &mut String) -> Drawn {
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let all: Vec<(u64, f64)> = self.lines.iter().flat_map(|line| self.points(line)).collect();
        let ys = |start, fold: fn(f64, f64) -> f64| all.iter().map(|point| point.1).fold(start, fold);
        if self.logarithmic {
            let (least, most) = (ys(0.1, f64::min), ys(0.1, f64::max));
            let bottom = 10f64.powf(least.log10().floor());
            self.draw_on(&area, &all, (bottom..most * 1.5).log_scale(), &|y| format!("{y:.0e}"))?;
        } else {
            let most = ys(0.0, f64::max);
            let top = if most > 0.0 { most * 1.05 } else { 1.0 };
            let digits = (3.0 - top.log10().floor()).clamp(0.0, 300.0) as usize;
            self.draw_on(&area, &all, 0.0..top, &|y| label(*y, digits))?;
        }
        area.present()?;
        Ok(())
    }

    fn draw_on<Y>(
        &self,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
        all: &[(u64, f64)],
        range: Y,
        tick: &dyn Fn(&f64) -> String,
    ) -> Drawn
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let first = all.iter().map(|point| point.0).min().unwrap_or(1);
        let last = all.iter().map(|point| point.0).max().unwrap_or(1).max(first + 1);
        let style = FONT.into_font().color(&INK);
        let mut chart = ChartBuilder::on(area)
            .margin(16)
            .x_label_area_size(46)
            .y_label_area_size(66)
            .build_cartesian_2d(first..last, range)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .axis_style(INK)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .label_style(style.clone())
            .axis_desc_style(style.clone())
            .y_label_formatter(&tick)
            .x_desc(self.x)
            .y_desc(self.y)
            .draw()?;
        for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            let drawn = chart.draw_series(LineSeries::new(self.points(line), colour.stroke_width(2)))?;
            if !line.name.is_empty() {
                let key = |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2));
                drawn.label(&line.name).legend(key);
            }
            chart.draw_series(self.points(line).map(|point| Circle::new(point, 2, colour.filled())))?;
        }
        if self.lines.iter().any(|line| !line.name.is_empty()) {
            let mut legend = chart.configure_series_labels();
            let legend = legend.position(SeriesLabelPosition::LowerRight).label_font(style);
            legend.background_style(WHITE.mix(0.8)).border_style(GRID).draw()?;
        }
        Ok(())
    }
}

/// A number with at most `digits` decimal places.
fn label(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(logarithmic: bool, points: &[(u64, f64)]) -> String {
        let line = Line { name: String::new(), points: points.to_vec() };
        Lines { x: "threads", y: "items a second", logarithmic, lines: vec![line] }.svg()
    }

    #[test]
    fn a_plot_has_a_point_for_each_number_that_has_a_place() {
        for (points, logarithmic, linear) in [
            (&[(1, 0.5), (2, 0.01), (3, 1e-9)][..], 3, 3),
            (&[(1, 0.0)], 0, 1),
            (&[], 0, 0),
            (&[(1, 1e-300), (2, 2.0)], 2, 2),
            (&[(1, f64::INFINITY), (7, f64::NAN)], 0, 0),
        ] {
            for (is_logarithmic, count) in [(true, logarithmic), (false, linear)] {
                let svg = lines(is_logarithmic, points);
                assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
                assert_eq!(svg.matches("<circle").count(), count, "{svg}");
                assert!(!svg.contains("9999"), "a label has digits of rounding: {svg}");
                assert!(svg.contains("threads") && svg.contains("items a second"));
            }
        }
    }

    #[test]
    fn a_plot_of_several_lines_names_them() {
        let line = |name: &str, y| Line { name: name.to_owned(), points: vec![(1, y), (2, 2.0 * y)] };
        let lines = vec![line("capacity 8 & more", 1.0), line("bound", 2.0)];
        let svg = Lines { x: "x", y: "y", logarithmic: false, lines }.svg();
        assert!(svg.contains("capacity 8 &amp; more") && svg.contains("bound"), "{svg}");
    }
}

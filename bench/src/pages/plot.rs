//! Plots, as SVG for light and dark pages.

pub mod curves;
pub mod scatter;
pub mod shares;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const WIDTH: u32 = 760;
/// Pixels of a bar, with the room around it.
const BAR: u32 = 22;
const FONT: &str = "sans-serif";
const PAPER: RGBColor = RGBColor(0xff, 0xff, 0xff);
const INK: RGBColor = RGBColor(0x24, 0x29, 0x2f);
const GRID: RGBColor = RGBColor(0xd0, 0xd7, 0xde);
/// The colours of series, which contrast with both backgrounds; the last one is for other systems.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0x2f, 0x81, 0xf7),
    RGBColor(0xd9, 0x73, 0x0d),
    RGBColor(0x2d, 0xa4, 0x4e),
    RGBColor(0xa3, 0x71, 0xf7),
    RGBColor(0xe5, 0x53, 0x4b),
    RGBColor(0x8b, 0x94, 0x9e),
];
const GREY: RGBColor = COLOURS[5];
/// The style for dark pages.
const DARK: &str = "<style>@media (prefers-color-scheme: dark) {\
 [fill=\"#FFFFFF\"] { fill: #0d1117 } [fill=\"#24292F\"] { fill: #e6edf3 }\
 [stroke=\"#24292F\"] { stroke: #e6edf3 } [stroke=\"#D0D7DE\"] { stroke: #30363d } }</style>";

/// One line of a plot.
#[derive(Clone, Debug)]
pub struct Series {
    /// The label at its end.
    pub name: String,
    /// Its points, in the order of x.
    pub points: Vec<(f64, f64)>,
    /// Whether it belongs to another system: then it is grey.
    pub other: bool,
}

/// Lines over a few values of x, at equal distances.
pub struct Lines<'a> {
    /// The label of the x axis, with its unit.
    pub x: &'a str,
    /// The label of the y axis, with its unit.
    pub y: &'a str,
    /// Formats a value of x.
    pub tick: fn(f64) -> String,
    /// The end of the y axis. It begins slightly below the lowest point, or at 0 if that is less than half of the end.
    pub top: f64,
    /// Whether the y axis is logarithmic: then it begins at the power of ten below the lowest point.
    pub logarithmic: bool,
    /// The lines.
    pub series: Vec<Series>,
}

impl Lines<'_> {
    /// The plot; `None` for less than two values of x.
    pub fn svg(&self) -> Option<String> {
        let mut ticks: Vec<f64> =
            self.series.iter().flat_map(|series| &series.points).map(|point| point.0).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let range = self.bottom()..self.top;
        (ticks.len() >= 2).then(|| {
            picture(380, |area| match self.logarithmic {
                true => self.draw(area, &ticks, range.log_scale()),
                false => self.draw(area, &ticks, range),
            })
        })
    }

    fn bottom(&self) -> f64 {
        let ys = self.series.iter().flat_map(|series| &series.points).map(|point| point.1);
        let least = ys.fold(self.top, f64::min);
        if self.logarithmic {
            return 10f64.powf(least.log10().floor());
        }
        let tenths = (least * 10.0 - 0.5).floor();
        if tenths < self.top * 5.0 { 0.0 } else { tenths / 10.0 }
    }

    /// The heights of the labels at the ends of the lines, such that they do not overlap.
    fn places(&self) -> Vec<f64> {
        let ends = self.series.iter().map(end);
        if !self.logarithmic {
            return spread(ends.collect(), (self.top - self.bottom()) / 20.0);
        }
        let gap = (self.top / self.bottom()).log10() / 20.0;
        spread(ends.map(f64::log10).collect(), gap).into_iter().map(|y| 10f64.powf(y)).collect()
    }

    fn draw<Y>(&self, area: &DrawingArea<SVGBackend, Shift>, ticks: &[f64], range: Y) -> Drawn
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let last = ticks.len() as i32 - 1;
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .margin_right(190)
            .x_label_area_size(46)
            .y_label_area_size(58)
            .build_cartesian_2d(0..last, range)?;
        let style = (FONT, 13).into_font().color(&INK);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .axis_style(INK)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .label_style(style.clone())
            .axis_desc_style(style)
            .x_labels(ticks.len() + 1)
            .x_label_formatter(&|at| ticks.get(*at as usize).map_or(String::new(), |x| (self.tick)(*x)))
            .y_label_formatter(&|y| if self.logarithmic { format!("{y}") } else { format!("{y:.2}") })
            .x_desc(self.x)
            .y_desc(self.y)
            .draw()?;
        let others: Vec<bool> = self.series.iter().map(|series| series.other).collect();
        for ((series, colour), place) in self.series.iter().zip(colours(&others)).zip(self.places()) {
            let at = |x: f64| ticks.partition_point(|tick| *tick < x) as i32;
            let points: Vec<_> = series.points.iter().map(|(x, y)| (at(*x), *y)).collect();
            chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
            chart.draw_series(points.iter().map(|point| Circle::new(*point, 3, colour.filled())))?;
            let style = (FONT, 13).into_font().color(&colour).pos(Pos::new(HPos::Left, VPos::Center));
            let end = (points.last().map_or(last, |point| point.0), place);
            chart.draw_series([EmptyElement::at(end) + Text::new(series.name.clone(), (8, 0), style)])?;
        }
        Ok(())
    }
}

/// The y value of a line's last point.
fn end(series: &Series) -> f64 {
    series.points.last().map_or(0.0, |point| point.1)
}

/// Our series have the colours in turn, the others are grey.
fn colours(others: &[bool]) -> Vec<RGBColor> {
    let mut next = COLOURS[..5].iter().copied().cycle();
    let colour = |other: &bool| if *other { GREY } else { next.next().expect("the iterator cycles") };
    others.iter().map(colour).collect()
}

/// Moves values down until no two are nearer than `gap`; keeps their order.
fn spread(values: Vec<f64>, gap: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    let (mut moved, mut above) = (values, f64::INFINITY);
    for at in order {
        moved[at] = moved[at].min(above - gap);
        above = moved[at];
    }
    moved
}

/// One bar of a plot.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The label.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// Whether it belongs to another system: then it is grey.
    pub other: bool,
}

/// Bars on a logarithmic scale, from top to bottom, with their values in a unit.
pub fn bars(what: &str, unit: &str, bars: &[Bar]) -> Option<String> {
    let values = || bars.iter().map(|bar| bar.value);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let low = 10f64.powf((least / 2.0).log10().floor());
    (!bars.is_empty()).then(|| {
        picture(76 + BAR * bars.len() as u32, |area| draw_bars(area, (what, unit), bars, low..most * 1.5))
    })
}

fn draw_bars(
    area: &DrawingArea<SVGBackend, Shift>,
    (what, unit): (&str, &str),
    bars: &[Bar],
    range: std::ops::Range<f64>,
) -> Drawn {
    let (rows, low) = (bars.len() as i32, range.start);
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .margin_right(90)
        .x_label_area_size(46)
        .y_label_area_size(190)
        .build_cartesian_2d(range.log_scale(), (0..rows).into_segmented())?;
    let style = (FONT, 13).into_font().color(&INK);
    // The first bar is at the top.
    let name = |row: &SegmentValue<i32>| match row {
        SegmentValue::CenterOf(row) => {
            bars.get((rows - 1 - row) as usize).map_or("", |bar| &bar.name).to_owned()
        }
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .label_style(style.clone())
        .axis_desc_style(style.clone())
        .y_labels(bars.len() + 1)
        .y_label_formatter(&name)
        .x_label_formatter(&|x| format!("{x}"))
        .x_desc(what)
        .draw()?;
    for (bar, row) in bars.iter().zip((0..rows).rev()) {
        let colour = if bar.other { GREY } else { COLOURS[0] };
        let corners = [(low, SegmentValue::Exact(row)), (bar.value, SegmentValue::Exact(row + 1))];
        let mut shape = Rectangle::new(corners, colour.filled());
        shape.set_margin(4, 4, 0, 0);
        chart.draw_series([shape])?;
        let style = style.clone().pos(Pos::new(HPos::Left, VPos::Center));
        let end = (bar.value, SegmentValue::CenterOf(row));
        let value = super::table::number(bar.value, unit);
        chart.draw_series([EmptyElement::at(end) + Text::new(value, (6, 0), style)])?;
    }
    Ok(())
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A picture with its own background and the style for dark pages.
fn picture(height: u32, draw: impl FnOnce(&DrawingArea<SVGBackend, Shift>) -> Drawn) -> String {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let drawn = area.fill(&PAPER).map_err(Into::into).and_then(|()| draw(&area));
        drawn.and_then(|()| Ok(area.present()?)).expect("drawing into memory does not fail");
    }
    let head = svg.find("<svg").and_then(|start| Some(start + svg[start..].find('>')? + 1));
    svg.insert_str(head.expect("the text has an svg element"), DARK);
    svg
}

/// From the least to the greatest of positive values, each times a factor that leaves a margin.
fn range(values: impl Iterator<Item = f64>, low: f64, high: f64) -> std::ops::Range<f64> {
    let both = |(least, most), value| (f64::min(least, value), f64::max(most, value));
    let (least, most) = values.fold((f64::INFINITY, 0.0), both);
    least * low..most * high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_overlap() {
        assert_eq!(spread(vec![0.5, 1.0, 0.95], 0.25), [0.5, 1.0, 0.75]);
        assert_eq!(spread(vec![1.0, 1.0, 1.0], 0.25), [1.0, 0.75, 0.5]);
    }

    #[test]
    fn a_picture_shows_names_axes_and_values() {
        let series = Series { name: "system".into(), points: vec![(1.0, 0.5), (8.0, 0.75)], other: false };
        for logarithmic in [false, true] {
            let (tick, series) = (|x| format!("{x} B"), vec![series.clone()]);
            let svg = Lines { x: "size", y: "speed", tick, top: 1.0, logarithmic, series }.svg().unwrap();
            let words = ["system", "size", "speed", "8 B", "prefers-color-scheme"];
            assert!(words.iter().all(|word| svg.contains(word)), "{svg}");
        }
        let svg = bars("time (ns)", "ns", &[Bar { name: "peer".into(), value: 12.5, other: true }]).unwrap();
        assert!(["peer", "12.50 ns", "time (ns)"].iter().all(|word| svg.contains(word)), "{svg}");
    }
}

//! A plot of curves: one cost over another.

use super::*;

/// A curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The label at its last point.
    pub name: String,
    /// Its points in their order, each with a label of its own.
    pub points: Vec<(f64, f64, String)>,
    /// Whether it belongs to another system: then it is grey.
    pub other: bool,
}

/// Curves over a logarithmic x axis.
pub struct Curves<'a> {
    /// The label of the x axis, with its unit.
    pub x: &'a str,
    /// The label of the y axis, with its unit.
    pub y: &'a str,
    /// The curves.
    pub curves: Vec<Curve>,
}

impl Curves<'_> {
    /// The plot; `None` without points.
    pub fn svg(&self) -> Option<String> {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let ranges = (
            range(points().map(|point| point.0), 0.8, 1.25),
            range(points().map(|point| point.1), 0.95, 1.05),
        );
        points().next()?;
        Some(picture(380, |area| self.draw(area, ranges)))
    }

    fn draw(
        &self,
        area: &DrawingArea<SVGBackend, Shift>,
        (xs, ys): (std::ops::Range<f64>, std::ops::Range<f64>),
    ) -> Drawn {
        let ends = self.curves.iter().map(|curve| curve.points.last().map_or(0.0, |point| point.1));
        let places = spread(ends.collect(), (ys.end - ys.start) / 20.0);
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .margin_right(150)
            .x_label_area_size(46)
            .y_label_area_size(58)
            .build_cartesian_2d(xs.log_scale(), ys)?;
        let style = (FONT, 13).into_font().color(&INK);
        chart
            .configure_mesh()
            .axis_style(INK)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .label_style(style.clone())
            .axis_desc_style(style)
            .x_labels(8)
            .x_label_formatter(&|x| format!("{}", (x * 1e3).round() / 1e3))
            .y_label_formatter(&|y| format!("{y:.1}"))
            .x_desc(self.x)
            .y_desc(self.y)
            .draw()?;
        let others: Vec<bool> = self.curves.iter().map(|curve| curve.other).collect();
        for ((curve, colour), place) in self.curves.iter().zip(colours(&others)).zip(places) {
            let points: Vec<_> = curve.points.iter().map(|(x, y, _)| (*x, *y)).collect();
            chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
            chart.draw_series(points.iter().map(|point| Circle::new(*point, 3, colour.filled())))?;
            let style = |size| (FONT, size).into_font().color(&colour);
            let above = style(11).pos(Pos::new(HPos::Center, VPos::Bottom));
            chart.draw_series(curve.points.iter().map(|(x, y, label)| {
                EmptyElement::at((*x, *y)) + Text::new(label.clone(), (0, -5), above.clone())
            }))?;
            let Some((last, ..)) = points.last() else { continue };
            let beside = style(13).pos(Pos::new(HPos::Left, VPos::Center));
            chart.draw_series([
                EmptyElement::at((*last, place)) + Text::new(curve.name.clone(), (8, 0), beside)
            ])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_shows_its_name_its_axes_and_the_labels_of_its_points() {
        let points = vec![(0.5, 20.0, "1".into()), (2.5, 15.0, "best".into())];
        let curves = vec![Curve { name: "system".into(), points, other: false }];
        let svg = Curves { x: "seconds", y: "megabytes", curves }.svg().unwrap();
        assert!(["system", "seconds", "megabytes", "best"].iter().all(|word| svg.contains(word)), "{svg}");
        assert!(Curves { x: "", y: "", curves: Vec::new() }.svg().is_none());
    }
}

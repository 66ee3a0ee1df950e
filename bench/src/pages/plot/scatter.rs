//! A plot of points over a common measure, with the line on which both are equal.

use super::*;

/// Points of a contestant.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// Its name.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// Clouds over logarithmic axes.
pub struct Scatter<'a> {
    /// The label of the x axis, with its unit.
    pub x: &'a str,
    /// The label of the y axis, with its unit.
    pub y: &'a str,
    /// The clouds, at most as many as there are colours.
    pub clouds: Vec<Cloud>,
}

impl Scatter<'_> {
    /// The plot; `None` without points.
    pub fn svg(&self) -> Option<String> {
        let points = || self.clouds.iter().flat_map(|cloud| &cloud.points);
        points().next()?;
        let xs = range(points().map(|point| point.0), 0.8, 1.25);
        let ys = range(points().map(|point| point.1), 0.8, 1.25);
        // The line is to be seen from end to end.
        let ys = ys.start.min(xs.start)..ys.end.max(xs.end);
        Some(picture(380, |area| self.draw(area, xs, ys)))
    }

    fn draw(
        &self,
        area: &DrawingArea<SVGBackend, Shift>,
        xs: std::ops::Range<f64>,
        ys: std::ops::Range<f64>,
    ) -> Drawn {
        let line = [(xs.start, xs.start), (xs.end, xs.end)];
        let (end, top, factor) = (xs.end, ys.end, (ys.end / ys.start).powf(0.07));
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .margin_right(190)
            .x_label_area_size(46)
            .y_label_area_size(70)
            .build_cartesian_2d(xs.log_scale(), ys.log_scale())?;
        let style = (FONT, 13).into_font().color(&INK);
        chart
            .configure_mesh()
            .axis_style(INK)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .label_style(style.clone())
            .axis_desc_style(style)
            .x_labels(6)
            .x_label_formatter(&|x| format!("{}", x.round()))
            .y_label_formatter(&|y| format!("{}", y.round()))
            .x_desc(self.x)
            .y_desc(self.y)
            .draw()?;
        chart.draw_series(LineSeries::new(line, INK.stroke_width(1)))?;
        for (at, (cloud, colour)) in self.clouds.iter().zip(COLOURS).enumerate() {
            chart.draw_series(cloud.points.iter().map(|point| Circle::new(*point, 3, colour.filled())))?;
            let style = (FONT, 13).into_font().color(&colour).pos(Pos::new(HPos::Left, VPos::Center));
            let place = (end, top / factor.powf(at as f64 + 0.5));
            chart.draw_series([EmptyElement::at(place) + Text::new(cloud.name.clone(), (8, 0), style)])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scatter_shows_names_and_points() {
        let cloud = Cloud { name: "system".into(), points: vec![(10.0, 20.0), (300.0, 150.0)] };
        let svg = Scatter { x: "seconds", y: "of others", clouds: vec![cloud] }.svg().unwrap();
        assert!(["system", "seconds", "of others"].iter().all(|word| svg.contains(word)), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(Scatter { x: "", y: "", clouds: Vec::new() }.svg().is_none());
    }
}

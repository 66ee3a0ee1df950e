//! A plot of the changes of the ranks.

use plotters::prelude::*;

const INK: RGBColor = RGBColor(0x24, 0x29, 0x2f);
const GRID: RGBColor = RGBColor(0xd0, 0xd7, 0xde);
const LINE: RGBColor = RGBColor(0x2f, 0x81, 0xf7);

/// The residual by iteration, with a logarithmic axis, as SVG. Residuals of 0 have no place on it.
pub(crate) fn convergence(residuals: &[f64]) -> String {
    let mut svg = String::new();
    draw(&mut svg, residuals).expect("drawing into memory does not fail");
    svg
}

fn draw(svg: &mut String, residuals: &[f64]) -> Result<(), Box<dyn std::error::Error>> {
    let numbered = (1..).zip(residuals);
    let points: Vec<(i32, f64)> = numbered.filter(|(_, y)| **y > 0.0).map(|(x, y)| (x, *y)).collect();
    let least = points.iter().fold(0.1, |least: f64, point| least.min(point.1));
    let most = points.iter().fold(0.1, |most: f64, point| most.max(point.1));
    let bottom = 10f64.powf(least.log10().floor());
    let last = residuals.len().max(2) as i32;

    let area = SVGBackend::with_string(svg, (760, 420)).into_drawing_area();
    area.fill(&WHITE)?;
    let style = ("sans-serif", 13).into_font().color(&INK);
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .x_label_area_size(46)
        .y_label_area_size(66)
        .build_cartesian_2d(1..last, (bottom..most * 1.5).log_scale())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .label_style(style.clone())
        .axis_desc_style(style)
        .y_label_formatter(&|y| format!("{y:.0e}"))
        .x_desc("iteration")
        .y_desc("sum of the absolute changes of all ranks")
        .draw()?;
    chart.draw_series(LineSeries::new(points.iter().copied(), LINE.stroke_width(2)))?;
    chart.draw_series(points.iter().map(|point| Circle::new(*point, 2, LINE.filled())))?;
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_a_point_for_each_iteration_with_changes() {
        for (residuals, points) in [(&[0.5, 0.01, 1e-9][..], 3), (&[0.0], 0), (&[], 0), (&[1e-300, 2.0], 2)] {
            let svg = convergence(residuals);
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
            assert_eq!(svg.matches("<circle").count(), points, "{svg}");
            assert!(!svg.contains("9999"), "a label has digits of rounding: {svg}");
        }
    }
}

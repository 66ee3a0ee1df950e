//! The timeline as an SVG document: as many threads as a paper's figure has, in few bytes.

use super::overview::{self, Look, WIDTH};
use super::{OTHER, Shown, legend};
use crate::page::escape::Text;
use crate::page::graph::Picture;
use crate::page::put;
use thalweg_trace::{Report, Timeline};

/// Thin rows without heights.
const LOOK: Look = Look { row: 12.0, bar: 10.0, is_full: true };

/// The height of a row of the legend.
const ENTRY: f64 = 18.0;

/// Entries in a row of the legend.
const ENTRIES: usize = 4;

/// The document.
pub(in crate::page) fn svg(
    report: &Report,
    timeline: &Timeline,
    picture: &Picture,
    colours: &[Option<usize>],
) -> String {
    let shown = Shown::new(report, timeline, picture, colours);
    let entries = legend(&shown);
    let rows = LOOK.height(&shown);
    let height = rows + ENTRY * entries.len().div_ceil(ENTRIES) as f64 + 6.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title\" width=\"{WIDTH}\" \
         height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\">\n<title id=\"title\">{}</title>\n<style>{}</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
        overview::title(&shown),
        style(include_str!("../colours.css"))
    );
    overview::rows(&mut svg, &shown, &LOOK);
    for (at, (class, label)) in entries.iter().enumerate() {
        let x = 4.0 + (at % ENTRIES) as f64 * WIDTH / ENTRIES as f64;
        let y = rows + ENTRY * ((at / ENTRIES) as f64 + 0.5);
        put!(
            svg,
            "<path class=\"{class}\" d=\"M{x} {y}h12\"/><text x=\"{}\" y=\"{}\">{}</text>\n",
            x + 18.0,
            y + 4.0,
            Text(label)
        );
    }
    svg + "</svg>\n"
}

/// The style, with the page's colours. They stand in the rules themselves, since few programs but browsers know variables.
fn style(colours: &str) -> String {
    let (light, dark) = colours.split_once("@media").unwrap_or((colours, ""));
    let mut style = format!(
        "text{{font:11px system-ui,sans-serif}}path{{stroke-width:{}}}.tick{{stroke-width:1}}{}",
        LOOK.bar,
        rules(light)
    );
    put!(style, "@media(prefers-color-scheme:dark){{{}}}", rules(dark));
    style
}

/// A rule for each class whose colour is among these variables.
fn rules(variables: &str) -> String {
    let mut rules = String::new();
    let mut rule = |selector: &str, property: &str, variable: &str| {
        if let Some(value) = value(variables, variable) {
            put!(rules, "{selector}{{{property}:{value}}}");
        }
    };
    rule(".paper", "fill", "paper");
    rule("text", "fill", "quiet");
    rule(".tick", "stroke", "line");
    for (class, variable) in [("stall", "stall"), ("spin", "idle"), ("park", "sleep")] {
        rule(&format!(".{class}"), "stroke", variable);
    }
    for colour in 0..=OTHER {
        rule(&format!(".c{colour}"), "stroke", &format!("c{colour}"));
    }
    rules
}

/// The value of a variable.
fn value<'c>(variables: &'c str, name: &str) -> Option<&'c str> {
    let (_, rest) = variables.split_once(&format!("--{name}: "))?;
    rest.split_once(';').map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_has_the_colours_of_the_page() {
        let style = style(include_str!("../colours.css"));
        let (light, dark) = style.split_once("@media").unwrap();
        let classes = ["paper", "tick", "stall", "spin", "park", "c0", "c8"];
        assert!(classes.iter().all(|class| light.contains(&format!(".{class}{{"))), "{light}");
        assert!(
            light.contains(".stall{stroke:#000000}") && dark.contains(".stall{stroke:#ffffff}"),
            "{style}"
        );
    }
}

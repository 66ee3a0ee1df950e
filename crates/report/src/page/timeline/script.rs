//! The part of the timeline that needs a script: a canvas, its data and its buttons. It is hidden until the script has
//! run.

use super::{Shown, data};
use crate::page::put;

/// Writes the canvas, the data and the script.
pub(super) fn write(out: &mut String, shown: &Shown<'_>) {
    let (json, left_out) = data::json(shown);
    out.push_str(
        "<div id=\"zoom\">\n<h3>Zoom</h3>\n<p class=\"quiet\">Drag to move; the buttons, + and −, or Ctrl and the wheel \
         zoom; point at a bar to see what it is.</p>\n<p><button type=\"button\" data-zoom=\"2\">Zoom in</button> \
         <button type=\"button\" data-zoom=\"0.5\">Zoom out</button> <button type=\"button\" data-zoom=\"0\">Whole run\
         </button></p>\n<canvas tabindex=\"0\" aria-label=\"The timeline, enlarged. The picture above has the whole run.\">\
         </canvas>\n<output></output>\n",
    );
    if left_out > 0 {
        put!(out, "<p class=\"quiet\">The {left_out} shortest events are not in this picture.</p>\n");
    }
    out.push_str("</div>\n");
    put!(out, "<script type=\"application/json\" id=\"events\">{json}</script>\n");
    put!(out, "<script>\n{}</script>\n", include_str!("../script.js"));
}

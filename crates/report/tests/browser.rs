//! Pages in a browser: no script fails, no text leaves its box, and no page is wider than its window. Screenshots stay in
//! `target/tmp/pages`, for a look.
//!
//! Without Chromium these tests pass after a message; `tests/page.rs` checks the structure of pages without a browser.

use crate::common::html::parse;
use crate::common::invented;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use thalweg_report::ReportExt;

/// Measures the page when all is drawn, and keeps what is wrong in an attribute of the root.
const MEASURE: &str = r#"<script>
addEventListener("load", function () {
  var wrong = [], root = document.documentElement;
  document.querySelectorAll("svg.graph g.box").forEach(function (box) {
    var papers = box.querySelectorAll("rect.paper"), paper = papers[papers.length - 1].getBBox(), lines = [];
    box.querySelectorAll("text").forEach(function (text) {
      var place = text.getBBox();
      if (place.x < paper.x || place.x + place.width > paper.x + paper.width || place.y < paper.y ||
          place.y + place.height > paper.y + paper.height) { wrong.push("text leaves its box: " + text.textContent); }
      if (lines.some(function (y) { return Math.abs(y - place.y) < 10; })) { wrong.push("lines overlap"); }
      lines.push(place.y);
    });
  });
  if (root.scrollWidth > innerWidth) { wrong.push("the page is " + root.scrollWidth + " wide"); }
  var canvas = document.querySelector("canvas");
  if (canvas && !Array.from(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data).some(Boolean)) {
    wrong.push("the canvas is empty");
  }
  root.dataset.boxes = document.querySelectorAll("svg.graph g.box").length;
  root.dataset.wrong = wrong.join("; ");
});
</script>
"#;

/// The first Chromium that is installed, or the one that the environment names.
fn browser() -> Option<PathBuf> {
    if let Some(path) = env::var_os("THALWEG_BROWSER") {
        return Some(path.into());
    }
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let paths = folders.iter().flat_map(|folder| names.map(|name| folder.join(name)));
    paths.into_iter().find(|path| path.is_file())
}

/// Runs the browser without a window, a network or a profile of the user.
fn run(browser: &Path, folder: &Path, arguments: &[String], page: &Path) -> String {
    let profile = folder.join("profile");
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--hide-scrollbars",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--timeout=20000",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .output()
        .expect("the browser starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn pages_are_drawn_by_a_browser() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium in PATH, and THALWEG_BROWSER is not set");
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs::create_dir_all(&folder).unwrap();
    for nodes in [12, 10_000] {
        let report = invented::report(nodes);
        let page = folder.join(format!("{nodes}.html"));
        fs::write(&page, report.to_html().replace("</body>", &format!("{MEASURE}</body>"))).unwrap();
        let dom = run(&browser, &folder, &["--window-size=1400,900".into(), "--dump-dom".into()], &page);
        let root = dom.lines().find(|line| line.starts_with("<html")).expect("a root");
        assert!(root.contains("data-script=\"ran\""), "the script has run: {root}");
        assert!(root.contains("data-wrong=\"\""), "{nodes} nodes: {root}");
        let boxes = parse(&report.to_html()).iter().filter(|e| e.name == "g" && e.has_class("box")).count();
        assert!(root.contains(&format!("data-boxes=\"{boxes}\"")), "{root}");
        let themes = if nodes == 12 { &[("light", 1), ("dark", 0)][..] } else { &[("light", 1)] };
        for (theme, number) in themes {
            let picture = folder.join(format!("{nodes}-{theme}.png"));
            _ = fs::remove_file(&picture);
            let arguments = [
                "--window-size=1400,2400".to_owned(),
                format!("--blink-settings=preferredColorScheme={number}"),
                format!("--screenshot={}", picture.display()),
            ];
            run(&browser, &folder, &arguments, &page);
            assert!(fs::metadata(&picture).is_ok_and(|meta| meta.len() > 20_000), "{}", picture.display());
        }
    }
    _ = fs::remove_dir_all(folder.join("profile"));
}

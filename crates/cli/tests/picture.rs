//! The commands `thalweg blur` and `thalweg despeckle`.

use std::fs::{self, File};
use std::io::{Cursor, Write};
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::{TempDir, tempdir};
use thalweg_danbi::srad::{Plane, Region};
use thalweg_danbi::{Colour, Image, rg, srad};

use crate::child::Command;

fn run(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    _ = child.stdin.take().expect("piped").write_all(input); // a run that fails reads nothing
    child.output()
}

/// A folder with pictures.
fn folder(pictures: &[(&str, &Image)]) -> TempDir {
    let folder = tempdir().unwrap();
    for (name, image) in pictures {
        image.write_png(File::create(folder.path().join(name)).unwrap()).unwrap();
    }
    folder
}

fn read(bytes: &[u8]) -> Image {
    Image::read_png(Cursor::new(bytes), 1 << 20).expect("a PNG file")
}

/// A picture of many colours and opacities.
fn coloured() -> Image {
    let pixel = |i: u32| [i * 7, i * 131, i * 3, 255 - i / 9].map(|value| value as u8);
    Image::new(40, (0..40 * 30).map(pixel).collect(), Colour::Rgba)
}

#[test]
fn pictures_are_blurred_at_any_number_of_threads() {
    let image = coloured();
    let folder = folder(&[("in.png", &image)]);
    let expected = rg::sequential(std::slice::from_ref(&image), &rg::Parameters { sigma: 2.5 });
    for threads in ["1", "3"] {
        let output = run(
            folder.path(),
            &["blur", "in.png", "--radius", "2.5", "-fo", "out.png", "--threads", threads],
            &[],
        );
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        assert_eq!(read(&fs::read(folder.path().join("out.png")).unwrap()), expected[0]);
    }
    let file = fs::read(folder.path().join("in.png")).unwrap();
    let piped = run(folder.path(), &["blur", "-", "--radius", "2.5", "-o", "-", "--report"], &file);
    assert_eq!(read(&piped.stdout), expected[0]);
    assert!(String::from_utf8_lossy(&piped.stderr).starts_with("40 x 30 pixels\n"), "{piped:?}");
}

#[test]
fn every_colour_is_despeckled_and_opacity_stays() {
    let (image, grey) = (coloured(), Image::speckled(50, 40, 3));
    let folder = folder(&[("colours.png", &image), ("grey.png", &grey)]);
    for (name, image, colours) in [("colours.png", &image, 3), ("grey.png", &grey, 1)] {
        for (region, arguments) in
            [(None, &[][..]), (Some(Region { columns: 5..25, rows: 3..20 }), &["--region", "5,3,20,17"])]
        {
            let parameters = srad::Parameters { region, ..srad::Parameters::default() };
            let mut planes: Vec<_> = (0..colours).map(|colour| Plane::of(image, colour)).collect();
            for _ in 0..3 {
                planes = srad::sequential(&planes, &parameters);
            }
            let expected = image.with_colours(|pixel, colour| planes[colour.min(colours - 1)].byte(pixel));
            let output = run(
                folder.path(),
                &[&["despeckle", name, "--steps", "3", "-o", "-"], arguments].concat(),
                &[],
            );
            assert!(output.status.success(), "{output:?}");
            let result = read(&output.stdout);
            assert!(result == expected && result != *image, "{name} {arguments:?}");
            assert!(result.pixels().iter().zip(image.pixels()).all(|(now, before)| now[3] == before[3]));
        }
    }
}

#[test]
fn what_cannot_be_done_is_refused_and_changes_no_file() {
    let folder = folder(&[("in.png", &coloured())]);
    fs::write(folder.path().join("text.png"), "no picture").unwrap();
    for (arguments, code, why) in [
        (&["blur", "none.png", "-o", "new.png"][..], 1, "none.png"),
        (&["blur", "text.png", "-o", "new.png"], 1, "reading text.png"),
        (&["blur", "in.png", "-o", "text.png"], 1, "--force"),
        (&["blur", "in.png", "-fo", "in.png"], 1, "refusing to overwrite in.png"),
        (
            &["blur", "in.png", "-o", "new.png", "--memory", "76799"],
            1,
            "40 x 30 pixels are more than 1199\nhelp: raise --memory",
        ),
        (&["blur", "in.png", "-o", "new.png", "--radius", "0"], 2, "from 0.1 to 200"),
        (&["blur", "in.png"], 2, "--output"),
        (&["despeckle", "in.png", "-o", "new.png", "--steps", "0"], 2, "0 is not in"),
        (&["despeckle", "in.png", "-o", "new.png", "--region", "1,2,3"], 2, "four numbers"),
        (&["despeckle", "in.png", "-o", "new.png", "--region", "1,2,3,0"], 2, "not zero"),
        (&["despeckle", "in.png", "-o", "new.png", "--region", "0,0,41,30"], 2, "within the 40 x 30 pixels"),
    ] {
        let output = run(folder.path(), arguments, &[]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(why) && !message.contains("panicked"), "{arguments:?}: {message}");
    }
    assert!(!folder.path().join("new.png").exists());
    assert_eq!(fs::read(folder.path().join("text.png")).unwrap(), b"no picture");
    assert_eq!(read(&fs::read(folder.path().join("in.png")).unwrap()), coloured());
}

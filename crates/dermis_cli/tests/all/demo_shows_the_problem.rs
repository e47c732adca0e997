//! Somebody tries `dermis demo`, looks at what it made, and goes on from its files.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::common::{Scratch, number};

/// Width, height and number of distinct colours of a picture.
fn picture(path: &Path) -> (u32, u32, usize) {
    let file = BufReader::new(File::open(path).expect("the picture opens"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size that fits")];
    let frame = reader.next_frame(&mut pixels).expect("whole");
    let colors: HashSet<&[u8]> = pixels[..frame.buffer_size()]
        .chunks_exact(frame.color_type.samples())
        .collect();
    (frame.width, frame.height, colors.len())
}

/// `E_RMS` of the row of a table that starts with a name.
fn e_rms(table: &str, row: &str) -> String {
    let line = table.lines().find_map(|line| line.strip_prefix(row));
    let line = line.unwrap_or_else(|| panic!("no row {row} in\n{table}"));
    let e_rms = line.split_whitespace().nth(1);
    e_rms.expect("count, then E_RMS").to_owned()
}

#[test]
fn the_demo_writes_what_it_names() {
    let scratch = Scratch::new();
    let run = scratch.dermis("demo 'my demo'").done();
    let files = [
        "arm.glb",
        "compare.html",
        "examples.npz",
        "report.html",
        "worst.png",
    ];
    let files = files.map(|name| format!("my demo/{name}"));
    assert_eq!(scratch.files(), files, "these and no others");
    for file in &files {
        assert!(run.says(file), "{file} in {run:#?}");
    }
    for row in ["fitted to", "held out", "all (skin as written)"] {
        let e_rms: f64 = e_rms(&run.stdout, row).parse().expect("a number");
        // 11.460, as the arm is made to defeat linear blend skinning.
        assert!((10.0..13.0).contains(&e_rms), "E_RMS {e_rms} in row {row}");
    }
    let (width, height, colors) = picture(&scratch.at("my demo/worst.png"));
    assert!(width >= 3 * 600 && height >= 600, "{width} x {height}");
    assert!(
        colors > 500,
        "shading and error colours, found {colors} colours"
    );
}

#[test]
fn the_report_needs_no_other_file() {
    let scratch = Scratch::new();
    scratch.dermis("demo d").done();
    let html = std::fs::read_to_string(scratch.at("d/report.html")).expect("a page");
    // The name of SVG looks like an address, but nothing is fetched from it; and `url(#` is a place
    // in the page itself.
    let html = html.replace("http://www.w3.org/2000/svg", "");
    let html = html.replace("url(#", "");
    for link in ["http://", "https://", "href=", "<script", "<link", "url("] {
        assert!(!html.contains(link), "{link} in the report");
    }
    let sources = html.matches("src=").count();
    let pictures = html.matches("src=\"data:image/png;base64,").count();
    assert_eq!(sources, pictures, "every source is inside");
    assert!(pictures >= 3, "found {pictures} pictures");
    assert!(html.contains("<svg"), "a chart");
    assert!(html.contains("<code>dermis demo d</code>"), "the command");
}

#[test]
fn the_demos_files_go_on_to_other_commands() {
    let scratch = Scratch::new();
    let demo = scratch.dermis("demo .").done();
    let again = scratch
        .dermis("fit examples.npz -o again.glb --report r.html")
        .done();
    for row in ["fitted to", "held out", "all (skin as written)"] {
        assert_eq!(
            e_rms(&demo.stdout, row),
            e_rms(&again.stdout, row),
            "E_RMS of row {row} after a detour through the examples"
        );
    }
    let report = std::fs::read_to_string(scratch.at("r.html")).expect("a page");
    let command = "dermis fit examples.npz -o again.glb --report r.html";
    assert!(report.contains(command), "the report says how it was made");

    let info = scratch.dermis("info arm.glb again.glb --json").done();
    let info = info.json();
    for (file, clip) in [(0, "curl and turn"), (1, "examples")] {
        assert_eq!(number(&info, &format!("/{file}/points")), 4610.0, "points");
        assert_eq!(info[file]["clips"][0]["name"], clip, "its motion");
        let recorded = number(&info, &format!("/{file}/dermisSkin/heldOut/eRms"));
        assert_eq!(
            format!("{recorded:.3}"),
            e_rms(&demo.stdout, "held out"),
            "the skin remembers how good it is"
        );
    }

    scratch
        .dermis("eval arm.glb --pose 'forearm.rz=90' -o posed.obj")
        .done();
    let (rest, posed) = (scratch.read("arm.glb"), scratch.read("posed.obj"));
    let tip = |points: &[glam::DVec3]| *points.last().expect("points");
    let (straight, bent) = (tip(rest.mesh.positions()), tip(posed.mesh.positions()));
    // The last point is the tip of the hand: 1.42 beyond the elbow, which is at x = 1.
    assert!(
        straight.distance([2.42, 0.0, 0.0].into()) < 1e-5,
        "{straight}"
    );
    assert!(bent.distance([1.0, 1.42, 0.0].into()) < 1e-3, "{bent}");
}

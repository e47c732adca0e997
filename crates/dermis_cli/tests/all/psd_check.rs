//! `dermis psd check` says what will not look as it was sculpted, and `dermis psd show` draws it.

use glam::DVec3;

use crate::common::psd::{put_arm, sculpt};
use crate::common::{Run, Scratch};

/// An arm with sculpts of its elbow at some angles, all with one falloff.
fn elbow(angles: &[u32], falloff: f64) -> Scratch {
    let scratch = Scratch::new();
    put_arm(&scratch);
    let new = "psd new arm.psd.toml --base arm.glb --control elbow=forearm:hinge:z \
               --control load=slider";
    scratch.dermis(new).done();
    let rest = scratch.read("arm.glb").mesh.positions().to_vec();
    for (number, angle) in (1..).zip(angles) {
        let pose = format!("psd pose arm.psd.toml --pose elbow={angle} -o posed.obj");
        scratch.dermis(&pose).done();
        sculpt(&scratch, "posed.obj", "sculpted.obj", |i| {
            match (rest[i].x - 1.0).abs() < 0.3 {
                true => DVec3::new(0.0, 0.0, 0.02 * f64::from(number)),
                false => DVec3::ZERO,
            }
        });
        let add = format!(
            "psd add arm.psd.toml --pose elbow={angle} --mesh sculpted.obj --falloff {falloff}"
        );
        scratch.dermis(&add).done();
    }
    scratch
}

fn kinds(run: &Run) -> Vec<String> {
    let json = run.json();
    let warnings = json["warnings"].as_array().expect("a list");
    let kind = |w: &serde_json::Value| w["kind"].as_str().expect("a word").to_owned();
    warnings.iter().map(kind).collect()
}

fn check(scratch: &Scratch) -> Run {
    scratch.dermis("psd check arm.psd.toml --json").done()
}

#[test]
fn a_good_project_has_only_its_idle_control_to_hear_of() {
    let scratch = elbow(&[60, 120], 30.0);
    assert_eq!(kinds(&check(&scratch)), ["control"], "load");
    let text = scratch.dermis("psd check arm.psd.toml").done().stdout;
    for part in [
        "layer elbow",
        "elbow60",
        "at elbow=120",
        "falloff elbow=30",
        "warning: control load: no layer uses it",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    let strict = scratch.dermis("psd check arm.psd.toml --strict");
    assert_eq!(strict.code, 1, "{strict:#?}");
    let text = std::fs::read_to_string(scratch.at("arm.psd.toml")).expect("a text");
    let without = text.replace("\n[control.load]\nslider = \"load\"\n", "");
    assert_ne!(without, text, "{text}");
    scratch.put("arm.psd.toml", without);
    let strict = scratch.dermis("psd check arm.psd.toml --strict").done();
    assert!(
        strict.stdout.contains("nothing to warn about"),
        "{strict:#?}"
    );
}

#[test]
fn holes_and_overlaps_come_with_falloffs_that_help() {
    for (angles, falloff, kind, advised) in [
        (&[60, 120][..], 10, "hole", 30),
        (&[30, 60, 90, 120, 150], 100, "overlap", 15),
    ] {
        let scratch = elbow(angles, f64::from(falloff));
        let run = check(&scratch);
        assert!(kinds(&run).contains(&kind.to_owned()), "{run:#?}");
        let advice = format!("try falloff = {{ elbow = {advised} }} for elbow");
        assert!(run.stdout.contains(&advice), "{advice} in {run:#?}");
        let text = std::fs::read_to_string(scratch.at("arm.psd.toml")).expect("a text");
        let old = format!("falloff = {{ elbow = {falloff} }}");
        let new = format!("falloff = {{ elbow = {advised} }}");
        assert!(text.contains(&old), "{text}");
        scratch.put("arm.psd.toml", text.replace(&old, &new));
        assert_eq!(kinds(&check(&scratch)), ["control"], "then all is well");
    }
}

#[test]
fn shapes_that_are_lost_or_of_another_mesh_are_named() {
    let scratch = elbow(&[60, 120], 30.0);
    let shape = scratch.at("arm.psd/elbow60.txt");
    let text = std::fs::read_to_string(&shape).expect("a shape");
    let count = scratch.read("arm.glb").mesh.vertex_count();
    let other = text.replace(&format!("vertices {count}"), "vertices 7");
    std::fs::write(&shape, other).expect("it can be written");
    std::fs::remove_file(scratch.at("arm.psd/elbow120.txt")).expect("it was there");
    let run = check(&scratch);
    assert_eq!(kinds(&run), ["shape", "shape", "control"], "{run:#?}");
    for part in ["sculpted on 7 vertices", "elbow120.txt", "cannot be read"] {
        assert!(run.stdout.contains(part), "{part:?} in {run:#?}");
    }
}

#[test]
fn a_layer_that_moves_another_ones_sculpt_is_named() {
    let scratch = elbow(&[90], 45.0);
    let text = std::fs::read_to_string(scratch.at("arm.psd.toml")).expect("a text");
    let again = "\n[[layer]]\nname = \"again\"\ncontrols = [\"elbow\"]\n\
                 [[layer.sculpt]]\nname = \"more\"\nat = { elbow = 90 }\n\
                 falloff = 45\nshape = \"more.txt\"\n";
    scratch.put("arm.psd.toml", text + again);
    let count = scratch.read("arm.glb").mesh.vertex_count();
    let rest = scratch.read("arm.glb").mesh.positions().to_vec();
    let vertex = rest
        .iter()
        .position(|p| (p.x - 1.0).abs() < 0.3)
        .expect("one");
    scratch.put(
        "more.txt",
        format!("# dermis sculpt 1\nvertices {count}\nmoved 1\n{vertex} 0.5 0.0 0.0\n"),
    );
    let run = check(&scratch);
    assert!(kinds(&run).contains(&"missed".to_owned()), "{run:#?}");
    assert!(run.stdout.contains("layer again moves it"), "{run:#?}");
    let fit = scratch.dermis("psd fit arm.psd.toml -o out.glb").done();
    assert!(fit.stderr.contains("is moved by"), "{fit:#?}");
}

#[test]
fn a_sweep_is_drawn_with_its_curves() {
    let scratch = elbow(&[60, 120], 30.0);
    let show = "psd show arm.psd.toml --sweep elbow --from 0 --to 150 --steps 4 -o sweep.png";
    scratch.dermis(show).done();
    let file = std::fs::File::open(scratch.at("sweep.png")).expect("a picture");
    let mut reader = png::Decoder::new(std::io::BufReader::new(file))
        .read_info()
        .expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("it fits")];
    let info = reader.next_frame(&mut pixels).expect("all of it");
    assert!(info.width > 1000 && info.height > 600, "{info:?}");
    // The two coefficients in their colours: blue and brown lines below the pictures.
    let samples = info.color_type.samples();
    let below = &pixels[info.line_size * (info.height as usize - 400)..];
    let count = |is: fn(&[u8]) -> bool| below.chunks(samples).filter(|p| is(p)).count();
    let blue = count(|p| p[2] > p[0].saturating_add(90) && p[2] > 120);
    let brown = count(|p| p[0] > p[2].saturating_add(90) && p[0] > p[1].saturating_add(60));
    assert!(blue > 1000 && brown > 1000, "{blue} {brown}");
    let bad = scratch.dermis("psd show arm.psd.toml --sweep knee -o x.png");
    assert!(bad.stderr.contains("there are elbow, load"), "{bad:#?}");
}

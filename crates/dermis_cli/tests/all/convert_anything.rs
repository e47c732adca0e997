//! Sequences and skins go from any format to any other.

use dermis_io::{Document, Format, Frame, SequenceOptions, read_inputs};
use glam::DVec3;

use crate::common::{SMALL_TUBE, Scratch, quoted, tube_document, unbroken};
use crate::support;

const FRAME_COUNT: usize = 5;

/// ```text
///        8
///      / | \       five quads and four triangles: a house without windows
///    4--- ---7
///   /|      /|
///  5-------6 |
///  | 0-----|-3
///  |/      |/
///  1-------2
/// ```
const FACES: [&[u32]; 9] = [
    &[0, 3, 2, 1],
    &[0, 1, 5, 4],
    &[1, 2, 6, 5],
    &[2, 3, 7, 6],
    &[3, 0, 4, 7],
    &[4, 5, 8],
    &[5, 6, 8],
    &[6, 7, 8],
    &[7, 4, 8],
];

/// The house in a wind; numbers that no float has exactly.
fn house(frame: usize) -> Vec<DVec3> {
    let wind = 0.1 * frame as f64;
    let corner = |x: f64, y: f64, z: f64| DVec3::new(x + wind * y * y, y - 0.3 * wind * x, z);
    let ring = [(0.0, 0.0), (0.0, 1.1), (1.3, 1.1), (1.3, 0.0)];
    let floor = ring.map(|(x, z)| corner(x, 0.0, z));
    let walls = ring.map(|(x, z)| corner(x, 0.7, z));
    [&floor[..], &walls, &[corner(0.65, 1.2, 0.55)]].concat()
}

fn obj_text(frame: usize) -> String {
    let points = house(frame)
        .into_iter()
        .map(|p| format!("v {} {} {}\n", p.x, p.y, p.z));
    let faces = FACES.iter().map(|face| {
        let corners: Vec<String> = face.iter().map(|i| format!(" {}", i + 1)).collect();
        format!("f{}\n", corners.concat())
    });
    points.chain(faces).collect()
}

/// A folder with the house as `poses/house_1.obj` and so on.
fn houses() -> Scratch {
    let scratch = Scratch::new();
    for k in 0..FRAME_COUNT {
        scratch.put(&format!("poses/house_{}.obj", k + 1), obj_text(k));
    }
    scratch
}

/// How a sequence in some format is named as an input.
fn as_input(folder: &str, format: Format) -> String {
    let extension = format.extension();
    match format {
        Format::Obj | Format::Ply => format!("'{folder}/house_*.{extension}'"),
        Format::Pc2 | Format::Mdd => {
            format!("{folder}/house.{extension} --mesh poses/house_1.obj")
        }
        // Frames in glTF are a clip, which has to be told how often to be looked at.
        Format::Glb | Format::Gltf => format!("{folder}/house.{extension} --fps 24"),
        _ => format!("{folder}/house.{extension}"),
    }
}

/// Everything in a sequence of some format, with the frames of a clip as frames.
fn read_back(scratch: &Scratch, folder: &str, format: Format) -> Document {
    let extension = format.extension();
    let name = match format {
        Format::Obj | Format::Ply => format!("{folder}/house_####.{extension}"),
        _ => format!("{folder}/house.{extension}"),
    };
    let options = SequenceOptions {
        mesh: format
            .is_point_cache()
            .then(|| scratch.at("poses/house_1.obj")),
        ..SequenceOptions::default()
    };
    let document = read_inputs(&[scratch.at(&name)], &options);
    with_clip_as_frames(document.unwrap_or_else(|error| panic!("{error}")), 24.0)
}

fn with_clip_as_frames(mut document: Document, fps: f64) -> Document {
    if let (Some(skin), [clip]) = (&document.skin, &document.clips[..]) {
        let frame = |time| Frame {
            name: format!("{time:.3} s"),
            positions: skin.evaluate(&skin.sample(clip, time)).expect("it fits"),
        };
        document.frames = clip
            .frame_times(fps)
            .expect("few frames")
            .into_iter()
            .map(frame)
            .collect();
    }
    document
}

fn max_distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len(), "as many points");
    a.iter()
        .zip(b)
        .fold(0.0, |worst, (p, q)| p.distance(*q).max(worst))
}

fn assert_is_the_house(document: &Document, with_polygons: bool, what: &str) {
    assert_eq!(document.frames.len(), FRAME_COUNT, "frames {what}");
    let diagonal = document.mesh.bounds().diagonal();
    for (k, frame) in document.frames.iter().enumerate() {
        let off = max_distance(&frame.positions, &house(k)) / diagonal;
        assert!(off < 1e-6, "frame {k} {what} is off by {off:.1e}");
    }
    assert_eq!(document.mesh.triangles().len(), 14, "triangles {what}");
    let polygons = document.polygons.as_ref();
    let faces: Option<Vec<&[u32]>> = polygons.map(|polygons| polygons.iter().collect());
    let expected = with_polygons.then(|| FACES.to_vec());
    assert_eq!(faces, expected, "polygons {what}");
}

#[test]
fn a_sequence_survives_every_pair_of_formats() {
    let scratch = houses();
    let has_polygons = |format| !matches!(format, Format::Glb | Format::Gltf);
    let written = Format::ALL.into_iter().filter(|f| f.is_written());
    for from in written.clone() {
        let folder = from.extension();
        let first = format!("convert 'poses/*.obj' {folder}/house.{folder} --fps 24");
        scratch.dermis(&first).done();
        let what = format!("in {folder}");
        let document = read_back(&scratch, folder, from);
        assert_is_the_house(&document, has_polygons(from), &what);
        for to in written.clone() {
            let extension = to.extension();
            let target = format!("{folder}_to_{extension}");
            let input = as_input(folder, from);
            scratch
                .dermis(&format!("convert {input} {target}/house.{extension}"))
                .done();
            let what = format!("from {folder} to {extension}");
            let document = read_back(&scratch, &target, to);
            // A point cache borrows its faces from the mesh that it is read with.
            let polygons = has_polygons(to) && (has_polygons(from) || to.is_point_cache());
            assert_is_the_house(&document, polygons, &what);
        }
    }
}

#[test]
fn a_folder_is_a_sequence_in_natural_order() {
    let scratch = houses();
    // The tenth comes after the fourth, not after the first.
    std::fs::rename(
        scratch.at("poses/house_5.obj"),
        scratch.at("poses/house_10.obj"),
    )
    .expect("renamed");
    scratch.dermis("convert poses houses.npz").done();
    let document = scratch.read("houses.npz");
    assert_is_the_house(&document, true, "of the folder");
    let names: Vec<&str> = document.frames.iter().map(|f| f.name.as_str()).collect();
    let expected = ["house_1", "house_2", "house_3", "house_4", "house_10"];
    assert_eq!(names, expected, "named after their files");

    scratch
        .dermis("convert poses/house_#.obj --rest poses/house_3.obj rest.npz")
        .done();
    let document = scratch.read("rest.npz");
    let off = max_distance(document.mesh.positions(), &house(2));
    assert!(off < 1e-6, "the third is at rest, off by {off:.1e}");
    assert_eq!(document.frames.len(), FRAME_COUNT - 1, "and no frame");
}

#[test]
fn a_clip_of_the_fox_becomes_numbered_files() {
    let Some(fox) = support::data("gltf/Fox.glb") else {
        return;
    };
    let scratch = Scratch::new();
    let convert = format!("convert {} --clip Run frames/run_####.obj", quoted(&fox));
    let run = scratch.dermis(&convert).done();
    let files = scratch.files();
    // The clip takes 1.158 s: 35 steps of a thirtieth, and its first frame.
    assert_eq!(files.len(), 36, "{files:?}");
    assert_eq!(files[0], "frames/run_0001.obj", "counted from 1");
    assert_eq!(files[35], "frames/run_0036.obj", "to the last");
    assert!(run.stderr.contains("wrote 36 files"), "{run:#?}");

    let document = dermis_io::read(&fox).expect("the fox");
    let skin = document.skin.as_ref().expect("a skin");
    let clip = document.clips.iter().find(|clip| clip.name == "Run");
    let clip = clip.expect("it runs");
    let diagonal = document.mesh.bounds().diagonal();
    for (file, time) in files
        .iter()
        .zip(clip.frame_times(30.0).expect("few frames"))
    {
        let expected = skin.evaluate(&skin.sample(clip, time)).expect("it fits");
        let off = max_distance(scratch.read(file).mesh.positions(), &expected) / diagonal;
        assert!(off < 1e-6, "{file} is off by {off:.1e}");
    }
}

/// A tube with its bones, weights, frames and poses as `tube.npz`.
fn tube_in_npz() -> (Scratch, Document) {
    let document = tube_document(&SMALL_TUBE);
    let scratch = Scratch::new();
    scratch.write("tube.npz", &document);
    (scratch, document)
}

fn assert_same_frames(found: &Document, expected: &Document) {
    assert_eq!(found.frames.len(), expected.frames.len(), "frames");
    let diagonal = expected.mesh.bounds().diagonal();
    for (a, b) in found.frames.iter().zip(&expected.frames) {
        let off = max_distance(&a.positions, &b.positions) / diagonal;
        assert!(off < 1e-6, "{} is off by {off:.1e}", b.name);
    }
}

#[test]
fn bones_and_poses_of_an_npz_become_a_skin_with_a_clip() {
    let (scratch, expected) = tube_in_npz();
    let run = scratch.dermis("convert tube.npz skin.glb").done();
    assert!(
        run.stderr.contains("6 frames") && run.stderr.contains("--frames"),
        "it says what the file does not hold: {run:#?}"
    );
    let found = scratch.read("skin.glb");
    let skin = found.skin.as_ref().expect("the skin is kept");
    assert_eq!(skin.skeleton.bone_count(), 3, "bones");
    assert_eq!(skin.coefficients.len(), 0, "no morph targets");
    assert_same_frames(&with_clip_as_frames(found, 24.0), &expected);
}

#[test]
fn frames_of_an_npz_become_morph_targets_on_demand() {
    let (scratch, expected) = tube_in_npz();
    scratch
        .dermis("convert tube.npz frames.glb --frames --fps 12")
        .done();
    let found = scratch.read("frames.glb");
    let skin = found.skin.as_ref().expect("morph targets are a skin");
    assert!(!skin.coefficients.is_empty(), "morph targets");
    assert_same_frames(&with_clip_as_frames(found, 12.0), &expected);
}

#[test]
fn another_vertex_count_is_refused_with_both_files_and_numbers() {
    let scratch = houses();
    scratch.put(
        "poses/house_3.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n",
    );
    let before = scratch.files();
    let run = scratch.dermis("convert 'poses/*.obj' houses.npz");
    assert_eq!(run.code, 2, "{run:#?}");
    for part in [
        "house_3.obj",
        "vertices",
        "9 as in poses/house_1.obj",
        "found 4",
    ] {
        assert!(run.stderr.contains(part), "{part} in {run:#?}");
    }
    assert_eq!(scratch.files(), before, "nothing is written");
}

#[test]
fn ply_is_written_in_the_encoding_that_was_asked_for() {
    let scratch = Scratch::new();
    scratch.put(
        "quad.obj",
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0.5\nf 1 2 3 4\n",
    );
    for (encoding, header) in [
        ("binary", "binary_little_endian"),
        ("binary-big", "binary_big_endian"),
        ("ascii", "ascii"),
    ] {
        scratch
            .dermis(&format!("convert quad.obj quad.ply --ply {encoding}"))
            .done();
        let bytes = std::fs::read(scratch.at("quad.ply")).expect("written");
        assert!(
            bytes.starts_with(format!("ply\nformat {header} 1.0\n").as_bytes()),
            "{encoding}"
        );
        scratch.dermis("convert quad.ply back.obj").done();
        let text = std::fs::read_to_string(scratch.at("back.obj")).expect("written");
        assert!(
            text.contains("v 0 1 0.5") && text.contains("f 1 2 3 4"),
            "{encoding}: {text}"
        );
    }
}

#[test]
fn an_alembic_file_goes_wherever_frames_go() {
    let scratch = Scratch::new();
    let file = |name: &str| quoted(&support::repository().join("data/alembic").join(name));
    let cloth = file("cloth.abc");
    let info = scratch.dermis(&format!("info {cloth}")).done();
    assert!(info.says("5 at 24.000 fps"), "frames at their times");
    scratch.dermis(&format!("convert {cloth} cloth.npz")).done();
    let (cloth_npz, cloth_abc) = (scratch.read("cloth.npz"), support::repository());
    let cloth_abc = dermis_io::read(&cloth_abc.join("data/alembic/cloth.abc")).expect("Alembic");
    assert_eq!(cloth_npz.frames.len(), 5, "all frames");
    for (a, b) in cloth_npz.frames.iter().zip(&cloth_abc.frames) {
        assert_eq!(max_distance(&a.positions, &b.positions), 0.0, "{}", a.name);
    }
    assert_eq!(cloth_npz.polygons, cloth_abc.polygons, "quads");
    scratch.dermis(&format!("measure {cloth} cloth.npz")).done();
    scratch
        .dermis(&format!("decompose {cloth} --rigid --bones 2 -o cloth.glb"))
        .done();
    let skin = scratch.read("cloth.glb");
    assert_eq!(skin.clips[0].name, "cloth", "after the file");
    let materials = skin.materials.materials.len();
    assert_eq!(materials, 2, "sets of faces are materials");
    scratch
        .dermis(&format!("fit {cloth} --skeleton cloth.glb -o fit.glb"))
        .done();
    scratch
        .dermis(&format!("unwrap {cloth} -o atlas.glb"))
        .done();
    for (arguments, part) in [
        (format!("convert {cloth} out.abc"), "choose .glb, .gltf"),
        (format!("info {}", file("melting.abc")), "change over time"),
    ] {
        let refused = scratch.dermis(&arguments);
        assert_eq!(refused.code, 2, "{arguments}");
        assert!(unbroken(&refused.stderr).contains(part), "{part}");
    }
}

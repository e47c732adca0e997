//! Skins with proxy bones: other players do not know them, and play the pairs of nodes baked into the clips.

use dermis::mesh::DrawMesh;
use dermis::pose_space::{Control, Driver, JointTurn, Kernel};
use dermis::skin::{Delta, DualQuaternionProgram};
use dermis::{BoneId, Pose, Skeleton, Skin, VertexProgram};
use dermis_io::Document;
use glam::{DQuat, DVec3};

use super::exact::compare;
use super::{TOLERANCE, difference, write_into};
use crate::support;
use crate::support::clients::{assert_valid, blender_positions, three_positions};
use crate::support::proxy_skins::{ProxyTube, bones_at, clip, proxy_tube};

const RATE: f64 = 24.0;
const FRAMES: usize = 25;

/// The default pose of a skeleton.
#[derive(Debug, Clone, Copy)]
enum DefaultPose {
    Rest,
    /// In some other pose, in which proxies shear.
    Bent,
}

/// Documents by the names of their files.
fn documents(default_pose: DefaultPose) -> Vec<(&'static str, Document)> {
    let sizes = [("few_proxies.glb", 3, 5), ("many_proxies.glb", 12, 60)];
    let mut documents: Vec<(&'static str, Document)> = sizes
        .map(|(name, bones, proxies)| {
            let (mesh, skin) = proxy_tube(&ProxyTube {
                rings: 24,
                bones,
                proxies,
                seed: 5,
            });
            let document = Document {
                draw: DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles()),
                mesh,
                clips: vec![clip(&skin, FRAMES, RATE)],
                skin: Some(match default_pose {
                    DefaultPose::Rest => skin,
                    DefaultPose::Bent => bent_by_default(skin),
                }),
                ..Document::default()
            };
            (name, document)
        })
        .to_vec();
    let mut driven = documents[0].1.clone();
    let skin = driven.skin.as_mut().expect("it has a skin");
    let driver = Driver {
        name: "bend".to_owned(),
        controls: vec![Control::Joint {
            bone: BoneId(1),
            turn: JointTurn::Free,
        }],
        kernel: Kernel::Gaussian,
        centers: Vec::new(),
        weights: vec![Vec::new()],
        linear: vec![vec![0.0, 1.0, 0.5, 0.0]],
    };
    let bulge = (0..40).map(|index| Delta {
        index,
        value: DVec3::new(0.0, 0.05, 0.02),
    });
    skin.push_driver(driver, vec!["bulge".to_owned()], vec![bulge.collect()])
        .expect("it fits");
    documents.push(("driven_proxies.glb", driven));
    documents
}

fn bent_by_default(skin: Skin) -> Skin {
    let mut bones = skin.skeleton.bones().to_vec();
    bones[1].default_parent_from_bone.rotation = DQuat::from_scaled_axis(DVec3::new(0.2, 0.7, 0.1));
    let is_carrier = |bone: &BoneId| skin.skeleton.is_carrier(*bone);
    let carriers: Vec<_> = skin.skeleton.ids().filter(is_carrier).collect();
    let skeleton = Skeleton::new(bones).expect("as before");
    Skin {
        skeleton: skeleton.with_carriers(carriers),
        ..skin
    }
}

fn skin_of(document: &Document) -> &Skin {
    document.skin.as_ref().expect("it has a skin")
}

#[test]
fn proxies_are_valid_and_three_plays_them() {
    let Some(clients) = support::node_clients() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut files = Vec::new();
    // Every frame, and half-way, where there are keys, too.
    let times: Vec<f64> = (0..2 * FRAMES - 1).map(|k| k as f64 / 2.0 / RATE).collect();
    for (name, document) in documents(DefaultPose::Bent) {
        let file = write_into(folder.path(), name, &document);
        let skin = skin_of(&document);
        let shown = three_positions(&clients, &file, Some("wave"), &times);
        compare(name, &document, skin, &times, &shown);

        let mut still = document.clone();
        still.clips[0].channels.clear();
        let shown = three_positions(&clients, &file, None, &[0.0]);
        compare(&format!("{name}, still"), &still, skin, &[0.0], &shown);

        let between: Vec<f64> = times.iter().map(|t| t + 0.25 / RATE).collect();
        let shown = three_positions(&clients, &file, Some("wave"), &between);
        let off = between.iter().zip(&shown).map(|(&time, shown)| {
            let pose = skin.sample(&document.clips[0], time);
            let points = skin.evaluate(&pose).expect("the pose fits");
            difference(&document, &points, shown)
        });
        let off = off.fold(0.0, f64::max);
        eprintln!("{name}: three differs by {off:.1e} of the diagonal between keys");
        assert!(off < 1e-3, "{name}: {off:.1e} between keys");
        files.push(file);
        files.push(write_into(
            folder.path(),
            &format!("{name}.gltf"),
            &document,
        ));
    }
    assert_valid(&clients, &files);
}

#[test]
fn proxies_read_back_are_computed_without_a_clip() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (name, mut document) in documents(DefaultPose::Bent) {
        let mut skin = skin_of(&document).clone();
        if let (true, VertexProgram::Ssd(ssd)) = (name == "few_proxies.glb", &skin.program) {
            // Another vertex program on the same bones.
            let weighted = ssd.clone();
            skin.program = VertexProgram::DualQuaternion(DualQuaternionProgram { weighted });
            document.skin = Some(skin.clone());
        }
        let file = write_into(folder.path(), name, &document);
        let back = dermis_io::read(&file).expect("our own file");
        assert!(back.notes.is_empty(), "{name}: {:?}", back.notes);
        let read = skin_of(&back);
        for k in 0..20 {
            let pose = Pose::new(bones_at(&skin, 0.7 * f64::from(k)));
            let wanted = skin.evaluate(&pose).expect("the pose fits");
            let found = read.evaluate(&pose).expect("the pose fits");
            let off = wanted.iter().zip(&found).map(|(a, b)| a.distance(*b));
            let off = off.fold(0.0, f64::max) / document.mesh.bounds().diagonal();
            assert!(off < 0.1 * TOLERANCE, "{name}, pose {k}: {off:.1e}");
        }
    }
}

#[test]
#[ignore = "slow: starts Blender for every file"]
fn blender_plays_proxies() {
    let (Some(python), Some(clients)) = (support::blender_python(), support::node_clients()) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let times: Vec<f64> = (0..FRAMES).map(|k| k as f64 / RATE).collect();
    // With the rest pose as default pose: otherwise Blender's importer takes the default transforms of bones without
    // a joint above them for the bind pose, and blends the mesh twice.
    for (name, document) in documents(DefaultPose::Rest) {
        let file = write_into(folder.path(), name, &document);
        let shown = blender_positions(&python, &clients, &file, Some("wave"), &times);
        compare(name, &document, skin_of(&document), &times, &shown);
    }
}

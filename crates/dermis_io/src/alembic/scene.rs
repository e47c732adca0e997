//! The tree of objects as transforms and meshes, and what is shown at a time.

use std::collections::BTreeMap;

use glam::{DAffine3, DVec3};

use super::archive::{Archive, Object, named};
use super::mesh::{Found, Mesh, is_face_set};
use super::times::united;
use super::transform::{Animated, Transform};
use crate::Fault;

/// Objects may stand in each other this deep; real scenes have some dozens.
const MOST_DEPTH: usize = 256;

/// The meshes of a file and the transforms that move them.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    archive: &'a Archive<'a>,
    /// Those above a mesh, parents first.
    nodes: Vec<Node<'a>>,
    /// In the order of the file.
    pub(super) meshes: Vec<Mesh<'a>>,
    /// What was left out, one sentence each.
    pub(super) notes: Vec<String>,
}

#[derive(Debug)]
struct Node<'a> {
    parent: Option<usize>,
    transform: Transform<'a>,
    moves_a_mesh: bool,
}

/// What to do with the children of an object.
enum Below {
    /// Read them; the transform above them, where there is one, has this number.
    Read(Option<usize>),
    /// Leave them out, or they were read with the object.
    Skip,
}

/// When there is something new to see.
#[derive(Debug, PartialEq)]
pub(super) struct Timeline {
    /// In seconds; empty when nothing moves.
    pub(super) times: Vec<f64>,
    /// False when the file numbers samples without saying when they were taken.
    pub(super) is_in_seconds: bool,
    /// True when some objects were sampled at times at which others were not.
    pub(super) is_mixed: bool,
}

impl<'a> Scene<'a> {
    /// Reads all meshes and what moves them.
    pub(super) fn read(archive: &'a Archive<'a>) -> Result<Self, Fault> {
        let mut scene = Self {
            archive,
            nodes: Vec::new(),
            meshes: Vec::new(),
            notes: Vec::new(),
        };
        let mut left_out = LeftOut::default();
        // Depth first, in the order of the file, without recursion.
        let mut to_read = vec![(archive.top(), None, 0)];
        while let Some((object, parent, depth)) = to_read.pop() {
            if depth > MOST_DEPTH {
                let expected = format!("at most {MOST_DEPTH} objects above each other");
                return Err(Fault::malformed(object.to_string(), expected, "more"));
            }
            let Below::Read(node) = scene.add(&object, parent, &mut left_out)? else {
                continue;
            };
            let children = archive.children(&object)?.into_iter().rev();
            to_read.extend(children.map(|child| (child, node, depth + 1)));
        }
        left_out.report(&mut scene)?;
        scene.mark_nodes();
        Ok(scene)
    }

    /// Adds what an object is, and says what to do with its children.
    fn add(
        &mut self,
        object: &Object<'a>,
        parent: Option<usize>,
        left_out: &mut LeftOut,
    ) -> Result<Below, Fault> {
        let kind = object.schema().strip_prefix("AbcGeom_");
        let kind = kind
            .and_then(|kind| kind.rsplit_once("_v"))
            .map(|(kind, _)| kind);
        match kind {
            Some("Xform") => {
                let properties = self.archive.properties(object)?;
                self.nodes.push(Node {
                    parent,
                    transform: Transform::read(self.archive, &properties, object)?,
                    moves_a_mesh: false,
                });
                return Ok(Below::Read(Some(self.nodes.len() - 1)));
            }
            Some("PolyMesh" | "SubD") => {
                match Mesh::read(self.archive, object, parent, &mut self.notes)? {
                    Found::Mesh(mesh) => {
                        self.meshes.push(*mesh);
                        left_out.has_subdivision |= kind == Some("SubD");
                    }
                    Found::Empty => left_out.count("mesh without faces", "meshes without faces"),
                    Found::Changing => left_out.changing.push(object.to_string()),
                }
            }
            Some("FaceSet") if is_face_set(object) => return Ok(Below::Skip),
            Some("Curve") => left_out.count("object of curves", "objects of curves"),
            Some("Points") => left_out.count("cloud of points", "clouds of points"),
            Some("NuPatch") => left_out.count("NURBS patch", "NURBS patches"),
            Some("Camera") => left_out.count("camera", "cameras"),
            Some("Light") => left_out.count("light", "lights"),
            _ => {
                let properties = self.archive.properties(object)?;
                if named(&properties, ".instanceSource").is_some() {
                    left_out.count("instance of another object", "instances of other objects");
                    return Ok(Below::Skip);
                }
            }
        }
        Ok(Below::Read(parent))
    }

    /// Marks the transforms that move a mesh: the others need not be known.
    fn mark_nodes(&mut self) {
        for mesh in &self.meshes {
            let mut above = mesh.node;
            while let Some(node) = above.filter(|&node| !self.nodes[node].moves_a_mesh) {
                self.nodes[node].moves_a_mesh = true;
                above = self.nodes[node].parent;
            }
        }
    }

    /// All times at which something that is read was sampled and changes.
    pub(super) fn timeline(&self) -> Timeline {
        let nodes = self.nodes.iter().filter(|node| node.moves_a_mesh);
        let points = self.meshes.iter().map(|mesh| &mesh.points);
        let animated: Vec<&Animated> = (nodes.flat_map(|node| node.transform.animated()))
            .chain(points.filter(|points| !points.values.is_constant()))
            .collect();
        let times = united(animated.iter().map(|animated| &animated.times));
        Timeline {
            is_in_seconds: animated.iter().any(|a| a.values.property().sampling != 0),
            is_mixed: animated.iter().any(|a| a.times.len() != times.len()),
            times,
        }
    }

    /// How many points all meshes have together.
    pub(super) fn point_count(&self) -> usize {
        self.meshes.iter().map(|mesh| mesh.point_count).sum()
    }

    /// Fails when this many frames would take too much memory, or endless work.
    pub(super) fn plan_frames(&self, count: usize) -> Result<(), Fault> {
        // A name and a list for each frame, a matrix for each transform, three numbers for each point.
        let bytes = 128 + 96 * self.nodes.len() as u64 + 24 * self.point_count() as u64;
        let what = format!("{count} frames of {} points", self.point_count());
        self.archive.container.plan(&[count as u64, bytes], &what)
    }

    /// Where all transforms put what they move, at a time.
    pub(super) fn placed(&self, time: f64) -> Result<Vec<DAffine3>, Fault> {
        let mut placed: Vec<DAffine3> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let own = match node.moves_a_mesh {
                true => node.transform.at(self.archive, time)?,
                false => (DAffine3::IDENTITY, false),
            };
            placed.push(match (own, node.parent) {
                ((own, true), Some(parent)) => placed[parent] * own,
                ((own, _), _) => own,
            });
        }
        Ok(placed)
    }

    /// The points of all meshes, one mesh after the other, where they are at a time.
    pub(super) fn points(&self, time: f64) -> Result<Vec<DVec3>, Fault> {
        let placed = self.placed(time)?;
        let mut points = Vec::with_capacity(self.point_count());
        for mesh in &self.meshes {
            let first = points.len();
            mesh.add_points(self.archive, time, &mut points)?;
            let Some(node) = mesh.node else {
                continue;
            };
            for point in &mut points[first..] {
                *point = placed[node].transform_point3(*point);
            }
            if let Some(at) = points[first..].iter().position(|point| !point.is_finite()) {
                let what = format!("object {}, point {at} at {time} s", mesh.path);
                let found = "overflow by the transforms above it";
                return Err(Fault::malformed(what, "finite numbers", found));
            }
        }
        Ok(points)
    }
}

/// Objects that are not read.
#[derive(Debug, Default)]
struct LeftOut {
    /// How many, by what they are called: one, and several.
    counts: BTreeMap<(&'static str, &'static str), usize>,
    /// Meshes whose faces change.
    changing: Vec<String>,
    /// Whether some meshes are subdivision surfaces, of which the creases are left out.
    has_subdivision: bool,
}

impl LeftOut {
    fn count(&mut self, one: &'static str, many: &'static str) {
        *self.counts.entry((one, many)).or_default() += 1;
    }

    /// Adds notes; fails when nothing else is there.
    fn report(self, scene: &mut Scene) -> Result<(), Fault> {
        let counts = self
            .counts
            .iter()
            .map(|(&(one, many), &count)| match count {
                1 => format!("1 {one}"),
                _ => format!("{count} {many}"),
            });
        let counts = counts.collect::<Vec<_>>().join(", ");
        const HINT: &str = "export it with the same faces and as many points in every frame";
        if scene.meshes.is_empty() {
            if let Some(object) = self.changing.first() {
                let what = format!("{object}: a mesh whose faces change over time");
                return Err(Fault::unsupported(what, HINT));
            }
            let found = match counts.as_str() {
                "" => "none".to_owned(),
                _ => counts,
            };
            return Err(Fault::malformed(
                "file",
                "at least one mesh with faces",
                found,
            ));
        }
        for object in &self.changing {
            let note =
                format!("The {object} is left out, because its faces change over time: {HINT}.");
            scene.notes.push(note);
        }
        if !counts.is_empty() {
            scene
                .notes
                .push(format!("Left out, because only meshes are read: {counts}."));
        }
        if self.has_subdivision {
            let note =
                "Subdivision surfaces are read as the meshes that control them, without creases.";
            scene.notes.push(note.to_owned());
        }
        Ok(())
    }
}

//! The document of a fitted skin: the model itself, what stock players show of it, and how well both fit.

use super::{Document, FallbackError, SkinRecord};
use crate::clip::Clip;
use crate::example::ExampleSet;
use crate::fit::{EngineReport, FitReport, Method, Shown};
use crate::joint::joint_statistics;
use crate::rig::Pose;
use crate::skin::{DualQuaternionProgram, VertexProgram};

impl Document {
    /// A fitted skin with everything that a file of it holds.
    ///
    /// `look` gives the mesh as it is drawn and its materials. `clips` move the skin; channels of coefficients are
    /// left out, because they belong to morph targets of the examples' own skin, which the fitted one has absorbed.
    /// The record says how well the skin fits, and `engine` what stock players get: the exact form, or a stand-in with
    /// its error.
    pub fn of_fit(
        look: &Self,
        examples: &ExampleSet,
        method: &Method,
        fitted: &FitReport,
        engine: &EngineReport,
        clips: &[Clip],
    ) -> Self {
        let (skin, fallback) = match &engine.shown {
            Shown::Exact(exact) => (&exact.skin, None),
            Shown::StandIn { fallback, .. } => (&fitted.skin, Some(fallback)),
            Shown::Itself | Shown::FourWeights(_) => (&fitted.skin, None),
        };
        let poses: Vec<Pose> = (examples.examples().iter())
            .map(|example| example.pose.clone())
            .collect();
        let record = SkinRecord {
            method: method.key().to_owned(),
            training: Some(fitted.overall.total.clone()),
            held_out: fitted.held_out.as_ref().map(|h| h.measured.total.clone()),
            fallback: fallback.map(|plain| FallbackError {
                rms: plain.rms_error,
                max: plain.max_error,
            }),
            plain_training: fallback.map(|_| engine.overall.clone()),
            plain_held_out: fallback.and(engine.held_out.clone()),
            joints: joint_statistics(examples.skeleton(), &poses),
            ..SkinRecord::default()
        };
        let mut document = Self {
            mesh: look.mesh.clone(),
            polygons: look.polygons.clone(),
            draw: look.draw.clone(),
            materials: look.materials.clone(),
            skin: Some(skin.clone()),
            fallback: match fitted.skin.program {
                // Its weights are those of its stand-in.
                VertexProgram::DualQuaternion(_) => None,
                _ => fallback.map(|plain| plain.program.clone()),
            },
            clips: clips.iter().filter_map(bones_only).collect(),
            record: Some(record),
            ..Self::default()
        };
        document.take_rest_shape(&fitted.skin.program);
        document
    }

    /// Takes the rest shape of a skin, where that is another one than that of the mesh.
    fn take_rest_shape(&mut self, program: &VertexProgram) {
        let (VertexProgram::Ssd(ssd)
        | VertexProgram::DualQuaternion(DualQuaternionProgram { weighted: ssd })) = program
        else {
            return;
        };
        if let Ok(moved) = self.mesh.with_positions(ssd.rest_positions.clone())
            && moved != self.mesh
        {
            // Normals of another rest shape would light this one wrongly; the writer makes new ones.
            self.mesh = moved;
            for part in &mut self.draw.parts {
                part.normals.clear();
                part.tangents.clear();
            }
        }
    }
}

/// The part of a clip that moves bones, if any.
fn bones_only(clip: &Clip) -> Option<Clip> {
    let mut clip = clip.clone();
    clip.channels.retain(|channel| channel.bone().is_some());
    (!clip.channels.is_empty()).then_some(clip)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Split;
    use crate::clip::{Channel, Interpolation, Keys};
    use crate::fit::{AnimSpaceOptions, SsdOptions, engine_report, evaluate_fit};
    use crate::mesh::DrawMesh;
    use crate::progress::Silent;
    use crate::synth::{TubeOptions, tube};

    fn fitted(method: &Method) -> (Document, ExampleSet) {
        let set = tube(&TubeOptions::default()).examples;
        let fitted = evaluate_fit(&set, &Split::EveryNth(4), |training| {
            method.fit(&set, training, &Silent)
        })
        .expect("a tube can be fitted");
        let engine = engine_report(&set, &fitted, false, &Silent).expect("it can be shown");
        let rest = set.rest();
        let look = Document {
            mesh: rest.clone(),
            draw: DrawMesh::plain("tube", rest.vertex_count(), rest.triangles()),
            ..Document::default()
        };
        let poses: Vec<Pose> = set.examples().iter().map(|e| e.pose.clone()).collect();
        let mut motion = Clip::from_poses("bend", set.skeleton(), &poses, 24.0).expect("rigid");
        let smile = Clip {
            name: "smile".to_owned(),
            channels: vec![Channel::Coefficients(
                0,
                Keys {
                    interpolation: Interpolation::Linear,
                    times: vec![0.0],
                    values: vec![vec![1.0]],
                },
            )],
        };
        motion.channels.extend(smile.channels.clone());
        let clips = [motion, smile];
        let document = Document::of_fit(&look, &set, method, &fitted, &engine, &clips);
        (document, set)
    }

    #[test]
    fn a_plain_skin_is_written_as_it_is_with_its_record_and_clips() {
        let (document, set) = fitted(&Method::Ssd(SsdOptions::default()));
        let record = document.record.as_ref().expect("a record");
        assert_eq!(record.method, "ssd", "by its key");
        assert!(
            record.training.is_some() && record.held_out.is_some(),
            "measured"
        );
        assert!(
            record.fallback.is_none() && document.fallback.is_none(),
            "no stand-in"
        );
        assert_eq!(
            record.joints.len(),
            set.skeleton().bone_count(),
            "every joint"
        );
        let [clip] = &document.clips[..] else {
            panic!("the motion of bones alone: {:?}", document.clips);
        };
        let only_bones = clip.channels.iter().all(|channel| channel.bone().is_some());
        assert!(only_bones && clip.name == "bend", "{clip:?}");
    }

    #[test]
    fn a_model_that_engines_do_not_know_has_a_stand_in_with_its_error() {
        let (document, _) = fitted(&Method::AnimSpace(AnimSpaceOptions::default()));
        let record = document.record.as_ref().expect("a record");
        let error = record.fallback.expect("how far the stand-in is away");
        assert!(error.rms > 0.0 && error.max >= error.rms, "{error:?}");
        assert!(record.plain_training.is_some(), "measured, too");
        assert!(document.plain_skin().is_some(), "what players show");
    }
}

//! Every method from the command line to a file and back.

use dermis::fit::{Method, Shown};
use dermis::progress::Silent;
use dermis::synth::{ArmOptions, arm, arm_motion};
use dermis::{Document, Pose, VertexProgram};

use crate::common::{SMALL_TUBE, Scratch, tube_document};

/// The skin that was fitted and the one that is read have the same numbers, but for rounding to 32 bits.
#[test]
fn a_file_shows_what_was_fitted() {
    let scratch = Scratch::new();
    let options = ArmOptions {
        ring_count: 20,
        segment_count: 8,
        poses: arm_motion(12),
    };
    let set = arm(&options).examples;
    let training: Vec<usize> = (0..set.examples().len()).collect();
    let poses: Vec<Pose> = set.examples().iter().map(|e| e.pose.clone()).collect();
    for method in Method::all(4) {
        let key = method.key();
        let fitted = method.fit(&set, &training, &Silent);
        let skin = fitted.unwrap_or_else(|error| panic!("{key}: {error}")).skin;
        let shown = Shown::of(&skin, &poses, false, &Silent).expect("poses of the skin");
        let fallback = match (shown, &skin.program) {
            // Its weights are those of its stand-in.
            (_, VertexProgram::DualQuaternion(_)) => None,
            (Shown::StandIn { fallback, .. }, _) => Some(fallback.program),
            _ => None,
        };
        let name = format!("{key}.glb");
        let document = Document {
            mesh: set.rest().clone(),
            skin: Some(skin.clone()),
            fallback,
            ..Document::default()
        };
        scratch.write(&name, &document);
        let read = scratch.read(&name).skin.expect("a skin");
        for pose in &poses {
            let expected = skin.evaluate(pose).expect("the pose fits");
            let found = read.evaluate(pose).expect("the pose fits");
            let distances = expected.iter().zip(&found).map(|(a, b)| a.distance(*b));
            let apart = distances.fold(0.0, f64::max) / set.size();
            assert!(apart < 2e-6, "{key}: {apart}");
        }
    }
}

#[test]
fn every_method_says_its_name_and_writes_the_same_bytes_on_any_threads() {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    for method in Method::all(4) {
        let (key, title) = (method.key(), method.title());
        let fit = format!("fit tube.npz --method {key} --hold-out none");
        let one = format!("--threads 1 {fit} -o {key}.glb --report {key}.html");
        let run = scratch.dermis(&one).done();
        assert!(run.says(&format!("{title}: ")), "{run:#?}");
        let page = std::fs::read_to_string(scratch.at(&format!("{key}.html"))).expect("a page");
        let heading = title[1..].to_owned() + ", fitted to 6 examples</h1>";
        assert!(page.contains(&heading), "the heading of {key}");
        let record = scratch.read(&format!("{key}.glb")).record;
        assert_eq!(record.expect("a record").method, key, "in the file");
        let four = format!("--threads 4 {fit} -o {key}_4.glb");
        scratch.dermis(&four).done();
        let bytes = |name: String| std::fs::read(scratch.at(&name)).expect("written");
        assert!(
            bytes(format!("{key}.glb")) == bytes(format!("{key}_4.glb")),
            "{key} on 1 and on 4 threads differ"
        );
    }
}

#[test]
fn help_has_every_option_of_every_method_and_refuses_those_of_others() {
    let scratch = Scratch::new();
    let help = scratch.dermis("fit --help").done().stdout;
    let methods = Method::all(4);
    for option in methods.iter().flat_map(Method::options) {
        assert!(
            help.contains(&format!("--{} <", option.name)),
            "{}",
            option.name
        );
        for method in &methods {
            if method.options().iter().any(|own| own.name == option.name) {
                continue;
            }
            let value = match option.value.as_str() {
                // Words of targets are the library's alone.
                "none" => "1",
                value => value,
            };
            let key = method.key();
            let fit = format!(
                "fit none.npz -o x.glb --method {key} --{} {value}",
                option.name
            );
            let run = scratch.dermis(&fit);
            assert_eq!(run.code, 2, "{run:#?}");
            let sentence = format!("--{} belongs to --method ", option.name);
            assert!(run.stderr.contains(&sentence), "{run:#?}");
            assert!(run.stderr.contains(&format!(", not to {key}")), "{run:#?}");
        }
    }
}

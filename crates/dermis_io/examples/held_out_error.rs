//! Held-out error of animation space on files with meshes and poses.
//!
//! Usage: held_out_error [--prior zero|ssd] [--delta D | --lambda L] [--ssd] FILE...
//!
//! Every fourth mesh is held out. Prints one line per file: enveloping error in per cent on the
//! meshes that were held out and on the others, the delta that was used, and seconds.

use std::time::Instant;

use dermis::fit::{AnimSpaceOptions, Method, Prior, Smoothing, SsdOptions};
use dermis::measure::measure;
use dermis::progress::Silent;
use dermis::{Example, ExampleSet, Pose, Split};

fn main() {
    let mut options = AnimSpaceOptions::default();
    let mut ssd = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || -> f64 {
            let value = arguments.next().expect("a number follows");
            value.parse().expect("a number follows")
        };
        match argument.as_str() {
            "--ssd" => ssd = true,
            "--delta" => options.smoothing = Smoothing::Edges { delta: number() },
            "--lambda" => options.smoothing = Smoothing::Ridge { lambda: number() },
            "--max" => options.max_influences = number() as usize,
            "--prior-zero" => options.prior = Prior::Zero,
            "--prior-ssd" => options.prior = Prior::Ssd,
            file => {
                let set = read(file);
                let method = match ssd {
                    true => Method::Ssd(SsdOptions {
                        max_influences: options.max_influences,
                        ..SsdOptions::default()
                    }),
                    false => Method::AnimSpace(options.clone()),
                };
                let fold = &set.folds(&Split::EveryNth(4)).expect("enough meshes")[0];
                let start = Instant::now();
                let fitted = method
                    .fit(&set, &fold.training, &Silent)
                    .unwrap_or_else(|error| panic!("{file}: {error}"));
                let seconds = start.elapsed().as_secs_f64();
                let error = |which| {
                    let measured = measure(&fitted.skin, &set, which);
                    measured.expect("poses fit").total.enveloping_error_percent
                };
                println!(
                    "{file}: held out {:.3?}, training {:.3?}, smoothing {:?}, mean influences {:.2}, {seconds:.2} s",
                    error(&fold.held_out),
                    error(&fold.training),
                    fitted.smoothing,
                    fitted.skin.program.bones().count() as f64 / fitted.skin.vertex_count() as f64,
                );
            }
        }
    }
}

fn read(file: &str) -> ExampleSet {
    let document = dermis_io::read(file.as_ref()).unwrap_or_else(|error| panic!("{error}"));
    let skeleton = document.skin.expect("the file has bones").skeleton;
    let examples = document
        .frames
        .iter()
        .zip(&document.frame_poses)
        .map(|(frame, pose)| Example {
            name: frame.name.clone(),
            pose: Pose::new(pose.parent_from_bone.clone()),
            positions: frame.positions.clone(),
        })
        .collect();
    ExampleSet::new(document.mesh, skeleton, examples).expect("meshes and poses agree")
}

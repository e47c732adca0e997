//! The number of threads decides how long work takes, and nothing else.

use dermis::synth::{FlagOptions, flag};
use glam::DVec3;

use crate::common::{SMALL_TUBE, Scratch, sequence, tube_document};

fn bytes(scratch: &Scratch, name: &str) -> Vec<u8> {
    std::fs::read(scratch.at(name)).expect("the file was written")
}

#[test]
fn one_thread_and_three_write_the_same_bytes() {
    let scratch = Scratch::new();
    for threads in [1, 3] {
        scratch
            .dermis(&format!("demo demo_{threads} --threads {threads}"))
            .done();
        // Several rounds and a choice of influences: everything that is shared between threads.
        scratch
            .dermis(&format!(
                "--threads {threads} fit demo_1/examples.npz -o fit_{threads}.glb \
                 --max-influences 2 --rest-rounds 3"
            ))
            .done();
    }
    for (one, three) in [
        ("demo_1/after.glb", "demo_3/after.glb"),
        ("demo_1/before_after.png", "demo_3/before_after.png"),
        ("demo_1/examples.npz", "demo_3/examples.npz"),
        ("demo_1/worst.png", "demo_3/worst.png"),
        ("fit_1.glb", "fit_3.glb"),
    ] {
        assert!(
            bytes(&scratch, one) == bytes(&scratch, three),
            "{one} and {three} differ"
        );
    }
    scratch
        .dermis("fit demo_1/examples.npz -o defaults.glb")
        .done();
    assert!(
        bytes(&scratch, "fit_1.glb") != bytes(&scratch, "defaults.glb"),
        "other options give another skin"
    );
}

#[test]
fn a_rig_is_the_same_bytes() {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    for threads in [1, 3] {
        let rig = format!("rig tube.npz --bones 3 -o rig_{threads}.npz");
        scratch.dermis(&format!("--threads {threads} {rig}")).done();
    }
    assert!(
        bytes(&scratch, "rig_1.npz") == bytes(&scratch, "rig_3.npz"),
        "they differ"
    );
}

#[test]
fn every_decomposition_writes_the_same_bytes() {
    let made = flag(&FlagOptions {
        width: 16,
        height: 11,
        frame_count: 16,
    });
    let frames: Vec<Vec<DVec3>> = made.frames().map(<[DVec3]>::to_vec).collect();
    let scratch = Scratch::new();
    scratch.write("flag.npz", &sequence(made.rest(), &frames));
    scratch
        .dermis("decompose flag.npz --bones 3 --rigid -o rig.glb -q")
        .done();
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for arguments in [
        "--bones 7",
        "--bones 7 --rigid --max-influences 2",
        "--bones 5 --hierarchy",
        "--bones 5 --smooth 1 --fixed-rest",
        "--target-error 8 --max-bones 20",
        "--keep rig.glb --bones 2 --lock fit:5",
        "--keep rig.glb --weights-only",
        "--keep rig.glb --transforms-only",
    ] {
        let written = |threads: usize| {
            let command = format!("decompose flag.npz {arguments} -o skin.glb");
            let run = scratch.dermis(&format!("--threads {threads} --quiet {command}"));
            assert_eq!(run.code, 0, "{run:#?}");
            bytes(&scratch, "skin.glb")
        };
        let (one, two) = (written(1), written(2));
        assert!(one == two, "{arguments} on 1 and on 2 threads differ");
        assert!(
            !seen.contains(&one),
            "{arguments} is another skin than before"
        );
        seen.push(one);
    }
}

//! The number of threads decides how long work takes, and nothing else.

mod common;

use common::{SMALL_TUBE, Scratch, tube_document};

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
        ("demo_1/arm.glb", "demo_3/arm.glb"),
        ("demo_1/examples.npz", "demo_3/examples.npz"),
        ("demo_1/worst.png", "demo_3/worst.png"),
        ("fit_1.glb", "fit_3.glb"),
    ] {
        assert!(
            bytes(&scratch, one) == bytes(&scratch, three),
            "{one} and {three} differ"
        );
    }
    assert!(
        bytes(&scratch, "fit_1.glb") != bytes(&scratch, "demo_1/arm.glb"),
        "other options give another skin"
    );
}

#[test]
fn every_method_and_the_rig_write_the_same_bytes() {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    let files = |threads: usize| {
        let keys = [
            "ssd",
            "pseudo-bones",
            "animation-space",
            "mwe",
            "dual-quaternion",
        ];
        let mut files: Vec<String> = Vec::new();
        for key in keys {
            let file = format!("{key}_{threads}.glb");
            let fit = format!("fit tube.npz --method {key} --hold-out none -o {file}");
            scratch.dermis(&format!("--threads {threads} {fit}")).done();
            files.push(file);
        }
        let file = format!("rig_{threads}.npz");
        let rig = format!("rig tube.npz --bones 3 -o {file}");
        scratch.dermis(&format!("--threads {threads} {rig}")).done();
        files.push(file);
        files
    };
    for (one, three) in files(1).iter().zip(&files(3)) {
        assert!(
            bytes(&scratch, one) == bytes(&scratch, three),
            "{one} and {three} differ"
        );
    }
}

//! What is read is a file, and what is written is whole: pipes, devices, links, permissions, full disks and
//! programs that were killed.

#![cfg(unix)]

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Run, SMALL_TUBE, Scratch, tube_document};

/// Far longer than anything here takes: only what waits for ever is still at it.
const FOR_EVER: Duration = Duration::from_secs(60);

/// A folder with a small skin and its examples.
fn folder() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    scratch.dermis("convert tube.npz tube.glb --quiet").done();
    scratch
}

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo starts").success(), "a pipe");
}

/// Starts a program that may wait for ever; its output is kept.
fn start(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// What a program said until its end; fails when it does not come to one.
#[track_caller]
fn end_of(mut child: Child) -> Run {
    let start = Instant::now();
    while child.try_wait().expect("its state is known").is_none() {
        if start.elapsed() > FOR_EVER {
            child.kill().expect("it can be ended");
            panic!("it waits for ever");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("it has ended");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Run {
        command: String::new(),
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Waits until something is as it will be.
#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < FOR_EVER, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Fails unless a run was refused in one sentence that has all parts.
#[track_caller]
fn assert_refused(run: &Run, parts: &[&str]) {
    assert_eq!(run.code, 2, "{run:#?}");
    assert_eq!(run.stderr.lines().count(), 1, "one sentence: {run:#?}");
    for part in parts {
        assert!(run.stderr.contains(part), "{part} in {run:#?}");
    }
}

#[test]
fn a_pipe_that_a_file_names_is_not_waited_for() {
    let scratch = folder();
    make_pipe(&scratch.at("pipe"));
    make_pipe(&scratch.at("pipe.glb"));
    let buffer = r#"{"asset": {"version": "2.0"}, "buffers": [{"uri": "pipe", "byteLength": 4}]}"#;
    scratch.put("buffer.gltf", buffer);
    let run = end_of(start(&mut scratch.command("info buffer.gltf")));
    assert_refused(
        &run,
        &["pipe: cannot be read: expected a file, found a pipe"],
    );
    // Nor is one that the user names, whose format is in its name alone.
    let run = end_of(start(&mut scratch.command("info pipe.glb")));
    assert_refused(
        &run,
        &["pipe.glb: cannot be read: expected a file, found a pipe"],
    );

    // Looks are not needed: they are left out, with a note.
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl skin\nf 1 2 3\n";
    scratch.put("library.obj", format!("mtllib pipe\n{mesh}"));
    scratch.put("picture.mtl", "newmtl skin\nmap_Kd pipe\n");
    scratch.put("picture.obj", format!("mtllib picture.mtl\n{mesh}"));
    scratch.put(
        "picture.gltf",
        r#"{"asset": {"version": "2.0"}, "images": [{"uri": "pipe"}]}"#,
    );
    for name in ["library.obj", "picture.obj", "picture.gltf"] {
        let run = end_of(start(&mut scratch.command(&format!("info {name}"))));
        let said = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.code, 0, "{name}: {said}");
        assert!(said.contains("found a pipe"), "{name}: {said}");
    }
}

#[test]
fn what_is_written_to_a_pipe_or_a_device_goes_through_it() {
    let scratch = folder();
    scratch.dermis("convert tube.glb plain.npz --quiet").done();
    let pipe = scratch.at("pipe.npz");
    make_pipe(&pipe);
    let child = start(&mut scratch.command("convert tube.glb pipe.npz"));
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::read(pipe).expect("what comes through"))
    };
    end_of(child).done();
    let through = reader.join().expect("it has ended");
    let plain = std::fs::read(scratch.at("plain.npz")).expect("written");
    assert!(through == plain, "the bytes of the file");
    let is_pipe = |path: &Path| {
        let there = std::fs::symlink_metadata(path).expect("there");
        there.file_type().is_fifo()
    };
    assert!(is_pipe(&pipe), "it stays a pipe");

    symlink("/dev/null", scratch.at("nowhere.glb")).expect("a link");
    scratch.dermis("convert tube.npz nowhere.glb").done();
    let null = std::fs::metadata("/dev/null").expect("there");
    assert!(null.file_type().is_char_device(), "it stays a device");
    assert!(scratch.at("nowhere.glb").is_symlink(), "it stays a link");
    symlink("/dev/full", scratch.at("full.glb")).expect("a link");
    let run = scratch.dermis("convert tube.npz full.glb --quiet");
    assert_refused(&run, &["full.glb: cannot be written: No space left"]);
}

#[test]
fn a_page_on_standard_output_is_followed_by_the_results() {
    let scratch = folder();
    let file = std::fs::File::create(scratch.at("all.txt")).expect("a file");
    let status = scratch
        .command("fit tube.npz -o skin.glb --report /dev/stdout --json --quiet")
        .stdout(file)
        .status();
    assert!(status.expect("the program starts").success(), "it is done");
    let text = std::fs::read_to_string(scratch.at("all.txt")).expect("a text");
    let page = text.to_lowercase().find("</html>").expect("the page");
    let results = text[page..].find('{').expect("the results after it");
    let results: serde_json::Value =
        serde_json::from_str(&text[page + results..]).expect("whole, to the end");
    assert!(results.is_object(), "{results}");
}

#[test]
fn a_link_stays_and_the_file_behind_it_is_replaced() {
    let scratch = folder();
    scratch.put("store/old.glb", "old");
    symlink("store/old.glb", scratch.at("link.glb")).expect("a link");
    symlink("store/new.glb", scratch.at("dangling.glb")).expect("a link");
    for (link, real) in [
        ("link.glb", "store/old.glb"),
        ("dangling.glb", "store/new.glb"),
    ] {
        scratch
            .dermis(&format!("convert tube.npz {link} --quiet"))
            .done();
        assert!(scratch.at(link).is_symlink(), "{link} stays a link");
        assert!(scratch.read(real).skin.is_some(), "{real} is the skin");
    }
}

#[test]
fn new_files_follow_the_umask_and_old_ones_keep_their_permissions() {
    let scratch = folder();
    let convert = |umask: &str, output: &str| {
        let mut command = Command::new("sh");
        command.current_dir(scratch.path());
        let script = format!("umask {umask}; exec \"$0\" convert tube.npz {output} --quiet");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_dermis")]);
        end_of(start(&mut command)).done();
    };
    let mode = |name: &str| {
        let there = std::fs::metadata(scratch.at(name)).expect("it is there");
        there.permissions().mode() & 0o777
    };
    convert("077", "private.gltf");
    assert_eq!(mode("private.gltf"), 0o600, "nobody else");
    assert_eq!(mode("private.bin"), 0o600, "nobody else");
    convert("002", "shared.glb");
    assert_eq!(mode("shared.glb"), 0o664, "the group, too");
    let group_reads = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(scratch.at("shared.glb"), group_reads).expect("it is ours");
    convert("022", "shared.glb");
    assert_eq!(mode("shared.glb"), 0o640, "as it was");
}

/// Runs the program where no file may grow beyond some blocks of 512 bytes, as on a disk that is full.
fn on_a_small_disk(scratch: &Scratch, blocks: u64, arguments: &str) -> Run {
    let mut command = Command::new("sh");
    command.current_dir(scratch.path());
    // Ignored, the signal becomes an error, as a full disk is.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {arguments}");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_dermis")]);
    end_of(start(&mut command))
}

#[test]
fn a_full_disk_leaves_every_old_file_as_it_was() {
    let scratch = folder();
    scratch.put("triangle.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let size = |name: &str| std::fs::metadata(scratch.at(name)).expect("there").len();
    for (command, first, last) in [
        (
            "convert triangle.obj hero.gltf --quiet",
            "hero.bin",
            "hero.gltf",
        ),
        (
            "fit tube.npz -o skin.glb --report page.html --quiet",
            "skin.glb",
            "page.html",
        ),
    ] {
        scratch.dermis(command).done();
        let (small, large) = (size(first), size(last));
        // Enough for the first file and not for the last.
        let blocks = small / 512 + 1;
        assert!(512 * blocks < large, "{first} {small}, {last} {large}");
        // Old files of another content, as an earlier run would have left them.
        let text = std::fs::read(scratch.at(first)).expect("there");
        scratch.put(first, [&text[..], b"old"].concat());
        let before = snapshot(&scratch);
        let run = on_a_small_disk(&scratch, blocks, command);
        assert_refused(&run, &[last, "cannot be written", "File too large"]);
        assert!(snapshot(&scratch) == before, "{command}: all as it was");
    }
    let before = snapshot(&scratch);
    let run = on_a_small_disk(&scratch, 2, "convert tube.glb new/frames_##.obj --quiet");
    assert_refused(&run, &["frames_01.obj", "cannot be written"]);
    assert!(snapshot(&scratch) == before, "no frame");
    assert!(!scratch.at("new").exists(), "no folder");
}

/// All files with what is in them.
fn snapshot(scratch: &Scratch) -> Vec<(String, Vec<u8>)> {
    let names = scratch.files().into_iter();
    names
        .map(|name| {
            let bytes = std::fs::read(scratch.at(&name)).expect("a file");
            (name, bytes)
        })
        .collect()
}

#[test]
fn a_buffer_file_that_is_not_ours_is_left_alone() {
    let scratch = folder();
    scratch.put("hero.bin", "precious");
    for _ in 0..2 {
        let run = scratch.dermis("convert tube.npz hero.gltf").done();
        let wrote = "wrote hero.gltf and hero_1.bin";
        assert!(run.stderr.contains(wrote), "it says so: {run:#?}");
        let kept = std::fs::read(scratch.at("hero.bin")).expect("there");
        assert_eq!(kept, b"precious", "untouched");
        assert!(scratch.read("hero.gltf").skin.is_some(), "it reads back");
    }
    let expected = [
        "hero.bin",
        "hero.gltf",
        "hero_1.bin",
        "tube.glb",
        "tube.npz",
    ];
    assert_eq!(scratch.files(), expected, "the second run has its own");
}

#[test]
fn names_that_are_no_text_are_kept_byte_by_byte() {
    let scratch = folder();
    let name = |bytes: &[u8]| scratch.path().join(OsStr::from_bytes(bytes));
    let run = |arguments: &[&OsStr]| {
        let mut command = scratch.command("");
        end_of(start(command.args(arguments))).done()
    };
    let word = |text: &'static str| OsStr::new(text);
    let odd = OsStr::from_bytes(b"h\xe9 ro.gltf");
    run(&[word("convert"), word("tube.npz"), odd]);
    assert!(name(b"h\xe9 ro.bin").is_file(), "the buffer beside it");
    let json = std::fs::read_to_string(name(b"h\xe9 ro.gltf")).expect("a text");
    assert!(json.contains(r#""h%E9%20ro.bin""#), "escaped");
    run(&[word("convert"), odd, word("back.glb")]);
    let back = scratch.read("back.glb");
    assert_eq!(back.mesh, scratch.read("tube.glb").mesh, "the same mesh");

    let frames = OsStr::from_bytes(b"h\xe9.obj");
    run(&[word("convert"), word("tube.glb"), frames]);
    assert!(name(b"h\xe9_0001.obj").is_file(), "a frame");
}

/// What programs at work, or killed ones, have beside their outputs.
fn staged(scratch: &Scratch) -> Vec<String> {
    let files = scratch.files().into_iter();
    files.filter(|name| name.starts_with(".dermis-")).collect()
}

#[test]
fn what_a_killed_program_left_goes_with_the_next_run_and_no_running_one_is_disturbed() {
    let scratch = folder();
    // Waits for a reader, when its buffer is written aside already.
    make_pipe(&scratch.at("hero.gltf"));
    let waiting = || {
        let child = start(&mut scratch.command("convert tube.npz hero.gltf"));
        let own = format!(".dermis-{}-0.part/0", child.id());
        wait_until("the buffer aside", || staged(&scratch).contains(&own));
        child
    };
    let mut killed = waiting();
    killed.kill().expect("it can be ended");
    killed.wait().expect("it has ended");
    let left = staged(&scratch);
    assert!(!left.is_empty(), "it could not clean up");

    let running = waiting();
    let own = staged(&scratch);
    assert!(
        left.iter().all(|name| !own.contains(name)),
        "the next one did: {own:?}"
    );
    scratch.dermis("convert tube.npz other.glb --quiet").done();
    assert_eq!(staged(&scratch), own, "what is at work stays");

    let pipe = scratch.at("hero.gltf");
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let mut pipe = std::fs::File::open(pipe).expect("the pipe opens");
        pipe.read_to_end(&mut text).expect("what comes through");
        text
    });
    end_of(running).done();
    assert!(!reader.join().expect("it has ended").is_empty(), "the JSON");
    assert!(staged(&scratch).is_empty(), "all is clean");
    assert!(scratch.at("hero.bin").is_file(), "with its buffer");
}

#[test]
fn a_comparison_that_fails_leaves_no_page() {
    let scratch = folder();
    let mut huge = tube_document(&SMALL_TUBE);
    for frame in &mut huge.frames {
        for position in &mut frame.positions {
            *position *= 1e39;
        }
    }
    let positions = huge.mesh.positions().iter().map(|p| *p * 1e39).collect();
    huge.mesh = huge.mesh.with_positions(positions).expect("a larger tube");
    scratch.write("huge.npz", &huge);
    scratch.put("page.html", "of an earlier run");
    let before = snapshot(&scratch);
    // No skin of it fits into the numbers of a player.
    let run = scratch
        .dermis("compare huge.npz --methods ssd,mwe --report page.html --save skins --quiet");
    assert_refused(&run, &["no method could be fitted"]);
    assert!(snapshot(&scratch) == before, "the old page, no skin");
}

//! Someone types: help that begins with what to try, completions, man pages, colours, a voice that can be raised.

use crate::common::{Run, SMALL_TUBE, Scratch, tube_document};

/// A folder with a small skin and its examples.
fn folder() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    scratch.dermis("convert tube.npz tube.glb --quiet").done();
    scratch
}

/// Runs the program with some variables of the environment.
fn with_variables(scratch: &Scratch, arguments: &str, variables: &[(&str, &str)]) -> Run {
    let mut command = scratch.command(arguments);
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command.envs(variables.iter().copied());
    let output = command.output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("the program speaks UTF-8");
    Run {
        command: arguments.to_owned(),
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

#[test]
fn the_name_alone_says_three_things_to_try() {
    let scratch = Scratch::new();
    let alone = scratch.dermis("");
    let asked = scratch.dermis("--help").done();
    for text in [&alone.stderr, &asked.stdout] {
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Three things to try:", "{text}");
        let end = lines
            .iter()
            .position(|line| line.is_empty())
            .expect("an end");
        let commands = lines[1..end].iter().filter(|l| l.starts_with("  dermis "));
        assert_eq!(commands.count(), 3, "{text}");
    }
    assert_eq!(alone.code, 2, "nothing was done");
}

#[test]
fn help_is_written_for_eighty_columns() {
    let scratch = Scratch::new();
    let mut commands = vec![String::new()];
    while let Some(command) = commands.pop() {
        let help = scratch.dermis(&format!("{command} --help")).done().stdout;
        let mut is_list = false;
        for line in help.lines() {
            is_list = (is_list || line == "Commands:") && !line.is_empty();
            let name = line
                .strip_prefix("  ")
                .and_then(|rest| rest.split(' ').next());
            if let Some(name) = name.filter(|name| is_list && !["", "help"].contains(name)) {
                commands.push(format!("{command} {name}"));
            }
            // Commands to copy, and tables: prose is wrapped to the terminal, these would be broken.
            let is_fixed = line.starts_with("  dermis ") && !is_list;
            let width = line.chars().count();
            assert!(!is_fixed || width <= 80, "{width} columns: {line}");
        }
    }
}

#[test]
fn a_slip_of_the_finger_is_answered_with_what_was_meant() {
    let scratch = folder();
    for (typed, meant) in [
        ("fitt tube.npz -o skin.glb", "fit"),
        ("info tube.glb --bone", "--bones"),
        ("fit tube.npz --methd ssd -o skin.glb", "--method"),
        ("psd remov arm.psd.toml", "remove"),
    ] {
        let run = scratch.dermis(typed);
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(
            run.stderr.contains("similar") && run.stderr.contains(meant),
            "{meant} in {run:#?}"
        );
    }
}

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = scratch
            .dermis(&format!("completions {shell}"))
            .done()
            .stdout;
        for word in ["dermis", "bake-clips", "limit-memory"] {
            assert!(script.contains(word), "{word} for {shell}");
        }
    }
    let bash = scratch.dermis("completions bash").done().stdout;
    scratch.put("dermis.bash", &bash);
    let Ok(checked) = (std::process::Command::new("bash"))
        .args(["-n", "dermis.bash"])
        .current_dir(scratch.path())
        .output()
    else {
        println!("skipped: there is no bash");
        return;
    };
    assert!(checked.status.success(), "bash reads it: {checked:?}");
}

#[test]
fn every_command_has_a_man_page() {
    let scratch = Scratch::new();
    let run = scratch.dermis("man pages").done();
    assert!(run.stderr.contains("pages to pages"), "{run:#?}");
    let files = scratch.files();
    for name in [
        "dermis.1",
        "dermis-fit.1",
        "dermis-psd.1",
        "dermis-psd-add.1",
    ] {
        assert!(
            files.contains(&format!("pages/{name}")),
            "{name} in {files:?}"
        );
    }
    let page = std::fs::read_to_string(scratch.at("pages/dermis-fit.1")).expect("a page");
    assert!(page.contains(".TH") && page.contains("held"), "{page}");
    let first = scratch.dermis("man").done().stdout;
    assert!(first.contains(".TH dermis 1"), "{first}");
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let scratch = Scratch::new();
    let missing = "info missing.glb";
    let red = "\u{1b}[1m\u{1b}[31merror:";
    for (arguments, variables, is_red) in [
        (missing, &[][..], false),
        (missing, &[("CLICOLOR_FORCE", "1")][..], true),
        (
            "info missing.glb --color always",
            &[("NO_COLOR", "1")][..],
            true,
        ),
        (
            "--color=never info missing.glb",
            &[("CLICOLOR_FORCE", "1")][..],
            false,
        ),
        (missing, &[("NO_COLOR", "1")][..], false),
    ] {
        let run = with_variables(&scratch, arguments, variables);
        assert_eq!(run.code, 2, "{run:#?}");
        let has_red = run.stderr.contains(red);
        assert_eq!(has_red, is_red, "{arguments} {variables:?}: {run:#?}");
        assert_eq!(
            run.stderr.contains('\u{1b}'),
            is_red,
            "no other either: {run:#?}"
        );
        assert!(
            run.stderr.contains("missing.glb"),
            "the sentence is there: {run:#?}"
        );
    }
    let help = with_variables(&scratch, "fit --help --color always", &[]);
    assert!(help.stdout.contains('\u{1b}'), "help, too");
}

#[test]
fn the_voice_can_be_raised_and_lowered() {
    let scratch = folder();
    let usual = scratch.dermis("fit tube.npz -o a.glb").done();
    let loud = scratch.dermis("fit tube.npz -o b.glb -v").done();
    let quiet = scratch.dermis("fit tube.npz -o c.glb -q").done();
    assert!(usual.stderr.contains("wrote a.glb"), "{usual:#?}");
    assert!(!usual.stderr.contains("read tube.npz"), "{usual:#?}");
    assert_eq!(quiet.stderr, "", "nothing but results: {quiet:#?}");
    assert_eq!(
        quiet.stdout.lines().count(),
        usual.stdout.lines().count(),
        "the same table"
    );
    let read = loud
        .stderr
        .lines()
        .find(|line| line.contains("read tube.npz, "));
    let read = read.unwrap_or_else(|| panic!("the file that was read: {loud:#?}"));
    assert!(
        read.contains(" s  read") && read.contains("KiB"),
        "with time and size: {read}"
    );
    assert!(
        loud.stderr.contains("held out"),
        "what was chosen: {loud:#?}"
    );
    let both = scratch.dermis("info tube.glb -v -q");
    assert_eq!(both.code, 2, "one or the other: {both:#?}");
}

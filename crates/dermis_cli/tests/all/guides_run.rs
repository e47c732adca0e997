//! The commands of a guide do what the guide says.
//!
//! Fenced blocks that begin with ```` ```sh ```` are run from top to bottom in one empty folder; a ```` ```text ```` block
//! after one of them is what it prints, with any numbers. Blocks that begin with ```` ```sh own files ```` name files that
//! only the reader has: their commands must fail for want of these files, and not because of a flag.

#![cfg(unix)]

use std::process::Command;

use crate::common::Scratch;
use crate::demo_shows_the_fix::copy_demo;

/// A fenced block of a page.
struct Block {
    /// What stands behind the fence.
    kind: String,
    text: String,
    line: usize,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => found.push(block),
            (Some(kind), None) => {
                open = Some(Block {
                    kind: kind.to_owned(),
                    text: String::new(),
                    line: number + 1,
                });
            }
            (None, Some(mut block)) => {
                block.text += line;
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "every block ends");
    found
}

/// Runs lines of a shell in a folder, and gives all that they print.
fn shell(scratch: &Scratch, lines: &str) -> (bool, String) {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_dermis")).parent();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", folder.expect("a folder").display());
    let output = Command::new("sh")
        .args(["-e", "-c", &format!("exec 2>&1\n{lines}")])
        .current_dir(scratch.path())
        .env("PATH", path)
        .output()
        .expect("a shell starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success(), text)
}

/// A line with every number as `#`, and single blanks.
fn without_numbers(line: &str) -> String {
    let mut text = String::new();
    for c in line.chars() {
        match c {
            '0'..='9' | '.' | '-' | '+' => {
                if !text.ends_with('#') {
                    text.push('#');
                }
            }
            // Exponents, as in 1.5e-7.
            'e' if text.ends_with('#') => {}
            c => text.push(c),
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn run_page(name: &str) {
    let path = format!("{}/../../docs/guide/{name}", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(&path).expect("the page");
    let scratch = Scratch::new();
    let mut printed = String::new();
    let mut count = 0;
    for block in blocks(&page) {
        let at = format!("{name}, line {}", block.line);
        match block.kind.as_str() {
            "sh" => {
                count += 1;
                // The demo takes a while, and its own story runs it.
                let mut commands = block.text.clone();
                if let Some(others) = commands.strip_prefix("dermis demo demo\n") {
                    copy_demo(&scratch.path().join("demo"));
                    commands = others.to_owned();
                }
                let (done, text) = shell(&scratch, &commands);
                assert!(done, "{at}:\n{}\n{text}", block.text);
                printed = text;
            }
            "sh own files" => {
                let joined = block.text.replace("\\\n", " ");
                for line in joined.lines().filter(|line| line.starts_with("dermis ")) {
                    let (done, text) = shell(&Scratch::new(), line);
                    let wants_a_file =
                        text.contains("cannot be read") || text.contains("No such file");
                    assert!(!done && wants_a_file, "{at}: {line}\n{text}");
                }
            }
            "text" => {
                let lines: Vec<String> = printed.lines().map(without_numbers).collect();
                for line in block.text.lines().map(without_numbers) {
                    assert!(lines.contains(&line), "{at}: {line:?} in\n{printed}");
                }
            }
            _ => {}
        }
    }
    assert!(count > 0, "{name} has commands to run");
}

#[test]
fn the_guide_to_sculpting_does_what_it_says() {
    run_page("sculpt-poses.md");
}

#[test]
fn the_guide_to_pictures_does_what_it_says() {
    run_page("render.md");
}

#[test]
fn numbers_are_left_out_of_comparisons_and_words_are_not() {
    assert_eq!(
        without_numbers("bend40: 2921 vertices,  farthest 5.65e-2 (2.3%)"),
        "bend#: # vertices, farthest # (#%)",
        "words and order stay"
    );
    assert_ne!(
        without_numbers("4 layers"),
        without_numbers("4 shapes"),
        "words count"
    );
}

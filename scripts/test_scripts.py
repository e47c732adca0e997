#!/usr/bin/env python3
"""Tests of check_links.py and check_data.py: `python3 scripts/test_scripts.py`."""

import hashlib
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_data  # noqa: E402
import check_links  # noqa: E402


class Scratch(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Links(Scratch):
    def test_links_that_lead_somewhere_are_no_problem(self) -> None:
        self.write("a.md", "# One `two`, three!\n[x](b/c.md#same-1) [y](#one-two-three) [z](b) ![p](b/p.png)\n")
        self.write("b/c.md", "## Same\n## Same\n[back](../a.md) [site](https://example.org/#x)\n")
        self.write("b/p.png", "")
        self.assertEqual(check_links.broken_links(self.root), [])

    def test_a_missing_file_and_a_missing_heading_are_named_with_their_line(self) -> None:
        self.write("a.md", "text\n[x](gone.md)\n[y](b.md#nowhere)\n[z](#there)\n[ref]: also/gone.md\n")
        self.write("b.md", "# Here\n")
        self.assertEqual(
            check_links.broken_links(self.root),
            [
                "a.md:2: there is no gone.md",
                "a.md:3: b.md has no heading for #nowhere",
                "a.md:4: a.md has no heading for #there",
                "a.md:5: there is no also/gone.md",
            ],
        )

    def test_a_link_may_break_over_two_lines_and_hold_code(self) -> None:
        self.write("a.md", "see [all `the`\nnumbers](gone.md)\n")
        self.assertEqual(check_links.broken_links(self.root), ["a.md:2: there is no gone.md"])

    def test_code_holds_neither_links_nor_headings(self) -> None:
        self.write("a.md", "```sh\n# a comment\n[x](gone.md)\n```\n`[y](gone.md)` [z](#a-comment)\n")
        self.assertEqual(check_links.broken_links(self.root), ["a.md:5: a.md has no heading for #a-comment"])

    def test_builds_and_hidden_folders_are_left_out(self) -> None:
        self.write("target/a.md", "[x](gone.md)")
        self.write("clients/node_modules/a.md", "[x](gone.md)")
        self.write("clients/.venv/a.md", "[x](gone.md)")
        self.assertEqual(check_links.broken_links(self.root), [])


class Data(Scratch):
    def setUp(self) -> None:
        super().setUp()
        digest = hashlib.sha256(b"right").hexdigest()
        self.files = {"horse/a.obj": digest, "horse/b.obj": digest}

    def test_a_set_is_there_missing_incomplete_or_different(self) -> None:
        state = lambda: check_data.state(self.root, self.files)
        self.assertEqual(state(), ("missing", False))
        self.write("horse/a.obj", "right")
        self.assertEqual(state(), ("1 of 2 files missing, the first is horse/b.obj", True))
        self.write("horse/b.obj", "wrong")
        self.assertEqual(state(), ("1 of 2 files different, the first is horse/b.obj", True))
        self.write("horse/b.obj", "right")
        self.assertEqual(state(), ("there", False))

    def test_a_list_groups_files_by_set(self) -> None:
        digest = "0" * 64
        self.write("list", f"{digest}  bpy/tube/a.npz\n{digest}  bpy/hand/a.npz\n{digest}  gltf/Alien/a.bin\n")
        self.assertEqual(sorted(check_data.read_list(self.root / "list")), ["bpy/hand", "bpy/tube", "gltf"])
        self.write("list", "no hash\n")
        with self.assertRaisesRegex(ValueError, "line 1: expected a SHA-256"):
            check_data.read_list(self.root / "list")

    def test_the_committed_list_names_no_file_twice_and_no_folder_above(self) -> None:
        sets = check_data.read_list(check_data.REPOSITORY / "data/sets.sha256")
        names = [name for files in sets.values() for name in files]
        lines = (check_data.REPOSITORY / "data/sets.sha256").read_text().splitlines()
        self.assertEqual(len(names), len(lines))
        self.assertFalse([name for name in names if name.startswith("/") or ".." in name])


if __name__ == "__main__":
    unittest.main()

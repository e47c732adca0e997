#!/usr/bin/env python3
"""Says which data sets a folder has, which are missing, and which files differ from those that the numbers come from.

    scripts/check_data.py [FOLDER]     $DERMIS_DATA unless given, else ../shared/data beside the repository

Compares with data/sets.sha256. Where the sets can be had: docs/data-sets.md. Exit codes: 0 all that is there is
right; 1 files differ, or a set is incomplete; 2 the folder or the list cannot be read.
Python 3.11, standard library only.
"""

import hashlib
import os
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
# Folders that hold several sets.
COLLECTIONS = {"bpy", "fbx-ufbx"}


def set_of(path: str) -> str:
    """The set that a file belongs to: its first folder, or its first two inside a collection."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in COLLECTIONS else parts[0]


def read_list(path: Path) -> dict[str, dict[str, str]]:
    """The sets of a list as `sha256sum` writes it: for each, the hash of every file."""
    sets: dict[str, dict[str, str]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        digest, gap, name = line.partition("  ")
        if not gap or len(digest) != 64:
            raise ValueError(f"{path}, line {number}: expected a SHA-256, two spaces and a file's name")
        sets.setdefault(set_of(name), {})[name] = digest
    return sets


def state(folder: Path, files: dict[str, str]) -> tuple[str, bool]:
    """What is to be said about a set, and whether it is a reason to fail."""
    missing = [name for name in files if not (folder / name).is_file()]
    if len(missing) == len(files):
        return "missing", False
    present = [name for name in files if name not in missing]
    different = [name for name in present if digest_of(folder / name) != files[name]]
    faults = [(missing, "missing"), (different, "different")]
    words = [f"{len(names)} of {len(files)} files {word}, the first is {names[0]}" for names, word in faults if names]
    return "; ".join(words) or "there", bool(words)


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> int:
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("DERMIS_DATA")
    folder = Path(given) if given else REPOSITORY / "../shared/data"
    if not folder.is_dir():
        print(f"{folder}: expected a folder with data sets; docs/data-sets.md says where they can be had", file=sys.stderr)
        return 2
    try:
        sets = read_list(REPOSITORY / "data/sets.sha256")
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    failed = False
    for name, files in sorted(sets.items()):
        words, is_fault = state(folder, files)
        failed |= is_fault
        print(f"{name:<28} {words}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks that every relative link of every Markdown file leads to a file, and its anchor to a heading.

    scripts/check_links.py [FOLDER]     the repository unless given

Prints one line per broken link and exits with 1 if there is one. Links to other sites are not followed.
Python 3.11, standard library only.
"""

import re
import sys
from pathlib import Path
from urllib.parse import unquote

# Folders that hold no pages of ours.
SKIPPED = {"target", "node_modules"}

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?\s*$", re.MULTILINE)
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
ANCHOR = re.compile(r"<a\s+(?:name|id)=\"([^\"]+)\"")


def pages(root: Path) -> list[Path]:
    """Every Markdown file below a folder, hidden folders and builds left out."""

    def is_ours(path: Path) -> bool:
        parts = path.relative_to(root).parts[:-1]
        return not any(part in SKIPPED or part.startswith(".") for part in parts)

    return sorted(path for path in root.rglob("*.md") if is_ours(path))


def without_code(text: str) -> str:
    """The text with fenced blocks and inline code blanked, line by line, so that line numbers stay right."""
    lines = []
    fence = None
    for line in text.split("\n"):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if fence is None and mark:
            fence = mark.group(1)
            lines.append("")
        elif fence is not None:
            if mark and mark.group(1).startswith(fence):
                fence = None
            lines.append("")
        else:
            lines.append(line)
    return re.sub(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", lambda code: re.sub(r"[^\n]", " ", code[0]), "\n".join(lines))


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)  # A link is its text.
    heading = heading.replace("`", "").replace("*", "").lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors(text: str) -> set[str]:
    """Every anchor of a page; headings of one name are numbered."""
    found: set[str] = set(ANCHOR.findall(text))
    fence = None
    for line in text.split("\n"):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark:
            fence = mark.group(1) if fence is None else None if mark.group(1).startswith(fence) else fence
            continue
        heading = HEADING.match(line) if fence is None else None
        if heading:
            base = slug(heading.group(1))
            name, number = base, 0
            while name in found:
                number += 1
                name = f"{base}-{number}"
            found.add(name)
    return found


def targets(text: str) -> list[tuple[int, str]]:
    """Line and target of every link; links may break over two lines."""
    plain = without_code(text)
    matches = [*LINK.finditer(plain), *DEFINITION.finditer(plain)]
    return sorted((plain.count("\n", 0, match.start(1)) + 1, match.group(1)) for match in matches)


def broken_links(root: Path) -> list[str]:
    """One sentence for every link that leads nowhere."""
    root = root.resolve()
    known: dict[Path, set[str]] = {}
    problems = []
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        for line, target in targets(text):
            if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//", target):
                continue
            at = f"{page.relative_to(root)}:{line}"
            path, _, anchor = unquote(target).partition("#")
            leads_to = (page.parent / path).resolve() if path else page
            if not leads_to.exists():
                problems.append(f"{at}: there is no {path}")
            elif not leads_to.is_relative_to(root):
                problems.append(f"{at}: {path} is outside the repository")
            elif anchor and leads_to.suffix == ".md":
                if leads_to not in known:
                    known[leads_to] = anchors(leads_to.read_text(encoding="utf-8"))
                if anchor not in known[leads_to]:
                    problems.append(f"{at}: {path or page.name} has no heading for #{anchor}")
    return problems


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    if not root.is_dir():
        print(f"{root}: expected a folder with Markdown files", file=sys.stderr)
        return 2
    problems = broken_links(root)
    for problem in problems:
        print(problem)
    print(f"{len(pages(root.resolve()))} pages, {len(problems)} broken links")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

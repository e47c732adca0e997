#!/usr/bin/env bash
# CPU skinning of 100,000 vertices, 4 influences, 100 bones on one thread: dermis, numpy and three.js in
# one run. Prints a Markdown table. Installs numpy into bench/.venv and three into clients/node_modules.
set -euo pipefail
cd "$(dirname "$0")/.."

[ -d clients/node_modules ] || npm ci --prefix clients --no-audit --no-fund >&2
if [ ! -x bench/.venv/bin/python ]; then
    "$(command -v python3.11 || command -v python3)" -m venv bench/.venv
    bench/.venv/bin/python -m pip install --quiet numpy >&2
fi
cargo bench --quiet -p dermis --bench run --no-run >&2

{
    DERMIS_TABLES=programs cargo bench --quiet -p dermis --bench run
    bench/.venv/bin/python bench/numpy_skinning.py
    node bench/three_skinning.mjs
} | python3 -c '
import json, sys
section, rows = "", []
for line in sys.stdin:
    if line.startswith("{"):
        peer = json.loads(line)
        rows.append((peer["peer"], peer["nsPerVertex"]))
    elif line.startswith("| ") and section.startswith("100000 vertices"):
        name, ns = [cell.strip() for cell in line.split("|")[1:3]]
        if ns.replace(".", "").isdigit():
            rows.append((f"dermis bench, {name}", float(ns)))
    elif line[:1].isdigit():
        section = line
best = min(ns for name, ns in rows if "ssd, normals" in name)
print("| one thread | ns per vertex | times dermis (linear blend, normals) |")
print("| --- | ---: | ---: |")
for name, ns in rows:
    print(f"| {name} | {ns:.2f} | {ns / best:.1f} |")
'

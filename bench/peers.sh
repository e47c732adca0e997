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
cargo build --release --quiet

{
    ./target/release/dermis bench --quiet --json
    bench/.venv/bin/python bench/numpy_skinning.py
    node bench/three_skinning.mjs
} | python3 -c '
import json, sys
text = sys.stdin.read()
decoder, at, values = json.JSONDecoder(), 0, []
while at < len(text.rstrip()):
    value, at = decoder.raw_decode(text, at)
    values.append(value)
    while at < len(text) and text[at].isspace():
        at += 1
report, *peers = values
rows = [(f"dermis, {r['"'"'program'"'"']}, normals: {r['"'"'normals'"'"']}, {r['"'"'output'"'"']}", r["nsPerVertex"])
        for r in report["rows"] if r["threads"] == 1]
rows.append(("dermis, plain f64 reference, positions", report["plainNsPerVertex"]))
rows += [(p["peer"], p["nsPerVertex"]) for p in peers]
best = min(ns for name, ns in rows if "linear blend, normals: rest" in name)
print("| one thread | ns per vertex | times dermis (linear blend, rest normals, blocks) |")
print("| --- | ---: | ---: |")
for name, ns in rows:
    print(f"| {name} | {ns:.2f} | {ns / best:.1f} |")
'

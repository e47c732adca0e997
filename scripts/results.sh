#!/usr/bin/env bash
# Prints the tables of docs/results.md from the data sets, as Markdown.
#
#   scripts/results.sh [DATA_FOLDER]     default: $DERMIS_DATA, else ../shared/data
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:-${DERMIS_DATA:-../shared/data}}
[ -d "$data" ] || { echo "no data folder at $data" >&2; exit 2; }
cargo build --release --quiet
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# One row: data set, options, then what `dermis fit --json` measured.
row() {
    local name=$1; shift
    ./target/release/dermis fit "$data/bpy/$name/truth.npz" -o "$out/skin.glb" --quiet --json "$@" |
        python3 -c '
import json, sys
m = json.load(sys.stdin)
t, h = m["training"], m["heldOut"]
ee = lambda x: "exact" if x["envelopingErrorPercent"] is None else "%.2f" % x["envelopingErrorPercent"]
print("| %s | %s | %d | %d | %.3f | %s | %.3f | %s | %.3f%% | %.1f | %.2f |" % (
    sys.argv[1], sys.argv[2] or "defaults", m["vertices"], m["cost"]["paletteSize"], t["eRms"], ee(t),
    h["eRms"], ee(h), 100 * h["maxDistance"], m["cost"]["bytesPerVertex"], m["fitSeconds"]))
' "$name" "$*"
}

echo '| set | options | vertices | bones | E_RMS fitted | EE % fitted | E_RMS held out | EE % held out | max held out | bytes/vertex | fit s |'
echo '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |'
for name in tube_lbs tube_dqs tube_csmooth tube_surfdef tube_cloth hand_csmooth \
    makehuman_csmooth makehuman_bulge makehuman_cloth; do
    row "$name"
done
for options in '--max-influences 1' '--max-influences 2' '--max-influences 8' '--candidates 12' \
    '--candidates near:3' '--rest-rounds 5'; do
    # Each is one or two words by design.
    # shellcheck disable=SC2086
    row hand_csmooth $options
    row makehuman_csmooth $options
done

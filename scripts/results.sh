#!/usr/bin/env bash
# Prints the tables of docs/results/*.md from the data sets, as Markdown.
#
#   scripts/results.sh [DATA_FOLDER] [TABLE...]     default: $DERMIS_DATA, else ../shared/data; all tables
#
# Tables: skinning methods proxies horse cat poses, and of decompositions: sequences rounds comparators sets published.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${DERMIS_DATA:-../shared/data}
if [ $# -gt 0 ] && [ -d "$1" ]; then
    data=$1
    shift
fi
decompositions='sequences rounds comparators sets published'
known=" skinning methods proxies horse cat poses $decompositions "
for table in "$@"; do
    [[ $known == *" $table "* ]] || { echo "no table '$table'; there are:$known" >&2; exit 2; }
done
wanted=" ${*:-$known} "
wants() { [[ $wanted == *" $1 "* ]]; }
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

skinning() {
    echo '| set | options | vertices | bones | E_RMS fitted | EE % fitted | E_RMS held out | EE % held out | max held out | bytes/vertex | fit s |'
    echo '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |'
    for name in tube_lbs tube_dqs tube_csmooth tube_surfdef tube_cloth hand_csmooth \
        makehuman_csmooth makehuman_bulge makehuman_cloth; do
        row "$name"
    done
    for options in '--max-influences 1' '--max-influences 2' '--max-influences 8' '--rest-rounds 5'; do
        # Each is one or two words by design.
        # shellcheck disable=SC2086
        row hand_csmooth $options
        row makehuman_csmooth $options
    done
}

# One row per method: what `dermis compare --json` measured; further arguments go to compare.
method_rows() {
    local name=$1 examples=$2; shift 2
    ./target/release/dermis compare "$examples" --quiet --json "$@" |
        python3 -c '
import json, sys
for m in json.load(sys.stdin)["methods"]:
    if m["error"]:
        print("| %s | %s | %s |" % (sys.argv[1], m["label"], m["error"]))
        continue
    t, h = m["training"], m["heldOut"]
    ee = lambda x: "exact" if x["envelopingErrorPercent"] is None else "%.2f ± %.2f" % (
        x["envelopingErrorPercent"], x["envelopingErrorDeviationPercent"])
    print("| %s | %s | %.3f | %.3f | %s | %s | %.4f%% | %.3f%% | %.2f° | %.1f | %.2f | %.2f |" % (
        sys.argv[1], m["label"], t["eRms"], h["eRms"], ee(t), ee(h), 100 * h["meanDistance"],
        100 * h["maxDistance"], h["meanNormalAngleDeg"], m["cost"]["bytesPerVertex"], m["nsPerVertex"],
        m["fitSeconds"]))
' "$name"
}

method_columns() {
    echo
    echo '| set | method | E_RMS fitted | E_RMS held out | EE ± sd % fitted | EE ± sd % held out | mean dist. held out | max held out | normal held out | bytes/vertex | ns/vertex | fit s |'
    echo '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |'
}

every_method() {
    method_columns
    for name in tube_lbs tube_dqs tube_csmooth tube_surfdef tube_cloth hand_csmooth \
        makehuman_csmooth makehuman_bulge makehuman_cloth; do
        method_rows "$name" "$data/bpy/$name/truth.npz"
    done
}

# Rotational regression: error and size over the number of proxy bones.
proxies() {
    echo
    echo '| set | proxy bones | patches | near-rigid vertices | vertices on proxies | EE ± sd % fitted | EE ± sd % held out | bytes/vertex | proxy KiB | fit s |'
    echo '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |'
    for name in tube_surfdef hand_csmooth makehuman_csmooth; do
        ./target/release/dermis compare "$data/bpy/$name/truth.npz" --methods rotational-regression \
            --proxy-bones 10,30,60,120,240 --quiet --json |
            python3 -c '
import json, sys
for m in json.load(sys.stdin)["methods"]:
    ee = lambda x: "%.2f ± %.2f" % (x["envelopingErrorPercent"], x["envelopingErrorDeviationPercent"])
    p = m["proxies"]
    print("| %s | %d | %d | %d | %d | %s | %s | %.1f | %.0f | %.2f |" % (
        sys.argv[1], p["proxies"], p["patches"], p["nearRigidVertices"], p["proxiedVertices"], ee(m["training"]),
        ee(m["heldOut"]), m["cost"]["bytesPerVertex"], m["cost"]["proxyBytes"] / 1024, m["fitSeconds"]))
' "$name"
    done
}

# The papers' horse: bones from all meshes, skins from the 11 poses, tested on the 48 of the gallop.
# Then the mean over all 59 and the largest, in thousandths of the rest box's longest side.
horse() {
    local horse=$data/horse-poses
    ./target/release/dermis convert "$data/horse-gallop/horse-gallop.npz" "$out/g_##.obj" --quiet
    ./target/release/dermis rig "$horse"/[0-9]*.obj "$out"/g_*.obj --rest "$horse/horse-poses-reference.obj" \
        --bones 25 -o "$out/horse.npz" --quiet >"$out/horse.txt"
    ./target/release/dermis compare "$out/horse.npz" --hold-out 'g_*' --surface --quiet --json >"$out/horse.json"
    python3 - "$out/horse.json" "$horse/horse-poses-reference.obj" <<'PY'
import json, sys
rest = [list(map(float, l.split()[1:4])) for l in open(sys.argv[2]) if l.startswith("v ")]
sides = [max(c) - min(c) for c in zip(*rest)]
unit = 1000 * sum(s * s for s in sides) ** 0.5 / max(sides)
print("\n| method | EE ± sd %, 11 poses | EE ± sd %, gallop | mean, 11 poses | mean, gallop | mean, all | max | to the surface: 11 poses | gallop | all | max |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
ee = lambda x: "%.2f ± %.2f" % (x["envelopingErrorPercent"], x["envelopingErrorDeviationPercent"])
for m in json.load(open(sys.argv[1]))["methods"]:
    t, h, (st, sh) = m["training"], m["heldOut"], m["surface"]
    row = []
    for a, b in ((t, h), (st, sh)):
        x, y = a["meanDistance"], b["meanDistance"]
        row += [x, y, (11 * x + 48 * y) / 59, max(a["maxDistance"], b["maxDistance"])]
    print("| %s | %s | %s | %s |" % (m["label"], ee(t), ee(h), " | ".join("%.2f" % (unit * v) for v in row)))
PY
}

# The cat, each of its ten poses held out in turn.
cat_poses() {
    local cat=$data/cat-poses
    ./target/release/dermis rig "$cat"/0*.obj --rest "$cat/cat-poses-reference.obj" --bones 26 \
        -o "$out/cat.npz" --quiet >"$out/cat.txt"
    method_columns
    method_rows cat-poses "$out/cat.npz" --hold-out one
}

# Mean distances by statistical model, and how tight bounds are.
poses() {
    cargo run --quiet --release -p dermis_io --example distances_and_bounds -- \
        "$data"/gltf/{Fox,CesiumMan}.glb "$data"/bpy/{hand_csmooth,makehuman_csmooth,makehuman_bulge,makehuman_cloth}/truth.npz
}

if wants skinning; then skinning; fi
if wants methods; then every_method; fi
if wants proxies; then proxies; fi
if wants horse; then horse; fi
if wants cat; then cat_poses; fi
if wants poses; then poses; fi
tables=()
for table in $decompositions; do
    if wants "$table"; then tables+=("$table"); fi
done
if [ ${#tables[@]} -gt 0 ]; then
    python3 scripts/decomposition_tables.py ./target/release/dermis "$data" "${tables[@]}"
fi

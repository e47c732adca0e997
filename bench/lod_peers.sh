#!/usr/bin/env bash
# Levels of detail beside what others do, in one run.
#
#   bench/lod_peers.sh peers FILE.glb...         triangles: meshoptimizer
#   bench/lod_peers.sh influences FILE.glb...    influences alone: what exporters do
#   bench/lod_peers.sh curves FOLDER FILE.glb... error against influences, as charts
#   bench/lod_peers.sh growth 2000000            time and memory, up to so many triangles
set -euo pipefail
cd "$(dirname "$0")/.."
cargo run --quiet --release --manifest-path bench/lod_peers/Cargo.toml --target-dir target -- "$@"

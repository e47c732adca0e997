#!/usr/bin/env bash
# Texture atlases in one run: dermis and xatlas on the same meshes.
#
#   bench/atlas_peers.sh [DATA_FOLDER] [SET...]     default: $DERMIS_DATA, else ../shared/data; all sets
#
# Prints Markdown: charts, stretch at rest and in the mean over all frames, packing, seconds. Installs xatlas by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${DERMIS_DATA:-../shared/data}
if [ $# -gt 0 ] && [ -d "$1" ]; then
    data=$1
    shift
fi
cargo build --release --quiet
venv=target/atlas_peers
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet numpy==2.2.6 xatlas==0.0.11
fi
exec "$venv/bin/python" bench/atlas_peers.py target/release/dermis "$data" "$@"

#!/usr/bin/env bash
# Skinning decomposition: dermis and Dem Bones on the same mesh animations, in one run, in turn.
# Prints a Markdown table. Installs py-dem-bones and numpy into bench/.venv.
#
# Usage: dem_bones.sh [DATA_FOLDER]     default: $DERMIS_DATA, else ../shared/data
#
# RUNS=2 is how many times everything is run (the crane once); times are the best of them.
# THREADS='1 2' are the numbers of threads.
set -euo pipefail
cd "$(dirname "$0")/.."

data="${1:-${DERMIS_DATA:-../shared/data}}"
[ -d "$data" ] || { echo "no data folder at $data" >&2; exit 2; }
if [ ! -x bench/.venv/bin/python ]; then
    "$(command -v python3.11 || command -v python3)" -m venv bench/.venv
fi
bench/.venv/bin/python -c 'import py_dem_bones' 2>/dev/null ||
    bench/.venv/bin/python -m pip install --quiet numpy py-dem-bones==0.13.1 >&2
cargo build --release --quiet -p dermis_cli
exec bench/.venv/bin/python bench/dem_bones.py ./target/release/dermis "$data"

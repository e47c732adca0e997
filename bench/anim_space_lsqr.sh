#!/usr/bin/env bash
# The global system of an animation-space fit: dermis, scipy's LSQR, and block-Jacobi conjugate
# gradients in scipy, in one run. Prints a Markdown table. Installs numpy and scipy into bench/.venv.
#
# Usage: anim_space_lsqr.sh [FOLDER OF HORSE POSES]
set -euo pipefail
cd "$(dirname "$0")/.."

horse="${1:-../shared/data/horse-poses}"
if [ ! -x bench/.venv/bin/python ]; then
    "$(command -v python3.11 || command -v python3)" -m venv bench/.venv
fi
bench/.venv/bin/python -c 'import scipy' 2>/dev/null ||
    bench/.venv/bin/python -m pip install --quiet numpy scipy >&2
cargo build --release --quiet -p dermis_io --example anim_space_system
made="$(mktemp -d)"
trap 'rm -rf "$made"' EXIT
system=./target/release/examples/anim_space_system
export OPENBLAS_NUM_THREADS=1

echo "| system | solver | seconds | times dermis | iterations | residual of the normal equations | peak growth, MiB |"
echo "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
if [ -d "$horse" ]; then
    summary="$("$system" horse "$horse" "$made/horse")"
    bench/.venv/bin/python bench/anim_space_lsqr.py horse "$made/horse" "$summary"
else
    echo "no meshes in $horse: the horse is left out" >&2
fi
summary="$("$system" hinge "$made/hinge")"
bench/.venv/bin/python bench/anim_space_lsqr.py hinge "$made/hinge" "$summary"

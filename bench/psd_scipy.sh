#!/usr/bin/env bash
# Pose space deformation, ten poses and 50,000 vertices: dermis and scipy's RBFInterpolator in one run,
# fitted and evaluated. Prints a Markdown table. Installs numpy and scipy into bench/.venv.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -x bench/.venv/bin/python ]; then
    "$(command -v python3.11 || command -v python3)" -m venv bench/.venv
fi
bench/.venv/bin/python -c 'import scipy' 2>/dev/null ||
    bench/.venv/bin/python -m pip install --quiet numpy scipy >&2
cargo bench --quiet -p dermis -p dermis_io -p dermis_cli -p dermis_render --bench psd --no-run >&2
made="$(mktemp -d)"
trap 'rm -rf "$made"' EXIT

summary="$(DERMIS_PSD_FOLDER="$made" cargo bench --quiet -p dermis -p dermis_io -p dermis_cli -p dermis_render --bench psd)"
one="$(OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 bench/.venv/bin/python bench/psd_scipy.py "$made")"
all="$(bench/.venv/bin/python bench/psd_scipy.py "$made")"
bench/.venv/bin/python bench/psd_scipy.py "$made" "$summary" "$one" "$all"

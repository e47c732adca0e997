#!/usr/bin/env bash
# Sets up what the tests need and runs all of them. Safe to run again: what is there is kept.
#
#   scripts/test.sh          everything, as CI does
#   scripts/test.sh quick    without the tests marked slow, which start Blender
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

install_node_clients() {
    local stamp=clients/node_modules/.package-lock.json
    if [ ! -f "$stamp" ] || [ clients/package-lock.json -nt "$stamp" ]; then
        npm ci --prefix clients --no-audit --no-fund
    fi
}

# Blender, the official library of Alembic, and the checker of spelling.
install_python_clients() {
    local python=clients/.venv/bin/python
    if [ ! -x "$python" ]; then
        "$(command -v python3.11 || command -v python3)" -m venv clients/.venv
    fi
    if ! "$python" -c 'import alembic3d, bpy' 2>/dev/null || [ ! -x clients/.venv/bin/typos ]; then
        "$python" -m pip install --quiet -r clients/requirements.txt
    fi
    # Blender's module links libraries of a desktop, even where no window is opened.
    if ! "$python" -c 'import bpy' 2>/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends \
            libx11-6 libxrender1 libxfixes3 libxi6 libxkbcommon0 libsm6 libgl1
    fi
    "$python" -c 'import bpy'
}

# A graphics card, or a program that acts as one: Mesa's lavapipe works without a screen and without a card.
has_vulkan_driver() {
    compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null || compgen -G '/etc/vulkan/icd.d/*.json' >/dev/null
}
install_vulkan_driver() {
    if ! has_vulkan_driver && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends mesa-vulkan-drivers
    fi
}

step 'Clients: the glTF validator and three.js'
install_node_clients
if [ "${1:-}" != quick ]; then
    step 'Clients: Blender, and a checker of spelling'
    install_python_clients
fi
step 'Graphics cards: a driver for Vulkan'
install_vulkan_driver || echo 'no driver could be installed: tests on graphics cards say that they are skipped'
# From here on a missing client is a failure, not a reason to skip; and so is a graphics card, where there is a driver.
export DERMIS_REQUIRE_CLIENTS=1
if has_vulkan_driver; then
    export DERMIS_REQUIRE_GPU=1
fi
# Property tests try the same random cases in every run, so that a failure is one that the change made. `cargo test` alone tries
# others each time.
export PROPTEST_RNG_SEED=2718281828
# Mesa asks a window system which card to take, and complains where there is none.
export NODEVICE_SELECT=1
# The feature of the command line builds everything for graphics cards, in this crate and in dermis_gpu, so one build has all.
gpu=(--features dermis_cli/gpu)

step 'Links of the pages, and the scripts'
python3 scripts/test_scripts.py
python3 scripts/check_links.py
if [ "${1:-}" != quick ]; then
    step 'Spelling'
    clients/.venv/bin/typos
fi
step 'Dependencies: licences, sources, doubled versions'
if command -v cargo-deny >/dev/null; then
    cargo deny --offline check licenses bans sources
else
    echo 'skipped: cargo-deny takes minutes to build; cargo install cargo-deny --locked'
fi
step 'Format'
cargo fmt --all --check
step 'Lints'
cargo clippy --workspace --all-targets "${gpu[@]}" -- -D warnings
# What users build who need no graphics card, and what engines take that have a wgpu of their own. Only checked: to test it,
# too, would build everything twice. Plain `cargo test` does.
cargo clippy -p dermis_cli -p dermis_gpu --all-targets -- -D warnings
cargo clippy -p dermis --no-default-features -- -D warnings
step 'Documentation'
RUSTDOCFLAGS='-D warnings' cargo doc --workspace "${gpu[@]}" --no-deps --quiet
if [ "${1:-}" != quick ]; then
    step 'Tests'
    cargo test --workspace "${gpu[@]}" -- --include-ignored
    step 'Tests of the library without threads'
    cargo test -p dermis --no-default-features --lib
    step 'Fuzz targets: a few thousand runs each'
    scripts/fuzz.sh check
else
    step 'Tests, without the slow ones'
    cargo test --workspace "${gpu[@]}"
fi

#!/usr/bin/env bash
# Runs every fuzz target, two at a time, each for a while.
#
#   scripts/fuzz.sh               a minute each
#   scripts/fuzz.sh 600 glb npz   ten minutes each of these
#   scripts/fuzz.sh check         2000 runs each, from the seeds alone and the same every time: as CI does
#
# What a target finds is kept in fuzz/artifacts/TARGET, and this shows it again: target/fuzz/*/release/TARGET FILE.
set -euo pipefail
cd "$(dirname "$0")/.."

length=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do
        targets+=("$(basename "$file" .rs)")
    done
fi

# The flags of cargo-fuzz, but for the address sanitizer, which safe code can do without. RUSTC_BOOTSTRAP lets the stable
# compiler take them.
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS='--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares'
host=$(rustc -vV | sed -n 's/^host: //p')
cargo build --quiet --release --manifest-path fuzz/Cargo.toml --target-dir target/fuzz --target "$host"

# Two targets write a file in every run; in memory that is faster than on a disk.
if [ -w /dev/shm ]; then
    export TMPDIR=/dev/shm
fi

run() {
    local target=$1
    local corpus=fuzz/corpus/$target
    local bounds=(-max_total_time="$length")
    if [ "$length" = check ]; then
        # A number of runs, not a time, and nothing that earlier runs have learned: all checks of one build are alike.
        corpus=target/fuzz/corpus/$target
        rm -rf "$corpus"
        bounds=(-runs=2000 -seed=1)
    fi
    mkdir -p "$corpus" "fuzz/artifacts/$target"
    # What is found goes to the first folder; the second has what such a file looks like, to begin with.
    if ! "target/fuzz/$host/release/$target" "$corpus" "fuzz/seeds/$target" "${bounds[@]}" -timeout=60 -rss_limit_mb=2048 \
        -max_len=65536 -print_final_stats=1 -artifact_prefix="fuzz/artifacts/$target/" >"target/fuzz/$target.log" 2>&1
    then
        echo "$target: found something, kept in fuzz/artifacts/$target:"
        tail -n 30 "target/fuzz/$target.log"
        return 1
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "target/fuzz/$target.log")
    echo "$target: nothing found in $runs runs"
}
export -f run
export length host
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c 'set -euo pipefail; run {}'

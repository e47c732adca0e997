#!/usr/bin/env bash
# Runs every fuzz target, two at a time, each for a while.
#
#   scripts/fuzz.sh               a minute each
#   scripts/fuzz.sh 600 glb npz   ten minutes each of these
#
# What a target finds is kept in fuzz/artifacts/TARGET; `cargo fuzz run TARGET FILE` shows it again (RUSTC_BOOTSTRAP=1
# lets the stable compiler take the flags that cargo-fuzz needs).
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do
        targets+=("$(basename "$file" .rs)")
    done
fi

# The flags of cargo-fuzz, but for the address sanitizer, which safe code can do without.
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS='--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=4'
host=$(rustc -vV | sed -n 's/^host: //p')
cargo build --quiet --release --manifest-path fuzz/Cargo.toml --target-dir target/fuzz --target "$host"

run() {
    local target=$1
    local corpus=fuzz/corpus/$target
    mkdir -p "$corpus" "fuzz/artifacts/$target"
    # What is found goes to the first folder; the second has what such a file looks like, to begin with.
    if ! "target/fuzz/$host/release/$target" "$corpus" "fuzz/seeds/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -max_len=65536 -print_final_stats=1 -artifact_prefix="fuzz/artifacts/$target/" >"target/fuzz/$target.log" 2>&1
    then
        echo "$target: found something, kept in fuzz/artifacts/$target:"
        tail -n 30 "target/fuzz/$target.log"
        return 1
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: //p' "target/fuzz/$target.log")
    echo "$target: nothing found in $runs runs"
}
export -f run
export seconds host
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c 'run {}'

#!/usr/bin/env bash
# Builds the archive of a release for the system that it runs on: the program, man pages, completions, licences.
#
#   scripts/release.sh [FOLDER]     into target/release_archives unless another folder is named
#
# CONTRIBUTING.md says how the other systems are built.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-target/release_archives}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
host=${CARGO_BUILD_TARGET:-$(rustc -vV | sed -n 's/^host: //p')}
built=${CARGO_TARGET_DIR:-target}/${CARGO_BUILD_TARGET:-}/release
name=dermis-$version-$host

cargo build --release --locked
rm -rf "target/$name"
mkdir -p "target/$name/man/man1" "target/$name/completions" "$folder"
cp "$built/dermis" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "target/$name/"
"target/$name/dermis" man "target/$name/man/man1" --quiet
for shell in bash zsh fish powershell; do
    "target/$name/dermis" completions "$shell" >"target/$name/completions/dermis.$shell"
done
tar -C target -czf "$folder/$name.tar.gz" "$name"
(cd "$folder" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
echo "$folder/$name.tar.gz: $(stat -c %s "$folder/$name.tar.gz") bytes"

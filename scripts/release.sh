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
system=${CARGO_BUILD_TARGET:-$(rustc -vV | sed -n 's/^host: //p')}
built=${CARGO_TARGET_DIR:-target}${CARGO_BUILD_TARGET:+/$CARGO_BUILD_TARGET}/release
name=dermis-$version-$system
staged=target/$name

cargo build --release --locked
rm -rf "$staged"
mkdir -p "$staged/man/man1" "$staged/completions" "$folder"
cp "$built/dermis" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$staged/"
# The font is inside the program, and its licence wants to be beside it.
cp crates/dermis_render/assets/Inter-LICENSE.txt "$staged/LICENSE-INTER-FONT"
"$staged/dermis" man "$staged/man/man1" --quiet
# Under the names by which shells look for them.
complete() { "$staged/dermis" completions "$1" >"$staged/completions/$2"; }
complete bash dermis
complete zsh _dermis
complete fish dermis.fish
complete powershell dermis.ps1
archive=$name.tar.gz
tar -C target -czf "$folder/$archive" "$name"
rm -rf "$staged"
# macOS has shasum instead.
sum=$(command -v sha256sum || echo 'shasum -a 256')
(cd "$folder" && $sum "$archive" >"$archive.sha256")
echo "$folder/$archive: $(wc -c <"$folder/$archive" | tr -d ' ') bytes"

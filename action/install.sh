#!/usr/bin/env bash
# Puts the version of Coffer that belongs to this action into the tool cache of the runner, and on the PATH of later steps.
# "pinned" beside this script says where its files are and what their SHA-256 sums are.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=action/common.sh
. "$here/common.sh"

[ -f "$here/pinned" ] || fail 'This is the source of the action; a release has the action itself.'
pinned() { awk -v name="$1" '$2 == name { print $1 }' "$here/pinned"; }
version=$(pinned version)
address=$(pinned address)

case $RUNNER_OS-$RUNNER_ARCH in
  Linux-X64) name=coffer-$version-linux-x64 archive=$name.tar.xz ;;
  Linux-ARM64) name=coffer-$version-linux-arm64 archive=$name.tar.xz ;;
  macOS-X64) name=coffer-$version-macos-x64 archive=$name.tar.xz ;;
  macOS-ARM64) name=coffer-$version-macos-arm64 archive=$name.tar.xz ;;
  Windows-X64) name=coffer-$version-windows-x64 archive=$name.zip ;;
  *) fail "There is no Coffer for $RUNNER_OS on $RUNNER_ARCH." ;;
esac

# Windows says C:\…, which some of these tools take for the name of a machine.
native() { printf '%s' "$1"; }
cache=$RUNNER_TOOL_CACHE
if [ "$RUNNER_OS" = Windows ]; then
  native() { cygpath -w "$1"; }
  cache=$(cygpath -u "$cache")
fi

sum_of() {
  if command -v sha256sum >/dev/null; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d ' ' -f 1
}

# As the runner's own tools lie there: a directory, and beside it a mark that it is whole.
tool=$cache/coffer/$version/$RUNNER_ARCH
if [ ! -e "$tool.complete" ]; then
  # Beside the tool, so that a file gets to its place at once.
  mkdir -p "$tool"
  work=$(mktemp -d "$cache/coffer/.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  curl --fail --silent --show-error --location --retry 3 --proto '=https' --proto-redir '=https' \
    --output "$work/$archive" "$address/$archive" || fail "$archive can't be fetched."
  expected=$(pinned "$archive")
  if [ -z "$expected" ] || [ "$(sum_of "$work/$archive")" != "$expected" ]; then
    fail "$archive is not what belongs to this action."
  fi
  case $archive in
    *.zip) unzip -q "$work/$archive" -d "$work" ;;
    *) tar -xf "$work/$archive" -C "$work" ;;
  esac
  # Another job of this runner may be here with the same files; Windows replaces none that runs.
  for file in "$work/$name"/*; do
    [ -f "$file" ] || continue
    mv -f "$file" "$tool/" || [ -e "$tool/${file##*/}" ] || fail "${file##*/} can't be put into $tool."
  done
  : >"$tool.complete"
fi
native "$tool" >>"$GITHUB_PATH"
printf '\n' >>"$GITHUB_PATH"

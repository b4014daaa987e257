#!/bin/sh
# Installs Coffer VERSION for whoever runs this, or another version that its maker has signed:
#
#   sh install.sh [--version X] [--prefix DIRECTORY]
#
# It goes to DIRECTORY/bin; PREFIX in the environment says the same, and ~/.local is where it goes otherwise.
# Everything happens in a function that is called at the end: half of this file does nothing.
set -eu

own_version='@VERSION@'
# Where releases lie; the word VERSION stands for the one that is wanted.
releases='@RELEASES@'
# The sums of this version's files, which need no trust but in this file.
own_sums='@SUMS@'
# What the maker's key verifies as: for ssh-keygen and for minisign. Empty: this is from somebody without a key.
allowed_signers='@ALLOWED_SIGNERS@'
signer='@SIGNER@'
minisign_key='@MINISIGN_KEY@'

say() { printf '%s\n' "$*"; }
fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# Plain HTTP is for this machine alone: anybody on the way could answer.
checked_address() {
  case $1 in
    https://*) ;;
    http://*@*) fail "files are fetched by https alone, and not from $1" ;;
    http://127.0.0.1:* | http://localhost:* | 'http://[::1]:'*) ;;
    *) fail "files are fetched by https alone, and not from $1" ;;
  esac
}

fetch() {
  if has curl; then
    protocols='=https'
    case $1 in http:*) protocols='=http' ;; esac
    curl --fail --silent --show-error --location --proto "$protocols" --proto-redir "$protocols" --output "$2" "$1" ||
      fail "$1 can't be fetched"
  elif has wget; then
    # Where it is sent to from there it does not say; the sums hold whatever it brings.
    wget -q -O "$2" "$1" || fail "$1 can't be fetched"
  else
    fail 'curl or wget is needed'
  fi
}

sum_of() {
  if has sha256sum; then sum=$(sha256sum <"$1")
  elif has shasum; then sum=$(shasum -a 256 <"$1")
  elif has openssl; then sum=$(openssl dgst -sha256 -r <"$1")
  else fail 'sha256sum, shasum or openssl is needed'; fi
  printf '%s' "${sum%% *}"
}

# $1: a list of sums, $2: a name. A name that is there twice is there never.
listed() {
  printf '%s\n' "$1" | awk -v name="$2" '$2 == name || $2 == "*" name { found = $1; count++ } END { if (count == 1) print found }'
}

# Whether what is in $1/SHA256SUMS was signed by the maker. 0: yes. 2: nothing here can tell.
verified() {
  if [ -n "$minisign_key" ] && has minisign; then
    fetch "$2/SHA256SUMS.minisig" "$1/SHA256SUMS.minisig"
    minisign -V -q -P "$minisign_key" -m "$1/SHA256SUMS" >&2 || fail 'the signature of SHA256SUMS is not of the maker of Coffer'
  elif [ -n "$allowed_signers" ] && has ssh-keygen; then
    fetch "$2/SHA256SUMS.sig" "$1/SHA256SUMS.sig"
    printf '%s\n' "$allowed_signers" >"$1/allowed_signers"
    ssh-keygen -Y verify -n file -f "$1/allowed_signers" -I "$signer" -s "$1/SHA256SUMS.sig" <"$1/SHA256SUMS" >/dev/null ||
      fail 'the signature of SHA256SUMS is not of the maker of Coffer (or ssh-keygen is older than OpenSSH 8.2)'
  else
    return 2
  fi
}

platform() {
  case $(uname -s) in
    Linux)
      for musl in /lib/ld-musl-*; do
        [ -e "$musl" ] && ! [ -e /lib64/ld-linux-x86-64.so.2 ] && ! [ -e /lib/ld-linux-aarch64.so.1 ] &&
          fail 'this system has musl, and the executable wants glibc 2.28: use the npm package'
      done
      system=linux ;;
    Darwin) system=macos ;;
    *) fail "there is no executable for $(uname -s) here; on Windows use Scoop or the .zip" ;;
  esac
  processor=$(uname -m)
  # A translated shell says x86_64 on Apple silicon, too.
  if [ "$system" = macos ] && [ "$(sysctl -n hw.optional.arm64 2>/dev/null || :)" = 1 ]; then processor=arm64; fi
  case $processor in
    x86_64 | amd64) printf '%s-x64' "$system" ;;
    aarch64 | arm64) printf '%s-arm64' "$system" ;;
    *) fail "there is no executable for $processor" ;;
  esac
}

main() {
  version=$own_version
  prefix=${PREFIX:-}
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --prefix) [ $# -gt 1 ] || fail "$1 wants a value" ;;
      *) fail "there is no option $1; there are --version and --prefix" ;;
    esac
    case $1 in --version) version=$2 ;; --prefix) prefix=$2 ;; esac
    shift 2
  done
  case $version in '' | *[!0-9A-Za-z.+-]*) fail "that is no version: $version" ;; esac
  [ -n "$prefix" ] || prefix=${HOME:?}/.local

  name=coffer-$version-$(platform) || exit 1
  address=${COFFER_INSTALL_URL:-$releases}
  address=$(printf '%s' "$address" | sed "s/VERSION/$version/g")
  checked_address "$address"

  work=$(mktemp -d)
  new=''
  trap 'rm -rf "$work"; [ -z "$new" ] || rm -f "$new"' EXIT
  trap 'exit 1' HUP INT TERM

  fetch "$address/SHA256SUMS" "$work/SHA256SUMS"
  if verified "$work" "$address"; then
    say "SHA256SUMS of Coffer $version is signed by its maker"
  elif [ "$version" != "$own_version" ]; then
    [ -n "$minisign_key$allowed_signers" ] ||
      fail "this script has no key to verify version $version with: take the install.sh of that version"
    fail "nothing here can verify version $version: install minisign or ssh-keygen, or take the install.sh of that version"
  fi
  expected=$(listed "$(cat "$work/SHA256SUMS")" "$name.tar.xz")
  if [ "$version" = "$own_version" ]; then
    [ "$expected" = "$(listed "$own_sums" "$name.tar.xz")" ] || fail 'SHA256SUMS says otherwise than this file'
  fi
  [ -n "$expected" ] || fail "SHA256SUMS does not name $name.tar.xz"

  fetch "$address/$name.tar.xz" "$work/$name.tar.xz"
  [ "$(sum_of "$work/$name.tar.xz")" = "$expected" ] || fail "$name.tar.xz is not what SHA256SUMS says"
  tar -xf "$work/$name.tar.xz" -C "$work" "$name/coffer" || fail 'tar could not unpack it; it wants xz (Debian: xz-utils)'

  mkdir -p "$prefix/bin"
  # Beside the old one, and then in its place at once: a command that runs goes on with what it has. Where it was unpacked
  # it may be that no program can run (noexec).
  new=$prefix/bin/.coffer.$$
  cp "$work/$name/coffer" "$new"
  chmod 755 "$new"
  found=$("$new" version) || fail 'the executable does not run on this system'
  [ "$found" = "coffer $version" ] || fail "this is $found, and not coffer $version"
  mv -f "$new" "$prefix/bin/coffer"
  ln -sf coffer "$prefix/bin/age-plugin-coffer"
  say "Coffer $version is $prefix/bin/coffer"
  case :$PATH: in *":$prefix/bin:"*) ;; *) say "$prefix/bin is not in your PATH yet" ;; esac
}

main "$@"

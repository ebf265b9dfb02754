#!/usr/bin/env bash
# debian_package_test.sh BUILD: makes the Debian package of a build tree, unpacks it, looks at what must be in it, runs
# the program from there, and compiles examples/shop with its library. scripts/test-packages installs it into a clean Debian.
set -euo pipefail
build=$1
source=$(cd "$(dirname "$0")/.." && pwd)
work=$build/package-test
rm -rf "$work" && mkdir -p "$work"
fail() { echo "debian_package_test: $*" >&2; exit 1; }

# Compression is not what is tested.
cpack --config "$build/CPackConfig.cmake" -B "$work" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip >"$work/log" 2>&1 || { cat "$work/log"; fail "cpack failed"; }
deb=$(echo "$work"/pits_*.deb)
dpkg-deb -x "$deb" "$work/root"
dpkg-deb -e "$deb" "$work/control"

root=$work/root/usr
for file in bin/pits lib/libpits_bandit.a lib/libpits_experiment.a include/pits/log/live_bandit.h include/pits/version.h \
  share/man/man1/pits.1.gz share/man/man1/pits-run.1.gz share/bash-completion/completions/pits \
  share/zsh/vendor-completions/_pits lib/systemd/system/pits.service lib/systemd/system/pits.socket \
  share/pits/data/shuttle.trn.xz share/pits/data/README.md share/doc/pits/copyright; do
  [ -s "$root/$file" ] || fail "no $file in the package"
done
[ -z "$(find "$root" -name '*.h' -path '*/cli/*')" ] || fail "headers of the program are in the package"
[ -z "$(find "$work/root" ! -user root -o ! -group root | head -1)" ] || [ "$(id -u)" -ne 0 ] || fail "files that are not root's"
grep -rlI -e "$build" "$root" && fail "paths of the build are in the package"

# What the scripts of the package ask of systemd, in the order in which dpkg calls them; stubs stand for systemd.
mkdir -p "$work/stubs" "$work/systemd"
for stub in systemctl deb-systemd-invoke deb-systemd-helper; do
  # shellcheck disable=SC2016
  printf '#!/bin/sh\necho "%s $*" >>"$ASKED"\n' "$stub" >"$work/stubs/$stub"
done
chmod +x "$work/stubs/"*
asks() {  # asks SCRIPT ARGUMENTS -- LINES
  local script=$1 arguments=() expected
  shift
  while [ "$1" != -- ]; do arguments+=("$1"); shift; done
  expected=$(printf '%s\n' "${@:2}")
  sed "s#/run/systemd/system#$work/systemd#" "$work/control/$script" >"$work/script" && : >"$work/asked"
  ASKED=$work/asked PATH=$work/stubs:$PATH sh "$work/script" "${arguments[@]}" || fail "$script ${arguments[*]} failed"
  [ "$(cat "$work/asked")" = "$expected" ] || fail "$script ${arguments[*]} asks: $(cat "$work/asked")"
}
updated="deb-systemd-helper update-state pits.socket pits.service"
asks postinst configure "" -- "$updated" "systemctl --system daemon-reload"
asks prerm upgrade 1.0.1 -- ""
asks postinst configure 1.0.0 -- "$updated" "systemctl --system daemon-reload" "deb-systemd-invoke try-restart pits.service"
asks prerm remove -- "deb-systemd-invoke stop pits.socket pits.service"
asks postrm remove -- "systemctl --system daemon-reload"
asks postrm purge -- "deb-systemd-helper purge pits.socket pits.service"

version=$(dpkg-deb -f "$deb" Version)
[ "$("$root/bin/pits" --version)" = "pits $version" ] || fail "the program's version is not the package's, $version"
for library in libc6 libtbb12 libfmt9 libsqlite3-0 libcurl4 libarchive13 libsodium23 tzdata; do
  dpkg-deb -f "$deb" Depends | grep -q "$library" || fail "$library is not among the dependencies"
done
# Its own data, without any other place.
env -u PITS_DATA HOME=/nonexistent XDG_CACHE_HOME="$work/cache" "$root/bin/pits" data list statlog | grep -q "$root/share/pits/data" ||
  fail "the program does not find its data"
# The units, as systemd reads them, with the unpacked program.
if command -v systemd-analyze >/dev/null; then
  mkdir "$work/units"
  sed "s#=/usr/bin/pits#=$root/bin/pits#" "$root/lib/systemd/system/pits.service" >"$work/units/pits.service"
  cp "$root/lib/systemd/system/pits.socket" "$work/units"
  said=$(systemd-analyze verify "$work/units/pits.service" "$work/units/pits.socket" 2>&1) || fail "systemd-analyze: $said"
  [ -z "$said" ] || fail "systemd-analyze: $said"
else
  echo "the units are not verified: needs systemd-analyze (Debian: systemd)"
fi

# A program against its headers and library, found by CMake.
cmake -S "$source/examples/shop" -B "$work/shop" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_PREFIX_PATH="$root" >"$work/log" 2>&1 &&
  cmake --build "$work/shop" >>"$work/log" 2>&1 || { tail -n 20 "$work/log"; fail "examples/shop does not build with the package"; }
"$work/shop/shop" >"$work/log" || fail "examples/shop, built with the package, fails"
grep -q "^pits_DIR:PATH=$root/" "$work/shop/CMakeCache.txt" || fail "examples/shop was built with another pits"

echo "$(basename "$deb"): $(du -h "$deb" | cut -f1), $(find "$work/root" -type f | wc -l) files"
rm -rf "$work"

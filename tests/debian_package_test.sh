#!/usr/bin/env bash
# debian_package_test.sh BUILD: makes the Debian package of a build tree, unpacks it, looks at what must be in it, and runs
# the program from there. scripts/test-packages installs it into a clean Debian.
set -euo pipefail
build=$1
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
for script in postinst postrm; do sh -n "$work/control/$script"; done

version=$(dpkg-deb -f "$deb" Version)
[ "$("$root/bin/pits" --version)" = "pits $version" ] || fail "the program's version is not the package's, $version"
for library in libc6 libtbb12 libfmt9 libsqlite3-0 libcurl4 libarchive13 libsodium23 tzdata; do
  dpkg-deb -f "$deb" Depends | grep -q "$library" || fail "$library is not among the dependencies"
done
# Its own data, without any other place.
env -u PITS_DATA HOME=/nonexistent XDG_CACHE_HOME="$work/cache" "$root/bin/pits" data list statlog | grep -q "$root/share/pits/data" ||
  fail "the program does not find its data"
echo "$(basename "$deb"): $(du -h "$deb" | cut -f1), $(find "$work/root" -type f | wc -l) files"
rm -rf "$work"

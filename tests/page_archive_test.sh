#!/usr/bin/env bash
# page_archive_test.sh SOURCE BUILD: web/built.tar.xz, which builds without npm take, has the pages that npm builds from web/.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xJf "$1/web/built.tar.xz" -C "$work"
for file in page.html service.html digest; do
  cmp "$work/$file" "$2/web/$file" || { echo "web/built.tar.xz is not what web/ gives: cmake --build $2 --target pits_page_archive" >&2; exit 1; }
done
echo "the pages are those of web/"

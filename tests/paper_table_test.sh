#!/usr/bin/env bash
# paper_table_test.sh PITS_PAPER: the table that scripts/quickstart shows first, on one of the data sets that come with pits, without any
# other place for data: the paper's numbers, ours, and our default.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work
unset PITS_DATA
"$1" reproduce --quick --only table,statlog --out "$work/run" 2>"$work/log" >"$work/out" || { cat "$work/log"; exit 1; }
for words in 'Lin-TS  *ours  *[0-9]' 'paper  *18.62' 'π-TS, our default  *ours  *[0-9]'; do
  grep -q "$words" "$work/out" || { echo "no line '$words' in:"; cat "$work/out"; exit 1; }
done
[ -s "$work/run/report.html" ]
# What scripts/quickstart --python shows beside its own numbers is what the paper has.
said=$(sed -n "s/.*The paper has.*Lin-TS \([0-9.]*\), π-TS-DGF (pi-ts:released) \([0-9.]*\)\. .*/\1 \2/p" "$(dirname "$0")/../scripts/quickstart")
[ "$(grep -o 'paper  *[0-9][0-9.]*' "$work/out" | sed -n '1s/.* //p;$s/.* //p' | paste -sd ' ')" = "$said" ] ||
  { echo "scripts/quickstart says that the paper has '$said', the table says:"; cat "$work/out"; exit 1; }

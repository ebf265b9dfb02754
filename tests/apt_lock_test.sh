#!/usr/bin/env bash
# apt_lock_test.sh COMMON_SH: the scripts wait for apt's lock, and say so. apt works in a folder of its own, so that no
# root is needed and the machine's own lock stays free.
work=$(mktemp -d)
trap 'kill "${holder:-}" 2>/dev/null; rm -rf "$work"' EXIT
mkdir -p "$work"/scripts "$work"/lists/partial "$work"/archives/partial "$work"/etc "$work"/dpkg
cp "$1" "$work/scripts/common.sh"
touch "$work/dpkg/status" "$work/etc/sources.list"
cat >"$work/apt.conf" <<END
Dir::State "$work";
Dir::State::lists "$work/lists";
Dir::State::status "$work/dpkg/status";
Dir::Cache "$work";
Dir::Etc "$work/etc";
APT::Sandbox::User "";
END
export APT_CONFIG=$work/apt.conf

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# hold FILE SECONDS: another program takes the lock as apt does, by fcntl; ready when this returns.
hold() {
  rm -f "$work/held"
  python3 - "$1" "$2" "$work/held" <<'END' &
import fcntl, sys, time
with open(sys.argv[1], "w") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    open(sys.argv[3], "w").close()
    time.sleep(float(sys.argv[2]))
END
  holder=$!
  while [ ! -e "$work/held" ]; do sleep 0.05; done
}

# call PATIENCE APT_GET_ARGUMENTS: as a script would; status in $?, both streams in $work/said.
call() { bash -c "source '$work/scripts/common.sh'; apt_patience=$1; apt_get \"\$@\"" "$@" >"$work/said" 2>&1; }

call 60 update || fail "apt-get update with a free lock: $(cat "$work/said")"
[ -s "$work/said" ] && fail "words about a free lock: $(cat "$work/said")"

hold "$work/lists/lock" 2
call 60 update || fail "update did not wait: $(cat "$work/said")"
grep -q "^waiting.*$work/lists/lock.*process $holder" "$work/said" || fail "no word about waiting: $(cat "$work/said")"

hold "$work/dpkg/lock-frontend" 2
call 60 install -y || fail "install did not wait: $(cat "$work/said")"
[ "$(grep -c '^waiting.*lock-frontend' "$work/said")" = 1 ] || fail "not one line about waiting: $(cat "$work/said")"

hold "$work/lists/lock" 600
call 1 update && fail "the lock is held, but update succeeded"
grep -q "^pits: gave up after 1 s.*$work/lists/lock" "$work/said" || fail "unclear: $(cat "$work/said")"

call 60 install -y no-such-package && fail "installed a package that does not exist"
grep -q "Unable to locate package" "$work/said" || fail "the reason is not shown: $(cat "$work/said")"
echo passed

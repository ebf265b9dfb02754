# Shared by the scripts: messages, packages, the build. Sourced, not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p build  # logs go there

say() { printf '\n== %s\n' "$*"; }
die() { printf 'pits: %s\n' "$*" >&2; exit 1; }

build_packages="g++ cmake ninja-build pkg-config libeigen3-dev libhwy-dev librandom123-dev libtbb-dev libfmt-dev
  nlohmann-json3-dev libtomlplusplus-dev libcli11-dev libarchive-dev libcsv-dev libcurl4-openssl-dev libssl-dev
  libsqlite3-dev libpq-dev libboost-dev libsimdjson-dev libsodium-dev tzdata curl ca-certificates"
python_packages="python3-dev pybind11-dev python3-numpy python3-venv python3-pip python3-setuptools python3-wheel
  python3-pandas python3-matplotlib"
# What cpack and the wheel need beside the build.
package_packages="dpkg-dev file patchelf"
test_packages="libopenmpi-dev openmpi-bin libgtest-dev librapidcheck-dev libbenchmark-dev chromium python3-pytest
  python3-hypothesis python3-flask python3-jsonschema nginx-light postgresql mypy jupyter-nbconvert python3-ipykernel zsh
  patchelf dpkg-dev file openssl"
# node and npm may come from elsewhere than Debian.
command -v node >/dev/null || test_packages+=" nodejs"
command -v npm >/dev/null || test_packages+=" npm"
site_packages="python3-sphinx python3-myst-parser furo"

# Runs apt-get as root, with its output in build/install.log. On a fresh machine an automatic upgrade often holds apt's
# lock: waits for it, at most apt_patience seconds.
as_root=()
apt_patience=600
apt_get() {
  local deadline=$((SECONDS + apt_patience)) holder shown=""
  until "${as_root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" >build/install.log 2>&1; do
    holder=$(grep -m 1 -o 'Could not get lock .*' build/install.log) ||
      { tail -n 20 build/install.log >&2; die "apt-get $1 failed, see above"; }
    [ $SECONDS -lt $deadline ] || die "gave up after $apt_patience s, another program still uses apt: $holder"
    [ "$holder" = "$shown" ] || echo "waiting, at most $apt_patience s, for another program that uses apt: $holder"
    shown=$holder
    sleep 1
  done
}

# Installs the Debian packages among its arguments that are missing. Needs no root when none is.
install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && { echo "everything is installed"; return; }
  command -v apt-get >/dev/null || die "install these by hand, this is not Debian: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "needs root or sudo to install: ${missing[*]}"
    as_root=(sudo)
  fi
  echo "installing (a minute or more; build/install.log has the details): ${missing[*]}"
  apt_get update
  apt_get install -y --no-install-recommends "${missing[@]}"
}

# configure_and_build PRESET [cmake arguments] -- [build targets]
configure_and_build() {
  local preset=$1 arguments=() targets=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do arguments+=("$1"); shift; done
  [ $# -gt 0 ] && shift
  for target in "$@"; do targets+=(--target "$target"); done
  cmake --preset "$preset" "${arguments[@]}" >"build/configure-$preset.log" 2>&1 ||
    { cat "build/configure-$preset.log" >&2; die "cmake failed, see above"; }
  cmake --build "build/$preset" --parallel "$(nproc)" "${targets[@]}"
}

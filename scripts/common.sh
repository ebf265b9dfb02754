# Shared by the scripts: where we are, how progress looks, what must be installed. Sourced, not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p build  # logs go there

say() { printf '\n== %s\n' "$*"; }
die() { printf 'pits: %s\n' "$*" >&2; exit 1; }

build_packages="g++ cmake ninja-build pkg-config libeigen3-dev libhwy-dev librandom123-dev libtbb-dev libfmt-dev
  nlohmann-json3-dev libtomlplusplus-dev libcli11-dev libarchive-dev libcsv-dev libcurl4-openssl-dev libssl-dev"
python_packages="python3-dev pybind11-dev python3-numpy python3-venv python3-pip python3-setuptools python3-wheel
  python3-pandas python3-matplotlib"
test_packages="libopenmpi-dev openmpi-bin libgtest-dev librapidcheck-dev libbenchmark-dev chromium python3-pytest
  python3-hypothesis mypy jupyter-nbconvert python3-ipykernel"

# Installs the Debian packages among its arguments that are not there yet; asks for nothing where all are.
install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  # node and npm may come from elsewhere than Debian.
  command -v node >/dev/null || missing+=(nodejs)
  command -v npm >/dev/null || missing+=(npm)
  [ ${#missing[@]} -eq 0 ] && { echo "everything is installed"; return; }
  command -v apt-get >/dev/null || die "install these by hand, this is not Debian: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "needs root or sudo to install: ${missing[*]}"
    as_root=(sudo)
  fi
  echo "installing (a minute or more; build/install.log has the details): ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >build/install.log 2>&1 || { tail -n 20 build/install.log >&2; die "apt-get install failed, see above"; }
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

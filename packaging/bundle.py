#!/usr/bin/env python3
"""bundle.py FOLDER: copies the libraries that the programs and modules of FOLDER need to FOLDER/lib, and makes them use these.

What every Linux with this glibc has stays outside. The copies get names of their own, so that no other package's library of the
same name is taken for one of them. FOLDER/licences has the licence of every one, as Debian's packages have it. Needs patchelf.
"""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

SYSTEM = re.compile(r"(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s)\.so)")

# Debian's packages whose headers are compiled into the programs and modules.
COMPILED_IN = ("libboost-dev", "libcli11-dev", "libeigen3-dev", "libhwy-dev", "librandom123-dev", "libtomlplusplus-dev",
               "nlohmann-json3-dev", "pybind11-dev")


def needed(binary):
    """{name: path} of all libraries that the loader finds for it, the system's left out."""
    lines = subprocess.run(["ldd", binary], check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"^\s*(\S+) => (\S+) \(0x", lines, flags=re.MULTILINE))
    missing = re.findall(r"^\s*(\S+) => not found", lines, flags=re.MULTILINE)
    if missing:
        sys.exit(f"bundle.py: {binary} needs what is not here: {', '.join(missing)}")
    return {name: pathlib.Path(path) for name, path in found.items() if not SYSTEM.match(name)}


def own_name(name, path):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    stem, dot, rest = name.partition(".so")
    return f"{stem}-{digest}{dot}{rest}"


def is_elf(file):
    with open(file, "rb") as stream:
        return stream.read(4) == b"\x7fELF"


def repoint(file, names, rpath, *more):
    direct = subprocess.run(["patchelf", "--print-needed", file], check=True, capture_output=True, text=True).stdout.split()
    replaced = [word for name in direct if name in names for word in ("--replace-needed", name, names[name])]
    # One change per call: patchelf 0.14 drops --replace-needed where --set-soname stands beside it.
    for change in (["--force-rpath", "--set-rpath", rpath], more, replaced):
        if change:
            subprocess.run(["patchelf", *change, file], check=True)
    left = subprocess.run(["patchelf", "--print-needed", file], check=True, capture_output=True, text=True).stdout.split()
    if set(left) & set(names):
        sys.exit(f"bundle.py: {file} still needs {set(left) & set(names)}")


def owner(path):
    """The Debian package that has this library, e.g. libtbb12."""
    spellings = {path, path.resolve(), *(pathlib.Path(str(p).removeprefix("/usr")) for p in (path, path.resolve()))}
    for spelling in sorted(spellings):
        found = subprocess.run(["dpkg", "-S", spelling], capture_output=True, text=True, check=False).stdout
        if found:
            return found.split(":")[0]
    return sys.exit(f"bundle.py: no Debian package has {path}, so its licence is not known")


def write_licences(folder, libraries):
    """FOLDER/PACKAGE.txt for every package, the texts that these name, and README.txt: which file comes from which package."""
    folder.mkdir(exist_ok=True)
    from_package = {name: owner(path) for name, path in libraries.items()}
    common = set()
    for package in {*from_package.values(), *COMPILED_IN}:
        text = pathlib.Path("/usr/share/doc", package, "copyright")
        if not text.is_file():
            sys.exit(f"bundle.py: {text} is not here; the wheel would have {package} without its licence")
        shutil.copyfile(text, folder / f"{package}.txt")
        common |= set(re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", text.read_text(encoding="utf-8", errors="replace")))
    for name in sorted(common):
        text = pathlib.Path("/usr/share/common-licenses", name)
        if text.is_file():
            shutil.copyfile(text, folder / name)
    lines = [f"lib/{name}: {package}.txt\n" for name, package in sorted(from_package.items())]
    (folder / "README.txt").write_text(
        "The libraries of this folder's neighbour lib/ come from Debian. Each has its licence in the file of its package:\n"
        + "".join(lines) + "Compiled into the program and the module: " + ", ".join(f"{name}.txt" for name in COMPILED_IN)
        + "\n/usr/share/common-licenses/NAME, which they refer to, is NAME here.\n", encoding="utf-8")


def bundle(folder):
    binaries = [file for file in sorted(pathlib.Path(folder).iterdir()) if file.is_file() and is_elf(file)]
    libraries = {}
    for binary in binaries:
        libraries.update(needed(binary))
    names = {name: own_name(name, path) for name, path in libraries.items()}
    lib = pathlib.Path(folder) / "lib"
    lib.mkdir(exist_ok=True)
    for name, path in libraries.items():
        copy = lib / names[name]
        shutil.copy(path, copy)
        copy.chmod(0o755)
        subprocess.run(["strip", "--strip-unneeded", copy], check=True)
        repoint(copy, names, "$ORIGIN", "--set-soname", names[name])
    write_licences(pathlib.Path(folder) / "licences", {names[name]: path for name, path in libraries.items()})
    for binary in binaries:
        subprocess.run(["strip", "--strip-unneeded", binary], check=True)
        repoint(binary, names, "$ORIGIN/lib")


if __name__ == "__main__":
    bundle(sys.argv[1])

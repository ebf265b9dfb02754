#!/usr/bin/env python3
"""bundle.py FOLDER: copies the libraries that the programs and modules of FOLDER need to FOLDER/lib, and makes them use these.

What every Linux with this glibc has stays outside. The copies get names of their own, so that no other package's library of the
same name is taken for one of them. Needs patchelf.
"""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

SYSTEM = re.compile(r"(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s)\.so)")


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
    for binary in binaries:
        subprocess.run(["strip", "--strip-unneeded", binary], check=True)
        repoint(binary, names, "$ORIGIN/lib")


if __name__ == "__main__":
    bundle(sys.argv[1])

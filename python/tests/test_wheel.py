"""The wheel of scripts/package, from the tree that is built: in a bare virtual environment it needs nothing but numpy."""
import functools
import http.server
import importlib.util
import lzma
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import threading
import zipfile

import numpy
import pytest

SOURCE = pathlib.Path(__file__).parents[2]
TREE = os.environ.get("PITS_BUILD_TREE", "")
PROGRAM = os.environ.get("PITS_PROGRAM", "")
NEEDED = ("ensurepip", "pip", "setuptools", "wheel")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
MISSING += [name for name in ("patchelf", "strip", "ldd", "dpkg") if shutil.which(name) is None]
# What bundle.py leaves to the system.
SYSTEM = r"(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s)\.so)"
wheels = pytest.mark.skipif(not TREE or bool(MISSING), reason=f"needs {', '.join(MISSING) or 'PITS_BUILD_TREE'}")


def called(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    called(sys.executable, "setup.py", "-q", "build", "--build-base", folder / "build", "bdist_wheel", "--bdist-dir", folder / "bdist",
           "--dist-dir", folder / "dist", "--compression", "stored", cwd=SOURCE,
           env={**os.environ, "PITS_BUILD_TREE": TREE, "PITS_BUNDLE": "1", "PYTHONPATH": ""})
    return next((folder / "dist").glob("pits-*.whl"))


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    """The interpreter of an environment with the wheel and this machine's numpy, and its clean variables."""
    folder = tmp_path_factory.mktemp("venv")
    called(sys.executable, "-m", "venv", folder)
    packages = next(folder.glob("lib/python*/site-packages"))
    for found in pathlib.Path(numpy.__file__).parents[1].glob("numpy*"):
        (packages / found.name).symlink_to(found)
    clean = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    # With its dependencies: an environment whose numpy is not the one that the wheel asks for is refused.
    called(folder / "bin" / "python", "-m", "pip", "install", "--no-index", wheel, env=clean)
    return folder / "bin" / "python", clean


@wheels
def test_the_wheel_runs_in_a_bare_environment(bare, tmp_path):
    python, clean = bare
    code = "import pits; print(pits.__file__); print(pits.run(['lin-ts', 'pi-ts'], 'statlog', steps=100, realizations=1))"
    printed = called(python, "-c", code, env=clean, cwd=tmp_path)
    assert str(python.parents[1]) in printed and "pi-ts" in printed
    assert called(python, "-m", "pits", "--version", env=clean, cwd=tmp_path).startswith("pits 1")
    assert called(python.parent / "pits", "--version", env=clean, cwd=tmp_path).startswith("pits 1")
    checked = called(python, "-m", "pits", "data", "check", "statlog", "mushroom", "adult", env=clean, cwd=tmp_path)
    assert checked.count("ok") >= 3


@wheels
def test_no_library_comes_from_outside(bare):
    python, clean = bare
    package = next(python.parents[1].glob("lib/python*/site-packages/pits"))
    for binary in (package / "pits", next(package.glob("_pits.*.so")), *(package / "lib").iterdir()):
        for name, path in re.findall(r"^\s*(\S+) => (.*?)(?: \(0x|$)", called("ldd", binary, env=clean), flags=re.MULTILINE):
            assert path.startswith(str(package)) or re.match(SYSTEM, name), f"{binary.name} takes {name} from {path}"


@wheels
def test_every_library_has_its_licence(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        told = archive.read("pits/licences/README.txt").decode()
        metadata = archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
        texts = "".join(archive.read(name).decode(errors="replace") for name in names if name.startswith("pits/licences/"))
    libraries = [name.removeprefix("pits/") for name in names if name.startswith("pits/lib/")]
    assert len(libraries) > 10
    for library in libraries:
        package = re.search(rf"^{re.escape(library)}: (\S+)$", told, flags=re.MULTILINE)
        assert package and f"pits/licences/{package[1]}" in names, library
    assert "pits/licences/libeigen3-dev.txt" in names  # compiled in
    for text in set(re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", texts)):
        assert f"pits/licences/{text}" in names or not pathlib.Path("/usr/share/common-licenses", text).exists(), text
    assert any(name.endswith("LICENSE") for name in names)
    # pybind11 2.10 and numpy 2 do not go together.
    assert re.search(r"^Requires-Dist: numpy *\(?<2\)?$", metadata, flags=re.MULTILINE), metadata


@pytest.fixture
def mirror(tmp_path):
    """A mirror of the data over TLS, and the certificate that it has signed itself."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    served = tmp_path / "served"
    served.mkdir()
    (served / "agaricus-lepiota.data").write_bytes(lzma.decompress((SOURCE / "data" / "agaricus-lepiota.data.xz").read_bytes()))
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    called("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
           "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory=served))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://localhost:{server.server_port}", certificate
    server.shutdown()


@pytest.mark.skipif(not PROGRAM, reason="PITS_PROGRAM does not name the program")
def test_downloads_trust_the_certificates_that_are_named(mirror, tmp_path):
    address, certificate = mirror

    def fetch(**variables):
        return subprocess.run([PROGRAM, "data", "fetch", "mushroom", "--from", address, "--data-dir", tmp_path / "data"],
                              capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin", "no_proxy": "*", **variables})

    assert fetch().returncode == 1
    missing = fetch(SSL_CERT_FILE=str(tmp_path / "nowhere.pem"))
    assert missing.returncode == 1 and "nowhere.pem" in missing.stderr
    trusted = fetch(SSL_CERT_FILE=str(certificate))
    assert trusted.returncode == 0, trusted.stderr
    assert (tmp_path / "data" / "agaricus-lepiota.data").stat().st_size > 300_000

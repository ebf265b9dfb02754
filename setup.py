"""pip install --no-build-isolation . builds the extension with CMake in build/pip-TAG and takes the package from there.

PITS_CMAKE_ARGS has further arguments of CMake. PITS_BUILD_TREE names a tree that is configured already, e.g. build/release.
PITS_BUNDLE=1 takes the libraries along, for a wheel that needs nothing but numpy (scripts/package).
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = pathlib.Path(__file__).resolve().parent


def version():
    return re.search(r"project\(pits VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)


class CMakeBuild(build_ext):
    def build_extension(self, ext):
        configured = os.environ.get("PITS_BUILD_TREE")
        tree = pathlib.Path(configured) if configured else SOURCE / "build" / f"pip-{sys.implementation.cache_tag}"
        if not configured:
            subprocess.run(["cmake", "-S", SOURCE, "-B", tree, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                            "-DPITS_TESTS=OFF", f"-DPython3_EXECUTABLE={sys.executable}",
                            *shlex.split(os.environ.get("PITS_CMAKE_ARGS", ""))], check=True)
        subprocess.run(["cmake", "--build", tree, "--target", "pits_python_package", "--parallel",
                        os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))], check=True)
        package = pathlib.Path(self.get_ext_fullpath(ext.name)).parent
        package.mkdir(parents=True, exist_ok=True)
        for pattern in ("_pits.*.so", "*.pyi", "pits"):
            for file in (tree / "python" / "pits").glob(pattern):
                shutil.copy2(file, package)
        shutil.copytree(SOURCE / "data", package / "data", dirs_exist_ok=True)
        if os.environ.get("PITS_BUNDLE"):
            subprocess.run([sys.executable, SOURCE / "packaging" / "bundle.py", package], check=True)


(SOURCE / "build").mkdir(exist_ok=True)
setup(version=version(), options={"egg_info": {"egg_base": "build"}}, packages=["pits"],
      package_dir={"pits": "python/pits"}, package_data={"pits": ["py.typed", "*.pyi"]}, ext_modules=[Extension("pits._pits", sources=[])],
      entry_points={"console_scripts": ["pits = pits.__main__:main"]}, cmdclass={"build_ext": CMakeBuild})

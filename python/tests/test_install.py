"""pip installs the package from the source tree into a fresh virtual environment, without a network."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).parents[2]
TREE = os.environ.get("PITS_BUILD_TREE", "")
NEEDED = ("ensurepip", "pip", "setuptools", "wheel")


@pytest.mark.skipif(not TREE, reason="PITS_BUILD_TREE does not name a build tree")
@pytest.mark.skipif(any(importlib.util.find_spec(name) is None for name in NEEDED),
                    reason="needs Debian's python3-venv python3-pip python3-setuptools python3-wheel")
def test_a_fresh_environment_runs_the_readme(tmp_path):
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--no-build-isolation", "--no-index", SOURCE], check=True, env=clean)
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "readme.py").write_text("\n".join(blocks) + "\nprint(pits.__file__)\n", encoding="utf-8")
    done = subprocess.run([python, "readme.py"], check=True, capture_output=True, text=True, cwd=tmp_path, env=clean)
    assert str(tmp_path / "venv") in done.stdout and (tmp_path / "linear.html").exists()
    installed = {file.name for file in next((tmp_path / "venv").rglob("site-packages/pits")).iterdir()}
    built = {file.name for file in (pathlib.Path(TREE) / "python" / "pits").iterdir()}
    assert installed - {"__pycache__"} == built - {"__pycache__"}

"""The Python blocks of docs/python.md and README.md run as they stand, one after another."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    scope = {}
    for block in blocks:
        exec(compile(block, page, "exec"), scope)
    assert list(tmp_path.glob("*.html")) and (tmp_path / "shop.pits").exists()


@pytest.mark.skipif(not os.environ.get("PITS_PROGRAM"), reason="PITS_PROGRAM does not name the program")
def test_the_bench_of_calls_works():
    done = subprocess.run([sys.executable, SOURCE / "bench" / "python_calls.py", "--quick", "--program",
                           os.environ["PITS_PROGRAM"]], check=True, capture_output=True, text=True)
    assert "exact propensity" in done.stdout and "command line" in done.stdout

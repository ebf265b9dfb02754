"""The example notebook runs from its first cell to its last."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import venv

import pytest

import pits

NOTEBOOK = pathlib.Path(__file__).parents[2] / "examples" / "notebook" / "particles.ipynb"
QUICK = {"PITS_NOTEBOOK_REALIZATIONS": "2", "PITS_NOTEBOOK_STEPS": "60", "MPLBACKEND": ""}


NEEDS_JUPYTER = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("nbconvert", "ipykernel")),
    reason="nbconvert or ipykernel is not installed; its cells run as a script below")


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@NEEDS_JUPYTER
def test_the_notebook_draws_the_figure(tmp_path):
    out = tmp_path / "ran.ipynb"
    here = {**os.environ, **QUICK, "PYTHONPATH": str(pathlib.Path(pits.__file__).parents[1])}
    here.pop("MPLBACKEND")
    subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", str(out),
                    str(NOTEBOOK)], check=True, env=here, cwd=tmp_path)
    ran = code_cells(json.loads(out.read_text()))
    outputs = [output for cell in ran for output in cell["outputs"]]
    assert all(output["output_type"] != "error" for output in outputs)
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 1
    assert any("M = 50" in text for output in outputs for text in output.get("data", {}).get("text/html", []))


# The system's kernel would not find pits in a virtual environment.
@NEEDS_JUPYTER
def test_the_documented_commands_run_it(tmp_path):
    venv.create(tmp_path / "venv", system_site_packages=True)
    site = subprocess.run([tmp_path / "venv/bin/python", "-c", "import site; print(site.getsitepackages()[0])"],
                          check=True, capture_output=True, text=True).stdout.strip()
    pathlib.Path(site, "pits.pth").write_text(str(pathlib.Path(pits.__file__).parents[1]))
    root = NOTEBOOK.parents[2]
    text = (root / "docs" / "python.md").read_text().partition("## A notebook")[2]
    commands = text.split("```")[1].replace("build/venv", str(tmp_path / "venv"))
    commands = commands.replace("examples/", f"{root}/examples/")
    here = {name: value for name, value in {**os.environ, **QUICK}.items() if name not in ("PYTHONPATH", "MPLBACKEND")}
    subprocess.run(["sh", "-ec", commands], check=True, env=here, cwd=tmp_path)
    assert "data:image/png" in (tmp_path / "particles.html").read_text()


def test_its_cells_run_as_a_script(monkeypatch):
    for name, value in QUICK.items():
        monkeypatch.setenv(name, value)
    cells = code_cells(json.loads(NOTEBOOK.read_text()))
    scope = {}
    for cell in cells:
        exec("".join(cell["source"]), scope)
    assert scope["result"].regret.shape == (1, 4, 2)
    assert len(scope["left"].lines) == 4 and len(scope["right"].get_xticks()) == 4


# The figure's problem and agents are those of `pits reproduce --only ablation`.
@pytest.mark.skipif(not os.environ.get("PITS_PROGRAM"), reason="PITS_PROGRAM does not name the program")
def test_it_is_the_experiment_of_the_paper(tmp_path, monkeypatch):
    subprocess.run([os.environ["PITS_PROGRAM"], "reproduce", "--only", "ablation", "--realizations", "2", "--steps",
                    "60", "--out", str(tmp_path / "paper")], check=True, capture_output=True)
    for name, value in QUICK.items():
        monkeypatch.setenv(name, value)
    scope = {}
    for cell in code_cells(json.loads(NOTEBOOK.read_text()))[:3]:
        exec("".join(cell["source"]), scope)
    lines = (tmp_path / "paper" / "ablation" / "results.jsonl").read_text().splitlines()
    assert [json.loads(line)["regret"] for line in lines] == list(scope["result"].regret.ravel())

"""Keywords, type hints and examples keep step with the C++ lists of fields."""
import ast
import doctest
import importlib
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import pits
from pits import _fields, _pits

PACKAGE = pathlib.Path(pits.__file__).parent


def arguments(function):
    return [a.arg for a in function.args.args + function.args.kwonlyargs if a.arg not in ("self", "cls")]


def methods_in_stub(module):
    """{class: {method: arguments}} and {function: arguments}."""
    tree = ast.parse((PACKAGE / f"{module}.pyi").read_text())
    classes = {node.name: {f.name: arguments(f) for f in node.body if isinstance(f, ast.FunctionDef)}
               for node in tree.body if isinstance(node, ast.ClassDef)}
    return classes, {node.name: arguments(node) for node in tree.body if isinstance(node, ast.FunctionDef)}


def names(fields):
    return [_fields.to_keyword(field["name"]) for field in fields]


@pytest.mark.parametrize("name", sorted(pits.agents.by_name))
def test_agents_take_every_field(name):
    cls = pits.agents.by_name[name]
    fields = names(_pits.agent_fields(name))
    given = list(inspect.signature(cls).parameters)
    assert set(fields) <= set(given) and set(names(_pits.bandit_fields())) <= set(given)
    assert all(f"    {field} = " in cls.__doc__ for field in fields)
    stub = methods_in_stub("agents")[0][cls.__name__]
    assert stub["__init__"] == given
    assert stub["spec"] == ["preset", *fields]
    # Every field is accepted with its own default, and says what it was given.
    defaults = _fields.values(_pits.agent_fields(name))
    spec = cls.spec(**{_fields.to_keyword(k): v for k, v in defaults.items()})
    assert _fields.values(_pits.agent_fields(spec)) == defaults


@pytest.mark.parametrize("name", sorted(pits.environments.by_name))
def test_environments_take_every_field(name):
    cls = pits.environments.by_name[name]
    fields = names(_pits.environment_fields(name))
    stub = methods_in_stub("environments")[0][cls.__name__]
    assert stub["__init__"] == list(inspect.signature(cls).parameters)
    assert stub["spec"] == ["preset", *fields]


def test_flows_take_every_field():
    _, functions = methods_in_stub("flows")
    for name, function in pits.flows.by_name.items():
        given = list(inspect.signature(function).parameters)
        assert functions[name.replace("-", "_")] == given
        assert set(names(pits.flows.FIELDS)) <= set(given)


def test_run_takes_every_field():
    given = list(inspect.signature(pits.run).parameters)
    assert methods_in_stub("experiment")[1]["run"] == given
    fields = names(_pits.experiment_fields())
    assert {"steps", "realizations", "seed", "feedback", "diagnostics", "data_dir"} <= set(fields) <= set(given)
    assert all(f"    {field} = " in pits.run.__doc__ for field in fields)
    with pytest.raises(TypeError, match="unexpected keyword argument 'stpes'"):
        pits.run("lin-ts", "linear", stpes=3)


def test_the_stub_of_the_extension_has_what_it_has():
    tree = ast.parse((PACKAGE / "_pits.pyi").read_text())
    classes = {node.name: {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
               for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    there = {name for name in vars(_pits) if not name.startswith("__")}
    assert there == set(classes) | functions
    for name, methods in classes.items():
        if name in ("Decision", "Error", "InputError", "FailedError"):
            continue
        own = {m for m in vars(getattr(_pits, name)) if not m.startswith(("__", "_pybind"))}
        assert own == methods - {"__init__"}, name


@pytest.mark.parametrize("module", ["pits", "pits._fields", "pits._progress", "pits.agents", "pits.bandit",
                                    "pits.client", "pits.environments", "pits.evaluation", "pits.experiment", "pits.flows", "pits.live",
                                    "pits.result", "pits.schema"])
def test_examples_in_docstrings(module):
    outcome = doctest.testmod(importlib.import_module(module))
    assert outcome.attempted > 0 and outcome.failed == 0


TYPED = '''
from typing import Any
import numpy as np
import pits
bandit = pits.PiTS(n_actions=7, n_features=9, flow="dgf", particles=20, seed=0, preset="released")
decision = bandit.decide(np.zeros(9, dtype=np.float32))
action: int = decision.action
new: bool = bandit.learn(decision.id, 1.0)
many: int = bandit.learn([0, 1], [1.0, 0.0])
bandit.learn(np.zeros(9), action, 0.5)
loaded: pits.Bandit = pits.load("x")
spec: str = pits.agents.LinTS.spec(lambda_=0.5)
result = pits.run([spec, pits.agents.Uniform], "linear", steps=10)
shape = result.regret.shape
live = pits.LiveBandit("shop", actions=["tea", "milk"], schema={"features": []}, window=60)
shown: pits.LiveDecision = live.decide({"age": 31}, key="visit")
number: int = live.decide([1.0, 2.0]).id
answered: str = live.reward(shown, 1.0)
answers: list[Any] = live.rewards([shown, 3], [1.0, 0.0])
lag: int = live.status.committed - live.status.learned
client = pits.Client("http://127.0.0.1:8080", key="k", timeout=1.0)
served: pits.ServiceDecision = client.decide("shop", {"age": 31}, allowed=["tea"])
said: str = client.reward("shop", served, 1.0)
all_said: list[Any] = client.reward_many("shop", [served, 7, "visit-3"], np.zeros(3))
moved = pits.flows.svgd(lambda t: -t, np.zeros((3, 2)), step=0.1)
'''


@pytest.mark.skipif(shutil.which("mypy") is None, reason="mypy is not installed")
def test_type_hints(tmp_path):
    def mypy(*words):
        done = subprocess.run(["mypy", "--cache-dir", str(tmp_path / "cache"), *words], capture_output=True, text=True,
                              cwd=tmp_path, env={"MYPYPATH": str(PACKAGE.parent), "PATH": "/usr/bin:/bin"})
        return done.stdout + done.stderr

    assert "Success" in mypy("--strict", "--ignore-missing-imports", "-p", "pits")
    (tmp_path / "good.py").write_text(TYPED)
    assert "Success" in mypy("--strict", "--ignore-missing-imports", "good.py")
    wrong = {'pits.PiTS(7, 9, flow="dfg")': "arg-type", "pits.PiTS(7, 9, flw=1)": "call-arg",
             'pits.PiTS(7, 9, particles="many")': "arg-type"}
    for line, code in wrong.items():
        (tmp_path / "bad.py").write_text(f"import pits\n{line}\n")
        assert f"[{code}]" in mypy("--strict", "bad.py"), line


def test_python_imports_without_what_it_can_do_without(tmp_path):
    """pandas and matplotlib are looked for only when they are asked for."""
    code = ("import sys; sys.modules['pandas'] = sys.modules['matplotlib'] = None; import pits;"
            "r = pits.run('lin-ts', 'linear', steps=20, realizations=1); r.report(sys.argv[1]);"
            "\ntry: r.frame\nexcept ImportError as e: print(e)")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "x.html")], capture_output=True, text=True,
                          env={"PYTHONPATH": str(PACKAGE.parent)}, check=True)
    assert "python3-pandas" in done.stdout and (tmp_path / "x.html").exists()


def test_pits_simd_forces_a_target():
    code = "import pits; print(pits.simd_target())"

    def imported(target):
        return subprocess.run([sys.executable, "-c", code], env={**os.environ, "PITS_SIMD": target}, text=True,
                              capture_output=True)

    refused = imported("none")
    assert refused.returncode == 1
    known = re.search(r"ImportError: PITS_SIMD: unknown SIMD target 'none'\. Known: (.*)", refused.stderr)
    for target in known[1].split(", "):
        done = imported(target)
        assert done.stdout == f"{target}\n", done

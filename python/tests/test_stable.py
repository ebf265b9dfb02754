"""Within 1.x no public name goes away (docs/versions.md); the command line from Python."""
import inspect
import pathlib
import subprocess
import sys

import pits
import pits.gymnasium

SOURCE = pathlib.Path(__file__).parents[2]


def public_names():
    modules = {"pits": pits, "pits.agents": pits.agents, "pits.environments": pits.environments, "pits.flows": pits.flows,
               "pits.gymnasium": pits.gymnasium}
    names = {f"pits.{name}" for name in pits.__all__}
    for path, module in list(modules.items())[1:]:
        names |= {f"{path}.{name}" for name in vars(module)
                  if not name.startswith("_") and getattr(getattr(module, name), "__module__", "").startswith("pits")}
    for cls in (pits.Bandit, pits.LiveBandit, pits.Client, pits.Result, pits.Evaluation, pits.Schema):
        names |= {f"pits.{cls.__name__}.{name}" for name in dir(cls) if not name.startswith("_")}
    return names


def test_all_names_of_version_one_are_there():
    frozen = set((SOURCE / "tests" / "stable" / "python-names.txt").read_text().split())
    assert len(frozen) > 80
    assert frozen - public_names() == set()


def arguments(path):
    """Arguments of pits.NAME or pits.CLASS.NAME, of a class those of its constructor: all, and those that have a place."""
    found = pits
    for part in path.split(".")[1:]:
        found = inspect.getattr_static(found, part) if inspect.isclass(found) else getattr(found, part)
    given = [p for p in inspect.signature(getattr(found, "__func__", found)).parameters.values()
             if p.name not in ("self", "cls") and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return {p.name for p in given}, [p.name for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


# Lines of "NAME arguments with a place * keywords".
def test_all_arguments_of_version_one_are_there():
    lines = (SOURCE / "tests" / "stable" / "python-arguments.txt").read_text().splitlines()
    assert len(lines) > 60
    for line in lines:
        name, *frozen = line.split(" * ")[0].split()
        given, placed = arguments(name)
        assert set(line.split()) - {name, "*"} - given == set(), name
        assert placed[:len(frozen)] == frozen, name  # new ones come behind


def test_the_command_line_from_python():
    done = subprocess.run([sys.executable, "-m", "pits", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"pits {pits.__version__}\n"
    wrong = subprocess.run([sys.executable, "-m", "pits", "rnu"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "did you mean 'run'" in wrong.stderr


def test_versions_agree():
    major, minor, patch = pits.__version__.split(".")
    assert major == "1" and minor.isdigit() and patch.isdigit()
    assert f"## {pits.__version__}" in (SOURCE / "CHANGELOG.md").read_text(encoding="utf-8")

"""Writes the type hints of what is made from lists of fields: agents, environments, flows and experiment.

    python -m pits._stubs DIRECTORY

The build runs it, so that the hints know every field that C++ has.
"""
from __future__ import annotations

import pathlib
import sys
from typing import Any, Mapping, Sequence

from . import _fields, _pits, agents, environments, experiment, flows

HEAD = '''"""Written by pits._stubs from the C++ lists of fields."""
from typing import Any, Callable, Literal, NamedTuple, Optional, Sequence, Union
import numpy as np
from numpy.typing import ArrayLike, NDArray
'''
TYPES = {"bool": "bool", "int": "int", "float": "float", "str": "str", "ints": "Optional[Sequence[int]]",
         "floats": "Optional[Sequence[float]]", "other": "Union[float, str]"}


def hint(field: _fields.Field) -> str:
    if field["type"] == "choice":
        return f"Literal[{', '.join(repr(choice) for choice in field['choices'])}]"
    return TYPES[field["type"]]


def keywords(fields: Sequence[_fields.Field]) -> str:
    return "".join(f", {_fields.to_keyword(field['name'])}: {hint(field)} = ..." for field in fields)


def presets(entry: Mapping[str, Any]) -> str:
    names = [name for name, _ in entry["presets"]]
    return f"Optional[Literal[{', '.join(map(repr, names))}]]" if names else "None"


def agents_text() -> str:
    text = HEAD + "from .bandit import Bandit\nby_name: dict[str, type[Bandit]]\n"
    text += "def all_fields(name: str) -> list[Any]: ...\n"
    for entry in _pits.agent_catalogue():
        own = _pits.agent_fields(entry["name"])
        preset = f"preset: {presets(entry)} = ..."
        text += (f"class {_fields.class_name(entry['name'])}(Bandit):\n"
                 f"    def __init__(self, n_actions: int, n_features: int, *, {preset}, seed: int = ..."
                 f"{keywords(agents.all_fields(entry['name']))}) -> None: ...\n"
                 f"    @classmethod\n    def spec(cls, {preset}{', *' if own else ''}{keywords(own)}) -> str: ...\n")
    return text


def environments_text() -> str:
    text = HEAD + '''from typing import ClassVar, Iterator
from . import _pits
class Round(NamedTuple):
    context: NDArray[np.float32]
    rewards: NDArray[np.float64]
    mean_rewards: NDArray[np.float64]
class Environment(_pits.Environment):
    environment: ClassVar[str]
    def __init__(self, environment: str, *, preset: Optional[str] = ..., seed: int = ..., realization: int = ...,
                 steps: int = ..., data_dir: str = ..., **fields: Any) -> None: ...
    def draw(self, t: int) -> Round: ...
    def rounds(self, steps: int) -> Iterator[Round]: ...
by_name: dict[str, type[Environment]]
'''
    for entry in _pits.environment_catalogue():
        fields = keywords(_pits.environment_fields(entry["name"]))
        preset = f"preset: {presets(entry)} = ..."
        text += (f"class {_fields.class_name(entry['name'])}(Environment):\n"
                 f"    def __init__(self, *, {preset}, seed: int = ..., realization: int = ..., steps: int = ..., "
                 f"data_dir: str = ...{fields}) -> None: ...\n"
                 f"    @classmethod\n    def spec(cls, {preset}{', *' if fields else ''}{fields}) -> str: ...\n")
    return text


def flows_text() -> str:
    common = ("log_prob_grad: Gradient, particles: ArrayLike, *, steps: int = ..., seed: int = ..., "
              "batched: bool = ..., callback: Optional[Callable[[int, NDArray[Any]], object]] = ...")
    text = HEAD + "Gradient = Callable[[NDArray[Any]], Any]\nFIELDS: list[Any]\n"
    text += "by_name: dict[str, Callable[..., NDArray[Any]]]\n"
    text += f"def move(flow: str, {common}{keywords(flows.FIELDS)}) -> NDArray[Any]: ...\n"
    for name in flows.by_name:
        text += f"def {name.replace('-', '_')}({common}{keywords(flows.FIELDS)}) -> NDArray[Any]: ...\n"
    return text


def experiment_text() -> str:
    return HEAD + f'''import os
from typing import Mapping
from .result import Result
Thing = Union[str, type, Callable[..., Any]]
Things = Union[Thing, Sequence[Thing], Mapping[str, Thing]]
FIELDS: list[Any]
def run(agents: Things, envs: Things, *, threads: int = ...,
        progress: Union[bool, None, Callable[[int, int], object]] = ...,
        out: Union[str, os.PathLike[str], None] = ..., resume: bool = ...{keywords(experiment.FIELDS)}) -> Result: ...
'''


def main(directory: str) -> None:
    for name, text in {"environments": environments_text(), "flows": flows_text(), "agents": agents_text(),
                       "experiment": experiment_text()}.items():
        (pathlib.Path(directory) / f"{name}.pyi").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])

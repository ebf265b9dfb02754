"""The problems of the catalogue: Linear, Wheel, Statlog, ...

>>> env = by_name["linear"](seed=1)
>>> env.n_features, env.n_actions
(10, 8)
>>> round = env.draw(0)
>>> round.context.shape, round.rewards.shape, round.mean_rewards.shape
((10,), (8,), (8,))

Round t is the same whoever asks, in whatever order. One's own problem is any class with n_features, n_actions and
draw(t); see `pits.run`.
"""
from __future__ import annotations

import inspect
from typing import Any, ClassVar, Iterator, Mapping, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from . import _fields, _pits


class Round(NamedTuple):
    context: NDArray[np.float32]  # (d,)
    rewards: NDArray[np.float64]  # (K,) what each action would pay
    mean_rewards: NDArray[np.float64]  # (K,) what it pays on average in this context


class Environment(_pits.Environment):
    """A problem by NAME[:PRESET][,field=value...]; steps is the number of rounds that it will be asked for."""

    environment: ClassVar[str] = ""

    def __init__(self, environment: str, *, preset: Optional[str] = None, seed: int = 0, realization: int = 0,
                 steps: int = 2000, data_dir: str = "", **fields: Any) -> None:
        self._spec = _fields.spec(_fields.text("environment", environment), preset, fields)
        self._setup = (_pits.whole_number(seed, "seed", 0, _fields.UINT64),
                       _pits.whole_number(realization, "realization", 0, _fields.UINT32),
                       _pits.whole_number(steps, "steps", 1, _fields.INT64), _fields.text("data_dir", data_dir))
        super().__init__(self._spec, *self._setup)

    def draw(self, t: int) -> Round:
        """Round t, counted from 0."""
        return Round(*self._draw(t))

    def rounds(self, steps: int) -> Iterator[Round]:
        """The first rounds, one after another."""
        return map(self.draw, range(_pits.whole_number(steps, "steps", 0, _fields.INT64)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self._spec, self._setup)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} '{self._spec}': d = {self.n_features}, K = {self.n_actions}>"


def _remade(kind: type[Environment], spec: str, setup: tuple[int, int, int, str]) -> Environment:
    env = kind.__new__(kind)
    _pits.Environment.__init__(env, spec, *setup)
    env._spec, env._setup = spec, setup
    return env


def _document(entry: Mapping[str, Any], fields: list[_fields.Field]) -> str:
    presets = "".join(f"\n    preset = {name!r}: {summary}" for name, summary in entry["presets"])
    return (f"{entry['summary'][:1].upper()}{entry['summary'][1:]}.\n\nPresets:{presets or ' none'}\n\n"
            f"Fields and their defaults:\n{_fields.described(fields)}\n")


def _text(entry: Mapping[str, Any], preset: Optional[str], fields: dict[str, Any]) -> str:
    """Where an entry takes an argument after the colon, it is a field of that name here."""
    argument = fields.pop(entry["argument"], None) if entry["argument"] else None
    return _fields.spec(entry["name"], preset if argument is None else str(argument), fields)


def _make_class(entry: Mapping[str, Any]) -> type[Environment]:
    fields = _pits.environment_fields(entry["name"])
    first_preset = entry["presets"][0][0] if entry["presets"] else None

    def __init__(self: Environment, *, preset: Optional[str] = None, seed: int = 0, realization: int = 0,
                 steps: int = 2000, data_dir: str = "", **fields: Any) -> None:
        Environment.__init__(self, _text(entry, preset, fields), seed=seed, realization=realization, steps=steps,
                             data_dir=data_dir)

    def spec(cls: type[Environment], preset: Optional[str] = None, **fields: Any) -> str:
        """NAME[:PRESET][,field=value...], which pits.run takes."""
        text = _text(entry, preset, fields)
        _pits.environment_fields(text)  # raises where there is no such field or value
        return text

    only = inspect.Parameter.KEYWORD_ONLY
    fixed = {"preset": first_preset, "seed": 0, "realization": 0, "steps": 2000, "data_dir": ""}
    signature = inspect.Signature([inspect.Parameter(name, only, default=value) for name, value in fixed.items()]
                                  + _fields.parameters(fields))
    return type(_fields.class_name(entry["name"]), (Environment,), {
        "__doc__": _document(entry, fields), "__module__": __name__, "__init__": __init__,
        "environment": entry["name"], "__signature__": signature, "spec": classmethod(spec)})


by_name: dict[str, type[Environment]] = {entry["name"]: _make_class(entry)
                                         for entry in _pits.environment_catalogue()}
globals().update({made.__name__: made for made in by_name.values()})
__all__ = ["Environment", "Round", "by_name", *(made.__name__ for made in by_name.values())]

"""A class for each agent of the catalogue: PiTS, LinTS, NeuralLinear, ...

>>> sorted(by_name)[:3]
['bernoulli-ts', 'boltzmann', 'bootstrap']
>>> by_name["lin-ts"]
<class 'pits.agents.LinTS'>

Each takes n_actions, n_features, preset, seed and the agent's fields as keywords (help(PiTS) lists them), and says by
`spec` what `pits.run` and the command line call it:

>>> by_name["pi-ts"].spec(preset="released", flow="svgd", hidden=[50])
'pi-ts:released,flow=svgd,hidden=50'
"""
from __future__ import annotations

import inspect
from typing import Any, Mapping, Optional

from . import _fields, _pits
from .bandit import Bandit


def all_fields(name: str) -> list[_fields.Field]:
    """The keywords of an agent: its own fields, and those of the bandit around it that it has not itself."""
    own = _pits.agent_fields(name)
    names = {field["name"] for field in own}
    return [*own, *(field for field in _pits.bandit_fields() if field["name"] not in names)]


def _signature(fields: list[_fields.Field], preset: Optional[str]) -> inspect.Signature:
    both = inspect.Parameter.POSITIONAL_OR_KEYWORD
    only = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature([inspect.Parameter("n_actions", both), inspect.Parameter("n_features", both),
                              inspect.Parameter("preset", only, default=preset),
                              inspect.Parameter("seed", only, default=0), *_fields.parameters(fields)])


def _document(entry: Mapping[str, Any], fields: list[_fields.Field]) -> str:
    presets = "".join(f"\n    preset = {name!r}: {summary}" for name, summary in entry["presets"])
    return (f"{entry['summary'][:1].upper()}{entry['summary'][1:]}.\n\nPresets:{presets or ' none'}\n\n"
            f"Fields and their defaults{' in the first preset' if presets else ''}:\n{_fields.described(fields)}\n")


def _make_class(entry: Mapping[str, Any]) -> type[Bandit]:
    name = entry["name"]
    fields = all_fields(name)
    first_preset = entry["presets"][0][0] if entry["presets"] else None

    def __init__(self: Bandit, n_actions: int, n_features: int, *, preset: Optional[str] = None, seed: int = 0,
                 **fields: Any) -> None:
        Bandit.__init__(self, name, n_actions, n_features, preset=preset, seed=seed, **fields)

    def spec(cls: type[Bandit], preset: Optional[str] = None, **fields: Any) -> str:
        """NAME[:PRESET][,field=value...], which pits.run takes."""
        text = _fields.spec(cls.agent, preset, fields)
        _pits.agent_fields(text)  # raises where there is no such field or value
        return text

    return type(_fields.class_name(name), (Bandit,), {
        "__doc__": _document(entry, fields), "__module__": __name__, "__init__": __init__, "agent": name,
        "__signature__": _signature(fields, first_preset), "spec": classmethod(spec)})


by_name: dict[str, type[Bandit]] = {entry["name"]: _make_class(entry) for entry in _pits.agent_catalogue()}
globals().update({made.__name__: made for made in by_name.values()})
__all__ = ["by_name", *(made.__name__ for made in by_name.values())]

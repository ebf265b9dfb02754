"""The flows on your own density, given by the gradient of its log.

>>> import numpy as np
>>> start = np.random.default_rng(0).normal(size=(50, 2)) + 5.0
>>> moved = svgd(lambda theta: -theta, start, steps=500)  # a standard normal
>>> bool(np.all(np.abs(moved.mean(axis=0)) < 0.1)), moved.shape
(True, (50, 2))
"""
from __future__ import annotations

import inspect
from typing import Any, Callable, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _fields, _pits

_FLOW_FIELDS = [field for field in _pits.flow_fields() if field["name"] != "flow"]
_NAMES: list[str] = next(field["choices"] for field in _pits.flow_fields() if field["name"] == "flow")
FIELDS: list[_fields.Field] = [*_FLOW_FIELDS, *_pits.optimizer_fields()]
_NOISY = {"sgld", "spos"}  # their noise matches a plain step

Gradient = Callable[[NDArray[Any]], Any]


def _optimizer(flow: str) -> dict[str, Any]:
    """What `pits sample` starts from."""
    return {"optimizer": "sgd", "step": 0.02} if flow in _NOISY else {"optimizer": "adam", "step": 0.05}


def _score(log_prob_grad: Gradient, theta: NDArray[Any], batched: bool, t: int) -> NDArray[Any]:
    # A copy: the gradient's owner may keep what it is given.
    given = log_prob_grad(theta.copy()) if batched else [log_prob_grad(row.copy()) for row in theta]
    score = np.ascontiguousarray(given, dtype=theta.dtype)
    if score.shape != theta.shape:
        hint = "" if batched or score.ndim != 2 else " for all particles together"
        raise _pits.InputError(f"log_prob_grad gave the shape {score.shape}{hint}, not {theta.shape}"
                               + ("; for a gradient of one particle at a time say batched=False" if batched else ""))
    if not np.isfinite(score).all():
        raise _pits.InputError(f"log_prob_grad gave numbers that are not finite at step {t}; a smaller step may help")
    return score


def _mover(flow: str, fields: dict[str, Any], dtype: np.dtype[Any], seed: int) -> Any:
    given = _fields.to_texts(fields)
    names = {field["name"] for field in _FLOW_FIELDS}
    known = [field["name"] for field in FIELDS]
    for name in given:
        if name not in known:
            raise _pits.InputError(f"flow '{flow}' has no field '{name}'; there are {', '.join(known)}")
    optimizer = _fields.to_texts(_optimizer(flow))
    optimizer.update((name, text) for name, text in given.items() if name not in names)
    flow_texts = {"flow": flow, **{name: text for name, text in given.items() if name in names}}
    kind = _pits.Mover32 if dtype == np.float32 else _pits.Mover64
    return kind(flow_texts, optimizer, seed)


def move(flow: str, log_prob_grad: Gradient, particles: ArrayLike, *, steps: int = 1000, seed: int = 0,
         batched: bool = True, callback: Optional[Callable[[int, NDArray[Any]], object]] = None,
         **fields: Any) -> NDArray[Any]:
    """Moves particles (M, P) by a flow towards the density whose log has the gradient log_prob_grad.

    log_prob_grad takes all particles (M, P) and gives a gradient for each, or, with batched=False, takes one (P,) at a
    time. callback(t, particles) is shown the particles after every step. Works in float32 where particles are float32,
    else in float64. The fields are those of the flow and of the optimiser: step, optimizer, bandwidth, ...;
    help(pits.flows.svgd) lists them.
    """
    start = np.asarray(particles)
    if start.ndim != 2 or start.size == 0:
        raise _pits.InputError(f"particles must have the shape (M, P), not {start.shape}")
    theta = np.array(start, dtype=np.float32 if start.dtype == np.float32 else np.float64, order="C")
    if not np.isfinite(theta).all():
        raise _pits.InputError("particles must be finite")
    mover = _mover(_fields.text("flow", flow), fields, theta.dtype, _pits.whole_number(seed, "seed", 0, _fields.UINT64))
    for t in range(_pits.whole_number(steps, "steps", 0, _fields.INT64)):
        mover.step(theta, _score(log_prob_grad, theta, batched, t))
        if callback is not None:
            callback(t + 1, theta.copy())
    if not np.isfinite(theta).all():
        raise _pits.FailedError(f"the particles of {flow} diverged; a smaller step may help")
    return theta


def _make_function(flow: str, summary: str) -> Callable[..., NDArray[Any]]:
    def function(log_prob_grad: Gradient, particles: ArrayLike, **options: Any) -> NDArray[Any]:
        return move(flow, log_prob_grad, particles, **options)

    function.__name__ = function.__qualname__ = flow.replace("-", "_")
    texts = _fields.to_texts(_optimizer(flow))
    defaults = [dict(field, value=texts.get(field["name"], field["value"])) for field in FIELDS]
    function.__doc__ = (f"{summary[:1].upper()}{summary[1:]}.\n\nAs move({flow!r}, ...): steps, seed, batched, "
                        f"callback and the fields\n{_fields.described(defaults)}\n")
    head = list(inspect.signature(move).parameters.values())[1:-1]
    function.__signature__ = inspect.Signature(head + _fields.parameters(defaults))  # type: ignore[attr-defined]
    return function


by_name: dict[str, Callable[..., NDArray[Any]]] = {
    name: _make_function(name, summary) for name, summary in zip(_NAMES, _pits.flow_summaries())}
globals().update({made.__name__: made for made in by_name.values()})
__all__ = ["by_name", "move", *(made.__name__ for made in by_name.values())]

"""An agent for a product: numbered decisions, late rewards, propensities, save and load."""
from __future__ import annotations

import copyreg
import os
from typing import Any, ClassVar, Mapping, Optional, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _fields, _pits

BANDIT_FIELDS = {field["name"] for field in _pits.bandit_fields()}
Self = TypeVar("Self", bound="Bandit")


class Bandit(_pits.Bandit):
    """An agent of the catalogue, for use in a product.

    agent is NAME[:PRESET][,field=value...]. Keywords set more fields of the agent or of the bandit: propensity,
    propensity_draws, default_after, default_reward, and floor if the agent has no field of that name. `pits.agents` has
    one class per agent.

    >>> bandit = Bandit("lin-ts", n_actions=2, n_features=1, seed=7)
    >>> first, second = bandit.decide([1.0]), bandit.decide([1.0])
    >>> bandit.learn(second.id, 0.5), bandit.learn(second.id, 0.5)  # the second reward of a decision is ignored
    (True, False)
    >>> bandit.pending
    1
    """

    agent: ClassVar[str] = ""  # of the named classes

    def __init__(self, agent: str, n_actions: int, n_features: int, *, preset: Optional[str] = None, seed: int = 0,
                 **fields: Any) -> None:
        own = {field["name"] for field in _pits.agent_fields(_fields.spec(_fields.text("agent", agent), preset, {}))}
        config = {name: fields.pop(name) for name in BANDIT_FIELDS - own if name in fields}
        super().__init__(_fields.spec(agent, preset, fields),
                         _pits.whole_number(n_actions, "n_actions", 1, _fields.UINT32),
                         _pits.whole_number(n_features, "n_features", 1, _fields.UINT32),
                         _pits.whole_number(seed, "seed", 0, _fields.UINT64), _fields.to_texts(config))

    @property
    def config(self) -> dict[str, Any]:
        """Every setting of the agent."""
        return _fields.values(_pits.agent_fields(self._describe()))

    @property
    def bandit_config(self) -> dict[str, Any]:
        """Every setting of the bandit: floor, propensity, default_after, ..."""
        return _fields.values(self._bandit_config())

    def predict_proba(self, X: ArrayLike, allowed: Optional[ArrayLike] = None,
                      features: Optional[ArrayLike] = None) -> NDArray[np.float32]:
        """The probability of every action in the next decision: (n, K) for contexts (n, d), (K,) for one.

        >>> Bandit("uniform", n_actions=4, n_features=1).predict_proba([[0.0], [1.0]])
        array([[0.25, 0.25, 0.25, 0.25],
               [0.25, 0.25, 0.25, 0.25]], dtype=float32)
        """
        return self.predict_proba_error(X, allowed, features)[0]

    def predict_proba_error(self, X: ArrayLike, allowed: Optional[ArrayLike] = None,
                            features: Optional[ArrayLike] = None) -> tuple[NDArray[np.float32], float]:
        """The same, and the largest standard error of the probabilities: 0 if they are exact."""
        rows = np.asarray(X)
        one = rows.ndim == 1
        p, error = self._probabilities(rows[np.newaxis] if one else X, allowed, features)
        return (p[0] if one else p), error

    def partial_fit(self: Self, X: ArrayLike, actions: ArrayLike, rewards: ArrayLike,
                    features: Optional[ArrayLike] = None) -> Self:
        """Learns rounds that were decided elsewhere, in order: contexts (n, d), actions (n,), rewards (n,).

        >>> bandit = Bandit("lin-ts", n_actions=2, n_features=1)
        >>> bandit.partial_fit([[1.0], [1.0]] * 50, [0, 1] * 50, [0.0, 1.0] * 50).decide([1.0]).action
        1
        """
        self.replay(X, actions, rewards, features=features)
        return self

    def __repr__(self) -> str:
        head, *_ = self._describe().split(",")
        name, _, preset = head.partition(":")
        arguments: dict[str, Any] = {} if self.agent else {"agent": name}
        arguments.update(n_actions=self.n_actions, n_features=self.n_features, seed=self.seed)
        if preset:
            arguments["preset"] = preset
        arguments.update((_fields.to_keyword(k), v) for k, v in {**self.bandit_config, **self.config}.items())
        return _fields.call_text(type(self).__name__, arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        names = copyreg._slotnames(type(self))  # type: ignore[attr-defined]  # as pickle finds them
        slots = {name: getattr(self, name) for name in names if hasattr(self, name)}
        return _restored, (type(self), self._saved(), self.__dict__, "a pickled bandit", slots)


def _restored(kind: type[Bandit], saved: bytes, attributes: Mapping[str, Any], source: str,
              slots: Mapping[str, Any]) -> Bandit:
    bandit = kind.__new__(kind)
    _pits.Bandit.__init__(bandit, saved, source)
    bandit.__dict__.update(attributes)
    for name, value in slots.items():
        setattr(bandit, name, value)
    return bandit


def load(path: Union[str, os.PathLike[str]]) -> Bandit:
    """The bandit that `save` wrote. It continues bit for bit as if it had never stopped.

    A file that cannot be opened raises OSError, e.g. FileNotFoundError; a damaged file raises InputError.

    >>> import tempfile
    >>> file = os.path.join(tempfile.mkdtemp(), "shop.pits")
    >>> Bandit("lin-ts", n_actions=2, n_features=1).save(file)
    >>> type(load(file)).__name__
    'LinTS'
    """
    from . import agents
    with open(path, "rb") as file:
        bandit = _restored(Bandit, file.read(), {}, repr(os.fspath(path)), {})
    name = bandit._describe().partition(",")[0].partition(":")[0]
    bandit.__class__ = agents.by_name[name]
    return bandit

"""What other policies would have earned on a log, with intervals."""
from __future__ import annotations

import json
import os
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _pits
from .result import _pandas, _position

Function = Callable[[NDArray[np.float32]], ArrayLike]
Policy = Union[str, Function]
Policies = Union[Policy, Sequence[Policy], Mapping[str, Policy]]
ARRAYS = ("actions", "rewards", "propensities", "contexts", "all_propensities", "allowed")


class Evaluation:
    """Values of policies, with intervals and what speaks against them.

    `logged` is what was logged and `policies` what was judged, by name: the same as `pits evaluate --json` prints.
    """

    def __init__(self, log: Any, judged: Any, names: Sequence[str], estimator: str, interval: str, title: str) -> None:
        self._log, self._judged, self._title = log, judged, title
        self.estimator, self.interval = estimator, interval
        self.logged: dict[str, Any] = json.loads(judged.logged_json(log))
        self.policies: dict[str, dict[str, Any]] = {
            name: json.loads(text) for name, text in zip(names, judged.policies_json())}

    def value(self, policy: str, estimator: Optional[str] = None) -> float:
        """The estimate of a policy's mean reward per round."""
        return float(self._of(policy)["estimates"][estimator or self.estimator]["value"])

    def weights(self, policy: str) -> NDArray[np.float64]:
        """(n,) The weight of every round: the policy's probability of the logged action over the logger's."""
        return np.asarray(self._judged.weights(list(self.policies).index(policy)))

    def warnings(self, policy: str) -> list[str]:
        """Why its estimate should not be trusted; empty: nothing speaks against it."""
        return list(self._of(policy)["warnings"])

    def table(self) -> str:
        return str(self._judged.table(self._log, self.estimator, self.interval))

    def __repr__(self) -> str:
        return f"<Evaluation: {len(self.policies)} policies on {self.logged['rounds']} rounds>\n{self.table()}"

    @property
    def frame(self) -> Any:
        """A pandas frame, one row for each policy and estimator, with differences to the baseline."""
        rows = []
        for name, judged in self.policies.items():
            for estimator, found in judged["estimates"].items():
                apart = judged["differences"][estimator]
                row = {"policy": name, "estimator": estimator, "value": found["value"], "error": found["error"],
                       "difference": apart["value"], "difference_error": apart["error"],
                       "effective_rounds": judged["weights"]["effective_rounds"]}
                kinds = {kind: found.get(kind) for kind in ("asymptotic", "bootstrap", "bernstein")}
                for kind, pair in {**kinds, "sequence": judged.get("sequence")}.items():
                    row[f"{kind}_low"], row[f"{kind}_high"] = pair or (np.nan, np.nan)
                rows.append(row)
        return _pandas().DataFrame(rows)

    @property
    def curves_frame(self) -> Any:
        """A pandas frame of the estimates as the log grows."""
        rows = [{"policy": name, "rounds": point["rounds"], "ips": point["ips"], "snips": point["snips"],
                 "dr": point.get("dr", np.nan), "low": (point.get("sequence") or [np.nan])[0],
                 "high": (point.get("sequence") or [np.nan])[-1]}
                for name, judged in self.policies.items() for point in judged["curve"]]
        return _pandas().DataFrame(rows)

    def plot(self, ax: Any = None) -> Any:
        """Values as the log grows, with confidence sequences where there are any, by matplotlib. Returns the axes."""
        import matplotlib.pyplot as plt
        ax = plt.subplots()[1] if ax is None else ax
        for name, judged in self.policies.items():
            curve = judged["curve"]
            key = "dr" if "dr" in curve[0] else "ips"
            rounds = [point["rounds"] for point in curve]
            shown, = ax.plot(rounds, [point[key] for point in curve], label=name)
            if "sequence" in curve[0]:
                low, high = zip(*(point["sequence"] for point in curve))
                ax.fill_between(rounds, low, high, color=shown.get_color(), alpha=0.15, linewidth=0)
        ax.axhline(self.logged["value"], color="grey", linestyle="--", label="logged")
        ax.set(xlabel="rounds of the log", ylabel="value")
        ax.legend()
        return ax

    def report(self, path: Union[str, os.PathLike[str]], feature: str = "") -> str:
        """Writes one self-contained HTML page; `feature` is a column of the context. Returns its path."""
        page = self._judged.page(self._log, self.estimator, self.interval, self._title, feature)
        _pits.write_file(os.fspath(path), page)
        return os.path.abspath(path)

    def _of(self, policy: str) -> dict[str, Any]:
        return list(self.policies.values())[_position(policy, list(self.policies), "policy")]


def _read(log: Any, actions: Sequence[str], reward_range: Optional[tuple[float, float]], format: str,
          names: Sequence[str]) -> tuple[Any, str]:
    if isinstance(log, (str, os.PathLike)):
        return _pits.Log.read(os.fspath(log), format, list(actions), reward_range, list(names)), os.fspath(log)
    if not hasattr(log, "keys"):
        raise TypeError("a log is a file, a directory, or a mapping of arrays: actions, rewards, propensities, ...")
    arrays = {key: np.asarray(log[key]) for key in log.keys() if log[key] is not None}
    for key in arrays:
        if key not in ARRAYS:
            raise _pits.InputError(f"a log of arrays has no {key!r:.60}; it has {', '.join(ARRAYS)}")
    for key in ("actions", "rewards"):
        if key not in arrays:
            raise _pits.InputError(f"a log of arrays needs '{key}'")
    chosen = [str(action) for action in arrays["actions"].tolist()]
    tables = [arrays[key] for key in ("all_propensities", "allowed") if key in arrays and arrays[key].ndim == 2]
    if not actions and tables:
        actions = [str(a) for a in range(tables[0].shape[1])]
    given = arrays.get
    made = _pits.Log.of_arrays(chosen, arrays["rewards"], given("propensities"), given("contexts"),
                               given("all_propensities"), given("allowed"), list(actions), reward_range)
    return made, "arrays"


def _named(policies: Policies) -> Mapping[str, Policy]:
    if isinstance(policies, Mapping):
        return policies
    listed: list[Any] = [policies] if isinstance(policies, str) or callable(policies) else list(policies)
    return {policy if isinstance(policy, str) else getattr(policy, "__name__", "policy"): policy for policy in listed}


def _specs(log: Any, policies: Policies) -> dict[str, str]:
    """Specs by name; what functions say of every round becomes a column of the log."""
    specs = {}
    for name, policy in _named(policies).items():
        if isinstance(policy, str):
            specs[name] = policy
            continue
        if not callable(policy):
            raise TypeError(f"policy {name!r} must be a spec such as 'uniform', or a function from contexts (n, d) to "
                            "probabilities (n, K)")
        probabilities = np.asarray(policy(log.contexts), dtype=np.float64)
        if probabilities.shape != (log.rounds, len(log.action_names)):
            raise _pits.InputError(f"policy '{name}' must give probabilities of the shape "
                                   f"{(log.rounds, len(log.action_names))}, not {probabilities.shape}")
        log.add_policy(name, probabilities)
        specs[name] = f"column:{name}"
    if not specs:
        raise _pits.InputError("there must be at least one policy, such as 'uniform'")
    return specs


def evaluate(log: Any, policies: Policies, *, reward_range: Optional[tuple[float, float]] = None, level: float = 0.95,
             against: str = "logged", model: str = "linear", folds: int = 5, bootstrap: int = 0, draws: int = 50,
             seed: int = 0, threads: int = 0, estimator: Optional[str] = None, interval: Optional[str] = None,
             format: str = "auto", actions: Sequence[str] = (), action: str = "action", reward: str = "reward",
             propensity: str = "propensity") -> Evaluation:
    """Estimates from a log what policies would have earned (docs/evaluation.md).

    The log is a file or directory that `pits evaluate` reads, or a mapping of arrays: "actions" (n,), "rewards" (n,),
    "propensities" (n,) or "all_propensities" (n, K), and "contexts" (n, d), "allowed" (n, K) where there are any.

    Policies are specs ("uniform", "fixed:1", "saved:shop.pits", "agent:pi-ts"), or functions from contexts (n, d) to
    probabilities (n, K), by name.

    >>> import numpy as np, pits
    >>> rng = np.random.default_rng(0)
    >>> actions = rng.integers(0, 2, 1000)
    >>> rewards = (rng.random(1000) < 0.3 + 0.4 * actions).astype(float)
    >>> log = {"actions": actions, "rewards": rewards, "propensities": np.full(1000, 0.5)}
    >>> found = pits.evaluate(log, ["fixed:0", "fixed:1"], reward_range=(0, 1))
    >>> 0.2 < found.value("fixed:0") < 0.4 and 0.6 < found.value("fixed:1") < 0.8
    True
    """
    read, title = _read(log, actions, reward_range, format, (action, reward, propensity))
    reward_range = reward_range or read.reward_range
    specs = _specs(read, policies)
    if interval == "bootstrap" and bootstrap == 0:
        bootstrap = 1000
    judged = read.judge(list(specs.values()), reward_range, level, specs.get(against, against), model, folds, bootstrap,
                        draws, seed, threads)
    return Evaluation(read, judged, list(specs), estimator or ("ips" if model == "none" else "dr"),
                      interval or ("asymptotic" if reward_range is None else "sequence"), title)

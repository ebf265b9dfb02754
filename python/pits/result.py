"""What came of an experiment."""
from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _pits


class _Kept:
    """What an experiment still has to say once it is pickled."""

    def __init__(self, table: str, page: str) -> None:
        self._table, self._page = table, page

    def table(self) -> str:
        return self._table

    def page(self, command: str) -> str:
        return self._page


class Result:
    """Arrays by (environment, agent, realization), a table, frames, a plot and a page.

    >>> from pits import run
    >>> result = run(["lin-ts", "uniform"], ["linear", "wheel"], steps=50, realizations=3)
    >>> result.curves.shape  # environments, agents, realizations, points
    (2, 2, 3, 50)
    >>> rounds, curves = result.curve("lin-ts", "wheel")
    >>> rounds[-1], curves.shape
    (50, (3, 50))
    """

    agents: list[str]
    envs: list[str]
    regret: NDArray[np.float64]  # (E, A, R) cumulative, after the last round
    uniform_regret: NDArray[np.float64]  # (E, A, R) what uniform play pays on the same rounds
    seconds: NDArray[np.float64]  # (E, A, R) CPU time of choosing and learning
    rounds: NDArray[np.int64]  # (E, P) where curves are recorded; 0 past the end of a problem
    curves: NDArray[np.float64]  # (E, A, R, P) cumulative regret; NaN past the end of a problem
    pulls: list[NDArray[np.int64]]  # for each environment (A, R, K)

    def __init__(self, experiment: Any, agents: Sequence[str], envs: Sequence[str], steps: int, realizations: int,
                 command: str) -> None:
        self._experiment = experiment
        self.agents, self.envs = list(agents), list(envs)
        self.steps, self.realizations, self.command = steps, realizations, command
        cells = experiment.trajectories()
        shape = (len(self.envs), len(self.agents), realizations)

        def numbers(key: str) -> NDArray[np.float64]:
            return np.array([cell[key] for cell in cells], dtype=np.float64).reshape(shape)

        self.regret, self.uniform_regret = numbers("regret"), numbers("uniform_regret")
        self.seconds = numbers("seconds")
        points = max(len(cell["curve"]) for cell in cells)
        self.curves = np.full((len(cells), points), np.nan)
        for row, cell in zip(self.curves, cells):
            row[:len(cell["curve"])] = cell["curve"]
        self.curves = self.curves.reshape(*shape, points)
        self.rounds = np.zeros((len(self.envs), points), dtype=np.int64)
        self.pulls = []
        self._observed = [json.loads(cell["observed"]) for cell in cells]  # what diagnostics saw, by name
        per_env = len(self.agents) * realizations
        for e in range(len(self.envs)):
            mine = cells[e * per_env:(e + 1) * per_env]
            at = mine[0]["curve_rounds"]
            self.rounds[e, :len(at)] = at
            self.pulls.append(np.array([cell["pulls"] for cell in mine], dtype=np.int64).reshape(*shape[1:], -1))

    @property
    def normalized_regret(self) -> NDArray[np.float64]:
        """(E, A, R): 100 times the regret over that of uniform play."""
        return 100.0 * self.regret / self.uniform_regret

    def curve(self, agent: str, env: Optional[str] = None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Rounds (P,) and cumulative regret (R, P) of an agent; env may be left out where there is one."""
        e, a = self._env(env), _position(agent, self.agents, "agent")
        points = int(np.count_nonzero(self.rounds[e]))
        return self.rounds[e, :points], self.curves[e, a, :, :points]

    def health(self, agent: str, env: Optional[str] = None) -> dict[str, Any]:
        """How an agent's particles fared, after run(..., diagnostics=True); docs/diagnostics.md says what is what.

        "particles" is their number, "rounds" (P,) the trainings that were looked at, "pit" (R, 20) where rewards fell;
        "disagreement", "spread", "collapse_line", "repulsion", "effective", "covered50" and "covered90" are (R, P).

        >>> from pits import run
        >>> result = run("pi-ts:fast", "linear", steps=100, realizations=2, diagnostics=True)
        >>> result.health("pi-ts:fast")["effective"].shape == (2, len(result.health("pi-ts:fast")["rounds"]))
        True
        """
        first = (self._env(env) * len(self.agents) + _position(agent, self.agents, "agent")) * self.realizations
        cells = [seen.get("health") for seen in self._observed[first:first + self.realizations]]
        if cells[0] is None:
            raise _pits.InputError(f"nobody looked at particles of {agent}: run(..., diagnostics=True) does, where an "
                                   "agent has two or more")
        numbers = {key: np.array([cell[key] for cell in cells], dtype=np.float64) for key in cells[0]}
        return {**numbers, "particles": cells[0]["particles"], "rounds": np.array(cells[0]["rounds"], dtype=np.uint64)}

    def _env(self, env: Optional[str]) -> int:
        if env is None and len(self.envs) > 1:
            raise _pits.InputError(f"env must be one of the environments {', '.join(self.envs)}")
        return 0 if env is None else _position(env, self.envs, "environment")

    def table(self) -> str:
        """Normalised regret, mean ± standard error: agents down, environments across; then the health of particles."""
        return str(self._experiment.table())

    def __repr__(self) -> str:
        counts = {"agent": len(self.agents), "environment": len(self.envs), "realization": self.realizations}
        listed = ", ".join(_counted(count, noun) for noun, count in counts.items())
        return f"<Result: {listed} of {_counted(self.steps, 'round')}>\n{self.table()}"

    @property
    def frame(self) -> Any:
        """A pandas frame, one row for each environment, agent and realization."""
        names = [self.envs, self.agents, range(self.realizations)]
        index = _pandas().MultiIndex.from_product(names, names=["env", "agent", "realization"])
        columns = {"normalized_regret": self.normalized_regret, "regret": self.regret,
                   "uniform_regret": self.uniform_regret, "seconds": self.seconds}
        return _pandas().DataFrame({k: v.ravel() for k, v in columns.items()}, index=index).reset_index()

    @property
    def curves_frame(self) -> Any:
        """A pandas frame of the curves, one row for each point."""
        parts = []
        for env in self.envs:
            for agent in self.agents:
                rounds, curves = self.curve(agent, env)
                for r, values in enumerate(curves):
                    parts.append(_pandas().DataFrame({"env": env, "agent": agent, "realization": r, "round": rounds,
                                                      "regret": values}))
        return _pandas().concat(parts, ignore_index=True)

    def plot(self, env: Optional[str] = None, ax: Any = None, labels: Optional[Mapping[str, str]] = None) -> Any:
        """Cumulative regret, mean and standard deviation over realizations, by matplotlib; one panel an environment.

        labels has other names for agents and environments. Returns the axes: one for env, or where there is one
        environment; else an array of them.
        """
        import matplotlib.pyplot as plt
        names = labels or {}
        if ax is not None or env is not None or len(self.envs) == 1:
            return self._panel(self.envs[self._env(env)], plt.subplots()[1] if ax is None else ax, names)
        _, axes = plt.subplots(1, len(self.envs), figsize=(4.5 * len(self.envs), 3.5), layout="constrained")
        for name, panel in zip(self.envs, axes):
            self._panel(name, panel, names)
        return axes

    def _panel(self, env: str, ax: Any, names: Mapping[str, str]) -> Any:
        for agent in self.agents:
            rounds, curves = self.curve(agent, env)
            mean, spread = curves.mean(axis=0), curves.std(axis=0, ddof=1 if len(curves) > 1 else 0)
            shown, = ax.plot(rounds, mean, label=names.get(agent, agent))
            ax.fill_between(rounds, mean - spread, mean + spread, color=shown.get_color(), alpha=0.2, linewidth=0)
        ax.set(title=names.get(env, env), xlabel="round", ylabel="cumulative regret")
        ax.legend()
        return ax

    def report(self, path: Union[str, os.PathLike[str]]) -> str:
        """Writes one self-contained HTML page with table, curves and pulls; returns its path."""
        _pits.write_file(os.fspath(path), self._experiment.page(self.command))
        return os.path.abspath(path)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_experiment": _Kept(self.table(), self._experiment.page(self.command))}


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _position(name: str, names: list[str], what: str) -> int:
    if name not in names:
        raise _pits.InputError(f"there is no {what} {name!r:.100} in this result; there is {', '.join(names)}")
    return names.index(name)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("frames need pandas (Debian: python3-pandas); the arrays of a Result don't") from error
    return pandas

"""Experiments: agents on environments, with the results as arrays, frames, plots and a page."""
from __future__ import annotations

import inspect
import os
import shlex
import sys
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from . import _fields, _pits
from ._progress import bar
from .bandit import Bandit
from .environments import Environment
from .result import Result

MOST_THREADS = 4096  # as `pits run --threads`
FIELDS: list[_fields.Field] = [*_pits.experiment_fields()]
Thing = Union[str, type, Callable[..., Any]]
Things = Union[Thing, Sequence[Thing], Mapping[str, Thing]]


def _labelled(things: Things) -> list[tuple[Optional[str], Thing]]:
    if isinstance(things, Mapping):
        return list(things.items())
    return [(None, thing) for thing in ([things] if isinstance(things, str) or callable(things) else things)]


def _name_in_catalogue(thing: Any, what: str) -> str:
    """Of a class of pits.agents or pits.environments itself, not of one that derives from it."""
    if what not in vars(thing) or not getattr(thing, what):
        raise TypeError(f"{thing.__name__} is not in the catalogue; an {what} of one's own for the runner is a class as "
                        "help(pits.run) shows it")
    return str(getattr(thing, what))


def _sorted_out(things: Things, what: str, base: type, known: set[str]) -> tuple[list[str], list[tuple[str, Any]]]:
    """Specs of all, in order, and the factories among them by label."""
    specs: list[str] = []
    custom: list[tuple[str, Any]] = []
    for label, thing in _labelled(things):
        if isinstance(thing, type) and issubclass(thing, base):
            thing = _name_in_catalogue(thing, what)
        if isinstance(thing, str):
            if label not in (None, thing):
                raise _pits.InputError(f"{what} '{thing}' has its own label: only things made in Python take one")
            specs.append(thing)
            continue
        if not callable(thing) or isinstance(thing, base):
            raise TypeError(f"an {what} is a spec such as '{sorted(known)[0]}', a class or a function that makes one; "
                            f"not {thing!r:.100}")
        name = label if label is not None else str(getattr(thing, "__name__", type(thing).__name__))
        if name in known or set(name) & set(",:"):
            raise _pits.InputError(f"an {what} of one's own can't be called '{name}': "
                                   + ("there is one already" if name in known else "no commas and colons"))
        custom.append((name, thing))
        specs.append(name)
    if not specs:
        raise _pits.InputError(f"there must be at least one {what}, such as '{sorted(known)[0]}'")
    return specs, custom


def _settings(given: Mapping[str, Any]) -> dict[str, str]:
    """Every field of the experiment as text."""
    for name in given:
        if name not in {field["name"] for field in FIELDS}:
            raise TypeError(f"run() got an unexpected keyword argument '{name}'")
    texts = {name: value if isinstance(value, str) else _fields.to_text(name, value) for name, value in given.items()}
    return {field["name"]: texts.get(field["name"], field["value"]) for field in FIELDS}


def _command(agents: list[str], envs: list[str], settings: Mapping[str, str]) -> str:
    """The same on the command line."""
    words = ["pits", "run"]
    for agent in agents:
        words += ["--agent", agent]
    for env in envs:
        words += ["--env", env]
    for field in FIELDS:
        text = settings[field["name"]]
        always = field["name"] in ("steps", "realizations", "seed")
        if field["name"] != "data_dir" and (always or text != field["value"]):
            words += [f"--{field['name'].replace('_', '-')}"] + ([] if field["type"] == "bool" else [text])
    return shlex.join(words)


def run(agents: Things, envs: Things, *, threads: int = 0,
        progress: Union[bool, None, Callable[[int, int], object]] = None,
        out: Union[str, os.PathLike[str], None] = None, resume: bool = False, **fields: Any) -> Result:
    """Runs every agent on every environment and returns what they earned.

    Agents and environments are specs ("pi-ts:released,flow=svgd"), classes of pits.agents and pits.environments, or
    one's own. An agent of one's own is a class, or a function that makes one:

    >>> class FollowTheLeader:
    ...     def __init__(self, n_actions, n_features, seed, realization):
    ...         self.total, self.pulls = [0.0] * n_actions, [0] * n_actions
    ...     def choose(self, x):
    ...         if 0 in self.pulls:
    ...             return self.pulls.index(0)
    ...         means = [t / n for t, n in zip(self.total, self.pulls)]
    ...         return means.index(max(means))
    ...     def learn(self, x, action, reward):
    ...         self.total[action] += reward
    ...         self.pulls[action] += 1
    >>> result = run([FollowTheLeader, "lin-ts"], "linear", steps=100, realizations=2)
    >>> result.agents
    ['FollowTheLeader', 'lin-ts']

    An environment of one's own is made with seed, realization and steps; round t must not depend on what was asked
    before:

    >>> import numpy as np
    >>> class Coins:
    ...     n_features, n_actions = 1, 2
    ...     def __init__(self, seed, realization, steps):
    ...         self.seed = [seed, realization]
    ...     def draw(self, t):
    ...         flips = np.random.default_rng(self.seed + [t]).random(2) < [0.3, 0.7]
    ...         return [1.0], flips, [0.3, 0.7]  # context, rewards, mean rewards
    >>> run("bernoulli-ts", Coins, steps=100, realizations=2).regret.shape
    (1, 1, 2)

    A dict gives labels to one's own: {"leader": FollowTheLeader}. progress is a bar on a terminal by default; True,
    False or a function of (rounds done, rounds in all). out is a run directory as `pits run --out` writes it; resume
    goes on with it. With feedback="all" (full information) an agent learns after every round what every action would
    have paid, by n_actions calls of learn; regret is still that of the action it chose. diagnostics looks at the health
    of particles: result.health, and a part of table and page. Ctrl-C stops the run.
    """
    agent_specs, custom_agents = _sorted_out(agents, "agent", Bandit, {e["name"] for e in _pits.agent_catalogue()})
    env_specs, custom_envs = _sorted_out(envs, "environment", Environment,
                                         {e["name"] for e in _pits.environment_catalogue()})
    threads = _pits.whole_number(threads, "threads", 0, MOST_THREADS)
    resume = _fields.flag("resume", resume)
    settings = _settings(fields)
    experiment = _pits.Experiment(agent_specs, env_specs, custom_agents, custom_envs, settings)
    command = _command(agent_specs, env_specs, settings)
    if out is None:
        if resume:
            raise _pits.InputError("resume needs out, the run directory to go on with")
        experiment.keep_in_memory()
    elif custom_agents or custom_envs:
        raise _pits.InputError("a run directory can hold agents and environments of the catalogue only; "
                               "leave out out, and keep result.frame or result.report instead")
    else:
        experiment.keep_in(os.fspath(out), resume, command)
    with bar(progress, sys.stderr) as show:
        experiment.run(threads, show)
    return Result(experiment, agent_specs, env_specs, int(settings["steps"]), int(settings["realizations"]), command)


_HEAD = list(inspect.signature(run).parameters.values())[:-1]
run.__signature__ = inspect.Signature([*_HEAD, *_fields.parameters(FIELDS)],  # type: ignore[attr-defined]
                                      return_annotation=Result)
run.__doc__ = f"{run.__doc__}\n    Settings of the experiment:\n\n{_fields.described(FIELDS)}\n"

"""Problems of pits as Gymnasium environments, and the other way round. Gymnasium is needed only by these two functions.

    import pits.gymnasium
    env = pits.gymnasium.as_env("statlog", seed=1)                       # for agents that know Gymnasium
    pits.run(["lin-ts", "uniform"], pits.gymnasium.as_environment(MyEnv))  # for agents of pits

A round of a bandit is an episode of one step.
"""
from __future__ import annotations

import functools
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _pits
from .environments import Environment, Round


def _gymnasium() -> Any:
    try:
        import gymnasium
    except ImportError:
        raise _pits.FailedError("the package gymnasium is not installed: pip install gymnasium") from None
    return gymnasium


@functools.lru_cache(maxsize=None)
def _env_class(gymnasium: Any) -> Any:
    class BanditEnv(gymnasium.Env):  # type: ignore[misc]
        metadata: dict[str, Any] = {"render_modes": []}
        render_mode = None

        def __init__(self, environment: str, seed: int, realization: int, steps: int, fields: dict[str, Any]) -> None:
            self._made: dict[str, Any] = {"environment": environment, "steps": steps, **fields}
            self._start(seed, realization)
            size, actions = self._environment.n_features, self._environment.n_actions
            self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)
            self.action_space = gymnasium.spaces.Discrete(actions)

        def _start(self, seed: int, realization: int) -> None:
            self._environment = Environment(seed=seed, realization=realization, **self._made)
            self._seed, self._realization, self._t = seed, realization, -1
            self._round: Optional[Round] = None
            self._rounds = self._environment.horizon or self._made["steps"]

        def reset(self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> tuple[Any, dict[str, Any]]:
            """The next round's context. After the last round, rounds of the next realization; with a seed, from its first one."""
            super().reset(seed=seed)
            if seed is not None:
                self._start(seed, 0)
            elif self._t + 1 == self._rounds:
                self._start(self._seed, self._realization + 1)
            self._t += 1
            drawn = self._round = self._environment.draw(self._t)
            return drawn.context, {"round": self._t, "action_mask": self._environment.allowed(self._t)}

        def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            """The action's reward, which ends the episode. info has mean_rewards (K,) and the regret of the action."""
            if self._round is None:
                raise _pits.InputError("a round is one step: call reset for the next one")
            played = _pits.whole_number(action, "action", 0, self._environment.n_actions - 1)
            if not self._environment.allowed(self._t)[played]:
                raise _pits.InputError(f"action {played} is not allowed in round {self._t}; info['action_mask'] of reset says which are")
            drawn, self._round = self._round, None
            best = drawn.mean_rewards[self._environment.allowed(self._t)].max()
            info = {"mean_rewards": drawn.mean_rewards, "regret": float(best - drawn.mean_rewards[played])}
            return drawn.context, float(drawn.rewards[played]), True, False, info

    return BanditEnv


def as_env(environment: str, *, seed: int = 0, realization: int = 0, steps: int = 2000, **fields: Any) -> Any:
    """A problem of pits (`pits list environments`) as a gymnasium.Env with episodes of one step.

    reset() gives the context of the next round, step(action) its reward. The rounds are those of pits.run with the same seed
    and realization; after steps of them, or the last row of the data, the next realization begins. reset(seed=...) goes to
    the first round of that seed. fields are those of the problem: as_env("wheel", delta=0.9).
    """
    return _env_class(_gymnasium())(environment, seed, realization, steps, fields)


class _OneStep:
    """Rounds of an environment of Gymnasium: round t is reset(seed of t) and a step with each of the actions."""

    def __init__(self, gymnasium: Any, env: Any, seed: int, realization: int) -> None:
        if not isinstance(env.action_space, gymnasium.spaces.Discrete):
            raise _pits.InputError(f"a bandit needs a discrete action space, not {env.action_space!r:.100}")
        self._spaces, self._env, self._key = gymnasium.spaces, env, [seed, realization]
        self.n_actions = int(env.action_space.n)
        self.n_features = int(self._spaces.flatdim(env.observation_space))

    def _play(self, seed: int, action: int) -> tuple[Any, float, Optional[Any]]:
        seen, _ = self._env.reset(seed=seed)
        context = np.array(self._spaces.flatten(self._env.observation_space, seen), dtype=np.float32)
        _, reward, terminated, truncated, info = self._env.step(int(self._env.action_space.start) + action)
        if not (terminated or truncated):
            raise _pits.InputError("the episode goes on after one step; a round of a bandit is one step")
        return context, float(reward), info.get("mean_rewards")

    def draw(self, t: int) -> tuple[Any, ...]:
        seed = int(np.random.SeedSequence([*self._key, t]).generate_state(1)[0])
        played = [self._play(seed, action) for action in range(self.n_actions)]
        context, _, means = played[0]
        if any(not np.array_equal(context, other) for other, _, _ in played):
            raise _pits.InputError("reset with the same seed gave another observation; the rounds of a bandit must be reproducible")
        rewards = [reward for _, reward, _ in played]
        return (context, rewards) if means is None else (context, rewards, means)


def as_environment(env: Union[str, Callable[[], Any]]) -> Callable[[int, int, int], Any]:
    """A gymnasium.Env with a discrete action space and episodes of one step as an environment for pits.run.

    env is a class or function that makes one without arguments, or an id for gymnasium.make. Round t is reset(seed=...) with a
    seed that belongs to t, and one step with each action after the same reset: what stays the same from round to round must be
    made by the constructor, and what differs must be drawn from the env's np_random. Regret is against the best of
    info["mean_rewards"], where step gives it, else against the best reward of the round. Observations are flattened
    (gymnasium.spaces.flatten).
    """
    if not isinstance(env, str) and not callable(env):
        raise TypeError(f"an env is an id, or a class or function that makes one; not {env!r:.100}")

    def made(seed: int, realization: int, steps: int) -> _OneStep:
        gymnasium = _gymnasium()
        return _OneStep(gymnasium, gymnasium.make(env) if isinstance(env, str) else env(), seed, realization)

    name = env if isinstance(env, str) else str(getattr(env, "__name__", type(env).__name__))
    made.__name__ = name.replace(":", "-").replace(",", "-")
    return made

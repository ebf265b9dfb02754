"""The part of Gymnasium's interface that pits.gymnasium uses, written from its documentation: Debian 12 has no package of it. Tests take
the real one where it is installed."""
import types

import numpy as np


class Env:
    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.np_random = np.random.default_rng(seed)


class Box:
    def __init__(self, low, high, shape, dtype):
        self.low, self.high, self.shape, self.dtype = low, high, shape, dtype

    def contains(self, x):
        return x.shape == self.shape and x.dtype == self.dtype


class Discrete:
    def __init__(self, n, start=0):
        self.n, self.start = n, start

    def contains(self, x):
        return self.start <= x < self.start + self.n


def flatdim(space):
    return space.n if isinstance(space, Discrete) else int(np.prod(space.shape))


def flatten(space, x):
    if isinstance(space, Discrete):
        return np.eye(space.n, dtype=np.int64)[x - space.start]
    return np.asarray(x, dtype=space.dtype).flatten()


def module(made):
    """As `import gymnasium` would give it; `made` has what gymnasium.make knows."""
    whole = types.ModuleType("gymnasium")
    whole.spaces = types.SimpleNamespace(Box=Box, Discrete=Discrete, flatdim=flatdim, flatten=flatten)
    whole.Env, whole.make = Env, lambda name: made[name]()
    return whole

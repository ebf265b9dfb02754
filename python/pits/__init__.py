"""pits: neural Thompson sampling by optimal transport, and the agents it is judged against.

A bandit in a product:

>>> import numpy as np, pits
>>> bandit = pits.PiTS(n_actions=3, n_features=2, seed=0)
>>> x = np.array([1.0, 0.5], dtype=np.float32)
>>> decision = bandit.decide(x)
>>> decision.action in range(3), 0 < decision.propensity <= 1, decision.id
(True, True, 0)
>>> bandit.learn(decision.id, reward=1.0)
True

A bandit in a service, which writes everything to a log and survives a crash (`pits.LiveBandit`):

>>> import tempfile
>>> schema = {"features": [{"name": "age", "kind": "number"}]}
>>> with pits.LiveBandit(tempfile.mkdtemp(), actions=["tea", "milk"], schema=schema) as live:
...     live.reward(live.decide({"age": 31}), 1.0)
'accepted'

An experiment:

>>> result = pits.run(agents=["lin-ts", "uniform"], envs=["linear"], steps=100, realizations=2)
>>> result.regret.shape  # environments, agents, realizations
(1, 2, 2)

`pits.agents`, `pits.environments` and `pits.flows` have what there is by name.
"""
from . import agents, environments, flows
from ._pits import Decision, Error, FailedError, InputError, __version__, simd_target
from ._transport import ServiceError
from .agents import PiTS
from .bandit import Bandit, load
from .client import Client, ServiceDecision
from .environments import Environment, Round
from .evaluation import Evaluation, evaluate
from .experiment import run
from .live import LiveBandit, LiveDecision, LiveStatus
from .result import Result
from .schema import Schema

__all__ = ["Bandit", "Client", "Decision", "Environment", "Error", "Evaluation", "FailedError", "InputError", "LiveBandit",
           "LiveDecision", "LiveStatus", "PiTS", "Result", "Round", "Schema", "ServiceDecision", "ServiceError",
           "__version__", "agents", "environments", "evaluate", "flows", "load", "run", "simd_target"]

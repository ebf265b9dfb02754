"""The GIL is released while we compute, and Ctrl-C gets through."""
import _thread
import threading
import time

import numpy as np
import pytest

import pits


def hours_of_probabilities():
    bandit = pits.agents.LinTS(n_actions=20, n_features=30, initial_pulls=0, propensity_draws=2000)
    bandit.predict_proba(np.ones((100_000, 30), dtype=np.float32))


def hours_of_training():
    X = np.ones((1_000_000, 2), dtype=np.float32)
    bandit = pits.PiTS(n_actions=2, n_features=2, train_every=1)
    bandit.partial_fit(X, np.zeros(len(X), dtype=int), np.zeros(len(X)))


class Slow:
    """An agent in Python, so that the runner has to ask for the GIL."""

    def __init__(self, **_):
        pass

    def choose(self, x):
        return 0

    def learn(self, x, action, reward):
        pass


@pytest.mark.parametrize("work", [
    hours_of_probabilities, hours_of_training,
    lambda: pits.run("lin-ts", "linear", steps=1_000_000_000, realizations=2),
    lambda: pits.run(Slow, "linear", steps=1_000_000_000, realizations=2),
    lambda: pits.flows.svgd(lambda theta: -theta, np.ones((10, 2)), steps=1_000_000_000),
], ids=["predict_proba", "partial_fit", "run", "run in Python", "flow"])
def test_ctrl_c_stops_it(work):
    timer = threading.Timer(0.4, _thread.interrupt_main)
    timer.start()
    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        work()
    timer.join()
    assert time.monotonic() - before < 60  # and not the hours that it would take


def test_other_threads_go_on_while_we_compute():
    started, ended = threading.Event(), threading.Event()

    def compute():
        bandit = pits.agents.LinTS(n_actions=20, n_features=30, initial_pulls=0, propensity_draws=1000)
        started.set()
        bandit.predict_proba(np.ones((20, 30), dtype=np.float32))
        ended.set()

    thread = threading.Thread(target=compute)
    thread.start()
    started.wait()
    time.sleep(0.01)  # the call has begun
    turns = 0
    while not ended.is_set():
        time.sleep(0)
        turns += 1
    thread.join()
    assert turns > 100  # with the GIL held it would be one or two

"""Properties that hold for whatever comes."""
import copy

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import pits
from pits import _fields, _pits


# Python's value → text → C++ → text → Python's value.
@given(st.lists(st.integers(1, 1000), max_size=5), st.floats(1e-300, 1e300), st.booleans())
def test_values_survive_the_way_through_the_fields(hidden, step, restart):
    spec = pits.PiTS.spec(hidden=hidden, step=step, restart=restart)
    values = _fields.values(_pits.agent_fields(spec))
    assert (values["hidden"], values["step"], values["restart"]) == (hidden, step, restart)


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**40), st.data())
def test_probabilities_sum_to_one_over_what_is_allowed(K, d, seed, data):
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=K, max_size=K).filter(any)))
    floor = data.draw(st.floats(0, 1))
    bandit = pits.PiTS(K, d, particles=5, hidden=[3], seed=seed, floor=floor, initial_pulls=0)
    X = np.random.default_rng(seed).normal(size=(4, d)).astype(np.float32)
    p = bandit.predict_proba(X, allowed=allowed)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-6)
    assert np.all(p[:, ~allowed] == 0) and np.all(p[:, allowed] >= np.float32(floor / allowed.sum()) - 1e-7)


class Product(RuleBasedStateMachine):
    """A bandit against a dict of what waits for its reward."""

    def __init__(self):
        super().__init__()
        self.bandit = pits.agents.LinTS(n_actions=3, n_features=1)
        self.waiting, self.given, self.retired, self.K = {}, 0, set(), 3

    @rule(x=st.floats(-10, 10))
    def decide(self, x):
        decision = self.bandit.decide([x])
        assert decision.id == self.given and decision.action < self.K and decision.action not in self.retired
        self.waiting[decision.id] = decision.action
        self.given += 1

    @rule(k=st.integers(1, 6))
    def rank(self, k):
        ranked = self.bandit.rank([1.0], k)
        assert len(ranked) == min(k, self.K - len(self.retired)) == len({d.action for d in ranked})
        assert not {d.action for d in ranked} & self.retired
        self.waiting.update((d.id, d.action) for d in ranked)
        self.given += len(ranked)

    @precondition(lambda self: self.given)
    @rule(data=st.data(), reward=st.floats(-1, 1))
    def learn(self, data, reward):
        id = data.draw(st.integers(0, self.given - 1))
        assert self.bandit.learn(id, reward) is (self.waiting.pop(id, None) is not None)

    @rule(ahead=st.integers(0, 5))
    def learn_of_nobody(self, ahead):
        with pytest.raises(pits.InputError):
            self.bandit.learn(self.given + ahead, 1.0)

    @rule(n=st.integers(1, 3))
    def add(self, n):
        assert self.bandit.add_actions(n) == self.K
        self.K += n

    @rule(data=st.data())
    def retire(self, data):
        action = data.draw(st.integers(0, self.K - 1))
        if self.K - len(self.retired | {action}) == 0:
            with pytest.raises(pits.InputError):
                self.bandit.retire(action)
        else:
            self.bandit.retire(action)
            self.retired.add(action)

    @rule()
    def go_on_from_a_copy(self):
        self.bandit = copy.deepcopy(self.bandit)

    @invariant()
    def says_what_it_holds(self):
        assert (self.bandit.pending, self.bandit.n_actions) == (len(self.waiting), self.K)
        assert set(self.bandit.retired) == self.retired


TestProduct = Product.TestCase

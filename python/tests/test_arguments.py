"""An argument that does not fit is refused by one line that names it, its value and what would be right."""
import numpy as np
import pytest

import pits

X = [1.0, 2.0]


def lin_ts(**settings):
    return pits.agents.LinTS(n_actions=3, n_features=2, **settings)


def linear():
    return pits.environments.by_name["linear"]()


def run(**settings):
    return pits.run("lin-ts", "linear", **{"steps": 5, "realizations": 1, **settings})


def whole(name, least, most, value):
    return f"{name} must be a whole number from {least} to {most}, not {value}"


UINT32, INT64, UINT64 = 2**32 - 1, 2**63 - 1, 2**64 - 1


@pytest.mark.parametrize("call, message", [
    (lambda: lin_ts().learn(X, -1, 1.0), whole("action", 0, UINT32, "-1")),
    (lambda: lin_ts().learn(X, 1.5, 1.0), whole("action", 0, UINT32, "1.5")),
    (lambda: lin_ts().learn(X, "1", 1.0), whole("action", 0, UINT32, "'1'")),
    (lambda: lin_ts().learn(X, 1, "a"), "reward must be a number, not 'a'"),
    (lambda: lin_ts().learn(X, 1, 1e39), "reward must be a number that float32 can hold, at most 3.4e38 in size, "
                                         "not 1e+39"),
    (lambda: lin_ts().learn(0), "learn takes (id, reward), (ids, rewards) or (x, action, reward), not 1 argument"),
    (lambda: lin_ts().learn(), "learn takes (id, reward), (ids, rewards) or (x, action, reward), not 0 arguments"),
    (lambda: lin_ts().learn(-1, 1.0), whole("id", 0, UINT64, "-1")),
    (lambda: lin_ts().learn(2**64, 1.0), whole("id", 0, UINT64, str(2**64))),
    (lambda: lin_ts().learn("a", 1.0), whole("id", 0, UINT64, "'a'")),
    (lambda: lin_ts().learn(None, 1.0), whole("id", 0, UINT64, "None")),
    (lambda: lin_ts().learn(0.5, 1.0), whole("id", 0, UINT64, "0.5")),
    (lambda: lin_ts().learn(0, None), "reward must be a number, not None"),
    (lambda: lin_ts().rank(X, -1), whole("k", 1, UINT64, "-1")),
    (lambda: lin_ts().rank(X, 1.5), whole("k", 1, UINT64, "1.5")),
    (lambda: lin_ts().retire(-1), whole("action", 0, UINT32, "-1")),
    (lambda: lin_ts().add_actions(-1), whole("n", 0, UINT32, "-1")),
    (lambda: lin_ts().save(None), "path must be the name of a file, text without null characters or a pathlib.Path, "
                                  "not None"),
    (lambda: lin_ts().save("a\0b"), "path must be the name of a file, text without null characters or a pathlib.Path, "
                                    "not 'a\\x00b'"),
    (lambda: lin_ts(seed=2**64), whole("seed", 0, UINT64, str(2**64))),
    (lambda: lin_ts(seed=-1), whole("seed", 0, UINT64, "-1")),
    (lambda: pits.PiTS(n_actions=10**30, n_features=2), whole("n_actions", 1, UINT32, str(10**30))),
    (lambda: pits.PiTS(n_actions=3, n_features="2"), whole("n_features", 1, UINT32, "'2'")),
    (lambda: run(steps=1.5), "steps: must be a whole number, not '1.5'"),
    (lambda: run(steps="many"), "steps: must be a whole number, not 'many'"),
    (lambda: run(steps=True), "steps: must be a whole number, not 'true'"),
    (lambda: run(steps=10**10), "steps: must be at least 1 and at most 4000000000, not 10000000000"),
    (lambda: run(realizations=0), "realizations: must be at least 1 and at most 1000000, not 0"),
    (lambda: run(seed=2**63), f"seed: must be a whole number from {-2**63} to {INT64}, not '{2**63}'"),
    (lambda: run(threads=10**6), whole("threads", 0, 4096, str(10**6))),
    (lambda: run(threads=None), whole("threads", 0, 4096, "None")),
    (lambda: run(diagnostics="no"), "diagnostics: must be true or false, not 'no'"),
    (lambda: run(resume=1), "resume must be True or False, not 1"),
    (lambda: run(feedback=None), "feedback: unknown value 'none'. Known: played, all"),
    (lambda: linear().draw(-1), whole("t", 0, UINT64, "-1")),
    (lambda: linear().table(-1), whole("steps", 0, UINT64, "-1")),
    (lambda: linear().rounds(-1), whole("steps", 0, INT64, "-1")),
    (lambda: pits.environments.by_name["linear"](seed=0.5), whole("seed", 0, UINT64, "0.5")),
    (lambda: pits.environments.by_name["linear"](realization=-1), whole("realization", 0, UINT32, "-1")),
    (lambda: pits.environments.by_name["linear"](steps=0), whole("steps", 1, INT64, "0")),
    (lambda: pits.flows.svgd(lambda t: -t, np.zeros((3, 2)), steps=-5), whole("steps", 0, INT64, "-5")),
    (lambda: pits.flows.svgd(lambda t: -t, np.zeros((3, 2)), seed=-1), whole("seed", 0, UINT64, "-1")),
])
def test_an_argument_that_does_not_fit_is_named(call, message):
    with pytest.raises(pits.InputError) as raised:
        call()
    assert str(raised.value) == message


def test_numpys_numbers_are_numbers(tmp_path):
    bandit = pits.agents.LinTS(np.int64(3), np.uint8(2), seed=np.uint64(7))
    decision = bandit.decide(X)
    assert bandit.learn(np.uint64(decision.id), np.float32(1.0)) and not bandit.learn(np.array(decision.id), 1)
    bandit.learn(X, np.int8(1), np.float64(0.5))
    bandit.retire(bandit.add_actions(np.int16(2)))
    assert bandit.retired == [3]
    assert len(bandit.rank(X, np.int32(2))) == 2
    bandit.save(tmp_path / "b.pits")
    assert pits.load(tmp_path / "b.pits").seed == 7
    assert run(steps=np.int64(5), diagnostics=np.bool_(False)).steps == 5


def test_a_long_value_is_cut():
    with pytest.raises(pits.InputError) as raised:
        lin_ts().retire("a" * 1000)
    assert len(str(raised.value)) < 200


def made(**attributes):
    """A factory of one object with these attributes."""
    return {"mine": lambda **_: type("Mine", (), attributes)()}


def agent(**methods):
    return made(**{"choose": lambda self, x: 0, "learn": lambda self, x, action, reward: None, **methods})


def environment(**attributes):
    return made(**{"n_features": 1, "n_actions": 2, "draw": lambda self, t: ([0.0], [0.0, 1.0]), **attributes})


LEARNER = "it needs choose(x) and learn(x, action, reward)"
MINE = "agent 'mine' on 'linear'"
DRAWN = ("agent 'lin-ts' on 'mine', realization 0: draw must give (context, rewards) or (context, rewards, "
         "mean_rewards), not ")


@pytest.mark.parametrize("agents, envs, message", [
    (agent(learn=None), "linear", f"{MINE}: there is no method learn: {LEARNER}"),
    (made(learn=print), "linear", f"{MINE}: there is no method choose: {LEARNER}"),
    (agent(choose=lambda self, x: "a"), "linear", whole(f"{MINE}, realization 0: what choose returns", 0, 7, "'a'")),
    (agent(choose=lambda self, x: None), "linear", whole(f"{MINE}, realization 0: what choose returns", 0, 7, "None")),
    ("lin-ts", environment(n_actions="a"), whole("n_actions of environment 'mine'", 1, UINT32, "'a'")),
    ("lin-ts", environment(n_features=0), whole("n_features of environment 'mine'", 1, UINT32, "0")),
    ("lin-ts", environment(horizon=1.5), whole("horizon of environment 'mine'", 1, UINT64, "1.5")),
    ("lin-ts", made(n_features=1, draw=print), "environment 'mine' has no n_actions: a whole number of at least 1"),
    ("lin-ts", made(n_features=1, n_actions=1), "environment 'mine' has no method draw: it needs draw(t)"),
    ("lin-ts", environment(draw=lambda self, t: 1.0), DRAWN + "1 thing"),
    ("lin-ts", environment(draw=lambda self, t: ()), DRAWN + "0 things"),
])
def test_what_is_wrong_with_ones_own_is_named(agents, envs, message):
    with pytest.raises(pits.InputError) as raised:
        pits.run(agents, envs, steps=5, realizations=1)
    assert str(raised.value) == message


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("call, message", [
    (lambda: pits.Bandit(None, 3, 2), "agent must be text, not None"),
    (lambda: pits.Environment(None), "environment must be text, not None"),
    (lambda: run().curve("foo"), "there is no agent 'foo' in this result; there is lin-ts"),
    (lambda: run().curve("lin-ts", "foo"), "there is no environment 'foo' in this result; there is linear"),
    (lambda: run().health("foo"), "there is no agent 'foo' in this result; there is lin-ts"),
    (lambda: lin_ts().decide([1e300, 0]), "x must hold numbers that float32 can, at most 3.4e+38 in size, not 1e+300"),
    (lambda: lin_ts().partial_fit([[0, -1e39]], [0], [0]),
     "X must hold numbers that float32 can, at most 3.4e+38 in size, not -1e+39"),
])
def test_other_errors_are_one_line_too(call, message):
    with pytest.raises(pits.InputError) as raised:
        call()
    assert str(raised.value) == message


def test_the_largest_float32_is_a_number():
    largest = float(np.finfo(np.float32).max)
    np.testing.assert_array_equal(pits.agents.Uniform(2, 2).predict_proba([largest, -largest]), [0.5, 0.5])


def test_too_little_memory_says_what_needs_less():
    # The covariances alone would be 2^31 times 2^31 numbers.
    with pytest.raises(pits.FailedError, match="fewer actions"):
        pits.agents.LinTS(n_actions=2**31 - 1, n_features=2**31 - 1)

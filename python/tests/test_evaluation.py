"""pits.evaluate: arrays, files, functions as policies, frames, plots and pages."""
import json

import numpy as np
import pytest

import pits


@pytest.fixture
def log(rng):
    n = 3000
    x = rng.normal(size=(n, 2))
    p = np.where(x[:, :1] > 0, [[0.2, 0.8]], [[0.6, 0.4]])
    actions = (rng.random(n) < p[:, 1]).astype(int)
    rewards = (rng.random(n) < np.where(actions == 1, 0.7, 0.3)).astype(float)
    return {"actions": actions, "rewards": rewards, "contexts": x, "all_propensities": p}


def best(contexts):
    return np.column_stack([contexts[:, 0] <= 0, contexts[:, 0] > 0]).astype(float)


def test_values_are_numpys(log):
    found = pits.evaluate(log, {"best": best, "always": "fixed:1"}, reward_range=(0, 1), bootstrap=100)
    pi = best(log["contexts"])[np.arange(3000), log["actions"]]
    w = pi / log["all_propensities"][np.arange(3000), log["actions"]]
    assert found.value("best", "ips") == pytest.approx((w * log["rewards"]).mean(), abs=1e-9)
    assert found.value("best", "snips") == pytest.approx((w * log["rewards"]).sum() / w.sum(), abs=1e-9)
    assert found.weights("best") == pytest.approx(w, abs=1e-9)
    assert found.logged["value"] == pytest.approx(log["rewards"].mean(), abs=1e-12)
    low, high = found.policies["always"]["sequence"]
    assert low < 0.7 < high
    assert found.warnings("always") == []


def test_frames_plot_and_page(log, tmp_path):
    found = pits.evaluate(log, ["uniform", "fixed:0"], reward_range=(0, 1))
    assert set(found.frame["policy"]) == {"uniform", "fixed:0"}
    assert len(found.curves_frame) == 200
    assert found.plot().get_ylabel() == "value"
    page = found.report(tmp_path / "page.html", feature="2")
    assert '"kind":"evaluate"' in open(page, encoding="utf-8").read()
    assert "value (dr)" in repr(found)


def test_files_and_agents(log, tmp_path):
    file = tmp_path / "log.jsonl"
    with open(file, "w", encoding="utf-8") as out:
        for a, r, x, p in zip(log["actions"], log["rewards"], log["contexts"], log["all_propensities"]):
            line = {"action": int(a), "reward": r, "propensities": p.tolist(), "context": x.tolist()}
            out.write(json.dumps(line) + "\n")
    found = pits.evaluate(file, ["agent:lin-ts", "uniform"], draws=5)
    same = pits.evaluate(log, "uniform")
    assert found.value("uniform") == pytest.approx(same.value("uniform"), abs=1e-6)
    assert "learned from the logger's choices" in found.policies["agent:lin-ts"]["remark"]


@pytest.mark.parametrize("change, message", [
    ({"all_propensities": np.full((3000, 2), 0.4)}, "line 1: the logger: the probabilities sum to 0.8"),
    ({"all_propensities": None}, "no propensity"),
    ({"rewards": np.full(3000, np.nan)}, "line 1: the reward must be a finite number"),
    ({"rewards": np.zeros(2)}, "rewards must have 3000 rows"),
    ({"reward": 1}, "has no 'reward'"),
])
def test_broken_arrays_are_refused(log, change, message):
    with pytest.raises(pits.InputError, match=message):
        pits.evaluate({**log, **change}, "uniform")


def test_functions_must_give_probabilities(log):
    with pytest.raises(pits.InputError, match="round 1: the probabilities sum to 2"):
        pits.evaluate(log, {"wrong": lambda x: np.ones((len(x), 2))})
    with pytest.raises(pits.InputError, match="shape"):
        pits.evaluate(log, {"wrong": lambda x: np.ones(3)})
    with pytest.raises(TypeError, match="a function from contexts"):
        pits.evaluate(log, {"wrong": 3})


def test_decisions_that_wait_are_named(tmp_path):
    with pits.LiveBandit(tmp_path / "log", "lin-ts", actions=["a", "b"], n_features=1, window=3600, rewards="largest") as live:
        for _ in range(5):
            assert live.reward(live.decide([1.0]), 1.0) == "accepted"
    with pytest.raises(pits.InputError, match="no rounds with a final reward yet: 5 decisions wait"):
        pits.evaluate(tmp_path / "log", "uniform")
    with pytest.raises(pits.InputError, match="events.db; a bandit's log in the store of a service is STORE/NAME"):
        pits.evaluate(tmp_path, "uniform")

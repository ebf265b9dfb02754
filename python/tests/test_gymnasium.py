"""pits.gymnasium, with the real Gymnasium where it is installed."""
import sys

import fake_gymnasium
import numpy as np
import pytest

import pits
import pits.gymnasium

try:
    import gymnasium
except ImportError:
    gymnasium = fake_gymnasium.module({})


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", gymnasium)


def test_the_example_of_the_module_runs(monkeypatch):
    """With few rounds."""
    lines = [line.strip() for line in pits.gymnasium.__doc__.splitlines() if line.startswith("    ")]
    assert len(lines) == 3
    made, run = [], pits.run
    monkeypatch.setattr(pits, "run", lambda *words: made.append(run(*words, steps=20, realizations=2, progress=False)))
    scope = {"pits": pits, "MyEnv": two_arms()}
    exec("\n".join(lines), scope)
    assert scope["env"].observation_space.shape == (9,)  # statlog's
    assert made[0].regret.shape == (1, 2, 2)


def two_arms(means=(0.3, 0.7), start=0, steps=1):
    """Contexts are one of three weathers; an arm pays 1 with its probability. Round after round it is the same problem."""

    class TwoArms(gymnasium.Env):
        def __init__(self):
            self.observation_space = gymnasium.spaces.Discrete(3)
            self.action_space = gymnasium.spaces.Discrete(2, start=start)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.left = steps
            return int(self.np_random.integers(3)), {}

        def step(self, action):
            self.left -= 1
            paid = float(self.np_random.random() < means[action - start])
            return 0, paid, self.left == 0, False, {"mean_rewards": np.array(means)}

    return TwoArms


def test_rounds_of_pits_are_episodes():
    env = pits.gymnasium.as_env("wheel", seed=3, delta=0.9, steps=5)
    direct = pits.environments.by_name["wheel"](seed=3, delta=0.9, steps=5)
    assert env.observation_space.shape == (2,) and env.action_space.n == 5
    for t in range(5):
        context, info = env.reset()
        drawn = direct.draw(t)
        np.testing.assert_array_equal(context, drawn.context)
        assert env.observation_space.contains(context) and info["round"] == t and info["action_mask"].all()
        _, reward, terminated, truncated, info = env.step(t % 5)
        assert (reward, terminated, truncated) == (drawn.rewards[t % 5], True, False)
        assert info["regret"] == drawn.mean_rewards.max() - drawn.mean_rewards[t % 5]
    again, _ = env.reset()  # past the last round: the next realization
    np.testing.assert_array_equal(again, pits.environments.by_name["wheel"](seed=3, realization=1, delta=0.9).draw(0).context)
    np.testing.assert_array_equal(env.reset(seed=3)[0], direct.draw(0).context)


def test_a_round_is_one_step_with_an_allowed_action():
    env = pits.gymnasium.as_env("click:new", appears=3)
    with pytest.raises(pits.InputError, match="reset"):
        env.step(0)
    env.reset()
    for action, said in [(5, "at most 4|0 to 4|5"), (4, "not allowed in round 0")]:
        with pytest.raises(pits.InputError, match=said):
            env.step(action)
    env.step(0)
    with pytest.raises(pits.InputError, match="reset"):
        env.step(0)


# The mean reward of uniform play is 0.5, so its regret is 0.2 per round; 4,000 rounds know it to 0.0079 · 5.
def test_an_env_runs_beside_agents_of_pits():
    arms = two_arms()
    result = pits.run(["uniform", "bernoulli-ts"], pits.gymnasium.as_environment(arms), steps=1000, realizations=4)
    assert result.envs == ["TwoArms"]
    uniform, learned = result.regret[0].mean(axis=1) / 1000
    assert abs(uniform - 0.2) < 0.04 and learned < 0.1
    again = pits.run("bernoulli-ts", pits.gymnasium.as_environment(arms), steps=1000, realizations=4, threads=1)
    np.testing.assert_array_equal(again.regret[0, 0], result.regret[0, 1])


def test_observations_are_flattened_and_actions_may_start_anywhere():
    rounds = pits.gymnasium.as_environment(two_arms(means=(0.0, 1.0), start=5))(seed=0, realization=0, steps=10)
    assert (rounds.n_features, rounds.n_actions) == (3, 2)
    seen = set()
    for t in range(30):
        context, rewards, means = rounds.draw(t)
        assert sorted(context) == [0, 0, 1] and rewards == [0, 1] and list(means) == [0, 1]
        seen.add(tuple(context))
    assert len(seen) == 3  # weathers differ from round to round


def test_what_is_no_bandit_is_refused():
    with pytest.raises(pits.InputError, match="goes on after one step"):
        pits.gymnasium.as_environment(two_arms(steps=2))(0, 0, 10).draw(0)

    class Continuous(two_arms()):
        def __init__(self):
            super().__init__()
            self.action_space = gymnasium.spaces.Box(0, 1, (1,), np.float32)

    with pytest.raises(pits.InputError, match="discrete action space"):
        pits.gymnasium.as_environment(Continuous)(0, 0, 10)

    class Unseeded(two_arms()):
        count = 0

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            Unseeded.count += 1
            return Unseeded.count % 3, {}

    with pytest.raises(pits.InputError, match="reproducible"):
        pits.gymnasium.as_environment(Unseeded)(0, 0, 10).draw(0)


def test_without_gymnasium_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(pits.FailedError, match="gymnasium is not installed"):
        pits.gymnasium.as_env("linear")

import inspect
import pickle

import numpy as np
import pytest

import pits


def test_rounds_are_rows_of_the_table():
    env = pits.environments.by_name["wheel"](seed=3, realization=2)
    contexts, rewards, means = env.table(20)
    for t, drawn in enumerate(env.rounds(20)):
        np.testing.assert_array_equal(drawn.context, contexts[t])
        np.testing.assert_array_equal(drawn.rewards, rewards[t])
        np.testing.assert_array_equal(drawn.mean_rewards, means[t])


# Mean rewards of the linear problem are linear in the context: least squares leaves nothing but rounding.
def test_linear_is_linear():
    contexts, rewards, means = pits.environments.by_name["linear"](seed=1).table(400)
    beta, *_ = np.linalg.lstsq(contexts, means, rcond=None)
    np.testing.assert_allclose(contexts @ beta, means, atol=1e-5)
    assert np.abs(rewards - means).max() > 0.01  # rewards have noise


def test_realizations_differ_and_seeds_repeat():
    make = pits.environments.by_name["linear"]
    one, other, again = make(seed=1).draw(5), make(seed=1, realization=1).draw(5), make(seed=1).draw(5)
    assert not np.array_equal(one.context, other.context)
    np.testing.assert_array_equal(one.context, again.context)


def test_a_file_of_ones_own(tmp_path):
    file = tmp_path / "fruit.csv"
    file.write_text("weight,kind\n1,apple\n2,pear\n3,apple\n4,pear\n")
    env = pits.environments.CSV(file=str(file), label="kind")
    assert (env.n_features, env.n_actions, env.horizon) == (1, 2, None) or env.horizon == 4
    assert pits.environments.CSV.spec(file=str(file), label="kind") == f"csv:{file},label=kind"
    with pytest.raises(pits.InputError, match="missing.csv"):
        pits.environments.CSV(file=str(tmp_path / "missing.csv"), label="kind")


def test_a_file_that_was_rewritten_is_read_again(tmp_path):
    file = tmp_path / "fruit.csv"
    file.write_text("weight,kind\n1,apple\n2,pear\n")
    before = pits.environments.CSV(file=str(file), label="kind", standardise="none")
    file.write_text("weight,kind\n1,pear\n2,apple\n")
    after = pits.environments.CSV(file=str(file), label="kind", standardise="none")
    rows = lambda env: {round.context[0]: int(round.rewards.argmax()) for round in env.rounds(2)}
    assert (rows(before), rows(after)) == ({1: 0, 2: 1}, {1: 1, 2: 0})
    assert before.data_sha256 != after.data_sha256


def test_an_action_that_appears_is_not_allowed_before():
    env = pits.environments.Click(preset="new", appears=3)
    assert [env.allowed(t).tolist() for t in (2, 3)] == [[True] * 4 + [False], [True] * 5]
    assert pits.environments.Drift(seed=1).allowed(0).all()
    result = pits.run("lin-ts", "click:new,appears=20,delay=5", steps=40, realizations=2, regret="means", progress=False)
    assert result.regret.shape == (1, 1, 2) and (result.regret >= 0).all()


def test_rounds_do_not_repeat_from_2_to_the_32_on():
    with pytest.raises(pits.InputError, match="rounds are numbered"):
        pits.environments.by_name["linear"]().draw(2**32)


def test_bad_settings_say_what_would_be_right():
    with pytest.raises(pits.InputError, match="did you mean"):
        pits.environments.by_name["wheel"](delt=0.5)
    with pytest.raises(pits.InputError, match="t must be a whole number"):
        pits.environments.by_name["wheel"]().draw(-1)


def test_signatures_have_the_fields():
    parameters = inspect.signature(pits.environments.by_name["wheel"]).parameters
    assert "delta" in parameters and parameters["steps"].default == 2000


def test_environments_survive_a_pickle():
    env = pits.environments.by_name["wheel"](delta=0.7, seed=3, realization=1)
    again = pickle.loads(pickle.dumps(env))
    assert repr(again) == repr(env) and type(again) is type(env)
    np.testing.assert_array_equal(again.draw(9).context, env.draw(9).context)

import copy
import os
import pickle
import threading
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import pits

# Few and small, so that every agent trains several times in a test.
SMALL = {"particles": 4, "train_every": 5, "train_steps": 2, "hidden": [5], "batch": 8}


def small(name, **more):
    cls = pits.agents.by_name[name]
    fields = {f["name"] for f in pits.agents.all_fields(name)}
    return cls(n_actions=3, n_features=2, seed=5, **{k: v for k, v in {**SMALL, **more}.items() if k in fields})


def features_for(bandit):
    width = bandit.config.get("action_features")
    return None if width is None else np.linspace(-1, 1, 3 * width, dtype=np.float32).reshape(3, width)


def play(bandit, rounds, first=0):
    z = features_for(bandit)
    actions = []
    for t in range(first, first + rounds):
        x = np.array([np.sin(t), np.cos(3 * t)], dtype=np.float32)
        decision = bandit.decide(x, features=z)
        bandit.learn(decision.id, float(decision.action == t % 3))
        actions.append(tuple(decision))
    return actions


def test_the_surface_of_the_readme(tmp_path):
    bandit = pits.PiTS(n_actions=7, n_features=9, flow="dgf", particles=20, seed=0)
    x = np.zeros(9, dtype=np.float32)
    action, propensity, id = bandit.decide(x)
    decision = bandit.decide(x)
    assert action in range(7) and 0 < propensity <= 1 and id == 0
    assert decision.id == 1 and decision.propensity_error == 0.0
    assert bandit.learn(decision.id, 1.0) is True
    assert bandit.learn(decision, 1.0) is False
    bandit.learn(x, 3, 0.5)
    assert bandit.partial_fit(np.zeros((4, 9)), [0, 1, 2, 3], [0, 0, 1, 1]) is bandit
    assert bandit.predict_proba(np.zeros((5, 9))).shape == (5, 7)
    bandit.save(tmp_path / "b.pits")
    assert type(pits.load(tmp_path / "b.pits")) is pits.PiTS


@pytest.mark.parametrize("name", sorted(pits.agents.by_name))
def test_every_agent_goes_on_bit_for_bit_from_a_file_a_pickle_and_a_copy(name, tmp_path):
    bandit = small(name)
    play(bandit, 23)
    waiting = bandit.decide([0.0, 1.0], features=features_for(bandit)).id
    bandit.save(tmp_path / "saved.pits")
    others = [pits.load(tmp_path / "saved.pits"), pickle.loads(pickle.dumps(bandit)), copy.copy(bandit),
              copy.deepcopy(bandit)]
    bandit.learn(waiting, 1.0)
    after = play(bandit, 20, first=23)
    for other in others:
        assert type(other) is type(bandit)
        other.learn(waiting, 1.0)
        assert play(other, 20, first=23) == after


@pytest.mark.parametrize("name", sorted(pits.agents.by_name))
def test_repr_is_the_call_that_makes_it_again(name):
    bandit = small(name, floor=0.25, default_after=9)
    made = eval(repr(bandit), vars(pits.agents))
    assert repr(made) == repr(bandit)
    assert made._describe() == bandit._describe()
    assert "floor=0.25" in repr(bandit) and made.bandit_config == bandit.bandit_config
    assert bandit.bandit_config["default_after"] == 9


def test_a_subclass_keeps_its_class_and_attributes_in_a_pickle():
    bandit = Shop(2, 1)
    bandit.town = "Ulm"
    again = pickle.loads(pickle.dumps(bandit))
    assert type(again) is Shop and again.town == "Ulm"


class Shop(pits.agents.LinTS):
    pass


class Slotted(pits.agents.LinTS):
    __slots__ = ("__price", "stock")

    def price(self, *new):
        if new:
            self.__price, = new
        return self.__price


def test_slots_survive_a_pickle():
    bandit = Slotted(n_actions=2, n_features=1)
    bandit.price(3.5)
    bandit.colour = "blue"
    same = pickle.loads(pickle.dumps(bandit))
    assert (same.price(), same.colour, hasattr(same, "stock")) == (3.5, "blue", False)


def test_decisions_are_tuples_that_survive_a_pickle():
    decision = pits.agents.Uniform(4, 1).decide([0.0])
    again = pickle.loads(pickle.dumps(decision))
    assert again == decision == (decision.action, 0.25, 0) and type(again) is pits.Decision
    assert again.propensity_error == 0.0 and "propensity=0.25" in repr(decision)


# (XᵀX + λI) β = Xᵀr with λ = 0.25: what Lin-TS plays after many rounds is the best action of the ridge regression.
def test_lin_ts_finds_the_action_of_the_ridge_regression(rng):
    X = rng.normal(size=(3000, 4)).astype(np.float32)
    beta = rng.normal(size=(3, 4))
    actions = rng.integers(3, size=3000)
    rewards = np.einsum("nd,nd->n", X, beta[actions])
    bandit = pits.agents.LinTS(n_actions=3, n_features=4, lambda_=0.25).partial_fit(X, actions, rewards)
    fitted = np.stack([np.linalg.solve(X[actions == a].T @ X[actions == a] + 0.25 * np.eye(4),
                                       X[actions == a].T @ rewards[actions == a]) for a in range(3)])
    fresh = rng.normal(size=(200, 4)).astype(np.float32)
    values = np.sort(fresh @ fitted.T, axis=1)
    clear = fresh[values[:, 2] - values[:, 1] > 0.2]  # far beyond what is left of the posterior's spread
    assert len(clear) > 100
    assert [bandit.decide(x).action for x in clear] == list((clear @ fitted.T).argmax(axis=1))


# p of the action that was taken against its frequency over independent decisions: 5 standard errors.
def test_propensities_are_the_frequencies_of_decisions():
    bandit = small("pi-ts", floor=0.1)
    play(bandit, 40)
    x = np.array([0.3, -0.2], dtype=np.float32)
    p = bandit.predict_proba(x)
    n = 4000
    counts = np.bincount([bandit.decide(x).action for _ in range(n)], minlength=3)
    assert np.all(np.abs(counts / n - p) <= 5 * np.sqrt(p * (1 - p) / n) + 1e-12)
    assert p.min() >= 0.1 / 3 - 1e-7 and abs(p.sum() - 1) < 1e-6


def test_estimated_propensities_state_their_error():
    bandit = pits.agents.BernoulliTS(n_actions=3, n_features=2, propensity="estimated", propensity_draws=400)
    decision = bandit.decide([1.0, 0.0])
    assert 0 < decision.propensity < 1 and 0 < decision.propensity_error <= 0.5 / 20 * 1.01
    p, error = bandit.predict_proba_error([1.0, 0.0])
    assert abs(p.sum() - 1) < 1e-6 and 0 < error <= 0.5 / 20 * 1.01
    # All arms have the same prior.
    assert np.all(np.abs(p - 1 / 3) < 5 * np.sqrt(2 / 9 / 400))


# Two actions alike: 1/2 each. A row's estimate has the standard deviation 0.05, the mean of 400 rows 0.0025.
def test_errors_of_estimated_propensities_average_out_over_rows():
    bandit = pits.agents.BernoulliTS(n_actions=2, n_features=1, propensity_draws=100, seed=5)
    p = bandit.predict_proba(np.ones((400, 1)))
    assert abs(p[:, 0].mean() - 0.5) < 5 * 0.0025
    assert abs(p[:, 0].std() / 0.05 - 1) < 5 / np.sqrt(800)
    np.testing.assert_array_equal(p, bandit.predict_proba(np.ones((400, 1))))


def test_masks_ranks_and_actions_that_come_and_go():
    bandit = pits.agents.Uniform(n_actions=4, n_features=1)
    allowed = np.array([True, False, True, False])
    assert {bandit.decide([0.0], allowed=allowed).action for _ in range(50)} == {0, 2}
    np.testing.assert_array_equal(bandit.predict_proba([0.0], allowed=allowed), np.float32([0.5, 0, 0.5, 0]))
    ranked = bandit.rank([0.0], 3)
    assert len({d.action for d in ranked}) == 3 and [d.id for d in ranked] == [50, 51, 52]
    assert bandit.add_actions(2) == 4 and bandit.n_actions == 6
    for action in (0, 1, 2, 3, 4):
        bandit.retire(action)
    assert bandit.retired == [0, 1, 2, 3, 4] and bandit.decide([0.0]).action == 5
    with pytest.raises(pits.InputError, match="only one that is left"):
        bandit.retire(5)


def test_an_action_that_was_never_played_is_chosen_by_its_features(rng):
    bandit = pits.agents.FeatureTS(n_actions=40, n_features=1, action_features=2, model="linear", seed=3)
    z = rng.normal(size=(40, 2)).astype(np.float32)
    z[39] = [3.0, 0.0]  # pays most, and nobody has tried it
    for t in range(600):
        a = int(rng.integers(39))
        bandit.learn([1.0], a, float(z[a, 0]), features=z[a])
    assert bandit.predict_proba([1.0], features=z).argmax() == 39


def test_rewards_come_late_in_batches_twice_or_never():
    bandit = pits.agents.LinTS(n_actions=2, n_features=1, default_after=3, default_reward=-1.0)
    ids = [bandit.decide([1.0]).id for _ in range(3)]
    assert bandit.learn([ids[2], ids[0], ids[2]], [1.0, 0.0, 1.0]) == 2
    assert bandit.learn(np.array(ids), np.zeros(3, dtype=np.float32)) == 1
    with pytest.raises(pits.InputError, match="no decision has the id 99"):
        bandit.learn(99, 1.0)
    for _ in range(5):
        bandit.decide([1.0])
    assert bandit.pending == 3  # the others were given the default reward


def test_replay_weighs_by_propensities():
    # A uniform bandit on uniform logs: all weights are 1, so that it would have earned the mean reward.
    rewards = np.linspace(0, 1, 20, dtype=np.float32)
    bandit = pits.agents.Uniform(n_actions=2, n_features=1)
    X, actions = np.ones((20, 1), dtype=np.float32), np.arange(20) % 2
    assert bandit.replay(X, actions, rewards, np.full(20, 0.5)) == pytest.approx(rewards.mean(), abs=1e-7)
    assert bandit.replay(X, actions, rewards) is None


def test_partial_fit_is_learn_row_by_row():
    X = np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32)
    actions, rewards = np.arange(30) % 3, np.sin(np.arange(30))
    one, other = small("pi-ts"), small("pi-ts")
    one.partial_fit(X, actions, rewards)
    for x, a, r in zip(X, actions, rewards):
        other.learn(x, a, r)
    assert one._saved() == other._saved()


# numpy tells tracemalloc what it allocates: nothing for float32 rows, a copy for others.
@pytest.mark.parametrize("dtype, order, copies", [(np.float32, "C", 0), (np.float64, "C", 1), (np.float32, "F", 1)])
def test_float32_rows_pass_without_a_copy(dtype, order, copies):
    X = np.zeros((200_000, 10), dtype=dtype, order=order)
    actions, rewards = np.zeros(len(X), dtype=np.uint32), np.zeros(len(X), dtype=np.float32)
    bandit = pits.agents.Uniform(n_actions=2, n_features=10)
    tracemalloc.start()
    bandit.replay(X, actions, rewards)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    bytes_of_a_copy = 4 * X.size
    assert copies * bytes_of_a_copy <= peak < (copies + 0.5) * bytes_of_a_copy


@given(hnp.arrays(st.sampled_from([np.float64, np.float32, np.int64, np.int8, np.bool_]), 3,
                  elements=st.sampled_from([0, 1])))
def test_contexts_of_any_numbers_decide_alike(x):
    def decided(context):
        bandit = pits.agents.LinTS(n_actions=4, n_features=3, initial_pulls=0)
        return bandit.decide(context).action

    expected = decided(x.astype(np.float32))
    assert decided(x) == decided(list(x)) == decided(np.repeat(x, 2)[::2]) == expected


@pytest.mark.parametrize("call, error, message", [
    (lambda b: b.decide([1.0]), pits.InputError, "a context has 2 numbers, not 1"),
    (lambda b: b.decide([[1.0, 2.0]]), pits.InputError, r"x must have 1 dimension, not the shape \(1, 2\)"),
    (lambda b: b.decide([1.0, np.nan]), pits.InputError, "not finite"),
    (lambda b: b.decide(["a", "b"]), TypeError, "x must be real numbers"),
    (lambda b: b.decide([1j, 2.0]), TypeError, "x must be real numbers"),
    (lambda b: b.decide(None), TypeError, "x must be real numbers"),
    (lambda b: b.predict_proba(None), TypeError, "X must be real numbers"),
    (lambda b: b.partial_fit(None, [0], [0.0]), TypeError, "X must be real numbers"),
    (lambda b: b.decide([1.0, 2.0], allowed=[0, 1, 1]), TypeError, "allowed must be booleans"),
    (lambda b: b.decide([1.0, 2.0], allowed=[True]), pits.InputError, "a mask of actions has 3 entries"),
    (lambda b: b.decide([1.0, 2.0], allowed=[False] * 3), pits.InputError, "no action is allowed"),
    (lambda b: b.learn([1.0, 2.0], 3, 1.0), pits.InputError, "an action must be below 3"),
    (lambda b: b.learn([1.0, 2.0], 0, np.inf), pits.InputError, "must be finite"),
    (lambda b: b.learn(0, 1.0), pits.InputError, "none was made yet"),
    (lambda b: b.learn([0, 1], [1.0]), pits.InputError, "2 ids need as many rewards"),
    (lambda b: b.partial_fit([[1.0, 2.0]], [-1], [0.0]), pits.InputError, "actions must be at least 0"),
    (lambda b: b.partial_fit([[1.0, 2.0]], [0.5], [0.0]), TypeError, "actions must be whole numbers"),
    (lambda b: b.partial_fit([[1.0, 2.0]], [0, 1], [0.0]), pits.InputError, "need as many actions"),
    (lambda b: b.rank([1.0, 2.0], 0), pits.InputError, "k must be a whole number from 1"),
])
def test_bad_input_is_refused_and_changes_nothing(call, error, message):
    bandit = pits.agents.LinTS(n_actions=3, n_features=2)
    before = bandit._saved()
    with pytest.raises(error, match=message):
        call(bandit)
    assert bandit._saved() == before


@pytest.mark.parametrize("make, error, message", [
    (lambda: pits.PiTS(7, 9, flw="dgf"), pits.InputError, "did you mean 'flow'"),
    (lambda: pits.PiTS(7, 9, flow="dfg"), pits.InputError, "did you mean 'dgf'"),
    (lambda: pits.PiTS(7, 9, particles=0), pits.InputError, "particles"),
    (lambda: pits.PiTS(7, 9, preset="papr"), pits.InputError, "did you mean 'paper'"),
    (lambda: pits.PiTS(0, 9), pits.InputError, "n_actions must be a whole number from 1 to .*, not 0"),
    (lambda: pits.PiTS(7, -1), pits.InputError, "n_features must be a whole number from 1 to .*, not -1"),
    (lambda: pits.PiTS(7, 9, floor=2.0), pits.InputError, "floor"),
    (lambda: pits.PiTS(7, 9, hidden={"a": object()}.values()), TypeError, "hidden can't be a object"),
    (lambda: pits.Bandit("lin-t", 7, 9), pits.InputError, "did you mean 'lin-ts'"),
])
def test_bad_settings_say_what_would_be_right(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_an_object_that_was_never_made_is_refused():
    with pytest.raises(TypeError, match="never made"):
        pits.PiTS.__new__(pits.PiTS).decide([0.0])
    with pytest.raises(TypeError, match="never made"):
        repr(pits.environments.Environment.__new__(pits.environments.Environment).n_actions)


def test_errors_are_pythons_too():
    assert issubclass(pits.InputError, ValueError) and issubclass(pits.InputError, pits.Error)
    assert issubclass(pits.FailedError, RuntimeError) and issubclass(pits.FailedError, pits.Error)


def test_damaged_files_are_refused(tmp_path):
    file = tmp_path / "b.pits"
    with pytest.raises(FileNotFoundError):
        pits.load(file)
    small("lin-ts").save(file)
    saved = bytearray(file.read_bytes())
    saved[len(saved) // 2] ^= 1
    file.write_bytes(saved)
    with pytest.raises(pits.InputError, match="b.pits"):
        pits.load(file)


def test_a_file_keeps_its_permissions(tmp_path):
    bandit, file = pits.agents.LinTS(n_actions=2, n_features=1), tmp_path / "shop.pits"
    bandit.save(file)
    for mode in [0o600, 0o666, 0o444]:  # the umask is not asked
        file.chmod(mode)
        bandit.save(file)
        assert file.stat().st_mode & 0o777 == mode
    assert os.listdir(tmp_path) == ["shop.pits"]


def test_a_file_may_have_any_name(tmp_path):
    file = os.fsencode(tmp_path) + b"/\xff.pits"
    bandit = pits.agents.LinTS(n_actions=2, n_features=1)
    bandit.save(file)
    assert pits.load(file).decide([1.0]) == pits.load(os.fsdecode(file)).decide([1.0]) == bandit.decide([1.0])


def test_probabilities_while_actions_are_added():
    bandit = pits.agents.LinTS(n_actions=2, n_features=2, initial_pulls=0, propensity_draws=10)

    def grow():
        for _ in range(20):
            bandit.add_actions(1)
            time.sleep(0.001)

    thread = threading.Thread(target=grow)
    thread.start()
    widths = []
    while thread.is_alive():
        widths.append(bandit.predict_proba(np.ones((20, 2))).shape[1])
        time.sleep(0.0001)  # a mutex is not fair: the other thread gets its turn
    thread.join()
    assert widths == sorted(widths) and set(widths) <= set(range(2, 23))
    assert bandit.predict_proba(np.ones((1, 2))).shape[1] == 22


def test_many_threads_share_a_bandit():
    bandit = small("pi-ts")
    ids = [[] for _ in range(4)]

    def work(mine):
        for _ in range(200):
            decision = bandit.decide(np.ones(2, dtype=np.float32))
            mine.append(decision.id)
            bandit.learn(decision, 1.0)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sum(ids, [])) == list(range(800)) and bandit.pending == 0

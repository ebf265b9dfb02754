import json
import os
import pickle
import subprocess

import numpy as np
import pytest

import pits

PROGRAM = os.environ.get("PITS_PROGRAM", "")


# The command line is another way to the same numbers.
@pytest.mark.skipif(not PROGRAM, reason="PITS_PROGRAM does not name the program")
def test_the_same_numbers_as_the_command_line():
    words = ["--agent", "lin-ts", "--agent", "pi-ts:released,particles=3,hidden=5", "--env", "linear", "--env",
             "wheel", "--steps", "150", "--realizations", "3", "--seed", "4"]
    lines = subprocess.run([PROGRAM, "run", *words, "--json"], check=True, capture_output=True, text=True).stdout
    result = pits.run(["lin-ts", pits.PiTS.spec(preset="released", particles=3, hidden=[5])],
                      ["linear", pits.environments.Wheel], steps=150, realizations=3, seed=4)
    rows = {(row["agent"], row["env"]): row for row in map(json.loads, lines.splitlines())}
    for e, env in enumerate(result.envs):
        for a, agent in enumerate(result.agents):
            printed = rows[agent, env]["normalized_regret"]["mean"]
            assert result.normalized_regret[e, a].mean() == pytest.approx(printed, rel=1e-12)
    assert result.command == "pits run " + " ".join(words)


def linear_in_python(**setup):
    """The catalogue's problem through the eyes of Python."""
    env = pits.environments.by_name["linear"](**setup)

    class Linear:
        n_features, n_actions = env.n_features, env.n_actions

        def draw(self, t):
            return tuple(env.draw(t))

    return Linear()


def lin_ts_in_python(n_actions, n_features, seed, realization):
    """The catalogue's agent through the eyes of Python."""
    bandit = pits.agents.LinTS(n_actions, n_features, seed=seed)

    class LinTS:
        def choose(self, x):
            self.decision = bandit.decide(x)
            return self.decision.action

        def learn(self, x, action, reward):
            bandit.learn(self.decision, reward)

    return LinTS()


@pytest.mark.parametrize("threads", [1, 2])
def test_environments_in_python_give_the_same_bits(threads):
    ours = pits.run(["lin-ts", "uniform"], "linear", steps=120, realizations=3, seed=1)
    theirs = pits.run(["lin-ts", "uniform"], linear_in_python, steps=120, realizations=3, seed=1, threads=threads)
    np.testing.assert_array_equal(ours.curves, theirs.curves)
    assert theirs.envs == ["linear_in_python"]


def test_agents_in_python_give_the_same_bits():
    result = pits.run({"lin-ts": "lin-ts", "mine": lin_ts_in_python}, "linear", steps=120, realizations=1)
    np.testing.assert_array_equal(result.curves[0, 0], result.curves[0, 1])
    np.testing.assert_array_equal(result.pulls[0][0], result.pulls[0][1])


class Stubborn:
    def __init__(self, n_actions, n_features, seed, realization):
        self.seen = (n_actions, n_features, seed, realization)

    def choose(self, x):
        return np.int64(self.seen[3])  # the realization as an action

    def learn(self, x, action, reward):
        assert x.dtype == np.float32 and x.shape == (10,) and action == self.seen[3]


def test_agents_are_made_for_every_realization():
    result = pits.run([Stubborn], "linear", steps=50, realizations=3)
    np.testing.assert_array_equal(result.pulls[0][0], 50 * np.eye(3, 8))


# Σ best − r for what was played, from the rounds themselves.
def test_regret_is_what_the_rounds_say():
    result = pits.run(Stubborn, "linear", steps=300, realizations=2, seed=9)
    for realization in range(2):
        _, rewards, means = pits.environments.by_name["linear"](seed=9, realization=realization, steps=300).table(300)
        regret = np.cumsum(means.max(axis=1) - rewards[:, realization])
        rounds, curves = result.curve("Stubborn")
        np.testing.assert_allclose(curves[realization], regret[rounds - 1], rtol=1e-12)
        uniform = (means.max(axis=1) - rewards.mean(axis=1)).sum()
        assert result.uniform_regret[0, 0, realization] == pytest.approx(uniform, rel=1e-12)


class Leader:
    """Plays the action that has paid most so far."""

    def __init__(self, n_actions, n_features, seed, realization):
        self.total = np.zeros(n_actions)

    def choose(self, x):
        return np.argmax(self.total)

    def learn(self, x, action, reward):
        self.total[action] += reward


# Follow the leader by sums over the rounds' table.
def test_full_information_is_every_reward_of_every_round():
    result = pits.run([Leader, "uniform"], "linear", steps=300, realizations=2, seed=9, feedback="all")
    for realization in range(2):
        _, rewards, means = pits.environments.by_name["linear"](seed=9, realization=realization, steps=300).table(300)
        paid = np.cumsum(rewards.astype(np.float32).astype(float), axis=0)  # agents learn rewards in float
        actions = np.argmax(np.vstack([np.zeros(8), paid[:-1]]), axis=1)
        regret = np.cumsum(means.max(axis=1) - rewards[np.arange(300), actions])
        rounds, curves = result.curve("Leader")
        np.testing.assert_allclose(curves[realization], regret[rounds - 1], rtol=1e-12)
    assert result.command.endswith("--seed 9 --feedback all")
    assert "under full information" in result.table()
    bandit = pits.run([Leader, "uniform"], "linear", steps=300, realizations=2, seed=9)
    np.testing.assert_array_equal(bandit.regret[0, 1], result.regret[0, 1])
    assert (bandit.regret[0, 0] != result.regret[0, 0]).all()
    assert "full information" not in bandit.table() and "--feedback" not in bandit.command


def test_unknown_feedback_is_refused():
    with pytest.raises(pits.InputError, match="feedback: unknown value 'al'; did you mean 'all'"):
        pits.run("lin-ts", "linear", steps=10, feedback="al")


class Raises:
    n_features = n_actions = 2

    def __init__(self, where="", **_):
        self.where = where

    def choose(self, x):
        raise LookupError("no map")

    def learn(self, x, action, reward):
        pass

    def draw(self, t):
        return [0.0, 0.0], [1.0, np.nan if self.where == "nan" else 0.0][:1 if self.where == "short" else 2]


def raises_as(where):
    return {where: lambda **_: Raises(where)}


def test_exceptions_of_python_code_come_through():
    with pytest.raises(LookupError, match="no map"):
        pits.run(Raises, "linear", steps=10)
    with pytest.raises(ZeroDivisionError):
        pits.run("lin-ts", {"broken": lambda **_: 1 // 0}, steps=10)


def test_one_of_a_thing_is_said_in_the_singular():
    first = repr(pits.run("lin-ts", "linear", steps=1, realizations=1)).splitlines()[0]
    assert first == "<Result: 1 agent, 1 environment, 1 realization of 1 round>"
    first = repr(pits.run(["lin-ts", "uniform"], ["linear", "wheel"], steps=5, realizations=2)).splitlines()[0]
    assert first == "<Result: 2 agents, 2 environments, 2 realizations of 5 rounds>"


@pytest.mark.parametrize("agents, envs, message", [
    ("lin-ts", raises_as("nan"), "rewards that are not finite"),
    ("lin-ts", raises_as("short"), "draw gave 1 rewards, not 2"),
    ({"far": lambda **_: type("Far", (), {"choose": lambda self, x: 8, "learn": print})()}, "linear",
     "agent 'far' on 'linear', realization 0: what choose returns must be a whole number from 0 to 7, not 8"),
    ("lin-t", "linear", "did you mean 'lin-ts'"),
    ("lin-ts", "linar", "did you mean 'linear'"),
    (["lin-ts", "lin-ts"], "linear", "asked for twice"),
    ([], "linear", "there must be at least one agent, such as 'bernoulli-ts'"),
    ("lin-ts", {}, "there must be at least one environment, such as"),
    ({"lin-ts": Stubborn}, "linear", "there is one already"),
    ({"a,b": Stubborn}, "linear", "no commas"),
])
def test_bad_experiments_are_refused(agents, envs, message):
    with pytest.raises(pits.InputError, match=message):
        pits.run(agents, envs, steps=10, threads=1)  # threads: the first cell fails first


def test_a_bandit_is_no_recipe():
    with pytest.raises(TypeError, match="an agent is a spec"):
        pits.run([pits.agents.LinTS(2, 2)], "linear", steps=10)
    with pytest.raises(TypeError, match="not in the catalogue"):
        pits.run([type("Mine", (pits.agents.LinTS,), {})], "linear", steps=10)


def test_progress_is_told():
    seen = []
    pits.run("lin-ts", "linear", steps=30_000, realizations=2, threads=1, progress=lambda *counts: seen.append(counts))
    assert seen[-1] == (60_000, 60_000) and all(total == 60_000 for _, total in seen)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_progress_bar_that_raises_stops_the_run():
    def refuse(done, total):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        pits.run("lin-ts", "linear", steps=1_000_000_000, progress=refuse)


def test_the_bar_is_shown_and_taken_away(capsys):
    pits.run("lin-ts", "linear", steps=30_000, realizations=1, progress=True)
    shown = capsys.readouterr().err
    assert "left" in shown and shown.endswith("\r" + " " * 60 + "\r")
    pits.run("lin-ts", "linear", steps=10, realizations=1)  # no terminal: no bar
    assert capsys.readouterr().err == ""


def test_run_directories_are_those_of_the_command_line(tmp_path):
    whole = pits.run("lin-ts", "linear", steps=100, realizations=2, out=tmp_path / "run")
    again = pits.run("lin-ts", "linear", steps=100, realizations=2, out=tmp_path / "run", resume=True)
    np.testing.assert_array_equal(whole.curves, again.curves)
    np.testing.assert_array_equal(np.load(tmp_path / "run" / "curves.npy"), whole.curves.reshape(2, -1))
    with pytest.raises(pits.InputError, match="already holds a run"):
        pits.run("lin-ts", "linear", steps=100, realizations=2, out=tmp_path / "run")
    with pytest.raises(pits.InputError, match="of the catalogue only"):
        pits.run(Stubborn, "linear", out=tmp_path / "other")


def test_frames_are_the_arrays():
    result = pits.run(["lin-ts", "uniform"], ["linear", "wheel"], steps=60, realizations=3)
    frame = result.frame
    assert len(frame) == 12 and list(frame.columns[:3]) == ["env", "agent", "realization"]
    row = frame[(frame.env == "wheel") & (frame.agent == "lin-ts") & (frame.realization == 2)]
    assert row.regret.item() == result.regret[1, 0, 2]
    curves = result.curves_frame
    last = curves[curves["round"] == 60].groupby(["env", "agent", "realization"]).regret.first()
    assert last["linear", "uniform", 1] == result.regret[0, 1, 1]


def test_plots_show_the_means():
    result = pits.run(["lin-ts", "uniform"], ["linear", "wheel"], steps=60, realizations=3)
    axes = result.plot()
    assert [ax.get_title() for ax in axes] == ["linear", "wheel"]
    np.testing.assert_array_equal(axes[1].lines[0].get_ydata(), result.curve("lin-ts", "wheel")[1].mean(axis=0))
    assert result.plot("linear").get_legend().get_texts()[1].get_text() == "uniform"


def test_the_page_has_the_numbers(tmp_path):
    result = pits.run(["lin-ts", Stubborn], "linear", steps=60, realizations=3)
    page = open(result.report(tmp_path / "x.html"), encoding="utf-8").read()
    assert page.lstrip().lower().startswith("<!doctype html") and "Stubborn" in page
    assert repr(result.normalized_regret[0, 1].mean())[:12] in page
    assert "Stubborn" in repr(result)


def test_results_survive_a_pickle(tmp_path):
    result = pits.run("lin-ts", "linear", steps=60, realizations=3)
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.curves, result.curves)
    assert repr(again) == repr(result)
    pages = [open(r.report(tmp_path / "x.html"), encoding="utf-8").read() for r in (result, again)]
    assert pages[0] == pages[1]


def test_diagnostics_are_those_of_the_command_line(tmp_path):
    agents = ["pi-ts:fast", "lin-ts"]
    plain = pits.run(agents, "linear", steps=60, realizations=2, seed=3)
    seen = pits.run(agents, "linear", steps=60, realizations=2, seed=3, diagnostics=True, out=tmp_path / "run")
    np.testing.assert_array_equal(seen.curves, plain.curves)
    cells = [json.loads(line) for line in (tmp_path / "run/results.jsonl").read_text().splitlines()]
    health = pickle.loads(pickle.dumps(seen)).health("pi-ts:fast")
    assert health["particles"] == 4
    for key, values in cells[1]["health"].items():
        np.testing.assert_array_equal(values, health[key] if key in ("particles", "rounds") else health[key][1])
    assert "effective number" in seen.table() and "No particles to look at: lin-ts" in seen.table()
    for result, agent in [(seen, "lin-ts"), (plain, "pi-ts:fast")]:
        with pytest.raises(ValueError, match="diagnostics=True"):
            result.health(agent)
    with pytest.raises(pits.InputError, match="particles"):
        pits.run("lin-ts", "linear", steps=10, diagnostics=True)

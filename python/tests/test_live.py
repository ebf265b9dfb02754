"""pits.LiveBandit: named contexts and actions, a log that survives, threads, forks and the end of Python."""
import datetime
import json
import os
import pickle
import sqlite3
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pandas as pd
import pytest

import pits

SANITIZED = "LD_PRELOAD" in os.environ
SCHEMA = {"features": [{"name": "age", "kind": "number", "missing": "level"},
                       {"name": "country", "kind": "category", "levels": ["de", "fr"], "unknown": "level"},
                       {"name": "member", "kind": "boolean"},
                       {"name": "now", "kind": "time_of_day", "zone": "Europe/Berlin", "missing": "level"}]}
ACTIONS = ["tea", "milk", "cake"]
WHEN = datetime.datetime(2026, 7, 15, 4, tzinfo=datetime.timezone.utc)  # 6:00 in Berlin
SHORT = {"age": 2.5, "country": "de", "member": True}
VISITOR = {"age": 31, "country": "de", "member": True, "now": WHEN}


def opened(path, **settings):
    return pits.LiveBandit(path, "lin-ts", actions=ACTIONS, schema=SCHEMA, **{"seed": 5, "rewards": "first", **settings})


def events(path, kind=None):
    """The log as `pits log export` writes it."""
    lines = subprocess.run([os.environ["PITS_PROGRAM"], "log", "export", path], check=True, capture_output=True, text=True)
    all_of = [json.loads(line) for line in lines.stdout.splitlines()]
    return [event for event in all_of if kind in (None, event["event"])]


needs_program = pytest.mark.skipif(not os.environ.get("PITS_PROGRAM"), reason="PITS_PROGRAM does not name the program")


@needs_program
def test_contexts_are_logged_as_they_came_and_as_vectors(tmp_path):
    row = pd.Series({"age": np.nan, "country": "nl", "member": np.bool_(False), "now": pd.Timestamp(WHEN)})
    with opened(tmp_path / "log") as live:
        for context in [VISITOR, row, json.dumps(SHORT), {**SHORT, "age": np.float32(2.5)}]:
            live.decide(context)
        assert len(live.columns) == live.n_features == 9
    named, of_pandas, text, numpy = events(tmp_path / "log", "decided")
    assert named["x"] == pytest.approx([31, 0, 1, 0, 0, 1, 1, 0, 0], abs=1e-6)  # sin, cos of a quarter of a day
    assert json.loads(named["context"]) == {**VISITOR, "now": "2026-07-15T04:00:00+00:00"}
    assert of_pandas["x"] == pytest.approx([0, 1, 0, 0, 1, 0, 1, 0, 0], abs=1e-6)
    assert text["x"] == numpy["x"] == [2.5, 0, 1, 0, 0, 1, 0, 0, 1]


def test_goes_on_where_it_was(tmp_path):
    ids = []
    for start in range(3):
        with opened(tmp_path / "log") as live:
            decision = live.decide(VISITOR, key=f"visit-{start}")
            assert live.decide(VISITOR, key=f"visit-{start}") == decision
            assert live.find(f"visit-{start}") == decision.id and live.find("nobody") is None
            assert live.reward(decision, 1.0, key="click") == "accepted"
            assert [live.reward(i, 1.0, key="click") for i in ids] == ["duplicate"] * start
            ids.append(decision.id)
            live.catch_up()
            state, status = live._live._saved(), live.status
            assert status.learned == status.committed and status.queued == 0 and status.problem == ""
            assert live.actions == ACTIONS and live.seed == 5 and live.agent.startswith("lin-ts")
    assert ids == sorted(set(ids))
    with pits.LiveBandit(tmp_path / "log") as again:
        assert again._live._saved() == state
        assert again.schema["features"][0] == {"name": "age", "kind": "number", "missing": "level", "unknown": "error"}


def test_answers_of_rewards_activation_and_cancel(tmp_path):
    with opened(tmp_path / "log", activation=True, rewards="sum") as live:
        first, second, third = live.decide_many([VISITOR] * 3)
        assert live.activate(first) == "accepted" and live.activate(first.id) == "duplicate"
        assert live.cancel(second) == "accepted" and live.cancel(second) == "duplicate"
        assert live.reward(second, 1.0) == "expired"
        answers = live.rewards([first, first.id, third, 10**6], [1.0, 2.0, 0.5, 1.0], keys=["a", "a", "b", "c"])
        assert answers == ["accepted", "duplicate", "accepted", "unknown"]


@needs_program
def test_by_default_outcomes_are_learned_when_their_window_closes(tmp_path):
    settings = {"actions": ACTIONS, "schema": SCHEMA}
    with pits.LiveBandit(tmp_path / "log", "lin-ts", **settings) as live:
        assert live.config["rewards"] == "largest"
        decision = live.decide(VISITOR)
        assert [live.reward(decision, value, key=key) for value, key in [(1.0, "a"), (0.5, "b"), (1.0, "a")]] == [
            "accepted", "accepted", "duplicate"]
    assert len(events(tmp_path / "log", "rewarded")) == 2 and events(tmp_path / "log", "settled") == []
    with pytest.raises(pits.InputError, match="needs a window above 0.*without a window use rewards=first"):
        pits.LiveBandit(tmp_path / "other", "lin-ts", window=0, **settings)
    pits.LiveBandit(tmp_path / "other", "lin-ts", window=0, rewards="first", **settings).close()


def test_rows_of_a_frame(tmp_path):
    frame = pd.DataFrame({"age": [20, None, 40], "country": ["de", "fr", "xx"], "member": [True, False, True]})
    with opened(tmp_path / "log") as live:
        made = pd.DataFrame(live.decide_many(frame, allowed=["milk", "cake"]))
        assert list(made.columns) == ["action", "propensity", "id", "propensity_error"]
        assert set(made["action"]) <= {"milk", "cake"} and made["id"].tolist() == [0, 1, 2]
        assert live.rewards(made["id"], [1, 0, 1]) == ["accepted"] * 3
        before = live.decide(frame.iloc[0]).id
        bad = frame.assign(member=[True, True, "yes"])
        with pytest.raises(pits.InputError, match="row 2: feature 'member' must be true or false, not the text 'yes'"):
            live.decide_many(bad)
        assert live.decide(frame.iloc[0]).id == before + 1  # no row was decided
        assert [d.id for d in live.decide_many(frame, keys=["a", "b", "a"])] == [before + 2, before + 3, before + 2]


def test_vectors_and_candidates(tmp_path):
    with pits.LiveBandit(tmp_path / "vectors", "pi-ts:fast", actions=ACTIONS, n_features=2, floor=0.1) as live:
        decision = live.decide(np.array([0.5, 1.0]), allowed=["cake"])
        assert decision.action == "cake" and decision.propensity == pytest.approx(1.0) and live.schema is None
        assert live.decide(pd.Series([0.5, 1.0])).action in ACTIONS
        with pytest.raises(pits.InputError, match="feature-ts"):
            live.decide([0.5, 1.0], candidates=np.ones((3, 2)))
        with pytest.raises(pits.InputError, match="no schema"):
            live.decide({"age": 3})
    with pits.LiveBandit(tmp_path / "candidates", "feature-ts", candidates=True, n_features=2, action_features=3) as live:
        for n in [1, 5, 2]:
            decision = live.decide([0.5, 1.0], candidates=np.ones((n, 3)))
            assert decision.action in range(n) and live.reward(decision, 1.0) == "accepted"
        assert live.actions == []


def test_actions_and_settings_change(tmp_path):
    with opened(tmp_path / "log", window=60) as live:
        live.add_actions("wine", "nuts")
        assert live.decide(VISITOR, allowed=["wine"]).action == "wine"
        live.retire("wine")
        with pytest.raises(pits.InputError, match="no action is allowed"):
            live.decide(VISITOR, allowed=["wine"])
        live.change(default_reward=-1.0)
        assert live.config["window"] == 60 and live.config["default_reward"] == -1
    with opened(tmp_path / "log", window=120) as live:
        assert live.config == {**live.config, "window": 120, "default_reward": -1, "floor": 0.02}
        assert live.actions == [*ACTIONS, "wine", "nuts"]


@pytest.mark.parametrize("settings, said", [
    ({"floor": 0.5}, "cannot change in a log"),
    ({"seed": 6}, "the seed 5, not 6"),
    ({"schema": {"features": [{"name": "age", "kind": "number"}]}}, "schema never changes"),
    ({"actions": ["tea", "whisky"]}, "unknown action 'whisky'"),
    ({"lambda_": 3.0}, "the log is of the agent lin-ts"),
])
def test_a_log_keeps_what_it_was_created_with(tmp_path, settings, said):
    opened(tmp_path / "log").close()
    with pytest.raises(pits.InputError, match=said):
        pits.LiveBandit(tmp_path / "log", "lin-ts", **{"actions": ACTIONS, "schema": SCHEMA, "seed": 5, **settings})
    opened(tmp_path / "log").close()  # nothing is left behind


@pytest.mark.parametrize("arguments, said", [
    ({}, "holds no log"),
    ({"schema": SCHEMA}, "created with its actions"),
    ({"actions": ACTIONS}, "either a schema .* or n_features"),
    ({"actions": ACTIONS, "schema": SCHEMA, "n_features": 3}, "either a schema .* or n_features"),
    ({"actions": "tea", "n_features": 3}, "actions must be a list of names"),
    ({"actions": [3], "n_features": 3}, "must be text, not 3"),
    ({"actions": [], "n_features": 3}, "at least one name"),
    ({"actions": ["a", ""], "n_features": 3}, "needs a name"),
    ({"actions": ["a", "a"], "n_features": 3}, "two actions have the name 'a'"),
    ({"actions": ACTIONS, "schema": {"features": [{"name": "age", "kind": "nmber"}]}}, "did you mean 'number'"),
    ({"actions": ACTIONS, "schema": {"features": {1j}}}, "cannot be written as JSON"),
    ({"actions": ACTIONS, "n_features": 3, "windw": 3}, "windw"),
    ({"actions": ACTIONS, "n_features": 3, "window": -3}, "window"),
    ({"agent": "lin-ts", "candidates": True, "n_features": 3}, "only feature-ts"),
    ({"actions": ACTIONS, "candidates": True, "n_features": 3}, "either actions or candidates"),
])
def test_what_cannot_be_created_leaves_nothing(tmp_path, arguments, said):
    with pytest.raises(pits.InputError, match=said):
        pits.LiveBandit(tmp_path / "log", **arguments)
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize("call, said", [
    (lambda live: live.decide({**VISITOR, "member": None}), "feature 'member' is missing"),
    (lambda live: live.decide({**VISITOR, "age": "31"}), "feature 'age' must be a number"),
    (lambda live: live.decide({**VISITOR, "age": float("inf")}), "JSON"),
    (lambda live: live.decide({**VISITOR, "age": object()}), "JSON"),
    (lambda live: live.decide({**VISITOR, "country": "\ud800"}), "JSON"),
    (lambda live: live.decide({**VISITOR, "agee": 3}), "did you mean 'age'"),
    (lambda live: live.decide({**VISITOR, "now": datetime.datetime(2026, 7, 15)}), "feature 'now' must be a time"),
    (lambda live: live.decide([1.0]), "9 numbers, not 1"),
    (lambda live: live.decide(VISITOR, allowed=["coffee"]), "unknown action 'coffee'"),
    (lambda live: live.decide(VISITOR, allowed=[]), "at least one name"),
    (lambda live: live.decide(VISITOR, key=3), "key must be text"),
    (lambda live: live.decide(VISITOR, key="\ud800"), "key cannot be written as UTF-8"),
    (lambda live: live.decide(VISITOR, allowed=["\ud800"]), "each of allowed cannot be written as UTF-8"),
    (lambda live: live.decide("\ud800"), "JSON"),
    (lambda live: live.add_actions(""), "needs a name"),
    (lambda live: live.decide(VISITOR, key="k" * 300), "256 bytes"),
    (lambda live: live.decide_many([VISITOR, 3]), "row 1: a named context is a dict"),
    (lambda live: live.decide_many([VISITOR], allowed=[]), "at least one name"),
    (lambda live: live.decide_many([VISITOR], keys=[]), "1 contexts need as many keys, not 0"),
    (lambda live: live.reward(-1, 1.0), "id must be a whole number"),
    (lambda live: live.reward(0, float("nan")), "must be finite"),
    (lambda live: live.rewards([0, 1], [1.0]), "2 ids need as many values"),
    (lambda live: live.retire("coffee"), "unknown action 'coffee'"),
    (lambda live: live.add_actions("tea"), "an action 'tea' already"),
    (lambda live: live.change(floor=0.5), "cannot change"),
])
def test_bad_calls_leave_no_trace(tmp_path, call, said):
    with opened(tmp_path / "log") as live:
        before = live.status.committed
        with pytest.raises(pits.InputError, match=said):
            call(live)
        live.flush()
        assert live.status.committed == before


def test_many_threads_decide_and_reward(tmp_path):
    answers, ids, lock = [], [], threading.Lock()

    def visit(c):
        for i in range(40):
            decision = live.decide({**VISITOR, "age": 10 * c + i % 7})
            answer = live.reward(decision, float(i % 2), key="r")
            with lock:
                answers.append(answer)
                ids.append(decision.id)

    with opened(tmp_path / "log") as live:
        threads = [threading.Thread(target=visit, args=(c,)) for c in range(6)]
        for thread in threads:
            thread.start()
        live.add_actions("wine")
        for thread in threads:
            thread.join()
        live.catch_up()
        state = live._live._saved()
    assert answers == ["accepted"] * 240 and len(set(ids)) == 240
    with pits.LiveBandit(tmp_path / "log") as again:
        assert again._live._saved() == state


def test_a_closed_bandit_says_so(tmp_path):
    live = opened(tmp_path / "log")
    live.close()
    live.close()
    assert live.closed
    for call in [lambda: live.decide(VISITOR), lambda: live.reward(0, 1.0), lambda: live.status, live.flush]:
        with pytest.raises(pits.FailedError, match="closed"):
            call()
    with pytest.raises(TypeError, match="never made"):
        pits._pits.LiveBandit.__new__(pits._pits.LiveBandit)._flush()


def test_one_process_writes_a_log(tmp_path):
    with opened(tmp_path / "log"):
        with pytest.raises(pits.Error):
            opened(tmp_path / "log")


def test_close_waits_for_calls_of_other_threads(tmp_path):
    live, ended = opened(tmp_path / "log"), []

    def visit():
        try:
            while True:
                live.reward(live.decide(VISITOR), 1.0)
        except pits.FailedError as error:
            ended.append(str(error))

    threads = [threading.Thread(target=visit) for _ in range(3)]
    for thread in threads:
        thread.start()
    live.reward(live.decide(VISITOR), 1.0)
    live.close()
    opened(tmp_path / "log").close()  # it is free again
    for thread in threads:
        thread.join()
    assert ended == ["the live bandit is closed"] * 3


@pytest.mark.skipif(SANITIZED, reason="the sanitizer's allocator may be locked by another thread when a process forks")
def test_a_forked_process_neither_uses_nor_ends_nor_keeps_it(tmp_path):
    live = opened(tmp_path / "log")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            live.decide(VISITOR)
        except pits.FailedError as error:
            os.write(writing, str(error).encode())
        live.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert b"was forked" in os.read(reading, 1000)
    assert live.reward(live.decide(VISITOR), 1.0) == "accepted"
    os.close(reading), os.close(writing)
    go, wait = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(go, 1)
        os._exit(0)
    live.close()
    opened(tmp_path / "log").close()  # while the child lives
    os.write(wait, b"x")
    os.waitpid(child, 0)
    os.close(go), os.close(wait)


def run_python(code, *arguments):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], capture_output=True,
                          text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("more", [
    "", "sys.kept = live", "del live",
    "threading.Thread(target=lambda: [live.decide([1.0]) for _ in range(10**9)], daemon=True).start(); live.flush()",
    "threading.Thread(target=lambda: [live.reward(live.decide([1.0]), 1.0) for _ in range(10**9)], daemon=True).start()",
    "threading.Thread(target=lambda: slow.decide([1.0]), daemon=True).start()",
    pytest.param("os.fork() or sys.exit()", marks=pytest.mark.skipif(SANITIZED, reason="see above")),
], ids=["open", "kept", "freed", "deciding", "rewarding", "deciding for hours", "forked"])
def test_python_ends_and_everything_is_in_the_log(tmp_path, more):
    code = f"""
        import os, sys, threading, pits
        live = pits.LiveBandit(sys.argv[1], "lin-ts", actions=["tea", "milk"], n_features=1, seed=1)
        slow = pits.LiveBandit(sys.argv[1] + "-slow", "dropout", actions=["tea", "milk"], n_features=1, initial_pulls=0,
                               propensity_draws=10**9)
        for _ in range(50):
            last = live.decide([1.0]).id
        print(last, flush=True)
        {more}
    """
    assert run_python(code, tmp_path / "log") == (0, "49\n", "")
    with pits.LiveBandit(tmp_path / "log") as live:
        assert live.reward(49, 1.0) in ("accepted", "duplicate")


@needs_program
def test_a_killed_process_loses_no_reward(tmp_path):
    code = """
        import os, signal, sys, pits
        live = pits.LiveBandit(sys.argv[1], "lin-ts", actions=["tea", "milk"], n_features=1, rewards="first", seed=1)
        for _ in range(30):
            print(live.reward(live.decide([1.0]), 1.0, key="r"), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    status, printed, _ = run_python(code, tmp_path / "log")
    assert status == -9 and printed == "accepted\n" * 30
    with pits.LiveBandit(tmp_path / "log") as live:
        assert live.rewards(range(30), np.ones(30), keys=["r"] * 30) == ["duplicate"] * 30
    assert len(events(tmp_path / "log", "settled")) == 30


@pytest.mark.parametrize("left", ["nothing of the file", "no event"])
def test_a_process_that_died_while_it_created_the_log(tmp_path, left):
    if left == "no event":
        opened(tmp_path).close()
        with sqlite3.connect(tmp_path / "events.db") as database:
            database.execute("DELETE FROM events")
        database.close()
        (tmp_path / "snapshots.db").unlink()
    else:
        (tmp_path / "events.db").touch()
    with pytest.raises(pits.InputError, match="holds no log; give actions"):
        pits.LiveBandit(tmp_path)
    for _ in range(2):
        with opened(tmp_path) as live:
            assert live.reward(live.decide(VISITOR), 1.0) == "accepted"


def test_rows_of_pandas_with_strings_and_missing_values(tmp_path):
    features = [{"name": "age", "kind": "number", "missing": "level"}, {"name": "city", "kind": "category", "buckets": 8},
                {"name": "shop", "kind": "category", "levels": ["3", "17"], "missing": "level"},
                {"name": "at", "kind": "time_of_day", "zone": "UTC", "missing": "level"}]
    schema = pits.Schema({"features": features})
    frame = pd.DataFrame({"age": [20, np.nan, 40], "city": ["Köln", "Nice", "Roma"], "shop": [17, np.nan, 3],  # floats: NaN
                          "at": pd.to_datetime(["2026-07-15T06:00Z", None, "2026-07-15T18:00Z"])})
    x = schema.encode(frame)
    age, shop, at = [schema.columns.index(name) for name in ("age", "shop=3", "sin(at)")]
    np.testing.assert_array_equal(x[:, age:age + 2], [[20, 0], [0, 1], [40, 0]])
    np.testing.assert_array_equal(x[:, shop:shop + 3], [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    np.testing.assert_allclose(x[:, at:at + 3], [[1, 0, 0], [0, 0, 1], [-1, 0, 0]], atol=1e-6)
    assert x[:, 2:10].sum() == 3 and x.dtype == np.float32 and x.shape == (3, schema.n_features)

    # The same row in every form that pandas has for it.
    other_types = frame.astype({"age": "Int64", "shop": "Int64", "city": "category"})
    for i, row in enumerate(frame.itertuples(index=False)):
        np.testing.assert_array_equal(schema.encode(frame.iloc[[i]]), x[[i]])  # a frame of one row
        for form in (frame.iloc[i], row, other_types.iloc[i], frame.iloc[i].to_json(date_format="iso")):
            np.testing.assert_array_equal(schema.encode(form), x[i])
    with pits.LiveBandit(tmp_path / "log", "lin-ts", actions=ACTIONS, schema=schema) as live:
        assert pits.Schema(live.schema) == schema
        for form in (frame.iloc[1], frame.iloc[[1]], next(frame.itertuples(index=False)), other_types.iloc[2]):
            assert live.decide(form).action in ACTIONS
        with pytest.raises(pits.InputError, match="one row, not a frame of 3; decide_many"):
            live.decide(frame)
    with pytest.raises(pits.InputError, match="row 1: feature 'city' is missing"):
        schema.encode(frame.assign(city=["a", None, "b"]))
    with pytest.raises(pits.InputError, match="^feature 'shop' must be one of its 2 levels, not 4"):
        schema.encode({"city": "a", "shop": 4.0})
    assert pickle.loads(pickle.dumps(schema)) == schema

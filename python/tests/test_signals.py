"""The GIL is released while we compute, and Ctrl-C gets through."""
import _thread
import errno
import gzip
import io
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

import numpy as np
import pytest

import pits


def hours_of_probabilities():
    bandit = pits.agents.BernoulliTS(n_actions=20, n_features=30, propensity_draws=2000)
    bandit.predict_proba(np.ones((100_000, 30), dtype=np.float32))


def hours_of_one_probability():
    bandit = pits.agents.BernoulliTS(n_actions=20, n_features=30, propensity_draws=10**9)
    bandit.predict_proba(np.ones(30, dtype=np.float32))


def hours_of_one_decision():
    bandit = pits.agents.BernoulliTS(n_actions=20, n_features=30, propensity="estimated", propensity_draws=10**9)
    try:
        bandit.decide(np.ones(30, dtype=np.float32))
    finally:
        assert bandit.pending == 0


def hours_of_one_live_decision():
    with tempfile.TemporaryDirectory() as directory:
        with pits.LiveBandit(directory, "dropout", actions=["tea", "milk"], n_features=30, initial_pulls=0,
                             propensity_draws=10**9) as live:
            before = live.status.committed
            try:
                live.decide(np.ones(30, dtype=np.float32))
            finally:
                live.flush()
                assert live.status.committed == before


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


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    file = tmp_path_factory.mktemp("csv") / "table.csv"
    file.write_text("a,b,y\n" + "".join(f"{i},{i % 7},{i % 2}\n" for i in range(2000)))
    return file


def hours_of_planning(table):
    pits.run("lin-ts", f"csv:{table},label=y,replace=true", steps=4_000_000_000)


def minutes_of_reading(table):
    """A CSV file of 5 GB, which a pipe or a hole would not be: rows of one file that is packed."""
    rows = table.parent / "long.csv.gz"
    with gzip.open(rows, "wb", compresslevel=1) as file:
        file.write(b"a,b,y\n")
    part = gzip.compress(b"1.5,2.25,0\n3.5,4.75,1\n" * 500_000, compresslevel=1)
    with open(rows, "ab") as file:
        for _ in range(100):
            file.write(part)
    pits.environments.CSV(preset=str(rows), label="y")


@pytest.mark.parametrize("work", [hours_of_planning, minutes_of_reading])
def test_ctrl_c_stops_a_plan_in_the_making(work, table):
    turns, ended = 0, threading.Event()

    def count():
        nonlocal turns
        while not ended.wait(0.01):
            turns += 1

    counter, timer = threading.Thread(target=count), threading.Timer(3, _thread.interrupt_main)
    counter.start()
    timer.start()
    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        work(table)
    ended.set()
    for thread in [counter, timer]:
        thread.join()
    assert time.monotonic() - before < 30
    assert turns > 20  # other threads had the GIL meanwhile


@pytest.mark.parametrize("work", [
    hours_of_probabilities, hours_of_one_probability, hours_of_one_decision, hours_of_one_live_decision, hours_of_training,
    lambda: pits.run("lin-ts", "linear", steps=1_000_000_000, realizations=2),
    lambda: pits.run(Slow, "linear", steps=1_000_000_000, realizations=2),
    lambda: pits.flows.svgd(lambda theta: -theta, np.ones((10, 2)), steps=1_000_000_000),
], ids=["predict_proba", "one row of it", "decide", "live decide", "partial_fit", "run", "run in Python", "flow"])
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
        bandit = pits.agents.BernoulliTS(n_actions=20, n_features=30, propensity_draws=20_000)
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


# Code that a fresh interpreter runs; what it prints is the answer.
def run_python(code, **environment):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env={**os.environ, **environment},
                          capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("work", [
    "pits.run('lin-ts', 'linear', steps=1_000_000_000, realizations=2)",
    "pits.run(Mine, 'linear', steps=1_000_000_000, realizations=2, progress=lambda done, total: None)",
    "bandit.partial_fit(X, np.zeros(len(X), dtype=int), np.zeros(len(X)))",
    "[bandit.decide(X[0]) for _ in range(10**9)]",
    "estimating.predict_proba(X)",
    "pits.environments.Linear().table(10**7)",
], ids=["run", "run in Python", "partial_fit", "decide", "predict_proba", "table"])
def test_a_daemon_thread_does_not_abort_python_at_exit(work):
    for delay in [0.05, 0.2, 0.35]:
        ended = run_python(f"""
            import threading, time, numpy as np, pits
            class Mine:
                def __init__(self, **_): pass
                def choose(self, x): return 0
                def learn(self, x, action, reward): pass
            X = np.ones((1_000_000, 2), dtype=np.float32)
            bandit = pits.PiTS(n_actions=2, n_features=2, train_every=1, seed=1)
            estimating = pits.agents.BernoulliTS(n_actions=2, n_features=2, propensity_draws=1000)
            threading.Thread(target=lambda: {work}, daemon=True).start()
            time.sleep({delay})
            print("ends")
        """)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "ends\n", "")


def test_a_daemon_thread_that_looks_at_signals_after_python_has_ended_stays_quiet():
    code = """
        import ctypes, threading, time, numpy as np, pits
        ctypes.pythonapi.Py_AtExit(ctypes.CDLL(None).getchar)  # after Python's end, until standard input is closed
        X = np.ones((1_000_000, 2), dtype=np.float32)
        bandit = pits.PiTS(n_actions=2, n_features=2, train_every=1, seed=1)
        fit = lambda: bandit.partial_fit(X, np.zeros(len(X), dtype=int), np.zeros(len(X)))
        threading.Thread(target=fit, daemon=True).start()
        time.sleep(0.3)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(3)  # the thread looks at signals every 50 ms
    assert child.communicate(timeout=300) == (None, b"")
    assert child.returncode == 0


def test_an_object_freed_at_the_end_of_python_can_decide():
    ended = run_python("""
        import sys, pits
        class Last:
            def __init__(self): self.bandit = pits.PiTS(n_actions=2, n_features=2, seed=1)
            def __del__(self): self.bandit.decide([1, 2])
        sys.kept = Last()  # sys is taken apart last
    """)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_directory_can_be_resumed_after_ctrl_c_in_the_same_interpreter(tmp_path):
    def go(**more):
        return pits.run("lin-ts", "linear", steps=2000, realizations=40, threads=1, out=tmp_path / "run", **more)

    def interrupt(done, total):
        if done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as kept:  # the traceback keeps the experiment, as sys.last_traceback does
        go(progress=interrupt)
    assert go(resume=True).regret.shape == (1, 1, 40)
    assert kept.tb is not None


def test_a_forked_process_neither_keeps_nor_opens_the_lock(tmp_path):
    child = None

    def fork(done, total):
        nonlocal child
        if child is None:
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)

    pits.run("lin-ts", "linear", steps=2000, realizations=40, threads=1, out=tmp_path / "run", progress=fork)
    try:
        assert child is not None
        assert pits.run("lin-ts", "linear", steps=2000, realizations=40, out=tmp_path / "run", resume=True)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


class Full(io.StringIO):
    def write(self, text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_stderr_that_cannot_be_written_does_not_end_a_run(monkeypatch):
    closed = io.StringIO()
    closed.close()
    for stream in [Full(), closed, None]:
        monkeypatch.setattr(sys, "stderr", stream)
        assert pits.run("lin-ts", "linear", steps=50, realizations=2, progress=True).steps == 50


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_many_runs_leave_no_threads_and_no_memory_behind():
    def runs(n):
        for _ in range(n):
            pits.run("uniform", "linear", steps=1, realizations=1)

    runs(100)
    before, threads = resident(), len(os.listdir("/proc/self/task"))
    runs(400)
    assert len(os.listdir("/proc/self/task")) <= threads + 2
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # the sanitizer keeps freed memory for a while, on purpose
        assert resident() - before < 400 * 2000  # it was 7.7 kB per call


def test_an_experiment_that_is_kept_until_python_ends_does_not_keep_it_from_ending():
    ended = run_python("""
        import sys, pits
        class Bad:
            def __init__(self, **_): pass
            def choose(self, x): raise ValueError("never")
            def learn(self, x, action, reward): pass
        try:
            pits.run(Bad, "linear", steps=10)
        except ValueError as e:
            sys.kept = e  # with its traceback, whose frames hold the experiment
        print("ends")
    """)
    assert (ended.returncode, ended.stdout) == (0, "ends\n")

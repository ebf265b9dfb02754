#!/usr/bin/env python3
"""How long `pits evaluate` takes for a large log, beside NumPy doing the same with the same file.

    bench/evaluation.py PROGRAM [--rounds 1000000] [--context 50] [--actions 10] [--learning-rounds 20000]

Writes a CSV file of that many rounds, with the propensities and a policy's probabilities of all actions. Then measures
in one run: reading its bytes; NumPy (loadtxt, then IPS, SNIPS, their standard errors and the effective sample size);
the program for the same column and for uniform; and, on fewer rounds, agents that learn as they walk through the log.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

import numpy as np


def write_log(file, n, d, K, seed=0):
    rng = np.random.default_rng(seed)
    head = ["action", "reward", "propensity", *(f"p:{a}" for a in range(K)), *(f"mine:{a}" for a in range(K)),
            *(f"x{j}" for j in range(d))]
    with open(file, "w", encoding="utf-8") as out:
        out.write(",".join(head) + "\n")
        for start in range(0, n, 20000):
            m = min(20000, n - start)
            p = 0.5 * rng.dirichlet(np.ones(K), m) + 0.5 / K
            actions = (p.cumsum(axis=1) > rng.random((m, 1))).argmax(axis=1)
            rewards = rng.random(m) < 0.1 + 0.05 * actions
            columns = [actions[:, None], rewards[:, None], p[np.arange(m), actions][:, None], p,
                       rng.dirichlet(np.ones(K), m), rng.normal(size=(m, d))]
            formats = ["%d", "%d", *["%.7f"] * (1 + 2 * K), *["%.4f"] * d]
            np.savetxt(out, np.hstack(columns), fmt=formats, delimiter=",")


def by_numpy(file, K):
    table = np.loadtxt(file, delimiter=",", skiprows=1)
    read = time.perf_counter()
    actions, r, p = table[:, 0].astype(int), table[:, 1], table[:, 2]
    w = table[np.arange(len(r)), 3 + K + actions] / p
    ips, snips = (w * r).mean(), (w * r).sum() / w.sum()
    error = (w * r).std(ddof=1) / np.sqrt(len(r))
    ratio_error = np.sqrt((w**2 * (r - snips) ** 2).sum()) / w.sum()
    return read, (ips, snips, error, ratio_error, w.sum() ** 2 / (w**2).sum())


def by_program(program, file, *words):
    start = time.perf_counter()
    done = subprocess.run([program, "evaluate", file, "--json", *words], capture_output=True, text=True, check=True)
    return time.perf_counter() - start, [json.loads(line) for line in done.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=1_000_000)
    parser.add_argument("--context", type=int, default=50)
    parser.add_argument("--actions", type=int, default=10)
    parser.add_argument("--learning-rounds", type=int, default=20_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "log.csv")
        write_log(file, given.rounds, given.context, given.actions)
        start = time.perf_counter()
        with open(file, "rb") as bytes_:
            while bytes_.read(1 << 20):
                pass
        print(f"{given.rounds} rounds, d = {given.context}, K = {given.actions}: {os.path.getsize(file) / 1e6:.0f} MB")
        print(f"reading the bytes                     {time.perf_counter() - start:8.2f} s")
        start = time.perf_counter()
        read, expected = by_numpy(file, given.actions)
        end = time.perf_counter()
        print(f"NumPy: loadtxt, then estimates        {read - start:8.2f} + {end - read:.2f} s")
        seconds, found = by_program(given.program, file, "--policy", "column:mine", "--model", "none")
        ips, snips = (found[1]["estimates"][kind] for kind in ("ips", "snips"))
        own = (ips["value"], snips["value"], ips["error"], snips["error"], found[1]["weights"]["effective_rounds"])
        np.testing.assert_allclose(own, expected, rtol=1e-9)
        print(f"pits evaluate, column, no model       {seconds:8.2f} s   the same numbers to 1e-9")
        words = ["--policy", "column:mine", "--policy", "uniform", "--reward-range", "0,1"]
        print(f"pits evaluate, 2 policies, linear DR  {by_program(given.program, file, *words)[0]:8.2f} s")
        write_log(file, given.learning_rounds, given.context, given.actions)
        for agent in ("lin-ts", "pi-ts:fast", "pi-ts"):
            words = ["--policy", f"agent:{agent}", "--model", "none", "--draws", "10"]
            seconds = by_program(given.program, file, *words)[0]
            print(f"agent:{agent:<11} {given.learning_rounds} rounds     {seconds:8.2f} s")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What a round of the default costs in the programs of several revisions, measured in turn on one thread.

    bench/rounds.py build/release/pits ../before/build/release/pits [--rounds 2000] [--bench REGEX]

Whole runs (`pits run`, which every revision has) on linear problems of the shapes below, and with --bench the cases of
`pits bench` that the expression is found in, e.g. default-round/.*=1000$. The first program is compared with the others.
"""
import argparse
import json
import subprocess

SHAPES = {"as statlog": (9, 7), "as covertype": (54, 7), "many actions": (20, 100), "d=20, K=12": (20, 12)}


def lines(words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def run_seconds(program, agent, rounds, d, actions):
    line, = lines([program, "run", "--agent", agent, "--env", f"linear,dimension={d},actions={actions}", "--steps",
                   str(rounds), "--realizations", "1", "--seed", "1", "--threads", "1", "--json"])
    return line["seconds"] / rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--agent", default="pi-ts")
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--bench", metavar="REGEX")
    given = parser.parse_args()
    print("\t".join(["us/round", *given.programs, "ratio"]))
    for name, (d, actions) in SHAPES.items():
        times = [1e6 * run_seconds(program, given.agent, given.rounds, d, actions) for program in given.programs]
        print("\t".join([f"{name}, T={given.rounds}", *(f"{t:.0f}" for t in times), f"{times[-1] / times[0]:.2f}"]))
    if not given.bench:
        return
    measured = [{row["name"]: row for row in lines([p, "bench", "--json", "--filter", given.bench])[1:]}
                for p in given.programs]
    for name in measured[0]:
        for key, label in (("seconds", "mean"), ("p99_seconds", "p99"), ("largest_seconds", "largest learn")):
            values = [rows.get(name, {}).get(key) for rows in measured]
            shown = ["-" if v is None else f"{1e6 * v:.0f}" for v in values]
            ratio = "" if None in values else f"{values[-1] / values[0]:.2f}"
            print("\t".join([f"{name} {label}", *shown, ratio]))


if __name__ == "__main__":
    main()

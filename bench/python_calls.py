"""What Python costs, beside C++ measured in the same run.

  PYTHONPATH=build/release/python python3 bench/python_calls.py [--quick] [--json] [--program build/release/pits]

decide: calls from Python beside calls of the same bandit from C++, in turn; wall times, the best of several
repetitions. run: an experiment by pits.run beside the same one by the command line, in turn; wall times, the best. The
command line's has the start of its process, Python's has not.
"""
import argparse
import json
import subprocess
import time

import numpy as np

import pits

BANDITS = {"lin-ts, d = 9, K = 7": lambda: pits.agents.LinTS(7, 9, propensity="none"),
           "pi-ts, d = 9, K = 7, one particle decides": lambda: pits.PiTS(7, 9, propensity="none", mean_shrinkage=1),
           "pi-ts, d = 9, K = 7, M = 20, exact propensity": lambda: pits.PiTS(7, 9),
           "pi-ts, d = 54, K = 7, M = 20, exact propensity": lambda: pits.PiTS(7, 54)}


def from_python(bandit, x, calls):
    decide = bandit.decide
    before = time.perf_counter()
    for _ in range(calls):
        decide(x)
    return time.perf_counter() - before


def cost_of_decide(make, quick):
    bandit = make()
    x = np.random.default_rng(0).standard_normal(bandit.n_features).astype(np.float32)
    for a in range(2 * bandit.n_actions):  # past the forced pulls
        bandit.learn(x, a % bandit.n_actions, 0.0)
    calls, repetitions = (20, 1) if quick else (2000, 25)
    python, cpp = [], []
    for _ in range(repetitions):
        python.append(from_python(bandit, x, calls) / calls)
        cpp.append(bandit._seconds_of_decisions(x, calls) / calls)
    return {"python_us": 1e6 * min(python), "cpp_us": 1e6 * min(cpp), "extra_us": 1e6 * (min(python) - min(cpp)),
            "ratio": min(python) / min(cpp)}


def cost_of_run(program, quick):
    agents, steps, realizations = ["lin-ts", "pi-ts:released"], 50 if quick else 1000, 1 if quick else 4
    words = [program, "run", "--env", "linear", "--steps", str(steps), "--realizations", str(realizations)]
    for agent in agents:
        words += ["--agent", agent]
    python, command = [], []
    for _ in range(1 if quick else 5):
        before = time.perf_counter()
        pits.run(agents, "linear", steps=steps, realizations=realizations)
        python.append(time.perf_counter() - before)
        before = time.perf_counter()
        subprocess.run(words, check=True, capture_output=True)
        command.append(time.perf_counter() - before)
    return {"python_s": min(python), "command_s": min(command), "ratio": min(python) / min(command)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short repetition: does it work, not how fast is it")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--program", default="build/release/pits", help="the command line")
    options = parser.parse_args()
    decides = {name: cost_of_decide(make, options.quick) for name, make in BANDITS.items()}
    run = cost_of_run(options.program, options.quick)
    if options.json:
        for name, row in decides.items():
            print(json.dumps({"name": f"decide: {name}", **row}))
        print(json.dumps({"name": "run", **run}))
        return
    print(f"{'decide':50} {'Python':>9} {'C++':>9} {'extra':>9} {'ratio':>6}")
    for name, row in decides.items():
        times = " ".join(f"{row[key]:6.2f} µs" for key in ("python_us", "cpp_us", "extra_us"))
        print(f"{name:50} {times} {row['ratio']:6.2f}")
    print(f"\nrun: Python {run['python_s']:.2f} s, command line {run['command_s']:.2f} s, ratio {run['ratio']:.2f}")


if __name__ == "__main__":
    main()

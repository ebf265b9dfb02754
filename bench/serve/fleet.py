"""Decisions per second over HTTP on the embedded store, at the server of a fleet that learns, and at another one.

  python3 bench/serve/fleet.py [--build build/release] [--rounds 5] [--seconds 2] [--outcomes 10000]

The server that is measured has the first core for itself; the load, PostgreSQL (a private one) and the other servers have
the others. In a round each agent is asked for decisions at each server in turn, 64 connections, one request each. Given
are medians: decisions per second, processor time of the answering thread per decision, and their ratios to the embedded
store in the same round. Agents have learned --outcomes rewards before. --scratch: where PostgreSQL and the store are.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import services

AGENTS = ["uniform", "lin-ts", "pi-ts"]
CLUSTER = services.SOURCE / "scripts" / "cluster"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("--scratch", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--outcomes", type=int, default=10000)
    return parser.parse_args()


def tasks(pid):
    return list(pathlib.Path(f"/proc/{pid}/task").iterdir())


def pin(service, cpus):
    for task in tasks(service.process.pid):
        os.sched_setaffinity(int(task.name), cpus)


def answering_seconds(service):
    """Processor time of the threads that answer."""
    return 1e-9 * sum(int((task / "schedstat").read_text().split()[0]) for task in tasks(service.process.pid)
                      if (task / "comm").read_text().strip() == "pits http")


class Bench:
    def __init__(self, options, at):
        self.options, self.at, self.made = options, at, {}
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            raise SystemExit("the load needs a core of its own")
        self.measured, self.others = {cpus[0]}, set(cpus[1:])

    def start(self):
        others = ",".join(map(str, self.others))
        url = subprocess.check_output(["taskset", "-c", others, CLUSTER, "start", self.at / "postgres", "-c max_connections=100"],
                                      text=True).strip()
        for name, store in [("embedded", self.at / "store"), ("at the learner", url), ("elsewhere", url)]:
            port = services.free_port()
            words = [self.options.build / "pits", "serve", "--store", store, "--listen", f"127.0.0.1:{port}"]
            words += ["--follow"] if name == "elsewhere" else []
            self.made[name] = services.Service(name, words, port, others)
        for agent in AGENTS:
            body = {"agent": agent, "context_size": 20, "actions": services.ACTIONS, "seed": 1, "window": 3600, "rewards": "first"}
            for name in ["embedded", "at the learner"]:
                self.made[name].ask("PUT", f"/v1/bandits/{agent}", body)
                learned = 0
                while learned < self.options.outcomes:
                    learned += self.load(self.made[name], agent, requests="decide+reward", rate=5000, seconds=2)["reward"]["n"]
                self.made[name].wait_until_idle()
        time.sleep(2)  # until the follower has the policies

    def load(self, service, agent, **settings):
        words = [f"--{key}={value}" for key, value in {"warmup": 0.2, "bandit": agent, **settings}.items()]
        command = ["taskset", "-c", ",".join(map(str, self.others)), self.options.build / "load_serve", "--to",
                   f"127.0.0.1:{service.port}", *words]
        return json.loads(subprocess.check_output(list(map(str, command))))

    def measure(self, name, agent):
        service = self.made[name]
        pin(service, self.measured)
        before = service.ask("GET", f"/v1/bandits/{agent}/state")["decisions"], answering_seconds(service)
        found = self.load(service, agent, requests="decide", connections=64, seconds=self.options.seconds)
        after = service.ask("GET", f"/v1/bandits/{agent}/state")["decisions"], answering_seconds(service)
        for one in self.made.values():
            one.wait_until_idle(30)
        pin(service, self.others)
        if found["refused"] or found["broken"]:
            raise SystemExit(f"{name}, {agent}: {found}")
        return found["all"]["rate"], 1e6 * (after[1] - before[1]) / (after[0] - before[0])

    def compare(self):
        found = {(agent, name): [] for agent in AGENTS for name in self.made}
        for _ in range(self.options.rounds):
            for key in found:
                found[key].append(self.measure(key[1], key[0]))
        print("| agent | server | decisions per second | ratio, median [range] | µs of the answering thread each | ratio |")
        print("|---|---|---|---|---|---|")
        for (agent, name), rounds in found.items():
            base = found[agent, "embedded"]
            shown = []
            for i in range(2):
                ratios = [a[i] / b[i] for a, b in zip(rounds, base)]
                shown.append(f"{statistics.median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]")
            rate, cost = (statistics.median(one[i] for one in rounds) for i in range(2))
            print(f"| `{agent}` | {name} | {rate:,.0f} | {shown[0]} | {cost:.2f} | {shown[1]} |")
        for name, service in self.made.items():
            lost = [service.ask("GET", f"/v1/bandits/{agent}/state")["unlogged"] for agent in AGENTS]
            print(f"{name}: decisions that found no room in the log: {lost}")

    def stop(self):
        for service in self.made.values():
            service.stop()
        if (self.at / "postgres").exists():
            subprocess.run([CLUSTER, "stop", self.at / "postgres", "immediate"])


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the servers are stopped
    at = pathlib.Path(tempfile.mkdtemp(dir=options.scratch)).resolve()
    at.chmod(0o755)
    bench = Bench(options, at)
    try:
        bench.start()
        bench.compare()
    finally:
        bench.stop()
        shutil.rmtree(at, ignore_errors=True)


main()

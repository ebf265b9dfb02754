"""`pits serve` beside nginx's static reply and beside Flask and FastAPI services around the Python package.

  python3 bench/serve/compare.py --build build/release [--rounds 5] [--cores 1] [--json FILE]

All servers are pinned to the same cores (--server-cpus), the load generator to others (--loader-cpus). In a round each
server is measured in turn; ratios are those of one round, and their median is given with the range. Contexts have 20
numbers, there are 7 actions, propensities and the log are on. Trained agents have learned --outcomes rewards before.
"""
import argparse
import json
import math
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import services

DEFAULT = "pi-ts"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("--scratch", help="directory on the disk that is measured; default: in the build directory")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--outcomes", type=int, default=20000, help="rewards that trained agents have learned")
    parser.add_argument("--cores", type=int, default=1, help="threads of the servers, each with a core")
    parser.add_argument("--server-cpus", help="default: the first CORES")
    parser.add_argument("--loader-cpus", help="default: the others")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--rate", type=float, default=20000, help="of the open loop")
    parser.add_argument("--parts", default="saturation,latency,rewards,outcomes", help="which to measure")
    parser.add_argument("--services", default="", help="regular expression of those to measure; default: all")
    parser.add_argument("--json", type=pathlib.Path, help="where all numbers go")
    options = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))
    options.server_cpus = options.server_cpus or ",".join(map(str, cpus[:options.cores]))
    options.loader_cpus = options.loader_cpus or ",".join(map(str, cpus[options.cores:]))
    options.loader_threads = max(1, min(options.cores * 2, len(cpus) - options.cores)) if options.cores > 1 else 1
    options.scratch = options.scratch or options.build
    if not options.loader_cpus:
        parser.error("the load generator needs a core of its own")
    return options


class Bench:
    def __init__(self, options):
        self.options = options
        self.numbers = {"cores of the servers": options.server_cpus, "cores of the loader": options.loader_cpus}

    def load(self, service, cpus=None, **settings):
        o = self.options
        settings = {"seconds": o.seconds, "connections": o.connections, "threads": o.loader_threads, **settings}
        words = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
        command = ["taskset", "-c", cpus or o.loader_cpus, o.build / "load_serve", "--to", f"127.0.0.1:{service.port}", "--pid",
                   ",".join(map(str, service.pids)), *service.load, *words]
        waited = services.waited_seconds(service.pids)
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return {**json.loads(done.stdout), "waited": services.waited_seconds(service.pids) - waited}

    def train(self, service):
        """Decides and rewards until enough is learned, then waits until nothing is left to learn."""
        learned = 0
        while learned < self.options.outcomes:
            found = self.load(service, requests="decide+reward", seconds=2, warmup=0, rate=5000, threads=1)
            if "reward" not in found:
                raise SystemExit(f"{service.name} took no rewards: {found}")
            learned += found["reward"]["n"]
        service.wait_until_idle()

    def start(self):
        """Every server that can be compared; a line for each that cannot."""
        o, made = self.options, {}
        package = o.build / "python"

        def add(name, make):
            if not re.search(o.services, name):
                return
            try:
                made[name] = make()
            except services.Missing as missing:
                print(f"left out: {name}: {missing}", flush=True)

        program = o.build / "pits"
        add("nginx", lambda: services.nginx(o.server_cpus, o.cores, o.scratch))
        for agent in ["uniform", DEFAULT]:
            for kind in ["flask", "fastapi"]:
                add(f"{kind}, {agent}", lambda: services.python_service(kind, agent, o.server_cpus, o.scratch, package.resolve()))
        for agent in ["uniform", DEFAULT, "lin-ts"]:
            add(f"pits serve, {agent}", lambda: services.serve(program, agent, o.server_cpus, o.cores, o.scratch))
        for name, service in made.items():
            if not name.endswith("uniform") and name != "nginx":
                print(f"training {name}", flush=True)
                self.train(service)
        return made

    def saturation(self, made):
        """Answers per second of `decide`, one outstanding request per connection."""
        found = {name: [] for name in made}
        for _ in range(self.options.rounds):
            for name, service in made.items():
                found[name].append(self.load(service, requests="decide"))
        self.numbers["saturation"] = found
        print(f"\n| {self.options.connections} connections, one request each | per second | of nginx, median [range] "
              "| CPU µs per request | of nginx by CPU | p50 / p99 µs |\n|---|---|---|---|---|---|")
        for name, rounds in found.items():
            rates = [one["all"]["rate"] for one in rounds]
            cpu = cpu_per_request(rounds)
            by_cpu = f"{cpu_per_request(found['nginx']) / cpu:.2f}" if "nginx" in found else ""
            print(f"| {name} | {statistics.median(rates):,.0f} | {self.share(found, name, 'nginx')} | {cpu:.1f} | {by_cpu} | "
                  f"{median_of(rounds, 'p50_us'):.0f} / {median_of(rounds, 'p99_us'):.0f} |{remarks(rounds)}", flush=True)

    @staticmethod
    def share(found, name, other):
        if other not in found:
            return "not measured"
        ratios = [a["all"]["rate"] / b["all"]["rate"] for a, b in zip(found[name], found[other])]
        return f"{statistics.median(ratios):.3g} [{min(ratios):.3g}, {max(ratios):.3g}]"

    def latency(self, made):
        """Poisson arrivals; for the default also while it learns and trains."""
        rate, found = self.options.rate, {}
        names = [name for name in made if name == "nginx" or name.startswith("pits serve")]
        for _ in range(self.options.rounds):
            for name in names:
                found.setdefault(name, []).append(self.load(made[name], requests="decide", rate=rate, threads=1))
            default = f"pits serve, {DEFAULT}"
            if default in made:
                found.setdefault(f"{default}, training", []).append(self.while_training(made[default], rate))
        self.numbers["latency"] = found
        print(f"\n| {rate:,.0f} per second, Poisson | p50 | p99 | p99.9 | max, µs | the answering thread waited for a core, ms per second |\n"
              "|---|---|---|---|---|---|")
        for name, rounds in found.items():
            row = " | ".join(f"{median_of(rounds, f'{q}_us'):.0f}" for q in ["p50", "p99", "p999", "max"])
            waited = statistics.median(1000 * one["waited"] / self.options.seconds for one in rounds)
            print(f"| {name} | {row} | {waited:.1f} |{remarks(rounds)}", flush=True)

    def while_training(self, service, rate):
        """Rewards come at 1,000 per second meanwhile, from a core of their own if there are two; trainings are counted."""
        o = self.options
        cpus = services.numbers_of(o.loader_cpus)
        measured, taught = (",".join(map(str, cpus[:-1])), cpus[-1]) if len(cpus) > 1 else (o.loader_cpus, o.loader_cpus)
        trainings = service.ask("GET", "/v1/bandits/load/state")["trainings"]
        command = ["taskset", "-c", taught, o.build / "load_serve", "--to", f"127.0.0.1:{service.port}",
                   "--requests=decide+reward", "--rate=1000", f"--seconds={o.seconds + 2}", "--connections=8"]
        teacher = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
        found = self.load(service, measured, requests="decide", rate=rate, threads=1)
        teacher.wait()
        found["trainings"] = service.ask("GET", "/v1/bandits/load/state")["trainings"] - trainings
        return found

    def rewards(self, made):
        """Durable rewards of decisions that were made before, one by one and in batches, beside the disk."""
        service = made["pits serve, lin-ts"]
        found = {"one": [], "batches": [], "append + fdatasync": []}
        o = self.options
        for _ in range(o.rounds):
            found["one"].append(self.load(service, requests="rewards", decisions=int(100000 * o.seconds), seconds=o.seconds))
            found["batches"].append(self.load(service, requests="rewards", batch=100, connections=16,
                                              decisions=int(250000 * o.seconds), warmup=0.2))
            command = [o.build / "append_sync", pathlib.Path(o.scratch, "append"), 100, o.seconds]
            found["append + fdatasync"].append(json.loads(subprocess.check_output(list(map(str, command)))))
        self.numbers["rewards"] = found
        one = statistics.median(r["all"]["rate"] for r in found["one"])
        many = statistics.median(100 * r["all"]["rate"] for r in found["batches"])
        disk = statistics.median(r["rate"] for r in found["append + fdatasync"])
        share = statistics.median(100 * a["all"]["rate"] / b["rate"]
                                  for a, b in zip(found["batches"], found["append + fdatasync"]))
        print(f"\n| durable rewards, lin-ts | per second | p50 / p99 ms |\n|---|---|---|\n"
              f"| {o.connections} connections, one by one | {one:,.0f} | {median_of(found['one'], 'p50_us') / 1000:.2f} / "
              f"{median_of(found['one'], 'p99_us') / 1000:.2f} |{remarks(found['one'])}\n"
              f"| 16 connections, batches of 100 | {many:,.0f} | {median_of(found['batches'], 'p50_us') / 1000:.2f} / "
              f"{median_of(found['batches'], 'p99_us') / 1000:.2f} |{remarks(found['batches'])}\n"
              f"| append + fdatasync, 100 × 128 bytes | {disk:,.0f} | |\n| batches of 100: share of it | {share:.2f} | |", flush=True)

    def outcomes(self, made):
        """Outcomes per second that the default decides, makes durable and learns, until it has learned them all."""
        service = made[f"pits serve, {DEFAULT}"]
        before, start = service.ask("GET", "/v1/bandits/load/state"), time.monotonic()
        self.load(service, requests="decide+reward", seconds=3 * self.options.seconds, warmup=0)
        state = service.ask("GET", "/v1/bandits/load/state")
        while state["events"]["learned"] < state["events"]["committed"]:
            time.sleep(0.1)
            state = service.ask("GET", "/v1/bandits/load/state")
        taken, settled = time.monotonic() - start, state["settled"] - before["settled"]
        self.numbers["outcomes"] = {"settled": settled, "seconds": taken,
                                    "trainings": state["trainings"] - before["trainings"]}
        print(f"\noutcomes of the default, decided, durable and learned: {settled / taken:,.0f} per second "
              f"({settled:,} in {taken:.1f} s, {state['trainings'] - before['trainings']} trainings)", flush=True)

    def aims(self):
        """Each aim and what was measured."""
        n = self.numbers
        print("\n| aim | measured |\n|---|---|")
        s = n.get("saturation", {})
        for aim, name, other in [("a 1 µs decision ≥ 85 % of nginx", "pits serve, uniform", "nginx"),
                                 ("the trained default ≥ 40 % of nginx", f"pits serve, {DEFAULT}", "nginx"),
                                 ("≥ 10 × FastAPI, uniform", "pits serve, uniform", "fastapi, uniform"),
                                 ("≥ 10 × FastAPI, trained default", f"pits serve, {DEFAULT}", f"fastapi, {DEFAULT}"),
                                 ("Flask, trained default (no aim)", f"pits serve, {DEFAULT}", f"flask, {DEFAULT}")]:
            if name in s:
                print(f"| {aim} | {self.share(s, name, other)} |")
        trained = n.get("latency", {}).get(f"pits serve, {DEFAULT}, training")
        if trained:
            print(f"| p99 ≤ 250 µs, p99.9 ≤ 1,000 µs at {self.options.rate:,.0f}/s, training | {median_of(trained, 'p99_us'):.0f}, "
                  f"{median_of(trained, 'p999_us'):.0f} µs; {sum(r['trainings'] for r in trained)} trainings |")
        if "rewards" in n:
            one = statistics.median(r["all"]["rate"] for r in n["rewards"]["one"])
            share = statistics.median(100 * a["all"]["rate"] / b["rate"]
                                      for a, b in zip(n["rewards"]["batches"], n["rewards"]["append + fdatasync"]))
            print(f"| ≥ 60,000 durable rewards per second, {self.options.connections} clients | {one:,.0f} |\n"
                  f"| batches of 100 ≥ 55 % of append + fdatasync | {100 * share:.0f} % |")
        if "outcomes" in n:
            print(f"| the default's sustained outcomes | {n['outcomes']['settled'] / n['outcomes']['seconds']:,.0f} per second |")
        print(f"\nservers on cores {self.options.server_cpus} ({self.options.cores} threads), load on {self.options.loader_cpus}")


def cpu_per_request(rounds):
    """Microseconds; on a busy machine steadier than the rate."""
    return statistics.median(1e6 * one["cpu_seconds"] / one["all"]["n"] for one in rounds)


def median_of(rounds, what):
    return statistics.median(one["all"][what] if one["all"] else math.inf for one in rounds)  # inf: no answer in time


def remarks(rounds):
    """What went wrong, behind the row."""
    refused = sum(sum(one["refused"].values()) for one in rounds)
    broken = sum(one["broken"] for one in rounds)
    return f" {refused} refused, {broken} broken" if refused or broken else ""


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the servers are stopped
    options.scratch = tempfile.mkdtemp(dir=pathlib.Path(options.scratch).resolve())
    bench, made = Bench(options), {}
    try:
        made = bench.start()
        for part in options.parts.split(","):
            getattr(bench, part)(made)
        bench.aims()
        if options.json:
            options.json.write_text(json.dumps(bench.numbers, indent=1))
    finally:
        for service in made.values():
            service.stop()
        subprocess.run(["rm", "-rf", options.scratch])


if __name__ == "__main__":
    main()

"""What `pits serve` does under too much load, with slow clients and with idle ones.

  python3 bench/serve/overload.py --build build/release [--agent lin-ts] [--times 5] [--slow 1000] [--idle 10000]

overload: requests arrive at --times the rate at saturation, whether they are answered or not (256 connections, up to 32
outstanding requests each; who finds no room goes, and an answer after a second is too late). Goodput is what is answered with a
200 in time. slow: clients that send one byte per second and never finish a request. idle: open connections that say nothing. In
both, 64 ordinary clients are served meanwhile. Memory is the resident set of the service, sampled four times per second.
"""
import argparse
import json
import os
import pathlib
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading

import services


class Memory(threading.Thread):
    """Samples the resident set until it is stopped."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.samples, self.done = pid, [], threading.Event()
        self.start()

    def run(self):
        while not self.done.wait(0.25):
            self.samples.append(services.resident_mb(self.pid))

    def stop(self):
        self.done.set()
        self.join()
        return self.samples


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("--agent", default="lin-ts")
    parser.add_argument("--times", type=float, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--slow", type=int, default=1000)
    parser.add_argument("--idle", type=int, default=10000)
    parser.add_argument("--cores", type=int, default=1, help="threads of the service, each with a core")
    parser.add_argument("--parts", default="overload,slow,idle")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))
    options.server_cpus = ",".join(map(str, cpus[:options.cores]))
    options.loader_cpus = ",".join(map(str, cpus[options.cores:]))
    options.loader_threads = max(1, min(2 * options.cores, len(cpus) - options.cores)) if options.cores > 1 else 1
    return options


class Overload:
    def __init__(self, options):
        self.options, self.numbers = options, {}
        self.scratch = tempfile.mkdtemp(dir=options.build.resolve())
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
        print(f"open files per process: at most {limit[1]}")
        self.service = services.serve(options.build / "pits", options.agent, options.server_cpus, options.cores, self.scratch,
                                      ["--connections", 16384])
        self.pid = [pid for pid in self.service.pids if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() != "taskset"][-1]

    def close(self):
        self.service.stop()
        subprocess.run(["rm", "-rf", self.scratch])

    def load(self, **settings):
        o = self.options
        settings = {"seconds": o.seconds, "connections": 64, "threads": o.loader_threads, **settings}
        words = [f"--{name}={value}" for name, value in settings.items()]
        command = ["taskset", "-c", o.loader_cpus, o.build / "load_serve", "--to", f"127.0.0.1:{self.service.port}", *words]
        memory = Memory(self.pid)
        found = json.loads(subprocess.check_output(list(map(str, command))))
        found["memory_mb"] = memory.stop()
        return found

    def row(self, name, found, of=None):
        all = found["all"] or {"rate": 0, "p50_us": 0, "p99_us": 0}
        share = "" if of is None else f"{all['rate'] / of:.2f}"
        refused = sum(found["refused"].values())
        memory = found["memory_mb"]
        print(f"| {name} | {all['rate']:,.0f} | {share} | {all['p50_us'] / 1000:.2f} / {all['p99_us'] / 1000:.2f} | {refused} | "
              f"{found['broken']} | {memory[0]:.0f}, {max(memory):.0f}, {memory[-1]:.0f} |", flush=True)
        self.numbers[name] = found

    HEAD = ("\n| | answered per second | share | p50 / p99 ms | refused | broken | memory MB: first, most, last |\n"
            "|---|---|---|---|---|---|---|")

    def overload(self):
        self.load(requests="decide+reward", seconds=2)  # an agent that has learned something
        print(self.HEAD)
        for requests in ["decide", "decide+reward"]:
            full = self.load(requests=requests, connections=256, outstanding=32)
            self.row(f"{requests}, saturated", full)
            rate = self.options.times * full["all"]["rate"] / (2 if "+" in requests else 1)
            for seconds in [self.options.seconds, 3 * self.options.seconds]:
                found = self.load(requests=requests, rate=rate, connections=256, outstanding=32, deadline=1, seconds=seconds, warmup=2)
                self.row(f"{requests}, {self.options.times:g} times as many, {seconds:g} s", found, full["all"]["rate"])

    def beside(self, name, connections):
        """Ordinary clients beside these connections."""
        print(self.HEAD)
        alone = self.load(requests="decide")
        self.row("decide, nobody else", alone)
        with connections as others:
            self.row(f"decide, {name}", self.load(requests="decide"), alone["all"]["rate"])
            self.row(f"decide at 2,000 per second, {name}", self.load(requests="decide", rate=2000, threads=1))
            print(f"open meanwhile: {others.open()}; memory {services.resident_mb(self.pid):.0f} MB")

    def slow(self):
        self.beside(f"{self.options.slow} slow clients", SlowClients(self.service.port, self.options.slow))

    def idle(self):
        self.beside(f"{self.options.idle} idle connections", Connections(self.service.port, self.options.idle))


class Connections:
    """Open connections that say nothing."""

    def __init__(self, port, n):
        self.port, self.n, self.sockets = port, n, []

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 10)

    def __enter__(self):
        self.sockets = [self.connect() for _ in range(self.n)]
        return self

    def __exit__(self, *error):
        for one in self.sockets:
            one.close()

    def open(self):
        """How many the service has not closed."""
        still = 0
        for one in self.sockets:
            one.setblocking(False)
            try:
                still += one.recv(1, socket.MSG_PEEK) != b""
            except BlockingIOError:
                still += 1
            except OSError:
                pass
        return still


class SlowClients(Connections):
    """Each sends a byte per second of a request that never ends; who is cut off comes again."""

    def __enter__(self):
        super().__enter__()
        self.done, self.cut = threading.Event(), 0
        self.thread = threading.Thread(target=self.drip, daemon=True)
        self.thread.start()
        return self

    def drip(self):
        text = b"POST /v1/bandits/load/decide HTTP/1.1\r\nHost: x\r\nX-Slow: " + b"a" * 10000
        for at in range(len(text)):
            for i, one in enumerate(self.sockets):
                try:
                    one.send(text[at:at + 1])
                except OSError:
                    self.cut += 1
                    one.close()
                    self.sockets[i] = self.connect()
            if self.done.wait(1):
                return

    def open(self):
        return f"{len(self.sockets)}, {self.cut} were cut off and came again"

    def __exit__(self, *error):
        self.done.set()
        self.thread.join()
        super().__exit__()


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the service is stopped
    run = Overload(options)
    try:
        for part in options.parts.split(","):
            getattr(run, part)()
        print(f"\nservice on cores {options.server_cpus} ({options.cores} threads), load on {options.loader_cpus}; agent {options.agent}")
        if options.json:
            options.json.write_text(json.dumps(run.numbers, indent=1))
    finally:
        run.close()


if __name__ == "__main__":
    main()

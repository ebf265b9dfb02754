#!/usr/bin/env python3
"""What callers see over HTTP while PostgreSQL is away, and while it hangs; and that nothing is missing afterwards.

  outage.py --program build/release/pits

Two servers, one of which learns. PostgreSQL is stopped: both decide, refuse rewards, and say so in /readyz and /metrics. It
starts: the same rewards are taken, and all decisions are in the log. It is frozen, and many ask for decisions by their keys:
/metrics and /readyz still answer. Exit 77: no PostgreSQL.
"""
import argparse
import asyncio
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from servers import BROKEN, Database, Server
from kill_clients import Failed

BANDIT = "/v1/bandits/shop"


def expect(truth, what):
    if not truth:
        raise Failed(what)


async def becomes(condition, what, patience=30.0):
    deadline = time.monotonic() + patience
    while not await condition():
        expect(time.monotonic() < deadline, f"never: {what}")
        await asyncio.sleep(0.05)


def metric(text, name):
    values = [float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith((name + " ", name + "{"))]
    expect(len(values) == 1, f"{name} has the values {values}")
    return values[0]


class Outage:
    def __init__(self, options):
        self.program = options.program
        self.at = pathlib.Path(tempfile.mkdtemp(prefix="pits-outage-"))
        self.at.chmod(0o755)
        self.database = Database(self.at / "postgres")
        self.servers = [Server(i, self.at, self.program, self.database.url, i == 0) for i in range(2)]
        self.decisions = 0

    async def decide(self, server, key=None):
        body = {"context": [1, 0.5], **({"key": key} if key else {})}
        status, made = await server.once("POST", BANDIT + "/decide", body)
        expect(status == 200 and (key or made["token"]), f"{server.name}: a decision was answered {status} {made}")
        self.decisions += 1
        return made

    async def reward(self, server, made):
        return await server.once("POST", BANDIT + "/rewards", {"id": made["id"], "token": made["token"], "value": 1.0})

    async def start(self):
        self.database.start()
        for server in self.servers:
            server.start()
            await server.ask("GET", "/readyz")
        await self.servers[0].ask("PUT", BANDIT, {"agent": "lin-ts", "context_size": 2, "actions": ["tea", "milk"]})
        for server in self.servers:
            await server.ask("POST", BANDIT + "/decide", {"context": [1, 0.5], "key": "first"})
            made = await self.decide(server)
            status, found = await self.reward(server, made)
            expect((status, found.get("answer")) == (200, "accepted"), f"{server.name}: a reward was answered {status} {found}")
            await self.good(server)
        self.decisions += 1

    async def good(self, server):
        async def ready():
            return (await server.once("GET", "/readyz"))[0] == 200
        await becomes(ready, f"{server.name} is ready")
        text = await server.text("/metrics")
        expect(metric(text, "pits_ready") == 1 and metric(text, "pits_store_failing") == 0, f"{server.name}: its metrics say it is not")

    async def bad(self, server):
        async def known():
            status, found = await server.once("GET", "/readyz")
            return status == 503 and any("database" in problem for problem in found["problems"])
        await becomes(known, f"{server.name} says that the database is away")
        text = await server.text("/metrics")
        expect(metric(text, "pits_ready") == 0 and metric(text, "pits_store_failing") == 1, f"{server.name}: its metrics say nothing")

    async def stopped(self):
        """The rewards that were refused."""
        self.database.stop()
        refused = []
        for server in self.servers:
            for _ in range(50):
                made = await self.decide(server)
            await self.bad(server)
            started = time.monotonic()
            status, found = await self.reward(server, made)
            expect(status == 503 and "error" in found, f"{server.name}: a reward was answered {status} {found}")
            expect(time.monotonic() - started < 2, f"{server.name} took {time.monotonic() - started:.1f} s to refuse a reward")
            refused.append(made)
            await self.decide(server)
        return refused

    async def back(self, refused):
        self.database.start()
        for server, made in zip(self.servers, refused):
            await self.good(server)
            status, found = await self.reward(server, made)
            expect((status, found.get("answer")) == (200, "accepted"), f"{server.name}: a refused reward, again: {status} {found}")

    async def by_key(self, server):
        try:
            return (await server.once("POST", BANDIT + "/rewards", {"decision": "first", "key": "k", "value": 1.0}, most=60))[0]
        except (*BROKEN, asyncio.TimeoutError):
            return 0

    async def frozen(self):
        self.database.send(signal.SIGSTOP)
        rewards = [asyncio.create_task(self.by_key(server)) for server in self.servers for _ in range(30)]
        await asyncio.sleep(0.1)
        slowest = 0.0
        for server in self.servers:
            for _ in range(3):
                started = time.monotonic()
                await server.text("/metrics", most=60)
                slowest = max(slowest, time.monotonic() - started)
                await self.decide(server)
            await self.bad(server)
        # A call to the database that has begun is given up after 5 s; what comes after that is told at once.
        expect(slowest < 8, f"/metrics took {slowest:.1f} s")
        self.database.send(signal.SIGCONT)
        for server in self.servers:
            await self.good(server)
        statuses = sorted(set(await asyncio.gather(*rewards)))
        expect(set(statuses) <= {200, 409, 410, 503}, f"rewards by key were answered {statuses}")
        return slowest

    def logged(self):
        found = subprocess.run([self.program, "log", "export", self.database.url, "--bandit", "shop"], capture_output=True, text=True)
        expect(found.returncode == 0, found.stderr)
        return found.stdout.count('"event":"decided"') + found.stdout.count('"event":"restored"')

    async def main(self):
        await self.start()
        await self.back(await self.stopped())
        slowest = await self.frozen()

        async def all_there():
            return self.logged() >= self.decisions
        await becomes(all_there, f"all of {self.decisions} decisions are in the log")
        expect(self.logged() == self.decisions, f"{self.logged()} decisions are in the log, {self.decisions} were made")
        for server in self.servers:
            server.process.terminate()
            expect(server.process.wait(60) == 0, f"{server.name} ended with {server.process.returncode}")
        print(f"{self.decisions} decisions, all in the log; the slowest /metrics while the database hung took {slowest:.1f} s")

    def end(self):
        for server in self.servers:
            server.end()
        self.database.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/pits")
    outage = Outage(parser.parse_args())
    try:
        asyncio.run(outage.main())
    except BaseException as failure:
        if not isinstance(failure, SystemExit):
            for server in outage.servers:
                print(f"{server.name}: {server.said()[-700:]}")
        raise
    finally:
        outage.end()
        shutil.rmtree(outage.at, ignore_errors=True)


if __name__ == "__main__":
    main()

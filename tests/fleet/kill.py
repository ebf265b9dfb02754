#!/usr/bin/env python3
"""Kills, freezes and cuts off the servers of a fleet and restarts PostgreSQL at random under load, and checks what the log holds.

  kill.py --program build/release/pits --replay build/release/fleet_replay [--faults 20] [--rewards 0] [--seed 1]

Three servers, two of which learn; one learner reaches the database through a proxy that cuts and delays connections. The clients
are those of tests/serve/kill.py and change from server to server. It goes on until servers were killed and PostgreSQL was restarted
so many times (connections are cut and delayed, and servers frozen, besides) and so many rewards were accepted. Settings and agent
follow from the seed. Then:
  - every accepted reward is in the log once, with its value; no decision has settled twice; no id was given twice
  - every version of the model that was published is the replay of the events before it, to the bit (tests/fleet/replay.cpp)
  - `pits log check` finds nothing, and `pits log verify` makes every decision again
With --failovers N, N deaths, freezes and ends of the server that learns are timed before (failovers.py); with --within SHARE it fails where
fewer of a kind were quick enough. Exit 77: no PostgreSQL.
"""
import argparse
import asyncio
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from servers import BROKEN, HERE, LEASE, Database, Server
from failovers import Failovers
from kill_clients import Failed, HttpClient, Shopper, Told, check_said, value_of

SETTINGS = [{"rewards": "first", "window": 0}, {"rewards": "first", "window": 600}, {"rewards": "sum", "window": 2}]
# The default agent trains beside: small, so that it does so often.
AGENTS = ["lin-ts", "lin-ts", "lin-ts", "pi-ts:auto,particles=3,hidden=6,train_first=20,train_every=100,train_steps=5"]
ACTIONS = ["a", "b", "c", "d"]
COUNTED = ("kill", "restart")


class AnyServer(HttpClient):
    """Connects to one of the servers, and now and then to another."""

    def __init__(self, paths, seed):
        super().__init__(None)
        self.paths, self.random = paths, random.Random(seed)

    async def ask(self, method, path, body):
        if self.writer is None or self.random.random() < 0.1:
            self.close()
            self.path = self.random.choice(self.paths)
        return await super().ask(method, path, body)


class Run:
    def __init__(self, options):
        self.options, self.settings = options, SETTINGS[options.seed % len(SETTINGS)]
        self.random = random.Random(options.seed)
        self.at = pathlib.Path(tempfile.mkdtemp(prefix="pits-fleet-", dir=options.directory))
        self.at.chmod(0o755)
        self.agent = options.agent or AGENTS[options.seed % len(AGENTS)]
        self.told, self.faults, self.slow = Told(self.settings), {}, []
        self.database = Database(self.at / "postgres")
        (self.at / "proxy").mkdir()
        behind = f"postgresql://pits@/pits?host={self.at / 'proxy'}"
        self.servers = [Server(i, self.at, options.program, behind if i == 1 else self.database.url, i < 2) for i in range(3)]
        self.proxy = None

    async def start(self):
        self.database.start()
        words = [sys.executable, str(HERE / "proxy.py"), str(self.at / "proxy"), str(self.database.at)]
        self.proxy = subprocess.Popen(words, stdin=subprocess.PIPE, text=True)
        while not list((self.at / "proxy").iterdir()):
            await asyncio.sleep(0.05)
        for server in self.servers:
            server.start()
        body = {"agent": self.agent, "context_size": 3, "actions": ACTIONS, "seed": self.options.seed, **self.settings}
        await self.servers[0].ask("GET", "/readyz")  # the tables are there
        self.note_versions()
        await self.servers[0].ask("PUT", "/v1/bandits/kill", body)
        for server in self.servers:
            await server.ask("POST", "/v1/bandits/kill/decide", {"context": [1, 0, 0], "key": "first"})

    def tell_proxy(self, line):
        self.proxy.stdin.write(line + "\n")
        self.proxy.stdin.flush()

    def note_versions(self):
        """The database itself notes every version that is published, in the same transaction."""
        self.database.sql("CREATE TABLE versions(number bigint, sha text);"
                          "CREATE FUNCTION note_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO versions"
                          " VALUES(NEW.number, encode(sha256(NEW.bytes), 'hex')); RETURN NEW; END $$;"
                          "CREATE TRIGGER note_version AFTER INSERT OR UPDATE ON pits.policy"
                          " FOR EACH ROW EXECUTE FUNCTION note_version()")

    def counted(self):
        return sum(self.faults.get(kind, 0) for kind in COUNTED)

    # --- faults under load

    async def fault(self):
        kind = self.random.choices(["kill", "restart", "cut", "delay", "freeze"], [12, 2, 4, 2, 1])[0]
        self.faults[kind] = self.faults.get(kind, 0) + 1
        server = self.random.choice(self.servers)
        if kind == "kill":
            server.start()
            server.kill()
            await asyncio.sleep(self.random.choice([0, 0.1, 0.5]))
            server.start()
        elif kind == "restart":
            self.database.stop()
            await asyncio.sleep(self.random.uniform(0, 0.5))
            self.database.start()
        elif kind == "cut":
            self.tell_proxy("cut")
        elif kind == "delay":
            self.tell_proxy(f"delay {self.random.uniform(0.01, 0.4):.3f} {self.random.uniform(0.2, 1.5):.3f}")
        else:
            frozen = self.random.choice(self.servers[:2])
            frozen.start()
            os.kill(frozen.process.pid, signal.SIGSTOP)
            await asyncio.sleep(LEASE + self.random.uniform(0.2, 0.8))
            os.kill(frozen.process.pid, signal.SIGCONT)

    async def again_and_again(self):
        o = self.options
        await self.start()
        if o.failovers:
            self.slow = await Failovers(self.servers, self.database, o.failovers, o.within).run()
        clients = []
        for i in range(o.clients):
            client = Shopper(i, None, self.told, 1000 * o.seed + i)
            client.http = AnyServer([server.socket for server in self.servers], i)
            clients.append(client)
        tasks = [asyncio.create_task(client.run()) for client in clients]
        printed = 0
        try:
            while self.counted() < o.faults or len(self.told.accepted) < o.rewards:
                await asyncio.sleep(self.random.uniform(0.1, o.run))
                for task in tasks:
                    if task.done():
                        task.result()
                done = self.counted()
                if done < o.faults and len(self.told.accepted) * o.faults >= o.rewards * done:
                    await self.fault()
                for server in self.servers:
                    server.start()
                if time.monotonic() - printed > 60:
                    printed = time.monotonic()
                    print(f"{self.counted()} kills and restarts, {len(self.told.accepted):,} accepted rewards", flush=True)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def wait_until_ready(self):
        """One that has just been started does not know yet what to do with SIGTERM."""
        for server in self.servers:
            await server.ask("GET", "/readyz", patience=60)

    def stop(self):
        for server in self.servers:
            if server.process is not None and server.process.poll() is None:
                server.process.terminate()
        for server in self.servers:
            if server.process is not None and server.process.wait(60) != 0:
                raise Failed(f"{server.name} ended with {server.process.returncode}")
            check_said(server.said())

    def call(self, words):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"{' '.join(map(str, words[1:3]))}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def events(self):
        words = [self.options.program, "log", "export", self.database.url, "--bandit", "kill"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as export:
            yield from map(json.loads, export.stdout)
        if export.returncode != 0:
            raise Failed("the log cannot be exported")

    def check_log(self):
        decided, rewarded, settled, restored = {}, set(), set(), 0
        for event in self.events():
            kind, id = event["event"], event.get("id")
            if kind in ("decided", "restored"):
                if id in decided:
                    raise Failed(f"decision {id} is in the log twice")
                decided[id] = ACTIONS[event["action"]] if isinstance(event["action"], int) else event["action"]
                restored += kind == "restored"
            elif kind == "rewarded":
                if id not in decided or id in settled:
                    raise Failed(f"decision {id} has a reward when it must not")
                if (id, event["key"]) in rewarded:
                    raise Failed(f"reward {event['key']} of decision {id} is in the log twice")
                if abs(event["value"] - value_of(id)) > 1e-6:
                    raise Failed(f"decision {id} has another's reward")
                rewarded.add((id, event["key"]))
            elif kind == "settled":
                if id in settled:
                    raise Failed(f"decision {id} has settled twice")
                settled.add(id)
        for id, key in self.told.accepted:
            if (id, key) not in rewarded:
                raise Failed(f"reward {key} of decision {id} was accepted and is lost")
        for id, decision in self.told.decisions.items():
            if decided.get(id, decision.action) != decision.action:
                raise Failed(f"decision {id} has another action in the log")
            if decision.durable and id not in decided:
                raise Failed(f"decision {id} was durable and is lost")
        lost = sum(id not in decided for id in self.told.decisions)
        return f"{len(decided):,} decisions in the log, {restored:,} of them restored, {lost:,} lost; {len(settled):,} settled"

    def main(self):
        started = time.monotonic()
        asyncio.run(self.again_and_again())
        asyncio.run(self.wait_until_ready())
        self.stop()
        ran = time.monotonic() - started
        found = self.check_log()
        checked = self.call([self.options.program, "log", "check", self.database.url, "--bandit", "kill"])
        versions = self.database.sql("SELECT DISTINCT number, sha FROM versions ORDER BY number")
        (self.at / "versions").write_text("".join(f"{number} {sha}\n" for number, sha in versions))
        replayed = self.call([self.options.replay, self.database.url, "kill", self.at / "versions"])
        verified = self.call([self.options.program, "log", "verify", self.database.url, "--bandit", "kill"])
        if verified.startswith("same 0") or not self.told.accepted or not versions:
            raise Failed(f"nothing happened: {verified}")
        answers = ", ".join(f"{n:,} {answer}" for answer, n in sorted(self.told.answers.items()))
        faults = ", ".join(f"{n} {kind}" for kind, n in sorted(self.faults.items()))
        print(f"{self.counted()} kills and restarts ({faults}), {self.agent}, {self.settings}: {len(self.told.decisions):,} decisions answered, "
              f"{len(self.told.accepted):,} accepted rewards ({answers}); 0 lost, 0 twice\n  {found}\n  check: {checked}\n"
              f"  {replayed}\n  verify: {verified}\n  {ran:.0f} s of load", flush=True)
        if self.slow:
            raise Failed("; ".join(self.slow))

    def end(self):
        for server in self.servers:
            server.end()
        if self.proxy is not None:
            self.proxy.kill()
            self.proxy.wait()
        self.database.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/pits")
    parser.add_argument("--replay", default="build/release/fleet_replay")
    parser.add_argument("--faults", type=int, default=20, help="kills of servers and restarts of PostgreSQL")
    parser.add_argument("--rewards", type=int, default=0, help="accepted ones, at least")
    parser.add_argument("--failovers", type=int, default=0, help="deaths, freezes and ends that are timed, of each")
    parser.add_argument("--within", type=float, default=0.0, help="share of them that must be quick enough, of each kind")
    parser.add_argument("--agent", help="default: by the seed")
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run", type=float, default=1.0, help="seconds between two faults, at most")
    parser.add_argument("--directory", help="where everything is; default: a temporary one")
    run = Run(parser.parse_args())
    try:
        run.main()
        run.end()
    except BaseException as failure:
        run.end()
        if isinstance(failure, SystemExit):
            raise
        print(f"after {run.counted()} kills and restarts {run.faults}: {failure!r}\nthe logs are in {run.at}")
        for server in run.servers:
            print(f"{server.name}: {server.said()[-700:]}")
        sys.exit(1)
    shutil.rmtree(run.at, ignore_errors=True)


if __name__ == "__main__":
    main()

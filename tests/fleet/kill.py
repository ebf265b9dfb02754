#!/usr/bin/env python3
"""Kills, freezes and cuts off the servers of a fleet and restarts PostgreSQL at random under load, and checks what the log holds.

  kill.py --program build/release/pits --replay build/release/fleet_replay [--faults 20] [--rewards 0] [--seed 1]

Three servers, two of which learn; one learner reaches the database through a proxy that cuts and delays connections. The clients
are those of tests/serve/kill.py and change from server to server. It goes on until there were so many faults and so many accepted
rewards, the faults spread over the rewards. Then:
  - every accepted reward is in the log once, with its value; no decision has settled twice; no id was given twice
  - every version of the model that was published is the replay of the events before it, to the bit (tests/fleet/replay.cpp)
  - `pits log check` finds nothing, and `pits log verify` makes every decision again
With --failovers N, N deaths and N freezes of the server that learns are timed before, without load. Exit 77: no PostgreSQL.
"""
import argparse
import asyncio
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "serve"))
from kill_clients import Failed, HttpClient, Shopper, Told, check_said, value_of  # noqa: E402

SETTINGS = [{"rewards": "first", "window": 0}, {"rewards": "first", "window": 600}, {"rewards": "sum", "window": 2}]
ACTIONS = ["a", "b", "c", "d"]
CLUSTER = HERE.parent.parent / "scripts" / "cluster"
LEASE = 1.0
BROKEN = (OSError, EOFError, asyncio.IncompleteReadError)


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


class Server:
    def __init__(self, number, at, options, database, learns):
        self.name, self.learns, self.process = f"server{number}", learns, None
        self.socket = str(at / f"http{number}")
        self.log = open(at / f"{self.name}.log", "ab")
        self.words = [options.program, "serve", "--store", f"postgresql://pits@/pits?host={database}", "--listen",
                      f"unix:{self.socket}", "--name", self.name, "--lease", str(LEASE), "--model-age", "0.2"]
        self.words += [] if learns else ["--follow"]

    def start(self):
        """A server that found no database has ended; whoever looks after it starts it again."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(self.words, stdout=self.log, stderr=self.log)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    async def ask(self, method, path, body=None, patience=30.0):
        deadline = time.monotonic() + patience
        while True:
            client = HttpClient(self.socket)
            try:
                status, found = await asyncio.wait_for(client.ask(method, path, body), 15)
                if status in (200, 201):
                    return found
            except (*BROKEN, asyncio.TimeoutError) as error:
                found = repr(error)
            finally:
                client.close()
            if time.monotonic() > deadline:
                raise Failed(f"{self.name} does not answer {path}: {found}")
            await asyncio.sleep(0.002)


class Run:
    def __init__(self, options):
        self.options, self.settings = options, SETTINGS[options.seed % len(SETTINGS)]
        self.random = random.Random(options.seed)
        self.at = pathlib.Path(tempfile.mkdtemp(prefix="pits-fleet-", dir=options.directory))
        self.at.chmod(0o755)
        self.told, self.faults, self.refused = Told(self.settings), {}, 0
        self.database = self.at / "postgres"
        self.url = f"postgresql://pits@/pits?host={self.database}"
        (self.at / "proxy").mkdir()
        self.servers = [Server(i, self.at, options, self.at / "proxy" if i == 1 else self.database, i < 2) for i in range(3)]
        self.proxy = None

    def cluster(self, *words):
        done = subprocess.run([str(CLUSTER), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == 77:
            print("PostgreSQL is not installed")
            sys.exit(77)
        if done.returncode != 0:
            raise Failed(f"the database: {done.stdout}")

    def start_database(self):
        self.cluster("start", self.database, "-c max_connections=200")

    def sql(self, text):
        done = subprocess.run(["psql", self.url, "-Atc", text], capture_output=True, text=True)
        return [line.split("|") for line in done.stdout.splitlines()] if done.returncode == 0 else []

    async def start(self):
        self.start_database()
        words = [sys.executable, str(HERE / "proxy.py"), str(self.at / "proxy"), str(self.database)]
        self.proxy = subprocess.Popen(words, stdin=subprocess.PIPE, text=True)
        while not list((self.at / "proxy").iterdir()):
            await asyncio.sleep(0.05)
        for server in self.servers:
            server.start()
        body = {"agent": "lin-ts", "context_size": 3, "actions": ACTIONS, "seed": self.options.seed, **self.settings}
        await self.servers[0].ask("GET", "/readyz")  # the tables are there
        self.note_versions()
        await self.servers[0].ask("PUT", "/v1/bandits/kill", body)
        for server in self.servers:
            await server.ask("POST", "/v1/bandits/kill/decide", {"context": [1, 0, 0], "key": "first"})

    def holder(self):
        """The server that holds the lease, by its name."""
        found = self.sql("SELECT s.name FROM pits.bandit b JOIN pits.server s ON s.id = b.holder")
        return next((server for server in self.servers if found and server.name == found[0][0]), None)

    def tell_proxy(self, line):
        self.proxy.stdin.write(line + "\n")
        self.proxy.stdin.flush()

    def note_versions(self):
        """The database itself notes every version that is published, in the same transaction."""
        self.sql("CREATE TABLE versions(number bigint, sha text);"
                 "CREATE FUNCTION note_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO versions"
                 " VALUES(NEW.number, encode(sha256(NEW.bytes), 'hex')); RETURN NEW; END $$;"
                 "CREATE TRIGGER note_version AFTER INSERT OR UPDATE ON pits.policy"
                 " FOR EACH ROW EXECUTE FUNCTION note_version()")

    # --- failover, timed

    async def decide(self, server, key):
        """Returns when the server that learns has written it."""
        await server.ask("POST", "/v1/bandits/kill/decide", {"context": [1, 0, 0], "key": key})

    async def time_failovers(self):
        for kind in ("death", "freeze"):
            times = []
            for turn in range(self.options.failovers):
                follower = self.servers[2]
                await self.decide(follower, f"{kind}-before-{turn}")
                holder = self.holder()
                while holder is None:
                    await asyncio.sleep(0.05)
                    holder = self.holder()
                started = time.monotonic()
                if kind == "death":
                    holder.kill()
                else:
                    os.kill(holder.process.pid, signal.SIGSTOP)
                await self.decide(follower, f"{kind}-after-{turn}")
                times.append(time.monotonic() - started)
                if kind == "death":
                    holder.start()
                else:
                    os.kill(holder.process.pid, signal.SIGCONT)
                await holder.ask("GET", "/readyz")
                if kind == "freeze":
                    await self.check_refused(holder, turn)
                await asyncio.sleep(2.5 if turn % 4 == 3 else 0.3)
            times.sort()
            limit = 0.2 if kind == "death" else LEASE + 0.3
            within = sum(t <= limit for t in times)
            print(f"{kind} of the server that learns, until the next one has written a decision: median {1000 * statistics.median(times):.0f} ms, "
                  f"largest {1000 * times[-1]:.0f} ms; {within} of {len(times)} within {1000 * limit:.0f} ms", flush=True)

    async def check_refused(self, woken, turn):
        """The woken server goes on as a follower: what it is told is written by the other one. On a busy machine it may
        have got the lease back meanwhile, as the one that suits best: then the database says so."""
        await self.decide(woken, f"woken-{turn}")
        before = self.holder()
        state = await woken.ask("GET", "/v1/bandits/kill/state")
        if state["learned_here"] and woken not in (before, self.holder()):
            raise Failed("the woken server learns on under an old lease")
        self.refused += 1

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
            self.cluster("stop", self.database, "immediate")
            await asyncio.sleep(self.random.uniform(0, 0.5))
            self.start_database()
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
            await self.time_failovers()
        clients = []
        for i in range(o.clients):
            client = Shopper(i, None, self.told, 1000 * o.seed + i)
            client.http = AnyServer([server.socket for server in self.servers], i)
            clients.append(client)
        tasks = [asyncio.create_task(client.run()) for client in clients]
        printed = 0
        try:
            while sum(self.faults.values()) < o.faults or len(self.told.accepted) < o.rewards:
                await asyncio.sleep(self.random.uniform(0.1, o.run))
                for task in tasks:
                    if task.done():
                        task.result()
                done = sum(self.faults.values())
                if done < o.faults and len(self.told.accepted) * o.faults >= o.rewards * done:
                    await self.fault()
                for server in self.servers:
                    server.start()
                if time.monotonic() - printed > 60:
                    printed = time.monotonic()
                    print(f"{sum(self.faults.values())} faults, {len(self.told.accepted):,} accepted rewards", flush=True)
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
            check_said(pathlib.Path(server.log.name).read_text(errors="replace"))

    def call(self, words):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"{' '.join(map(str, words[1:3]))}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def events(self):
        words = [self.options.program, "log", "export", self.url, "--bandit", "kill"]
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
        checked = self.call([self.options.program, "log", "check", self.url, "--bandit", "kill"])
        versions = self.sql("SELECT DISTINCT number, sha FROM versions ORDER BY number")
        (self.at / "versions").write_text("".join(f"{number} {sha}\n" for number, sha in versions))
        replayed = self.call([self.options.replay, self.url, "kill", self.at / "versions"])
        verified = self.call([self.options.program, "log", "verify", self.url, "--bandit", "kill"])
        if verified.startswith("same 0") or not self.told.accepted or not versions:
            raise Failed(f"nothing happened: {verified}")
        answers = ", ".join(f"{n:,} {answer}" for answer, n in sorted(self.told.answers.items()))
        faults = ", ".join(f"{n} {kind}" for kind, n in sorted(self.faults.items()))
        if self.refused:
            print(f"the woken server never learned on under its old lease, {self.refused} of {self.refused} times")
        print(f"{sum(self.faults.values())} faults ({faults}), {self.settings}: {len(self.told.decisions):,} decisions answered, "
              f"{len(self.told.accepted):,} accepted rewards ({answers}); 0 lost, 0 twice\n  {found}\n  check: {checked}\n"
              f"  {replayed}\n  verify: {verified}\n  {ran:.0f} s of load", flush=True)

    def end(self):
        for server in self.servers:
            if server.process is not None and server.process.poll() is None:
                server.process.send_signal(signal.SIGCONT)
                server.kill()
        if self.proxy is not None:
            self.proxy.kill()
            self.proxy.wait()
        if (self.database / "data" / "postmaster.pid").exists():
            subprocess.run([str(CLUSTER), "stop", str(self.database), "immediate"], capture_output=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/pits")
    parser.add_argument("--replay", default="build/release/fleet_replay")
    parser.add_argument("--faults", type=int, default=20)
    parser.add_argument("--rewards", type=int, default=0, help="accepted ones, at least")
    parser.add_argument("--failovers", type=int, default=0, help="deaths, and freezes, that are timed")
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
        print(f"after {sum(run.faults.values())} faults {run.faults}: {failure!r}\nthe logs are in {run.at}")
        for server in run.servers:
            print(f"{server.name}: {pathlib.Path(server.log.name).read_text(errors='replace')[-700:]}")
        sys.exit(1)
    shutil.rmtree(run.at, ignore_errors=True)


if __name__ == "__main__":
    main()

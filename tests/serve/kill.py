#!/usr/bin/env python3
"""Kills `pits serve` with SIGKILL at random moments under HTTP load, again and again, and checks what its log holds.

  kill.py --program build/release/pits --replay build/release/log_replay [--kills 10] [--rewards 0] [--seed 1]

Clients decide (one by one, in batches, with keys) and send rewards late, out of order, twice, with other keys, in batches, for
decisions of killed processes, with tokens or without. They are in this process, which is not killed, and remember what they were
told. It goes on until there were so many kills and so many accepted rewards. Then, and partly after every kill:
  - every accepted reward is in the log once, with its value; no decision has settled twice
  - no id was given to two decisions; a key has one decision; a decision with a token or a key is never unknown
  - the state is that of a learner that follows the log from its first event, to the bit (tests/serve/replay.cpp)
  - `pits log check` finds nothing, and `pits log verify` makes every decision again
"""
import argparse
import asyncio
import json
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

# Settings of a run, by its seed: rewards are learned whenever they come; a lost decision's are not; windows close.
SETTINGS = [{"rewards": "first", "window": 0}, {"rewards": "first", "window": 600}, {"rewards": "sum", "window": 2}]
ACTIONS = ["a", "b", "c", "d"]
CLIENTS = 12


class Failed(Exception):
    pass


def value_of(id):
    """The value says which decision it is for; a float."""
    return struct.unpack("f", struct.pack("f", id % 97 / 97))[0]


class Decision:
    __slots__ = ("id", "action", "token", "durable", "keys")

    def __init__(self, made, durable):
        self.id, self.action, self.token = made["id"], made["action"], made.get("token", "")
        self.durable = durable  # before it was answered
        self.keys = []  # of rewards that were sent


class Told:
    """What the clients were told."""

    def __init__(self, settings):
        self.settings = settings
        self.decisions, self.by_key, self.accepted, self.answers, self.restorable = {}, {}, set(), {}, 0

    def decided(self, made, key):
        decision = Decision(made, bool(key) or "token" not in made)
        known = self.decisions.get(decision.id)
        if key in self.by_key and self.by_key[key] != decision.id:
            raise Failed(f"key {key} has the decisions {self.by_key[key]} and {decision.id}")
        if known is not None:
            if not key or self.by_key.get(key) != known.id or known.action != decision.action:
                raise Failed(f"id {decision.id} was given twice")
            return None
        self.decisions[decision.id] = decision
        if key:
            self.by_key[key] = decision.id
        return decision

    def answered(self, decision, key, with_token, answer):
        self.answers[answer] = self.answers.get(answer, 0) + 1
        if answer == "accepted":
            if (decision.id, key) in self.accepted:
                raise Failed(f"reward {key} of decision {decision.id} was accepted twice")
            self.accepted.add((decision.id, key))
        elif answer == "unknown" and (with_token or decision.durable):
            raise Failed(f"decision {decision.id} was unknown, and it had a {'token' if with_token else 'key'}")
        elif answer == "expired" and self.settings["window"] != 2:
            raise Failed(f"decision {decision.id} had expired")
        elif answer == "duplicate" and not decision.keys:
            raise Failed(f"decision {decision.id} had no reward before")
        elif answer not in ("duplicate", "unknown", "expired"):
            raise Failed(f"decision {decision.id}: answered {answer}")


class HttpClient:
    """One connection; a reply's status and object. A Unix socket, since a port could be taken by another program meanwhile."""

    def __init__(self, path):
        self.path, self.reader, self.writer = path, None, None

    async def ask(self, method, path, body):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_unix_connection(self.path)
        data = json.dumps(body).encode()
        self.writer.write(f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                          f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        return int(head[9:12]), json.loads(await self.reader.readexactly(length))

    def close(self):
        if self.writer is not None:
            self.writer.close()
        self.writer = None


class Shopper:
    """A client: decides, and rewards what it has decided in this or an earlier process of the service."""

    def __init__(self, number, path, told, seed):
        self.number, self.told, self.random = number, told, random.Random(seed)
        self.http = HttpClient(path)
        self.waiting, self.keys = [], 0

    async def run(self):
        while True:
            try:
                await self.decide()
                while len(self.waiting) > self.random.randrange(400):
                    await self.reward()
            except (OSError, EOFError, asyncio.IncompleteReadError):
                self.http.close()
                await asyncio.sleep(0.003)

    async def ask(self, verb, body, good):
        while True:
            status, found = await self.http.ask("POST", f"/v1/bandits/kill/{verb}", body)
            if status in good:
                return found
            if status not in (404, 429, 503) or "error" not in found:  # not created yet, not ready yet
                raise Failed(f"{verb} was answered {status} {found}")
            await asyncio.sleep(0.005)

    def context(self):
        body = {"context": [round(self.random.uniform(-1, 1), 3) for _ in range(3)]}
        if self.random.random() < 0.05:  # a new key, or one that was used
            self.keys += self.random.random() < 0.7
            body["key"] = f"{self.number}-{self.keys}"
        return body

    async def decide(self):
        many = self.random.choice([0, 0, 30, 60])
        asked = [self.context() for _ in range(many or 1)]
        found = await self.ask("decide", {"decisions": asked} if many else asked[0], [200])
        for one, made in zip(asked, found["decisions"] if many else [found]):
            decision = self.told.decided(made, one.get("key", ""))
            if decision is not None and self.random.random() < 0.95:  # else its reward never comes
                self.waiting.append(decision)

    async def reward(self):
        n = min(len(self.waiting), self.random.choice([1, 1, 40, 80]))
        places = sorted(self.random.sample(range(len(self.waiting)), n), reverse=True)
        sent = []
        for place in places:
            decision = self.waiting[place]
            with_token = bool(decision.token) and self.random.random() < 0.9
            key = f"k{self.random.randrange(3)}" if decision.keys and self.random.random() < 0.3 else "k0"
            sent.append((decision, key, with_token))
        bodies = [{"id": d.id, "value": value_of(d.id), "key": key, **({"token": d.token} if with_token else {})}
                  for d, key, with_token in sent]
        for decision, key, _ in sent:
            if key not in decision.keys:
                decision.keys = [*decision.keys, key]
        if n == 1:
            answers = [(await self.ask("rewards", bodies[0], [200, 404, 409, 410]))["answer"]]
        else:
            answers = (await self.ask("rewards", {"rewards": bodies}, [200]))["answers"]
        for (decision, key, with_token), answer, place in zip(sent, answers, places):
            self.told.answered(decision, key, with_token, answer)
            if self.random.random() < 0.8:  # else once more
                self.waiting[place] = self.waiting[-1]
                self.waiting.pop()


class Run:
    def __init__(self, options):
        self.options = options
        self.settings = SETTINGS[options.seed % len(SETTINGS)]
        self.random = random.Random(options.seed)
        self.at = pathlib.Path(tempfile.mkdtemp(prefix="pits-kill-", dir=options.directory))
        self.socket = str(self.at / "http")
        self.told, self.kills, self.process = Told(self.settings), 0, None
        self.errors = open(self.at / "errors", "w+b")

    @property
    def log(self):
        return self.at / "store" / "kill"

    def start(self):
        words = [self.options.program, "serve", "--store", self.at / "store", "--listen", f"unix:{self.socket}"]
        self.process = subprocess.Popen([*map(str, words), *self.options.serve], stdout=self.errors, stderr=self.errors)

    async def create(self):
        """A second time it is there already."""
        body = {"agent": "lin-ts", "context_size": 3, "actions": ACTIONS, "seed": self.options.seed, **self.settings}
        client = HttpClient(self.socket)
        while True:
            try:
                status, found = await client.ask("PUT", "/v1/bandits/kill", body)
                if status in (200, 201):
                    return client.close()
                if status not in (429, 503):
                    raise Failed(f"the bandit was not created: {status} {found}")
            except (OSError, EOFError, asyncio.IncompleteReadError):
                client.close()
            await asyncio.sleep(0.003)

    async def again_and_again(self):
        o = self.options
        clients = [Shopper(i, self.socket, self.told, 1000 * o.seed + i) for i in range(CLIENTS)]
        tasks = [asyncio.create_task(client.run()) for client in clients]
        try:
            while self.kills < o.kills or len(self.told.accepted) < o.rewards:
                self.start()
                creating = asyncio.create_task(self.create())
                if self.kills % 3 == 1:  # early: while the log is created, opened or recovered
                    await asyncio.sleep(self.random.uniform(0, 0.1))
                else:
                    await asyncio.wait_for(asyncio.shield(creating), 120)
                    await asyncio.sleep(self.random.uniform(0, o.run))
                creating.cancel()
                for task in [*tasks, creating]:
                    if task.done() and not task.cancelled():
                        task.result()
                self.kill()
                if self.random.random() < 0.3:  # else the service itself is the first to open the log after the kill
                    self.compare_states()
                if self.kills % 100 == 0:
                    print(f"{self.kills} kills, {len(self.told.accepted):,} accepted rewards", flush=True)
        finally:
            for task in tasks:
                task.cancel()

    def kill(self):
        if self.process.poll() is not None:
            raise Failed(f"the service ended by itself with {self.process.returncode}")
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1

    def compare_states(self):
        """The recovered state and that of a learner that goes on from where it was at the last comparison."""
        if (self.log / "events.db").exists():
            self.call([self.options.replay, self.log, self.at / "witness"])

    def call(self, words):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"{' '.join(map(str, words[1:3]))}: {done.stdout}{done.stderr}")
        return done.stdout

    def events(self):
        words = list(map(str, [self.options.program, "log", "export", self.log]))
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as export:
            yield from map(json.loads, export.stdout)
        if export.returncode != 0:
            raise Failed("the log cannot be exported")

    def check_log(self):
        """Reads every event; what was told must be in them, once."""
        decided, rewarded, settled, restored = {}, {}, set(), 0
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
                rewarded[id, event["key"]] = True
            elif kind == "settled":
                if id in settled:
                    raise Failed(f"decision {id} has settled twice")
                settled.add(id)
        for id, key in self.told.accepted:
            if (id, key) not in rewarded:
                raise Failed(f"reward {key} of decision {id} was accepted and is lost")
            if self.settings["rewards"] == "first" and id not in settled:
                raise Failed(f"decision {id} has a reward and has not settled")
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
        # The final state of the service itself, closed as it should be, then of a replay from the first event.
        self.start()
        asyncio.run(asyncio.wait_for(self.create(), 120))
        self.process.terminate()
        if self.process.wait(60) != 0:
            raise Failed(f"the service ended with {self.process.returncode}")
        self.compare_states()
        self.call([self.options.replay, self.log])
        found = self.check_log()
        checked = self.call([self.options.program, "log", "check", self.log]).strip()
        verified = self.call([self.options.program, "log", "verify", self.log]).strip()
        if verified.startswith("same 0"):
            raise Failed(f"no decision was made again: {verified}")
        if not self.told.accepted:
            raise Failed("no reward was accepted")
        answers = ", ".join(f"{n:,} {answer}" for answer, n in sorted(self.told.answers.items()))
        print(f"{self.kills} kills, {self.settings}: {len(self.told.decisions):,} decisions answered, {len(self.told.accepted):,} "
              f"accepted rewards ({answers}); 0 lost, 0 twice, state = replay\n  {found}\n  check: {checked}\n  verify: {verified}\n"
              f"  {time.monotonic() - started:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/pits")
    parser.add_argument("--replay", default="build/release/log_replay")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--rewards", type=int, default=0, help="accepted ones, at least")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--run", type=float, default=0.6, help="seconds a process serves, at most")
    parser.add_argument("--directory", help="where the log is; default: a temporary one")
    parser.add_argument("--serve", nargs="*", default=[], help="more arguments of pits serve")
    run = Run(parser.parse_args())
    try:
        run.main()
    except Failed as failure:
        if run.process is not None and run.process.poll() is None:
            run.process.kill()
        run.errors.seek(0)
        said = run.errors.read().decode(errors="replace")[-2000:]
        print(f"after {run.kills} kills: {failure}\nthe log is in {run.at}; the service said:\n{said}")
        sys.exit(1)
    shutil.rmtree(run.at)


if __name__ == "__main__":
    main()

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
import subprocess
import sys
import tempfile
import time

from kill_clients import Failed, HttpClient, Shopper, Told, check_said, value_of

# The default agent trains beside: small, so that it does so often.
TRAINED = "pi-ts:auto,particles=3,hidden=6,train_first=20,train_every=100,train_steps=5"
# Settings of a run, by its seed: rewards are learned whenever they come; a lost decision's are not; windows close; networks
# are trained.
SETTINGS = [{"rewards": "first", "window": 0}, {"rewards": "first", "window": 600}, {"rewards": "sum", "window": 2},
            {"rewards": "first", "window": 0, "agent": TRAINED}]
ACTIONS = ["a", "b", "c", "d"]
CLIENTS = 12


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
        self.errors.seek(0)
        check_said(self.errors.read().decode(errors="replace"))
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

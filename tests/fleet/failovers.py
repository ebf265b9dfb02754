"""Deaths, freezes and ends of the server that learns, timed, without load: the part of kill.py that --failovers asks for."""
import asyncio
import os
import signal
import statistics
import time

from servers import LEASE, Failed

LIMITS = {"death": 0.2, "freeze": LEASE + 0.3, "end": 0.2}


class Failovers:
    def __init__(self, servers, database, turns, share=0.0):
        self.servers, self.database, self.turns, self.share = servers, database, turns, share
        self.refused, self.slow = 0, []

    def holder(self):
        """The server that holds the lease, or None, and the lease's epoch."""
        name, epoch = self.database.sql("SELECT s.name, b.epoch FROM pits.bandit b LEFT JOIN pits.server s ON s.id = b.holder")[0]
        return next((server for server in self.servers if server.name == name), None), int(epoch)

    async def decide(self, server, key):
        """Returns when the server that learns has written it."""
        await server.ask("POST", "/v1/bandits/kill/decide", {"context": [1, 0, 0], "key": key})

    async def time(self, kind):
        times = []
        follower = self.servers[2]
        for turn in range(self.turns):
            await self.decide(follower, f"{kind}-before-{turn}")
            holder, epoch = self.holder()
            while holder is None:
                await asyncio.sleep(0.05)
                holder, epoch = self.holder()
            started = time.monotonic()
            if kind == "death":
                holder.kill()
            elif kind == "end":
                holder.process.terminate()
            else:
                os.kill(holder.process.pid, signal.SIGSTOP)
            await self.decide(follower, f"{kind}-after-{turn}")
            times.append(time.monotonic() - started)
            if kind == "freeze":
                os.kill(holder.process.pid, signal.SIGCONT)
            else:
                holder.process.wait(60)
                holder.start()
            await holder.ask("GET", "/readyz")
            if kind == "freeze":
                await self.check_refused(holder, epoch, turn)
            await asyncio.sleep(2.5 if turn % 4 == 3 else 0.3)
        limit = LIMITS[kind]
        within = sum(t <= limit for t in times)
        print(f"{kind} of the server that learns, until the next one has written a decision: median {1000 * statistics.median(times):.0f} ms, "
              f"largest {1000 * max(times):.0f} ms; {within} of {len(times)} within {1000 * limit:.0f} ms", flush=True)
        if within < self.share * len(times):
            self.slow.append(f"{kind}: {within} of {len(times)} were within {1000 * limit:.0f} ms; at least {self.share:.0%} must be")

    async def check_refused(self, woken, epoch, turn):
        """The woken server's lease has ended: another epoch has begun, and it writes nothing under the old one. It goes on as
        a follower, or by a lease that it has taken anew, as the one that suits best."""
        await self.decide(woken, f"woken-{turn}")
        before, now = self.holder()
        if now <= epoch:
            raise Failed(f"the woken server still has the lease of epoch {epoch}")
        state = await woken.ask("GET", "/v1/bandits/kill/state")
        after, later = self.holder()
        if state["learned_here"] and woken not in (before, after):
            raise Failed(f"the woken server learns on by epoch {epoch}, and the lease has epoch {later}")
        self.refused += 1

    async def run(self):
        """Returns what was too slow."""
        for kind in LIMITS:
            await self.time(kind)
        print(f"the woken server never learned on under its old lease, {self.refused} of {self.turns} times", flush=True)
        return self.slow

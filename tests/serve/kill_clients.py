"""The clients of tests/serve/kill.py: what they ask, and what they were told."""
import asyncio
import json
import random
import struct


class Failed(Exception):
    pass


def value_of(id):
    """The value says which decision it is for; a float."""
    return struct.unpack("f", struct.pack("f", id % 97 / 97))[0]


def check_said(text):
    """Of a service that was killed nobody sees the status with which a sanitizer ends it."""
    if "Sanitizer" in text:
        raise Failed(f"a sanitizer said: {text[max(0, text.index('Sanitizer') - 100):][:4000]}")


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

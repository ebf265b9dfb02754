"""A `pits serve` of its own for a test."""
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import urllib.parse

PROGRAM = os.environ.get("PITS_PROGRAM", "pits")


class Service:
    """Starts on a free port; `with` ends it."""

    def __init__(self, store, *options, listen="127.0.0.1:0", environment=None, descriptors=()):
        self.store = pathlib.Path(store)
        self.options = options
        self.listen = listen
        self.environment = environment
        self.descriptors = descriptors
        self.key = None
        self.start()

    def start(self):
        command = [PROGRAM, "serve", "--store", str(self.store), "--listen", self.listen, *self.options]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=self.environment, pass_fds=self.descriptors
        )
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            found = re.search(r"serving .* at (\S+)", line)
            if found:
                self.url = found.group(1)
                return
        raise RuntimeError("".join(lines) or "pits serve ended without a word")

    def call(self, method, path, body=None, headers=None):
        """Status, body (JSON where it is) and headers."""
        parts = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        headers = dict(headers or {})
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            connection.request(method, path, data, headers)
            reply = connection.getresponse()
            text = reply.read()
        finally:
            connection.close()
        if reply.getheader("Content-Type", "").startswith("application/json"):
            return reply.status, json.loads(text), reply.headers
        return reply.status, text.decode(), reply.headers

    def ok(self, method, path, body=None):
        status, reply, _ = self.call(method, path, body)
        assert status in (200, 201), (status, reply)
        return reply

    def wait_until_ready(self):
        while self.call("GET", "/readyz")[0] != 200:
            assert self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        text = self.process.stderr.read()
        self.process.stderr.close()
        return self.process.wait(), text

    def events(self, name):
        """The events of a bandit's log; the service must have ended."""
        lines = subprocess.run(
            [PROGRAM, "log", "export", str(self.store / name)], capture_output=True, text=True, check=True
        ).stdout
        return [json.loads(line) for line in lines.splitlines()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()


SCHEMA = {
    "features": [
        {"name": "age", "kind": "number", "missing": "level"},
        {"name": "country", "kind": "category", "levels": ["de", "fr"], "unknown": "level"},
    ]
}
SHOP = {"agent": "lin-ts", "schema": SCHEMA, "actions": ["tea", "milk", "soup"], "seed": 7, "window": 600, "rewards": "first"}
PLAIN = {"agent": "lin-ts", "context_size": 2, "actions": ["a", "b"], "seed": 7, "window": 600, "rewards": "first"}
VISITOR = {"context": {"age": 31, "country": "de"}}

#!/usr/bin/env python3
"""Everything that `pits serve` does at once, for a moment: for the sanitizers, above all for tsan.

  stress.py --program build/tsan/pits [--seconds 3] [--fleet]

Clients decide and reward over TLS, some of them by keys, in batches and with tokens; bandits are created, changed and given other
actions beside, and trained; others read statistics, metrics and states; the certificate is read again and again (SIGHUP). Then
SIGTERM comes while all of it goes on, and the same once more on the same store. With --fleet two servers share a PostgreSQL, and
one of them ends and comes back. It fails where a server ends with anything but 0, says a word of a sanitizer, or answers a request
with an error that is not one of being too busy or not there yet; or where a log is not right. Exit 77: PostgreSQL or openssl is
not installed.
"""
import argparse
import http.client
import json
import pathlib
import random
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
CLUSTER = HERE.parent.parent / "scripts" / "cluster"
AGENTS = ["lin-ts", "pi-ts", "pi-ts:fast", "neural-linear"]
NUMBERS, ACTIONS, CLIENTS = 4, ["a", "b", "c"], 4
GONE = (OSError, http.client.HTTPException)
PAGES = ["/v1/bandits", "/v1/server", "/metrics", "/livez", "/readyz", "/openapi.json", "/"]


class Failed(Exception):
    pass


class Server:
    def __init__(self, at, program, store, name):
        self.words = [program, "serve", "--store", store, "--listen", "127.0.0.1:0", "--threads", "3", "--drain", "30", "--tls-cert",
                      at / "cert.pem", "--tls-key", at / "key.pem", "--name", name, "--lease", "20", "--model-age", "0.1"]
        self.output = at / f"{name}.log"
        self.process, self.port = None, None

    def start(self):
        before = self.said().count("serving")
        with open(self.output, "ab") as to:
            self.process = subprocess.Popen(list(map(str, self.words)), stdout=to, stderr=to)
        deadline = time.monotonic() + 120
        while self.said().count("serving") == before:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"the service did not start: {self.said()[-2000:]}")
            time.sleep(0.02)
        self.port = int(re.findall(r"https://127\.0\.0\.1:(\d+)", self.said())[-1])

    def said(self):
        return self.output.read_text(errors="replace") if self.output.exists() else ""

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(300)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failed("the service did not end")
        if code != 0 or "Sanitizer" in self.said():
            raise Failed(f"the service ended with {code}: {self.said()[:6000]}")


class Client:
    """A connection to one of the servers, and now and then to another."""

    def __init__(self, run, number):
        self.run, self.random, self.connection = run, random.Random(number), None

    def ask(self, method, path, body=None, good=(200, 201)):
        """The reply, or None where the server is gone or too busy."""
        try:
            if self.connection is None or self.random.random() < 0.02:
                self.close()
                port = self.random.choice(self.run.servers).port
                self.connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=120, context=self.run.tls)
            self.connection.request(method, path, None if body is None else json.dumps(body))
            reply = self.connection.getresponse()
            text = reply.read().decode()
        except GONE:
            self.close()
            time.sleep(0.01)
            return None
        if reply.status in good:
            return json.loads(text) if reply.getheader("Content-Type", "").startswith("application/json") else text
        if reply.status not in (404, 503):
            raise Failed(f"{method} {path} {body}: {reply.status} {text}")
        return None

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


class Run:
    def __init__(self, options):
        self.options = options
        self.at = pathlib.Path(tempfile.mkdtemp(prefix="pits-stress-"))
        self.at.chmod(0o755)
        self.database, self.tls, self.servers = None, ssl.create_default_context(), []
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE
        self.bandits, self.accepted, self.failure = [], 0, None
        self.ending = threading.Event()

    def certificate(self):
        words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
                 "/CN=here", "-keyout", self.at / "key.pem", "-out", self.at / "cert.pem"]
        if shutil.which("openssl") is None:
            print("openssl is not installed")
            sys.exit(77)
        subprocess.run(list(map(str, words)), check=True, capture_output=True)

    def store(self):
        if not self.options.fleet:
            return self.at / "store"
        self.database = self.at / "postgres"
        done = subprocess.run([CLUSTER, "start", self.database], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            self.database = None
            print(done.stdout)
            sys.exit(77 if done.returncode == 77 else 1)
        return done.stdout.strip()

    def in_thread(self, work, *arguments):
        def run():
            try:
                while not self.ending.is_set():
                    work(*arguments)
            except Exception as error:  # noqa: BLE001
                self.failure = self.failure or error
        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def create(self, client):
        name = f"b{len(self.bandits)}" if len(self.bandits) < 8 else client.random.choice(self.bandits)
        n = int(name[1:])
        body = {"agent": AGENTS[n % len(AGENTS)], "context_size": NUMBERS, "actions": ACTIONS, "seed": n, "rewards": "first",
                "window": client.random.choice([0, 5, 600]), "retention": client.random.choice([0, 1])}
        if client.ask("PUT", f"/v1/bandits/{name}", body) is not None and name not in self.bandits:
            self.bandits.append(name)
        if client.random.random() < 0.3:
            added = f"more{client.random.randrange(3)}"
            client.ask("POST", f"/v1/bandits/{name}/actions", {"add": [added]})
        time.sleep(0.1)

    def use(self, client):
        if not self.bandits:
            return time.sleep(0.01)
        name, draw = client.random.choice(self.bandits), client.random
        asked = [{"context": [draw.gauss(0, 1) for _ in range(NUMBERS)]} for _ in range(draw.choice([1, 1, 1, 40]))]
        if draw.random() < 0.1:
            asked[0]["key"] = f"{draw.randrange(10**9)}"
        verb = draw.choice(["decide", "decide", "rank"])
        made = client.ask("POST", f"/v1/bandits/{name}/{verb}", {"decisions": asked})
        if made is None:
            return None
        rewards = [{"id": one["id"], "value": draw.random(), **({"token": one["token"]} if "token" in one else {})}
                   for one in made["decisions"] if draw.random() < 0.9]
        if rewards:
            answers = client.ask("POST", f"/v1/bandits/{name}/rewards", {"rewards": rewards})
            self.accepted += 0 if answers is None else answers["answers"].count("accepted")
        return None

    def read(self, client):
        path = client.random.choice(PAGES)
        if self.bandits and client.random.random() < 0.6:
            path = f"/v1/bandits/{client.random.choice(self.bandits)}{client.random.choice(['/state', '/statistics'])}"
        client.ask("GET", path)
        time.sleep(0.005)

    def go_on(self, seconds):
        """Whether nothing has gone wrong meanwhile."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.failure is None:
            for server in self.servers:
                if server.process.poll() is None:
                    server.process.send_signal(signal.SIGHUP)
            time.sleep(0.2)
        if self.failure is not None:
            raise self.failure

    def main(self):
        self.certificate()
        store = self.store()
        self.servers = [Server(self.at, self.options.program, store, f"server{i}") for i in range(2 if self.options.fleet else 1)]
        for server in self.servers:
            server.start()
        clients = [Client(self, i) for i in range(CLIENTS + 2)]
        threads = [self.in_thread(self.use, client) for client in clients[2:]]
        threads += [self.in_thread(self.create, clients[0]), self.in_thread(self.read, clients[1])]
        try:
            self.go_on(self.options.seconds)
            self.servers[0].stop()  # under load
            self.go_on(0.5)
            self.servers[0].start()
            self.go_on(self.options.seconds)
            for server in self.servers:
                server.stop()
        finally:
            self.ending.set()
            for thread in threads:
                thread.join()
        if self.failure is not None:
            raise self.failure
        if self.accepted == 0:
            raise Failed("no reward was accepted")
        for name in self.bandits:
            log = [store, "--bandit", name] if self.options.fleet else [store / name]
            words = list(map(str, [self.options.program, "log", "check", *log]))
            done = subprocess.run(words, capture_output=True, text=True)
            if done.returncode != 0:
                raise Failed(f"{' '.join(words)}: {done.stdout}{done.stderr}")
        print(f"{len(self.bandits)} bandits, {self.accepted:,} accepted rewards")

    def end(self):
        for server in self.servers:
            if server.process is not None and server.process.poll() is None:
                server.process.kill()
        if self.database is not None:
            subprocess.run([CLUSTER, "stop", self.database], capture_output=True)
        shutil.rmtree(self.at, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/pits")
    parser.add_argument("--seconds", type=float, default=3.0, help="before and after a new start")
    parser.add_argument("--fleet", action="store_true")
    run = Run(parser.parse_args())
    try:
        run.main()
    except Failed as failure:
        print(failure)
        sys.exit(1)
    finally:
        run.end()


if __name__ == "__main__":
    main()

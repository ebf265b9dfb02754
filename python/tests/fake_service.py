"""A stand-in for `pits serve` in the test's own process: it keeps decisions and rewards in memory and fails when it is told to."""
import contextlib
import http.server
import json
import socket
import threading


class FakeService(http.server.ThreadingHTTPServer):
    """`failures` has what happens to the next requests: a status, "lost" (done, not answered), "gone" (not even done), or None."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.failures, self.retry_after, self.requests, self.sizes, self.peers = [], "", [], [], set()
        self.bandits, self.decisions, self.keys, self.rewards = {}, {}, {}, {}
        self.mutex = threading.Lock()

    @classmethod
    @contextlib.contextmanager
    def running(cls):
        service = cls()
        thread = threading.Thread(target=service.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()
            service.server_close()

    def handle_error(self, request, client_address):
        """Clients may go at any time."""

    def answer(self, method, path, body):
        """The status and the object."""
        words = path.strip("/").split("/")
        if words == ["v1", "bandits"]:
            return 200, {"bandits": [{"name": name, "ready": True, "problem": ""} for name in self.bandits]}
        name, verb = words[2], words[3] if len(words) > 3 else ""
        if method == "PUT":
            return 200, self.bandits.setdefault(name, dict(body, name=name))
        if name not in self.bandits:
            return 404, {"error": f"there is no bandit '{name}'"}
        if verb in ("decide", "rank"):
            many = body.get("decisions")
            made = [self.decide(name, one, verb) for one in (many or [body])]
            return 200, {"decisions": made} if many else made[0]
        if verb == "rewards":
            many = body.get("rewards")
            answers = [self.reward(one) for one in (many or [body])]
            if many:
                return 200, {"answers": answers}
            return {"unknown": 404, "expired": 410, "full": 409}.get(answers[0], 200), {"answer": answers[0]}
        if verb == "actions":
            self.bandits[name]["actions"] += body.get("add", [])
            return 200, {}
        if verb == "state":
            return 200, self.bandits[name]
        return 200, {"answer": "accepted" if self.find(body) is not None else "unknown"}

    def decide(self, name, asked, verb):
        actions = asked.get("allowed") or self.bandits[name]["actions"]
        if asked.get("key") in self.keys:
            return self.decisions[self.keys[asked["key"]]]
        id = len(self.decisions)
        made = {"id": id, "action": actions[0], "propensity": 0.5, "propensity_error": 0.0, "model": 3, "token": f"t{id}"}
        if verb == "rank":
            made["ranking"] = [{"action": action, "probability": 1 / len(actions)} for action in actions]
        self.decisions[id] = made
        if "key" in asked:
            self.keys[asked["key"]] = id
        return made

    def find(self, asked):
        id = self.keys.get(asked["decision"]) if "decision" in asked else asked["id"]
        return id if id in self.decisions else None

    def reward(self, asked):
        id = self.find(asked)
        if id is None:
            return "unknown"
        if "token" in asked:
            assert asked["token"] == self.decisions[id]["token"]
        new = asked["key"] not in self.rewards.setdefault(id, {})
        self.rewards[id][asked["key"]] = asked["value"]
        return "accepted" if new else "duplicate"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_one(self):
        service = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = json.loads(body) if body else None
        with service.mutex:
            failure = service.failures.pop(0) if service.failures else 413 if len(body) > 1 << 20 else None
            service.sizes.append(len(body))
            service.requests.append((self.command, self.path, asked, dict(self.headers)))
            service.peers.add(self.client_address)
            done = service.answer(self.command, self.path, asked) if failure in (None, "lost") else (failure, None)
        if failure in ("lost", "gone"):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        status, found = done
        text = json.dumps(found if found is not None else {"error": f"failed with {status}"}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        if status in (429, 503) and service.retry_after:
            self.send_header("Retry-After", service.retry_after)
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = handle_one

    def log_message(self, *words):
        pass

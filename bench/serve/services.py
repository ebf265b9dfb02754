"""Starts what bench/serve compares: nginx, Flask, FastAPI and `pits serve`, each as an ordinary user on a free port."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
ACTIONS = [f"a{i}" for i in range(7)]
# 100 bytes
NGINX_REPLY = '{"id": 7, "action": "a3", "propensity": 0.3125, "model": 120, "token": "' + "0" * 25 + '"}'
NGINX = """worker_processes {cores}; daemon off; pid {at}/pid; error_log {at}/errors;
events {{ worker_connections 8192; }}
http {{ access_log off; keepalive_requests 1000000000;
  client_body_temp_path {at}/1; proxy_temp_path {at}/2; fastcgi_temp_path {at}/3; uwsgi_temp_path {at}/4; scgi_temp_path {at}/5;
  server {{ listen 127.0.0.1:{port} reuseport; location / {{ return 200 '{reply}'; }} }} }}
"""


class Missing(Exception):
    """Something that a service needs is not installed."""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def children(pid):
    """The process and all below it."""
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError):  # threads come and go
            for child in task.read_text().split():
                found += children(int(child))
    return found


def cpu_seconds(pids):
    ticks = 0
    for pid in pids:
        with contextlib.suppress(FileNotFoundError):
            ticks += sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def waited_seconds(pids):
    """How long the threads that answer were ready to run and had no core."""
    nanoseconds = 0
    for pid in pids:
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
            with contextlib.suppress(FileNotFoundError):
                if (task / "comm").read_text().strip() in ["pits http", "nginx"]:
                    nanoseconds += int((task / "schedstat").read_text().split()[1])
    return 1e-9 * nanoseconds


def numbers_of(cpus):
    """[0, 1, 2, 5] of "0-2,5"."""
    found = []
    for part in cpus.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def resident_mb(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Service:
    """A running server. `load` are the loader's arguments for its routes."""

    def __init__(self, name, command, port, cpus, load=(), environment=None, at=None):
        self.name, self.port, self.load, self.at = name, port, list(load), at
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(["taskset", "-c", cpus, *map(str, command)], stdout=subprocess.DEVNULL,
                                        stderr=self.errors, env={**os.environ, **(environment or {})})
        self.wait_until_it_listens()

    def wait_until_it_listens(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        self.errors.seek(0)
        raise SystemExit(f"{self.name} did not start: {self.errors.read().decode()}")

    @property
    def pids(self):
        return children(self.process.pid)

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"},
                                         method=method)
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def wait_until_idle(self, seconds=300):
        """Until it needs less than a tenth of a core for half a second; returns when it became idle."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before, start = cpu_seconds(self.pids), time.monotonic()
            time.sleep(0.5)
            if cpu_seconds(self.pids) - before < 0.05:
                return start
        return time.monotonic()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.at is not None:
            shutil.rmtree(self.at, ignore_errors=True)


def nginx(cpus, cores, scratch):
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not os.path.exists(program):
        raise Missing("nginx is not installed (Debian: nginx-light)")
    at, port = tempfile.mkdtemp(dir=scratch), free_port()
    file = pathlib.Path(at, "nginx.conf")
    file.write_text(NGINX.format(cores=cores, at=at, port=port, reply=NGINX_REPLY))
    return Service("nginx", [program, "-c", file, "-p", at, "-e", f"{at}/errors"], port, cpus, at=at)


def python_service(kind, agent, cpus, scratch, package):
    modules = {"flask": ["flask", "gunicorn"], "fastapi": ["fastapi", "uvicorn", "uvloop", "httptools"]}[kind]
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    for module in modules:
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode != 0:
            raise Missing(f"{python} has no {module}")
    at, port = tempfile.mkdtemp(dir=scratch), free_port()
    environment = {"BENCH_LOG": f"{at}/log", "BENCH_AGENT": agent, "PYTHONPATH": f"{package}:{HERE}"}
    command = {"flask": [python, "-m", "gunicorn", "-k", "gthread", "-w", 1, "--threads", 8, "--keep-alive", 600, "-b",
                         f"127.0.0.1:{port}", "python_services:flask_app()"],
               "fastapi": [python, "-m", "uvicorn", "--factory", "--loop", "uvloop", "--http", "httptools", "--no-access-log",
                           "--timeout-keep-alive", 600, "--port", port, "python_services:fastapi_app"]}[kind]
    return Service(f"{kind}, {agent}", command, port, cpus, ["--decide-path", "/decide", "--reward-path", "/rewards"],
                   environment, at)


def serve(program, agent, cpus, threads, scratch, options=(), **settings):
    """`pits serve` with one bandit, `load`."""
    at, port = tempfile.mkdtemp(dir=scratch), free_port()
    command = [program, "serve", "--store", f"{at}/store", "--listen", f"127.0.0.1:{port}", "--threads", threads, *options]
    service = Service(f"pits serve, {agent}", command, port, cpus, at=at)
    service.ask("PUT", "/v1/bandits/load", {"agent": agent, "context_size": 20, "actions": ACTIONS, "seed": 1, "window": 3600, "rewards": "first", **settings})
    return service

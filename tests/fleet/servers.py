"""A private PostgreSQL and servers of a fleet on it, for the tests in Python."""
import asyncio
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "serve"))
from kill_clients import Failed, HttpClient

CLUSTER = HERE.parent.parent / "scripts" / "cluster"
LEASE = 1.0
BROKEN = (OSError, EOFError, asyncio.IncompleteReadError)


class Database:
    def __init__(self, at):
        self.at = at
        self.url = f"postgresql://pits@/pits?host={at}"

    def cluster(self, *words):
        done = subprocess.run([str(CLUSTER), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == 77:
            print("PostgreSQL is not installed")
            sys.exit(77)
        if done.returncode != 0:
            raise Failed(f"the database: {done.stdout}")

    def start(self):
        self.cluster("start", self.at, "-c max_connections=200")

    def stop(self):
        self.cluster("stop", self.at, "immediate")

    def send(self, number):
        """A signal to all of its processes."""
        postmaster = (self.at / "data" / "postmaster.pid").read_text().split()[0]
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", postmaster], capture_output=True, text=True).stdout.split()
        for pid in [postmaster, *children]:
            subprocess.run(["kill", f"-{int(number)}", pid], capture_output=True)

    def end(self):
        if (self.at / "data" / "postmaster.pid").exists():
            self.send(signal.SIGCONT)
            subprocess.run([str(CLUSTER), "stop", str(self.at), "immediate"], capture_output=True)

    def sql(self, text):
        done = subprocess.run(["psql", self.url, "-Atc", text], capture_output=True, text=True)
        return [line.split("|") for line in done.stdout.splitlines()] if done.returncode == 0 else []


class Server:
    def __init__(self, number, at, program, url, learns, words=()):
        self.name, self.learns, self.process = f"server{number}", learns, None
        self.socket = str(at / f"http{number}")
        self.log = open(at / f"{self.name}.log", "ab")
        self.words = [program, "serve", "--store", url, "--listen", f"unix:{self.socket}", "--name", self.name,
                      "--lease", str(LEASE), "--model-age", "0.2", *words]
        self.words += [] if learns else ["--follow"]

    def start(self):
        """A server that found no database has ended; whoever looks after it starts it again."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(self.words, stdout=self.log, stderr=self.log)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def said(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill()

    async def once(self, method, path, body=None, most=15):
        """A status and an object, whatever it is."""
        client = HttpClient(self.socket)
        try:
            return await asyncio.wait_for(client.ask(method, path, body), most)
        finally:
            client.close()

    async def ask(self, method, path, body=None, patience=30.0):
        """An object, once the answer is good."""
        deadline = time.monotonic() + patience
        while True:
            try:
                status, found = await self.once(method, path, body)
                if status in (200, 201):
                    return found
            except (*BROKEN, asyncio.TimeoutError) as error:
                found = repr(error)
            if time.monotonic() > deadline:
                raise Failed(f"{self.name} does not answer {path}: {found}")
            await asyncio.sleep(0.002)

    async def text(self, path, most=15):
        """A reply that is no JSON."""
        reader, writer = await asyncio.open_unix_connection(self.socket)
        try:
            writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            return (await asyncio.wait_for(reader.read(), most)).decode().split("\r\n\r\n", 1)[1]
        finally:
            writer.close()

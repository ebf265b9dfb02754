#!/usr/bin/env python3
"""scripts/fleet as its users start it, through nginx: what clients were told is in the log, though servers are killed and
PostgreSQL is restarted meanwhile.

  whole.py --program build/release/pits [--kills 4]

Exit 77: PostgreSQL or nginx is not installed.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def free_port():
    """One of four that nobody has."""
    while True:
        port = random.randrange(20000, 30000)
        try:
            for i in range(4):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port + i))
            return port
        except OSError:
            pass


class Fleet:
    def __init__(self, program):
        self.port = free_port()
        environment = {**os.environ, "PORT": str(self.port), "PITS_PROGRAM": str(pathlib.Path(program).resolve())}
        self.process = subprocess.Popen([str(ROOT / "scripts" / "fleet")], env=environment, stdout=subprocess.PIPE, text=True,
                                        stdin=subprocess.DEVNULL)
        said = ""
        while "psql" not in said:  # the last line
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"scripts/fleet ended: {said}")
            said += line
        self.url = re.search(r"psql '([^']+)'", said)[1]
        self.database = pathlib.Path(self.url.split("host=")[1])

    def servers(self):
        """Process ids of the servers that it has started: children of its children."""
        lines = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True).stdout.splitlines()
        rows = [line.split(None, 2) for line in lines]
        mine = {pid for pid, parent, _ in rows if parent == str(self.process.pid)}
        return [int(pid) for pid, parent, words in rows if parent in mine and " serve " in words]

    def cluster(self, *words):
        subprocess.run([str(ROOT / "scripts" / "cluster"), *words], check=True, capture_output=True)

    def restart_database(self):
        self.cluster("stop", str(self.database), "immediate")
        self.cluster("start", str(self.database), "-c max_connections=200")

    def ask(self, method, path, body):
        """Until it is answered well: a client that tries again, as it should."""
        deadline = time.monotonic() + 60
        while True:
            found = None
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=15)
                connection.request(method, path, json.dumps(body))
                reply = connection.getresponse()
                found = (reply.status, reply.read().decode())
                if reply.status in (200, 201, 409, 410):
                    return json.loads(found[1])
            except (OSError, http.client.HTTPException) as error:
                found = repr(error)
            finally:
                connection.close()
            if time.monotonic() > deadline:
                raise SystemExit(f"{path}: {found}")
            time.sleep(0.02)

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(60)


def client(fleet, number, told, stop):
    bandit = "/v1/bandits/shop"
    for n in range(1_000_000):
        if stop.is_set():
            return
        made = fleet.ask("POST", bandit + "/decide", {"context": [1, 0.5], "key": f"{number}-{n}"})
        body = {"id": made["id"], "value": 1.0, "key": "click", **({"token": made["token"]} if "token" in made else {})}
        told[made["id"]] = fleet.ask("POST", bandit + "/rewards", body)["answer"]


def check(fleet, program, told):
    exported = subprocess.run([program, "log", "export", fleet.url, "--bandit", "shop"], capture_output=True, text=True, check=True)
    rewarded = [json.loads(line)["id"] for line in exported.stdout.splitlines() if json.loads(line)["event"] == "rewarded"]
    if len(rewarded) != len(set(rewarded)):
        raise SystemExit("a decision has its reward twice")
    wrong = {id: answer for id, answer in told.items() if answer not in ("accepted", "duplicate") or id not in set(rewarded)}
    if wrong or not told:
        raise SystemExit(f"rewards that are lost, of {len(told)}: {wrong}")
    subprocess.run([program, "log", "check", fleet.url, "--bandit", "shop"], capture_output=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/pits")
    parser.add_argument("--kills", type=int, default=4, help="of servers; PostgreSQL is restarted once besides")
    options = parser.parse_args()
    if not shutil.which("nginx") or not shutil.which("psql"):
        print("PostgreSQL or nginx is not installed")
        sys.exit(77)
    fleet, told, stop = Fleet(options.program), {}, threading.Event()
    try:
        fleet.ask("PUT", "/v1/bandits/shop", {"agent": "lin-ts", "context_size": 2, "actions": ["tea", "milk"]})
        threads = [threading.Thread(target=client, args=(fleet, i, told, stop)) for i in range(4)]
        for thread in threads:
            thread.start()
        for turn in range(options.kills):
            time.sleep(1)
            os.kill(random.choice(fleet.servers()), signal.SIGKILL)
            if turn == 1:
                fleet.restart_database()
        time.sleep(1)
        stop.set()
        for thread in threads:
            thread.join()
        check(fleet, options.program, told)
    finally:
        status = fleet.end()
    if status != 0 or fleet.database.exists():
        raise SystemExit(f"scripts/fleet ended with {status} and left {fleet.database if fleet.database.exists() else 'nothing'}")
    print(f"{len(told)} rewards were accepted through nginx while {options.kills} servers were killed and PostgreSQL was restarted: 0 lost, 0 twice")


if __name__ == "__main__":
    main()

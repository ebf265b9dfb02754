"""`pits serve` with more load than it can take, and clients that say nothing: the short form of bench/serve/overload.py.

What is checked holds on any machine: who is answered, with which status, what is in the log, and that memory stays. How many are
answered in a time is compared with what this machine answers without those clients."""
import json
import os
import pathlib
import resource
import subprocess
import sys

import pytest
from service import Service

LOADER = pathlib.Path(os.environ.get("PITS_BUILD_TREE", ""), "load_serve")
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench/serve"))
from overload import Connections, SlowClients  # noqa: E402
from services import resident_mb  # noqa: E402

SHOP = {"agent": "lin-ts", "context_size": 20, "actions": [f"a{i}" for i in range(7)], "window": 0}

pytestmark = pytest.mark.skipif(not LOADER.exists(), reason="load_serve is not built")


@pytest.fixture
def shop(tmp_path):
    with Service(tmp_path / "store") as running:
        running.ok("PUT", "/v1/bandits/load", SHOP)
        running.port = int(running.url.rsplit(":", 1)[1])
        yield running


def load(service, **settings):
    words = [f"--{name}={value}" for name, value in settings.items()]
    done = subprocess.run([LOADER, "--to", service.url[7:], *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_too_many_requests_cost_no_answer_that_was_given(shop):
    saturated = load(shop, requests="decide+reward", connections=64, outstanding=32, seconds=1)
    first = resident_mb(shop.process.pid)
    rate = 5 * saturated["all"]["rate"] / 2
    for _ in range(2):
        found = load(shop, requests="decide+reward", connections=64, outstanding=32, seconds=2, rate=rate, deadline=1)
        assert found["broken"] == 0 and set(found["refused"]) <= {"429", "503"}
        assert found["all"]["rate"] > 0
    # 4 kB for each 512 decisions, and what waits for the disk and for learning: far from all that was asked for.
    assert resident_mb(shop.process.pid) < first + 300
    state = shop.ok("GET", "/v1/bandits/load/state")
    assert state["problem"] == "" and state["queued"] <= 100_000  # what finds no room is counted, as a gap
    assert shop.call("GET", "/readyz")[0] == 200
    shop.stop()
    assert subprocess.run([os.environ["PITS_PROGRAM"], "log", "check", str(shop.store / "load")]).returncode == 0


@pytest.mark.parametrize("kind, n", [(SlowClients, 200), (Connections, 900)])
def test_clients_that_say_nothing_keep_nobody_waiting(shop, kind, n):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    ordinary = {"requests": "decide", "connections": 8, "seconds": 2, "rate": 200}
    alone = load(shop, **ordinary)
    before = resident_mb(shop.process.pid)
    with kind(shop.port, n) as others:
        found = load(shop, **ordinary)
        assert found["broken"] == 0 and found["refused"] == {}
        # Of about 400. Eight that each wait for half a second would be 32; other work on this machine slows both down.
        assert found["all"]["n"] > alone["all"]["n"] / 5
        if kind is Connections:
            assert others.open() == n
    assert resident_mb(shop.process.pid) < before + 100
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

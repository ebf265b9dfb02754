"""bench/serve/load.cpp against the stand-in of the service: what it reports is what the service saw."""
import json
import os
import pathlib
import subprocess

import pytest
from fake_service import FakeService

LOADER = pathlib.Path(os.environ.get("PITS_BUILD_TREE", ""), "load_serve")


@pytest.mark.skipif(not LOADER.exists(), reason="load_serve is not built")
@pytest.mark.parametrize("arguments", [["--requests=decide+reward", "--seconds=2"],
                                       ["--requests=decide+reward", "--seconds=2", "--rate=200"],
                                       ["--requests=rewards", "--seconds=100", "--batch=7", "--decisions=100"]])
def test_counts(arguments):
    with FakeService.running() as service:
        service.bandits["load"] = {"actions": ["a0", "a1"]}
        done = subprocess.run([LOADER, "--to", service.url[7:], "--warmup=0", "--connections=4", "--numbers=3",
                               f"--pid={os.getpid()}", *arguments], capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        rewards = [request for request in service.requests if request[1].endswith("rewards")]
    assert found["broken"] == 0 and found["refused"] == {} and found["cpu_seconds"] >= 0
    assert 0 < found["reward"]["n"] <= len(rewards) <= found["reward"]["n"] + 4  # some were not answered at the end
    assert found["all"]["p50_us"] <= found["all"]["p99_us"] <= found["all"]["max_us"]
    if "--batch=7" in arguments:
        assert sorted(len(request[2]["rewards"]) for request in rewards) == [2] + [7] * 14
    else:
        assert all(len(request[2]["context"]) == 3 for request in service.requests if request[1].endswith("decide"))

"""The service of README.md, by its own three commands, and its page."""
import json
import os
import pathlib
import re
import socket
import subprocess
import urllib.request

import pytest

SOURCE = pathlib.Path(__file__).parents[2]
PROGRAM = os.environ.get("PITS_PROGRAM", "")


def reading(url):
    with urllib.request.urlopen(url, timeout=30) as reply:
        return reply.read().decode()


@pytest.mark.skipif(not PROGRAM, reason="PITS_PROGRAM does not name the program")
def test_three_commands_start_the_service_decide_and_reward(tmp_path):
    readme = (SOURCE / "README.md").read_text(encoding="utf-8")
    commands = re.search(r"```sh\n(build/release/pits serve.*?)```", readme, flags=re.DOTALL)[1]
    assert len(re.findall(r"^\S", commands, flags=re.MULTILINE)) == 3
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    (tmp_path / ".curlrc").write_text("silent\nretry = 50\nretry-delay = 1\nretry-connrefused\n")  # a person types slower
    block = commands.replace("8080", port).replace("build/release/pits serve", f"'{PROGRAM}' serve --listen 127.0.0.1:{port}")
    environment = {**os.environ, "CURL_HOME": str(tmp_path)}
    environment.pop("LD_PRELOAD", None)  # of a sanitizer, with which curl does not always start
    started = subprocess.Popen(["bash", "-c", f"{block}\necho\necho shown\nwait"], cwd=tmp_path, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, env=environment, start_new_session=True)
    try:
        printed = "".join(iter(started.stdout.readline, "shown\n"))
        decided, answer = map(json.loads, re.findall(r"{[^{}]*}", printed))
        assert decided["action"] in ("tea", "milk") and decided["propensity"] == 0.5 and answer == {"answer": "accepted"}
        url = f"http://127.0.0.1:{port}"
        assert "<html" in reading(url)
        # Learned at once, and with an interval on the page.
        while (shown := json.loads(reading(f"{url}/v1/bandits/shop/statistics")))["settled"]["reward"] == 0:
            pass
        assert shown["values"]["logged"]["interval"] == [0.0, 1.0]
    finally:
        os.killpg(started.pid, 15)
        started.wait(timeout=60)

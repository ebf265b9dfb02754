"""examples/web_shop: its pages against a stand-in of the service, and one short run of the whole with the real one."""
import html
import importlib.util
import os
import pathlib
import re
import subprocess

import pytest
from fake_service import FakeService

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "web_shop"


@pytest.fixture
def module():
    spec = importlib.util.spec_from_file_location("web_shop", EXAMPLE / "shop.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_page_carries_the_decision_and_the_click_brings_it_back(module):
    with FakeService.running() as service:
        shop = module.Shop(service.url, 60.0)
        status, page = shop.answer("/?age=31&country=it")
        assert status == 200 and "<b>tea</b>" in page and "<option selected>it</option>" in page
        assert service.requests[-1][2]["context"] == {"age": 31, "country": "it"}
        link = html.unescape(re.search(r'href="(/click[^"]*)"', page)[1])
        assert shop.answer(link) == (200, module.THANKS.format(said="Thank you for your click."))
        assert "already" in shop.answer(link)[1] and service.rewards == {0: {"click": 1.0}}
        assert "do not know" in shop.answer("/click?id=99")[1]
        assert "<script>" not in shop.answer("/?age=%3Cscript%3E&country=%3Cscript%3E")[1]
        assert [shop.answer(path)[0] for path in ["/click", "/click?id=x", "/other"]] == [400, 400, 404]
        service.failures = [500]
        assert shop.answer("/")[0] == 503
        shop.service.close()


@pytest.mark.skipif(not os.environ.get("PITS_BUILD_TREE") or "LD_PRELOAD" in os.environ, reason="needs the program, unsanitized")
def test_one_command_starts_service_and_shop(tmp_path):
    environment = {**os.environ, "PITS_BUILD": os.environ["PITS_BUILD_TREE"], "SHOP_STORE": str(tmp_path)}
    done = subprocess.run([EXAMPLE / "run", "--visitors", "300", "--rate", "1000", "--window", "600"], env=environment,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    visitors, clicks, accepted = map(int, re.search(r"^(\d+) visitors, (\d+) clicks, answered {'accepted': (\d+)};",
                                                    done.stdout).groups())
    assert visitors == 300 and clicks == accepted > 0


def test_without_the_package_it_says_what_builds_it(tmp_path):
    (tmp_path / "pits").write_text("#!/bin/sh\n")
    (tmp_path / "pits").chmod(0o755)
    without = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_PRELOAD")}
    for build in (tmp_path, tmp_path / "python"):  # no package; not even a program
        build.mkdir(exist_ok=True)
        done = subprocess.run([EXAMPLE / "run"], env={**without, "PITS_BUILD": str(build), "SHOP_STORE": str(tmp_path / "store")},
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "scripts/quickstart --python builds both" in done.stderr
        assert not (tmp_path / "store").exists()

"""/openapi.json against the running service: every field that it sends is described."""
import json
import pathlib

import pytest
from openapi import as_json_schema
from service import SHOP, VISITOR

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed (Debian: python3-jsonschema)")
SOURCE = pathlib.Path(__file__).parents[2]


@pytest.fixture
def validate(service):
    components = as_json_schema(service.ok("GET", "/openapi.json")["components"], strict=True)

    def check(name, value):
        jsonschema.validate(value, {"$ref": f"#/components/schemas/{name}", "components": components})

    return check


def wait_until_followed(service):
    """The statistics follow the log once per second."""
    while True:
        statistics = service.ok("GET", "/v1/bandits/shop/statistics")
        if statistics["to"] >= service.ok("GET", "/v1/bandits/shop/state")["events"]["committed"]:
            return statistics


def test_every_field_of_states_and_statistics_is_described(service, validate):
    validate("Statistics", service.ok("GET", "/v1/bandits/shop/statistics"))  # nothing has happened
    service.ok("PUT", "/v1/bandits/shop", {**SHOP, "reward_range": [0, 1]})
    decided = service.ok("POST", "/v1/bandits/shop/decide", {"decisions": [VISITOR] * 40})["decisions"]
    rewards = {"rewards": [{"id": one["id"], "value": i % 2} for i, one in enumerate(decided[:30])]}
    service.ok("POST", "/v1/bandits/shop/rewards", rewards)
    service.ok("POST", "/v1/bandits/shop/cancel", {"id": decided[30]["id"]})
    statistics = wait_until_followed(service)
    validate("Statistics", statistics)
    assert statistics["decisions"] == 40 and statistics["settled"] == {
        "reward": 30, "expired": 0, "cancelled": 1, "lost": 0}
    assert statistics["values"]["logged"]["ips"] == pytest.approx(0.5)
    for name, path in [("State", "/v1/bandits/shop/state"), ("Bandits", "/v1/bandits"), ("Server", "/v1/server")]:
        validate(name, service.ok("GET", path))


def test_the_example_of_the_page_is_what_a_service_sends(validate):
    example = json.loads((SOURCE / "web/examples/service.json").read_text())
    for name in ["bandits", "server", "state", "statistics"]:
        validate(name.capitalize(), example[name])


def test_a_bandit_that_is_made_and_one_that_is_there(service):
    document = service.ok("GET", "/openapi.json")
    described = document["paths"]["/v1/bandits/{name}"]["put"]["responses"]
    for expected in ["201", "200"]:
        status, reply, _ = service.call("PUT", "/v1/bandits/other", SHOP)
        assert str(status) == expected and expected in described
        assert reply["name"] == "other"


def test_what_is_nested_too_deep_is_refused_and_nothing_is_made(service):
    for levels in [9, 400_000]:
        body = b'{"schema": ' + b"[" * levels + b"]" * levels + b"}"
        status, reply, _ = service.call("PUT", "/v1/bandits/deep", body)
        assert status == 400 and "nested deeper than 8 levels" in reply["error"]
        assert service.call("POST", "/v1/bandits/shop/actions", body)[0] == 400
    assert service.call("GET", "/v1/bandits/deep/state")[0] == 404
    assert service.call("GET", "/readyz")[0] == 200


def test_what_was_activated_or_rewarded_is_learned_and_the_rest_is_cancelled(service):
    setup = {**SHOP, "activation": True, "window": 0.5, "rewards": "sum"}
    service.ok("PUT", "/v1/bandits/page", setup)
    ids = [service.ok("POST", "/v1/bandits/page/decide", VISITOR)["id"] for _ in range(3)]
    assert service.ok("POST", "/v1/bandits/page/activate", {"id": ids[0]}) == {"answer": "accepted"}
    assert service.ok("POST", "/v1/bandits/page/activate", {"id": ids[0]}) == {"answer": "duplicate"}
    assert service.ok("POST", "/v1/bandits/page/rewards", {"id": ids[1], "value": 1}) == {"answer": "accepted"}
    while service.ok("GET", "/v1/bandits/page/state")["settled"] < 3:
        pass
    while (statistics := service.ok("GET", "/v1/bandits/page/statistics"))["settled"]["cancelled"] < 1:
        pass
    assert statistics["settled"] == {"reward": 1, "expired": 1, "cancelled": 1, "lost": 0}
